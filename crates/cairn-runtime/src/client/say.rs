//! `send` from outside any run: words for a run, which it hears with its next turn, and the wish that a stream end.

use crate::RunError;
use crate::background::say::{Unsaid, addressed, not_for, nothing, said};
use crate::client::Client;
use crate::schemes::row_of;
use cairn_store::Subscription;
use cairn_types::{By, ContentRef, Coord, Letter, Place, Post, Settled, Status, Uri, is_stream};
use cairn_world::{Performed, Prepared};

impl Client {
    /// Says something to a run or a stream. None when the row is settled already.
    pub(crate) async fn say(
        &mut self,
        at: Coord,
        post: &Post,
        by: By,
    ) -> Result<Option<(Performed, Settled)>, RunError> {
        let performed = match self.letter(post)? {
            Err((status, text)) => {
                return Ok(Some((Performed::told(status, text), Settled::NotPerformed)));
            }
            Ok(performed) => performed,
        };
        let is_let = self.is_let(at, &Prepared::default(), by)?;
        Ok(is_let.then_some((performed, Settled::Performed)))
    }

    /// What is to be said to whom.
    fn letter(&self, post: &Post) -> Result<Result<Performed, Unsaid>, RunError> {
        let Some(Ok(Place::Entry(uri))) = post.to.as_deref().map(Place::of) else {
            return Ok(Err(not_for(post)));
        };
        match (uri.scheme.as_str(), Status(post.status)) {
            ("run", Status::OK) if post.text.trim().is_empty() => Ok(Err(nothing())),
            ("run", Status::OK) => {
                let to = addressed(
                    (self.journal.store(), self.journal.session()),
                    self.journal.run_id(),
                    &uri,
                )?;
                Ok(to.map(|to| said(&to, &post.text)))
            }
            (scheme, Status::CANCELLED) if is_stream(scheme) => {
                Ok(self.stream(&uri)?.map(|one| cancelled(&one)))
            }
            _ => Ok(Err(not_for(post))),
        }
    }

    /// The stream that goes on under an address.
    fn stream(&self, uri: &Uri) -> Result<Result<Subscription, Unsaid>, RunError> {
        let open = self.journal.store().subscriptions(self.journal.session())?;
        let row = row_of(&uri.path);
        let address = uri.entry().to_string();
        let is_it = |one: &Subscription| match &row {
            Some((run, at)) => one.run == *run && one.row == *at,
            None => one.address == address,
        };
        let mut named: Vec<Subscription> = open.into_iter().filter(is_it).collect();
        Ok(match (named.pop(), named.len()) {
            (None, _) => Err((Status::NOT_FOUND, format!("no stream {address} goes on"))),
            (Some(one), 0) if self.journal.store().driven_by(&one.run).is_some() => Ok(one),
            (Some(one), 0) => {
                let text = format!("{address} ended with whoever drove {}", one.run);
                Err((Status::GONE, text))
            }
            (Some(_), more) => {
                let text = format!(
                    "{} runs read {address}; name one by its row, log:///RUN/loop/turn/op",
                    more + 1
                );
                Err((Status::CONFLICT, text))
            }
        })
    }
}

/// That a stream shall end.
fn cancelled(one: &Subscription) -> Performed {
    let letter = Letter {
        to: one.run.clone(),
        stream: Some(one.row),
        status: Status::CANCELLED.0,
        text: ContentRef::of(b""),
    };
    let text = format!("{} ends {} before its next turn", one.run, one.address);
    Performed {
        letter: Some(letter),
        contents: vec![Vec::new()],
        ..Performed::told(Status::OK, text)
    }
}
