//! What to do next, as a function of the state alone.

use crate::admit::Recording;
use crate::gates::Leave;
use crate::hooks::HookAsk;
use crate::lap_in_run::LapInRun;
use crate::op::{Begun, Decided, HostsReached, OpStage, OpState};
use crate::op_in_run::OpInRun;
use crate::propose::propose_look;
use crate::reach::Reach;
use crate::state::{Engine, Lap};
use crate::words;
use cairn_types::{
    Ask, Body, By, Coord, Decision, Effect, End, Finish, OpName, Proposal, ProposalKind, Rail,
    Settled, Status, Steer, Surface, Verdict, Writer,
};

/// For how many turns before the cap the model is told that it comes.
const TOLD_BEFORE: u32 = 3;

/// The next thing the runtime does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Nothing until a prompt comes.
    Idle,
    /// Record these facts.
    Record(Recording),
    /// Ask the model, showing it the first `messages` items of the transcript.
    AskModel {
        /// The loop.
        lap: u32,
        /// The turn.
        turn: u32,
        /// How many items.
        messages: usize,
    },
    /// Find out what the op would change, without changing it.
    Prepare(Coord),
    /// Perform these side by side; they change nothing.
    Read(Vec<Coord>),
    /// Wait for someone's word.
    Await(Coord),
    /// Perform it, having recorded that it begins.
    Act {
        /// The op.
        at: Coord,
        /// Whether an earlier beginning was lost in a crash.
        again: bool,
    },
    /// It began, nobody saw it end: find out.
    Settle(Coord),
    /// Ask a hook.
    Hook(HookAsk),
    /// Hooks have looked at what was performed: record what became of it.
    Conclude(Coord),
    /// The loop would end, and commands that a person sent to the background run: wait for one of them,
    /// or for what somebody says.
    Linger,
}

impl Engine {
    /// What to do next.
    #[must_use]
    pub fn step(&self) -> Step {
        tracing::trace!(target: "cairn::turn", "Engine::step");
        let Some(lap) = self.lap_in_run() else { return self.step_idle() };
        match lap.open_ops().next() {
            Some(op) => lap.with_op(op).step_by_stage(),
            None => lap.step_turn(),
        }
    }
}

