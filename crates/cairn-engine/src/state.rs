//! The fold: what a run's recorded facts add up to.

use crate::driving::Driving;
use crate::duplicate::PureCalls;
use crate::hooks::OfLap;
use crate::in_reply::SinceReply;
use crate::judgements::may_change_policy;
use crate::lap_spending::LapSpending;
use crate::model_view::ModelView;
use crate::op::{HostsReached, OpState};
use crate::rails::Rails;
use crate::sent::Background;
use crate::surface::OfSurface;
use crate::totals::RunTotals;
use crate::view::Item;
use crate::waiting_words::WaitingWords;
use cairn_types::{
    Body, By, Coord, Decision, End, Fact, Hash, Intent, OpName, Outcome, PicoUsd, Prompt, Proposal,
    ProposalId, Remember, Reply, RunId, RunStarted, Status, Verdict,
};
use std::collections::{HashMap, HashSet, VecDeque};

/// A run's state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Engine {
    pub(crate) id: Option<RunId>,
    pub(crate) last_n: u64,
    pub(crate) run: Option<RunStarted>,
    pub(crate) queue: VecDeque<Prompt>,
    pub(crate) laps: u32,
    pub(crate) lap: Option<Lap>,
    pub(crate) ended: Option<End>,
    /// The time of the last fact.
    pub(crate) now: u64,
    /// The questions that were decided: the word, whose, and when.
    pub(crate) decided: HashMap<ProposalId, (Verdict, By, u64)>,
    pub(crate) settled: Option<(u32, u32)>,
    pub(crate) pure: PureCalls,
    /// The present driver.
    pub(crate) driving: Driving,
    /// What the run has used up.
    pub(crate) totals: RunTotals,
    /// What runs in the background.
    pub(crate) background: Background,
    pub(crate) model_view: ModelView,
}

/// The running loop.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lap {
    /// Its number.
    pub lap: u32,
    /// How many replies it has had.
    pub turn: u32,
    /// The turn the model was asked for and has not answered.
    pub asked: Option<u32>,
    /// The ops of the newest reply.
    pub ops: Vec<OpState>,
    pub(crate) finish: Option<cairn_types::Finish>,
    /// The reply has calls whose intents are not recorded yet.
    pub(crate) owes_intents: bool,
    /// What waits for the turn's end to be told.
    pub(crate) waiting: WaitingWords,
    pub(crate) aborted: Option<String>,
    pub(crate) fault: Option<String>,
    pub(crate) inherited: bool,
    pub(crate) spending: LapSpending,
    pub(crate) rails: Rails,
    /// The last word, where it was said.
    pub(crate) last_word: Option<Status>,
    /// What its surface keeps of its turns.
    pub(crate) told: OfSurface,
    pub(crate) hooks: OfLap,
    /// What has happened to files since the newest reply.
    pub(crate) since_reply: SinceReply,
}

