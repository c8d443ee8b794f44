//! One assistant message in the shape of Chat Completions, read without a provider: what it would do, against our
//! own tools or against a list from outside. Does nothing, and knows no run.

use super::coerce::coerced;
use super::{nearest, parse, plain, tool};
use crate::json::{Fields, place_of, short};
use crate::position::offset;
use crate::{Parsed, Places, Position, Repair, Trouble, shown};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::HashSet;

/// The longest name that every provider takes.
const LONGEST_NAME: usize = 64;
/// No more problems, and no more repairs, than this are told; of the rest that there are some.
const MOST_TOLD: usize = 64;
/// The status of work that is over.
const DONE: u16 = 200;

/// A message, read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Message {
    /// The calls that make sense, in their order.
    pub calls: Vec<Called>,
    /// What was repaired.
    pub repairs: Vec<Repair>,
    /// What could not be read.
    pub problems: Vec<Trouble>,
    /// What is said.
    pub text: String,
    /// What was thought, where the provider shows that.
    pub reasoning: String,
    /// 200 where nothing is called: that ends the work.
    pub terminal: Option<u16>,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Called {
    /// The call's id; empty where it has none.
    pub id: String,
    /// The tool's own name.
    pub name: String,
    /// The name as the model wrote it.
    pub wire: String,
    /// The op as `cairn parse` prints it. Of a tool from outside its name, and its arguments as `attrs`.
    pub shown: Value,
    /// What it means, of a tool of our own.
    pub parsed: Option<Parsed>,
    /// Where it stands.
    pub at: Position,
}

/// Reads a message against our own tools, or those of a list of `{name, description, parameters}`.
#[must_use]
pub fn read(message: &str, tools: Option<&str>) -> Message {
    let mut reader =
        Reader { text: message, places: Places::new(message), heard: Message::default() };
    match tools.map(Tools::of_text).transpose() {
        Ok(tools) => reader.message(tools.as_ref()),
        Err(why) => reader.trouble("tools", message, why),
    }
    reader.heard
}

/// Why a list of tools from outside is none, if it is none.
#[must_use]
pub fn tools_problem(tools: &str) -> Option<String> {
    Tools::of_text(tools).err()
}

/// Names as every provider takes them, one for each of these, all different.
#[must_use]
pub fn wire_names(names: &[&str]) -> Vec<String> {
    let mut taken: HashSet<String> = HashSet::new();
    let allowed = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let wire = |name: &&str| {
        let plain: String = name.chars().take(LONGEST_NAME).map(allowed).collect();
        let mut wire = plain.clone();
        let mut n = 1;
        while wire.is_empty() || !taken.insert(wire.clone()) {
            n += 1;
            let end = format!("_{n}");
            let start: String = plain.chars().take(LONGEST_NAME - end.len()).collect();
            wire = start + &end;
        }
        wire
    };
    names.iter().map(wire).collect()
}

/// Tools from outside.
struct Tools {
    names: Vec<String>,
    /// The names that a provider is told.
    wire: Vec<String>,
    parameters: Vec<Value>,
}

impl Tools {
    fn of_text(text: &str) -> Result<Tools, String> {
        let list: Value =
            serde_json::from_str(text).map_err(|e| format!("the tools are not JSON: {e}"))?;
        let list = list.as_array().ok_or("the tools are not a list")?;
        let mut tools = Tools { names: Vec::new(), wire: Vec::new(), parameters: Vec::new() };
        for (n, tool) in (1..).zip(list) {
            // As a Chat request has it, and as this project does.
            let tool = tool.get("function").unwrap_or(tool);
            let name = tool["name"].as_str().filter(|name| !name.is_empty());
            let name = name.ok_or_else(|| format!("the tool {n} of the list has no name"))?;
            if tools.names.iter().any(|known| known == name) {
                return Err(format!("the tool {:?} is in the list twice", short(name)));
            }
            tools.names.push(name.to_owned());
            tools.parameters.push(tool["parameters"].clone());
        }
        let names: Vec<&str> = tools.names.iter().map(String::as_str).collect();
        tools.wire = wire_names(&names);
        Ok(tools)
    }

    /// Which tool is meant, and whether only its name was written in another way.
    fn find(&self, name: &str) -> Option<(usize, bool)> {
        let exact = |names: &[String]| names.iter().position(|known| known == name);
        if let Some(at) = exact(&self.names).or_else(|| exact(&self.wire)) {
            return Some((at, false));
        }
        let meant = plain(name);
        let is_it = |at: &usize| self.wire.get(*at).is_some_and(|one| plain(one) == meant);
        let mut like = (0..self.names.len()).filter(is_it);
        match (like.next(), like.next()) {
            (Some(only), None) => Some((only, true)),
            _ => None,
        }
    }

