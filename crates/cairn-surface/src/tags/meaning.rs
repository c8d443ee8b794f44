//! What a statement asks for: which tool, with which arguments. One statement may be several ops. Reads no text;
//! a tag and a call in a foreign format come here alike.

use super::found::Found;
use super::labels::{Framed, framed};
use crate::json;
use crate::native::{self, Given, Kind, Tool};
use crate::skin::{Body, Skin, Statement};
use crate::{Position, Written};
use cairn_text::patch::{self, BodyForm};
use cairn_types::{LONGEST_ADDRESS, Status, scheme_of};
use serde_json::Value;

/// The attribute that is the target, and others that models use for it.
const TARGET: &str = "path";
const TARGET_ALIASES: [&str; 9] =
    ["key", "file", "filename", "file_path", "filepath", "target", "target_file", "uri", "url"];
/// Attributes that models use for the body.
const BODY_ALIASES: [&str; 3] = ["content", "value", "body"];
/// The attribute that says which lines, items or results.
const SCOPE: &str = "scope";
/// Attributes beside what a statement does: how it is shown, what is said of it, and whether it is only looked at.
const VISIBILITY: &str = "visibility";
const SUMMARY: &str = "summary";
const MANIFEST: &str = "manifest";
/// Where an entry's summary stands, and how long it may be.
const SUMMARY_CHANNEL: &str = "#summary";
const LONGEST_SUMMARY: usize = 80;
/// The argument that takes edit labels.
const PATCH: &str = "patch";
/// The argument that takes a whole content.
const CONTENT: &str = "content";
/// What is told of a body of sed commands that are no edit.
const OTHER_SED: &str = "of sed commands only s/a/b/ is an edit; write lines with scope=\"3-5\" and their new text, \
                         or <<SEARCH and <<REPLACE labels";
/// Arguments that are addresses, whatever the tool.
const ADDRESSES: [&str; 4] = ["path", "from", "to", "under"];

/// There is no tool of that name.
const UNKNOWN: &str = "unknown_tool";

/// Whether the end of a statement was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// It was.
    Written,
    /// It was guessed, well enough for what changes nothing.
    Guessed,
    /// It was not.
    Missing,
}

