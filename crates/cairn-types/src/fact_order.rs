//! Which fact may follow which in a run: the open loop, its turn, and how far each op of that turn has come. The
//! store refuses facts that come out of order. What facts mean is the engine's to say; it does not ask here, so this
//! stays a second opinion.

use crate::{Body, Change, Coord, Effect, Hooked, Intent, Outcome, Settled, Surface, Verdict};

/// The place of a run in the order of its facts: enough to say whether the next one may follow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FactOrder {
    /// It has its first fact.
    begun: bool,
    /// A driver has taken it; a fork's parent's does not count.
    driven: bool,
    /// Its ops are a client's, without a model.
    client: bool,
    /// The highest loop that was asked for.
    laps: u32,
    /// The loop that is worked on; 0 when none is.
    open: u32,
    /// The first loop that waits; 0 when none does.
    waits: u32,
    /// How many replies the open loop has had.
    turn: u32,
    /// The model is being asked.
    asked: bool,
    /// The ops of the open loop's newest turn, by their place in it.
    ops: Vec<OpProgress>,
}

/// A fact came where it cannot follow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a fact of it, {kind}, cannot follow: {why}")]
pub struct MisplacedFact {
    /// The fact's kind.
    pub kind: String,
    /// What is wrong with its place.
    pub why: String,
}

/// How far an op has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum OpProgress {
    /// It was not asked for.
    #[default]
    None,
    /// A look was asked for.
    Look,
    /// A change was asked for.
    Change,
    /// A change was allowed.
    Allowed,
    /// A change began.
    Begun,
    /// It has its outcome.
    Settled,
}

/// Each with its letter.
const OP_LETTERS: [(OpProgress, char); 6] = [
    (OpProgress::None, '-'),
    (OpProgress::Look, 'l'),
    (OpProgress::Change, 'c'),
    (OpProgress::Allowed, 'a'),
    (OpProgress::Begun, 'b'),
    (OpProgress::Settled, 's'),
];

/// The most ops of one turn whose order is checked; the cap on a model's reply is far below.
const MOST_OPS: u32 = 10_000;

impl FactOrder {
    /// The text it is stored as: the flags as bits, four numbers, and a letter for each op.
    #[must_use]
    pub fn to_text(&self) -> String {
        let yes = [self.begun, self.driven, self.client, self.asked];
        let bits = yes.into_iter().rev().fold(0u8, |bits, yes| bits << 1 | u8::from(yes));
        let letter =
            |op: &OpProgress| OP_LETTERS.iter().find(|(one, _)| one == op).map_or('-', |(_, l)| *l);
        let ops: String = self.ops.iter().map(letter).collect();
        let FactOrder { laps, open, waits, turn, .. } = self;
        format!("{bits} {laps} {open} {waits} {turn} {ops}")
    }

    /// Reads the stored text; `None` if it is malformed.
    #[must_use]
    pub fn from_text(text: &str) -> Option<FactOrder> {
        let mut words = text.split(' ');
        let bits: u8 = words.next()?.parse().ok()?;
        let mut number = || words.next()?.parse::<u32>().ok();
        let (laps, open, waits, turn) = (number()?, number()?, number()?, number()?);
        let op = |letter: char| OP_LETTERS.iter().find(|(_, l)| *l == letter).map(|(op, _)| *op);
        let ops = words.next()?.chars().map(op).collect::<Option<_>>()?;
        let yes = |bit: u8| bits & (1 << bit) != 0;
        let (begun, driven, client, asked) = (yes(0), yes(1), yes(2), yes(3));
        Some(FactOrder { begun, driven, client, laps, open, waits, turn, asked, ops })
    }

    /// The order of a fork's own facts after its parent's: it shares what was done, not what waits to be done, nor
    /// who drives.
    pub fn enter_fork(&mut self) {
        (self.waits, self.driven) = (0, false);
    }

