//! An op as a person writes it, for the gates to look at: `exec cargo test`, `move a b`, or a tool's
//! call.

use crate::run::Usage;
use cairn_engine::effect_of;
use cairn_engine::policy::subject_of;
use cairn_surface::native;
use cairn_types::{
    Action, Carry, Edit, EditBody, Effect, Exec, Find, OpName, Read, Subject, scheme_of,
};
use serde_json::json;

/// All ops.
const OPS: [OpName; 13] = [
    OpName::Find,
    OpName::Read,
    OpName::Edit,
    OpName::Copy,
    OpName::Move,
    OpName::Kill,
    OpName::Open,
    OpName::Fold,
    OpName::Send,
    OpName::Exec,
    OpName::Todo,
    OpName::Consult,
    OpName::Undo,
];

/// An op that nobody has asked for.
pub struct Spoken {
    /// The op.
    pub op: OpName,
    /// The tool that would do it.
    pub tool: String,
    /// What it may change.
    pub effect: Effect,
    /// What it touches.
    pub subject: Subject,
    /// What it does; none of an op that no tool asks for.
    pub action: Option<Action>,
}

/// A call of a tool, as a model would write it.
pub fn call(tool: &str, args: &str) -> Result<Spoken, Usage> {
    let parsed = native::parse(tool, args);
    match parsed.action {
        Ok(action) => Ok(Spoken {
            op: action.op(),
            tool: native::name_of(tool).unwrap_or(tool).to_owned(),
            effect: effect_of(&action, parsed.effect, &[]),
            subject: subject_of(&action),
            action: Some(action),
        }),
        Err(misread) => Err(Usage(misread.message)),
    }
}

/// A command line: one word is a line as it is; of several each is one word of the line, as a shell
/// would have given them to a program.
fn command(words: &[&str]) -> String {
    let is_plain = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"_@%+=:,./-".contains(&b))
    };
    let quoted = |word: &&str| match is_plain(word) {
        true => (*word).to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    };
    match words {
        [line] => (*line).to_owned(),
        words => words.iter().map(quoted).collect::<Vec<_>>().join(" "),
    }
}

/// An op and what it works on. Only a command may hold blanks.
pub fn op(words: &[&str]) -> Result<Spoken, Usage> {
    let usage = |what: &str| {
        Usage(format!("{what}; write it like: exec cargo test, read PATH, edit PATH, move FROM TO"))
    };
    let Some((name, rest)) = words.split_first() else { return Err(usage("there is no op")) };
    let one = || match rest {
        [path] => Ok((*path).to_owned()),
        _ => Err(usage(&format!("{name} takes one path"))),
    };
    let two = || match rest {
        [from, to] => Ok(((*from).to_owned(), (*to).to_owned())),
        _ => Err(usage(&format!("{name} takes two paths"))),
    };
    let (tool, effect, action) = match *name {
        "exec" if rest.is_empty() => return Err(usage("exec takes a command")),
        "exec" => {
            let action = Action::Exec(Exec { command: command(rest), ..Exec::default() });
            ("bash", Effect::Host, action)
        }
        "find" => {
            let under = if rest.is_empty() { None } else { Some(one()?) };
            ("find", Effect::Read, Action::Find(Find { under, ..Find::default() }))
        }
        "read" => {
            let read = Read { path: one()?, first: 1, limit: 1, ..Read::default() };
            ("read", Effect::Read, Action::Read(read))
        }
        "edit" => {
            let body = EditBody::Whole { content: String::new() };
            ("write", Effect::World, Action::Edit(Edit::of(Some(one()?), body)))
        }
        "copy" => {
            let (from, to) = two()?;
            ("copy", Effect::World, Action::Copy(Carry::of(from, to)))
        }
        "move" => {
            let (from, to) = two()?;
            ("move", Effect::World, Action::Move(Carry::of(from, to)))
        }
        "kill" => ("remove", Effect::World, Action::Kill { path: one()? }),
        "undo" => return Ok(undo()),
        other => return tool_of_words(other, rest).unwrap_or_else(|| Err(no_op(other))),
    };
    let (op, tool) = (action.op(), tool.to_owned());
    let effect = effect_of(&action, effect, &[]);
    Ok(Spoken { op, tool, effect, subject: subject_of(&action), action: Some(action) })
}

