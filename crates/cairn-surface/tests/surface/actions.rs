//! Ops of every kind, as tools make them.

use cairn_surface::native;
use cairn_types::Action;
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Texts that surfaces find hard: tags, closers, fences, quotes, braces, line ends.
pub fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-zé日😀]{1,6}",
        2 => Just(" ".to_owned()),
        2 => Just("\n".to_owned()),
        1 => "[<>/\"'`:{}\\[\\]()&;,=|\\\\#*?~-]{1,3}",
        1 => prop::sample::select(vec![
            "</set>", "<set path=\"x\">", "<get/>", "</get>", "<update status=\"200\">", "</update>", "<sh>",
            ":EDIT", ":READ", "<<EDIT(x):", ":SEND", "<<SEND[200]:", "<<SEARCH", "SEARCH", "```", "``", "<think>",
            "</think>", "&lt;", "&quot;", "&amp;", "{\"tool\":\"bash\",\"args\":{}}", "\r\n", "\t", "é", "日", "😀",
            "EOF", "<<EOF", "\"}", "]]>", "[TOOL_CALLS]",
        ]).prop_map(str::to_owned),
    ];
    vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// A text that says something.
fn said() -> impl Strategy<Value = String> {
    text().prop_map(|text| if text.trim().is_empty() { "x".to_owned() } else { text })
}

/// A path or an address.
pub fn path() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-zé日😀]{1,5}(/[a-z_.é日😀]{1,6}){0,2}",
        1 => "known:///[a-zé日😀]{1,5}(/[a-zé日😀]{1,3})?",
        1 => prop::sample::select(vec![
            "a b.txt", "it's.md", "q\"uote", "a<b>c", "x&y", "app/[id]/page.tsx", "(a)", "a)b", "a(b", "é.txt",
            "log:///1/2/3", "log:///1/2/3#output", "known:///x#summary",
        ]).prop_map(str::to_owned),
    ]
}

fn glob() -> impl Strategy<Value = String> {
    prop_oneof!["[a-zé日😀]{1,4}/\\*\\*", Just("*.rs".to_owned()), Just("src/{a,b}.rs".to_owned())]
}

fn scope() -> impl Strategy<Value = String> {
    prop_oneof![
        "[1-9]",
        "[1-9]-[1-9]{2}",
        "[1-9],[1-9]{2}",
        Just("-3--1".to_owned()),
        Just("0".to_owned())
    ]
}

fn tags() -> impl Strategy<Value = Vec<String>> {
    vec(prop_oneof![3 => "[a-zé日😀]{1,5}", 1 => "[a-z]{1,3}[, ;]{1,2}[a-z]{1,3}"], 0..3)
}

/// The fields that are there.
fn object(fields: Value) -> Map<String, Value> {
    let Value::Object(mut fields) = fields else { unreachable!("an object") };
    fields.retain(|_, value| !value.is_null());
    fields
}

fn call() -> impl Strategy<Value = (&'static str, Map<String, Value>)> {
    let flag = || of(Just(true));
    let small = || of(1u64..50);
    let edit = || {
        (said(), text(), flag())
            .prop_map(|(old, new, all)| object(json!({"old": old, "new": new, "all": all})))
    };
    let item = (said(), prop::sample::select(vec!["pending", "active", "done"]))
        .prop_map(|(text, state)| json!({"text": text, "state": state}));
    prop_oneof![
        (path(), small(), small(), flag(), of(scope()), of(said())).prop_map(|(path, first, limit, hashes, scope, matching)| {
            ("read", json!({"path": path, "first": first, "limit": limit, "hashes": hashes, "scope": scope, "matching": matching}))
        }),
        (path(), text(), of(scope()), tags())
            .prop_map(|(path, content, scope, tags)| ("write", json!({"path": path, "content": content, "scope": scope, "tags": tags}))),
        (path(), edit()).prop_map(|(path, mut edit)| {
            edit.insert("path".to_owned(), path.into());
            ("edit", Value::Object(edit))
        }),
        (of(path()), said()).prop_map(|(path, patch)| ("edit", json!({"path": path, "patch": patch}))),
        (path(), vec(edit(), 2..4)).prop_map(|(path, edits)| ("multi_edit", json!({"path": path, "edits": edits}))),
        (glob(), of(said()), of(path()), tags(), small(), small(), small()).prop_map(|(glob, text, under, tags, context, skip, limit)| {
            ("find", json!({"glob": glob, "text": text, "under": under, "tags": tags, "context": context, "skip": skip, "limit": limit}))
        }),
        (of(path()), said()).prop_map(|(under, text)| ("find", json!({"text": text, "under": under}))),
        (of(path()), small()).prop_map(|(path, depth)| ("list", json!({"path": path, "depth": depth}))),
        path().prop_map(|path| ("remove", json!({"path": path}))),
        (path(), path(), tags()).prop_map(|(from, to, tags)| ("move", json!({"from": from, "to": to, "tags": tags}))),
        (path(), path(), tags()).prop_map(|(from, to, tags)| ("copy", json!({"from": from, "to": to, "tags": tags}))),
        path().prop_map(|path| ("open", json!({"path": path}))),
        path().prop_map(|path| ("fold", json!({"path": path}))),
        (of(path()), of(100u64..600), said()).prop_map(|(to, status, text)| ("send", json!({"to": to, "status": status, "text": text}))),
        (said(), of("[a-z]{2,6}"), of(path()), small(), flag()).prop_map(|(command, runtime, cwd, timeout_ms, background)| {
            ("bash", json!({"command": command, "runtime": runtime, "cwd": cwd, "timeout_ms": timeout_ms, "background": background, "wake": background}))
        }),
        (said(), of(path())).prop_map(|(command, cwd)| ("env", json!({"command": command, "cwd": cwd}))),
        vec(item, 0..3).prop_map(|items| ("todo", json!({"items": items}))),
        (said(), vec(said(), 0..3)).prop_map(|(question, options)| ("ask_user", json!({"question": question, "options": options}))),
        said().prop_map(|plan| ("present_plan", json!({"plan": plan}))),
    ]
    .prop_map(|(tool, args)| (tool, object(args)))
}

/// An op.
pub fn action() -> impl Strategy<Value = Action> {
    call().prop_filter_map("a call that means nothing", |(tool, args)| {
        native::parse_call(native::tool(tool)?, args).action.ok()
    })
}

/// Several ops.
pub fn actions() -> impl Strategy<Value = Vec<Action>> {
    vec(action(), 0..5)
}