impl LapInRun<'_> {
    /// No op is open: ask the model, or end the loop.
    fn step_turn(&self) -> Step {
        if let Some(why) = &self.lap.aborted {
            return end(self.lap, Status::CANCELLED, why);
        }
        if let Some(step) = self.step_sent() {
            return step;
        }
        match self.step_on() {
            Step::Record(recording) if self.lingers() && recording.ends() => Step::Linger,
            step => step,
        }
    }

    /// Nothing that ran beside the turn is left to be asked about.
    fn step_on(&self) -> Step {
        if let Some(why) = &self.lap.fault {
            return end(self.lap, Status::FAILED, why);
        }
        if self.run.run.as_ref().is_some_and(|run| run.surface == Surface::Client) {
            return end(self.lap, Status::OK, "");
        }
        if let Some(turn) = self.lap.asked {
            return Step::AskModel {
                lap: self.lap.lap,
                turn,
                messages: self.run.model_view.items.len(),
            };
        }
        if let (0, Some(step)) = (self.lap.turn, self.step_prompt()) {
            return step;
        }
        if let Some(step) = self.step_turn_end() {
            return step;
        }
        if let Some(status) = self.lap.last_word {
            if self.lingers() {
                return Step::Linger;
            }
            return self.step_stop().unwrap_or_else(|| end(self.lap, status, ""));
        }
        match self.lap.finish.filter(|_| self.ends_by_silence()) {
            Some(Finish::Length) if self.lap.ops.is_empty() => {
                return end(self.lap, Status::OK, "the answer was cut at the model's length limit");
            }
            Some(Finish::Filtered) if self.lap.ops.is_empty() => {
                return end(self.lap, Status::OK, "the provider withheld a part of the answer");
            }
            Some(_) if self.lap.ops.is_empty() && self.lingers() => return Step::Linger,
            Some(_) if self.lap.ops.is_empty() => {
                return self.step_stop().unwrap_or_else(|| end(self.lap, Status::OK, ""));
            }
            _ => {}
        }
        if let Some((rail, why)) = self.lap.rails.end() {
            return railed(self.lap, Status::CANCELLED, (rail, why));
        }
        if let Some(rail) = self.capped() {
            return railed(self.lap, Status::LIMIT, rail);
        }
        self.step_turn_start().unwrap_or_else(|| Step::Record(self.ask()))
    }

    /// That the model is asked once more. In the last turns before the cap it is told how many are
    /// left, so that it can come to an end by itself.
    fn ask(&self) -> Recording {
        let turn = self.lap.turn.saturating_add(1);
        let mut messages = (self.run.model_view.items.len() + self.lap.hooks.held.len()) as u64;
        let mut recording = Recording::default();
        let cap = self.run.driving.drive.as_ref().map_or(u32::MAX, |drive| drive.caps.turns);
        let left = cap.saturating_sub(self.lap.spent().turns);
        if left <= TOLD_BEFORE && self.lap.spending.told_left != Some(turn) {
            let text = recording.keep(words::turns_left(left));
            let steer = Steer { text, writer: Writer::System, begun: None, from: None };
            recording.facts.push(Body::Steer(steer));
            messages += 1;
        }
        let (lap, plain) = (self.lap.lap, self.wants_answer());
        recording.facts.push(Body::Ask(Ask { lap, turn, messages, plain, ..Ask::default() }));
        recording
    }

    /// Why the model is not asked once more, if it is not. Money is counted when an answer has come;
    /// one that nobody can count is not risked twice.
    fn capped(&self) -> Option<(Rail, String)> {
        let caps = self.run.driving.drive.as_ref()?.caps;
        let spent = self.lap.spent();
        if spent.turns >= caps.turns {
            return Some((Rail::Turns, format!("the loop reached its {} turns", caps.turns)));
        }
        if self.time_left(self.run.now) == Some(0) {
            return Some((Rail::Time, self.time_cap_reason(spent.worked_ms)));
        }
        let cap = caps.cost?;
        if let Some(cost) = spent.cost.filter(|cost| *cost >= cap) {
            let why = format!("the loop has cost {cost}; its cap is {cap}");
            return Some((Rail::Cost, why));
        }
        let turn = self.lap.spending.unpriced_turn()?;
        let why = format!("nobody knows what turn {turn} cost, so the cap of {cap} cannot be kept");
        Some((Rail::Cost, why))
    }

    /// From the first open op on: the reads that stand next to each other and may be done unasked.
    /// Hooks are asked about all of them before.
    fn neighbouring_reads(&self) -> Step {
        let is_plain = |op: &&OpState| {
            op.intent.effect.is_read_only()
                && op.intent.problem.is_none()
                && matches!(op.stage, OpStage::Requested | OpStage::Held(_))
        };
        let mut reads = Vec::new();
        for op in self.open_ops().take_while(is_plain) {
            if !reads.is_empty() && op.is_last_word() {
                break;
            }
            match self.with_op(op).leave(&Reach::default()) {
                Leave::Granted(..) => reads.push(op.intent.at),
                Leave::Hook(ask) => return Step::Hook(ask),
                _ => break,
            }
        }
        Step::Read(reads)
    }
}

