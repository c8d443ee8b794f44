//! One read of a page: it is asked for, on a thread of its own, and all of it has an end.

use crate::reach::{Address, Answer, Asking, Leads, Said, Web, refusal};
use cairn_types::Status;
use cairn_world::Refusal;
use reqwest::header::{ACCEPT, HeaderMap, HeaderValue};
use tokio_util::sync::CancellationToken;

/// What is wanted of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// What it says.
    Body,
    /// Only how it begins.
    Headers,
}

/// What a read goes by.
pub(super) struct Exchange<'a> {
    pub(super) web: &'a Web,
    pub(super) leads: &'a Leads,
    pub(super) wanted: Wanted,
}

impl Exchange<'_> {
    /// Reads an address, on a thread of its own, since it may be asked for within another's work.
    pub(super) fn read(
        &self,
        address: &Address,
        cancel: &CancellationToken,
    ) -> Result<Answer, Refusal> {
        let failed = |why: &dyn std::fmt::Display| {
            refusal(Status::FAILED, format!("{address} could not be read: {why}"))
        };
        std::thread::scope(|scope| {
            let reading = scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                let runtime = runtime.map_err(|why| failed(&why))?;
                let answer = runtime.block_on(self.within(address, cancel));
                // A resolver that hangs is not waited for.
                runtime.shutdown_background();
                answer
            });
            reading.join().unwrap_or_else(|_| Err(failed(&"it did not end")))
        })
    }

    async fn within(
        &self,
        address: &Address,
        cancel: &CancellationToken,
    ) -> Result<Answer, Refusal> {
        tokio::select! {
            answer = tokio::time::timeout(self.web.within, self.answer(address)) => {
                answer.unwrap_or_else(|_| {
                    let seconds = self.web.within.as_secs();
                    let text = format!("{address} was not read within {seconds} seconds");
                    Err(refusal(Status::TIMED_OUT, text))
                })
            }
            () = cancel.cancelled() => Err(refusal(Status::CANCELLED, "cancelled".to_owned())),
        }
    }

    async fn answer(&self, address: &Address) -> Result<Answer, Refusal> {
        let accept =
            "text/markdown, text/html;q=0.9, application/json;q=0.9, text/*;q=0.8, */*;q=0.1";
        let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(accept))]);
        let asking = Asking { web: self.web, leads: Some(self.leads), headers };
        let asked = asking.ask(address).await?;
        match (self.wanted, asked.said) {
            (Wanted::Headers, Said::More(_)) => {
                Ok(Answer { heads: asked.heads, body: Vec::new(), leads: None })
            }
            (_, said) => crate::reach::Asked { said, ..asked }.read().await,
        }
    }
}
