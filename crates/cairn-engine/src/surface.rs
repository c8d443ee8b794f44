//! What differs by surface: how a turn ends, when a claim of success counts, and what of a reply is told next.

use crate::lap_in_run::LapInRun;
use crate::op::OpState;
use crate::op_in_run::OpInRun;
use crate::state::{Engine, Lap};
use crate::words;
use cairn_surface::native;
use cairn_types::{Ask, ContentRef, Effect, OpName, Reply, Status, Surface, ToolUse, Visible};

/// After so many ops of a loop the envelope asks for the answer.
pub const ENVELOPE_STEPS: u64 = 6;

/// How an op was written, on a text surface.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Marks {
    /// The repairs made in reading it.
    pub repairs: Vec<String>,
    /// Its end was not written.
    pub unclosed: bool,
    /// A statement before it was not understood.
    pub follows_misread: bool,
    /// Why it is refused as it was written.
    pub refused: Option<String>,
}

/// What a surface keeps of a loop's turns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OfSurface {
    /// Where the prompt stands among the items.
    pub(crate) prompt: Option<usize>,
    /// What could not be read of the newest reply.
    problems: Option<ContentRef>,
    /// The newest reply says that nothing more is to be done.
    is_final: bool,
    /// How many ops its replies asked for.
    ops: u64,
    /// Whatever is answered to what was asked last is the answer.
    plain: bool,
    /// What a reply must repeat to count.
    nonce: Option<String>,
    /// What the model was shown last as it stood then.
    visible: Vec<Visible>,
}

impl OfSurface {
    pub(crate) fn asked(&mut self, ask: &Ask) {
        self.plain = ask.plain;
        self.nonce.clone_from(&ask.nonce);
        self.visible.clone_from(&ask.visible);
    }

    /// There is something that the model has not heard: it may ask for more.
    pub(crate) fn goes_on(&mut self) {
        (self.is_final, self.ops) = (false, 0);
    }

    pub(crate) fn replied(&mut self, reply: &Reply) {
        self.problems = reply.problems;
        self.is_final = reply.is_final;
        self.ops += reply.calls.len() as u64;
    }
}

impl Lap {
    /// Where the prompt stands among the items.
    #[must_use]
    pub fn prompt(&self) -> Option<usize> {
        self.told.prompt
    }

    /// What could not be read of the newest reply, a JSON array.
    #[must_use]
    pub fn problems(&self) -> Option<ContentRef> {
        self.told.problems
    }

    /// Whether whatever is answered to what was asked last is the answer.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.told.plain
    }

    /// What a reply must repeat to count.
    #[must_use]
    pub fn nonce(&self) -> Option<&str> {
        self.told.nonce.as_deref()
    }

    /// What the model was shown last as it stood then.
    #[must_use]
    pub fn visible(&self) -> &[Visible] {
        &self.told.visible
    }

    /// Whether its replies have asked for something.
    #[must_use]
    pub fn has_asked(&self) -> bool {
        self.told.ops > 0
    }
}

impl Engine {
    /// How the model writes ops.
    #[must_use]
    pub fn surface(&self) -> Surface {
        self.run.as_ref().map_or(Surface::Native, |run| run.surface)
    }

    /// Whether the model calls tools.
    #[must_use]
    pub fn tool_use(&self) -> ToolUse {
        self.run.as_ref().map_or(ToolUse::Free, |run| run.tool_use)
    }

    /// Whether its model is a small one.
    #[must_use]
    pub fn is_small(&self) -> bool {
        self.run.as_ref().is_some_and(|run| run.small)
    }
}

impl<'a> LapInRun<'a> {
    /// Why this tool may not be called, if it was not given.
    pub(crate) fn not_given(&self, tool: &str) -> Option<String> {
        let given = &self.run.run.as_ref()?.given;
        let tool = native::name_of(tool)?;
        (!given.is_empty() && !given.iter().any(|name| name == tool))
            .then(|| words::not_given(tool))
    }

    /// Whether the newest reply asked for nothing, where only what is asked for counts.
    pub(crate) fn is_silent(self) -> bool {
        self.lap.ops.is_empty() && !self.ends_by_silence() && !self.lap.told.is_final
    }

    /// The ops without outcomes, in the order they are performed. A last word comes last, whatever was written after
    /// it, so that it is known what it speaks of.
    pub(crate) fn open_ops(self) -> impl Iterator<Item = &'a OpState> + use<'a> {
        let is_text = self.run.surface().is_text();
        let open = self.lap.ops.iter().filter(|op| op.status().is_none());
        let comes_last = move |op: &&OpState| is_text && op.is_last_word();
        open.clone().filter(move |op| !comes_last(op)).chain(open.filter(comes_last))
    }
}

impl LapInRun<'_> {
    /// Whether a reply that asks for nothing is the answer.
    pub(crate) fn ends_by_silence(&self) -> bool {
        !self.run.surface().is_text() || self.lap.told.plain
    }

    /// Whether the model is now asked for the answer, and for nothing else.
    pub(crate) fn wants_answer(&self) -> bool {
        let is_over = self.lap.told.is_final || self.lap.told.ops >= ENVELOPE_STEPS;
        (self.run.surface() == Surface::Envelope && is_over) || self.run.tool_use() == ToolUse::None
    }
}

impl OpInRun<'_> {
    /// Why a claim of success does not count, if it does not: something of the turn could not be done, or nobody
    /// who must look at it has seen what was done.
    pub(crate) fn false_success(&self) -> Option<(Status, String)> {
        let claims =
            self.op.intent.says.is_some_and(|status| status.ends_work() && status.is_success());
        if !claims || !self.run.surface().is_text() {
            return None;
        }
        if self.lap.told.problems.is_some() {
            return Some((Status::CONFLICT, words::UNREAD.to_owned()));
        }
        let acts = |other: &&OpState| !other.is_look();
        let failed = self.lap.ops.iter().filter(|op| op.would_act()).find_map(|other| {
            other
                .status()
                .filter(|status| !status.is_success())
                .map(|status| (other.intent.at, status))
        });
        if let Some((at, status)) = failed {
            return Some((Status::CONFLICT, words::false_success(at, status)));
        }
        let unseen = self.lap.ops.iter().find(acts).filter(|_| self.run.is_small())?;
        Some((Status::CONFLICT, words::unseen_success(unseen.intent.at)))
    }
}

impl OpState {
    /// Whether it was written to change something, as far as that is known: what was refused for other reasons counts,
    /// and so does what makes no sense.
    fn would_act(&self) -> bool {
        match self.intent.op {
            Some(OpName::Read | OpName::Find | OpName::Open | OpName::Fold) => false,
            Some(OpName::Todo | OpName::Consult) => false,
            Some(OpName::Send) => !self.intent.is_for_everyone(),
            _ => true,
        }
    }

    /// Whether it says that the work is over.
    pub(crate) fn is_last_word(&self) -> bool {
        self.intent.says.is_some_and(Status::ends_work)
    }

    /// Whether where it ends is a guess, and it would change something.
    pub(crate) fn is_guessed(&self) -> bool {
        self.intent.unclosed && self.intent.effect > Effect::Read
    }
}
