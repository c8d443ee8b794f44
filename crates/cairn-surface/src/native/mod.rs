//! The native surface: the provider's tool calls, each a name for one op.

mod args;
mod coerce;
mod declare;
pub mod message;
mod skins;
mod tools;

pub use args::Given;
pub(crate) use args::{fit_exactly, fit_texts, is_as_written, whole};
pub(crate) use coerce::coerced;
pub use declare::{Kind, Param, Way};
pub(crate) use declare::{about, in_passing, schema, told};
pub use skins::{by_tag, by_word, is_tag, is_word, nearest_word, skins};
pub use tools::{ASK_USER, ON_REQUEST, PRESENT_PLAN, SEND, Tool, given, schemas, tools};

use crate::{Misread, Parsed};
use args::Args;
use cairn_text::near::distance;
use cairn_types::{Action, Effect, Status};
use serde_json::{Map, Value};

/// How many names are offered for one that is not known.
const OFFERED: usize = 3;

/// Reads one tool call.
#[must_use]
pub fn parse(name: &str, arguments: &str) -> Parsed {
    let mut repairs = Vec::new();
    let Some(tool) = tool_named(name, &mut repairs) else {
        return senseless(unknown_tool(name));
    };
    match Args::of_text(tool.params, arguments, &mut repairs) {
        Ok(args) => Parsed { repairs, ..meant(tool, args) },
        Err(why) => senseless(misread(tool, &why)),
    }
}

/// Arguments written as JSON, as the tool takes them. Repairs are added to `repairs`.
pub(crate) fn fit_json(
    tool: &'static Tool,
    json: &str,
    repairs: &mut Vec<String>,
) -> Result<Map<String, Value>, String> {
    Args::of_text(tool.params, json, repairs).map(Args::into_fields)
}

/// What a call means whose arguments are as the tool takes them.
#[must_use]
pub fn parse_call(tool: &'static Tool, args: Map<String, Value>) -> Parsed {
    meant(tool, Args::fitting(args))
}

fn meant(tool: &'static Tool, mut args: Args) -> Parsed {
    match (tool.build)(&mut args) {
        Err(why) => senseless(misread(tool, &why)),
        Ok(action) => Parsed {
            effect: match action {
                // However it is asked for.
                Action::Kill { .. } => tool.effect.max(Effect::World),
                _ => tool.effect,
            },
            action: Ok(action.bare()),
            repeatable: tool.repeatable,
            repairs: Vec::new(),
        },
    }
}

fn misread(tool: &Tool, why: &str) -> Misread {
    let is_missing = tools().iter().all(|known| known.name != tool.name);
    let status = if is_missing { Status::NOT_IMPLEMENTED } else { Status::BAD_REQUEST };
    Misread { status, message: format!("{}: {why}", tool.name) }
}

/// The call that asks for an action: a tool and its arguments.
#[must_use]
pub fn call_of(action: &Action) -> Option<(&'static Tool, Map<String, Value>)> {
    tools().iter().find_map(|tool| (tool.unbuild)(action).map(|args| (tool, args)))
}

/// The call of one of these tools that asks for an action.
#[must_use]
pub fn call_among(
    tools: &[&'static Tool],
    action: &Action,
) -> Option<(&'static Tool, Map<String, Value>)> {
    tools.iter().find_map(|tool| (tool.unbuild)(action).map(|args| (*tool, args)))
}

/// The own name of the tool that a model means by this one.
#[must_use]
pub fn name_of(name: &str) -> Option<&'static str> {
    tool_named(name, &mut Vec::new()).map(|tool| tool.name)
}

/// The tool of this name, or of a name it is also known by.
#[must_use]
pub fn tool(name: &str) -> Option<&'static Tool> {
    tool_named(name, &mut Vec::new())
}

