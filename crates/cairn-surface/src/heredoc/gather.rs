//! What was found in a text so far, where each thing stands, and what becomes of it when something later says that it
//! was not meant. Made a reading at the end.

use super::Fault;
use crate::{Places, Reading, Repair, Trouble, Written};
use cairn_types::Action;
use std::ops::Range;

/// No more problems than this are told; how many more there are is told in one.
const MOST_PROBLEMS: usize = 32;
/// What a message to everyone says when it is the last: done, nothing to do, cannot, given up.
const LAST_WORDS: [u16; 4] = [200, 204, 422, 499];

/// A statement that means something.
struct Item {
    /// The bytes it stands in.
    span: Range<usize>,
    /// The op; none where there were too many before it, which takes little room.
    written: Option<Box<Written>>,
    /// Whether it was taken back.
    is_left_out: bool,
}

/// What is taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubt {
    /// Everything.
    All,
    /// What does more than look.
    Changes,
}

/// What was found.
#[derive(Default)]
pub(super) struct Gathered<'a> {
    items: Vec<Item>,
    /// Which of the items do more than look, of those that were not taken back.
    others: Vec<usize>,
    /// How many items were not taken back.
    count: usize,
    repairs: Vec<(usize, &'static str, String)>,
    faults: Vec<Fault>,
    /// How many faults say only that a word is spoken of.
    spoken: usize,
    /// How many faults were too many.
    more: usize,
    prose: Vec<&'a str>,
    thoughts: Vec<&'a str>,
    /// Thoughts that were told as such by what ended them.
    settled: Vec<&'a str>,
    /// A statement began whose end is not known: whatever follows may stand in its body.
    is_tainted: bool,
    /// Ops were taken back, as a body may have held them: whatever follows may go without them, or stand in it.
    is_wary: bool,
    /// A statement was not understood.
    has_misread: bool,
}

impl<'a> Gathered<'a> {
    /// How many ops there are.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Adds an op. One that `looks` does no more than that, and has no body that could be longer than it seems.
    pub(super) fn op(&mut self, span: Range<usize>, written: Option<Written>, looks: bool) {
        let written = written.map(|op| {
            let is_doubtful = self.is_wary && !op.parsed.effect.is_read_only();
            let is_unclosed = op.is_unclosed || self.is_tainted || is_doubtful;
            Box::new(Written { is_unclosed, follows_misread: self.has_misread, ..op })
        });
        if !looks {
            self.others.push(self.items.len());
        }
        self.items.push(Item { span, written, is_left_out: false });
        self.count += 1;
    }

    /// From here on no op is known to stand outside of something that was lost.
    pub(super) fn taint(&mut self) {
        self.is_tainted = true;
    }

    pub(super) fn repair(&mut self, at: usize, kind: &'static str, note: String) {
        self.repairs.push((at, kind, note));
    }

    pub(super) fn fault(&mut self, fault: Fault) {
        match self.faults.len() < MOST_PROBLEMS {
            true => self.faults.push(fault),
            false => self.more += 1,
        }
    }

    /// A fault of a statement, which is not understood for it.
    pub(super) fn misread(&mut self, fault: Fault) {
        self.has_misread = true;
        self.fault(fault);
    }

    /// A fault that says only that a word is spoken of.
    pub(super) fn spoken(&mut self, fault: Fault) {
        self.spoken += 1;
        self.fault(fault);
    }

    /// Whether anything could not be read.
    pub(super) fn has_faults(&self) -> bool {
        self.faults.len() + self.more > self.spoken
    }

    pub(super) fn prose(&mut self, said: &'a str) {
        self.prose.push(said);
    }

    pub(super) fn thought(&mut self, said: &'a str) {
        self.thoughts.push(said);
    }

    /// Everything so far was a thought. What could not be read stays told: that it was thought is only likely. How
    /// many ops are lost.
    pub(super) fn all_was_thought(&mut self, said: &'a str) -> usize {
        let count = std::mem::take(&mut self.count);
        self.settled.push(said);
        self.items.clear();
        self.others.clear();
        self.repairs.clear();
        self.prose.clear();
        self.thoughts.clear();
        count
    }

