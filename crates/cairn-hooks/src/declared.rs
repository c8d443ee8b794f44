//! Hooks as people write them: which event, which tools, which command, how long it may take.

use super::calls::names_of;
use cairn_types::{HookEvent, is_event_elsewhere};
use regex::Regex;
use serde::Deserialize;
use std::collections::BTreeMap;

/// How long a hook may take when nobody says.
const TIMEOUT_MS: u64 = 60_000;
/// How long it may take at most.
const LONGEST_MS: u64 = 3_600_000;
/// How many hooks a file may declare.
const MOST: usize = 200;

/// A command that is asked.
#[derive(Debug, Clone)]
pub struct Declared {
    /// When.
    pub event: HookEvent,
    /// About which tools.
    pub matcher: Matcher,
    /// The command.
    pub command: String,
    /// How long it may take, in milliseconds.
    pub timeout_ms: u64,
}

/// What is wrong with a declaration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeclaredError {
    /// The file cannot be read as what it should be.
    #[error("{0}")]
    Form(String),
    /// There is no such event.
    #[error(transparent)]
    Event(#[from] cairn_types::NoSuchEvent),
    /// A matcher is no regular expression.
    #[error("the matcher {0:?} is no regular expression over tools' names, such as \"Edit|Write\"")]
    Matcher(String),
    /// There is no command.
    #[error("a hook of {0} has an empty command")]
    NoCommand(HookEvent),
    /// The time is out of bounds.
    #[error("timeout_ms of a hook of {0} must be from 1 to {LONGEST_MS}")]
    Timeout(HookEvent),
    /// There are too many.
    #[error("it declares more than {MOST} hooks")]
    TooMany,
}

/// One hook of an event, as it stands in a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// A regular expression over tools' names; every tool when absent.
    #[serde(default)]
    pub matcher: Option<String>,
    /// The command.
    pub command: String,
    /// How long it may take, in milliseconds.
    #[serde(default)]
    pub timeout_ms: Option<u64>,
}

impl Declared {
    /// Reads an entry.
    pub fn new(event: HookEvent, entry: Entry) -> Result<Declared, DeclaredError> {
        let Entry { matcher, command, timeout_ms } = entry;
        if command.trim().is_empty() || command.contains('\0') {
            return Err(DeclaredError::NoCommand(event));
        }
        let timeout_ms = timeout_ms.unwrap_or(TIMEOUT_MS);
        if !(1..=LONGEST_MS).contains(&timeout_ms) {
            return Err(DeclaredError::Timeout(event));
        }
        let matcher = Matcher::parse(matcher.as_deref().unwrap_or_default())?;
        Ok(Declared { event, matcher, command, timeout_ms })
    }
}

/// Which tools a hook is about.
#[derive(Debug, Clone)]
pub struct Matcher(Option<Regex>);

impl Matcher {
    /// Reads one: nothing and `*` mean every tool, anything else is a regular expression that a whole
    /// name must match.
    pub fn parse(text: &str) -> Result<Matcher, DeclaredError> {
        if matches!(text.trim(), "" | "*") {
            return Ok(Matcher(None));
        }
        let whole = Regex::new(&format!("^(?:{text})$"));
        whole.map(|regex| Matcher(Some(regex))).map_err(|_| DeclaredError::Matcher(text.to_owned()))
    }

    /// Whether it means this tool, by any of its names.
    #[must_use]
    pub fn fits(&self, tool: &str) -> bool {
        // A tool from outside has the one name.
        let is_outside = names_of(tool).is_empty() && self.means(tool);
        self.0.is_none() || is_outside || names_of(tool).iter().any(|name| self.means(name))
    }

    /// Whether it means this name.
    #[must_use]
    pub fn means(&self, name: &str) -> bool {
        self.0.as_ref().is_none_or(|regex| regex.is_match(name))
    }
}

