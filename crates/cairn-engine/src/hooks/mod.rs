//! Hooks as the engine sees them: which one is asked next, and what its answer becomes. It asks none
//! itself, and never one whose answer is recorded. What answers come to is in the files beside this one,
//! by what they are about: `laps` (sessions, prompts, turns), `ops` (before an op), `misread` (calls that
//! make no sense), `results` (after an op).

mod laps;
mod misread;
mod ops;
mod results;

pub use misread::Misread;
pub(crate) use ops::HooksSaid;
pub use results::Concluded;

use crate::admit::Recording;
use crate::op::{HostsReached, OpState};
use crate::requested_call::RequestedCall;
use crate::state::Engine;
use crate::view::Item;
use crate::words;
use cairn_surface::{Toolbox, native};
use cairn_types::{
    Body, Call, ContentRef, Coord, HookAnswer, HookEvent, HookSays, Hooked, Intent, OpName, Surface,
};
use std::collections::BTreeSet;

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
    /// The hosts that a person would be asked about, where that is the question.
    pub hosts: Vec<String>,
}

impl HookAsk {
    pub(crate) fn new(event: HookEvent, name: &str) -> HookAsk {
        HookAsk { event, name: name.to_owned(), at: None, again: false, hosts: Vec::new() }
    }

    fn about(op: &OpState, event: HookEvent, name: &str) -> HookAsk {
        HookAsk { at: Some(op.intent.at), ..HookAsk::new(event, name) }
    }
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
    /// Who was asked before the next turn,
    started: BTreeSet<String>,
    /// and who does not want it.
    turn_refused_by: Option<String>,
    /// Who was asked after the newest turn.
    settled: BTreeSet<String>,
    /// Who was asked about the last word.
    stopped: BTreeSet<String>,
    stops: u32,
}

/// What hooks said about an op.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OfOp {
    /// About the call that makes no sense.
    misread: Vec<Hooked>,
    /// Before it was decided on.
    before: Vec<Hooked>,
    /// Before a person was asked which hosts it may reach.
    hosts: Vec<Hooked>,
    /// Who looked at the newest question about it, and at the word on that.
    watched: BTreeSet<(HookEvent, String)>,
    /// After it was allowed.
    accepting: Vec<Hooked>,
    /// After it was performed.
    after: Vec<Hooked>,
}

impl OfOp {
    /// It is another op now: nobody was asked whether that one may begin, nor what it may reach.
    pub(crate) fn became_another(&mut self) {
        self.accepting.clear();
        self.hosts.clear();
    }

    /// Takes an answer about the op.
    fn took(&mut self, hooked: &Hooked) {
        match hooked.event {
            HookEvent::UnknownTool => self.misread.push(hooked.clone()),
            HookEvent::PermissionRequest if !hooked.hosts.is_empty() => {
                self.hosts.push(hooked.clone());
            }
            HookEvent::PreToolUse | HookEvent::PermissionRequest => {
                self.before.push(hooked.clone());
            }
            HookEvent::Notification | HookEvent::Decided => {
                self.watched.insert((hooked.event, hooked.name.clone()));
            }
            HookEvent::Accepting => self.accepting.push(hooked.clone()),
            HookEvent::PostToolUse | HookEvent::PostToolUseFailure => {
                self.after.push(hooked.clone());
            }
            HookEvent::SessionStart
            | HookEvent::UserPromptSubmit
            | HookEvent::TurnStart
            | HookEvent::TurnEnd
            | HookEvent::Stop
            | HookEvent::SessionEnd => {}
        }
    }

    /// A question is put that nobody has looked at.
    pub(crate) fn opened(&mut self) {
        self.watched.clear();
    }
}

impl OfLap {
    /// The model replied: there is another turn to start, another to end.
    pub(crate) fn replied(&mut self) {
        self.started.clear();
        self.settled.clear();
        self.stopped.clear();
    }
}