/// A statement as it was found.
pub(super) struct Said<'a> {
    pub(super) name: &'static str,
    pub(super) given: Vec<(&'a str, Given)>,
    pub(super) body: Option<&'a str>,
    pub(super) at: usize,
    pub(super) ending: Ending,
    /// Repairs made in finding it: their kinds and what was done.
    pub(super) repairs: Vec<(&'static str, String)>,
}

/// Why there is no op: a kind and what is wrong.
pub(super) type Refused = (&'static str, String);

/// Ops, and what of the statement is none.
#[derive(Default)]
struct Meant {
    ops: Vec<Written>,
    problems: Vec<Refused>,
}

/// Takes a statement's ops, repairs and problems down.
pub(super) fn take(mut said: Said<'_>, found: &mut Found) {
    let (at, ending) = (said.at, said.ending);
    let mut repairs = std::mem::take(&mut said.repairs);
    let meant = meant(said, &mut repairs);
    let has_ops = !meant.ops.is_empty();
    take_ops(meant.ops, (at, ending), repairs, found);
    for (kind, note) in meant.problems {
        found.misread(at, kind, note);
    }
    if !has_ops {
        // It began, and where it ends is not known.
        if ending != Ending::Written {
            found.taint();
        }
    }
}

/// Takes down the ops of one statement, with the repairs made in reading it, which belong to them.
fn take_ops(
    ops: Vec<Written>,
    (at, ending): (usize, Ending),
    repairs: Vec<(&'static str, String)>,
    found: &mut Found,
) {
    if ops.is_empty() {
        return;
    }
    for mut op in ops {
        op.is_unclosed = match ending {
            Ending::Written => false,
            Ending::Guessed => !op.parsed.effect.is_read_only(),
            Ending::Missing => true,
        };
        op.parsed.repairs = repairs.iter().map(|(_, note)| note.clone()).collect();
        found.op(at, op);
    }
    for (kind, note) in repairs {
        found.repair(at, kind, note);
    }
}

fn meant(mut said: Said<'_>, repairs: &mut Vec<(&'static str, String)>) -> Meant {
    let healed = heal_body(&mut said, repairs);
    let target = take_target(&mut said.given, repairs);
    let mut meant = Meant::default();
    if let Err(refused) = take_denial(&mut said.given) {
        meant.problems.push(refused);
        return meant;
    }
    let summary = take_text(&mut said.given, SUMMARY);
    let scope = take_text(&mut said.given, SCOPE);
    let statement = Statement {
        name: said.name,
        target: target.as_deref(),
        signal: None,
        scope: scope.as_deref(),
        given: said.given,
        body: said.body.or(healed.as_deref()),
    };
    let says_nothing = !statement.says_something() && statement.given.is_empty();
    // A summary alone changes nothing but the summary.
    if summary.is_none() || !says_nothing {
        main(&statement, &mut meant, repairs);
    }
    if let Some(summary) = summary
        && meant.problems.is_empty()
    {
        match summed_up(&statement, &summary) {
            Ok(op) => meant.ops.push(op),
            Err(refused) => meant.problems.push(refused),
        }
    }
    meant
}

/// What the statement does, and then how that is shown.
fn main(statement: &Statement<'_>, meant: &mut Meant, repairs: &mut Vec<(&'static str, String)>) {
    if statement.has(MANIFEST) {
        return meant.take(one(&looked_at(statement), repairs));
    }
    let shows = |said: &Statement<'_>| {
        native::by_tag(said).filter(|skin| skin.choosing.contains(&VISIBILITY))
    };
    let is_plain = !statement.has(VISIBILITY);
    if is_plain || (shows(statement).is_some() && !statement.has("to")) {
        return meant.take(one(statement, repairs));
    }
    let (shown, rest) = statement.given.iter().cloned().partition(|(name, _)| *name == VISIBILITY);
    let to = statement.word("to");
    let shown = Statement {
        name: statement.name,
        target: to.or(statement.target),
        given: shown,
        ..Statement::default()
    };
    let done = one(&Statement { given: rest, ..statement.clone() }, repairs);
    let is_done = done.is_ok();
    meant.take(done);
    if !is_done {
        return;
    }
    meant.take(match shows(&shown) {
        Some(_) => one(&shown, repairs),
        None => {
            let word = statement.word(VISIBILITY).unwrap_or_default();
            Err(("visibility_unknown", format!("{word:?} says nothing of how it is shown")))
        }
    });
}

/// The statement that only lists what is meant. A body is what to look for only where it is that without the flag.
fn looked_at<'a>(statement: &Statement<'a>) -> Statement<'a> {
    let rest = statement.given.iter().filter(|(name, _)| *name != MANIFEST).cloned().collect();
    let plain = Statement { given: rest, ..statement.clone() };
    let looks = native::by_tag(&plain).is_some_and(|skin| skin.tool.effect.is_read_only());
    let body = statement.body.filter(|_| looks);
    Statement { body, ..statement.clone() }
}

impl Meant {
    fn take(&mut self, op: Result<Written, Refused>) {
        match op {
            Ok(op) => self.ops.push(op),
            Err(refused) => self.problems.push(refused),
        }
    }
}

/// The op that writes the summary of an entry.
fn summed_up(statement: &Statement<'_>, summary: &str) -> Result<Written, Refused> {
    let refused = |why: String| Err(("summary_refused", why));
    let length = summary.chars().count();
    if length > LONGEST_SUMMARY {
        return refused(format!(
            "the summary has {length} characters, more than {LONGEST_SUMMARY}"
        ));
    }
    let Some(target) = statement.target.filter(|target| scheme_of(target).is_some()) else {
        return refused("only an entry with an address has a summary".to_owned());
    };
    if target.contains('#') {
        return refused(format!("{target} is a channel, and has no summary"));
    }
    let target = format!("{target}{SUMMARY_CHANNEL}");
    let name = statement.name;
    let (target, body) = (Some(target.as_str()), Some(summary));
    let statement = Statement { name, target, body, ..Statement::default() };
    match native::by_tag(&statement).and_then(|skin| skin.body) {
        Some((_, Body::Exact)) if !patch::is_labelled(summary) => one(&statement, &mut Vec::new()),
        _ => refused(format!("{name} takes no summary")),
    }
}

