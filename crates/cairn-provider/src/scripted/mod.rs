//! Models that follow a script: the format, and which reply answers which request. Stateless, so
//! any process can go on with a conversation that another began.

mod player;
mod render;

pub use player::Player;
pub use render::{render, render_whole};

use cairn_types::{Finish, Usage};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The one version of the format.
const VERSION: u64 = 1;

/// A script: what a model says, reply by reply.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The version of the format.
    cairn_script: u64,
    /// Its name, for messages and as the model's name.
    pub name: String,
    /// The replies, in order.
    pub replies: Vec<Reply>,
    /// The reply to everything after the last.
    #[serde(default)]
    pub then: Option<Reply>,
}

/// One reply.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reply {
    /// Which reply of the script it is, from 1, given when it is chosen.
    #[serde(skip)]
    pub number: usize,
    /// A text that must occur in the last message.
    pub expect: Option<String>,
    /// The reply to give when it does not.
    #[serde(rename = "else")]
    pub otherwise: Option<Box<Reply>>,
    /// What the model thinks aloud; where the API seals thoughts, they come sealed.
    #[serde(alias = "think")]
    pub reasoning: Option<String>,
    /// What it says.
    pub say: Option<String>,
    /// What it wants done.
    pub calls: Vec<ScriptedCall>,
    /// Why it stops; by default `calls` when there are any, else `stop`.
    #[serde(deserialize_with = "finish")]
    pub finish: Option<Finish>,
    /// What it claims to have taken; nothing is claimed by default.
    #[serde(deserialize_with = "usage")]
    pub usage: Option<Usage>,
    /// How long each piece of the text takes, in milliseconds.
    pub pace_ms: u64,
}

/// One call of a reply.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedCall {
    /// `call_REPLY_N`, both from 1, given when the reply is chosen.
    #[serde(skip)]
    pub id: String,
    /// The tool's name.
    pub tool: String,
    /// The arguments. A string is sent verbatim, so that a script can also get them wrong.
    #[serde(default)]
    pub args: Value,
}

/// Why a script cannot be used, or does not go on.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The file cannot be read.
    #[error("cannot read the script {path}: {source}; check its path", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// It is not a script.
    #[error("{place}:{line}: not a script: {source}")]
    Format {
        /// The file, or `script`.
        place: String,
        /// The line.
        line: usize,
        /// What is wrong there.
        source: serde_json::Error,
    },
    /// It is a script of another version.
    #[error("{place}:{line}: this is a script of version {found}; this cairn plays version 1")]
    Version {
        /// The file, or `script`.
        place: String,
        /// The line of the version.
        line: usize,
        /// Its version.
        found: String,
    },
    /// There is no reply left.
    #[error(
        "the script {name:?} ended after {replies} {}; start a new run to play it again",
        if *replies == 1 { "reply" } else { "replies" }
    )]
    Ended {
        /// The script.
        name: String,
        /// How many replies it has.
        replies: usize,
    },
    /// The conversation is not where the script assumed.
    #[error(
        "the script {name:?} expected {expected:?} in the last message before its reply {reply}, which is {found:?}; start a new run to play it again"
    )]
    Derailed {
        /// The script.
        name: String,
        /// Which reply, from 1.
        reply: usize,
        /// What was expected.
        expected: String,
        /// The beginning of what was there.
        found: String,
    },
}

/// Which turn a message of the packet view asks for, if it is one: it says so in its last heading. With it there are
/// no earlier replies to count.
#[must_use]
pub fn turn_of(message: &str) -> Option<usize> {
    let heading = message.starts_with("# Task\n").then(|| message.rsplit_once("\n# "))??.1;
    let (_, number) = heading.lines().next()?.split_once("(turn ")?;
    number.strip_suffix(')')?.parse().ok()
}

/// What a reply of the packet view's envelope has to repeat: the last word of the message.
#[must_use]
pub fn nonce_of(message: &str) -> &str {
    let word = message.split(|c: char| !c.is_ascii_alphanumeric()).rfind(|word| !word.is_empty());
    word.unwrap_or_default()
}