impl Engine {
    /// The state of a run that has these facts.
    #[must_use]
    pub fn fold<'a>(facts: impl IntoIterator<Item = &'a Fact>) -> Engine {
        let mut engine = Engine::default();
        facts.into_iter().for_each(|fact| engine.apply(fact));
        engine
    }

    /// Takes one more recorded fact. Facts of a kind this version does not know change nothing.
    pub fn apply(&mut self, fact: &Fact) {
        tracing::trace!(target: "cairn::turn", "Engine::apply");
        self.pass(fact);
        (self.last_n, self.now) = (fact.n, fact.at);
        self.driving.policy_changes += u64::from(may_change_policy(&fact.body));
        if self.id.as_ref() != Some(&fact.run) {
            self.enter(&fact.run);
        }
        match &fact.body {
            Body::Run(run) => self.run = Some(run.clone()),
            Body::Drive(drive) => {
                self.driving.took_drive(drive);
                self.in_lap(Lap::lose_reached);
            }
            Body::Prompt(prompt) => self.queued(prompt),
            Body::Steer(steer) => self.steered(steer),
            Body::Delta(delta) => {
                self.driving.looked = Some(delta.upto.clone());
                self.model_view.took_delta(delta);
            }
            Body::Abort(abort) => self.in_lap(|lap| lap.aborted = Some(abort.why.clone())),
            Body::Ask(ask) => {
                self.release_prompt();
                self.model_view.saw_visible(&ask.visible);
                self.in_lap(|lap| {
                    lap.asked = Some(ask.turn);
                    lap.spending.max_output = ask.max_output;
                    lap.inherited = false;
                    lap.told.asked(ask);
                });
            }
            Body::Reply(reply) => self.took_reply(reply),
            Body::Fault(fault) => self.in_lap(|lap| lap.fault = Some(fault.message.clone())),
            Body::Intent(intent) => {
                self.in_lap(|lap| lap.asked_for(intent));
                let word = self.background.take_word_on(intent);
                self.in_op(intent.at, |op| op.allowed_by = word);
            }
            Body::Proposal(proposal) => self.in_op(proposal.at, |op| op.took_proposal(proposal)),
            Body::Decision(decision) => self.took_decision(decision),
            Body::Reach(reach) => self.in_op(reach.at, |op| op.reached = HostsReached::Here),
            Body::Begin(begin) => self.in_op(begin.at, |op| op.took_begin(begin)),
            Body::Performed(done) => {
                self.note_running(done);
                self.in_op(done.at, |op| op.took_performed(done));
            }
            Body::Outcome(outcome) => self.took_outcome(outcome),
            Body::Hook(hooked) => self.took_hook(hooked),
            Body::Stream(stream) => self.stream_is_over(stream),
            Body::End(end) => self.finished(end),
            // What changes nothing of the state, and what this version does not know.
            _ => {}
        }
    }

    /// Time passes. It is the loop's own unless nobody drove it, or a person was waited for.
    fn pass(&mut self, fact: &Fact) {
        let passed = fact.at.saturating_sub(self.now);
        let is_pause = match &fact.body {
            Body::Drive(_) => true,
            Body::Decision(decision) => matches!(decision.by, By::Person(_)),
            _ => false,
        };
        if !is_pause {
            self.in_lap(|lap| lap.spending.work(passed));
        }
    }

    /// The first fact of a run, or of a fork after its parent's. A fork shares what was said and
    /// done, not what waits to be done, nor words given for the parent.
    fn enter(&mut self, run: &RunId) {
        if self.id.replace(run.clone()).is_some() {
            self.queue.clear();
            self.driving.forget_answers();
            self.background = Background::default();
            self.totals.forget_calls();
            self.in_lap(|lap| lap.inherited = true);
        }
    }

    pub(crate) fn in_lap(&mut self, change: impl FnOnce(&mut Lap)) {
        if let Some(lap) = &mut self.lap {
            change(lap);
        }
    }

    pub(crate) fn in_op(&mut self, at: Coord, change: impl FnOnce(&mut OpState)) {
        if let Some(op) = self.lap.as_mut().and_then(|lap| lap.op_mut(at)) {
            change(op);
        }
    }

    fn queued(&mut self, prompt: &Prompt) {
        self.laps = self.laps.max(prompt.lap);
        self.queue.push_back(prompt.clone());
        self.start_next();
    }

    fn start_next(&mut self) {
        if self.lap.is_some() {
            return;
        }
        if let Some(Prompt { lap, text, media, of, .. }) = self.queue.pop_front() {
            let before = of.map(|of| self.totals.spent_in(of.lap)).unwrap_or_default();
            let spending = LapSpending::going_on_from(before);
            self.lap = Some(Lap { lap, spending, ..Lap::default() });
            self.in_lap(|lap| lap.hooks.held.push(Item::User { text, media }));
        }
    }

    fn took_reply(&mut self, reply: &Reply) {
        self.totals.count_reply(reply);
        self.model_view.items.push(Item::of_reply(reply));
        self.in_lap(|lap| {
            lap.turn = reply.turn;
            lap.asked = None;
            lap.ops.clear();
            lap.since_reply = SinceReply::default();
            lap.hooks.replied();
            lap.finish = Some(reply.finish);
            lap.owes_intents = !reply.calls.is_empty();
            lap.spending.pay(reply);
            lap.told.replied(reply);
        });
        if reply.calls.is_empty() {
            self.close_turn();
        }
    }

    fn took_decision(&mut self, decision: &Decision) {
        if let Some(proposal) = &decision.proposal {
            let word = (decision.verdict, decision.by.clone(), self.now);
            self.decided.insert(proposal.clone(), word);
        }
        let mut op_name = None;
        self.in_op(decision.at, |op| op_name = op.took_decision(decision));
        let mut rules = decision.remembered();
        if let (true, true, Some(op)) = (
            rules.is_empty() && decision.hosts.is_empty(),
            decision.remember != Remember::Once && decision.verdict == Verdict::Allow,
            op_name,
        ) {
            rules.push(op.to_string());
        }
        self.driving.remember(decision, rules);
        self.driving.choose_mode(decision.mode);
        // An answer is the op's result.
        if let Some(words) = decision.words.filter(|_| decision.verdict != Verdict::Answer) {
            self.in_lap(|lap| lap.waiting.add_words(words));
        }
    }

    fn took_outcome(&mut self, outcome: &Outcome) {
        self.note_running(outcome);
        let (mut call, mut is_look, mut of, mut shows) = (None, false, None, None);
        self.in_op(outcome.at, |op| {
            of = op.intent.of;
            op.took_outcome(outcome);
            call = Some(op.intent.call.clone());
            is_look = op.is_shown();
            shows = op.shows();
        });
        self.in_lap(|lap| lap.since_reply.took(outcome));
        self.saw(outcome);
        self.model_view.took_look(outcome, is_look);
        self.count_settled(outcome);
        self.in_lap(|lap| lap.took_word(outcome));
        if let Some(row) = of {
            self.model_view.items.push(Item::Over { row, content: outcome.result });
        } else if let Some(call) = call {
            let (at, status, content) = (outcome.at, outcome.status, outcome.result);
            let media = outcome.media.clone();
            let item = Item::Result { at, call, content, media, status, of: shows, folded: false };
            self.model_view.items.push(item);
        }
        match self.lap.as_ref().is_some_and(|lap| !lap.has_open_ops()) {
            true if of.is_some() => self.heard_of_sent(),
            true => self.close_turn(),
            false => {}
        }
    }

    /// What an op with this outcome counts among: calls, calls that need not be made again, rows that are folded.
    fn count_settled(&mut self, outcome: &Outcome) {
        let Some(op) = self.lap.as_ref().and_then(|lap| lap.op(outcome.at)) else { return };
        if let Some(tool) = op.called_tool(outcome) {
            self.totals.count_call(tool);
        }
        self.pure.took_outcome(op, outcome);
        if let Some(run) = &self.id {
            self.model_view.took_fold(run, &op.intent, outcome);
        }
    }

    /// A command in the background runs from when it is first recorded: it may be over before hooks
    /// had their word and its row is settled.
    fn note_running(&mut self, done: &Outcome) {
        let Some(op) = self.lap.as_ref().and_then(|lap| lap.op(done.at)) else { return };
        // Words for whoever listens say by the same status that the work goes on.
        let is_said = op.intent.op == Some(OpName::Send);
        if done.status == Status::RUNNING && op.performed().is_none() && !is_said {
            self.background.took_running(op, done);
        }
    }

    /// What the model knows of files.
    fn saw(&mut self, outcome: &Outcome) {
        for seen in &outcome.seen {
            // A part of a file that changed says nothing about the rest of it.
            let is_stale =
                self.model_view.seen.get(&seen.path).is_some_and(|hash| *hash != seen.hash);
            if !(seen.part && is_stale) {
                self.sees(&seen.path, Some(seen.hash));
            }
        }
        let wrote = self.op(outcome.at).is_some_and(|op| op.intent.op == Some(OpName::Edit));
        let known: HashSet<Hash> = self.model_view.seen.values().copied().collect();
        for change in &outcome.changes {
            match change.after.as_ref().and_then(|state| state.hash) {
                // What was moved or copied is as well known as it was before.
                Some(hash) if wrote || known.contains(&hash) => {
                    self.sees(&change.path, Some(hash));
                }
                _ => self.sees(&change.path, None),
            }
        }
    }

    /// Words that waited for the turn's end become messages; the model will hear them next.
    fn close_turn(&mut self) {
        let is_silent = self.lap_in_run().is_some_and(|lap| lap.is_silent());
        self.in_lap(|lap| lap.rails.settled(&lap.ops, is_silent));
        self.hear_waiting();
    }

    /// What a command in the background came to is told; the model will hear that next, too.
    fn heard_of_sent(&mut self) {
        self.in_lap(Lap::goes_on);
        self.hear_waiting();
    }

    fn hear_waiting(&mut self) {
        let Some(lap) = &mut self.lap else { return };
        if lap.waiting.has_words() {
            lap.goes_on();
        }
        self.model_view.items.extend(lap.waiting.take_items());
        self.settled = Some((lap.lap, lap.turn));
    }

    fn finished(&mut self, end: &End) {
        if self.lap_in_run().is_some_and(|lap| lap.may_be_heard()) {
            self.release_prompt();
        }
        self.driving.hooks.has_worked = true;
        self.background.sent.clear();
        if let Some(mut lap) = self.lap.take() {
            self.totals.count_loop(&lap);
            self.model_view.items.extend(lap.waiting.take_items());
        }
        self.ended = Some(end.clone());
        self.start_next();
    }
}

