//! What was found so far in a reply, by byte; becomes the reading when all of it was walked over.

use crate::{Places, Position, Reading, Repair, Trouble, Written};
use cairn_types::{Action, Status};

/// No more repairs, and no more problems, than this are told of one reply; of the rest only how many there are.
const MOST_TOLD: usize = 64;
/// Of the ops beyond the cap no more than this are named.
const MOST_NAMED: usize = 12;
/// To whoever listens these are last words.
const LAST_WORDS: [Status; 4] =
    [Status::OK, Status::NOTHING_FOUND, Status::UNPROCESSABLE, Status::CANCELLED];

/// Something said about a byte.
pub(super) struct Note {
    pub(super) at: usize,
    pub(super) kind: &'static str,
    pub(super) note: String,
}

#[derive(Default)]
pub(super) struct Found {
    pub(super) ops: Vec<(usize, Written)>,
    pub(super) repairs: Vec<Note>,
    pub(super) problems: Vec<Note>,
    pub(super) text: String,
    pub(super) reasoning: String,
}

impl Found {
    pub(super) fn repair(&mut self, at: usize, kind: &'static str, note: impl Into<String>) {
        self.repairs.push(Note { at, kind, note: note.into() });
    }

    pub(super) fn problem(&mut self, at: usize, kind: &'static str, note: impl Into<String>) {
        self.problems.push(Note { at, kind, note: note.into() });
    }

    pub(super) fn thought(&mut self, thought: &str) {
        if !self.reasoning.is_empty() && !thought.trim().is_empty() {
            self.reasoning.push('\n');
        }
        self.reasoning.push_str(thought.trim());
    }

    /// Takes back the ops that begin from this byte on; how many there were.
    pub(super) fn withdraw(&mut self, from: usize) -> usize {
        let before = self.ops.len();
        self.ops.retain(|(at, _)| *at < from);
        before - self.ops.len()
    }

    /// All that was said so far was thought: this.
    pub(super) fn all_was_thought(&mut self, thought: &str) {
        *self = Found::default();
        self.thought(thought);
    }

    pub(super) fn done(mut self, text: &str, cap: usize) -> Reading {
        self.ops.sort_by_key(|(at, _)| *at);
        self.keep_within(cap);
        let places = Places::new(text);
        let mut walk = Walk { text, at: 0, position: Position { line: 1, column: 1 } };
        let ops = self.ops.into_iter().map(|(at, op)| Written { at: walk.to(&places, at), ..op });
        let ops: Vec<Written> = ops.collect();
        let terminal = ops.iter().rev().find_map(broadcast);
        let is_last = |status: &u16| LAST_WORDS.iter().any(|word| word.0 == *status);
        let told = |notes: &mut Vec<Note>, kind: &'static str| {
            notes.sort_by_key(|note| note.at);
            if let Some(first) = notes.get(MOST_TOLD) {
                let (at, more) = (first.at, notes.len() - MOST_TOLD);
                notes.truncate(MOST_TOLD);
                notes.push(Note { at, kind, note: format!("{more} more") });
            }
        };
        told(&mut self.repairs, "more_repairs");
        told(&mut self.problems, "more_problems");
        let repair = |Note { at, kind, note }| Repair { kind, at: places.at(at), note };
        let trouble = |Note { at, kind, note }| {
            let snippet = places.snippet(at);
            Trouble { kind, at: places.at(at), note, snippet }
        };
        Reading {
            ops,
            repairs: self.repairs.into_iter().map(repair).collect(),
            problems: self.problems.into_iter().map(trouble).collect(),
            text: self.text.trim().to_owned(),
            reasoning: self.reasoning,
            terminal: terminal.filter(is_last),
        }
    }

    fn keep_within(&mut self, cap: usize) {
        let Some((at, _)) = self.ops.get(cap) else { return };
        let at = *at;
        let rest = self.ops.split_off(cap);
        let name = |(_, op): &(usize, Written)| match &op.parsed.action {
            Ok(action) => {
                let target: String = action.target().chars().take(60).collect();
                format!("{} {target}", op.tool).trim_end().to_owned()
            }
            Err(_) => op.tool.to_owned(),
        };
        let mut names: Vec<String> = rest.iter().take(MOST_NAMED).map(name).collect();
        if rest.len() > MOST_NAMED {
            names.push(format!("and {} more", rest.len() - MOST_NAMED));
        }
        let note = format!("only {cap} ops are taken; not these: {}", names.join(", "));
        self.problem(at, "ops_over_cap", note);
    }
}

/// The status of something said to whoever listens.
fn broadcast(op: &Written) -> Option<u16> {
    match &op.parsed.action {
        Ok(Action::Send(post)) if post.to.is_none() => Some(post.status),
        _ => None,
    }
}

/// Goes over a text once, so that many places on one long line take no more time than one.
struct Walk<'a> {
    text: &'a str,
    at: usize,
    position: Position,
}

impl Walk<'_> {
    fn to(&mut self, places: &Places<'_>, at: usize) -> Position {
        let Some(between) = self.text.get(self.at..at) else { return places.at(at) };
        let Position { line, column } = &mut self.position;
        match between.rsplit_once('\n') {
            Some((lines, last)) => {
                *line += lines.matches('\n').count() + 1;
                *column = last.chars().count() + 1;
            }
            None => *column += between.chars().count(),
        }
        self.at = at;
        self.position
    }
}
