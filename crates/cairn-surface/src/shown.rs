//! An op as `cairn parse` prints it: the same fields whatever surface it was written in, absent where they say
//! nothing. Documented in docs/surfaces.md; additive only.

use crate::native;
use cairn_types::{
    Action, Carry, Consult, Edit, EditBody, Exchange, Exec, Find, OpName, Post, Read,
};
use serde_json::{Map, Value, json};

/// An op as JSON.
#[must_use]
pub fn shown(action: &Action) -> Value {
    let mut said = Said::default();
    said.put("op", json!(name(action)));
    match action {
        Action::Find(find) => said.find(find),
        Action::List { path, depth } => {
            said.put("target", json!(path));
            said.attr("list", json!(true));
            said.attr("depth", json!((*depth != 1).then_some(depth)));
        }
        Action::Read(read) => said.read(read),
        Action::Edit(edit) => said.edit(edit),
        Action::Copy(Carry { from, to, tags }) | Action::Move(Carry { from, to, tags }) => {
            said.put("target", json!(from));
            said.put("dest", json!(to));
            said.put("tags", json!(tags));
        }
        Action::Kill { path } | Action::Open { path } | Action::Fold { path } => {
            said.put("target", json!(path));
        }
        Action::Send(Post { to, status, text }) => {
            said.put("target", json!(to));
            said.put("signal", json!(status));
            said.put("body", json!(text));
        }
        Action::Exec(exec) => said.exec(exec),
        Action::Todo { .. } => {
            let call = native::call_of(action);
            let items = call.and_then(|(_, mut args)| args.remove("items"));
            said.attr("items", items.unwrap_or_default());
        }
        Action::Consult(Consult::Question { text, options }) => {
            said.put("body", json!(text));
            said.attr("options", json!(options));
        }
        Action::Consult(Consult::Plan { text }) => said.put("body", json!(text)),
        Action::Call(call) => {
            for (name, value) in &call.arguments {
                said.attr(name, value.clone());
            }
        }
    }
    said.done()
}

/// The op, or the tool where it is none of the ten.
fn name(action: &Action) -> String {
    if let Action::Call(call) = action {
        return call.tool.clone();
    }
    match action.op() {
        OpName::Todo | OpName::Consult => {
            native::call_of(action).map_or_else(String::new, |(tool, _)| tool.name.to_owned())
        }
        op => op.to_string(),
    }
}

/// What is said of an op so far.
#[derive(Default)]
struct Said {
    fields: Map<String, Value>,
    attrs: Map<String, Value>,
}

/// What is not there, not so or empty is not said.
fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

impl Said {
    fn put(&mut self, key: &str, value: Value) {
        if !says_nothing(&value) {
            self.fields.insert(key.to_owned(), value);
        }
    }

    fn attr(&mut self, key: &str, value: Value) {
        if !says_nothing(&value) {
            self.attrs.insert(key.to_owned(), value);
        }
    }

    fn find(&mut self, Find { glob, text, under, context, skip, limit, tags }: &Find) {
        self.put("target", json!(glob.as_ref().or(under.as_ref())));
        self.put("tags", json!(tags));
        self.put("matcher", json!(text));
        self.attr("under", json!(under.as_ref().filter(|_| glob.is_some())));
        self.attr("context", json!((*context > 0).then_some(context)));
        self.attr("skip", json!((*skip > 0).then_some(skip)));
        self.attr("limit", json!(limit));
    }

    fn read(&mut self, Read { path, first, limit, hashes, scope, matcher }: &Read) {
        self.put("target", json!(path));
        self.put("scope", json!(scope));
        self.put("matcher", json!(matcher));
        self.attr("first", json!((*first != 1).then_some(first)));
        self.attr("limit", json!((*limit != 2000).then_some(limit)));
        self.attr("hashes", json!(hashes));
    }

    fn edit(&mut self, Edit { path, body, scope, tags }: &Edit) {
        self.put("target", json!(path));
        self.put("scope", json!(scope));
        self.put("tags", json!(tags));
        match body {
            EditBody::Whole { content } => self.put("body", json!(content)),
            EditBody::Patch(patch) => self.put("edits", json!([{"patch": patch}])),
            EditBody::Replace(edits) => {
                let edit = |Exchange { old, new, all }: &Exchange| match all {
                    true => json!({"old": old, "new": new, "all": true}),
                    false => json!({"old": old, "new": new}),
                };
                self.put("edits", edits.iter().map(edit).collect());
            }
        }
    }

    fn exec(&mut self, exec: &Exec) {
        let Exec { command, runtime, cwd, timeout_ms, background, wakes, discard } = exec;
        self.put("target", json!(cwd));
        self.put("signal", json!(runtime));
        self.put("body", json!(command));
        self.attr("timeout_ms", json!(timeout_ms));
        self.attr("background", json!(background));
        self.attr("wake", json!(wakes));
        self.attr("discard", json!(discard));
    }

    fn done(mut self) -> Value {
        if !self.attrs.is_empty() {
            self.fields.insert("attrs".to_owned(), Value::Object(self.attrs));
        }
        Value::Object(self.fields)
    }
}