/// What a file of hooks gave.
#[derive(Debug, Clone, Default)]
pub struct Listed {
    /// Its hooks.
    pub hooks: Vec<Declared>,
    /// What of it is not used, each with a reason.
    pub left_out: Vec<String>,
}

/// What is said of an event that other agents have, and Cairn has not.
#[must_use]
pub fn not_asked_yet(event: &str) -> String {
    format!("{event}: not asked yet, since Cairn does nothing yet that it is about")
}

/// Reads a file of hooks: `[[PreToolUse]]` tables with `matcher`, `command` and `timeout_ms`.
pub fn parse_toml(text: &str) -> Result<Listed, DeclaredError> {
    let events: BTreeMap<String, Vec<Entry>> =
        toml::from_str(text).map_err(|e| DeclaredError::Form(e.to_string()))?;
    let mut listed = Listed::default();
    for (event, entries) in events {
        if is_event_elsewhere(&event) {
            listed.left_out.push(not_asked_yet(&event));
            continue;
        }
        let event: HookEvent = event.parse()?;
        for entry in entries {
            listed.hooks.push(Declared::new(event, entry)?);
        }
    }
    if listed.hooks.len() > MOST {
        return Err(DeclaredError::TooMany);
    }
    Ok(listed)
}

#[cfg(test)]
mod tests {
    use super::super::calls::TOOLS;
    use super::*;

    #[test]
    fn a_matcher_means_tools_by_our_names_and_by_those_of_elsewhere() {
        for (matcher, expected) in [
            (
                "",
                "read write edit multi_edit find list remove move copy open fold send bash env todo ask_user present_plan",
            ),
            (
                "*",
                "read write edit multi_edit find list remove move copy open fold send bash env todo ask_user present_plan",
            ),
            ("Bash", "bash env"),
            ("bash", "bash"),
            ("Edit|Write", "write edit"),
            ("Edit|MultiEdit|Write", "write edit multi_edit"),
            ("Grep", "find"),
            ("Glob|LS", "find list"),
            (".*Edit", "edit multi_edit"),
            ("mcp__.*", ""),
            ("Ba", ""),
        ] {
            let matcher_read = Matcher::parse(matcher).unwrap();
            let fits: Vec<&str> =
                TOOLS.into_iter().filter(|tool| matcher_read.fits(tool)).collect();
            assert_eq!(fits.join(" "), expected, "{matcher}");
        }
        assert!(Matcher::parse("(").is_err());
    }

    #[test]
    fn a_wrong_file_is_refused_and_says_why() {
        for (text, why) in [
            ("[[PreToolUse]]\ncommand = \"x\"\ntimeout = 1", "unknown field `timeout`"),
            ("[[PreToolUse]]\nmatcher = \"x\"", "missing field `command`"),
            ("[[PreToolUse]]\ncommand = \" \"", "empty command"),
            ("[[PreToolUse]]\ncommand = \"x\"\nmatcher = \"(\"", "no regular expression"),
            ("[[PreToolUse]]\ncommand = \"x\"\ntimeout_ms = 0", "from 1 to"),
            ("[[PreToolUze]]\ncommand = \"x\"", "did you mean PreToolUse?"),
            ("[[Compact]]\ncommand = \"x\"", "no event that hooks are asked at"),
            ("PreToolUse = 1", "invalid type"),
            ("= =", "TOML parse error"),
        ] {
            let said = parse_toml(text).unwrap_err().to_string();
            assert!(said.contains(why), "{text}: {said}");
        }
        let many = "[[Stop]]\ncommand = \"x\"\n".repeat(201);
        assert_eq!(parse_toml(&many).unwrap_err(), DeclaredError::TooMany);
        assert_eq!(parse_toml("").unwrap().hooks.len(), 0);
        let other =
            parse_toml("[[PreCompact]]\ncommand = \"x\"\n[[Stop]]\ncommand = \"y\"").unwrap();
        assert_eq!(other.hooks.len(), 1);
        assert!(other.left_out[0].starts_with("PreCompact: not asked yet"), "{:?}", other.left_out);
    }
}
