//! One model call: streams what arrives, takes commands meanwhile, records the whole reply or why
//! there is none.

use crate::model::calls;
use crate::model::model_calls::ModelCalls;
use crate::model::written::ParsedReply;
use crate::run_record::RunRecord;
use crate::{Driver, Event, RunError, Sink, now_ms};
use cairn_engine::{Marks, Recording};
use cairn_provider::{Answer, Delta, Fault, FaultClass, Thought};
use cairn_text::scrub::{Scrubber, Window};
use cairn_types::{Call, ContentRef, Reply};
use std::iter::repeat;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// So many calls of one reply are taken; a driver's own cap is far below, and what is above it is
/// answered, not performed.
const MOST_CALLS: usize = 1_000;
/// What is recorded and told of an answer that is not UTF-8.
const NOT_UTF8: &str = "bytes that are not UTF-8 were replaced by U+FFFD";

impl Driver {
    pub(crate) async fn ask_model(&mut self, messages: usize) -> Result<(), RunError> {
        tracing::trace!(target: "cairn::turn", "Driver::ask_model");
        if let Some(end) = self.model_calls.afforded_again(&self.run)? {
            return self.record_step(end).await;
        }
        self.run.flush().await?;
        let request = self.model_calls.request(&self.run, messages)?;
        let provider = self.model_calls.provider.clone();
        let cancel = CancellationToken::new();
        let mut teller = Teller::new(self.run.sink.clone(), self.run.journal.scrubber());
        teller.is_silent = self.engine().surface().is_text();
        let mut on_delta = |delta| teller.tell(delta);
        let began = Instant::now();
        let left = self
            .engine()
            .lap_in_run()
            .and_then(|lap| lap.time_left(now_ms()))
            .map(Duration::from_millis);
        let asked = provider.ask(&request, &mut on_delta, &cancel);
        let mut asking = Box::pin(unless_later(left, asked));
        let answer = self.meanwhile(&mut asking, &cancel).await?;
        drop(asking);
        teller.finish();
        self.model_calls.has_reserved = false;
        let Some(answer) = answer else {
            let ended = self.run.open_loop()?.end_out_of_time(now_ms());
            return self.record_step(ended).await;
        };
        let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        match answer {
            Ok(answer) => self.model_calls.record_answer(&mut self.run, answer, ms),
            Err(fault) => self.run.record_fault(&fault),
        }
    }
}

impl ModelCalls {
    /// Records what the model answered.
    fn record_answer(
        &self,
        run: &mut RunRecord,
        mut answer: Answer,
        ms: u64,
    ) -> Result<(), RunError> {
        tracing::trace!(target: "cairn::turn", "ModelCalls::record_answer");
        answer.calls.truncate(MOST_CALLS);
        let mut heard = ParsedReply::default();
        let mut written = String::new();
        if run.engine().surface().is_text() {
            written = std::mem::take(&mut answer.text);
            heard = ParsedReply::read(run.engine(), &written, answer.finish);
            heard.report(&*run.sink, run.journal.scrubber());
            if !answer.calls.is_empty() {
                let left = answer.calls.len();
                heard.repairs.push(format!("{left} calls in the provider's own form left out"));
            }
            answer.text = std::mem::take(&mut heard.text);
            answer.reasoning.push_str(&heard.reasoning);
            answer.calls = heard.calls.iter().map(|(call, _)| call.clone()).collect();
        }
        if answer.is_replaced {
            heard.repairs.push(NOT_UTF8.to_owned());
            run.notice(format!("the model's answer: {NOT_UTF8}"));
        }
        let scrubber = run.journal.scrubber();
        let is_replaced = answer.is_replaced;
        let taken = |call| calls::taken(scrubber, call).unless_replaced(is_replaced);
        let taken: Vec<_> = answer.calls.iter().map(taken).collect();
        let thoughts = calls::thoughts(scrubber, answer.thoughts);
        let mut kept = Recording::default();
        let mut keep = |text: &str| (!text.is_empty()).then(|| kept.keep(text));
        let reply = Reply {
            lap: 0,
            turn: 0,
            model: answer.model.unwrap_or_else(|| self.model.clone()),
            text: keep(&answer.text),
            reasoning: keep(&answer.reasoning),
            thoughts: keep(&Thought::write_all(&thoughts)),
            calls: answer
                .calls
                .iter()
                .zip(&taken)
                .map(|(call, taken)| Call {
                    id: call.id.clone(),
                    name: call.name.clone(),
                    args: ContentRef::of(taken.args.as_bytes()),
                })
                .collect(),
            finish: answer.finish,
            usage: answer.usage,
            cost: answer.cost,
            attempts: answer.attempts,
            ms,
            written: keep(&written),
            problems: keep(&heard.unread.to_json().unwrap_or_default()),
            repairs: heard.repairs,
            is_final: heard.is_final,
        };
        let marks = heard.calls.into_iter().map(|(_, marks)| marks).chain(repeat(Marks::default()));
        let calls: Vec<_> =
            taken.iter().zip(marks).map(|(taken, marks)| taken.marked(marks)).collect();
        let mut recording = run.open_loop()?.replied_in(reply, &calls, &run.toolbox);
        recording.contents.extend(kept.contents);
        recording.contents.extend(calls.iter().map(|(args, _)| args.as_bytes().to_vec()));
        run.record(recording)
    }
}

