//! One layer of configuration: a file, the environment, or the declared defaults. Every value is
//! checked here, with its file and line.

use super::keys::{self, Default, KEYS, Kind};
use super::{ConfigError, Setting, Value};
use cairn_engine::policy::{Rule, RuleError};
use cairn_hooks::{Declared, Entry, not_asked_yet};
use cairn_provider::catalogue::decimal::dollars;
use cairn_sandbox::network::HostPort;
use cairn_text::glob::PathGlob;
use cairn_types::{HookEvent, is_event_elsewhere};
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Nobody set it.
    Default,
    /// The file of whoever runs the machine.
    Operator {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
    },
    /// The user's file.
    User {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
    },
    /// The project's file.
    Project {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
    },
    /// An environment variable.
    Env(&'static str),
    /// A flag on the command line.
    Flag(&'static str),
}

impl Origin {
    pub(super) fn operator(path: &Path, line: usize) -> Origin {
        Origin::Operator { path: path.to_owned(), line }
    }

    pub(super) fn user(path: &Path, line: usize) -> Origin {
        Origin::User { path: path.to_owned(), line }
    }

    pub(super) fn project(path: &Path, line: usize) -> Origin {
        Origin::Project { path: path.to_owned(), line }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::Operator { path, line }
            | Origin::User { path, line }
            | Origin::Project { path, line } => {
                write!(f, "{}:{line}", path.display())
            }
            Origin::Env(name) => write!(f, "${name}"),
            Origin::Flag(name) => write!(f, "--{name}"),
        }
    }
}

/// The longest configuration that is read.
const LONGEST: u64 = 1 << 20;

/// A regular file's text. Anything else a hostile project may put there is neither waited for nor
/// read without end.
fn bounded(path: &Path) -> io::Result<String> {
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = std::fs::OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let meta = file.metadata()?;
    if !meta.is_file() || meta.len() > LONGEST {
        let why = if meta.is_file() { "it is longer than 1 MiB" } else { "it is not a file" };
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text)?;
    Ok(text)
}

/// Settings of one origin.
#[derive(Debug, Default)]
pub struct Layer {
    pub(super) settings: BTreeMap<String, Setting>,
    /// Hooks of events that there are elsewhere only, each with where it stands.
    pub(super) unasked: Vec<String>,
}

impl Layer {
    /// What holds when nobody sets anything.
    pub(super) fn defaults() -> Layer {
        let set = KEYS.iter().filter_map(|key| {
            let value = match key.default {
                Default::None => return None,
                Default::Count(n) => Value::Count(n),
                Default::Empty => Value::List(Vec::new()),
                Default::No => Value::Flag(false),
                Default::Text(text) => Value::Text(text.to_owned()),
            };
            Some((key.name.to_owned(), Setting { value, origin: Origin::Default }))
        });
        Layer { settings: set.collect(), ..Layer::default() }
    }

    /// A file; an absent one is an empty layer.
    pub(super) fn read(
        path: &Path,
        origin: fn(&Path, usize) -> Origin,
    ) -> Result<Layer, ConfigError> {
        Ok(Layer::read_if_there(path, origin)?.unwrap_or_default())
    }

    /// A file that a variable names: it must be there.
    pub(super) fn read_named(
        path: &Path,
        variable: &str,
        origin: fn(&Path, usize) -> Origin,
    ) -> Result<Layer, ConfigError> {
        Layer::read_if_there(path, origin)?.ok_or_else(|| ConfigError {
            place: path.display().to_string(),
            what: format!(
                "{variable} names this file, and it is not there; put it there, or unset {variable}"
            ),
        })
    }

    fn read_if_there(
        path: &Path,
        origin: fn(&Path, usize) -> Origin,
    ) -> Result<Option<Layer>, ConfigError> {
        let text = match bounded(path) {
            Ok(text) => text,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => {
                let place = path.display().to_string();
                let what = match e.kind() {
                    io::ErrorKind::InvalidData => "not UTF-8 text; save it as UTF-8".to_owned(),
                    _ => format!("cannot be read ({e}); make it a readable file, or move it away"),
                };
                return Err(ConfigError { place, what });
            }
        };
        let line_of = |at: usize| text.bytes().take(at).filter(|b| *b == b'\n').count() + 1;
        let table = DeTable::parse(&text).map_err(|e| ConfigError {
            place: origin(path, line_of(e.span().map_or(0, |span| span.start))).to_string(),
            what: format!("not TOML: {}", e.message()),
        })?;
        let mut layer = Layer::default();
        let place = |at| origin(path, line_of(at));
        layer.take_table("", table.get_ref(), &place)?;
        Ok(Some(layer))
    }

