//! A shell's command line as plain data: which simple commands it runs, with which words. Reading one
//! and judging it are elsewhere; here is only what was read.

use serde::{Deserialize, Serialize};

/// A command line as far as it can be known without running it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommandLine {
    /// Every command it runs, in the order written. Each runs unless `&&` or `||` skips it.
    Known(Vec<Simple>),
    /// What it runs is not certain before it runs.
    Unsure {
        /// The first thing in it that is not certain, in a few words.
        why: String,
    },
}

/// One simple command: a program or builtin with its arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Simple {
    /// The command and its arguments after quotes are removed. Empty where there are only assignments
    /// or redirects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<ShellWord>,
    /// The names of the variables set before it: `A=1 cmd`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assigns: Vec<String>,
    /// What it reads or writes besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redirects: Vec<Redirect>,
    /// How it is joined to the command before it.
    #[serde(default, skip_serializing_if = "Joint::is_then")]
    pub joint: Joint,
}

/// One word of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellWord {
    /// The word after quotes are removed.
    pub text: String,
    /// Whether a glob or a `~` stands in it unquoted: it may become any number of other words.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub open: bool,
}

/// How a command is joined to the one before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Joint {
    /// It is the first, or stands after `;` or a line end.
    #[default]
    Then,
    /// After `&&`.
    And,
    /// After `||`.
    Or,
    /// After `|`: it reads what the one before prints.
    Pipe,
}

impl Joint {
    fn is_then(&self) -> bool {
        *self == Joint::Then
    }
}

/// Something a command reads or writes besides what its words name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Redirect {
    /// What is done.
    pub kind: RedirectKind,
    /// The file; of a `dup` the descriptor's number or `-`; of a here-document its end mark.
    pub target: String,
}

/// What a redirect does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RedirectKind {
    /// `<`: a file is read.
    Read,
    /// `>` or `>|`: a file is written from its beginning.
    Write,
    /// `>>`: a file is written at its end.
    Append,
    /// `<>`: a file is opened for both.
    ReadWrite,
    /// `2>&1`, `<&-`: a descriptor is copied or closed.
    Dup,
    /// `<<`: the input is text of the command line itself.
    HereDoc,
}

impl Redirect {
    /// Whether no file is opened but `/dev/null`.
    #[must_use]
    pub fn is_harmless(&self) -> bool {
        match self.kind {
            RedirectKind::Dup | RedirectKind::HereDoc => true,
            RedirectKind::Read
            | RedirectKind::Write
            | RedirectKind::Append
            | RedirectKind::ReadWrite => self.target == "/dev/null",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &CommandLine, json: &str) {
        assert_eq!(serde_json::to_string(line).unwrap(), json);
        assert_eq!(&serde_json::from_str::<CommandLine>(json).unwrap(), line);
    }

    #[test]
    fn a_command_line_is_compact_json_and_comes_back() {
        let word = |text: &str, open| ShellWord { text: text.to_owned(), open };
        let list = Simple { words: vec![word("ls", false), word("*", true)], ..Simple::default() };
        let tail = Simple {
            words: vec![word("tail", false)],
            assigns: vec!["A".to_owned()],
            redirects: vec![Redirect { kind: RedirectKind::ReadWrite, target: "f".to_owned() }],
            joint: Joint::Pipe,
        };
        let json = concat!(
            r#"{"known":[{"words":[{"text":"ls"},{"text":"*","open":true}]},"#,
            r#"{"words":[{"text":"tail"}],"assigns":["A"],"#,
            r#""redirects":[{"kind":"read-write","target":"f"}],"joint":"pipe"}]}"#,
        );
        check(&CommandLine::Known(vec![list, tail]), json);
        let unsure = CommandLine::Unsure { why: "a variable".to_owned() };
        check(&unsure, r#"{"unsure":{"why":"a variable"}}"#);
    }
}
