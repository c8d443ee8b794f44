//! The text surfaces by their name: how a model is told to write, what it is asked with, and what it wrote.

use crate::envelope::{self, Stage};
use crate::native::{self, Tool};
use crate::position::Places;
use crate::prose::Quotes;
use crate::thinking::{self, Mark};
use crate::{Reading, Trouble, brief, heredoc, tags};
use cairn_types::Surface;
use serde_json::Value;

/// One turn on a text surface.
#[derive(Debug, Clone, Copy)]
pub struct Turn<'a> {
    /// The surface.
    pub surface: Surface,
    /// The tools that may be called.
    pub tools: &'a [&'static Tool],
    /// What a reply must repeat to count, where the surface asks for it.
    pub nonce: &'a str,
    /// Nothing was asked for before in this loop.
    pub is_first: bool,
    /// Something must be asked for.
    pub requires_tool: bool,
}

/// The tools of these names.
#[must_use]
pub fn tools_named(names: &[String]) -> Vec<&'static Tool> {
    names.iter().filter_map(|name| native::tool(name)).collect()
}

/// What a tool is called on a surface, as a model is taught to write it.
#[must_use]
pub fn called(surface: Surface, tool: &str) -> &str {
    let names =
        native::skins().iter().find(|skin| skin.tool.name == tool).and_then(|skin| match surface {
            Surface::Tags => skin.tags.first(),
            Surface::Heredoc => skin.words.first(),
            Surface::Envelope | Surface::Native | Surface::Client => None,
        });
    names.copied().unwrap_or(tool)
}

/// How much a model is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Telling {
    /// All there is.
    Whole,
    /// What a small model can hold.
    Brief,
}

impl Telling {
    /// What a model is told that is a small one, or is not.
    #[must_use]
    pub fn of_small(is_small: bool) -> Telling {
        if is_small { Telling::Brief } else { Telling::Whole }
    }
}

/// What a model is told of these tools: how ops are written with them, or the schemas of its calls.
#[must_use]
pub fn told(surface: Surface, tools: &[&'static Tool], telling: Telling) -> String {
    match (surface, telling) {
        (Surface::Tags, Telling::Whole) => tags::instructions(tools),
        (Surface::Heredoc, Telling::Whole) => heredoc::instructions(tools),
        (Surface::Tags | Surface::Heredoc, Telling::Brief) => brief::instructions(surface, tools),
        // It is for small models alone.
        (Surface::Envelope, _) => envelope::instructions(tools),
        (Surface::Native | Surface::Client, Telling::Whole) => native::schemas(tools),
        (Surface::Native | Surface::Client, Telling::Brief) => brief::schemas(tools),
    }
}

impl Turn<'_> {
    fn envelope(&self) -> envelope::Turn<'_> {
        let stage = if self.is_first { Stage::First } else { Stage::Next };
        let Turn { nonce, tools, requires_tool, .. } = *self;
        envelope::Turn { nonce, tools, stage, requires_tool }
    }

    /// What a reply says, at most so many ops of it.
    #[must_use]
    pub fn read(&self, text: &str, cap: usize) -> Reading {
        match self.surface {
            Surface::Tags | Surface::Heredoc => statements(self.surface, text, cap),
            Surface::Envelope => envelope::parse(text, &self.envelope()),
            Surface::Native | Surface::Client => {
                Reading { text: text.to_owned(), ..Reading::default() }
            }
        }
    }

    /// What a reply says that was cut off. An op is taken to have an end where it would have one
    /// whatever might have followed, and that there is no more is told.
    #[must_use]
    pub fn read_cut(&self, text: &str, cap: usize) -> Reading {
        let mut reading = self.read(text, cap);
        if matches!(self.surface, Surface::Tags | Surface::Heredoc) {
            let longer = self.read(&format!("{text}{MORE}"), cap);
            for (n, op) in reading.ops.iter_mut().enumerate() {
                let is_same = longer.ops.get(n).is_some_and(|other| {
                    (other.tool, &other.args, other.at) == (op.tool, &op.args, op.at)
                });
                op.is_unclosed |= !is_same || longer.ops[n].is_unclosed;
            }
        }
        // What was claimed or asked for whole is whole, whatever else it would have said.
        let is_whole = |reading: &Reading| match self.surface {
            Surface::Envelope => reading.problems.is_empty(),
            _ => reading.terminal.is_some() && reading.ops.iter().all(|op| !op.is_unclosed),
        };
        if is_whole(&reading) {
            return reading;
        }
        let places = Places::new(text);
        let (at, snippet) = (places.at(text.len()), places.snippet(text.len()));
        let note = "the reply was cut off here".to_owned();
        reading.problems.push(Trouble { kind: "reply_cut", at, note, snippet });
        reading
    }

    /// What stands last in the request.
    #[must_use]
    pub fn requirements(&self) -> String {
        match self.surface {
            Surface::Tags => tags::requirements().to_owned(),
            Surface::Heredoc => heredoc::requirements(),
            Surface::Envelope => envelope::requirements(&self.envelope()),
            Surface::Native | Surface::Client => String::new(),
        }
    }

    /// What decoding can be held to, where the surface has such a form: a JSON Schema and a grammar.
    #[must_use]
    pub fn form(&self, nonce: envelope::Nonce) -> Option<Form> {
        let turn = (self.surface == Surface::Envelope).then(|| self.envelope())?;
        let schema = envelope::schema(&turn, nonce);
        Some(Form { schema, grammar: envelope::grammar(&turn) })
    }
}

