//! What a hook is told of what happens, read from the run. Asking it is `hooks`'s.

use crate::RunError;
use crate::model::transcript::text_of;
use crate::ops::preview::OpPreview;
use cairn_engine::gates::Terms;
use cairn_engine::{Concluded, Engine, HookAsk, Item, Misread, OpState};
use cairn_hooks::{Call, Done, Request, Senseless, What, Word};
use cairn_surface::native;
use cairn_types::{ContentRef, Coord, HookEvent, OpName, Status};
use std::sync::Arc;

/// The run as it is now, to say what a hook is told of it.
pub(crate) struct HookBriefing<'a> {
    pub(crate) preview: OpPreview<'a>,
    /// The model's name, `provider/name`.
    pub(crate) model: &'a str,
}

impl HookBriefing<'_> {
    fn engine(&self) -> &Engine {
        self.preview.engine()
    }

    /// Where it happens.
    pub(crate) fn place(&self) -> cairn_hooks::Place {
        let Terms { mode, approval, .. } = self.engine().driving().terms();
        cairn_hooks::Place {
            session: self.preview.run.journal.session().clone(),
            run: self.preview.run.journal.run_id().clone(),
            root: self.preview.world.workspace().path().to_string_lossy().into_owned(),
            mode,
            approval,
        }
    }

    /// What a hook is told; absent when what it was to be told is gone.
    pub(crate) async fn what(&self, ask: &HookAsk) -> Result<Option<What>, RunError> {
        match ask.at {
            Some(at) => self.what_of_op(ask, at).await,
            None => self.what_of_lap(ask.event),
        }
    }

    fn what_of_lap(&self, event: HookEvent) -> Result<Option<What>, RunError> {
        let engine = self.engine();
        let turn = engine.lap().map_or(0, |lap| lap.turn);
        Ok(Some(match event {
            HookEvent::SessionStart => {
                let lap = engine.lap().map_or(1, |lap| lap.lap);
                What::SessionStart { resumed: lap > 1 || engine.totals().turns() > 0 }
            }
            HookEvent::UserPromptSubmit => {
                let prompt = match engine.lap().and_then(|lap| lap.held().first()) {
                    Some(Item::User { text, .. }) => Some(*text),
                    _ => None,
                };
                What::UserPromptSubmit { prompt: self.text(prompt)? }
            }
            HookEvent::TurnStart => {
                let (messages, bytes) = engine.would_send();
                let model = self.model.to_owned();
                What::TurnStart(Request { turn: turn + 1, model, messages, bytes })
            }
            HookEvent::TurnEnd => {
                let came =
                    |op: &OpState| Some((op.intent.at, op.intent.tool.clone(), op.status()?));
                let ops = engine.lap().into_iter().flat_map(|lap| &lap.ops).filter_map(came);
                What::TurnEnd { turn, ops: ops.collect() }
            }
            HookEvent::Stop => {
                let last = engine.items().iter().rev().find_map(|item| match item {
                    Item::Assistant { text, .. } => *text,
                    Item::User { .. }
                    | Item::News(_)
                    | Item::FoldedNews { .. }
                    | Item::Over { .. }
                    | Item::Ended(_)
                    | Item::Result { .. } => None,
                });
                What::Stop {
                    is_again: engine.lap().is_some_and(|lap| lap.kept_going() > 0),
                    last: self.text(last)?,
                }
            }
            HookEvent::SessionEnd => {
                let status = engine.ended().map_or(Status::OK, |end| end.status);
                What::SessionEnd { status }
            }
            HookEvent::UnknownTool
            | HookEvent::PreToolUse
            | HookEvent::PermissionRequest
            | HookEvent::Notification
            | HookEvent::Decided
            | HookEvent::Accepting
            | HookEvent::PostToolUse
            | HookEvent::PostToolUseFailure => return Ok(None),
        }))
    }

    async fn what_of_op(&self, ask: &HookAsk, at: Coord) -> Result<Option<What>, RunError> {
        let event = ask.event;
        let Some(op) = self.engine().op(at) else { return Ok(None) };
        if event == HookEvent::UnknownTool {
            return Ok(self.senseless(op)?.map(What::UnknownTool));
        }
        if event == HookEvent::Notification {
            return Ok(self.preview.run.newest_question(at).map(|question| {
                let label = question.items.first().map_or("", |item| &item.label);
                let message = format!("cairn waits for a word on: {label}");
                What::Notification { proposal: question.id.to_string(), message }
            }));
        }
        let Some(call) = self.call(op)? else { return Ok(None) };
        Ok(match event {
            HookEvent::PreToolUse => Some(What::PreToolUse(call)),
            HookEvent::PermissionRequest => {
                let shown = match ask.hosts.is_empty() {
                    true => self.would_show(op, &call).await?,
                    false => op.question_about_hosts(&ask.hosts),
                };
                let hosts = ask.hosts.clone();
                Some(What::PermissionRequest { call, shown, hosts })
            }
            HookEvent::Decided => self.word(op)?.map(|word| What::Decided(call, word)),
            HookEvent::Accepting => op.decision().map(|decision| {
                let by = decision.by.to_string();
                What::Accepting { call, by }
            }),
            HookEvent::PostToolUse => self.done(at)?.map(|done| What::PostToolUse(call, done)),
            HookEvent::PostToolUseFailure => {
                self.done(at)?.map(|done| What::PostToolUseFailure(call, done))
            }
            _ => None,
        })
    }

    fn text(&self, content: Option<ContentRef>) -> Result<String, RunError> {
        let bytes = content.map(|content| self.preview.run.content(&content.hash)).transpose()?;
        Ok(text_of(&bytes.unwrap_or_default()).to_string())
    }

    fn call(&self, op: &OpState) -> Result<Option<Call>, RunError> {
        let intent = &op.intent;
        let name = match intent.op {
            Some(OpName::Call) => Some(intent.tool.as_str()),
            _ => native::name_of(&intent.tool),
        };
        let Some(tool) = name else { return Ok(None) };
        let at = intent.at;
        Ok(Some(Call {
            at,
            tool: tool.to_owned(),
            action: Arc::unwrap_or_clone(self.preview.action(at)?),
        }))
    }

    /// What a person would be shown of the op.
    async fn would_show(&self, op: &OpState, call: &Call) -> Result<String, RunError> {
        if op.intent.effect.is_read_only() {
            return Ok(format!("{} {}", op.intent.tool, op.intent.target));
        }
        let open_ops = &self.preview.run.open_ops;
        if let Some(prepared) = open_ops.prepared.of(call.at) {
            return Ok(prepared.shown.clone());
        }
        match op.intent.of {
            Some(row) => Ok(open_ops.sent.get_or_lost(row).shown),
            None => Ok(self.preview.would(&call.action).await?.shown),
        }
    }

    fn senseless(&self, op: &OpState) -> Result<Option<Senseless>, RunError> {
        let (Some(misread), Some(problem)) = (op.misread(), &op.intent.problem) else {
            return Ok(None);
        };
        Ok(Some(Senseless {
            at: op.intent.at,
            tool: op.intent.tool.clone(),
            args: self.text(Some(op.intent.input))?,
            is_known: misread == Misread::Invalid,
            error: self.text(Some(problem.message))?,
        }))
    }

    /// The newest word on the op that answers a question.
    fn word(&self, op: &OpState) -> Result<Option<Word>, RunError> {
        let decision = op.newest_decision();
        let Some((decision, proposal)) = decision.and_then(|d| Some((d, d.proposal.as_ref()?)))
        else {
            return Ok(None);
        };
        let words = decision.words.map(|words| self.text(Some(words))).transpose()?;
        let (proposal, by) = (proposal.to_string(), decision.by.to_string());
        Ok(Some(Word { proposal, verdict: decision.verdict, by, words }))
    }

    fn done(&self, at: Coord) -> Result<Option<Done>, RunError> {
        let concluded = self.engine().op_in_run(at)?.concluded();
        let Some(Concluded { outcome: done, result, .. }) = concluded else { return Ok(None) };
        let text = self.text(Some(result))?;
        Ok(Some(Done { status: done.status, exit: done.exit, text, changes: done.changes }))
    }
}
