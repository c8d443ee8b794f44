//! An op as a person writes it, for the gates to look at: `exec cargo test`, `move a b`, or a tool's
//! call.

use crate::run::Usage;
use cairn_engine::policy::subject_of;
use cairn_surface::native;
use cairn_types::{Action, EditBody, Effect, Find, OpName, Read, Subject};

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
}

/// A call of a tool, as a model would write it.
pub fn call(tool: &str, args: &str) -> Result<Spoken, Usage> {
    let parsed = native::parse(tool, args);
    match parsed.action {
        Ok(action) => Ok(Spoken {
            op: action.op(),
            tool: native::name_of(tool).unwrap_or(tool).to_owned(),
            effect: parsed.effect,
            subject: subject_of(&action),
        }),
        Err(misread) => Err(Usage(misread.message)),
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
            let action = Action::Exec {
                command: rest.join(" "),
                cwd: None,
                timeout_ms: None,
                background: false,
            };
            ("bash", Effect::Host, action)
        }
        "find" => {
            let under = rest.first().map(|path| (*path).to_owned());
            ("find", Effect::Read, Action::Find(Find { under, ..Find::default() }))
        }
        "read" => {
            let read = Read { path: one()?, first: 1, limit: 1, hashes: false };
            ("read", Effect::Read, Action::Read(read))
        }
        "edit" => {
            let body = EditBody::Whole { content: String::new() };
            ("write", Effect::World, Action::Edit { path: Some(one()?), body })
        }
        "copy" => {
            let (from, to) = two()?;
            ("copy", Effect::World, Action::Copy { from, to })
        }
        "move" => {
            let (from, to) = two()?;
            ("move", Effect::World, Action::Move { from, to })
        }
        "kill" => ("remove", Effect::World, Action::Kill { path: one()? }),
        other => return Err(usage(&format!("{other:?} is no op"))),
    };
    let (op, tool) = (action.op(), tool.to_owned());
    Ok(Spoken { op, tool, effect, subject: subject_of(&action) })
}