impl OpInRun<'_> {
    /// This op is the first without an outcome: what its stage needs.
    fn step_by_stage(&self) -> Step {
        match &self.op.stage {
            OpStage::Requested => self.step_not_done().unwrap_or_else(|| self.step_requested()),
            OpStage::Held(question) => {
                let not_done = self.step_not_done();
                not_done.unwrap_or_else(|| self.step_held(question))
            }
            OpStage::Decided(decided) => self
                .step_watched()
                .or_else(|| self.step_not_done())
                .unwrap_or_else(|| self.step_decided(decided)),
            OpStage::Begun(begun) => {
                let watched = self.step_watched();
                watched.unwrap_or_else(|| self.step_begun(begun))
            }
            OpStage::Performed { outcome, .. } => self.step_performed(outcome),
            OpStage::Settled { .. } => self.in_lap().step_turn(),
        }
    }

    /// Why an op that has not begun is not done, whatever was decided about it.
    fn step_not_done(&self) -> Option<Step> {
        if self.op.reached == HostsReached::Lost && !self.lap.waits_for_hosts(self.op) {
            return Some(Step::Record(Recording::indeterminate(self.op)));
        }
        if let Some(problem) = &self.op.intent.problem {
            return Some(self.step_problem(problem));
        }
        let (status, why) = self.lap.not_performed(self.op).or_else(|| self.false_success())?;
        Some(Step::Record(Recording::not_performed(self.op, status, why)))
    }

    /// Nobody has said anything yet: the gates do, on the op as it was requested.
    fn step_requested(&self) -> Step {
        let is_look = self.op.intent.effect.is_read_only();
        match self.leave(&Reach::default()) {
            Leave::Hook(ask) => Step::Hook(ask),
            Leave::Answered(gates, result) => Step::Record(self.answered(gates, result)),
            Leave::Granted(..) if is_look => self.in_lap().neighbouring_reads(),
            Leave::Ask(_) if is_look && !self.op.is_consult() => self
                .before_question()
                .map_or_else(|| Step::Record(propose_look(self.op)), Step::Hook),
            Leave::Refused(gates, refusal) if refusal.is_final || is_look => {
                Step::Record(self.refuse(gates, refusal).record())
            }
            Leave::Granted(..) | Leave::Ask(_) | Leave::Refused(..) => Step::Prepare(self.op.at()),
        }
    }

    /// A question was put. With another driver than the one that put it, the gates may answer it.
    fn step_held(&self, question: &Proposal) -> Step {
        if question.kind == ProposalKind::Network {
            return match self.run.driving.asks() || self.run.driving.terms().flags.someone {
                true => self.step_question(),
                false => Step::Record(hosts_refused(self.op, question)),
            };
        }
        let reach = Reach::from(question);
        match self.leave(&reach) {
            Leave::Hook(ask) => Step::Hook(ask),
            Leave::Answered(gates, result) => Step::Record(self.answered(gates, result)),
            Leave::Granted(..) if self.op.intent.effect.is_read_only() => {
                self.in_lap().neighbouring_reads()
            }
            Leave::Ask(_) => self.step_question(),
            Leave::Refused(gates, refusal) => {
                Step::Record(self.refuse(gates, refusal).naming_paths(&reach).record())
            }
            Leave::Granted(gates, by) => {
                Step::Record(self.grant(gates, by).naming_paths(&reach).record())
            }
        }
    }

    fn step_decided(&self, decided: &Decided) -> Step {
        let decision = &decided.decision;
        if decision.verdict == Verdict::Allow
            && let Some(step) = self.step_unasked()
        {
            return step;
        }
        if self.op.is_consult() {
            return Step::Record(self.consulted_on(decision));
        }
        let (status, why) = match (decision.verdict, &decision.by) {
            (Verdict::Allow, _) => return self.step_allowed(decision),
            (Verdict::Refuse, By::Nobody) => (Status::REFUSED, words::NOBODY),
            (Verdict::Refuse, _) => (Status::REFUSED, words::REFUSED),
            (Verdict::Cancel | Verdict::Skip | Verdict::Happened | Verdict::Answer, _) => {
                (Status::CANCELLED, words::WITHDRAWN)
            }
        };
        Step::Record(Recording::not_performed(self.op, status, why))
    }

    /// It was allowed, perhaps under another driver: this one's gates have their word as well.
    fn step_allowed(&self, decision: &Decision) -> Step {
        let at = self.op.at();
        match self.leave(&Reach::from(decision)) {
            Leave::Refused(gates, refusal) if refusal.is_final => {
                Step::Record(self.refuse(gates, refusal).record())
            }
            Leave::Ask(_) | Leave::Refused(..) if decision.is_by_gates() => self.step_requested(),
            _ if self.op.intent.effect.is_read_only() => Step::Read(vec![at]),
            _ => self.step_accepting().unwrap_or(Step::Act { at, again: false }),
        }
    }

    /// It began. While it is being performed nobody asks; so this is after a crash.
    fn step_begun(&self, begun: &Begun) -> Step {
        let at = self.op.at();
        let stopped = self.lap.is_aborted() || !self.run.driving.may_act();
        let Some(doubt) = &begun.doubt else { return Step::Settle(at) };
        match doubt.decision.as_ref().map(|decision| decision.verdict) {
            None if self.run.driving.asks() && !stopped => self.step_question(),
            None => Step::Settle(at),
            Some(Verdict::Allow) if stopped => Step::Settle(at),
            Some(Verdict::Allow) => Step::Act { at, again: true },
            Some(Verdict::Happened) => Step::Record(Recording::settled(
                self.op,
                Status::OK,
                words::SAID_DONE,
                Settled::SaidDone,
            )),
            Some(Verdict::Refuse | Verdict::Cancel | Verdict::Skip | Verdict::Answer) => {
                Step::Record(Recording::indeterminate(self.op))
            }
        }
    }
}

