//! Policy as plain data: rules with their origin, the answers people gave for longer than once, and
//! what a rule looks at in an op. What a rule's text means is the engine's to read.

use crate::CommandLine;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Everything the policy gate goes by while one driver drives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// The project's directory, absolute: rules on paths are relative to it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub root: String,
    /// The person's home, absolute: what `~/` stands for in rules and commands.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub home: String,
    /// Commands run in a shell whose words cannot be told beforehand, so no rule but `exec *` allows
    /// one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub strange_shell: bool,
    /// Commands that are waited for run over an overlay: what they change is asked about, not they.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub overlay: bool,
    /// What rules keep from being read no such command can read either, so it need not be asked about.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keeps_unread: bool,
    /// Nobody may say yes to everything beforehand, by whatever word: a rule that names no command
    /// allows none, and one that names no op nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_yolo: bool,
    /// The most that is removed without being asked about, whatever the rules say.
    #[serde(default = "Removed::little", skip_serializing_if = "Removed::is_little")]
    pub little: Removed,
    /// The rules, in no order: the strictest that fits decides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<PolicyRule>,
}

impl Default for Policy {
    fn default() -> Policy {
        let (root, home, little) = (String::new(), String::new(), Removed::LITTLE);
        Policy {
            root,
            home,
            strange_shell: false,
            overlay: false,
            keeps_unread: false,
            no_yolo: false,
            little,
            rules: Vec::new(),
        }
    }
}

/// How much is taken away: files, bytes in them, and the rule that kept precious ones out of git.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Removed {
    /// Files and links.
    pub files: u64,
    /// Bytes.
    pub bytes: u64,
    /// Precious files that git ignores before and not after it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub exposed: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Removed {
    /// The most that is removed without being asked about, where nothing else is configured.
    pub const LITTLE: Removed = Removed { files: 50, bytes: 10 << 20, exposed: 0 };

    /// Whether it is more, in files or in bytes.
    #[must_use]
    pub fn exceeds(&self, most: Removed) -> bool {
        self.files > most.files || self.bytes > most.bytes
    }

    /// Whether nothing is taken away.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Removed::default()
    }

    fn little() -> Removed {
        Removed::LITTLE
    }

    fn is_little(&self) -> bool {
        *self == Removed::LITTLE
    }
}

/// One rule and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyRule {
    /// What it says.
    pub word: RuleWord,
    /// What it is about: `exec cargo test *`, `edit src/**`.
    pub rule: String,
    /// Whose it is.
    pub from: RuleFrom,
    /// Where it stands: file and line, a flag, or the number of an answer.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// When it ends, milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<u64>,
}

/// What a rule says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuleWord {
    /// It may run unasked.
    Allow,
    /// A person is asked.
    Ask,
    /// It may not run.
    Deny,
}

impl fmt::Display for RuleWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            RuleWord::Allow => "allow",
            RuleWord::Ask => "ask",
            RuleWord::Deny => "deny",
        })
    }
}

/// Whose rule it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuleFrom {
    /// Whoever runs the machine: nothing below may exceed it.
    Operator,
    /// The user, in a file or by a flag.
    User,
    /// The project's file, which may only narrow.
    Project,
    /// A person's answer, remembered.
    Answer,
}

impl fmt::Display for RuleFrom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            RuleFrom::Operator => "operator",
            RuleFrom::User => "user",
            RuleFrom::Project => "project",
            RuleFrom::Answer => "answer",
        })
    }
}

/// What an op touches, as far as rules look at it. Recorded with the op, so that a decision can be
/// made again from the log alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// Paths it looks at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<String>,
    /// Paths it changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<String>,
    /// The command it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandLine>,
    /// The command's text, where its words are not certain and it is not too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The directory it runs in; the root when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Hosts it names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// It runs beside what follows, and on the files themselves.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub beside: bool,
}
