//! Hooks around sessions, prompts and turns: who is asked, and how a loop ends or goes on by their word.

use super::HookAsk;
use crate::admit::Recording;
use crate::lap_in_run::LapInRun;
use crate::state::{Engine, Lap};
use crate::step::Step;
use crate::view::Item;
use cairn_types::{Body, ContentRef, End, HookAnswer, HookEvent, Status};

/// How often hooks may keep one loop from ending.
const MOST_STOPS: u32 = 3;

impl Engine {
    /// How many messages the model would be sent now, and how many bytes their texts, calls and
    /// pictures have.
    #[must_use]
    pub fn would_send(&self) -> (u64, u64) {
        let held = || self.lap.iter().flat_map(Lap::held);
        let all = || self.model_view.items.iter().chain(held());
        (all().count() as u64, all().map(Item::bytes).sum())
    }

    /// No loop runs: when the driver did some work, its end is told.
    pub(crate) fn step_idle(&self) -> Step {
        let parting = self.driving.unasked_hook(HookEvent::SessionEnd, &self.driving.hooks.parted);
        parting.filter(|_| self.driving.hooks.has_worked).map_or(Step::Idle, Step::Hook)
    }

    /// The prompt becomes a message.
    pub(crate) fn release_prompt(&mut self) {
        if let Some(lap) = self.lap.as_mut().filter(|lap| !lap.hooks.held.is_empty()) {
            lap.told.prompt.get_or_insert(self.model_view.items.len());
            self.model_view.items.append(&mut lap.hooks.held);
        }
    }
}

impl Lap {
    /// Its prompt and what the model hears with it; empty once the model was asked.
    #[must_use]
    pub fn held(&self) -> &[Item] {
        &self.hooks.held
    }

    /// A hook said whether it may end. Returns the words by which the hook keeps it going.
    pub(super) fn took_stop(&mut self, name: String, answer: &HookAnswer) -> Option<ContentRef> {
        self.hooks.stopped.insert(name);
        let why = answer.block.filter(|_| answer.stop.is_none())?;
        self.hooks.stopped.clear();
        self.hooks.stops += 1;
        (self.finish, self.last_word) = (None, None);
        Some(why)
    }

    /// How often hooks have kept it from ending.
    #[must_use]
    pub fn kept_going(&self) -> u32 {
        self.hooks.stops
    }
}

impl LapInRun<'_> {
    /// Whether the model may hear a loop's prompt: no hook refused it, and every one was asked.
    pub(crate) fn may_be_heard(&self) -> bool {
        let unasked =
            self.run.driving.unasked_hook(HookEvent::UserPromptSubmit, &self.lap.hooks.asked);
        self.lap.hooks.refused_by.is_none() && unasked.is_none()
    }

    /// The loop is about to begin.
    pub(crate) fn step_prompt(&self) -> Option<Step> {
        if let Some(name) = &self.lap.hooks.refused_by {
            return Some(refused(self.lap, format!("a hook refused the prompt: {name}")));
        }
        self.run
            .driving
            .unasked_hook(HookEvent::SessionStart, &self.run.driving.hooks.greeted)
            .or_else(|| {
                self.run.driving.unasked_hook(HookEvent::UserPromptSubmit, &self.lap.hooks.asked)
            })
            .map(Step::Hook)
    }

    /// The model is about to be asked.
    pub(crate) fn step_turn_start(&self) -> Option<Step> {
        if let Some(name) = &self.lap.hooks.turn_refused_by {
            let why = format!("a hook refused turn {}: {name}", self.lap.turn.saturating_add(1));
            return Some(refused(self.lap, why));
        }
        self.run.driving.unasked_hook(HookEvent::TurnStart, &self.lap.hooks.started).map(Step::Hook)
    }

    /// All ops of the newest turn are settled.
    pub(crate) fn step_turn_end(&self) -> Option<Step> {
        let is_over = self.lap.turn > 0 && !self.lap.owes_intents;
        let asked: Option<HookAsk> =
            self.run.driving.unasked_hook(HookEvent::TurnEnd, &self.lap.hooks.settled);
        asked.filter(|_| is_over).map(Step::Hook)
    }

    /// The model has said its last word.
    pub(crate) fn step_stop(&self) -> Option<Step> {
        let asked = self.run.driving.unasked_hook(HookEvent::Stop, &self.lap.hooks.stopped);
        asked.filter(|_| self.lap.hooks.stops < MOST_STOPS).map(Step::Hook)
    }
}

fn refused(lap: &Lap, why: String) -> Step {
    let end = End { lap: lap.lap, status: Status::REFUSED, rail: None, why };
    Step::Record(Recording::of(Body::End(end)))
}
