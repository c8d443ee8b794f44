//! Configuration: layers of `cairn.toml`, environment and flags over declared defaults. Every key is
//! declared once, in `keys`; nothing else knows a key by name but its reader here.

mod ceilings;
mod joined;
mod keys;
mod layer;
mod show;

pub use keys::{KEYS, Kind, MODES, Project};
pub use layer::{Layer, Origin};
pub use show::{as_json, as_text};

use cairn_hooks::{Declared, Entry, HookEvent};
use cairn_provider::catalogue::decimal;
use cairn_types::PicoUsd;
use ceilings::{Ceilings, exceeds};
use joined::{JoinedLists, is_joined};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A value of some key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// Text.
    Text(String),
    /// A whole number.
    Count(u64),
    /// Several texts.
    List(Vec<String>),
    /// A decimal number as it is written.
    Decimal(String),
    /// Yes or no.
    Flag(bool),
    /// Hooks of one event.
    Hooks(Vec<Entry>),
}

/// A value and where it comes from.
#[derive(Debug, Clone)]
pub struct Setting {
    /// The value in force.
    pub value: Value,
    /// Where it was set.
    pub origin: Origin,
}

/// Something wrong in a configuration, with its place and the fix.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {what}")]
pub struct ConfigError {
    /// File and line, or variable.
    pub place: String,
    /// What is wrong, and what would be right.
    pub what: String,
}

/// The variable that names one more operator's file.
pub const MORE_OPERATOR: &str = "CAIRN_OPERATOR";

/// The files that configuration is read from; an absent one is an empty layer.
#[derive(Debug, Default)]
pub struct Files {
    /// Whoever runs the machine: ceilings for everybody.
    pub operator: Option<PathBuf>,
    /// One more of these, which a variable names: this one must be there.
    pub more_operator: Option<PathBuf>,
    /// The user's.
    pub user: Option<PathBuf>,
    /// The project's.
    pub project: Option<PathBuf>,
}

/// The configuration in force.
#[derive(Debug, Clone, Default)]
pub struct Config {
    settings: BTreeMap<String, Setting>,
    joined: JoinedLists,
    ceilings: Ceilings,
    /// Hooks of events that there are elsewhere only.
    unasked: Vec<String>,
}

