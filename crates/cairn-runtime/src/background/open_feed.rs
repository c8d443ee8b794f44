//! Reading a feed: the first time opens it, and from then on what came so far is read.

use crate::background::Running;
use crate::background::feed::Feed;
use crate::run_record::rows;
use crate::{Driver, Event, RunError};
use cairn_types::{Action, Coord, Place, Read, Status, Uri, is_feed};
use cairn_world::Performed;
use tokio_util::sync::CancellationToken;

/// The feed that a path names.
pub(crate) fn named(path: &str) -> Option<Uri> {
    match Place::of(path) {
        Ok(Place::Entry(uri)) if is_feed(&uri.scheme) => Some(uri),
        _ => None,
    }
}

impl Driver {
    /// Reads what came so far, as it stands in the row that opened it.
    async fn read_open(
        &mut self,
        at: Coord,
        open: Coord,
        read: &Read,
    ) -> Result<Performed, RunError> {
        let path = format!("{}#output", rows::address(open));
        let action = Action::Read(Read { path, ..read.clone() });
        let _shown = self.own_rows.show_durable(&self.run, &self.streams, &[&action])?;
        Ok(match self.own_rows.running_lines(&self.streams, &action) {
            Some(lines) => lines,
            None => {
                let cancel = CancellationToken::new();
                self.world.look(&action, &rows::address(at), &cancel).await
            }
        })
    }

    /// Opens a feed, or reads on in one that is open.
    pub(crate) async fn read_feed(
        &mut self,
        at: Coord,
        uri: &Uri,
        read: &Read,
    ) -> Result<Performed, RunError> {
        let address = uri.entry().to_string();
        if let Some(open) = self.streams.at_address(&address) {
            return self.read_open(at, open, read).await;
        }
        if let Some(full) = self.streams.full() {
            return Ok(Performed::told(Status::LIMIT, full));
        }
        let (web, leads) = (self.settings.web.clone(), self.leads.clone());
        let (growing, sink) = (self.world.growing(), self.run.sink.clone());
        let tell = Box::new(move |piece: &[u8]| {
            sink.event(&Event::Stream { at, text: String::from_utf8_lossy(piece).into_owned() });
        });
        let cancel = CancellationToken::new();
        let mut opening = Box::pin(Feed::open(uri, (&web, &leads), growing, tell, &cancel));
        let opened = self.meanwhile(&mut opening, &cancel).await?;
        drop(opening);
        Ok(match opened {
            Err(refusal) => refusal.into(),
            Ok(feed) => {
                let running = Running::Feed(Box::new(feed));
                self.streams.insert(at, address.clone(), address.clone(), running);
                let row = rows::address(at);
                let text = format!("open; what comes is {row}#output");
                Performed { stream: Some(address), ..Performed::told(Status::RUNNING, text) }
            }
        })
    }
}