    fn take_table(
        &mut self,
        prefix: &str,
        table: &DeTable<'_>,
        place: &dyn Fn(usize) -> Origin,
    ) -> Result<(), ConfigError> {
        for (key, value) in table {
            let name = format!("{prefix}{}", key.get_ref());
            match (keys::find(&name), value.get_ref()) {
                (None, DeValue::Table(inner)) => {
                    self.take_table(&format!("{name}."), inner, place)?
                }
                (None, _) => {
                    let origin = place(key.span().start);
                    let remark = unasked(&name, &origin).ok_or_else(|| unknown(&name, &origin))?;
                    self.unasked.push(remark);
                }
                (Some(key), _) => {
                    let origin = place(value.span().start);
                    let value = match key.kind {
                        Kind::Hooks(event) => hooks(event, value.get_ref()),
                        kind => typed(value).ok_or_else(|| wanted(kind)),
                    };
                    let value = value.and_then(|value| fits(key.kind, value));
                    let value = value.map_err(|what| ConfigError {
                        place: origin.to_string(),
                        what: format!("{name} {what}"),
                    })?;
                    self.settings.insert(name, Setting { value, origin });
                }
            }
        }
        Ok(())
    }

    /// The variables that set keys.
    pub(super) fn environment(env: &dyn Fn(&str) -> Option<String>) -> Result<Layer, ConfigError> {
        let mut layer = Layer::default();
        for key in KEYS {
            let Some((variable, given)) = key.env.and_then(|v| Some((v, env(v)?))) else {
                continue;
            };
            let given = match key.kind {
                Kind::Count(..) => given.parse().map(Value::Count).unwrap_or(Value::Text(given)),
                _ => Value::Text(given),
            };
            let origin = Origin::Env(variable);
            let value = fits(key.kind, given).map_err(|what| ConfigError {
                place: origin.to_string(),
                what: format!("{} {what}", key.name),
            })?;
            layer.settings.insert(key.name.to_owned(), Setting { value, origin });
        }
        Ok(layer)
    }

    /// One flag of the command line.
    pub fn flag(name: &str, flag: &'static str, value: Value) -> Result<Layer, ConfigError> {
        let origin = Origin::Flag(flag);
        let kind = keys::find(name).map_or(Kind::Text, |key| key.kind);
        let value = fits(kind, value).map_err(|what| ConfigError {
            place: origin.to_string(),
            what: format!("{name} {what}"),
        })?;
        let settings = BTreeMap::from([(name.to_owned(), Setting { value, origin })]);
        Ok(Layer { settings, ..Layer::default() })
    }
}

/// What is said of a hook of the user's of an event that there is elsewhere only.
fn unasked(name: &str, origin: &Origin) -> Option<String> {
    let event = name.strip_prefix("hooks.").filter(|event| is_event_elsewhere(event))?;
    matches!(origin, Origin::User { .. })
        .then(|| format!("{origin}: not used: {}", not_asked_yet(event)))
}

fn unknown(name: &str, origin: &Origin) -> ConfigError {
    let hint = keys::nearest(name).map_or_else(
        || "`cairn config --all` lists all keys".to_owned(),
        |near| format!("did you mean {near:?}?"),
    );
    ConfigError { place: origin.to_string(), what: format!("unknown key {name:?}; {hint}") }
}

/// The value, if it is of a type that any key has.
fn typed(value: &Spanned<DeValue<'_>>) -> Option<Value> {
    match value.get_ref() {
        DeValue::String(text) => Some(Value::Text(text.to_string())),
        DeValue::Integer(n) => n.to_string().parse().ok().map(Value::Count),
        DeValue::Float(n) => Some(Value::Decimal(n.as_str().to_owned())),
        DeValue::Boolean(is) => Some(Value::Flag(*is)),
        DeValue::Array(items) => items
            .iter()
            .map(|item| match item.get_ref() {
                DeValue::String(text) => Some(text.to_string()),
                _ => None,
            })
            .collect::<Option<_>>()
            .map(Value::List),
        _ => None,
    }
}

/// Hooks of an event, each of which makes sense.
fn hooks(event: HookEvent, value: &DeValue<'_>) -> Result<Value, String> {
    let DeValue::Array(tables) = value else { return Err(wanted(Kind::Hooks(event))) };
    let mut entries = Vec::new();
    for table in tables.iter() {
        let DeValue::Table(table) = table.get_ref() else {
            return Err(wanted(Kind::Hooks(event)));
        };
        let mut entry = Entry::default();
        for (key, value) in table {
            match (&*key.get_ref().clone(), typed(value)) {
                ("command", Some(Value::Text(text))) => entry.command = text,
                ("matcher", Some(Value::Text(text))) => entry.matcher = Some(text),
                ("timeout_ms", Some(Value::Count(ms))) => entry.timeout_ms = Some(ms),
                _ => return Err(wanted(Kind::Hooks(event))),
            }
        }
        Declared::new(event, entry.clone()).map_err(|e| format!("cannot be used: {e}"))?;
        entries.push(entry);
    }
    Ok(Value::Hooks(entries))
}

