//! `send` says something to a person, a command or a run.

use super::{BuiltInTool, non_empty};
use crate::native::declare::{Way, fields};
use crate::skin::{Body, Example, Fits, Skin};
use cairn_types::{Action, Effect, Post, Status};

fields! {
    /// Say something to a person while you go on; or, by its address, to a command in the background (its
    /// input), to an open socket, or to another run.
    Send {
        /// The address, such as exec:///1/2/3 or run:///NAME. Default the person.
        to: Option<String>, or "recipient" "target" "path";
        /// To an address: 200 writes the text (the default), 499 cancels a stream, 410 removes an entry.
        status: Option<u64>, or "code" "signal";
        /// The text.
        text: Option<String>, or "message" "body" "content" "input" "chars";
    }
}

impl BuiltInTool for Send {
    const NAME: &'static str = "send";
    const ALIASES: &'static [&'static str] = &["send_message", "write_stdin", "send_input"];
    const EFFECT: Effect = Effect::Read;
    const REPEATABLE: bool = false;
    const STATEMENT_PLACE: u32 = 180;
    const TARGETS: &'static [&'static str] = &["to"];
    const WAYS: &'static [Way] =
        &[Way { needs: &["text"], leaves: &[] }, Way { needs: &["to"], leaves: &[] }];
    const EXAMPLE: &'static str = r#"{"text":"The tests pass; now the documents."}"#;

    fn skin(skin: Skin) -> Skin {
        Skin {
            tags: &["update", "send"],
            words: &["SEND"],
            target: &[("to", Fits::Any)],
            signal: Some("status"),
            body: Some(("text", Body::Exact)),
            examples: &[
                Example {
                    tag: r#"<update status="102">reading the tests</update>"#,
                    heredoc: "<<SEND[102]:reading the tests:SEND",
                    why: "How it stands, while it goes on.",
                },
                Example {
                    tag: r#"<update status="200">The bug was in parse(); it is mended and tested.</update>"#,
                    heredoc: "<<SEND[200]:The bug was in parse(); it is mended and tested.:SEND",
                    why: "The only way to be done, with the answer in it.",
                },
            ],
            ..skin
        }
    }

    fn into_action(self) -> Result<Action, String> {
        let to = non_empty(self.to);
        let usual = if to.is_some() { Status::OK } else { Status::RUNNING };
        let status = match self.status.map(u16::try_from) {
            None => usual.0,
            Some(Ok(status)) if (100..600).contains(&status) => status,
            Some(_) => return Err("status must be a number from 100 to 599".to_owned()),
        };
        match (to, self.text) {
            (Some(path), _) if status == Status::GONE.0 => Ok(Action::Kill { path }),
            (None, text) if non_empty(text.clone()).is_none() => Err("text is missing".to_owned()),
            (to, text) => Ok(Action::Send(Post { to, status, text: text.unwrap_or_default() })),
        }
    }

    fn from_action(action: &Action) -> Option<Self> {
        let Action::Send(Post { to, status, text }) = action else { return None };
        let usual = if to.is_some() { Status::OK } else { Status::RUNNING };
        let status = (*status != usual.0).then_some(u64::from(*status));
        Some(Send { to: to.clone(), status, text: (!text.is_empty()).then(|| text.clone()) })
    }
}