impl Config {
    /// Reads all layers: defaults, the user's file, the project's file, the environment, and the
    /// operator's ceilings over all of them.
    pub fn load(
        files: &Files,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Config, ConfigError> {
        let (config, broken) = Config::what_can_be_read(files, env);
        broken.into_iter().next().map_or(Ok(config), Err)
    }

    /// Reads all layers and leaves out those that are broken; says what is wrong with each. For
    /// those who only look: nothing is run with half a configuration.
    pub fn what_can_be_read(
        files: &Files,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> (Config, Vec<ConfigError>) {
        let user = files.user.iter().map(|path| Layer::read(path, Origin::user));
        let project = files.project.iter().map(|path| Layer::read(path, Origin::project));
        let operator = files.operator.iter().map(|path| Layer::read(path, Origin::operator));
        let named = files.more_operator.iter();
        let named = named.map(|path| Layer::read_named(path, MORE_OPERATOR, Origin::operator));
        let layers = std::iter::once(Ok(Layer::defaults()))
            .chain(user)
            .chain(project)
            .chain([Layer::environment(env)])
            .chain(operator)
            .chain(named);
        let (mut config, mut broken) = (Config::default(), Vec::new());
        for layer in layers {
            let laid = layer.and_then(|layer| {
                let mut next = config.clone();
                next.lay(layer)?;
                Ok(next)
            });
            match laid {
                Ok(next) => config = next,
                Err(error) => broken.push(error),
            }
        }
        (config, broken)
    }

    /// Puts a layer on top. A project's layer is checked: it may not set what is the user's alone,
    /// may only lower what is a ceiling, and only adds to what is added to. Nothing exceeds an
    /// operator's ceiling, whatever comes after it.
    pub fn lay(&mut self, layer: Layer) -> Result<(), ConfigError> {
        self.unasked.extend(layer.unasked);
        for (name, setting) in layer.settings {
            let may = keys::find(&name).map_or(Project::Never, |key| key.project);
            match (&setting.origin, may) {
                (Origin::Project { .. }, _) => self.check_project(&name, &setting)?,
                (Origin::Operator { .. }, Project::Never) => {
                    return Err(ConfigError {
                        place: setting.origin.to_string(),
                        what: format!("an operator sets no {name}; only what a project may narrow"),
                    });
                }
                _ => {}
            }
            if is_joined(&name) {
                let whole = self.joined.add(&name, setting);
                self.settings.insert(name, whole);
                continue;
            }
            if let Origin::Operator { .. } = setting.origin {
                self.ceilings.lower(&name, setting);
            } else {
                self.settings.insert(name.clone(), setting);
            }
            let now = self.settings.get(&name);
            if let Some(ceiling) = self.ceilings.exceeded_by(&name, now) {
                let ceiling = ceiling.clone();
                self.settings.insert(name, ceiling);
            }
        }
        Ok(())
    }

    fn check_project(&self, name: &str, setting: &Setting) -> Result<(), ConfigError> {
        let error = |what: String| ConfigError { place: setting.origin.to_string(), what };
        match keys::find(name).map(|key| key.project) {
            Some(Project::Adds) if !is_joined(name) && self.get(name).is_some() => Err(error(
                format!("{name} is set already; a project adds, and puts nothing in its place"),
            )),
            None | Some(Project::Adds) => Ok(()),
            Some(Project::Never) => Err(error(format!(
                "a project may not set {name}; it is the user's alone. Move it to your own cairn.toml"
            ))),
            Some(Project::Lowers) => match self.get(name) {
                Some(Value::Flag(true)) if setting.value == Value::Flag(false) => {
                    Err(error(format!("a project may set {name} to true, and not back to false")))
                }
                Some(old) if exceeds(name, &setting.value, old) => {
                    let (new, old) = (shown(&setting.value), shown(old));
                    Err(error(format!("a project may only lower {name}; {new} is above {old}")))
                }
                _ => Ok(()),
            },
        }
    }

    /// What is said of hooks of events that there are elsewhere only.
    pub fn unasked(&self) -> impl Iterator<Item = &str> {
        self.unasked.iter().map(String::as_str)
    }

    /// Every layer's rules of a key, each with its origin.
    pub fn parts(&self, name: &str) -> impl Iterator<Item = (&str, &Origin)> {
        self.joined.parts(name)
    }

    /// Where a value in force was set.
    pub fn origin(&self, name: &str) -> Option<&Origin> {
        self.settings.get(name).map(|setting| &setting.origin)
    }

    /// The text above which an operator lets nobody go, where one says so.
    pub fn ceiling(&self, name: &str) -> Option<&str> {
        self.ceilings.text(name)
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.settings.get(name).map(|setting| &setting.value)
    }

    /// A text, if it is set and not empty.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(Value::Text(text)) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    /// A number; 0 when it is not set, which only happens to keys without a default.
    #[must_use]
    pub fn count(&self, name: &str) -> u64 {
        match self.get(name) {
            Some(Value::Count(n)) => *n,
            _ => 0,
        }
    }

    /// Whether a key is set to yes.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.get(name), Some(Value::Flag(true)))
    }

    /// A list; empty when it is not set.
    #[must_use]
    pub fn list(&self, name: &str) -> &[String] {
        match self.get(name) {
            Some(Value::List(list)) => list,
            _ => &[],
        }
    }

    /// The user's own hooks, event by event. What is declared was read when it was set.
    #[must_use]
    pub fn hooks(&self) -> Vec<Declared> {
        let of = |event: HookEvent| match self.get(&format!("hooks.{event}")) {
            Some(Value::Hooks(entries)) => entries.clone(),
            _ => Vec::new(),
        };
        let all = HookEvent::ALL
            .into_iter()
            .flat_map(|event| of(event).into_iter().map(move |e| (event, e)));
        all.filter_map(|(event, entry)| Declared::new(event, entry).ok()).collect()
    }

    /// US dollars, if they are set.
    #[must_use]
    pub fn money(&self, name: &str) -> Option<PicoUsd> {
        self.decimal(name).and_then(decimal::dollars)
    }

    /// What a token costs, if it is set.
    #[must_use]
    pub fn price(&self, name: &str) -> Option<PicoUsd> {
        self.decimal(name).and_then(decimal::per_token)
    }

    fn decimal(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(Value::Decimal(text)) => Some(text),
            _ => None,
        }
    }

