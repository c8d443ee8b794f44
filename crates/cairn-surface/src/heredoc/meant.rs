//! What a statement means whose framing is whole: the tool by its word and slots, and its arguments. Names no tool and
//! no word but the grammar's own.

use super::slots::{Slot, Slots};
use super::{CALL, Fault, shown};
use crate::native::{self, Given, Kind};
use crate::skin::{Body, Skin, Statement};
use crate::{Position, Written};
use cairn_text::matcher::{BadMatcher, Matcher};
use cairn_text::scope::Scope;
use cairn_types::{Place, Status, scheme_of};
use serde_json::{Map, Value};

/// A target has no more characters than this: what is longer is spilled thought.
const LONGEST_TARGET: usize = 512;

/// A statement, framed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Framed<'a, 'b> {
    /// Its word.
    pub word: &'a str,
    /// What stands before its body.
    pub slots: &'b Slots<'a>,
    /// Its body, and the byte where that begins.
    pub body: (&'a str, usize),
    /// The byte where it begins, and the place of that.
    pub start: (usize, Position),
}

/// The op that a statement means. Repairs are added to `repairs`.
pub(super) fn meant(said: Framed<'_, '_>, repairs: &mut Vec<String>) -> Result<Written, Fault> {
    let target = match said.slots.target.filter(|slot| !slot.text.is_empty()) {
        Some(slot) => Some(checked_target(slot)?),
        None => None,
    };
    let written = match said.word {
        CALL => called(said, target, repairs)?,
        _ => stated(said, target, repairs)?,
    };
    match &written.parsed.action {
        // What is missing here is told in the row of the op.
        Err(misread) if misread.status != Status::NOT_IMPLEMENTED => {
            let why = misread.message.split_once(": ").map_or(&*misread.message, |(_, why)| why);
            Err(Fault::new("misread", said.start.0, format!("{}: {why}", said.word)))
        }
        _ => Ok(written),
    }
}

fn checked_target(slot: Slot<'_>) -> Result<&str, Fault> {
    let target = slot.text;
    let refused = |note: String| Err(Fault::new("target_refused", slot.at, note));
    let length = target.chars().count();
    if length > LONGEST_TARGET {
        return refused(format!("the target has {length} characters"));
    }
    let is_in =
        |quote: char| target.len() > 1 && target.starts_with(quote) && target.ends_with(quote);
    if ['"', '\'', '`'].into_iter().any(is_in) {
        return refused(format!("{} is in quotes; a target is written without", shown(target)));
    }
    if target.chars().any(char::is_control) {
        return refused("the target has control characters".to_owned());
    }
    let host = scheme_of(target).and_then(|scheme| target.get(scheme.len() + 3..));
    let host = host.and_then(|rest| rest.split(['/', '?', '#']).next()).unwrap_or_default();
    if host.matches('[').count() != host.matches(']').count() {
        return refused(format!("{target:?} is no address"));
    }
    match Place::of(target) {
        Err(why) if scheme_of(target).is_some() => refused(why.to_string()),
        _ => Ok(target),
    }
}

/// The call of a tool by its name.
fn called(
    said: Framed<'_, '_>,
    target: Option<&str>,
    repairs: &mut Vec<String>,
) -> Result<Written, Fault> {
    let bad = |kind, note: String| Fault::new(kind, said.start.0, note);
    if let Some(slot) = said.slots.signal.or(said.slots.scope) {
        return Err(Fault::new("slot_unknown", slot.at, format!("{CALL} has only a target")));
    }
    let name = target.ok_or_else(|| bad("misread", format!("{CALL}: no tool is named")))?;
    let Some(tool) = native::tool(name) else {
        let why = native::parse(name, "{}").action.err().map(|misread| misread.message);
        return Err(bad("unknown_tool", why.unwrap_or_default()));
    };
    if tool.name != name {
        repairs.push(format!("{} read as {}", shown(name), tool.name));
    }
    let args = native::fit_json(tool, said.body.0, repairs)
        .map_err(|why| Fault::new("misread", said.body.1, format!("{CALL}({name}): {why}")))?;
    Ok(Written::new(tool, args, said.start.1))
}