impl Lap {
    /// There is something that the model has not heard: whatever it said last, it is asked again.
    pub(crate) fn goes_on(&mut self) {
        (self.finish, self.last_word) = (None, None);
        self.told.goes_on();
        self.rails.heard();
    }

    /// Whether someone stopped it.
    #[must_use]
    pub fn is_aborted(&self) -> bool {
        self.aborted.is_some()
    }

    /// Whether a fork has it from its parent and has not worked on it itself.
    #[must_use]
    pub fn is_inherited(&self) -> bool {
        self.inherited
    }

    /// The longest answer in tokens that the model was asked for, where a budget says so.
    #[must_use]
    pub fn max_output(&self) -> Option<u64> {
        self.spending.max_output
    }

    /// An op was asked for, or a hook made another of it: then no word on it counts any longer.
    fn asked_for(&mut self, intent: &Intent) {
        self.owes_intents = false;
        match self.op_mut(intent.at) {
            None => self.ops.push(OpState::new(intent)),
            Some(op) => op.became(intent),
        }
    }

    /// Another driver has it, and nothing of what commands came to that ran under the earlier one.
    fn lose_reached(&mut self) {
        let reached = self.ops.iter_mut().filter(|op| op.reached == HostsReached::Here);
        reached.for_each(|op| op.reached = HostsReached::Lost);
    }

