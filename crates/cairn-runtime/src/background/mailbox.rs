//! What others said to this run, and what it waits for when it has nothing to do: a letter becomes words of the
//! running loop or a loop of its own, and the end of a stream that was to wake the run one more loop.

use crate::client::CLIENT_RUN;
use crate::run_record::rows;
use crate::{Driver, RunError};
use cairn_store::Waiting;
use cairn_types::{Letter, Origin, Status, Writer};
use std::time::Duration;

/// How often letters are looked for while nothing else happens.
const LOOK: Duration = Duration::from_millis(500);

impl Driver {
    /// Takes what was said to this run. Whether that changed anything.
    pub(crate) async fn take_letters(&mut self) -> Result<bool, RunError> {
        let mut is_any = false;
        for Waiting { from, letter } in self.store().letters(self.run_id())? {
            is_any |= self.take_letter(from, &letter).await?;
        }
        if is_any {
            self.run.flush().await?;
        }
        Ok(is_any)
    }

    async fn take_letter(&mut self, from: Origin, letter: &Letter) -> Result<bool, RunError> {
        if let Some(at) = letter.stream {
            let ended = self.streams.end(&mut self.run, &rows::address(at), Some(from)).await?;
            // With its end all is forgotten that was said to it.
            return Ok(ended.status != Status::GONE);
        }
        let mut runs = self.store().runs(self.session_id())?.into_iter();
        let is_client = runs
            .find(|row| row.id == from.run)
            .is_some_and(|row| row.name.as_deref() == Some(CLIENT_RUN));
        let writer = if is_client { Writer::Client } else { Writer::Model };
        let text = self.run.content(&letter.text.hash)?;
        let recording = self.engine().heard(&String::from_utf8_lossy(&text), writer, from);
        self.run.record(recording)?;
        Ok(true)
    }

    /// There is nothing to do. Whether that is all: otherwise something came meanwhile.
    pub(crate) async fn is_done(&mut self) -> Result<bool, RunError> {
        if self.take_letters().await? || self.wake()? {
            return Ok(false);
        }
        if !self.streams.has_wakers() {
            self.streams.stop(&mut self.run, true).await?;
            self.run.flush().await?;
            return Ok(true);
        }
        if let Some(wakers) = self.streams.newly_awaited() {
            self.run.notice(format!("waiting for {}", wakers.join(", ")));
        }
        tokio::select! {
            () = self.streams.over() => {
                self.note_ended().await?;
                // With the end that it is for: neither is durable without the other.
                self.wake()?;
            }
            Some(command) = self.inbox.recv() => self.take(command).await?,
            () = tokio::time::sleep(LOOK) => {}
        }
        self.run.flush().await?;
        Ok(false)
    }

    /// One more loop, where a stream that was to wake the run ended and the model has not heard of it.
    fn wake(&mut self) -> Result<bool, RunError> {
        while let Some(at) = self.streams.next_waking() {
            if self.engine().model_view().is_unheard(at) {
                let text = format!("{} is over; go on with the work.", rows::address(at));
                let recording = self.engine().woken(at, &text);
                self.run.record(recording)?;
                return Ok(true);
            }
        }
        Ok(false)
    }
}
