//! Plays a script in this process: a provider without a network, for walkthroughs and first tries.

use super::{Reply, Script, ScriptedCall, turn_of, words};
use crate::{Answer, CallText, Delta, Fault, FaultClass, Message, Price, Provider, Request};
use async_trait::async_trait;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A model that follows a script and costs nothing.
#[derive(Debug, Clone)]
pub struct Player {
    script: Script,
}

impl Player {
    /// A player of this script.
    #[must_use]
    pub fn new(script: Script) -> Self {
        Self { script }
    }
}

#[async_trait]
impl Provider for Player {
    async fn ask(
        &self,
        request: &Request,
        on_delta: &mut (dyn FnMut(Delta) + Send),
        cancel: &CancellationToken,
    ) -> Result<Answer, Fault> {
        let last = request.messages.last().map(|m| m.text()).unwrap_or_default();
        let spoken = match turn_of(&last) {
            Some(turn) => turn.saturating_sub(1),
            None => request.messages.iter().filter(|m| is_assistant(m)).count(),
        };
        let reply = self.script.reply(spoken, &last).map_err(|error| {
            Fault::new(FaultClass::BadRequest, error.to_string()).caused_by(error).after(1)
        })?;
        tokio::select! {
            biased;
            () = cancel.cancelled() => {
                let message = format!("the script {:?} was cancelled", self.script.name);
                Err(Fault::new(FaultClass::Cancelled, message).after(1))
            }
            () = speak(&reply, on_delta) => Ok(answer(reply)),
        }
    }

    fn price(&self) -> Option<Price> {
        Some(Price::default())
    }
}

fn is_assistant(message: &Message) -> bool {
    matches!(message, Message::Assistant { .. })
}

async fn speak(reply: &Reply, on_delta: &mut (dyn FnMut(Delta) + Send)) {
    let thoughts = words(reply.reasoning.as_deref()).map(|w| Delta::Reasoning(w.to_owned()));
    let text = words(reply.say.as_deref()).map(|w| Delta::Text(w.to_owned()));
    for delta in thoughts.chain(text) {
        if reply.pace_ms > 0 {
            tokio::time::sleep(Duration::from_millis(reply.pace_ms)).await;
        }
        on_delta(delta);
    }
}

fn answer(reply: Reply) -> Answer {
    let call =
        |c: &ScriptedCall| CallText { id: c.id.clone(), name: c.tool.clone(), args: c.args_text() };
    Answer {
        is_replaced: false,
        calls: reply.calls.iter().map(call).collect(),
        finish: reply.finish(),
        usage: reply.usage,
        cost: reply.usage.map(|usage| Price::default().of(&usage)),
        text: reply.say.unwrap_or_default(),
        reasoning: reply.reasoning.unwrap_or_default(),
        thoughts: Vec::new(),
        attempts: 1,
        model: None,
    }
}
