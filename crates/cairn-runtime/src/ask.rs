//! One model call: streams what arrives, takes commands meanwhile, records the whole reply or why
//! there is none.

use crate::{Driver, Event, RunError, Sink};
use cairn_engine::Recording;
use cairn_provider::{Answer, Delta, Fault, FaultClass, Thought};
use cairn_types::{Call, ContentRef, Reply};
use std::sync::Arc;
use std::time::Instant;
use tokio_util::sync::CancellationToken;

impl Driver {
    pub(crate) async fn ask_model(&mut self, messages: usize) -> Result<(), RunError> {
        self.flush().await?;
        let mut request = self.transcript.request(messages);
        request.effort = self.settings.effort;
        request.schema = self.settings.schema.clone();
        let provider = self.provider.clone();
        let cancel = CancellationToken::new();
        let mut teller = Teller { sink: self.sink.clone(), text: 0, reasoning: 0 };
        let mut on_delta = |delta| teller.tell(delta);
        let began = Instant::now();
        let mut asking = Box::pin(provider.ask(&request, &mut on_delta, &cancel));
        let answer = self.meanwhile(&mut asking, &cancel).await?;
        drop(asking);
        let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        match answer {
            Ok(answer) => self.took_answer(answer, ms),
            Err(fault) => self.took_fault(&fault),
        }
    }

    fn took_answer(&mut self, answer: Answer, ms: u64) -> Result<(), RunError> {
        let mut kept = Recording::default();
        let mut keep = |text: &str| (!text.is_empty()).then(|| kept.keep(text));
        let reply = Reply {
            lap: 0,
            turn: 0,
            model: answer.model.unwrap_or_else(|| self.settings.model.clone()),
            text: keep(&answer.text),
            reasoning: keep(&answer.reasoning),
            thoughts: keep(&Thought::write_all(&answer.thoughts)),
            calls: answer
                .calls
                .iter()
                .map(|call| Call {
                    id: call.id.clone(),
                    name: call.name.clone(),
                    args: ContentRef::of(call.args.as_bytes()),
                })
                .collect(),
            finish: answer.finish,
            usage: answer.usage,
            cost: answer.cost,
            attempts: answer.attempts,
            ms,
        };
        let args: Vec<&str> = answer.calls.iter().map(|call| &*call.args).collect();
        let mut recording = self.engine.replied(reply, &args);
        recording.contents.extend(kept.contents);
        recording.contents.extend(args.iter().map(|args| args.as_bytes().to_vec()));
        self.record(recording)
    }

    fn took_fault(&mut self, fault: &Fault) -> Result<(), RunError> {
        if fault.class == FaultClass::Cancelled && self.is_aborted() {
            return Ok(());
        }
        let recording = self.engine.faulted(fault.class.as_str(), &fault.message, fault.attempts);
        self.record(recording)
    }
}

/// Tells what streams in, with offsets.
struct Teller {
    sink: Arc<dyn Sink>,
    text: u64,
    reasoning: u64,
}

impl Teller {
    fn tell(&mut self, delta: Delta) {
        let event = match delta {
            Delta::Text(text) => {
                let offset = self.text;
                self.text += text.len() as u64;
                Event::Text { offset, text }
            }
            Delta::Reasoning(text) => {
                let offset = self.reasoning;
                self.reasoning += text.len() as u64;
                Event::Reasoning { offset, text }
            }
            Delta::Retrying { attempt, wait, why } => {
                (self.text, self.reasoning) = (0, 0);
                let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                Event::Retrying { attempt, wait_ms, why }
            }
        };
        self.sink.event(&event);
    }
}
