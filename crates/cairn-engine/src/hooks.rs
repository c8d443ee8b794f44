//! Hooks as the engine sees them: which one is asked next, what its answer becomes, and what all the
//! answers come to. It asks none itself, and never one whose answer is recorded.

use crate::admit::{Recording, intent};
use crate::gates::Leave;
use crate::reach::Reach;
use crate::state::{Engine, Lap, OpState};
use crate::step::Step;
use crate::view::Item;
use crate::words;
use cairn_surface::native;
use cairn_types::{
    Body, Call, ContentRef, Coord, End, HookAnswer, HookEvent, HookSays, HookWord, Hooked, Intent,
    Outcome, Problem, Settled, Status, Surface,
};
use std::collections::BTreeSet;

/// How often hooks may keep one loop from ending.
const MOST_STOPS: u32 = 3;

/// A hook that is to be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookAsk {
    /// At what.
    pub event: HookEvent,
    /// Which one.
    pub name: String,
    /// The op, where it is about one.
    pub at: Option<Coord>,
    /// Once more, because a hook changed the op.
    pub again: bool,
}

impl HookAsk {
    fn new(event: HookEvent, name: &str) -> HookAsk {
        HookAsk { event, name: name.to_owned(), at: None, again: false }
    }
}

/// What the hooks before an op say together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HooksSaid {
    /// There are none.
    None,
    /// These would be asked.
    Unasked(Vec<String>),
    /// This one is to be asked.
    Pending(HookAsk),
    /// This one says no.
    Blocked(String, ContentRef),
    /// This one changed what hooks had changed before.
    ChangedTwice(String),
    /// This one gave the result.
    Substituted(String, ContentRef),
    /// None of these minds.
    Passed(Vec<String>, Option<HookWord>),
}

/// What hooks said to the present driver.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OfRun {
    greeted: BTreeSet<String>,
    parted: BTreeSet<String>,
    /// A loop ended under it.
    pub(crate) has_worked: bool,
}

/// What hooks said about a loop.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OfLap {
    asked: BTreeSet<String>,
    /// The prompt, and what is told with it, until the model is asked.
    pub(crate) held: Vec<Item>,
    refused_by: Option<String>,
    /// Who was asked about the last word.
    pub(crate) stopped: BTreeSet<String>,
    stops: u32,
}

/// What hooks said about an op.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OfOp {
    before: Vec<Hooked>,
    after: Vec<Hooked>,
    /// What happened, while hooks that look at results are asked.
    pub(crate) performed: Option<Outcome>,
}