impl Reply {
    /// The same, with the nonce of the message that it answers where it says `{NONCE}`.
    #[must_use]
    pub fn answering(mut self, message: &str) -> Reply {
        if let Some(say) = self.say.as_mut().filter(|say| say.contains("{NONCE}")) {
            *say = say.replace("{NONCE}", nonce_of(message));
        }
        self
    }
}

impl Script {
    /// Reads a script from its text.
    pub fn parse(text: &str) -> Result<Script, ScriptError> {
        parse(text, "script")
    }

    /// Reads a script from a file.
    pub fn load(path: impl AsRef<Path>) -> Result<Script, ScriptError> {
        let path = path.as_ref();
        let text = fs::read_to_string(path)
            .map_err(|source| ScriptError::Read { path: path.to_owned(), source })?;
        parse(&text, &path.display().to_string())
    }

    /// The reply to a request that holds `spoken` assistant messages and ends in `last`.
    pub fn reply(&self, spoken: usize, last: &str) -> Result<Reply, ScriptError> {
        let number = spoken + 1;
        let chosen = self.replies.get(spoken).or(self.then.as_ref()).ok_or_else(|| {
            ScriptError::Ended { name: self.name.clone(), replies: self.replies.len() }
        })?;
        let mut reply = self.on_track(chosen, number, last)?.clone();
        reply.number = number;
        reply = reply.answering(last);
        for (n, call) in reply.calls.iter_mut().enumerate() {
            call.id = format!("call_{number}_{}", n + 1);
        }
        Ok(reply)
    }

    fn on_track<'a>(
        &self,
        mut reply: &'a Reply,
        number: usize,
        last: &str,
    ) -> Result<&'a Reply, ScriptError> {
        while let Some(expected) = reply.expect.as_deref().filter(|e| !last.contains(e)) {
            reply = reply.otherwise.as_deref().ok_or_else(|| ScriptError::Derailed {
                name: self.name.clone(),
                reply: number,
                expected: expected.to_owned(),
                found: crate::fault::plain(last, 200),
            })?;
        }
        Ok(reply)
    }
}

impl Reply {
    /// What its thoughts are sealed with, where the API seals them.
    #[must_use]
    pub fn seal(&self) -> String {
        format!("c2VhbA{:04}", self.number)
    }

    /// Why it stops.
    #[must_use]
    pub fn finish(&self) -> Finish {
        let natural = if self.calls.is_empty() { Finish::Stop } else { Finish::Calls };
        self.finish.unwrap_or(natural)
    }
}

impl ScriptedCall {
    /// The arguments as they go over the wire.
    #[must_use]
    pub fn args_text(&self) -> Arc<str> {
        match &self.args {
            Value::String(text) => text.as_str().into(),
            Value::Null => "{}".into(),
            json => json.to_string().into(),
        }
    }
}

fn parse(text: &str, place: &str) -> Result<Script, ScriptError> {
    // The version first: what a later version may hold, this one cannot judge.
    #[derive(Deserialize)]
    struct Versioned {
        cairn_script: Option<Value>,
    }
    let format = |source: serde_json::Error| ScriptError::Format {
        place: place.to_owned(),
        line: source.line(),
        source,
    };
    match serde_json::from_str::<Versioned>(text).map_err(format)?.cairn_script {
        Some(found) if found != VERSION => Err(ScriptError::Version {
            place: place.to_owned(),
            line: text.lines().position(|l| l.contains("cairn_script")).map_or(1, |n| n + 1),
            found: found.to_string(),
        }),
        _ => serde_json::from_str(text).map_err(format),
    }
}

/// A text as it is streamed, word by word.
fn words(text: Option<&str>) -> impl Iterator<Item = &str> {
    text.unwrap_or("").split_inclusive(char::is_whitespace)
}