/// What a reply of statements says, in tags or else in heredocs. One that asks for nothing here, and would on another
/// surface, is told of that.
fn statements(surface: Surface, text: &str, cap: usize) -> Reading {
    let parse = |surface| match surface {
        Surface::Heredoc => heredoc::parse(text, cap),
        _ => tags::parse(text, cap),
    };
    let mut reading = parse(surface);
    if !reading.ops.is_empty() || !reading.problems.is_empty() {
        return reading;
    }
    let (other, mark) = match surface {
        Surface::Heredoc => (Surface::Tags, "<"),
        _ => (Surface::Heredoc, "<<"),
    };
    let places = Places::new(text);
    let statement = || Some((other, places.byte_of(parse(other).ops.first()?.at)));
    let object =
        || Some((Surface::Envelope, text.find('{').filter(|_| !nonce_of(text).0.is_empty())?));
    let found = text.contains(mark).then(statement).flatten().or_else(object);
    if let Some((other, byte)) = found {
        let note = format!("this is written in {other}, and replies are read as {surface} here");
        let (at, snippet) = (places.at(byte), places.snippet(byte));
        reading.problems.push(Trouble { kind: "other_surface", at, note, snippet });
    }
    reading
}

/// What decoding can be held to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    /// A JSON Schema.
    pub schema: String,
    /// A grammar in GBNF.
    pub grammar: String,
}

/// What an envelope repeats, whatever it should; and whether it is a decision.
#[must_use]
pub fn nonce_of(reply: &str) -> (String, bool) {
    let object: Option<Value> = reply
        .find('{')
        .and_then(|start| serde_json::Deserializer::from_str(&reply[start..]).into_iter().next())
        .and_then(Result::ok);
    let nonce = object.as_ref().and_then(|object| object["nonce"].as_str()).unwrap_or_default();
    (nonce.to_owned(), object.as_ref().is_some_and(|object| object.get("action").is_some()))
}

/// What makes another word of one that a text ends in.
const MORE: &str = "A";

/// An answer without what was only thought, and that. Quotes are said, whatever they hold; and so is a thought that
/// begins after words and has no end.
#[must_use]
pub fn without_thoughts(text: &str) -> (String, String) {
    let (mut said, mut thought) = (String::new(), String::new());
    let quotes = Quotes::new(text);
    let mut at = 0;
    while at < text.len() {
        if let Some(quote) = quotes.quote_at(at).filter(|quote| quote.is_closed) {
            said.push_str(&text[at..quote.end]);
            at = quote.end;
            continue;
        }
        let is_open = |mark: &Mark<'_>| matches!(mark, Mark::Thought { is_closed: false, .. });
        let has_words = !said.trim().is_empty();
        match thinking::mark_at(text, at).filter(|mark| !(is_open(mark) && has_words)) {
            Some(Mark::Thought { said: inner, end, .. }) => {
                thought.push_str(inner);
                at = end;
            }
            // What began nowhere began at the beginning.
            Some(Mark::Closer { end }) if !text[end..].trim().is_empty() => {
                thought.push_str(&std::mem::take(&mut said));
                at = end;
            }
            Some(Mark::Frame { end }) => at = end,
            Some(Mark::Closer { .. }) | None => {
                let next = text[at..].chars().next().map_or(1, char::len_utf8);
                said.push_str(&text[at..at + next]);
                at += next;
            }
        }
    }
    (said, thought)
}
