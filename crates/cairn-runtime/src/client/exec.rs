//! A command that a person or program runs from outside any run: confined like an agent's, what it changed one
//! row with a receipt.

use crate::RunError;
use crate::client::Client;
use crate::run_record::rows;
use cairn_types::{Action, By, Coord, Settled, Status};
use cairn_world::{Acting, Performed, Prepared};
use tokio_util::sync::CancellationToken;

impl Client {
    /// Runs a command, and waits for it. None when the row is settled already.
    pub(crate) async fn run(
        &mut self,
        at: Coord,
        action: &Action,
        by: By,
    ) -> Result<Option<(Performed, Settled)>, RunError> {
        if matches!(action, Action::Exec(exec) if exec.background) {
            let text = "only an agent has commands in the background; this one would be waited for";
            let performed = Performed::told(Status::NOT_IMPLEMENTED, text);
            return Ok(Some((performed, Settled::NotPerformed)));
        }
        let nothing = cairn_engine::Prepared::default();
        if let Err(refused) =
            self.journal.engine().op_in_run(at)?.judge_for_client(&nothing, by.clone())
        {
            self.journal.record(refused);
            return Ok(None);
        }
        let mut prepared = self.rehearsed(at, action).await;
        if let Some(settled) = prepared.settled {
            self.journal.keep_spooled(settled.spooled.clone());
            return Ok(Some((settled, Settled::NotPerformed)));
        }
        if !self.is_let(at, &prepared, by)? {
            return Ok(None);
        }
        if let Err(refusal) = self.world.stage(&mut prepared) {
            return Ok(Some((refusal.into(), Settled::NotPerformed)));
        }
        if let Some(ran) = prepared.ran.clone().filter(|_| prepared.changes.is_empty()) {
            self.journal.keep_spooled(ran.spooled.clone());
            let (status, text) = prepared.told.clone().unwrap_or((ran.status, ran.text.clone()));
            return Ok(Some((Performed { status, text, ..ran }, Settled::Performed)));
        }
        self.begin(at, &prepared).await?;
        let cancel = CancellationToken::new();
        let acting =
            Acting { row: &rows::address(at), cancel: &cancel, on_output: &mut |_: &[u8]| {} };
        let performed = self.world.act(action, &prepared, acting).await;
        self.journal.keep_spooled(performed.spooled.clone());
        Ok(self.acted(at, performed))
    }

    /// What it would change, where it runs over an overlay; then it has run.
    async fn rehearsed(&self, at: Coord, action: &Action) -> Prepared {
        if !self.world.rehearses(action) {
            return self.world.prepare_beside(action).await;
        }
        let name = format!("{}-{}-{}-{}", self.journal.run_id(), at.lap, at.turn, at.seq);
        match self.world.rehearse(action, (&name, &[]), Box::new(|_| {})).await {
            Err(prepared) => *prepared,
            Ok(running) => {
                running.over().await;
                running.end(&rows::address(at)).await.prepared
            }
        }
    }
}