    /// The models that have settings of their own, and where the first of each stands.
    pub fn models(&self) -> BTreeMap<&str, &Origin> {
        let patterns =
            || KEYS.iter().map(|key| key.name).filter(|name| name.starts_with("models."));
        let mut found = BTreeMap::new();
        for (name, setting) in self.settings() {
            if let Some(model) = patterns().find_map(|pattern| keys::starred(pattern, name)) {
                found.entry(model).or_insert(&setting.origin);
            }
        }
        found
    }

    /// The providers that are declared with an endpoint of their own.
    pub fn declared_providers(&self) -> impl Iterator<Item = &str> {
        self.settings().filter_map(|(name, _)| keys::starred("providers.*.base_url", name))
    }

    /// The names that stand for the star of this key.
    pub fn names_of<'a>(&'a self, pattern: &'a str) -> impl Iterator<Item = &'a str> {
        self.settings().filter_map(move |(name, _)| keys::starred(pattern, name))
    }

    /// Numbers by the name that stands for the star of this key.
    pub fn starred(&self, pattern: &str) -> BTreeMap<String, u64> {
        let numbers = self.settings().filter_map(|(name, setting)| {
            let inner = keys::starred(pattern, name)?;
            match setting.value {
                Value::Count(n) => Some((inner.to_owned(), n)),
                _ => None,
            }
        });
        numbers.collect()
    }

