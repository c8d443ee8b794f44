//! One rule's text, read: `exec cargo test *`, `edit src/**`, `*[effect=network]`. What it then says
//! about an op is the judge's.

use cairn_surface::native;
use cairn_text::glob::PathGlob;
use cairn_text::shell::Pattern;
use cairn_types::{Effect, OpName, Policy, Writer};
use serde::de::DeserializeOwned;
use std::net::{Ipv4Addr, Ipv6Addr};

/// What a rule is about. Whatever it does not name may be anything.
#[derive(Debug, Clone, Default)]
pub struct Rule {
    pub(super) ops: Vec<OpName>,
    pub(super) tool: Option<String>,
    pub(super) writer: Option<Writer>,
    pub(super) effect: Option<Effect>,
    pub(super) host: Option<String>,
    pub(super) scheme: Option<String>,
    pub(super) what: What,
}

/// What the op works on.
#[derive(Debug, Clone, Default)]
pub(super) enum What {
    /// Anything.
    #[default]
    Any,
    /// These paths.
    Path(PathGlob),
    /// These commands.
    Command(Pattern),
}

/// A way by which a model may come to read a file.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    /// The op.
    pub op: OpName,
    /// What it may change.
    pub effect: Effect,
    /// The tools that do it; none where nobody calls one.
    pub tools: &'static [&'static str],
}

/// Why a text is no rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{rule:?} is not a rule: {why}")]
pub struct RuleError {
    /// The text.
    pub rule: String,
    /// What is wrong with it, and what would be right.
    pub why: String,
}

/// The ops a rule may name.
const OPS: [(&str, &[OpName]); 16] = [
    ("*", &[]),
    ("find", &[OpName::Find]),
    ("read", &[OpName::Read]),
    ("edit", &[OpName::Edit]),
    ("copy", &[OpName::Copy]),
    ("move", &[OpName::Move]),
    ("kill", &[OpName::Kill]),
    ("write", &[OpName::Edit, OpName::Copy, OpName::Move, OpName::Kill]),
    ("exec", &[OpName::Exec]),
    ("open", &[OpName::Open]),
    ("fold", &[OpName::Fold]),
    ("send", &[OpName::Send]),
    ("todo", &[OpName::Todo]),
    ("consult", &[OpName::Consult]),
    ("undo", &[OpName::Undo]),
    ("call", &[OpName::Call]),
];

impl Rule {
    /// Reads a rule: an op or `*`, conditions in brackets, and what it works on.
    pub fn parse(text: &str) -> Result<Rule, RuleError> {
        Rule::parse_in(text, &Policy::default())
    }

    /// The same, where paths may be written from the home, or as absolute ones into the project.
    pub(crate) fn parse_in(text: &str, policy: &Policy) -> Result<Rule, RuleError> {
        let bad = |why: String| RuleError { rule: text.to_owned(), why };
        let text = text.trim();
        let end = text.find(|c: char| c == '[' || c.is_whitespace()).unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        let Some((_, ops)) = OPS.iter().find(|(op, _)| *op == name) else {
            let known: Vec<&str> = OPS.iter().map(|(op, _)| *op).collect();
            return Err(bad(format!("it begins with one of {}", known.join(", "))));
        };
        let mut rule = Rule { ops: ops.to_vec(), ..Rule::default() };
        let what = match rest.strip_prefix('[') {
            None => rest,
            Some(inner) => {
                let (conditions, what) =
                    inner.split_once(']').ok_or_else(|| bad("a `]` is missing".to_owned()))?;
                for condition in conditions.split(',').map(str::trim).filter(|c| !c.is_empty()) {
                    rule.take(condition).map_err(bad)?;
                }
                what
            }
        };
        let what = match rule.ops[..] {
            [OpName::Exec] => what.trim().to_owned(),
            _ => placed(what.trim(), policy),
        };
        rule.what = what_of(&rule.ops, &what).map_err(bad)?;
        Ok(rule)
    }

    fn take(&mut self, condition: &str) -> Result<(), String> {
        let (key, value) = condition
            .split_once('=')
            .map(|(key, value)| (key.trim(), value.trim()))
            .filter(|(_, value)| !value.is_empty())
            .ok_or_else(|| format!("{condition:?} is not of the form key=value"))?;
        match key {
            // Tools from outside are known where they are called.
            "tool" if self.ops == [OpName::Call] => self.tool = Some(value.to_owned()),
            "tool" => self.tool = Some(tool(value)?),
            "writer" => self.writer = Some(word(value, "model, client, plugin or system")?),
            "effect" => self.effect = Some(word(value, "pure, read, world, host or network")?),
            "host" => self.host = Some(host(value)?),
            "scheme" => self.scheme = Some(value.to_owned()),
            _ => return Err(format!("{key:?} is none of tool, writer, effect, host, scheme")),
        }
        Ok(())
    }

