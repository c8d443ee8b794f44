//! Tools as people's scripts know them: other names, other shapes of arguments, and the way back.

use super::event::Call;
use cairn_types::{Action, Carry, Consult, Edit, EditBody, Exchange, TodoState};
use serde_json::{Map, Value, json};

/// Our tools.
pub const TOOLS: [&str; 17] = [
    "read",
    "write",
    "edit",
    "multi_edit",
    "find",
    "list",
    "remove",
    "move",
    "copy",
    "open",
    "fold",
    "send",
    "bash",
    "env",
    "todo",
    "ask_user",
    "present_plan",
];

/// The names a matcher may know a tool by: ours, and those of elsewhere.
#[must_use]
pub fn names_of(tool: &str) -> &'static [&'static str] {
    match tool {
        "read" => &["read", "Read"],
        "write" => &["write", "Write"],
        "edit" => &["edit", "Edit"],
        "multi_edit" => &["multi_edit", "MultiEdit"],
        "find" => &["find", "Grep", "Glob"],
        "list" => &["list", "LS"],
        "remove" => &["remove", "Remove"],
        "move" => &["move", "Move"],
        "copy" => &["copy", "Copy"],
        "open" => &["open", "Open"],
        "fold" => &["fold", "Fold"],
        "send" => &["send", "Send"],
        "bash" => &["bash", "Bash"],
        // Whoever looks at commands looks at these, too.
        "env" => &["env", "Bash"],
        "todo" => &["todo", "TodoWrite"],
        "ask_user" => &["ask_user", "AskUserQuestion"],
        "present_plan" => &["present_plan", "ExitPlanMode"],
        _ => &[],
    }
}

/// The name a script is told.
pub(super) fn shown_name(call: &Call) -> &str {
    match (&call.action, names_of(&call.tool)) {
        (Action::Find(find), [_, grep, glob]) => {
            if find.text.is_some() {
                grep
            } else {
                glob
            }
        }
        (_, [_, name, ..]) => name,
        _ => &call.tool,
    }
}

/// A path as scripts expect it: absolute, where it is one of the project's.
fn whole(root: &str, path: &str) -> String {
    match path {
        "." => root.to_owned(),
        path if path.starts_with('/') || path.contains("://") => path.to_owned(),
        path => format!("{root}/{path}"),
    }
}

/// The arguments a script is told.
pub(super) fn shown_input(call: &Call, root: &str) -> Value {
    let whole = |path: &str| whole(root, path);
    let mut said = match &call.action {
        Action::Read(read) => {
            json!({"file_path": whole(&read.path), "offset": read.first, "limit": read.limit})
        }
        Action::Edit(Edit { path, body, .. }) => {
            let mut said = shown_edit(&call.tool, body);
            if let Some(path) = path {
                said["file_path"] = json!(whole(path));
            }
            said
        }
        Action::Find(find) => {
            let path = find.under.as_deref().map(whole);
            match (&find.text, &find.glob) {
                (Some(text), glob) => json!({"pattern": text, "path": path, "glob": glob}),
                (None, glob) => json!({"pattern": glob, "path": path}),
            }
        }
        Action::List { path, .. } => json!({"path": whole(path)}),
        Action::Kill { path } => json!({"path": whole(path)}),
        Action::Open { path } | Action::Fold { path } => json!({"path": path}),
        Action::Send(post) => json!({"to": post.to, "status": post.status, "text": post.text}),
        Action::Move(Carry { from, to, .. }) | Action::Copy(Carry { from, to, .. }) => {
            json!({"from": whole(from), "to": whole(to)})
        }
        Action::Exec(exec) => json!({
            "command": exec.command,
            "runtime": exec.runtime,
            "cwd": exec.cwd.as_deref().map(whole),
            "timeout": exec.timeout_ms,
            "run_in_background": exec.background.then_some(true),
        }),
        Action::Todo { items } => {
            let item = |item: &cairn_types::TodoItem| json!({"content": item.text, "status": shown_state(item.state)});
            json!({"todos": items.iter().map(item).collect::<Vec<_>>()})
        }
        Action::Consult(Consult::Question { text, options }) => {
            json!({"question": text, "options": options})
        }
        Action::Consult(Consult::Plan { text }) => json!({"plan": text}),
        Action::Call(call) => Value::Object(call.arguments.clone()),
    };
    if let Value::Object(said) = &mut said {
        said.retain(|_, value| !value.is_null());
    }
    said
}

fn shown_edit(tool: &str, body: &EditBody) -> Value {
    let one = |Exchange { old, new, all }: &Exchange| json!({"old_string": old, "new_string": new, "replace_all": all});
    match body {
        EditBody::Whole { content } => json!({"content": content}),
        EditBody::Patch(patch) => json!({"patch": patch}),
        EditBody::Replace(edits) => match &edits[..] {
            [edit] if tool != "multi_edit" => one(edit),
            edits => json!({"edits": edits.iter().map(one).collect::<Vec<_>>()}),
        },
    }
}

fn shown_state(state: TodoState) -> &'static str {
    match state {
        TodoState::Pending => "pending",
        TodoState::Active => "in_progress",
        TodoState::Done => "completed",
    }
}