    /// Takes back the ops that end after this byte, and says how many.
    pub(super) fn take_back(&mut self, from: usize, doubt: Doubt) -> usize {
        let kept = self.items.partition_point(|item| item.span.end <= from);
        let before = self.count;
        let first_other = self.others.partition_point(|at| *at < kept);
        let others = self.others.split_off(first_other);
        match doubt {
            Doubt::Changes => {
                for at in others {
                    let Some(item) = self.items.get_mut(at) else { continue };
                    item.is_left_out = true;
                    item.written = None;
                    let span = item.span.clone();
                    self.repairs.retain(|(at, ..)| !span.contains(at));
                    self.count -= 1;
                }
            }
            Doubt::All => {
                if let Some(first) = self.items.get(kept).map(|item| item.span.start) {
                    self.repairs.retain(|(at, ..)| *at < first);
                }
                let live = self.items.drain(kept..).filter(|item| !item.is_left_out).count();
                self.count -= live;
            }
        }
        self.is_wary |= self.count < before;
        before - self.count
    }

    /// The ops from this byte on may stand in a body that seemed to be over before, and count as ones whose end was
    /// not written. How many they are.
    pub(super) fn doubt(&mut self, from: usize) -> usize {
        let first = self.items.partition_point(|item| item.span.start < from);
        let mut count = 0;
        for op in self.items[first..].iter_mut().filter_map(|item| item.written.as_mut()) {
            op.is_unclosed = true;
            count += 1;
        }
        count
    }

    /// The reading. `cap` is how many ops there may be.
    pub(super) fn reading(mut self, places: &Places<'_>, cap: usize) -> Reading {
        self.items.retain(|item| !item.is_left_out);
        self.blame_ops_after_the_end();
        self.blame_ops_over_the_cap(cap);
        self.faults.sort_by_key(|fault| fault.at);
        if self.more > 0 {
            let note = format!("{} more problems stand in the text", self.more);
            self.faults.push(Fault::new("problems_over_cap", usize::MAX, note));
        }
        let trouble = |Fault { kind, at, note }| Trouble {
            kind,
            at: places.at(at),
            note,
            snippet: places.snippet(at),
        };
        let repair = |(at, kind, note)| Repair { kind, at: places.at(at), note };
        let thoughts = self.settled.iter().chain(&self.thoughts).map(|thought| thought.trim());
        let reasoning: Vec<&str> = thoughts.filter(|thought| !thought.is_empty()).collect();
        let ops = self.items.into_iter().filter_map(|item| item.written);
        let ops: Vec<Written> = ops.map(|written| *written).collect();
        Reading {
            terminal: ops.iter().filter_map(last_word).next_back(),
            ops,
            repairs: self.repairs.into_iter().map(repair).collect(),
            problems: self.faults.into_iter().map(trouble).collect(),
            text: self.prose.concat().trim().to_owned(),
            reasoning: reasoning.join("\n"),
        }
    }

    /// After the last word there is nothing to do. Not told where something before it could not be read: then that is
    /// what is wrong.
    fn blame_ops_after_the_end(&mut self) {
        let is_last = |item: &Item| item.written.as_deref().and_then(last_word).is_some();
        let Some(end) = self.items.iter().position(is_last) else { return };
        let Some(next) = self.items.get(end + 1).map(|item| item.span.start) else { return };
        if self.faults.iter().all(|fault| fault.at > next) {
            let count = self.items.len() - end - 1;
            let note = format!("{count} from here on stand behind the message that ends the work");
            self.fault(Fault::new("op_after_end", next, note));
        }
    }

    fn blame_ops_over_the_cap(&mut self, cap: usize) {
        let over = self.items.iter().filter(|item| item.written.is_none());
        let starts: Vec<usize> = over.map(|item| item.span.start).collect();
        if let [first, ..] = starts[..] {
            let note = format!("{} ops after the first {cap} are left out", starts.len());
            self.fault(Fault::new("ops_over_cap", first, note));
        }
    }
}

/// How the work stands, where an op says to everyone that it is over.
fn last_word(written: &Written) -> Option<u16> {
    match &written.parsed.action {
        Ok(Action::Send(post)) if post.to.is_none() => {
            Some(post.status).filter(|status| LAST_WORDS.contains(status))
        }
        _ => None,
    }
}