fn fits(kind: Kind, value: Value) -> Result<Value, String> {
    match (kind, value) {
        (Kind::Text, value @ Value::Text(_))
        | (Kind::List, value @ Value::List(_))
        | (Kind::Flag, value @ Value::Flag(_))
        | (Kind::Hooks(_), value @ Value::Hooks(_)) => Ok(value),
        (Kind::Rules, Value::List(rules)) => {
            match rules.iter().find_map(|rule| Rule::parse(rule).err()) {
                Some(RuleError { rule, why }) => Err(format!(
                    "holds {rule:?}, which is not a rule: {why}; docs/policy.md has the form"
                )),
                None => Ok(Value::List(rules)),
            }
        }
        (Kind::Globs, Value::List(globs)) => {
            match globs.iter().find_map(|glob| PathGlob::parse(glob).err()) {
                Some(error) => Err(format!("holds what is none: {error}")),
                None => Ok(Value::List(globs)),
            }
        }
        (Kind::Paths, Value::List(paths)) => {
            let is_one = |path: &String| {
                let is_whole = path.starts_with('/') || path.starts_with("~/");
                is_whole && !path.contains(['*', '?', '[', '{']) && !path.contains("..")
            };
            match paths.iter().find(|path| !is_one(path)) {
                Some(path) => Err(format!(
                    "holds {path:?}; name single paths that begin with / or ~/, without globs and `..`"
                )),
                None => Ok(Value::List(paths)),
            }
        }
        (Kind::Hosts, Value::List(hosts)) => {
            let bad = |host: &String| Some((host.clone(), host.parse::<HostPort>().err()?));
            match hosts.iter().find_map(bad) {
                Some((host, why)) => Err(format!("holds {host:?}: {why}")),
                None => Ok(Value::List(hosts)),
            }
        }
        (Kind::Count(low, high), Value::Count(n)) if (low..=high).contains(&n) => {
            Ok(Value::Count(n))
        }
        (Kind::Count(low, high), Value::Count(_)) => Err(format!("must be from {low} to {high}")),
        (Kind::Word(words) | Kind::Ladder(words), Value::Text(word))
            if words.contains(&word.as_str()) =>
        {
            Ok(Value::Text(word))
        }
        (Kind::Money | Kind::Price, value) => {
            let text = match value {
                Value::Text(text) | Value::Decimal(text) => text,
                Value::Count(n) => n.to_string(),
                Value::List(_) | Value::Hooks(_) | Value::Flag(_) => return Err(wanted(kind)),
            };
            let most = dollars("1000000");
            let fits = dollars(&text)
                .is_some_and(|usd| Some(usd) <= most && (kind == Kind::Price || usd.0 > 0));
            if fits { Ok(Value::Decimal(text)) } else { Err(wanted(kind)) }
        }
        _ => Err(wanted(kind)),
    }
}

/// What a value of this kind looks like.
fn wanted(kind: Kind) -> String {
    match kind {
        Kind::Text => "must be a text in quotes".to_owned(),
        Kind::List => "must be a list of texts, such as [\"A\", \"B\"]".to_owned(),
        Kind::Hooks(event) => format!(
            "must be tables [[hooks.{event}]] with a command, and where wanted a matcher and a timeout_ms"
        ),
        Kind::Rules => "must be a list of rules, such as [\"exec cargo test *\"]".to_owned(),
        Kind::Globs => "must be a list of globs, such as [\"docs/**\"]".to_owned(),
        Kind::Paths => "must be a list of paths, such as [\"~/.npmrc\"]".to_owned(),
        Kind::Hosts => "must be a list of hosts, such as [\"localhost:8080\"]".to_owned(),
        Kind::Flag => "must be true or false".to_owned(),
        Kind::Count(low, high) => format!("must be a whole number from {low} to {high}"),
        Kind::Word(words) | Kind::Ladder(words) => format!("must be one of {}", words.join(", ")),
        Kind::Money => "must be US dollars above 0, at most 1000000, such as \"0.50\"".to_owned(),
        Kind::Price => {
            "must be US dollars per million tokens, from 0 to 1000000, such as \"2.50\"".to_owned()
        }
    }
}