/// The same; says when it was another name.
pub(crate) fn tool_named(name: &str, repairs: &mut Vec<String>) -> Option<&'static Tool> {
    if let Some(tool) = tools().iter().find(|t| t.name == name) {
        return Some(tool);
    }
    let plain = plain(name);
    let tool = tools().iter().find(|t| t.name == plain || t.aliases.contains(&plain.as_str()))?;
    let shown: String = name.chars().take(80).collect();
    repairs.push(format!("{shown} read as {}", tool.name));
    Some(tool)
}

/// What some trainings put before the names of all tools. Anything else before a name is part of it: what another
/// server calls by our name is not ours.
const FRAMING: [&str; 3] = ["functions.", "tools.", "default_api."];

/// A name without that.
pub(crate) fn unframed(name: &str) -> &str {
    let name = name.trim();
    FRAMING.iter().find_map(|framing| name.strip_prefix(framing)).unwrap_or(name)
}

/// A name without the ways of writing it: `ReadFile`, `read-file` and `functions.read_file` are one.
fn plain(name: &str) -> String {
    let name = unframed(name);
    let mut out = String::with_capacity(name.len() + 2);
    let mut was_lower = false;
    for c in name.chars().take(80) {
        if c.is_ascii_uppercase() && was_lower {
            out.push('_');
        }
        was_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
        out.push(if c == '-' || c == ' ' { '_' } else { c.to_ascii_lowercase() });
    }
    out
}

fn senseless(misread: Misread) -> Parsed {
    Parsed { action: Err(misread), effect: Effect::Pure, repeatable: true, repairs: Vec::new() }
}

fn unknown_tool(name: &str) -> Misread {
    let shown: String = name.chars().take(80).collect();
    let known: Vec<&str> = tools().iter().map(|t| t.name).collect();
    let near = match nearest(name, tools().iter().map(|tool| (tool.name, tool.aliases)))[..] {
        [] => String::new(),
        ref names => format!("; the nearest are {}", names.join(", ")),
    };
    Misread {
        status: Status::NOT_IMPLEMENTED,
        message: format!("there is no tool {shown:?}{near}; the tools are {}", known.join(", ")),
    }
}