/// The op that one statement is.
fn one(
    statement: &Statement<'_>,
    repairs: &mut Vec<(&'static str, String)>,
) -> Result<Written, Refused> {
    let bad = |why: &str| ("arguments", format!("{}: {why}", statement.name));
    let nothing = || bad("it means nothing this way");
    let skin = native::by_tag(statement).ok_or_else(nothing)?;
    // Where the body is the target, it also says which tool is meant.
    if let (None, Some(bare), Some(body)) = (statement.target, skin.bare, statement.body)
        && statement.says_something()
        && !skin.target.is_empty()
        && !statement.has(bare)
    {
        let target = Some(body.trim());
        return one(&Statement { target, body: None, ..statement.clone() }, repairs);
    }
    if statement.target.is_some_and(|target| target.trim().is_empty()) {
        return Err(bad("the path is empty"));
    }
    if let Some(flag) = unset(skin, statement) {
        return Err(bad(&format!("{flag} has no value")));
    }
    if let Some(body) = statement.body.filter(|_| is_content(skin, statement))
        && patch::body_form(body) == BodyForm::OtherSed
    {
        return Err(bad(OTHER_SED));
    }
    let closed = match statement.body.filter(|body| patch::is_labelled(body)) {
        Some(body) if skin.body.is_some_and(|(slot, _)| slot == PATCH) => {
            framed(body).map_err(|why| ("label_broken", why))?
        }
        _ => Framed::AsWritten,
    };
    let mut statement = statement.clone();
    if let Framed::Closed(body, name) = &closed {
        repairs.push(("label_closed", format!("<<{name} closed at the end of the body")));
        statement.body = Some(body);
    }
    let mut notes = Vec::new();
    let args = skin.args(&statement, &mut notes).map_err(|why| ("arguments", why.message))?;
    repairs.extend(notes.into_iter().map(|note| ("argument", note)));
    let op = Written::new(skin.tool, args, Position::default());
    sound(op, skin)
}

/// Whether a statement's body would be the content of something whose name does not say that it holds scripts.
fn is_content(skin: &Skin, statement: &Statement<'_>) -> bool {
    let is_kept = statement.target.is_some_and(patch::is_kept_in);
    skin.body == Some((CONTENT, Body::Exact)) && statement.scope.is_none() && !is_kept
}

/// An attribute without a value that needs one.
fn unset<'a>(skin: &Skin, statement: &'a Statement<'_>) -> Option<&'a str> {
    let needs = |name: &str| {
        let param = |p: &&native::Param| p.name == name || p.aliases.contains(&name);
        let param = skin.tool.params.iter().find(param);
        param.is_some_and(|param| !matches!(param.kind, Kind::Flag))
    };
    let flags = statement.given.iter().filter(|(_, given)| *given == Given::Flag);
    flags.map(|(name, _)| *name).find(|name| !skin.choosing.contains(name) && needs(name))
}

/// An op whose addresses can be meant, and which asks for something.
fn sound(op: Written, skin: &Skin) -> Result<Written, Refused> {
    let slots = skin.target.iter().map(|(slot, _)| *slot);
    check_addresses(&op, slots.chain(ADDRESSES))?;
    match &op.parsed.action {
        Err(why) if why.status != Status::NOT_IMPLEMENTED => {
            Err(("arguments", why.message.clone()))
        }
        _ => Ok(op),
    }
}

fn check_addresses<'a>(
    op: &Written,
    mut slots: impl Iterator<Item = &'a str>,
) -> Result<(), Refused> {
    let value = |slot: &str| op.args.get(slot).and_then(Value::as_str);
    let refused = slots.find_map(|slot| value(slot).and_then(spilled));
    refused.map_or(Ok(()), |why| Err(("target_refused", format!("{}: {why}", op.tool))))
}

