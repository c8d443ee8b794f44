//! An op that a person or program asks for from outside any run: read like a model's call, gated,
//! performed and receipted like one, a row of the session's client run.

use crate::RunError;
use crate::client::Client;
use crate::ops::act::{folded, to_be_shown};
use crate::ops::perform::Beginning;
use crate::ops::settled_op::SettledOp;
use crate::run_record::rows;
use cairn_store::HomeLock;
use cairn_types::{
    Action, Body, By, Change, Coord, Post, RunId, Settled, Status, is_stream, scheme_of,
};
use cairn_world::{Acting, Performed, Prepared};
use tokio_util::sync::CancellationToken;

/// What became of such an op.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The client run.
    pub run: RunId,
    /// The row.
    pub at: Coord,
    /// Its status.
    pub status: Status,
    /// A command's exit code.
    pub exit: Option<i32>,
    /// What is told of it.
    pub text: String,
    /// What changed.
    pub changes: Vec<Change>,
    /// Its receipt.
    pub receipt: Option<String>,
}

impl Client {
    /// Does an op, named and written as a native tool's call.
    pub async fn op(&mut self, tool: &str, args: &str, by: By) -> Result<Answer, RunError> {
        let (mut recording, at) = self.journal.engine().spoken(tool, args);
        let parsed = recording.parsed_calls.pop();
        self.journal.record(recording);
        let performed = match parsed.map(|call| call.action) {
            None => None,
            Some(action) if self.is_look(at, &action) => self.look(at, &action, by).await?,
            Some(Action::Send(post)) if self.is_addressed(&post) => self.say(at, &post, by).await?,
            Some(action @ Action::Exec(_)) => self.run(at, &action, by).await?,
            Some(action) if self.world.fetches(&action) => self.carry(at, &action, by).await?,
            Some(action) => self.change(at, &action, by).await?,
        };
        if let Some((performed, settled)) = performed {
            let outcome =
                SettledOp::performed(at, Performed { media: Vec::new(), ..performed }, settled);
            self.journal.record(outcome.into_recording());
        }
        // What makes no sense is settled by the engine.
        self.journal.record_what_follows();
        let receipt = self.commit().await?;
        self.answer(at, receipt)
    }

    /// Whether it is for a run or a stream: of all else the world says what it comes to.
    fn is_addressed(&self, post: &Post) -> bool {
        let scheme = post.to.as_deref().and_then(scheme_of);
        scheme.is_some_and(|scheme| scheme == "run" || is_stream(scheme))
    }

    fn is_look(&self, at: Coord, action: &Action) -> bool {
        let looks = matches!(action, Action::Read(_) | Action::Find(_) | Action::List { .. });
        self.journal.engine().op(at).is_some_and(|op| looks || op.intent.effect.is_read_only())
    }

    /// Looks. None when the row is settled already.
    async fn look(
        &mut self,
        at: Coord,
        action: &Action,
        by: By,
    ) -> Result<Option<(Performed, Settled)>, RunError> {
        match self
            .journal
            .engine()
            .op_in_run(at)?
            .judge_for_client(&cairn_engine::Prepared::default(), by)
        {
            Err(refused) => {
                self.journal.record(refused);
                Ok(None)
            }
            Ok(allowed) => {
                if !self.journal.engine().op(at).is_some_and(|op| op.intent.effect.is_read_only()) {
                    let prepared = self.world.prepare_beside(action).await;
                    if let Some(settled) = prepared.settled {
                        return Ok(Some((settled, Settled::NotPerformed)));
                    }
                    self.journal.record(allowed);
                    self.begin(at, &prepared).await?;
                }
                let cancel = CancellationToken::new();
                let looked = match action {
                    Action::Open { .. } | Action::Fold { .. } => {
                        folded(self.journal.engine().op_in_run(at)?)
                    }
                    action => self.world.look(action, &rows::address(at), &cancel).await,
                };
                Ok(Some((looked, Settled::Performed)))
            }
        }
    }

    /// Whether the gates let it. What they say is recorded.
    pub(crate) fn is_let(
        &mut self,
        at: Coord,
        prepared: &Prepared,
        by: By,
    ) -> Result<bool, RunError> {
        let said =
            self.journal.engine().op_in_run(at)?.judge_for_client(&to_be_shown(prepared), by);
        let is_let = said.is_ok();
        self.journal.record(said.unwrap_or_else(|refused| refused));
        Ok(is_let)
    }

