//! A run's own rows, read by its model: `log:///loop/turn/op` is what the row told it, with
//! `#output` all that was kept of a command's output and `#input` what it was asked with. Never
//! another run's.

use crate::Driver;
use cairn_store::StoreError;
use cairn_types::{Body, ContentRef, Coord, Read, Status};
use cairn_world::{Lines, Performed};

/// How a row's address begins.
const ROW: &str = "log:///";

/// Whether a path is a row's address.
pub(crate) fn is_row(path: &str) -> bool {
    path.starts_with("log:")
}

/// A row's address, as its own run writes it.
pub(crate) fn address(at: Coord) -> String {
    format!("{ROW}{at}")
}

impl Driver {
    /// Lines of a row.
    pub(crate) fn read_row(&self, read: &Read) -> Result<Performed, StoreError> {
        let path = &read.path;
        let refuse = |status, text: String| Ok(Performed::told(status, text));
        let (address, channel) = path.split_once('#').unwrap_or((path, "result"));
        let Some(at) = address.strip_prefix(ROW).and_then(|at| at.parse::<Coord>().ok()) else {
            let text = format!("{path} is not the address of a row, such as log:///1/2/3");
            return refuse(Status::BAD_REQUEST, text);
        };
        let facts = self.store.facts(self.run_id(), 0)?;
        let content: Option<ContentRef> = match channel {
            "input" => facts.iter().find_map(|fact| match &fact.body {
                Body::Intent(intent) if intent.at == at => Some(intent.input),
                _ => None,
            }),
            "result" | "output" => facts.iter().find_map(|fact| match &fact.body {
                Body::Outcome(done) if done.at == at && channel == "result" => Some(done.result),
                Body::Outcome(done) if done.at == at => done.output.as_ref().map(|o| o.kept),
                _ => None,
            }),
            other => {
                let text = format!("a row has no #{other}; there are #result, #output and #input");
                return refuse(Status::BAD_REQUEST, text);
            }
        };
        match content {
            None => refuse(Status::NOT_FOUND, format!("there is no {path}")),
            Some(content) => {
                let mut lines = Lines::new(read);
                self.store.each_of_content(&content.hash, &mut |piece| lines.take(piece))?;
                Ok(lines.told(path))
            }
        }
    }
}