/// Why a target can be none.
fn spilled(target: &str) -> Option<String> {
    let length = target.chars().count();
    if length > LONGEST_ADDRESS {
        return Some(format!("a target of {length} characters, more than {LONGEST_ADDRESS}"));
    }
    target.chars().any(char::is_control).then(|| "a target with control characters".to_owned())
}

/// A text given by this name, which is then no longer given.
fn take_text(given: &mut Vec<(&str, Given)>, name: &str) -> Option<String> {
    let at =
        given.iter().position(|(key, value)| *key == name && matches!(value, Given::Text(_)))?;
    match given.remove(at) {
        (_, Given::Text(text)) => Some(text),
        _ => None,
    }
}

/// What is said not to be only looked at is not said to be.
fn take_denial(given: &mut Vec<(&str, Given)>) -> Result<(), Refused> {
    let is_it = |(name, _): &(&str, Given)| *name == MANIFEST;
    let Some((_, Given::Text(said))) = given.iter().find(|one| is_it(one)) else { return Ok(()) };
    match said.trim().to_ascii_lowercase().as_str() {
        "" | "true" | "manifest" => Ok(()),
        "false" => {
            given.retain(|one| !is_it(one));
            Ok(())
        }
        _ => Err(("arguments", format!("{MANIFEST} must be true or false"))),
    }
}

fn take_target(
    given: &mut Vec<(&str, Given)>,
    repairs: &mut Vec<(&'static str, String)>,
) -> Option<String> {
    if given.iter().any(|(name, _)| *name == TARGET) {
        return take_text(given, TARGET);
    }
    let alias = TARGET_ALIASES.iter().find(|alias| given.iter().any(|(name, _)| name == *alias))?;
    let target = take_text(given, alias)?;
    repairs.push(("attribute_name", format!("{alias} read as {TARGET}")));
    Some(target)
}

/// What stands in an attribute that is meant for the body, where nothing stands in the body. A tool called by its
/// own name has arguments by these names.
fn heal_body(said: &mut Said<'_>, repairs: &mut Vec<(&'static str, String)>) -> Option<String> {
    let is_own = native::tools().iter().any(|tool: &Tool| tool.name == said.name);
    let is_said = said.body.is_some_and(|body| !body.trim().is_empty());
    if is_own || is_said {
        return None;
    }
    let has = |alias: &&&str| said.given.iter().any(|(name, _)| name == *alias);
    let alias = BODY_ALIASES.iter().find(has)?;
    let body = take_text(&mut said.given, alias)?;
    repairs.push(("attribute_name", format!("{alias} read as the body")));
    said.body = None;
    Some(body)
}

/// Takes down a call in a foreign format. False where there is nothing of that name.
pub(super) fn take_call(
    name: &str,
    args: Value,
    at: usize,
    found: &mut Found,
    note: String,
) -> bool {
    let short = native::unframed(name);
    let tags = native::skins().iter().flat_map(|skin| skin.tags.iter().copied());
    let own = native::skins().iter().map(|skin| skin.tool.name);
    let Value::Object(args) = args else {
        found.misread(at, "foreign_malformed", format!("{short}: the arguments are no object"));
        return true;
    };
    let is_known = native::is_tag(short) || native::tool(short).is_some();
    if let Some((key, _)) = args.iter().find(|(key, value)| is_known && !is_takable(key, value)) {
        found.misread(at, "arguments", format!("{short}: {} must be a string", json::short(key)));
        return true;
    }
    if let Some(name) = tags.chain(own).find(|known| *known == short) {
        let mut repairs = vec![("foreign_call", note)];
        let given = args.iter().filter_map(|(key, value)| {
            repairs.extend(coercion(key, value).map(|note| ("argument", note)));
            Some((key.as_str(), given(value)?))
        });
        let given = given.collect();
        take(Said { name, given, body: None, at, ending: Ending::Written, repairs }, found);
        return true;
    }
    let arguments = Value::Object(args).to_string();
    match native_call(short, &arguments) {
        Err((kind, note)) => {
            found.misread(at, kind, note);
            kind != UNKNOWN
        }
        Ok(mut op) => {
            let notes = std::mem::take(&mut op.parsed.repairs);
            found.repair(at, "foreign_call", note.clone());
            notes.iter().for_each(|note| found.repair(at, "argument", note.clone()));
            op.parsed.repairs = std::iter::once(note).chain(notes).collect();
            found.op(at, op);
            true
        }
    }
}