/// What a word says of its own.
fn stated(
    said: Framed<'_, '_>,
    target: Option<&str>,
    repairs: &mut Vec<String>,
) -> Result<Written, Fault> {
    let parts: Vec<String> = match said.slots.signal {
        Some(slot) => {
            let parts = slot.text.split(|c: char| c == ',' || c.is_whitespace());
            parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
        }
        None => Vec::new(),
    };
    let mut statement = Statement {
        name: said.word,
        target,
        signal: (!parts.is_empty()).then(|| Given::Texts(parts.clone())),
        scope: said.slots.scope.map(|slot| slot.text),
        given: Vec::new(),
        body: Some(said.body.0).filter(|body| !body.is_empty()),
    };
    let unknown =
        || Fault::new("unknown_word", said.start.0, format!("{} says nothing", said.word));
    let skin = native::by_word(&statement).ok_or_else(unknown)?;
    if let (Some(slot), false) = (said.slots.signal, parts.is_empty()) {
        statement.signal = Some(signal(skin, &statement, slot, parts)?);
    }
    if let Some(slot) = said.slots.scope {
        Scope::parse(slot.text).map_err(|why| Fault::new("scope", slot.at, why.to_string()))?;
    }
    check_body(skin, target, said.body)?;
    if statement.body.is_none() && is_content(skin) {
        statement.body = Some("");
    }
    let args: Map<String, Value> = skin
        .args(&statement, repairs)
        .map_err(|misread| Fault::new("misread", said.start.0, misread.message))?;
    Ok(Written::new(skin.tool, args, said.start.1))
}

/// Whether a body must be there, so that none is an empty one.
fn is_content(skin: &Skin) -> bool {
    let Some((slot, Body::Exact)) = skin.body else { return false };
    skin.tool.params.iter().any(|param| param.name == slot && param.required)
}

/// What stands in brackets, as its argument is: several words, one number or one name.
fn signal(
    skin: &Skin,
    statement: &Statement<'_>,
    slot: Slot<'_>,
    parts: Vec<String>,
) -> Result<Given, Fault> {
    let inner = shown(slot.text);
    let bad = |note: String| Err(Fault::new("signal", slot.at, note));
    let kind = skin.tool.params.iter().find(|param| Some(param.name) == skin.signal);
    match (kind.map(|param| param.kind), parts.as_slice()) {
        (Some(Kind::Texts), [path]) if statement.target.is_none() && is_path(path) => {
            let note =
                format!("[{inner}] is a signal, and there is no target; ({inner}) is read as one");
            Err(Fault::new("target_missing", slot.at, note))
        }
        (Some(Kind::Count), [number]) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
            Ok(Given::Text(number.clone()))
        }
        (Some(Kind::Count), _) => bad(format!("[{inner}] is not one number")),
        (Some(Kind::Text), [name]) if is_identifier(name) => Ok(Given::Text(name.clone())),
        (Some(Kind::Text), _) => {
            let is_number = |part: &String| part.parse::<f64>().is_ok();
            let place = match parts.iter().all(is_number) {
                true => "; numbers are read in <>",
                false => "",
            };
            bad(format!("[{inner}] is not one name{place}"))
        }
        _ => Ok(Given::Texts(parts)),
    }
}

fn is_path(part: &str) -> bool {
    let is_extension = |end: &str| end.starts_with(|c: char| c.is_ascii_alphabetic());
    part.contains('/') || part.rsplit_once('.').is_some_and(|(_, end)| is_extension(end))
}

fn is_identifier(name: &str) -> bool {
    let is_in = |c: char| c.is_ascii_alphanumeric() || "_.-+".contains(c);
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(is_in)
}

/// A bad expression is told where it stands, and never read as another kind. What stands alone may be the target.
fn check_body(skin: &Skin, target: Option<&str>, (body, at): (&str, usize)) -> Result<(), Fault> {
    let said = body.trim();
    let at = at + (body.len() - body.trim_start().len());
    let is_target = target.is_none() && skin.bare.is_some() && !skin.target.is_empty();
    match skin.body {
        _ if said.is_empty() => Ok(()),
        _ if is_target => checked_target(Slot { text: said, at }).map(|_| ()),
        Some((_, Body::Target)) => checked_target(Slot { text: said, at }).map(|_| ()),
        Some((_, Body::Matcher)) => {
            let bad = |why: BadMatcher| Fault::new("matcher", at, why.to_string());
            Matcher::check(said).map_err(bad)
        }
        _ => Ok(()),
    }
}