    pub(crate) fn op_mut(&mut self, at: Coord) -> Option<&mut OpState> {
        self.ops.iter_mut().find(|op| op.intent.at == at)
    }

    pub(crate) fn op(&self, at: Coord) -> Option<&OpState> {
        self.ops.iter().find(|op| op.intent.at == at)
    }

    pub(crate) fn has_open_ops(&self) -> bool {
        self.ops.iter().any(|op| op.status().is_none())
    }
}

/// What clients may ask of the state.
impl Engine {
    /// The present driver, and what holds under it.
    #[must_use]
    pub fn driving(&self) -> &Driving {
        &self.driving
    }

    /// What the run has used up.
    #[must_use]
    pub fn totals(&self) -> &RunTotals {
        &self.totals
    }

    /// The last fact's place; 0 before the first.
    #[must_use]
    pub fn last_n(&self) -> u64 {
        self.last_n
    }

    /// What the model has been told and shown.
    #[must_use]
    pub fn model_view(&self) -> &ModelView {
        &self.model_view
    }

    /// What the run is made of.
    #[must_use]
    pub fn run(&self) -> Option<&RunStarted> {
        self.run.as_ref()
    }

    /// The transcript so far.
    #[must_use]
    pub fn items(&self) -> &[Item] {
        &self.model_view.items
    }

    /// The running loop.
    #[must_use]
    pub fn lap(&self) -> Option<&Lap> {
        self.lap.as_ref()
    }

    /// How many loops wait behind the running one.
    #[must_use]
    pub fn queued_laps(&self) -> usize {
        self.queue.len()
    }

    /// Commands in the background whose end is not recorded.
    pub fn streams(&self) -> impl Iterator<Item = Coord> {
        self.background.streams.iter().copied()
    }

    /// How the last loop ended.
    #[must_use]
    pub fn ended(&self) -> Option<&End> {
        self.ended.as_ref()
    }

    /// Money of the running loop, or of the last one when none runs; absent when none is known.
    #[must_use]
    pub fn lap_cost(&self) -> Option<PicoUsd> {
        self.lap.as_ref().map_or(self.totals.ended_cost, |lap| lap.spending.cost())
    }

    /// Whether no op is open and the model is not being asked: where a fork may leave.
    #[must_use]
    pub fn is_between_turns(&self) -> bool {
        self.lap
            .as_ref()
            .is_none_or(|lap| lap.asked.is_none() && !lap.has_open_ops() && !lap.owes_intents)
    }

    /// The newest turn all of whose ops have outcomes, as loop and turn.
    #[must_use]
    pub fn last_settled(&self) -> Option<(u32, u32)> {
        self.settled
    }

    /// The question that waits for a word, if one does.
    #[must_use]
    pub fn open_question(&self) -> Option<&Proposal> {
        let op = self.lap_in_run()?.open_ops().next()?;
        let question = op.newest_question()?;
        (!self.decided.contains_key(&question.id)).then_some(question)
    }

    /// An op of the newest reply.
    #[must_use]
    pub fn op(&self, at: Coord) -> Option<&OpState> {
        self.lap.as_ref()?.op(at)
    }
}