impl Engine {
    /// A hook answered. What an answer may not say at its event is dropped.
    #[must_use]
    pub fn hooked(&self, ask: &HookAsk, says: HookSays, ms: u64, tools: &Toolbox) -> Recording {
        let mut recording = Recording::default();
        let may = ask.event.may();
        let HookSays { block, substitute, input, tool, context, word, stop, problem } = says;
        let op = ask.at.and_then(|at| self.op(at));
        // What a command did cannot be made another call, nor what it reached be taken back.
        let is_call = op.is_none_or(|op| op.intent.of.is_none() && op.reached == HostsReached::Not);
        let input = input.filter(|_| may.input && ask.hosts.is_empty() && is_call);
        let tool = tool.filter(|_| ask.event == HookEvent::UnknownTool && input.is_some());
        let changed = input.as_deref().zip(op).filter(|_| !ask.again);
        let intent = changed.map(|(input, op)| {
            let name = tool.clone().unwrap_or_else(|| op.intent.tool.clone());
            let args = ContentRef::of(input.as_bytes());
            let call = &Call { id: op.intent.call.clone(), name, args };
            let (at, schemes) = (op.intent.at, self.driving.schemes());
            let requested = RequestedCall { at, call, args: input, schemes, tools };
            op.changed_by_hook(&ask.name, requested, &mut recording)
        });
        let block = block.filter(|_| may.block).map(|why| match ask.event {
            HookEvent::Stop => words::kept_going(&why),
            HookEvent::PostToolUse | HookEvent::PostToolUseFailure | HookEvent::UnknownTool => {
                words::added_by_hook(&why)
            }
            _ => words::refused_by_hook(&why),
        });
        let context = context.iter().filter(|_| may.context);
        let answer = HookAnswer {
            block: block.map(|text| recording.keep(text)),
            substitute: substitute.filter(|_| may.substitute).map(|text| recording.keep(text)),
            input: input.map(|text| recording.keep(text)),
            tool,
            context: context.map(|t| recording.keep(words::added_by_hook(t))).collect(),
            word: word.filter(|_| may.word),
            stop: stop.filter(|_| may.stop),
            problem,
        };
        recording.facts.push(Body::Hook(Hooked {
            event: ask.event,
            name: ask.name.clone(),
            lap: self.lap.as_ref().map(|lap| lap.lap),
            at: ask.at,
            again: ask.again,
            hosts: ask.hosts.clone(),
            answer,
            ms,
        }));
        recording.facts.extend(intent.map(Body::Intent));
        recording
    }

    /// Takes an answer.
    pub(crate) fn took_hook(&mut self, hooked: &Hooked) {
        let (name, answer) = (hooked.name.clone(), &hooked.answer);
        match hooked.event {
            HookEvent::SessionEnd => drop(self.driving.hooks.parted.insert(name)),
            HookEvent::SessionStart => {
                self.driving.hooks.greeted.insert(name);
                self.told_with_prompt(&answer.context);
            }
            HookEvent::UserPromptSubmit => {
                self.in_lap(|lap| {
                    let refused = answer.block.is_some() || answer.stop.is_some();
                    lap.hooks.refused_by = refused.then(|| name.clone());
                    lap.hooks.asked.insert(name);
                });
                self.told_with_prompt(&answer.context);
            }
            HookEvent::TurnStart => {
                self.in_lap(|lap| {
                    lap.hooks.turn_refused_by = answer.block.map(|_| name.clone());
                    lap.hooks.started.insert(name);
                });
                self.told_with_prompt(&answer.context);
            }
            HookEvent::TurnEnd => {
                self.in_lap(|lap| {
                    lap.hooks.settled.insert(name);
                });
                self.told_with_prompt(&answer.context);
            }
            HookEvent::Stop => {
                let words = self.lap.as_mut().and_then(|lap| lap.took_stop(name, answer));
                self.model_view.items.extend(words.map(Item::words));
            }
            _ => {
                if let Some(at) = hooked.at {
                    self.in_op(at, |op| op.hooks.took(hooked));
                }
            }
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
            _ => self.model_view.items.extend(words),
        }
    }
}

/// The own name of an op's tool, where hooks are asked about it: a call of a model's that makes sense.
fn tool_of(op: &OpState) -> Option<&str> {
    let intent = &op.intent;
    let name = match intent.op {
        Some(OpName::Call) => Some(intent.tool.as_str()),
        _ => native::name_of(&intent.tool),
    };
    name.filter(|_| intent.surface != Surface::Client && intent.problem.is_none())
}

impl OpState {
    /// The call that the hook of this name makes of it, read as if the model had written it. What the fact names is
    /// kept with the recording.
    fn changed_by_hook(
        &self,
        name: &str,
        requested: RequestedCall<'_>,
        recording: &mut Recording,
    ) -> Intent {
        let old = &self.intent;
        let mut changed = requested.record_with(recording, words::senseless_change);
        (changed.writer, changed.surface, changed.unclosed) =
            (old.writer, old.surface, old.unclosed);
        changed.repairs.push(format!("changed by the hook {name}"));
        changed
    }
}
