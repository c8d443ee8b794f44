//! Asks hooks when the engine says so, and records what they said.
//! Which one is asked when, and what follows from an answer, is the engine's; what one is told is
//! `telling`'s.

use crate::driver::telling::HookBriefing;
use crate::model::calls;
use crate::run_record::RunRecord;
use crate::{Driver, RunError};
use cairn_engine::{HookAsk, Step};
use cairn_hooks::{Answer, What};
use cairn_surface::native;
use cairn_types::{By, HookEvent, Verdict};
use std::mem;
use std::time::Instant;
use tokio_util::sync::CancellationToken;

impl Driver {
    /// Asks one hook. What led to it is durable before; an abort does not wait for it.
    pub(crate) async fn ask_hook(&mut self, ask: HookAsk) -> Result<(), RunError> {
        self.run.flush().await?;
        let began = Instant::now();
        let answer = match (self.briefing().what(&ask).await?, ask.event) {
            (None, _) => {
                let problem = Some("what it was to be asked about is gone".to_owned());
                Some(Answer { problem, ..Answer::default() })
            }
            (Some(what), HookEvent::Notification) => self.notify(&ask, what).await?,
            (Some(what), _) => self.hear(&ask, what).await?,
        };
        let mut answer = match answer {
            Some(answer) => answer,
            // Where no loop is stopped nothing else says that it is not asked again.
            None if self.engine().lap().is_none() => unwaited(),
            None => return Ok(()),
        };
        self.run.complete_answer(&ask, &mut answer)?;
        self.run.scrub_answer(&ask, &mut answer);
        let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        if let Some(problem) = &answer.problem {
            let said = format!("the hook {} ({}): {problem}", ask.name, ask.event);
            self.run.notice(said);
        }
        let is_old = ask.event == HookEvent::Accepting;
        if is_old && !ask.at.is_some_and(|at| self.run.has_reached(at)) {
            // It was prepared a while ago.
            self.run.open_ops.prepared.forget();
        }
        self.run.record(self.engine().hooked(&ask, answer, ms, &self.run.toolbox))
    }

    /// What hooks are told of the run as it is now.
    fn briefing(&self) -> HookBriefing<'_> {
        HookBriefing { preview: self.preview(), model: &self.settings.model }
    }

    /// What a hook says; nothing when nobody waits for it any longer.
    async fn hear(&mut self, ask: &HookAsk, what: What) -> Result<Option<Answer>, RunError> {
        let Some(hook) = self.settings.hooks.named(&ask.name) else { return Ok(Some(missing())) };
        let event = cairn_hooks::Event { place: self.briefing().place(), what };
        let cancel = CancellationToken::new();
        let mut asking = Box::pin(async {
            tokio::select! {
                answer = hook.on(&event) => Some(answer),
                () = cancel.cancelled() => None,
            }
        });
        self.meanwhile(&mut asking, &cancel).await
    }

    /// Tells a hook of an open question. The person's word does not wait for it: once the question is
    /// no longer open, nobody waits for the hook.
    async fn notify(&mut self, ask: &HookAsk, what: What) -> Result<Option<Answer>, RunError> {
        let Some(at) = ask.at else { return Ok(None) };
        let Some((question, until)) = self.put_question(at).await? else { return Ok(None) };
        let Some(hook) = self.settings.hooks.named(&ask.name) else { return Ok(Some(missing())) };
        let event = cairn_hooks::Event { place: self.briefing().place(), what };
        let mut asking = hook.on(&event);
        let late = async {
            match until {
                Some(until) => tokio::time::sleep_until(until).await,
                None => std::future::pending().await,
            }
        };
        tokio::pin!(late);
        loop {
            tokio::select! {
                answer = &mut asking => return Ok(Some(answer)),
                Some(command) = self.inbox.recv() => {
                    self.take(command).await?;
                    let is_open = self.engine().step() == Step::Hook(ask.clone());
                    if self.run.questions.is_unattended() || !is_open {
                        return Ok(None);
                    }
                }
                () = &mut late => {
                    self.run.decide_without_person(question.id, Verdict::Cancel, By::Timeout)?;
                    return Ok(None);
                }
            }
        }
    }
}

impl RunRecord {
    /// A hook that names another tool and no arguments means those that the model wrote. One that names
    /// a tool that there is not means nothing.
    fn complete_answer(&self, ask: &HookAsk, answer: &mut Answer) -> Result<(), RunError> {
        let op = ask.at.and_then(|at| self.engine().op(at));
        if let Some(named) = answer.tool.take() {
            match native::name_of(&named) {
                Some(tool) => answer.tool = Some(tool.to_owned()),
                None => {
                    let problem = Some(format!("there is no tool {named:?}"));
                    *answer = Answer { problem, input: None, ..mem::take(answer) };
                }
            }
        }
        if let (Some(op), Some(_), None) = (op, &answer.tool, &answer.input) {
            let args = self.content(&op.intent.input.hash)?;
            answer.input = Some(String::from_utf8_lossy(&args).into_owned());
        }
        Ok(())
    }

    /// Arguments that hold a secret are not what is done, whoever wrote them; nor is a problem told
    /// with one.
    fn scrub_answer(&self, ask: &HookAsk, answer: &mut Answer) {
        let scrubber = self.journal.scrubber();
        if let Some(problem) = &mut answer.problem {
            *problem = scrubber.text(problem).into_owned();
        }
        let op = ask.at.and_then(|at| self.engine().op(at));
        let Some((op, input)) = op.zip(answer.input.as_deref()) else { return };
        let tool = answer.tool.as_deref().unwrap_or(&op.intent.tool);
        if let Some(why) = calls::refusal(scrubber, tool, input) {
            *answer = Answer { block: Some(why), input: None, ..mem::take(answer) };
        }
    }
}

fn unwaited() -> Answer {
    let problem = Some("it was not waited for: the work was stopped".to_owned());
    Answer { problem, ..Answer::default() }
}

fn missing() -> Answer {
    Answer { problem: Some("there is no such hook".to_owned()), ..Answer::default() }
}