    /// Whether a fact may come next.
    pub fn check_next(&self, body: &Body) -> Result<(), MisplacedFact> {
        let misplaced = match body {
            Body::Run(_) => self.begun.then(|| "it begins twice".to_owned()),
            Body::Drive(_) => (!self.begun).then(|| "it is driven before it begins".to_owned()),
            _ if !self.driven => Some("nobody drives it".to_owned()),
            Body::Prompt(prompt) => (prompt.lap <= self.laps)
                .then(|| format!("loop {} was asked for before", prompt.lap)),
            Body::Steer(_) | Body::Abort(_) | Body::Delta(_) => {
                (self.open == 0).then(|| "no loop is open".to_owned())
            }
            Body::Ask(ask) => self.not_open(ask.lap).or_else(|| self.not_next(ask.turn, false)),
            Body::Reply(reply) => {
                self.not_open(reply.lap).or_else(|| self.not_next(reply.turn, true))
            }
            Body::Fault(fault) => {
                self.not_open(fault.lap).or_else(|| self.not_next(fault.turn, true))
            }
            Body::End(end) => self.not_open(end.lap).or_else(|| self.unsettled()),
            Body::Hook(Hooked { at: Some(at), .. }) => self.not_in_turn(*at),
            Body::Intent(intent) => self.not_in_turn(intent.at).or_else(|| self.not_asked(intent)),
            Body::Proposal(proposal) => self.closed(proposal.at),
            Body::Decision(decision) => self.closed(decision.at),
            Body::Reach(reach) => self.closed(reach.at),
            Body::Begin(begin) => self.closed(begin.at).or_else(|| {
                let may =
                    matches!(self.progress(begin.at), OpProgress::Allowed | OpProgress::Begun);
                (!may).then(|| format!("{} begins and nobody allowed it", begin.at))
            }),
            Body::Performed(outcome) | Body::Outcome(outcome) => {
                self.closed(outcome.at).or_else(|| self.not_performed(outcome))
            }
            Body::Hook(_) | Body::Stream(_) | Body::Unknown { .. } => None,
        };
        match misplaced {
            Some(why) => Err(MisplacedFact { kind: body.kind().to_owned(), why }),
            None => Ok(()),
        }
    }

    fn not_open(&self, lap: u32) -> Option<String> {
        (lap == 0 || lap != self.open).then(|| format!("loop {lap} is not open"))
    }

    /// The turn is the next one, the model is being asked for it or not, and nothing is left open.
    fn not_next(&self, turn: u32, asked: bool) -> Option<String> {
        if turn.checked_sub(1) != Some(self.turn) || self.asked != asked {
            return Some(format!("turn {turn} is not the one that is due"));
        }
        self.unsettled()
    }

    fn unsettled(&self) -> Option<String> {
        let open =
            self.ops.iter().position(|op| !matches!(op, OpProgress::None | OpProgress::Settled))?;
        Some(format!("op {} of turn {} has no outcome", open + 1, self.turn))
    }

    fn not_in_turn(&self, at: Coord) -> Option<String> {
        let in_turn = at.lap == self.open && at.turn == if self.client { 1 } else { self.turn };
        let fits = at.lap > 0 && in_turn && (1..=MOST_OPS).contains(&at.seq) && !self.asked;
        (!fits).then(|| format!("{at} is not in the open turn"))
    }

    fn not_asked(&self, intent: &Intent) -> Option<String> {
        let late = matches!(self.progress(intent.at), OpProgress::Begun | OpProgress::Settled);
        late.then(|| format!("{} is under way", intent.at))
    }

    /// Nothing more can become of it, or nobody asked for it.
    fn closed(&self, at: Coord) -> Option<String> {
        self.not_in_turn(at).or_else(|| match self.progress(at) {
            OpProgress::None => Some(format!("nobody asked for {at}")),
            OpProgress::Settled => Some(format!("{at} has its outcome")),
            OpProgress::Look | OpProgress::Change | OpProgress::Allowed | OpProgress::Begun => None,
        })
    }