    /// All settings, by name.
    pub fn settings(&self) -> impl Iterator<Item = (&str, &Setting)> {
        self.settings.iter().map(|(name, setting)| (name.as_str(), setting))
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Text(text) | Value::Decimal(text) => text.clone(),
        Value::Count(n) => n.to_string(),
        Value::Flag(is) => is.to_string(),
        Value::List(list) => list.join(", "),
        Value::Hooks(hooks) => {
            hooks.iter().map(|hook| hook.command.as_str()).collect::<Vec<_>>().join(", ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(user: &str, project: &str) -> Result<Config, ConfigError> {
        load_under("", user, project)
    }

    fn load_under(operator: &str, user: &str, project: &str) -> Result<Config, ConfigError> {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let files = Files {
            operator: None,
            more_operator: Some(write("operator.toml", operator)),
            user: Some(write("user.toml", user)),
            project: Some(write("cairn.toml", project)),
        };
        Config::load(&files, &|name| (name == "CAIRN_MODEL").then(|| "ollama/env".to_owned()))
    }

    fn refusal(user: &str, project: &str) -> String {
        let said = load(user, project).map(|_| ()).unwrap_err().to_string();
        let file = ["user.toml:", "cairn.toml:"].iter().find_map(|file| said.find(file));
        said[file.unwrap_or(0)..].to_owned()
    }

    #[test]
    fn later_layers_win_and_say_where_they_come_from() {
        let config = load("model = \"openai/a\"\nmax_turns = 50\n", "max_turns = 7\n").unwrap();
        assert_eq!(config.text("model"), Some("ollama/env"));
        assert_eq!(config.count("max_turns"), 7);
        assert_eq!(config.count("max_ops"), 32);
        let shown = as_text(&config, false);
        assert!(shown.contains("CAIRN_MODEL"), "{shown}");
        assert!(shown.contains("cairn.toml:1"), "{shown}");
    }

    #[test]
    fn a_project_sets_no_endpoint_key_environment_or_command_and_raises_no_ceiling() {
        for (line, word) in [
            ("model = \"openai/x\"", "model"),
            ("shell = \"/bin/evil\"", "shell"),
            ("pass_env = [\"AWS_SECRET\"]", "pass_env"),
            ("[providers.openai]\nbase_url = \"http://evil\"", "base_url"),
            ("[providers.openai]\nkey_env = \"HOME\"", "key_env"),
            ("[providers.openai]\nwire = \"chat\"", "wire"),
            ("[providers.openai]\nconstrain = \"none\"", "constrain"),
            ("[models.\"openai/gpt-4.1\"]\ninput = 0", "models.openai/gpt-4.1.input"),
            ("[models.\"openai/gpt-4.1\"]\ncontext = 1", "models.openai/gpt-4.1.context"),
        ] {
            let said = refusal("", line);
            assert!(said.contains("a project may not set") && said.contains(word), "{said}");
        }
        assert_eq!(
            refusal("max_turns = 5\n", "max_turns = 6\n"),
            "cairn.toml:1: a project may only lower max_turns; 6 is above 5"
        );
        assert_eq!(
            refusal("max_cost = \"0.5\"\n", "max_cost = 0.51\n"),
            "cairn.toml:1: a project may only lower max_cost; 0.51 is above 0.5"
        );
        let lowered = load("max_cost = 1\n", "max_cost = 0.25\n").unwrap();
        assert_eq!(lowered.money("max_cost"), Some(PicoUsd(250_000_000_000)));
    }

    #[test]
    fn a_project_narrows_the_policy_and_never_widens_it() {
        let user = "[policy]\ndeny = [\"read .env\"]\nallow = [\"exec ls\"]\nmode = \"act\"\n";
        let config = load(user, "[policy]\ndeny = [\"exec rm *\"]\nmode = \"plan\"\n").unwrap();
        let denied: Vec<&str> = config.parts("policy.deny").map(|(rule, _)| rule).collect();
        assert_eq!(denied, ["read .env", "exec rm *"]);
        assert_eq!(config.text("policy.mode"), Some("plan"));
        for (line, word) in [
            ("[policy]\nallow = [\"exec rm *\"]", "a project may not set policy.allow"),
            ("[policy]\nmode = \"accept-edits\"", "a project may only lower policy.mode"),
            ("[policy]\ndeny = [\"eat x\"]", "policy.deny holds \"eat x\", which is not a rule: "),
        ] {
            let said = refusal("", line);
            assert!(said.contains(word), "{said}");
        }
        assert!(
            refusal("[policy]\nyolo = \"never\"", "[policy]\nyolo = \"allowed\"")
                .contains("only lower")
        );
    }

    #[test]
    fn nothing_exceeds_an_operators_ceiling() {
        let operator = "max_turns = 10\nmax_cost = 1\n[policy]\nyolo = \"never\"\ndeny = [\"exec curl *\"]\nmode = \"act\"\n";
        let user = "max_turns = 500\n[policy]\nmode = \"accept-edits\"\nyolo = \"allowed\"\n";
        let mut config = load_under(operator, user, "max_turns = 400\n").unwrap();
        config.lay(Layer::flag("max_turns", "max-turns", Value::Count(900)).unwrap()).unwrap();
        assert_eq!(config.count("max_turns"), 10);
        assert_eq!(config.money("max_cost"), Some(PicoUsd(1_000_000_000_000)));
        assert_eq!(config.text("policy.yolo"), Some("never"));
        assert_eq!(config.text("policy.mode"), Some("act"));
        assert!(config.origin("policy.mode").unwrap().to_string().contains("operator.toml:"));
        assert_eq!(
            config.parts("policy.deny").map(|(rule, _)| rule).collect::<Vec<_>>(),
            ["exec curl *"]
        );
        config.lay(Layer::flag("max_turns", "max-turns", Value::Count(3)).unwrap()).unwrap();
        assert_eq!(config.count("max_turns"), 3);
        let said = load_under("model = \"a/b\"", "", "").unwrap_err().to_string();
        assert!(said.contains("an operator sets no model"), "{said}");
    }

    // keeps: docs
    #[test]
    fn documents_of_all_layers_stand_together_and_nobody_takes_the_persons_place() {
        let operator = "[docs]\nrules = \"/etc/rules.md\"\nstyle = \"/etc/style.md\"\n";
        let user = "[docs]\nstyle = \"/home/a/style.md\"\n";
        let config = load_under(operator, user, "[docs]\nguide = \"guide.md\"\n").unwrap();
        let named: Vec<&str> = config.names_of("docs.*").collect();
        assert_eq!(named, ["guide", "rules", "style"]);
        assert_eq!(config.text("docs.style"), Some("/home/a/style.md"));
        assert_eq!(config.text("docs.rules"), Some("/etc/rules.md"));
        let said = refusal(user, "[docs]\nstyle = \"mine.md\"\n");
        assert!(said.starts_with("cairn.toml:2: docs.style is set already"), "{said}");
    }

    // keeps: members-settings
    #[test]
    fn a_project_narrows_membership_and_never_widens_it() {
        let user = "[membership]\nadd = [\".env\"]\nignore = [\"a\"]\n";
        let project = "[membership]\nignore = [\"b/**\"]\nread_only = [\"c\"]\ntracked = true\n";
        let config = load(user, project).unwrap();
        let list = |name: &str| config.list(&format!("membership.{name}")).to_vec();
        assert_eq!(list("add"), [".env"]);
        assert_eq!(list("ignore"), ["a", "b/**"]);
        assert_eq!(list("read_only"), ["c"]);
        assert!(config.flag("membership.tracked"));
        assert!(!load(user, "").unwrap().flag("membership.tracked"));
        for (user, project, expected) in [
            ("", "membership.add = [\"x\"]", "a project may not set membership.add"),
            (
                "membership.tracked = true",
                "membership.tracked = false",
                "a project may set membership.tracked to true, and not back to false",
            ),
            ("membership.tracked = 1", "", "membership.tracked must be true or false"),
            ("membership.ignore = [\"a/[\"]", "", "membership.ignore holds what is none: \"a/[\""),
        ] {
            let said = refusal(user, project);
            assert!(said.contains(expected), "{said}");
        }
    }

    #[test]
    fn prices_are_read_as_they_are_written_however_they_are_written() {
        let user =
            "[models.\"a/b.c\"]\ninput = 0.1\noutput = \"2.50\"\ncache_read = 3\ncontext = 5";
        let config = load(user, "").unwrap();
        let price = |what: &str| config.price(&format!("models.a/b.c.{what}")).map(|p| p.0);
        assert_eq!(
            (price("input"), price("output"), price("cache_read"), price("cache_write")),
            (Some(100_000), Some(2_500_000), Some(3_000_000), None)
        );
        assert_eq!(config.models().keys().collect::<Vec<_>>(), [&"a/b.c"]);
    }

    #[test]
    fn a_wrong_line_is_named_with_file_line_and_fix() {
        for (text, expect) in [
            ("\nmodle = 1\n", "user.toml:2: unknown key \"modle\"; did you mean \"model\"?"),
            (
                "max_turns = \"many\"",
                "user.toml:1: max_turns must be a whole number from 1 to 10000",
            ),
            ("max_turns = 0", "user.toml:1: max_turns must be from 1 to 10000"),
            (
                "model = ",
                "user.toml:1: not TOML: string values must be quoted, expected literal string",
            ),
            (
                "[providers.x]\nurl = \"y\"",
                "user.toml:2: unknown key \"providers.x.url\"; did you mean \"providers.x.base_url\"?",
            ),
            (
                "[models.\"openai/gpt-4.1\"]\ninptu = 1",
                "user.toml:2: unknown key \"models.openai/gpt-4.1.inptu\"; did you mean \"models.openai/gpt-4.1.input\"?",
            ),
            (
                "[providers.x]\nwire = \"soap\"",
                "user.toml:2: providers.x.wire must be one of chat, responses, anthropic, gemini",
            ),
            (
                "max_cost = 0",
                "user.toml:1: max_cost must be US dollars above 0, at most 1000000, such as \"0.50\"",
            ),
            (
                "max_cost = -1.5",
                "user.toml:1: max_cost must be US dollars above 0, at most 1000000, such as \"0.50\"",
            ),
            (
                "max_cost = inf",
                "user.toml:1: max_cost must be US dollars above 0, at most 1000000, such as \"0.50\"",
            ),
        ] {
            assert_eq!(refusal(text, ""), expect);
        }
    }
}
