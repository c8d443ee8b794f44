//! What all wire formats share in writing a request: turns, tools, pictures, arguments, and which
//! thoughts may go back. Knows no format.

use crate::{Abilities, CallText, Message, Part, Request, Thought};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::sync::Arc;

/// Whom a request is for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target<'a> {
    /// The model's name on the wire.
    pub(crate) model: &'a str,
    /// `wire:model`, as its thoughts name it.
    pub(crate) origin: &'a str,
    /// What it can do.
    pub(crate) abilities: &'a Abilities,
}

/// A message, with the results of one turn together: most formats want them so.
#[derive(Debug)]
pub(crate) enum Turn<'a> {
    /// Someone speaks.
    User(&'a [Part]),
    /// The model spoke.
    Model(Said<'a>),
    /// What became of its calls.
    Results(Vec<Outcome<'a>>),
}

/// What the model said.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Said<'a> {
    /// Never a text of blanks alone: some APIs refuse one, and it says nothing.
    pub(crate) text: Option<&'a str>,
    pub(crate) calls: &'a [CallText],
    thoughts: &'a [Thought],
}

/// What became of one call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outcome<'a> {
    pub(crate) call: &'a str,
    pub(crate) name: &'a str,
    pub(crate) parts: &'a [Part],
    pub(crate) failed: bool,
}

/// The conversation in turns.
pub(crate) fn turns(messages: &[Arc<Message>]) -> Vec<Turn<'_>> {
    let mut turns = Vec::with_capacity(messages.len());
    for message in messages {
        match &**message {
            Message::User { parts } => turns.push(Turn::User(parts)),
            Message::Assistant { text, calls, thoughts } => {
                let text = text.as_deref().filter(|text| !text.trim().is_empty());
                turns.push(Turn::Model(Said { text, calls, thoughts }));
            }
            Message::Result { call, name, parts, failed } => {
                let outcome = Outcome { call, name, parts, failed: *failed };
                match turns.last_mut() {
                    Some(Turn::Results(outcomes)) => outcomes.push(outcome),
                    _ => turns.push(Turn::Results(vec![outcome])),
                }
            }
        }
    }
    turns
}

impl<'a> Said<'a> {
    /// The blocks that this target made itself and that stood at this place. One that nothing
    /// follows is left out: no format takes a thought that led nowhere.
    pub(crate) fn sealed(&self, target: Target<'a>, at: usize) -> Vec<&'a RawValue> {
        let followed = match at {
            0 => self.text.is_some() || !self.calls.is_empty(),
            n => n <= self.calls.len(),
        };
        let here = |t: &&'a Thought| followed && t.at == at && t.origin == target.origin;
        let block = |t: &'a Thought| serde_json::from_str(t.sealed.as_deref()?).ok();
        self.thoughts.iter().filter(here).filter_map(block).collect()
    }

    /// Whether any of its thoughts goes back to this target.
    pub(crate) fn thought(&self, target: Target<'a>) -> bool {
        (0..=self.calls.len()).any(|at| !self.sealed(target, at).is_empty())
    }

    /// Whether there is nothing to send of it.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_none() && self.calls.is_empty()
    }
}

/// A tool, read from the request's list.
#[derive(Debug, Deserialize)]
pub(crate) struct Tool<'a> {
    #[serde(borrow)]
    pub(crate) name: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) description: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) parameters: Option<&'a RawValue>,
}

/// What a tool takes.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Schema<'a> {
    /// As it was given, verbatim.
    Given(&'a RawValue),
    /// Any object, since nobody has said.
    Any {
        /// `object`.
        r#type: &'static str,
    },
}

impl<'a> Tool<'a> {
    pub(crate) fn schema(&self) -> Schema<'a> {
        self.parameters.map_or(Schema::Any { r#type: "object" }, Schema::Given)
    }
}

/// The request's tools, for a model that takes any. Fails when they are not a list of tools.
pub(crate) fn tools<'a, T: Deserialize<'a>>(
    request: &'a Request,
    target: Target<'_>,
) -> Result<Vec<T>, serde_json::Error> {
    match request.tools.trim() {
        "" => Ok(Vec::new()),
        tools => {
            let tools = serde_json::from_str(tools)?;
            Ok(if target.abilities.tools { tools } else { Vec::new() })
        }
    }
}

/// The request's schema. Fails when it is not JSON.
pub(crate) fn schema(request: &Request) -> Result<Option<&RawValue>, serde_json::Error> {
    request.schema.as_deref().map(serde_json::from_str).transpose()
}

/// A part as this model can take it.
#[derive(Debug)]
pub(crate) enum Shown<'a> {
    /// Words, or a line that stands for what it cannot take. Never empty.
    Text(Cow<'a, str>),
    /// A picture.
    Image(Media<'a>),
    /// A document.
    Document(Media<'a>),
}

/// A file within a request.
#[derive(Debug)]
pub(crate) struct Media<'a> {
    pub(crate) mime: &'a str,
    pub(crate) name: &'a str,
    pub(crate) base64: String,
}

impl Media<'_> {
    /// The file as a `data:` URL.
    pub(crate) fn url(&self) -> String {
        format!("data:{};base64,{}", self.mime, self.base64)
    }
}

/// The parts as this model can take them, empty texts left out.
pub(crate) fn shown<'a>(parts: &'a [Part], abilities: &Abilities) -> Vec<Shown<'a>> {
    let media = |mime, name, data: &[u8]| Media { mime, name, base64: STANDARD.encode(data) };
    let show = |part: &'a Part| match part {
        Part::Text(text) => (!text.is_empty()).then(|| Shown::Text(Cow::Borrowed(&**text))),
        Part::Image { mime, data } if abilities.vision && is_picture(mime) => {
            Some(Shown::Image(media(mime, "", data)))
        }
        Part::Document { mime, name, data } if abilities.pdf && &**mime == "application/pdf" => {
            Some(Shown::Document(media(mime, name, data)))
        }
        other => Some(Shown::Text(marker(other, abilities).into())),
    };
    parts.iter().filter_map(show).collect()
}

/// The types that every API with pictures takes.
fn is_picture(mime: &str) -> bool {
    matches!(mime, "image/png" | "image/jpeg" | "image/gif" | "image/webp")
}

fn marker(part: &Part, abilities: &Abilities) -> String {
    let (mime, name, size, what) = match part {
        Part::Text(_) => return String::new(),
        Part::Image { mime, data } if abilities.vision => (mime, "", data, "images of this type"),
        Part::Image { mime, data } => (mime, "", data, "images"),
        Part::Document { mime, name, data } if abilities.pdf => {
            (mime, &**name, data, "documents of this type")
        }
        Part::Document { mime, name, data } => (mime, &**name, data, "documents"),
    };
    let comma = if name.is_empty() { "" } else { ", " };
    format!("[{mime}{comma}{name}, {} bytes: this model takes no {what}]", size.len())
}

/// Arguments where a format wants an object.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Arguments<'a> {
    /// They are one, verbatim.
    Object(&'a RawValue),
    /// There are none.
    None {},
    /// They are something else, handed over as the text it is.
    Text {
        /// The text.
        not_an_object: &'a str,
    },
}

impl<'a> Arguments<'a> {
    pub(crate) fn of(args: &'a str) -> Self {
        match serde_json::from_str::<&RawValue>(args.trim()) {
            Ok(object) if object.get().starts_with('{') => Arguments::Object(object),
            _ if args.trim().is_empty() => Arguments::None {},
            _ => Arguments::Text { not_an_object: args },
        }
    }
}