impl OpState {
    /// Whether it changes nothing, wherever it looks.
    pub(crate) fn is_look(&self) -> bool {
        let looks = matches!(self.intent.op, Some(OpName::Read | OpName::Find));
        looks || self.intent.effect.is_read_only()
    }

    /// Whether its result is something that it was asked to show.
    #[must_use]
    pub fn is_shown(&self) -> bool {
        let tells = matches!(self.intent.op, Some(OpName::Open | OpName::Fold | OpName::Send));
        self.intent.effect == Effect::Read && !tells
    }
}

impl Lap {
    /// Whether a word may come that lets the op's command run again.
    fn waits_for_hosts(&self, op: &OpState) -> bool {
        op.question_of_hosts().is_some() && self.not_performed(op).is_none()
    }

    /// Why the rest of the turn is not performed, if it is not.
    fn not_performed(&self, op: &OpState) -> Option<(Status, String)> {
        if self.aborted.is_some() {
            return Some((Status::CANCELLED, words::ABORTED.to_owned()));
        }
        if op.intent.of.is_some() {
            // It is no part of what the model wrote.
            return None;
        }
        if self.waiting.steered && !op.has_run {
            return Some((Status::CANCELLED, words::STEERED.to_owned()));
        }
        if op.is_look() {
            return None;
        }
        let answered = |earlier: &OpState| {
            let by = earlier.decision().map(|decision| &decision.by);
            earlier.is_consult() && matches!(by, Some(By::Person(_)))
        };
        if self.ops.iter().take_while(|earlier| earlier.intent.at < op.intent.at).any(answered) {
            return Some((Status::CANCELLED, words::BEFORE_ANSWER.to_owned()));
        }
        let stuck = self.ops.iter().find(|earlier| {
            !earlier.is_look() && earlier.status().is_some_and(|status| !status.is_success())
        })?;
        let status = stuck.status().unwrap_or(Status::FAILED);
        Some((Status::CANCELLED, words::cascade(stuck.intent.at, status)))
    }
}

/// The question about hosts was put by an earlier driver, and with this one nobody answers it.
fn hosts_refused(op: &OpState, question: &Proposal) -> Recording {
    let mut decision = Decision::new(op.intent.at, Verdict::Refuse, By::Nobody, Vec::new());
    decision.proposal = Some(question.id.clone());
    decision.hosts.clone_from(&question.hosts);
    Recording::of(Body::Decision(decision))
}

fn end(lap: &Lap, status: Status, why: &str) -> Step {
    let why = why.to_owned();
    Step::Record(Recording::of(Body::End(End { lap: lap.lap, status, rail: None, why })))
}

fn railed(lap: &Lap, status: Status, (rail, why): (Rail, String)) -> Step {
    Step::Record(Recording::of(Body::End(End { lap: lap.lap, status, rail: Some(rail), why })))
}