    fn unknown(&self, name: &str) -> String {
        let none: &[&str] = &[];
        let known = self.names.iter().map(|known| (known.as_str(), none));
        let is_none = format!("there is no tool {:?}", short(name));
        match nearest(name, known)[..] {
            _ if self.names.is_empty() => format!("{is_none}, nor any other"),
            [] => format!("{is_none}; the tools are {}", self.names.join(", ")),
            ref near => format!("{is_none}; the nearest are {}", near.join(", ")),
        }
    }
}

/// A call before it is known what it means.
struct Written<'a> {
    id: String,
    name: String,
    arguments: String,
    /// Where the name stands.
    named: &'a str,
    /// Where the arguments stand.
    at: &'a str,
}

struct Reader<'a> {
    text: &'a str,
    places: Places<'a>,
    heard: Message,
}

/// An object's field that is no null.
fn field<'a>(fields: &Fields<'a>, name: &str) -> Option<&'a RawValue> {
    let found = fields.0.iter().find(|(key, _)| key == name).map(|(_, value)| *value);
    found.filter(|value| value.get() != "null")
}

fn text_of(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

impl<'a> Reader<'a> {
    fn trouble(&mut self, kind: &'static str, at: &str, note: String) {
        if self.heard.problems.len() > MOST_TOLD {
            return;
        }
        let (kind, note) = match self.heard.problems.len() {
            MOST_TOLD => ("more_problems", "there are more".to_owned()),
            _ => (kind, note),
        };
        let byte = offset(self.text, at);
        let (at, snippet) = (self.places.at(byte), self.places.snippet(byte));
        self.heard.problems.push(Trouble { kind, at, note, snippet });
    }

    fn repair(&mut self, kind: &'static str, at: &str, note: String) {
        if self.heard.repairs.len() > MOST_TOLD {
            return;
        }
        let (kind, note) = match self.heard.repairs.len() {
            MOST_TOLD => ("more_repairs", "there are more".to_owned()),
            _ => (kind, note),
        };
        let at = self.places.at(offset(self.text, at));
        self.heard.repairs.push(Repair { kind, at, note });
    }

    fn message(&mut self, tools: Option<&Tools>) {
        let text = self.text;
        let fields = match serde_json::from_str::<Fields<'_>>(text) {
            Ok(fields) => fields,
            Err(error) => {
                let at = (0..=place_of(&error, text)).rev().find_map(|at| text.get(at..));
                let note = format!("it is no message: {error}");
                return self.trouble("not_a_message", at.unwrap_or(text), note);
            }
        };
        if let Some(role) = field(&fields, "role").filter(|role| role.get() != "\"assistant\"") {
            let note = format!("it is of {}, and not of the assistant", short(role.get()));
            return self.trouble("not_a_message", role.get(), note);
        }
        if let Some(note) = what_is_missing(&fields) {
            return self.trouble("not_a_message", text, note.to_owned());
        }
        self.said(&fields);
        let calls = self.calls(&fields);
        if calls.is_empty() && self.heard.problems.is_empty() {
            self.heard.terminal = Some(DONE);
        }
        for call in calls {
            match tools {
                None => self.own(call),
                Some(tools) => self.foreign(call, tools),
            }
        }
    }

    /// Words and thoughts.
    fn said(&mut self, fields: &Fields<'a>) {
        let thought = field(fields, "reasoning_content").or_else(|| field(fields, "reasoning"));
        self.heard.reasoning = thought.and_then(text_of).unwrap_or_default();
        let Some(raw) = field(fields, "content") else { return };
        if let Some(text) = text_of(raw) {
            self.heard.text = text;
            return;
        }
        match serde_json::from_str::<Vec<&RawValue>>(raw.get()) {
            Ok(blocks) => blocks.into_iter().for_each(|block| self.block(block)),
            Err(_) => {
                self.trouble("not_a_message", raw.get(), "content must be a string".to_owned());
            }
        }
    }

    /// A part of content that is a list.
    fn block(&mut self, raw: &RawValue) {
        let block: Value = serde_json::from_str(raw.get()).unwrap_or_default();
        match (block["text"].as_str(), block["type"].as_str()) {
            (Some(text), None | Some("text" | "output_text")) => self.heard.text.push_str(text),
            (_, kind) => {
                let kind = kind.unwrap_or("none");
                let note = format!(
                    "a block of type {:?} is not text; calls stand in tool_calls",
                    short(kind)
                );
                self.trouble("not_text", raw.get(), note);
            }
        }
    }

    fn calls(&mut self, fields: &Fields<'a>) -> Vec<Written<'a>> {
        let mut written = Vec::new();
        if let Some(raw) = field(fields, "tool_calls") {
            match serde_json::from_str::<Vec<&RawValue>>(raw.get()) {
                Ok(calls) => written.extend(calls.into_iter().filter_map(|call| self.call(call))),
                Err(_) => {
                    self.trouble("not_a_call", raw.get(), "tool_calls must be a list".to_owned());
                }
            }
        }
        if let Some(raw) = field(fields, "function_call") {
            self.repair("call", raw.get(), "function_call read as a call".to_owned());
            written.extend(self.function(String::new(), raw));
        }
        written
    }

    fn call(&mut self, raw: &'a RawValue) -> Option<Written<'a>> {
        let Ok(call) = serde_json::from_str::<Fields<'_>>(raw.get()) else {
            self.trouble("not_a_call", raw.get(), "a call must be an object".to_owned());
            return None;
        };
        let id = field(&call, "id").and_then(text_of).unwrap_or_default();
        if let Some(kind) = field(&call, "type").filter(|kind| kind.get() != "\"function\"") {
            let note = format!("a call of type {} is none of a function", short(kind.get()));
            self.trouble("not_a_call", kind.get(), note);
            return None;
        }
        match field(&call, "function") {
            Some(function) => self.function(id, function),
            None => {
                self.repair("call", raw.get(), "a call without function read as one".to_owned());
                self.function(id, raw)
            }
        }
    }

    fn function(&mut self, id: String, raw: &'a RawValue) -> Option<Written<'a>> {
        let fields = serde_json::from_str::<Fields<'_>>(raw.get());
        let raw_name = fields.as_ref().ok().and_then(|fields| field(fields, "name"));
        let (Ok(fields), Some((named, name))) =
            (fields, raw_name.and_then(|raw| Some((raw.get(), text_of(raw)?))))
        else {
            self.trouble("not_a_call", raw.get(), "a call must name its function".to_owned());
            return None;
        };
        let given = field(&fields, "arguments");
        let at = given.map_or(raw.get(), RawValue::get);
        let arguments = match given {
            None => String::new(),
            Some(given) => text_of(given).unwrap_or_else(|| {
                self.repair("call", at, "arguments that are no text read as they are".to_owned());
                given.get().to_owned()
            }),
        };
        Some(Written { id, name, arguments, named, at })
    }

    fn own(&mut self, Written { id, name: wire, arguments, named, at }: Written<'_>) {
        let mut parsed = parse(&wire, &arguments);
        for note in std::mem::take(&mut parsed.repairs) {
            self.repair("call", at, note);
        }
        let own = tool(&wire);
        match (&parsed.action, own) {
            (Ok(action), Some(tool)) => {
                let (shown, name) = (shown(action), tool.name.to_owned());
                let at = self.places.at(offset(self.text, named));
                self.heard.calls.push(Called { id, name, wire, shown, parsed: Some(parsed), at });
            }
            (Err(misread), own) => {
                let (kind, at) =
                    if own.is_some() { ("invalid_args", at) } else { ("unknown_tool", named) };
                let note = misread.message.clone();
                self.trouble(kind, at, note);
            }
            (Ok(_), None) => {}
        }
    }

    fn foreign(&mut self, written: Written<'_>, tools: &Tools) {
        let Written { id, name: wire, arguments, named, at } = written;
        let found = tools.find(&wire);
        let Some((n, was_repaired)) = found else {
            return self.trouble("unknown_tool", named, tools.unknown(&wire));
        };
        let (Some(name), Some(schema)) = (tools.names.get(n), tools.parameters.get(n)) else {
            return;
        };
        if was_repaired {
            self.repair("call", named, format!("{} read as {name}", short(&wire)));
        }
        let mut repairs = Vec::new();
        let args = coerced(schema, &arguments, &mut repairs);
        for note in repairs {
            self.repair("call", at, note);
        }
        match args {
            Err(why) => self.trouble("invalid_args", at, format!("{name}: {why}")),
            Ok(args) => {
                let shown = match args.is_empty() {
                    true => json!({ "op": name }),
                    false => json!({ "op": name, "attrs": args }),
                };
                let (name, at) = (name.clone(), self.places.at(offset(self.text, named)));
                self.heard.calls.push(Called { id, name, wire, shown, parsed: None, at });
            }
        }
    }
}

/// What an object would need to be a message, if it needs something.
fn what_is_missing(fields: &Fields<'_>) -> Option<&'static str> {
    let says = ["content", "tool_calls", "function_call"];
    if says.into_iter().any(|name| field(fields, name).is_some()) {
        return None;
    }
    Some(match field(fields, "choices") {
        Some(_) => "it is a whole response; give choices[0].message",
        None => "it has neither content nor tool_calls, and a message has one of them",
    })
}