/// Of these names those that are most like one, or that go by another name which is.
pub(crate) fn nearest<'a>(
    name: &str,
    known: impl Iterator<Item = (&'a str, &'a [&'a str])>,
) -> Vec<&'a str> {
    let last = |name: &str| plain(name.rsplit(['.', ':', '/']).next().unwrap_or(name));
    let name = last(name);
    let mut scored: Vec<(usize, &'a str)> = known
        .filter_map(|(own, others)| {
            let names = [own].into_iter().chain(others.iter().copied());
            let score = names.map(|known| distance(&name, &last(known))).min()?;
            (score <= name.len().max(3) / 3).then_some((score, own))
        })
        .collect();
    scored.sort_unstable();
    scored.into_iter().take(OFFERED).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, arguments: &str, expect: &str) {
        let parsed = parse(name, arguments);
        let repairs = match &parsed.repairs[..] {
            [] => String::new(),
            repairs => format!("  (repaired: {})", repairs.join("; ")),
        };
        let said = match parsed.action {
            Ok(action) => format!("{} {}{repairs}", action.op(), action.target()),
            Err(misread) => format!("{} {}", misread.status, misread.message),
        };
        assert_eq!(said, expect, "{name} {arguments}");
    }

    #[test]
    fn a_call_becomes_an_op_or_a_sentence_that_says_why_not() {
        check("read", r#"{"path":"a.txt"}"#, "read a.txt");
        check(
            "read",
            r#"{"file_path":"a.txt","first":"3"}"#,
            "read a.txt  (repaired: file_path read as path; first: text \"3\" read as a number)",
        );
        check("write", r#"{"path":"a","content":""}"#, "edit a");
        check(
            "edit",
            r#"{"path":"a","old_string":"x","new_string":"y","replace_all":"true"}"#,
            "edit a  (repaired: old_string read as old; new_string read as new; replace_all read as all; all: \"true\" read as true)",
        );
        check("find", r#"{"glob":"*.rs","text":"fn"}"#, "find *.rs fn");
        check("bash", r#"{"command":"ls"}"#, "exec ls");
        check("bash", "", "400 bash: command is missing");
        check(
            "bash",
            r#"{"command":"ls"#,
            "400 bash: the arguments are not JSON: EOF while parsing a string at line 1 column 14",
        );
        check("bash", r#"["ls"]"#, "400 bash: the arguments are not a JSON object");
        check("bash", r#"{"command":["ls"]}"#, "400 bash: command must be a string");
        check(
            "bash",
            r#"{"command":"ls","sudo":true}"#,
            "400 bash: there is no argument \"sudo\"; the arguments are command, runtime, cwd, timeout_ms, background, wake",
        );
        check(
            "read",
            r#"{"path":"a","limit":-1}"#,
            "400 read: limit must be a whole number from 0",
        );
        let tools = "the tools are read, write, edit, multi_edit, find, list, remove, move, copy, open, fold, send, bash, env, todo, ask_user, present_plan";
        check("paint", "{}", &format!("501 there is no tool \"paint\"; {tools}"));
        check(
            "brash",
            "{}",
            &format!("501 there is no tool \"brash\"; the nearest are bash; {tools}"),
        );
        check(
            "finds",
            "{}",
            &format!("501 there is no tool \"finds\"; the nearest are find; {tools}"),
        );
    }

    #[test]
    fn names_from_the_closed_table_are_read_and_reported() {
        check(
            "Bash",
            r#"{"cmd":"ls"}"#,
            "exec ls  (repaired: Bash read as bash; cmd read as command)",
        );
        check(
            "functions.read_file",
            r#"{"path":"a"}"#,
            "read a  (repaired: functions.read_file read as read)",
        );
        check(
            "MultiEdit",
            r#"{"path":"a","edits":"[{\"old\":\"x\",\"new\":\"y\"}]"}"#,
            "edit a  (repaired: MultiEdit read as multi_edit; edits: text read as JSON)",
        );
        check(
            "TodoWrite",
            r#"{"todos":[{"content":"a","status":"in_progress"},{"content":"b","status":"done"}]}"#,
            "todo 1 of 2 done  (repaired: TodoWrite read as todo; todos read as items; items[1].content read as text; items[1].status read as state; items[1].state: \"in_progress\" read as active; items[2].content read as text; items[2].status read as state)",
        );
    }

    #[test]
    fn a_name_of_another_server_is_not_ours() {
        for name in ["x.rm", "files/remove", "mcp:bash", "my.functions.bash"] {
            assert!(tool(name).is_none(), "{name}");
        }
        for name in ["functions.bash", "tools.bash", "default_api.bash"] {
            assert_eq!(tool(name).map(|tool| tool.name), Some("bash"));
        }
    }

    #[test]
    fn a_number_for_a_text_is_taken_as_it_was_written() {
        check("read", r#"{"path":1.50}"#, "read 1.50  (repaired: path: 1.50 read as text)");
        check("remove", r#"{"path":-0}"#, "kill -0  (repaired: path: -0 read as text)");
        check(
            "read",
            r#""{\"path\":12345678901234567890123}""#,
            "read 12345678901234567890123  (repaired: the arguments: text read as JSON; \
             path: 12345678901234567890123 read as text)",
        );
        check("read", r#"{"path":"a","first":3.0}"#, "read a");
        check("read", r#"{"path":[1.5]}"#, "400 read: path must be a string");
        check(
            "multi_edit",
            r#"{"path":"a","edits":[{"old":1.50,"new":"x"}]}"#,
            "400 multi_edit: edits[1].old must be a string",
        );
    }

    #[test]
    fn values_are_coerced_only_where_nothing_is_lost() {
        check(
            "bash",
            r#"{"command":"ls","command":"rm x"}"#,
            "400 bash: the arguments are not JSON: the key \"command\" is there twice at line 1 column 33",
        );
        check(
            "bash",
            r#""{\"command\":\"ls\"}""#,
            "exec ls  (repaired: the arguments: text read as JSON)",
        );
        check("read", r#"{"path":7}"#, "read 7  (repaired: path: 7 read as text)");
        check(
            "read",
            r#"{"path":"a","hashes":"yes","first":"2"}"#,
            "read a  (repaired: hashes: \"yes\" read as true; first: text \"2\" read as a number)",
        );
        check(
            "multi_edit",
            r#"{"path":"a","edits":{"old":"x","new":"y","all":1}}"#,
            "edit a  (repaired: edits: one object read as a list of one; edits[1].all: 1 read as true)",
        );
        check(
            "multi_edit",
            r#"{"path":"a","edits":[{"old":"x"}]}"#,
            "400 multi_edit: edits[1].new is missing",
        );
        check(
            "multi_edit",
            r#"{"path":"a","edits":[{"old":"x","new":"y","nwe":"z"}]}"#,
            "400 multi_edit: there is no argument \"edits[1].nwe\"; the arguments are old, new, all",
        );
        check("multi_edit", r#"{"path":"a","edits":[]}"#, "400 multi_edit: edits is empty");
        check("edit", r#"{"patch":"s/a/b/"}"#, "edit patch");
        check(
            "edit",
            r#"{"path":"a","old":"x","new":"y","patch":"z"}"#,
            "400 edit: old and new, or patch, but not both",
        );
        check("edit", r#"{"path":"a","old":"x"}"#, "400 edit: new is missing");
        check(
            "todo",
            r#"{"items":[{"text":"a","state":"maybe"}]}"#,
            "400 todo: items[1].state must be one of pending, active, done",
        );
        check(
            "AskUserQuestion",
            r#"{"question":"which?","options":[{"label":"a"},"b",7]}"#,
            "consult which?  (repaired: AskUserQuestion read as ask_user; options[1]: its label read as text; options[3]: 7 read as text)",
        );
        check("ask_user", r#"{"question":" "}"#, "400 ask_user: question is empty");
        check(
            "ask_user",
            r#"{"question":"a","options":"b"}"#,
            "400 ask_user: options must be a list of strings",
        );
        check("present_plan", r##"{"plan":"\n# do\nthis"}"##, "consult # do");
        check("send", r#"{"to":"known:///a","status":410}"#, "kill known:///a");
        check("send", r#"{"text":"on it"}"#, "send everyone");
        check("send", "{}", "400 send: text is missing");
        check("send", r#"{"status":9}"#, "400 send: status must be a number from 100 to 599");
        check(
            "write_stdin",
            r#"{"to":"exec:///1/2/3","chars":"y\n"}"#,
            "send exec:///1/2/3  (repaired: write_stdin read as send; chars read as text)",
        );
        check("fold", r#"{"path":"log:///1/2"}"#, "fold log:///1/2");
        check("find", "{}", "400 find: neither glob nor text nor tags are given");
        check("read", r#"{"path":["a"]}"#, "400 read: path must be a string");
    }

    #[test]
    fn every_schema_is_an_object_whose_properties_are_all_described() {
        let more = ON_REQUEST.map(str::to_owned);
        let given = given(true, &more, &[]);
        let schemas: serde_json::Value = serde_json::from_str(&schemas(&given)).unwrap();
        let list = schemas.as_array().unwrap();
        assert_eq!(list.len(), 17);
        for tool in list {
            let properties = tool["parameters"]["properties"].as_object().unwrap();
            assert!(!properties.is_empty());
            assert!(properties.values().all(|p| p["description"].as_str().is_some()));
            assert_eq!(tool["parameters"]["additionalProperties"], false);
        }
    }
}