impl Engine {
    /// The names of the hooks that are asked at an event, in order.
    fn wanted<'a>(
        &'a self,
        event: HookEvent,
        tool: Option<&'a str>,
    ) -> impl Iterator<Item = &'a str> {
        let all = self.drive.iter().flat_map(|drive| &drive.hooks);
        all.filter(move |plan| plan.event == event)
            .filter(move |plan| tool.is_none_or(|tool| plan.tools.iter().any(|name| name == tool)))
            .map(|plan| plan.name.as_str())
    }

    /// The first that was not asked yet.
    fn unasked(&self, event: HookEvent, asked: &BTreeSet<String>) -> Option<HookAsk> {
        let name = self.wanted(event, None).find(|name| !asked.contains(*name))?;
        Some(HookAsk::new(event, name))
    }

    /// The prompt of the running loop and what is told with it, while the model was not asked yet.
    #[must_use]
    pub fn held(&self) -> &[Item] {
        self.lap.as_ref().map_or(&[], |lap| &lap.hooks.held)
    }

    /// No loop runs: when the driver did some work, its end is told.
    pub(crate) fn step_idle(&self) -> Step {
        let parting = self.unasked(HookEvent::SessionEnd, &self.hooks.parted);
        parting.filter(|_| self.hooks.has_worked).map_or(Step::Idle, Step::Hook)
    }

    /// The loop is about to begin.
    pub(crate) fn step_prompt(&self, lap: &Lap) -> Option<Step> {
        if let Some(name) = &lap.hooks.refused_by {
            let why = format!("a hook refused the prompt: {name}");
            let end = End { lap: lap.lap, status: Status::REFUSED, rail: None, why };
            return Some(Step::Record(Recording::of(Body::End(end))));
        }
        self.unasked(HookEvent::SessionStart, &self.hooks.greeted)
            .or_else(|| self.unasked(HookEvent::UserPromptSubmit, &lap.hooks.asked))
            .map(Step::Hook)
    }

    /// The model has said its last word.
    pub(crate) fn step_stop(&self, lap: &Lap) -> Option<Step> {
        let asked = self.unasked(HookEvent::Stop, &lap.hooks.stopped);
        asked.filter(|_| lap.hooks.stops < MOST_STOPS).map(Step::Hook)
    }

    /// How often hooks have kept the running loop from ending.
    #[must_use]
    pub fn kept_going(&self) -> u32 {
        self.lap.as_ref().map_or(0, |lap| lap.hooks.stops)
    }

    /// What hooks say before an op. What was said counts, whoever drives now.
    pub(crate) fn hooks_said(&self, op: &OpState) -> HooksSaid {
        let said = &op.hooks.before;
        let tool = native::tool(&op.intent.tool).filter(|_| op.intent.surface == Surface::Native);
        let names: Vec<&str> = tool.map_or_else(Vec::new, |tool| {
            self.wanted(HookEvent::PreToolUse, Some(tool.name)).collect()
        });
        for one in said {
            if let Some(told) = one.answer.block {
                return HooksSaid::Blocked(one.name.clone(), told);
            }
            if one.again && one.answer.input.is_some() {
                return HooksSaid::ChangedTwice(one.name.clone());
            }
        }
        let changed = said.iter().any(|one| one.answer.input.is_some());
        for again in [false, true].into_iter().take(if changed { 2 } else { 1 }) {
            let has_said = |name: &str| said.iter().any(|o| o.again == again && o.name == name);
            if let Some(name) = names.iter().find(|name| !has_said(name)) {
                let (at, ask) = (Some(op.intent.at), HookAsk::new(HookEvent::PreToolUse, name));
                return HooksSaid::Pending(HookAsk { at, again, ..ask });
            }
        }
        if let Some((name, result)) =
            said.iter().find_map(|one| Some((one.name.clone(), one.answer.substitute?)))
        {
            return HooksSaid::Substituted(name, result);
        }
        if names.is_empty() && said.is_empty() {
            return HooksSaid::None;
        }
        let words = || said.iter().filter_map(|one| one.answer.word);
        let asks = words().find(|word| *word == HookWord::Ask);
        let names = names.into_iter().map(str::to_owned).collect();
        HooksSaid::Passed(names, asks.or_else(|| words().next()))
    }

    /// An op that someone allowed still passes hooks that the present driver has not asked about it.
    pub(crate) fn step_unasked(&self, op: &OpState) -> Option<Step> {
        match self.hooks_said(op) {
            HooksSaid::Pending(ask) => Some(Step::Hook(ask)),
            HooksSaid::Blocked(_, told) => {
                Some(Step::Record(Recording::outcome_by_ref(op, Status::REFUSED, told)))
            }
            HooksSaid::ChangedTwice(_) => {
                let told = words::CHANGED_TWICE;
                Some(Step::Record(Recording::not_performed(op, Status::REFUSED, told)))
            }
            HooksSaid::Substituted(..) => match self.leave(op, &Reach::default()) {
                Leave::Answered(gates, result) => {
                    Some(Step::Record(self.answered(op, gates, result)))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The op was performed and its result is looked at: who is next, or nobody.
    pub(crate) fn step_performed(&self, lap: &Lap, op: &OpState) -> Step {
        let at = op.intent.at;
        let tool = native::tool(&op.intent.tool).map(|tool| tool.name);
        let mut names = self.wanted(HookEvent::PostToolUse, Some(tool.unwrap_or_default()));
        let has_said = |name: &str| op.hooks.after.iter().any(|one| one.name == name);
        match names.find(|name| !has_said(name)).filter(|_| !lap.is_aborted()) {
            Some(name) => {
                Step::Hook(HookAsk { at: Some(at), ..HookAsk::new(HookEvent::PostToolUse, name) })
            }
            None => Step::Conclude(at),
        }
    }

    /// Whether hooks have something to say on a result before it is recorded.
    fn is_looked_at(&self, op: &OpState) -> bool {
        let tool = native::tool(&op.intent.tool).filter(|_| op.intent.surface == Surface::Native);
        op.hooks.before.iter().any(|one| !one.answer.context.is_empty())
            || tool.is_some_and(|tool| {
                self.wanted(HookEvent::PostToolUse, Some(tool.name)).next().is_some()
            })
    }

    /// An op was performed, or a hook gave its result: what is recorded of that now.
    #[must_use]
    pub fn performed(&self, outcome: Outcome) -> Body {
        let told = outcome.settled == Settled::Performed || self.is_answered(outcome.at);
        match self.op(outcome.at).is_some_and(|op| told && self.is_looked_at(op)) {
            true => Body::Performed(outcome),
            false => Body::Outcome(outcome),
        }
    }

    fn is_answered(&self, at: Coord) -> bool {
        let said = self.op(at).map(|op| self.hooks_said(op));
        matches!(said, Some(HooksSaid::Substituted(..)))
    }

    /// What hooks made of a result: what happened, what stands in its place, and what is told after
    /// it. Absent when the op was not performed or its row is settled.
    #[must_use]
    pub fn concluded(&self, at: Coord) -> Option<(Outcome, ContentRef, Vec<ContentRef>)> {
        let OfOp { before, after, performed } = &self.op(at)?.hooks;
        let outcome = performed.clone()?;
        let given = after.iter().rev().find_map(|one| one.answer.substitute);
        let early = before.iter().flat_map(|one| one.answer.context.iter());
        let late = after.iter().flat_map(|one| one.answer.block.iter().chain(&one.answer.context));
        let result = given.unwrap_or(outcome.result);
        Some((outcome, result, early.chain(late).copied().collect()))
    }

    /// A hook answered.
    #[must_use]
    pub fn hooked(&self, ask: &HookAsk, says: HookSays, ms: u64) -> Recording {
        let mut recording = Recording::default();
        let HookSays { block, substitute, input, context, word, stop, problem } = says;
        let op = ask.at.and_then(|at| self.op(at));
        let input = input.filter(|_| ask.event == HookEvent::PreToolUse);
        let changed = input.as_deref().zip(op).filter(|_| !ask.again);
        let intent = changed.map(|(input, op)| changed_to(op, &ask.name, input, &mut recording));
        let block = block.map(|why| match ask.event {
            HookEvent::Stop => words::kept_going(&why),
            HookEvent::PostToolUse => words::added_by_hook(&why),
            _ => words::refused_by_hook(&why),
        });
        let answer = HookAnswer {
            block: block.map(|text| recording.keep(text)),
            substitute: substitute.map(|text| recording.keep(text)),
            input: input.map(|text| recording.keep(text)),
            context: context.iter().map(|t| recording.keep(words::added_by_hook(t))).collect(),
            word,
            stop,
            problem,
        };
        recording.facts.push(Body::Hook(Hooked {
            event: ask.event,
            name: ask.name.clone(),
            lap: self.lap.as_ref().map(|lap| lap.lap),
            at: ask.at,
            again: ask.again,
            answer,
            ms,
        }));
        recording.facts.extend(intent.map(Body::Intent));
        recording
    }

    /// Takes an answer.
    pub(crate) fn took_hook(&mut self, hooked: &Hooked) {
        let (name, answer) = (hooked.name.clone(), &hooked.answer);
        match (hooked.event, hooked.at) {
            (HookEvent::SessionEnd, _) => drop(self.hooks.parted.insert(name)),
            (HookEvent::SessionStart, _) => {
                self.hooks.greeted.insert(name);
                self.told_with_prompt(&answer.context);
            }
            (HookEvent::UserPromptSubmit, _) => {
                self.in_lap(|lap| {
                    lap.hooks.refused_by = answer.block.map(|_| name.clone());
                    lap.hooks.asked.insert(name);
                });
                self.told_with_prompt(&answer.context);
            }
            (HookEvent::Stop, _) => self.took_stop(name, answer),
            (HookEvent::PreToolUse, Some(at)) => {
                self.in_op(at, |op| op.hooks.before.push(hooked.clone()));
            }
            (HookEvent::PostToolUse, Some(at)) => {
                self.in_op(at, |op| op.hooks.after.push(hooked.clone()));
            }
            (HookEvent::PreToolUse | HookEvent::PostToolUse, None) => {}
        }
        let is_over = matches!(hooked.event, HookEvent::Stop | HookEvent::SessionEnd);
        if let (Some(why), false) = (&answer.stop, is_over) {
            let why = format!("a hook stopped the work: {why}");
            self.in_lap(|lap| lap.aborted = lap.aborted.take().or(Some(why)));
        }
    }

    /// Words that the model hears with the prompt, or next, when it has heard that.
    pub(crate) fn told_with_prompt(&mut self, context: &[ContentRef]) {
        let words = context.iter().copied().map(Item::words);
        match &mut self.lap {
            Some(lap) if !lap.hooks.held.is_empty() => lap.hooks.held.extend(words),
            _ => self.items.extend(words),
        }
    }

    fn took_stop(&mut self, name: String, answer: &HookAnswer) {
        let Some(lap) = &mut self.lap else { return };
        lap.hooks.stopped.insert(name);
        if let Some(why) = answer.block.filter(|_| answer.stop.is_none()) {
            lap.hooks.stopped.clear();
            lap.hooks.stops += 1;
            lap.finish = None;
            self.items.push(Item::words(why));
        }
    }

    /// The prompt becomes a message.
    pub(crate) fn release_prompt(&mut self) {
        if let Some(lap) = &mut self.lap {
            self.items.append(&mut lap.hooks.held);
        }
    }
}

impl OfLap {
    /// Whether its prompt must not reach the model.
    pub(crate) fn is_refused(&self) -> bool {
        self.refused_by.is_some()
    }
}

/// The op as a hook wants it: read from the changed arguments as if the model had written them.
fn changed_to(op: &OpState, name: &str, input: &str, recording: &mut Recording) -> Intent {
    let old = &op.intent;
    let args = ContentRef::of(input.as_bytes());
    let call = Call { id: old.call.clone(), name: old.tool.clone(), args };
    let mut changed = intent(old.at, &call, input, recording);
    changed.writer = old.writer;
    changed.repairs.push(format!("changed by the hook {name}"));
    if let (Some(_), Err(misread)) = (&changed.problem, native::parse(&old.tool, input).action) {
        let message = recording.keep(words::senseless_change(&misread.message));
        changed.problem = Some(Problem { status: misread.status, message });
    }
    changed
}