fn finish<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Finish>, D::Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Word {
        Stop,
        Calls,
        Length,
    }
    Ok(Option::<Word>::deserialize(from)?.map(|word| match word {
        Word::Stop => Finish::Stop,
        Word::Calls => Finish::Calls,
        Word::Length => Finish::Length,
    }))
}

fn usage<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Usage>, D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Tokens {
        input: u64,
        output: u64,
        #[serde(default)]
        cache_read: u64,
        #[serde(default)]
        cache_write: u64,
        #[serde(default)]
        reasoning: u64,
    }
    Ok(Option::<Tokens>::deserialize(from)?.map(|t| Usage {
        input: t.input,
        output: t.output,
        cache_read: t.cache_read,
        cache_write: t.cache_write,
        reasoning: t.reasoning,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEMO: &str = r#"{
        "cairn_script": 1, "name": "demo",
        "replies": [
            {"say": "hi", "calls": [{"tool": "bash", "args": {"command": "ls"}}, {"tool": "read"}]},
            {"expect": "README", "say": "found", "else": {"expect": "docs", "say": "docs only"}}
        ]
    }"#;

    #[test]
    fn the_position_is_the_number_of_assistant_messages_and_ids_follow_from_it() {
        let script = Script::parse(DEMO).unwrap();
        let first = script.reply(0, "go").unwrap();
        assert_eq!(first.finish(), Finish::Calls);
        let ids: Vec<&str> = first.calls.iter().map(|c| c.id.as_str()).collect();
        assert_eq!(ids, ["call_1_1", "call_1_2"]);
        assert_eq!(&*first.calls[0].args_text(), r#"{"command":"ls"}"#);
        assert_eq!(&*first.calls[1].args_text(), "{}");
    }

    #[test]
    fn an_expectation_is_met_answered_otherwise_or_told() {
        let script = Script::parse(DEMO).unwrap();
        let said = |last| script.reply(1, last).map(|r| r.say.unwrap()).map_err(|e| e.to_string());
        assert_eq!(said("a README there").as_deref(), Ok("found"));
        assert_eq!(said("docs").as_deref(), Ok("docs only"));
        let told = said("nothing").unwrap_err();
        assert!(told.contains(r#"expected "docs""#) && told.contains("nothing"), "{told}");
    }

    #[test]
    fn past_the_end_stands_then_or_the_end_is_told() {
        let mut script = Script::parse(DEMO).unwrap();
        assert!(script.reply(2, "").unwrap_err().to_string().contains("ended after 2 replies"));
        let one = r#"{"cairn_script": 1, "name": "one", "replies": [{"say": "x"}]}"#;
        let told = Script::parse(one).unwrap().reply(1, "").unwrap_err().to_string();
        assert!(told.contains("ended after 1 reply;"), "{told}");
        script.then = Some(Reply { say: Some("bye".into()), ..Reply::default() });
        assert_eq!(script.reply(9, "").unwrap().say.as_deref(), Some("bye"));
    }

    #[test]
    fn what_is_not_understood_is_told_with_its_line() {
        let check = |text: &str, told: &str| {
            let error = Script::parse(text).unwrap_err().to_string();
            assert!(error.starts_with(told), "{error}");
        };
        check("{\n\"cairn_script\": 2, \"new\": 1}", "script:2: this is a script of version 2");
        check("{\"cairn_script\":1,\"name\":\"x\",\n\"replies\":[{\n\"sy\":1}]}", "script:3: ");
        check(
            "{\"name\":\"x\",\"replies\":[]}",
            "script:1: not a script: missing field `cairn_script`",
        );
        check("[", "script:1: ");
        check(
            "{\"cairn_script\":1,\"name\":\"x\",\"replies\":[\n{\"finish\":\"never\"}]}",
            "script:2: ",
        );
        check(
            "{\"cairn_script\":1,\"name\":\"x\",\"replies\":[\n{\"usage\":{\"in\":1}}]}",
            "script:2: ",
        );
    }
}
