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

/// Notes, of which the first are kept and the rest counted.
#[derive(Default)]
struct Notes {
    kept: Vec<Note>,
    more: usize,
}

impl Notes {
    fn add(&mut self, note: Note) {
        match self.kept.len() < MOST_TOLD {
            true => self.kept.push(note),
            false => self.more += 1,
        }
    }

    /// All that is told, in the order of the text.
    fn told(mut self, kind: &'static str) -> Vec<Note> {
        self.kept.sort_by_key(|note| note.at);
        let at = self.kept.last().map_or(0, |last| last.at);
        if self.more > 0 {
            self.kept.push(Note { at, kind, note: format!("{} more", self.more) });
        }
        self.kept
    }
}

/// Everything found. A reply may ask for any number of ops; no more are kept than are taken or named.
pub(super) struct Found {
    cap: usize,
    ops: Vec<(usize, Written)>,
    /// Where further ops are.
    over: Vec<usize>,
    repairs: Notes,
    problems: Notes,
    pub(super) text: String,
    pub(super) reasoning: String,
    /// How much of the reasoning is all that was said before.
    settled: usize,
    /// A statement began whose end is not known: whatever follows may stand in it.
    is_tainted: bool,
    /// Something was taken back: what changes something since may stand where that does.
    is_wary: bool,
    /// A statement was not understood.
    has_misread: bool,
}

impl Found {
    pub(super) fn new(cap: usize) -> Found {
        Found {
            cap,
            ops: Vec::new(),
            over: Vec::new(),
            repairs: Notes::default(),
            problems: Notes::default(),
            text: String::new(),
            reasoning: String::new(),
            settled: 0,
            is_tainted: false,
            is_wary: false,
            has_misread: false,
        }
    }

    /// A statement that is one, and that asks for nothing that makes sense.
    pub(super) fn misread(&mut self, at: usize, kind: &'static str, note: impl Into<String>) {
        self.has_misread = true;
        self.problem(at, kind, note);
    }

    /// From here on no op is known to stand outside of something that was lost.
    pub(super) fn taint(&mut self) {
        self.is_tainted = true;
    }

    /// From here on no op that changes something is.
    pub(super) fn beware(&mut self) {
        self.is_wary = true;
    }

    /// The ops that begin from this byte on may stand in a body; how many there are.
    pub(super) fn doubt(&mut self, from: usize) -> usize {
        let ops = self.ops.iter_mut().filter(|(at, _)| *at >= from);
        ops.map(|(_, op)| op.is_unclosed = true).count()
    }

    pub(super) fn op(&mut self, at: usize, mut op: Written) {
        op.is_unclosed |= self.is_tainted || (self.is_wary && !op.parsed.effect.is_read_only());
        op.follows_misread = self.has_misread;
        match self.ops.len() < self.cap.saturating_add(MOST_NAMED) {
            true => self.ops.push((at, op)),
            false => self.over.push(at),
        }
    }

    pub(super) fn repair(&mut self, at: usize, kind: &'static str, note: impl Into<String>) {
        self.repairs.add(Note { at, kind, note: note.into() });
    }

    pub(super) fn problem(&mut self, at: usize, kind: &'static str, note: impl Into<String>) {
        self.problems.add(Note { at, kind, note: note.into() });
    }

    /// How many ops and how many problems there are.
    pub(super) fn counts(&self) -> (usize, usize) {
        let problems = self.problems.kept.len() + self.problems.more;
        (self.ops.len() + self.over.len(), problems)
    }

    pub(super) fn thought(&mut self, thought: &str) {
        if !self.reasoning.is_empty() && !thought.trim().is_empty() {
            self.reasoning.push('\n');
        }
        self.reasoning.push_str(thought.trim());
    }

    /// Takes back the ops that begin from this byte on; how many there were.
    pub(super) fn withdraw(&mut self, from: usize) -> usize {
        let before = self.ops.len() + self.over.len();
        // They were taken down in the order of the text.
        self.ops.truncate(self.ops.partition_point(|(at, _)| *at < from));
        self.over.truncate(self.over.partition_point(|at| *at < from));
        before - self.ops.len() - self.over.len()
    }

    /// All that was said so far was thought. `since` is what was said since the last time that this came out. What
    /// could not be read stays told: that it was thought is only likely. How many ops are lost.
    pub(super) fn all_was_thought(&mut self, since: &str) -> usize {
        let count = self.ops.len() + self.over.len();
        let mut reasoning = std::mem::take(&mut self.reasoning);
        reasoning.truncate(self.settled);
        let problems = std::mem::take(&mut self.problems);
        let Found { is_tainted, is_wary, has_misread, .. } = *self;
        let fresh = Found::new(self.cap);
        *self = Found { reasoning, problems, is_tainted, is_wary, has_misread, ..fresh };
        self.thought(since);
        self.settled = self.reasoning.len();
        count
    }

    pub(super) fn done(mut self, text: &str) -> Reading {
        self.keep_within_cap();
        self.blame_ops_after_the_end();
        let places = Places::new(text);
        let mut walk = Walk { text, at: 0, position: Position { line: 1, column: 1 } };
        let ops = self.ops.into_iter().map(|(at, op)| Written { at: walk.to(&places, at), ..op });
        let ops: Vec<Written> = ops.collect();
        let terminal = ops.iter().rev().find_map(broadcast);
        let repair = |Note { at, kind, note }| Repair { kind, at: places.at(at), note };
        let trouble = |Note { at, kind, note }| {
            let snippet = places.snippet(at);
            Trouble { kind, at: places.at(at), note, snippet }
        };
        let (repairs, problems) =
            (self.repairs.told("more_repairs"), self.problems.told("more_problems"));
        Reading {
            ops,
            repairs: repairs.into_iter().map(repair).collect(),
            problems: problems.into_iter().map(trouble).collect(),
            text: self.text.trim().to_owned(),
            reasoning: self.reasoning,
            terminal: terminal.filter(is_last_word),
        }
    }

    /// After the last word there is nothing to do. Not told where something before it could not be read: then that is
    /// what is wrong.
    fn blame_ops_after_the_end(&mut self) {
        let is_last = |(_, op): &(usize, Written)| broadcast(op).is_some_and(|s| is_last_word(&s));
        let Some(end) = self.ops.iter().position(is_last) else { return };
        let Some((next, _)) = self.ops.get(end + 1) else { return };
        let next = *next;
        if self.problems.kept.iter().all(|problem| problem.at > next) {
            let count = self.ops.len() - end - 1;
            let note = format!("{count} from here on stand behind the message that ends the work");
            self.problem(next, "op_after_end", note);
        }
    }

    fn keep_within_cap(&mut self) {
        let cap = self.cap;
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
        let mut names: Vec<String> = rest.iter().map(name).collect();
        if !self.over.is_empty() {
            names.push(format!("and {} more", self.over.len()));
        }
        let note = format!("only {cap} ops are taken; not these: {}", names.join(", "));
        // It is told however many problems there are.
        self.problems.kept.push(Note { at, kind: "ops_over_cap", note });
    }
}

fn is_last_word(status: &u16) -> bool {
    LAST_WORDS.iter().any(|word| word.0 == *status)
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