impl RunRecord {
    /// Records why the model answered nothing. Where it was stopped that is recorded already.
    fn record_fault(&mut self, fault: &Fault) -> Result<(), RunError> {
        if fault.class == FaultClass::Cancelled && self.is_aborted() {
            return Ok(());
        }
        let recording =
            self.open_loop()?.faulted(fault.class.as_str(), &fault.message, fault.attempts);
        self.record(recording)
    }
}

/// What some work comes to; `None` if it takes longer than it may, and then it is dropped.
async fn unless_later<T>(limit: Option<Duration>, work: impl Future<Output = T>) -> Option<T> {
    match limit {
        None => Some(work.await),
        Some(limit) => tokio::time::timeout(limit, work).await.ok(),
    }
}

/// Tells what streams in, with offsets. What may be the beginning of a secret waits for more.
struct Teller {
    sink: Arc<dyn Sink>,
    scrubber: Scrubber,
    text: Told,
    reasoning: Told,
    /// Words are told when it is known what they are.
    is_silent: bool,
}

/// One of the two streams.
struct Told {
    window: Window,
    bytes: u64,
}

impl Told {
    fn new(scrubber: &Scrubber) -> Told {
        Told { window: scrubber.window(), bytes: 0 }
    }

    /// What can be told now, and where it stands.
    fn next(&mut self, piece: Vec<u8>) -> Option<(u64, String)> {
        let offset = self.bytes;
        self.bytes += piece.len() as u64;
        let told = String::from_utf8_lossy(&piece).into_owned();
        (!told.is_empty()).then_some((offset, told))
    }

    fn push(&mut self, text: &str) -> Option<(u64, String)> {
        let piece = self.window.push(text.as_bytes());
        self.next(piece)
    }

    fn finish(&mut self) -> Option<(u64, String)> {
        let rest = self.window.finish();
        self.next(rest)
    }
}

impl Teller {
    fn new(sink: Arc<dyn Sink>, scrubber: &Scrubber) -> Teller {
        let (text, reasoning) = (Told::new(scrubber), Told::new(scrubber));
        Teller { sink, scrubber: scrubber.clone(), text, reasoning, is_silent: false }
    }

    fn tell(&mut self, delta: Delta) {
        match delta {
            // What one stream holds back is told before the other goes on.
            Delta::Text(_) if self.is_silent => {}
            Delta::Text(text) => {
                let (thought, said) = (self.reasoning.finish(), self.text.push(&text));
                self.told_thought(thought);
                self.told_text(said);
            }
            Delta::Reasoning(text) => {
                let (said, thought) = (self.text.finish(), self.reasoning.push(&text));
                self.told_text(said);
                self.told_thought(thought);
            }
            Delta::Retrying { attempt, wait, why } => {
                (self.text, self.reasoning) =
                    (Told::new(&self.scrubber), Told::new(&self.scrubber));
                let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                let why = self.scrubber.text(&why).into_owned();
                self.sink.event(&Event::Retrying { attempt, wait_ms, why });
            }
        }
    }

    /// Nothing more comes.
    fn finish(&mut self) {
        let (thought, said) = (self.reasoning.finish(), self.text.finish());
        self.told_thought(thought);
        self.told_text(said);
    }

    fn told_thought(&self, piece: Option<(u64, String)>) {
        if let Some((offset, text)) = piece {
            self.sink.event(&Event::Reasoning { offset, text });
        }
    }

    fn told_text(&self, piece: Option<(u64, String)>) {
        if let Some((offset, text)) = piece {
            self.sink.event(&Event::Text { offset, text });
        }
    }
}
