//! `send`: words for a stream of this run, or for another run of the session, which hears them when it comes to
//! its next turn. There is no other way from one run to another but the entries they share.

use crate::ops::perform::Beginning;
use crate::ops::preview::OpPreview;
use crate::run_record::rows;
use crate::{Driver, RunError};
use cairn_store::{RunRow, Store};
use cairn_text::shown::clean;
use cairn_types::{
    ContentRef, Coord, Letter, Place, Post, RunId, SessionId, Status, Uri, is_stream,
};
use cairn_world::{Performed, Prepared};

/// How many letters may wait for one run.
const MOST: usize = 64;

/// Whom words are for.
enum Recipient {
    /// A stream of this run.
    Stream(Coord),
    /// Another run.
    Run(RunId),
}

/// Why nothing is said.
pub(crate) type Unsaid = (Status, String);

/// The run of a session that an address `run:///ID` or `run:///NAME` names, if it may be spoken to.
pub(crate) fn addressed(
    (store, session): (&Store, &SessionId),
    own: &RunId,
    uri: &Uri,
) -> Result<Result<RunId, Unsaid>, RunError> {
    let runs = store.runs(session)?;
    let is = |row: &&RunRow| {
        row.id.as_str() == uri.path || row.name.as_deref() == Some(uri.path.as_str())
    };
    let hears = |row: &&RunRow| !row.name.as_deref().unwrap_or_default().starts_with('@');
    let Some(row) = runs.iter().find(is).filter(hears) else {
        return Ok(Err((Status::NOT_FOUND, format!("there is no run {}", uri.path))));
    };
    if row.id == *own {
        return Ok(Err((Status::BAD_REQUEST, "a run says nothing to itself".to_owned())));
    }
    if row.imported {
        let text = format!("{} came with an imported session and is never driven", row.id);
        return Ok(Err((Status::CONFLICT, text)));
    }
    if store.letters(&row.id)?.len() >= MOST {
        let text = format!("{} is busy: {MOST} letters wait for it", row.id);
        return Ok(Err((Status::LIMIT, text)));
    }
    Ok(Ok(row.id.clone()))
}

/// That there is nothing to say to a run.
pub(crate) fn nothing() -> Unsaid {
    (Status::BAD_REQUEST, "there is nothing to say: the text is empty".to_owned())
}

/// That something was said to a run.
pub(crate) fn said(to: &RunId, text: &str) -> Performed {
    let kept = ContentRef::of(text.as_bytes());
    let letter = Letter { to: to.clone(), stream: None, status: Status::OK.0, text: kept };
    let told = format!("{to} hears it with its next turn");
    Performed {
        letter: Some(letter),
        contents: vec![text.as_bytes().to_vec()],
        ..Performed::told(Status::OK, told)
    }
}

/// That this status is not for it.
pub(crate) fn not_for(post: &Post) -> Unsaid {
    let to = post.to.as_deref().unwrap_or_default();
    (Status::NOT_IMPLEMENTED, format!("send {} is not for {to}", post.status))
}

impl OpPreview<'_> {
    /// Whom it is for; absent where the address is of neither a stream nor a run.
    fn recipient(&self, post: &Post) -> Result<Option<Result<Recipient, Unsaid>>, RunError> {
        let Some(Ok(Place::Entry(uri))) = post.to.as_deref().map(Place::of) else {
            return Ok(None);
        };
        let address = uri.to_string();
        let is_write = post.status == Status::OK.0;
        Ok(match uri.scheme.as_str() {
            "run" if !is_write => Some(Err(not_for(post))),
            "run" if post.text.trim().is_empty() => Some(Err(nothing())),
            "run" => {
                let place = (self.run.journal.store(), self.run.journal.session());
                Some(addressed(place, self.run.journal.run_id(), &uri)?.map(Recipient::Run))
            }
            scheme if !is_stream(scheme) => None,
            _ if !is_write && post.status != Status::CANCELLED.0 => Some(Err(not_for(post))),
            _ => match self.streams.find(self.run.journal.run_id(), &address) {
                Some(at) if is_write && self.streams.feed(at).is_some_and(|own| own != address) => {
                    let feed = self.streams.feed(at).unwrap_or_default();
                    let text = format!("{address} is the row of {feed}; write to that address");
                    Some(Err((Status::NOT_IMPLEMENTED, text)))
                }
                Some(at) => Some(
                    self.streams.is_open(self.run, at, &address)?.map(|()| Recipient::Stream(at)),
                ),
                None => {
                    Some(Err((Status::NOT_FOUND, format!("{address} is no stream of this run"))))
                }
            },
        })
    }

    /// What saying it would mean. Absent where the world says what it comes to.
    pub(crate) fn would_say(&self, post: &Post) -> Result<Option<Prepared>, RunError> {
        let Some(to) = self.recipient(post)? else { return Ok(None) };
        let address = post.to.as_deref().unwrap_or_default();
        Ok(Some(match to {
            Err((status, text)) => {
                let settled = Some(Performed::told(status, text));
                Prepared { settled, ..Prepared::default() }
            }
            Ok(_) => {
                let what = if post.status == Status::OK.0 { "send to" } else { "cancel" };
                let label = clean(&format!("{what} {address}"));
                let indented: String =
                    post.text.lines().map(|line| format!("  {}\n", clean(line))).collect();
                let shown = format!("{label}\n{indented}");
                Prepared { label, shown, ..Prepared::default() }
            }
        }))
    }
}

impl Driver {
    /// Says it. To a run it is said with the outcome; what a stream is told begins like any effect.
    /// What it was for may be over by now: then nothing is said, and why is told.
    pub(crate) async fn say(
        &mut self,
        at: Coord,
        post: &Post,
    ) -> Result<Result<Performed, Performed>, RunError> {
        let performed = match self.preview().recipient(post)? {
            None => return Ok(Err(told(not_for(post)))),
            Some(Err(unsaid)) => return Ok(Err(told(unsaid))),
            Some(Ok(Recipient::Run(to))) => {
                let own = self.run_id().clone();
                let text = format!("run:///{own} says:\n{}", post.text);
                said(&to, &text)
            }
            Some(Ok(Recipient::Stream(stream))) => {
                let prepared = &Prepared::default();
                self.run
                    .begin_op(Beginning { at, again: false, prepared, is_chosen: false })
                    .await?;
                match post.status == Status::OK.0 {
                    true => self.streams.write(stream, &post.text).await,
                    false => self.streams.end(&mut self.run, &rows::address(stream), None).await?,
                }
            }
        };
        Ok(Ok(performed))
    }
}

fn told((status, text): Unsaid) -> Performed {
    Performed::told(status, text)
}