/// The arguments a script wants instead, as our tool takes them; absent when they are the same. What
/// it does not name stays.
pub(super) fn changed_input(
    call: &Call,
    root: &str,
    wanted: &Map<String, Value>,
) -> Option<String> {
    let Value::Object(sent) = shown_input(call, root) else { return None };
    let mut merged = sent.clone();
    merged.extend(wanted.iter().map(|(key, value)| (key.clone(), value.clone())));
    if merged == sent {
        return None;
    }
    match &call.action {
        Action::Find(find) if find.text.is_none() => {
            if let Some(pattern) = merged.remove("pattern") {
                merged.insert("glob".to_owned(), pattern);
            }
        }
        Action::Todo { .. } => {
            let todos = merged.get_mut("todos").and_then(Value::as_array_mut);
            todos.into_iter().flatten().for_each(own_state);
        }
        _ => {}
    }
    Some(Value::Object(merged).to_string())
}

fn own_state(item: &mut Value) {
    let word = match item.get("status").and_then(Value::as_str) {
        Some("in_progress") => "active",
        Some("completed") => "done",
        _ => return,
    };
    item["status"] = json!(word);
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_surface::native;
    use cairn_types::Coord;

    fn call(tool: &str, args: &str) -> Call {
        let tool = native::tool(tool).unwrap().name.to_owned();
        let action = native::parse(&tool, args).action.unwrap();
        Call { at: Coord { lap: 1, turn: 1, seq: 1 }, tool, action }
    }

    #[test]
    fn every_tool_has_a_name_here() {
        let known: Vec<&str> = native::tools().iter().map(|tool| tool.name).collect();
        assert_eq!(TOOLS.to_vec(), known);
        assert!(TOOLS.iter().all(|tool| names_of(tool).len() >= 2));
    }

    #[test]
    fn scripts_see_the_names_and_shapes_they_know_and_what_they_give_back_reads_as_the_same() {
        for (tool, args, name, shown) in [
            ("bash", r#"{"command":"ls"}"#, "Bash", r#"{"command":"ls"}"#),
            (
                "bash",
                r#"{"command":"ls","cwd":"a","timeout_ms":5,"background":true}"#,
                "Bash",
                r#"{"command":"ls","cwd":"/p/a","timeout":5,"run_in_background":true}"#,
            ),
            ("read", r#"{"path":"a"}"#, "Read", r#"{"file_path":"/p/a","offset":1,"limit":2000}"#),
            (
                "write",
                r#"{"path":"a","content":"x"}"#,
                "Write",
                r#"{"content":"x","file_path":"/p/a"}"#,
            ),
            (
                "edit",
                r#"{"path":"a","old":"x","new":"y"}"#,
                "Edit",
                r#"{"old_string":"x","new_string":"y","replace_all":false,"file_path":"/p/a"}"#,
            ),
            (
                "multi_edit",
                r#"{"path":"a","edits":[{"old":"x","new":"y"}]}"#,
                "MultiEdit",
                r#"{"edits":[{"old_string":"x","new_string":"y","replace_all":false}],"file_path":"/p/a"}"#,
            ),
            ("edit", r#"{"patch":"s/a/b/"}"#, "Edit", r#"{"patch":"s/a/b/"}"#),
            ("find", r#"{"text":"x","glob":"*.rs"}"#, "Grep", r#"{"pattern":"x","glob":"*.rs"}"#),
            (
                "find",
                r#"{"glob":"*.rs","under":"s"}"#,
                "Glob",
                r#"{"pattern":"*.rs","path":"/p/s"}"#,
            ),
            ("list", r#"{"path":"a"}"#, "LS", r#"{"path":"/p/a"}"#),
            ("remove", r#"{"path":"a"}"#, "Remove", r#"{"path":"/p/a"}"#),
            ("move", r#"{"from":"a","to":"b"}"#, "Move", r#"{"from":"/p/a","to":"/p/b"}"#),
            (
                "todo",
                r#"{"items":[{"text":"a","state":"active"}]}"#,
                "TodoWrite",
                r#"{"todos":[{"content":"a","status":"in_progress"}]}"#,
            ),
        ] {
            let call = call(tool, args);
            assert_eq!(shown_name(&call), name);
            let said = shown_input(&call, "/p");
            assert_eq!(said, serde_json::from_str::<Value>(shown).unwrap());
            // Nothing that was not changed counts as a change.
            assert_eq!(changed_input(&call, "/p", said.as_object().unwrap()), None);
            // One more key makes it one; without that key it is the same op.
            let more = Map::from_iter([("extra".to_owned(), json!(1))]);
            let back = changed_input(&call, "/p", &more).unwrap();
            let mut back: Map<String, Value> = serde_json::from_str(&back).unwrap();
            back.remove("extra");
            let again = native::parse(&call.tool, &Value::Object(back).to_string()).action.unwrap();
            assert_eq!(
                shown_input(&Call { action: again, ..call.clone() }, "/p"),
                said,
                "{tool} {args}"
            );
        }
    }
}
