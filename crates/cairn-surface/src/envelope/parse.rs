//! Reads a reply: what stands around the object, its fields, the tool, the arguments, the nonce, in this order. The
//! first thing that is wrong refuses the whole reply.

use super::cut::boundary;
use super::frame::{framed, is_open_thought, is_preface, other_turn};
use super::{ACTION, ARGS, FINAL, NONCE, Reject, Stage, TOOL, Turn};
use crate::json::{Exact, Fields, objects, place_of, short};
use crate::native::{self, Tool};
use crate::position::offset;
use crate::{Places, Reading, Repair, Trouble, Written};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// A reply that is longer is refused unread, in bytes.
pub const LONGEST_REPLY: usize = 64 * 1024;
/// A target that is longer is no target, in characters.
pub const LONGEST_TARGET: usize = 512;

/// The status of work that is over.
const DONE: u16 = 200;

/// Why a reply is refused, and the part of it that is the reason.
struct Refused<'a> {
    reject: Reject,
    at: &'a str,
    note: String,
}

fn refused<T>(reject: Reject, at: &str, note: impl Into<String>) -> Result<T, Refused<'_>> {
    Err(Refused { reject, at, note: note.into() })
}

/// What a reply says.
enum Said {
    Call(Box<Written>),
    Final,
}

/// Reads a reply. Where it is refused there is no op.
#[must_use]
pub fn parse(text: &str, turn: &Turn<'_>) -> Reading {
    let places = Places::new(text);
    let trouble = |Refused { reject, at, note }: Refused<'_>| {
        let byte = offset(text, at);
        Trouble { kind: reject.code(), at: places.at(byte), note, snippet: places.snippet(byte) }
    };
    let mut reading = Reading::default();
    if let Err(refused) = is_short(text) {
        reading.problems.push(trouble(refused));
        return reading;
    }
    let framed = framed(text);
    let mut repaired: Vec<Repaired> =
        framed.taken.iter().map(|(kind, note, at)| (*kind, (*note).to_owned(), *at)).collect();
    let said = fields(framed.body).and_then(|fields| {
        Reader { fields, text, body: framed.body, turn, repaired: &mut repaired }.read(&places)
    });
    match said {
        Ok(Said::Call(written)) => reading.ops.push(*written),
        Ok(Said::Final) => reading.terminal = Some(DONE),
        Err(refused) => {
            reading.problems.push(trouble(refused));
            reading.text = framed.body.to_owned();
        }
    }
    let repair = |(kind, note, at)| Repair { kind, at: places.at(at), note };
    reading.repairs = repaired.into_iter().map(repair).collect();
    reading.reasoning = framed.thoughts;
    reading
}

fn is_short(text: &str) -> Result<(), Refused<'_>> {
    if text.len() <= LONGEST_REPLY {
        return Ok(());
    }
    let note = format!("the reply is {} bytes long; {LONGEST_REPLY} are the most", text.len());
    refused(Reject::OutputLimit, text, note)
}

/// The fields of the one object that a body is.
fn fields(body: &str) -> Result<Vec<(String, &RawValue)>, Refused<'_>> {
    let error = match serde_json::from_str::<Fields<'_>>(body) {
        Ok(fields) => return Ok(fields.0),
        Err(error) => error,
    };
    if let Some(turn) = other_turn(body) {
        let note = format!("{:?} stands before it: a turn of somebody else", short(turn));
        return refused(Reject::InvalidFormat, body, note);
    }
    let mut found = objects(body);
    let (first, second) = (found.next(), found.next());
    if let (Some(_), Some(second)) = (first, second) {
        return refused(Reject::Multiple, second, "there is a second object");
    }
    let bad = |at, note: &str| refused(Reject::InvalidFormat, at, note);
    let start = first.map(|first| offset(body, first)).or_else(|| body.find('{'));
    let before = &body[..start.unwrap_or(body.len())];
    match first {
        _ if body.is_empty() => bad(body, "there is nothing but thoughts and blanks"),
        _ if is_open_thought(body) => bad(body, "a thought is not closed"),
        None if before.len() == body.len() => bad(body, "there is no object"),
        _ if body.starts_with("```") => bad(body, "a fence is not around the object alone"),
        Some(_) if before.trim() == "[" => bad(body, "a list of one; the object is wanted alone"),
        Some(_) if before.starts_with("~~~") => bad(body, "a fence of tildes is around the object"),
        Some(_) if is_preface(before) => bad(body, "preface: thinking aloud before the object"),
        _ if before.contains("```") || before.contains("~~~") => {
            bad(body, "words stand before the fence")
        }
        _ if !before.is_empty() => bad(body, "something stands before the object"),
        Some(first) => bad(&body[first.len()..], "something stands behind the object"),
        None if error.is_eof() => bad(&body[body.len()..], "the object is not closed"),
        None => not_json(body, &error),
    }
}

fn not_json<'a, T>(text: &'a str, error: &serde_json::Error) -> Result<T, Refused<'a>> {
    let at = boundary(text, place_of(error, text));
    let said = error.to_string();
    // The place is told with the trouble, and counted there in the whole reply.
    let said = said.rsplit_once(" at line ").map_or(said.as_str(), |(said, _)| said);
    let note = match error.is_data() {
        true => said.to_owned(),
        false => format!("it is not JSON: {said}"),
    };
    refused(Reject::InvalidFormat, &text[at..], note)
}