    /// Whether it is about what is reached beyond this machine.
    pub(super) fn is_on_network(&self) -> bool {
        self.effect == Some(Effect::Network)
    }

    /// Whether it speaks of what is beyond this machine, by more than naming an op that mostly is not.
    pub(super) fn is_beyond(&self) -> bool {
        let beyond = self.scheme.as_deref().is_some_and(|scheme| scheme != "file");
        self.ops.is_empty() || self.is_on_network() || self.host.is_some() || beyond
    }

    /// The hosts it is about, if it is about any.
    pub(super) fn hosts(&self) -> Option<&str> {
        self.host.as_deref().or(self.is_on_network().then_some("*"))
    }

    /// Whether it is about reading, or searching.
    pub(super) fn is_about_reading(&self) -> bool {
        self.ops.contains(&OpName::Read) || self.ops.contains(&OpName::Find)
    }

    /// The paths it is about.
    pub(super) fn glob(&self) -> Option<&PathGlob> {
        match &self.what {
            What::Path(glob) => Some(glob),
            What::Any | What::Command(_) => None,
        }
    }

    /// Whether it is about what changes something.
    pub(super) fn is_on_changes(&self) -> bool {
        let looks = [OpName::Read, OpName::Find];
        self.ops.is_empty() || self.ops.iter().any(|op| !looks.contains(op))
    }

    /// The paths that it keeps models from reading by this way, if it does.
    pub(super) fn kept_from(&self, way: &Reading) -> Option<&PathGlob> {
        let ops = self.ops.contains(&OpName::Read)
            || way.op == OpName::Find && self.ops.contains(&OpName::Find);
        let meant = self.writer.is_none_or(|writer| writer == Writer::Model)
            && self.effect.is_none_or(|effect| effect == way.effect)
            && self.tool.as_deref().is_none_or(|tool| way.tools.contains(&tool))
            && self.scheme.as_deref().is_none_or(|scheme| scheme == "file")
            && self.host.is_none();
        self.glob().filter(|_| ops && meant)
    }

    /// Whether it is about every way of reading files that a model has.
    pub(super) fn is_about_every_way(&self) -> bool {
        self.writer.is_none_or(|writer| writer == Writer::Model)
            && self.effect.is_none()
            && self.tool.is_none()
            && self.host.is_none()
            && self.scheme.as_deref().is_none_or(|scheme| scheme == "file")
    }

    /// Whether it is about more than what it names.
    pub(super) fn is_broad(&self) -> bool {
        match &self.what {
            What::Path(glob) => glob.as_str().contains(['*', '?', '[', '{']),
            What::Any | What::Command(_) => true,
        }
    }

    /// Whether allowing what it means is as good as `--yolo`: every command, or every op.
    pub(super) fn is_yolo(&self) -> bool {
        let every_command = match &self.what {
            What::Any => self.ops.is_empty() || self.ops.contains(&OpName::Exec),
            What::Command(pattern) => !pattern.names_its_command(),
            What::Path(_) => false,
        };
        // Commands have one effect and one tool, and are in no scheme.
        let apart = self.effect.is_some_and(|effect| effect != Effect::Host)
            || self.tool.as_deref().is_some_and(|tool| tool != "bash")
            || self.scheme.is_some();
        every_command && !apart
    }

    /// Whether it names no condition but its ops: then also what cannot be read is meant.
    pub(super) fn means_everything(&self) -> bool {
        let any = match &self.what {
            What::Any => true,
            What::Command(pattern) => pattern.is_everything(),
            What::Path(_) => false,
        };
        any && self.host.is_none() && self.scheme.is_none()
    }
}

fn word<T: DeserializeOwned>(value: &str, known: &str) -> Result<T, String> {
    serde_json::from_value(value.into()).map_err(|_| format!("{value:?} is none of {known}"))
}