/// The op that a call by a native name is.
fn native_call(name: &str, arguments: &str) -> Result<Written, Refused> {
    let parsed = native::parse(name, arguments);
    let action = parsed.action.map_err(|why| {
        let kind = if native::tool(name).is_none() { UNKNOWN } else { "arguments" };
        (kind, why.message)
    })?;
    let call = native::call_of(&action);
    let (tool, args) = call.ok_or_else(|| ("arguments", format!("{name}: it means nothing")))?;
    let mut op = Written::new(tool, args, Position::default());
    check_addresses(&op, ADDRESSES.into_iter())?;
    op.parsed.repairs = parsed.repairs;
    Ok(op)
}

/// The kinds of the arguments of this name.
fn kinds(key: &str) -> impl Iterator<Item = Kind> + '_ {
    let params = native::tools().iter().flat_map(|tool| tool.params);
    params.filter(move |p| p.name == key || p.aliases.contains(&key)).map(|param| param.kind)
}

/// Whether a value can be taken as it was written. A number with a point may have been written in many ways, and so may
/// a list or an object: neither is ever a text.
fn is_takable(key: &str, value: &Value) -> bool {
    let beside = [TARGET, SCOPE, SUMMARY, VISIBILITY];
    let mut texts = beside.iter().chain(&TARGET_ALIASES).chain(&BODY_ALIASES);
    let is_unknown = kinds(key).next().is_none() && !texts.any(|name| *name == key);
    match value {
        // That there is no such argument is told later.
        _ if is_unknown => true,
        Value::Number(number) if !native::is_as_written(value) => {
            native::whole(number).is_some()
                && kinds(key).all(|kind| matches!(kind, Kind::Count))
                && kinds(key).next().is_some()
        }
        Value::Array(_) | Value::Object(_) => {
            kinds(key).any(|kind| matches!(kind, Kind::List(_) | Kind::Texts))
        }
        _ => true,
    }
}

/// How a value is read that is no text where one is wanted.
fn coercion(key: &str, value: &Value) -> Option<String> {
    let is_wanted = match value {
        Value::Number(_) => kinds(key).any(|kind| matches!(kind, Kind::Count)),
        Value::Bool(_) => key == MANIFEST || kinds(key).any(|kind| matches!(kind, Kind::Flag)),
        _ => true,
    };
    (!is_wanted).then(|| format!("{}: {value} read as text", json::short(key)))
}

/// A JSON value as the text surfaces give it; nothing where it says nothing.
fn given(value: &Value) -> Option<Given> {
    let texts = |items: &Vec<Value>| {
        let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
        texts.collect::<Option<Vec<String>>>()
    };
    Some(match value {
        Value::Null => return None,
        Value::Number(number) => match native::whole(number) {
            Some(whole) => Given::Text(whole.to_string()),
            None => Given::Text(number.to_string()),
        },
        Value::String(text) => Given::Text(text.clone()),
        Value::Array(items) => match texts(items) {
            Some(texts) => Given::Texts(texts),
            None => Given::Text(value.to_string()),
        },
        _ => Given::Text(value.to_string()),
    })
}