/// A repair: its kind, what was done, where.
type Repaired = (&'static str, String, usize);

/// The fields of an object on their way to a call.
struct Reader<'a, 'r> {
    fields: Vec<(String, &'a RawValue)>,
    text: &'a str,
    body: &'a str,
    turn: &'a Turn<'a>,
    repaired: &'r mut Vec<Repaired>,
}

impl<'a> Reader<'a, '_> {
    fn read(mut self, places: &Places<'_>) -> Result<Said, Refused<'a>> {
        let wanted: &[&str] = match self.decision()? {
            Some(FINAL) => &[ACTION, NONCE],
            Some(_) => &[ACTION, TOOL, ARGS, NONCE],
            None => &[TOOL, ARGS, NONCE],
        };
        if let Some((key, value)) =
            self.fields.iter().find(|(key, _)| !wanted.contains(&key.as_str()))
        {
            let note =
                format!("there is no field {:?}; the fields are {}", short(key), wanted.join(", "));
            return refused(Reject::InvalidFormat, value.get(), note);
        }
        if let Some(missing) = wanted.iter().find(|name| self.field(name).is_none()) {
            return refused(Reject::InvalidFormat, self.body, format!("{missing} is missing"));
        }
        let said = match wanted.contains(&TOOL) {
            false => Said::Final,
            true => {
                let tool = self.tool()?;
                let args = self.args(tool)?;
                let mut written = Written::new(tool, args, places.at(offset(self.text, self.body)));
                if let Err(why) = &mut written.parsed.action {
                    let note = std::mem::take(&mut why.message);
                    return refused(Reject::InvalidArgs, self.raw(ARGS), note);
                }
                Said::Call(Box::new(written))
            }
        };
        self.nonce()?;
        Ok(said)
    }

    fn field(&self, name: &str) -> Option<&'a RawValue> {
        self.fields.iter().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    /// A field's text; that of the whole where it is not there.
    fn raw(&self, name: &str) -> &'a str {
        self.field(name).map_or(self.body, RawValue::get)
    }

    fn word(&self, name: &str) -> Result<String, Refused<'a>> {
        let raw = self.raw(name);
        serde_json::from_str(raw)
            .or_else(|_| refused(Reject::InvalidFormat, raw, format!("{name} must be a string")))
    }

    /// What a decision is: absent where the turn wants a call, and no decision.
    fn decision(&self) -> Result<Option<&'static str>, Refused<'a>> {
        let bad = |note: &str| refused(Reject::InvalidFormat, self.raw(ACTION), note);
        if self.field(ACTION).is_none() {
            return match self.turn.stage {
                Stage::First => Ok(None),
                Stage::Next => bad("action is missing"),
            };
        }
        match (self.word(ACTION)?.as_str(), self.turn.stage) {
            (FINAL, _) if self.turn.may_end() => Ok(Some(FINAL)),
            (FINAL, _) => bad("a tool call is required"),
            (TOOL, Stage::Next) => Ok(Some(TOOL)),
            (TOOL, Stage::First) => bad("there is no action before a first result"),
            _ => bad("action must be tool or final"),
        }
    }

    fn tool(&mut self) -> Result<&'static Tool, Refused<'a>> {
        let (raw, name) = (self.raw(TOOL), self.word(TOOL)?);
        let mut repairs = Vec::new();
        let named = native::tool_named(&name, &mut repairs);
        let allowed =
            |tool: &&'static Tool| self.turn.tools.iter().any(|one| one.name == tool.name);
        match named.filter(allowed) {
            Some(tool) => {
                self.repair("name", repairs, raw);
                Ok(tool)
            }
            None => refused(Reject::UnknownTool, raw, unknown(&name, self.turn.tools)),
        }
    }

    fn args(&mut self, tool: &Tool) -> Result<Map<String, Value>, Refused<'a>> {
        let raw = self.raw(ARGS);
        let given = match serde_json::from_str::<Exact>(raw) {
            Err(error) => return not_json(raw, &error),
            Ok(Exact(Value::Object(given))) => given,
            Ok(_) => return refused(Reject::InvalidArgs, raw, "args must be an object"),
        };
        let mut repairs = Vec::new();
        let args = native::fit_exactly(tool, given, &mut repairs)
            .and_then(|args| targets(tool, &args).map(|()| args))
            .or_else(|why| refused(Reject::InvalidArgs, raw, format!("{}: {why}", tool.name)))?;
        self.repair("argument", repairs, raw);
        Ok(args)
    }

    fn repair(&mut self, kind: &'static str, notes: Vec<String>, at: &str) {
        let at = offset(self.text, at);
        self.repaired.extend(notes.into_iter().map(|note| (kind, note, at)));
    }

    fn nonce(&self) -> Result<(), Refused<'a>> {
        let raw = self.raw(NONCE);
        match serde_json::from_str::<String>(raw) {
            Ok(nonce) if nonce == self.turn.nonce => Ok(()),
            _ => refused(Reject::NonceInvalid, raw, "it is not the nonce of this turn"),
        }
    }
}

/// Which targets are none.
fn targets(tool: &Tool, args: &Map<String, Value>) -> Result<(), String> {
    for name in tool.targets {
        let target = args.get(*name).and_then(Value::as_str).unwrap_or_default();
        if target.chars().any(char::is_control) {
            return Err(format!("{name} has control characters in it"));
        }
        let length = target.chars().count();
        if length > LONGEST_TARGET {
            return Err(format!(
                "{name} is {length} characters long; {LONGEST_TARGET} are the most"
            ));
        }
    }
    Ok(())
}

fn unknown(name: &str, tools: &[&'static Tool]) -> String {
    let is_none = format!("there is no tool {:?} in this turn", short(name));
    let known: Vec<&str> = tools.iter().map(|tool| tool.name).collect();
    match native::nearest(name, tools.iter().map(|tool| (tool.name, tool.aliases)))[..] {
        _ if known.is_empty() => format!("{is_none}, nor any other"),
        [] => format!("{is_none}; the tools are {}", known.join(", ")),
        ref near => format!("{is_none}; the nearest are {}", near.join(", ")),
    }
}