    /// Changes something. None when the row is settled already.
    async fn change(
        &mut self,
        at: Coord,
        action: &Action,
        by: By,
    ) -> Result<Option<(Performed, Settled)>, RunError> {
        let entries_lock = self.journal.lock_entries().await?;
        let prepared = self.world.prepare_beside(action).await;
        if let Some(settled) = prepared.settled {
            return Ok(Some((settled, Settled::NotPerformed)));
        }
        if !self.is_let(at, &prepared, by)? {
            return Ok(None);
        }
        self.make(at, action, (prepared, entries_lock)).await
    }

    /// Carries something here from beyond this machine: it is let first and fetched then, and nobody waits for it.
    async fn carry(
        &mut self,
        at: Coord,
        action: &Action,
        by: By,
    ) -> Result<Option<(Performed, Settled)>, RunError> {
        let known = self.world.prepare_beside(action).await;
        if let Some(settled) = known.settled {
            return Ok(Some((settled, Settled::NotPerformed)));
        }
        if !self.is_let(at, &known, by)? {
            return Ok(None);
        }
        let prepared = self.world.fetch(action, &CancellationToken::new()).await;
        if let Some(settled) = prepared.settled {
            return Ok(Some((settled, Settled::NotPerformed)));
        }
        let entries_lock = self.journal.lock_entries().await?;
        if let Some(address) = self.world.stale(&prepared.changes) {
            let text = format!("{address} was changed meanwhile");
            return Ok(Some((Performed::told(Status::CONFLICT, text), Settled::NotPerformed)));
        }
        self.make(at, action, (prepared, entries_lock)).await
    }

    /// Makes what was let.
    async fn make(
        &mut self,
        at: Coord,
        action: &Action,
        (prepared, entries_lock): (Prepared, HomeLock),
    ) -> Result<Option<(Performed, Settled)>, RunError> {
        self.begin(at, &prepared).await?;
        let cancel = CancellationToken::new();
        let acting =
            Acting { row: &rows::address(at), cancel: &cancel, on_output: &mut |_: &[u8]| {} };
        let performed = self.world.act(action, &prepared, acting).await;
        // Held until what changed is durable.
        self.entries_lock = Some(entries_lock);
        Ok(self.acted(at, performed))
    }

    /// What an op that acted comes to. One that panicked after it began is settled as after a crash, and then
    /// this is none.
    pub(crate) fn acted(
        &mut self,
        at: Coord,
        performed: Performed,
    ) -> Option<(Performed, Settled)> {
        let is_begun = self.journal.engine().op(at).is_some_and(|op| op.begin().is_some());
        match (performed.panicked, is_begun) {
            (false, _) => Some((performed, Settled::Performed)),
            (true, false) => Some((performed, Settled::NotPerformed)),
            (true, true) => {
                self.settle_after_crash(at);
                None
            }
        }
    }

    /// What changes only entries that the store keeps happens with its outcome; all else begins.
    pub(crate) async fn begin(&mut self, at: Coord, prepared: &Prepared) -> Result<(), RunError> {
        if !prepared.changes.is_empty() && prepared.changes.iter().all(Change::is_stored) {
            prepared.contents.iter().for_each(|bytes| self.journal.keep(bytes.clone()));
            return Ok(());
        }
        let spooled = prepared.ran.as_ref().and_then(|ran| ran.spooled.clone());
        self.journal.keep_spooled(spooled);
        let beginning = Beginning { at, again: false, prepared, is_chosen: false };
        self.journal.record(beginning.recording());
        self.commit().await.map(drop)
    }

    /// What the row says.
    fn answer(&self, at: Coord, receipt: Option<String>) -> Result<Answer, RunError> {
        let facts = self.journal.store().facts(self.journal.run_id(), 0)?;
        let outcome = facts.into_iter().rev().find_map(|fact| match fact.body {
            Body::Outcome(outcome) if outcome.at == at => Some(outcome),
            _ => None,
        });
        let unreadable = || RunError::Unreadable {
            run: self.journal.run_id().clone(),
            at,
            why: "it has no outcome".to_owned(),
        };
        let outcome = outcome.ok_or_else(unreadable)?;
        let text = self.journal.store().content(&outcome.result.hash)?;
        Ok(Answer {
            run: self.journal.run_id().clone(),
            at,
            status: outcome.status,
            exit: outcome.exit,
            text: String::from_utf8_lossy(&text).into_owned(),
            changes: outcome.changes,
            receipt,
        })
    }
}