/// Taking something back, which no tool asks for.
fn undo() -> Spoken {
    let (subject, tool) = (Subject::default(), "undo".to_owned());
    Spoken { op: OpName::Undo, tool, effect: Effect::World, subject, action: None }
}

/// A tool, or an op that is asked for by one tool alone, with what it works on in words.
fn tool_of_words(name: &str, rest: &[&str]) -> Option<Result<Spoken, Usage>> {
    let all = rest.join(" ");
    let path = rest.first().copied();
    let (tool, args) = match name {
        "send" => ("send", send(rest)),
        "open" | "fold" | "list" => (name, json!({"path": path})),
        "todo" => ("todo", json!({"items": []})),
        "write" => ("write", json!({"path": path, "content": ""})),
        "multi_edit" => ("multi_edit", json!({"path": path, "edits": [{"old": "a", "new": "b"}]})),
        "remove" => ("remove", json!({"path": path})),
        "bash" | "env" => (name, json!({"command": command(rest)})),
        "ask_user" | "consult" => ("ask_user", json!({"question": all})),
        "present_plan" => ("present_plan", json!({"plan": all})),
        "web_search" => ("web_search", json!({"query": all})),
        "use_skill" => ("use_skill", json!({"name": all})),
        _ => return None,
    };
    Some(call(tool, &args.to_string()))
}

/// What is said: to an address where the first word is one, else to whoever listens.
fn send(words: &[&str]) -> serde_json::Value {
    match words.split_first() {
        Some((to, text)) if scheme_of(to).is_some() => {
            let text = if text.is_empty() { "text".to_owned() } else { text.join(" ") };
            json!({"to": to, "text": text})
        }
        _ => json!({"text": words.join(" ")}),
    }
}

fn no_op(name: &str) -> Usage {
    let all = OPS.map(|op| op.to_string()).join(", ");
    Usage(match native::name_of(name) {
        Some(tool) => format!("{name:?} is the tool {tool}; write it like: --tool {tool} JSON"),
        None => format!("{name:?} is no op; the ops are {all}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_a_command_keeps_its_bounds() {
        let check = |words: &[&str], expected: &str| assert_eq!(command(words), expected);
        check(&["cargo", "test", "--all"], "cargo test --all");
        check(&["git commit -m 'a b' && ls"], "git commit -m 'a b' && ls");
        check(&["git", "commit", "-m", "a b"], "git commit -m 'a b'");
        check(&["echo", "a;rm", "it's", ""], r"echo 'a;rm' 'it'\''s' ''");
    }

    #[test]
    fn no_word_is_left_out() {
        let check = |words: &[&str], expected: &str| {
            let said = op(words).err().map_or_else(String::new, |usage| usage.0);
            assert_eq!(said.split(';').next(), Some(expected), "{words:?}");
        };
        check(&["exec"], "exec takes a command");
        check(&["find", "a", "b"], "find takes one path");
        check(&["find", "a"], "");
        check(&["find"], "");
        check(&["dance"], "\"dance\" is no op");
    }

    // keeps: policy-explained
    #[test]
    fn every_op_and_every_tool_is_known() {
        for op in OPS {
            let name = op.to_string();
            let words = match op {
                OpName::Copy | OpName::Move => vec![name.as_str(), "a", "b"],
                _ => vec![name.as_str(), "a"],
            };
            let spoken = super::op(&words).unwrap_or_else(|why| panic!("{words:?}: {why}"));
            assert_eq!(spoken.op, op, "{words:?}");
        }
        for tool in native::tools() {
            let words = match tool.name {
                "copy" | "move" => vec![tool.name, "a", "b"],
                name => vec![name, "a"],
            };
            let spoken = super::op(&words).unwrap_or_else(|why| panic!("{words:?}: {why}"));
            assert!(spoken.tool == tool.name || tool.name == "edit", "{words:?}: {}", spoken.tool);
        }
        let send = super::op(&["send", "exec:///1/1/1", "yes"]).unwrap();
        assert_eq!((send.op, send.effect), (OpName::Send, Effect::Host));
    }
}
