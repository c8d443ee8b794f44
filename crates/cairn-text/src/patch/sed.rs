//! Scripts of sed commands: `s`, `d`, `i`, `a` and `c`, each for all lines, for one (`3`, `$`,
//! `/re/`) or for a range of them. Lines are counted as the file has them before the script.
//!
//! Patterns are those of the `regex` crate: linear, with `(…)`, `+`, `?` and `|` unescaped. Where a
//! replacement refers to groups and the pattern has none but `\(`…`\)`, the pattern is read as a
//! basic one: `\(`, `\)`, `\|`, `\+`, `\?`, `\{` and `\}` have their meaning there. Unlike sed, a
//! command that matches nothing is a refusal.

mod parse;
mod run;

use crate::scope::Scope;
pub(super) use parse::{looks_like_one, parse};
use regex::Regex;
pub(super) use run::run;

/// A script.
#[derive(Debug, Clone)]
pub(super) struct Script {
    commands: Vec<Command>,
}

impl Script {
    /// Whether it is nothing but `s/a/b/` commands for all lines.
    pub(super) fn only_substitutes(&self) -> bool {
        self.commands.iter().all(|command| {
            let Command { from, negated, verb, .. } = command;
            from.is_none() && !negated && matches!(verb, Verb::Substitute(_))
        })
    }

    /// Whether a command is limited to lines by their numbers.
    pub(super) fn names_lines(&self) -> bool {
        let is_line = |address: &Option<Address>| matches!(address, Some(Address::Line(_)));
        self.commands.iter().any(|command| is_line(&command.from) || is_line(&command.to))
    }

    /// Gives the lines that commands are limited to their numbers as they are now.
    pub(super) fn move_lines<E>(
        &mut self,
        mut now: impl FnMut(&Scope) -> Result<Scope, E>,
    ) -> Result<(), E> {
        for command in &mut self.commands {
            match (&mut command.from, &mut command.to) {
                // A range that ends before it begins is the line where it begins.
                (Some(Address::Line(from)), Some(Address::Line(to))) => {
                    *to = (*to).max(*from);
                    let lines = Scope::lines(*from, *to);
                    if let Some((first, last)) = now(&lines)?.line_numbers() {
                        (*from, *to) = (first, last);
                    }
                }
                (from, to) => {
                    for address in [from, to] {
                        if let Some(Address::Line(number)) = address
                            && let Some((first, _)) =
                                now(&Scope::lines(*number, *number))?.line_numbers()
                        {
                            *number = first;
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// One command.
#[derive(Debug, Clone)]
struct Command {
    from: Option<Address>,
    to: Option<Address>,
    /// Applies to the lines that are not addressed.
    negated: bool,
    verb: Verb,
    /// As it was written, cut to be quoted.
    shown: String,
}

#[derive(Debug, Clone)]
enum Address {
    Line(usize),
    Last,
    Pattern(Regex),
}

#[derive(Debug, Clone)]
enum Verb {
    Substitute(Substitute),
    Delete,
    Insert(String),
    Append(String),
    Change(String),
}

#[derive(Debug, Clone)]
struct Substitute {
    pattern: Regex,
    replacement: Vec<Bit>,
    /// The first match of a line that is replaced, from 1.
    nth: usize,
    /// Those after it too.
    all: bool,
}

/// A bit of a replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Bit {
    Text(String),
    /// What a group matched; 0 is everything.
    Group(usize),
}
