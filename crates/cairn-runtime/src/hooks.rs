//! Asks hooks when the engine says so, and records what they said; joins what they add to a result.
//! Which one is asked when, and what follows from an answer, is the engine's.

use crate::calls;
use crate::transcript::text_of;
use crate::{Driver, Event, RunError};
use cairn_engine::gates::Terms;
use cairn_engine::{HookAsk, Item, Recording};
use cairn_surface::native;
use cairn_tools::hooks::{self, Answer, Call, Done, What};
use cairn_types::{Body, ContentRef, Coord, HookEvent, Status};
use std::mem;
use std::time::Instant;
use tokio_util::sync::CancellationToken;

impl Driver {
    /// Asks one hook. What led to it is durable before; an abort does not wait for it.
    pub(crate) async fn ask_hook(&mut self, ask: HookAsk) -> Result<(), RunError> {
        self.flush().await?;
        let hook = self.settings.hooks.named(&ask.name);
        let (Some(what), Some(hook)) = (self.what(&ask)?, hook) else {
            let problem = Some("there is no such hook".to_owned());
            let answer = Answer { problem, ..Answer::default() };
            return self.record(self.engine.hooked(&ask, answer, 0));
        };
        let event = hooks::Event { place: self.place(), what };
        let cancel = CancellationToken::new();
        let began = Instant::now();
        let mut asking = Box::pin(async {
            tokio::select! {
                answer = hook.on(&event) => Some(answer),
                () = cancel.cancelled() => None,
            }
        });
        let answer = self.meanwhile(&mut asking, &cancel).await?;
        drop(asking);
        let Some(mut answer) = answer else { return Ok(()) };
        self.without_secrets(&ask, &mut answer);
        let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        if let Some(problem) = &answer.problem {
            let said = format!("the hook {} ({}): {problem}", ask.name, ask.event);
            self.sink.event(&Event::Notice(said));
        }
        if answer.input.is_some() {
            // What was prepared was prepared for other arguments.
            self.prepared = None;
        }
        self.record(self.engine.hooked(&ask, answer, ms))
    }

    /// Arguments that hold a secret are not what is done, whoever wrote them; nor is a problem told
    /// with one.
    fn without_secrets(&self, ask: &HookAsk, answer: &mut Answer) {
        let scrubber = &self.settings.scrubber;
        if let Some(problem) = &mut answer.problem {
            *problem = scrubber.text(problem).into_owned();
        }
        let op = ask.at.and_then(|at| self.engine.op(at));
        if let (Some(op), Some(input)) = (op, &answer.input)
            && let Some(why) = calls::refusal(scrubber, &op.intent.tool, input)
        {
            *answer = Answer { block: Some(why), input: None, ..mem::take(answer) };
        }
    }

    fn place(&self) -> hooks::Place {
        let Terms { mode, approval, .. } = self.engine.terms();
        hooks::Place {
            session: self.session.clone(),
            run: self.run_id().clone(),
            root: self.world.workspace().path().to_string_lossy().into_owned(),
            mode,
            approval,
        }
    }

    /// What a hook is told; absent when what it was to be told is gone.
    fn what(&self, ask: &HookAsk) -> Result<Option<What>, RunError> {
        let text = |content: Option<ContentRef>| -> Result<String, RunError> {
            let bytes = content.map(|content| self.content(&content.hash)).transpose()?;
            Ok(text_of(&bytes.unwrap_or_default()).to_string())
        };
        Ok(Some(match (ask.event, ask.at) {
            (HookEvent::SessionStart, _) => {
                let lap = self.engine.lap().map_or(1, |lap| lap.lap);
                What::SessionStart { resumed: lap > 1 || self.engine.turns() > 0 }
            }
            (HookEvent::UserPromptSubmit, _) => {
                let prompt = match self.engine.held().first() {
                    Some(Item::User { text, .. }) => Some(*text),
                    _ => None,
                };
                What::UserPromptSubmit { prompt: text(prompt)? }
            }
            (HookEvent::Stop, _) => {
                let last = self.engine.items().iter().rev().find_map(|item| match item {
                    Item::Assistant { text, .. } => *text,
                    Item::User { .. } | Item::Result { .. } => None,
                });
                What::Stop { is_again: self.engine.kept_going() > 0, last: text(last)? }
            }
            (HookEvent::SessionEnd, _) => {
                let status = self.engine.ended().map_or(Status::OK, |end| end.status);
                What::SessionEnd { status }
            }
            (HookEvent::PreToolUse, Some(at)) => {
                let Some(call) = self.call(at)? else { return Ok(None) };
                What::PreToolUse(call)
            }
            (HookEvent::PostToolUse, Some(at)) => {
                let (call, done) = (self.call(at)?, self.engine.concluded(at));
                let (Some(call), Some((done, result, _))) = (call, done) else { return Ok(None) };
                let (status, exit, changes) = (done.status, done.exit, done.changes);
                What::PostToolUse(call, Done { status, exit, text: text(Some(result))?, changes })
            }
            (HookEvent::PreToolUse | HookEvent::PostToolUse, None) => return Ok(None),
        }))
    }

    fn call(&self, at: Coord) -> Result<Option<Call>, RunError> {
        let tool = self.engine.op(at).and_then(|op| native::tool(&op.intent.tool));
        let Some(tool) = tool else { return Ok(None) };
        Ok(Some(Call { at, tool: tool.name, action: self.action(at)? }))
    }

    /// Records what became of an op, with what hooks made of it.
    pub(crate) fn conclude(&mut self, at: Coord) -> Result<(), RunError> {
        let Some((mut outcome, result, added)) = self.engine.concluded(at) else { return Ok(()) };
        let mut told = self.content(&result.hash)?;
        if result != outcome.result {
            outcome.media.clear();
        }
        if !added.is_empty() {
            outcome.own = Some(result.hash);
        }
        for content in added {
            if !told.is_empty() && !told.ends_with(b"\n") {
                told.push(b'\n');
            }
            told.extend(self.content(&content.hash)?);
        }
        let mut recording = Recording::default();
        outcome.result = recording.keep(told);
        recording.facts.push(Body::Outcome(outcome));
        self.record(recording)
    }
}