    /// What changes something does so only after it was allowed and began. What ran over an overlay and
    /// changed nothing need not begin, nor what changes only entries that the store keeps or says something to
    /// another run: nothing of it happens before its outcome.
    fn not_performed(&self, outcome: &Outcome) -> Option<String> {
        let acted = outcome.settled != Settled::NotPerformed;
        let began = match self.progress(outcome.at) {
            OpProgress::Look | OpProgress::Begun => true,
            OpProgress::Allowed if outcome.changes.is_empty() => {
                outcome.ran_over_overlay() || outcome.letter.is_some()
            }
            OpProgress::Allowed => outcome.changes.iter().all(Change::is_stored),
            OpProgress::None | OpProgress::Change | OpProgress::Settled => false,
        };
        (acted && !began).then(|| format!("{} did not begin", outcome.at))
    }

    fn progress(&self, at: Coord) -> OpProgress {
        let place = usize::try_from(at.seq).ok().and_then(|seq| seq.checked_sub(1));
        place.and_then(|place| self.ops.get(place)).copied().unwrap_or_default()
    }

    fn set_progress(&mut self, at: Coord, op: OpProgress) {
        let Some(place) = usize::try_from(at.seq).ok().and_then(|seq| seq.checked_sub(1)) else {
            return;
        };
        if at.seq <= MOST_OPS && place >= self.ops.len() {
            self.ops.resize(place + 1, OpProgress::None);
        }
        if let Some(slot) = self.ops.get_mut(place) {
            *slot = op;
        }
    }

    /// Moves past a fact, whether it may follow or not.
    pub fn advance(&mut self, body: &Body) {
        match body {
            Body::Run(run) => (self.begun, self.client) = (true, run.surface == Surface::Client),
            Body::Drive(_) => self.driven = true,
            Body::Prompt(prompt) => self.prompted(prompt.lap),
            Body::Ask(_) => self.asked = true,
            Body::Reply(reply) => {
                (self.turn, self.asked) = (reply.turn, false);
                self.ops.clear();
            }
            Body::Intent(intent) => {
                let is_look = intent.effect <= Effect::Read;
                self.set_progress(
                    intent.at,
                    if is_look { OpProgress::Look } else { OpProgress::Change },
                );
            }
            Body::Decision(decision) => match (self.progress(decision.at), decision.verdict) {
                (OpProgress::Change | OpProgress::Allowed, Verdict::Allow) => {
                    self.set_progress(decision.at, OpProgress::Allowed)
                }
                (OpProgress::Allowed, _) => self.set_progress(decision.at, OpProgress::Change),
                _ => {}
            },
            Body::Reach(reach) => self.set_progress(reach.at, OpProgress::Begun),
            Body::Begin(begin) => self.set_progress(begin.at, OpProgress::Begun),
            Body::Outcome(outcome) => self.set_progress(outcome.at, OpProgress::Settled),
            Body::End(_) => self.ended(),
            // No answer is waited for any longer.
            Body::Fault(_) => self.asked = false,
            Body::Steer(_)
            | Body::Abort(_)
            | Body::Proposal(_)
            | Body::Performed(_)
            | Body::Hook(_)
            | Body::Stream(_)
            | Body::Delta(_)
            | Body::Unknown { .. } => {}
        }
    }

    fn prompted(&mut self, lap: u32) {
        self.laps = self.laps.max(lap);
        match (self.open, self.waits) {
            (0, _) => self.open = lap,
            (_, 0) => self.waits = lap,
            _ => {}
        }
    }

    fn ended(&mut self) {
        (self.turn, self.asked) = (0, false);
        self.ops.clear();
        self.open = self.waits;
        self.waits = if self.waits > 0 && self.waits < self.laps { self.waits + 1 } else { 0 };
    }
}

#[cfg(test)]
mod tests;
