//! What a client may say to a running run, one JSON object per line.

use serde::{Deserialize, Serialize};

/// A command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Command {
    /// Words for the running loop.
    Steer {
        /// The words.
        text: String,
    },
    /// One more loop, after the running one.
    Prompt {
        /// What to do.
        text: String,
    },
    /// Stop the running loop.
    Abort {},
    /// The command that is waited for, and runs over an overlay, shall go on in the background.
    Background {},
    /// A word on a proposal.
    Decide {
        /// The proposal's id, as in `proposal/opened`.
        proposal: String,
        /// The word.
        verdict: Verdict,
        /// The hash of what was shown; when given, it must be the proposal's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shown_hash: Option<String>,
        /// With allow, of an edit: the numbers of the items that are taken; all when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        items: Option<Vec<u32>>,
        /// With allow, of an edit: texts that shall stand in place of what was proposed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        texts: Vec<Text>,
        /// An answer; or words with another verdict, which become the model's next message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        words: Option<String>,
        /// How far the word reaches.
        #[serde(default)]
        remember: Remember,
        /// What it is remembered for, one of the proposal's `offers` or another rule; every op of
        /// this kind when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<String>,
        /// When what is remembered ends, milliseconds since 1970.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<u64>,
        /// With a plan that is approved: the mode in which the run goes on; `act` when absent and the
        /// run was planning.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<Mode>,
    },
}

/// A text for a file of a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Text {
    /// The file, as the proposal's items name it.
    pub path: String,
    /// All that shall stand in it.
    pub text: String,
}

/// The words on a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Do it. Of an indeterminate op: run it again.
    Allow,
    /// Do not.
    Refuse,
    /// Of an indeterminate op: it did happen.
    Happened,
    /// Of an indeterminate op: leave it.
    Skip,
    /// Of a question of the agent's: `words` is the answer.
    Answer,
}

/// The mode in which a run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// It goes on planning.
    Plan,
    /// Changes are asked about.
    Act,
    /// Files are changed unasked.
    AcceptEdits,
}

/// How far a word reaches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Remember {
    /// This op.
    #[default]
    Once,
    /// In this run.
    Run,
    /// In every run of this session.
    Session,
    /// In every session over this project's folder.
    Project,
    /// Everywhere.
    Always,
}

/// Why a line is not a command.
#[derive(Debug)]
pub struct CommandError {
    why: String,
}

impl std::fmt::Display for CommandError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "not a command: {}; one looks like {{\"type\":\"steer\",\"text\":\"…\"}} (steer, prompt, \
             abort, background, decide)",
            self.why
        )
    }
}

impl std::error::Error for CommandError {}

impl std::str::FromStr for Command {
    type Err = CommandError;
    fn from_str(line: &str) -> Result<Command, CommandError> {
        serde_json::from_str(line).map_err(|e| CommandError { why: e.to_string() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_command_or_a_sentence_that_says_why_not() {
        let decide = r#"{"type":"decide","proposal":"p1.1.1","verdict":"allow","remember":"run"}"#;
        assert!(matches!(
            decide.parse(),
            Ok(Command::Decide { verdict: Verdict::Allow, remember: Remember::Run, .. })
        ));
        let part = r#"{"type":"decide","proposal":"p1.1.1","verdict":"allow","items":[2],"texts":[{"path":"a","text":"b"}]}"#;
        assert!(matches!(
            part.parse(),
            Ok(Command::Decide { items: Some(items), texts, .. })
                if items == [2] && texts[0].path == "a"
        ));
        assert_eq!(r#"{"type":"abort"}"#.parse::<Command>().unwrap(), Command::Abort {});
        let sent = r#"{"type":"background"}"#.parse::<Command>().unwrap();
        assert_eq!(sent, Command::Background {});
        let said = r#"{"type":"steer","txt":"x"}"#.parse::<Command>().unwrap_err().to_string();
        assert!(said.contains("unknown field `txt`"), "{said}");
    }
}
