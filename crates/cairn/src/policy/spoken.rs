//! An op as a person writes it, for the gates to look at: `exec cargo test`, `move a b`, or a tool's
//! call.

use crate::run::Usage;
use cairn_engine::effect_of;
use cairn_engine::policy::subject_of;
use cairn_surface::native;
use cairn_types::{Action, Carry, Edit, EditBody, Effect, Exec, Find, OpName, Read, Subject};

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
            effect: effect_of(&action, parsed.effect, &[]),
            subject: subject_of(&action),
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
        other => return Err(usage(&format!("{other:?} is no op"))),
    };
    let (op, tool) = (action.op(), tool.to_owned());
    let effect = effect_of(&action, effect, &[]);
    Ok(Spoken { op, tool, effect, subject: subject_of(&action) })
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
    }
}