/// A host as hosts are compared, with its port or without: what no host can be would never be met.
fn host(value: &str) -> Result<String, String> {
    let bad = |why: &str| Err(format!("host={value} {why}"));
    let value = value.to_ascii_lowercase();
    if value == "*" || value.parse::<Ipv6Addr>().is_ok() {
        return Ok(value);
    }
    if value.contains(['/', '@']) {
        return bad("is more than a host; write it alone, as example.org or example.org:8080");
    }
    let (name, port) = value.split_once(':').map_or((&*value, None), |(n, p)| (n, Some(p)));
    if port.is_some_and(|port| port.parse::<u16>().map_or(true, |port| port == 0)) {
        return bad("has no port from 1 to 65535 after its colon");
    }
    let name = name.strip_prefix("*.").unwrap_or(name);
    if name.contains('*') {
        return bad("is not met; write *.example.org for all beneath example.org");
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if !name.chars().all(is_plain) || name.split('.').any(str::is_empty) {
        return bad("is no host; write it as example.org, and beyond ASCII in its xn-- form");
    }
    let is_number = name.rsplit('.').all(|label| label.bytes().all(|b| b.is_ascii_digit()));
    if is_number && name.parse::<Ipv4Addr>().is_err() {
        return bad("is no whole address; write it as 192.0.2.1");
    }
    Ok(value)
}

/// A tool by any of its names.
fn tool(name: &str) -> Result<String, String> {
    native::name_of(name).map(str::to_owned).ok_or_else(|| {
        let known: Vec<&str> = native::tools().iter().map(|tool| tool.name).collect();
        format!("there is no tool {name:?}; the tools are {}", known.join(", "))
    })
}

/// A path of a rule, relative to the project where it lies in it.
fn placed(path: &str, policy: &Policy) -> String {
    let home = policy.home.trim_end_matches('/');
    let path = match path.strip_prefix('~') {
        Some(rest) if !home.is_empty() && rest.starts_with('/') => format!("{home}{rest}"),
        _ => path.to_owned(),
    };
    let root = policy.root.trim_end_matches('/');
    match path.strip_prefix(root).filter(|rest| !root.is_empty() && rest.starts_with('/')) {
        Some(rest) => format!(".{rest}"),
        None => path,
    }
}

fn what_of(ops: &[OpName], what: &str) -> Result<What, String> {
    match ops {
        _ if what.is_empty() => Ok(What::Any),
        [OpName::Exec] => Pattern::parse(what).map(What::Command).map_err(|e| e.to_string()),
        [] => Err("`*` stands alone; a rule on paths or commands names its op".to_owned()),
        [
            OpName::Open
            | OpName::Fold
            | OpName::Send
            | OpName::Todo
            | OpName::Consult
            | OpName::Undo
            | OpName::Call,
        ] => Err("this op works on nothing that has a name".to_owned()),
        _ => PathGlob::parse(what).map(What::Path).map_err(|e| e.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_host_can_be_is_not_taken_for_one() {
        let check = |host: &str, expected: &str| {
            let said = Rule::parse(&format!("exec[host={host}]")).err();
            let said = said.map_or_else(String::new, |error| error.why);
            let said = said.split(';').next().unwrap_or_default();
            assert_eq!(said.strip_prefix(&format!("host={host} ")).unwrap_or(said), expected);
        };
        for fine in
            ["vm", "vm:8777", "*", "*.example.org", "*.example.org:81", "10.1.2.3:443", "::1"]
        {
            check(fine, "");
        }
        check("http://vm:8777", "is more than a host");
        check("me@vm", "is more than a host");
        check("vm/a", "is more than a host");
        check("vm:", "has no port from 1 to 65535 after its colon");
        check("vm:http", "has no port from 1 to 65535 after its colon");
        check("vm:0", "has no port from 1 to 65535 after its colon");
        check("ex*.org", "is not met");
        check("a..org", "is no host");
        check("b\u{fc}cher.example", "is no host");
        check("127.1", "is no whole address");
    }

    #[test]
    fn a_rule_keeps_from_being_read_only_what_its_conditions_mean() {
        let way = |op, effect, tools| Reading { op, effect, tools };
        let ways = [
            way(OpName::Read, Effect::Read, &["read"]),
            way(OpName::Find, Effect::Read, &["find"]),
            way(OpName::Copy, Effect::World, &["copy", "move"]),
            way(OpName::Read, Effect::Read, &[]),
        ];
        for (rule, expected) in [
            ("read x/**", [true, true, true, true]),
            ("read[tool=find] x/**", [false, true, false, false]),
            ("read[tool=move] x/**", [false, false, true, false]),
            ("find x/**", [false, true, false, false]),
            ("read[effect=read] x/**", [true, true, false, true]),
            ("read[writer=model] x/**", [true, true, true, true]),
            ("read[writer=client] x/**", [false; 4]),
            ("read[scheme=log] x/**", [false; 4]),
            ("read[scheme=file] x/**", [true; 4]),
            ("read[host=a.org] x/**", [false; 4]),
            ("edit x/**", [false; 4]),
            ("read", [false; 4]),
        ] {
            let rule = Rule::parse(rule).unwrap();
            assert_eq!(ways.map(|way| rule.kept_from(&way).is_some()), expected, "{rule:?}");
        }
    }
}
