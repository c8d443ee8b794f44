//! `exec:///RUN/loop/turn/op`, seen from outside: what a command of any run of the session printed, tagged with how
//! it stands: `active`, `closed` or `errored`. A model reads its own run's, by their rows.

use super::{declared, failed, row_of};
use cairn_engine::{Recorded, Row, Rows};
use cairn_store::{Store, StoreError};
use cairn_types::{
    ContentRef, Coord, Intent, Manifest, OpName, Outcome, RunId, SessionId, Status, StreamState,
    Uri,
};
use cairn_world::{Entry, Listed, Refusal, Scheme};

/// The commands of a session's runs.
#[derive(Debug)]
pub(super) struct Commands {
    store: Store,
    session: SessionId,
    manifest: Manifest,
}

/// A command, as far as a run's log tells of it.
struct Command {
    at: Coord,
    state: &'static str,
    printed: Option<ContentRef>,
}

impl Commands {
    pub(super) fn new(store: Store, session: SessionId) -> Commands {
        Commands { store, session, manifest: declared("exec") }
    }

    fn of_run(&self, run: &RunId) -> Result<Vec<Command>, StoreError> {
        let facts = self.store.facts(run, 0)?;
        let rows = Rows::fold(&facts);
        let commands = rows.sorted_by(|row| row.outcome.filter(|_| row.intent.is_some_and(is_run)));
        let command = |(row, done): &(&Row<'_>, Recorded<'_, Outcome>)| Command {
            at: row.at,
            state: row.stream.map_or_else(|| state(done), |stream| ended(stream.state)),
            printed: row.output(),
        };
        Ok(commands.iter().map(command).collect())
    }
}

/// Whether an op runs a command, and is not what one in the background came to.
fn is_run(intent: Recorded<'_, Intent>) -> bool {
    intent.op == Some(OpName::Exec) && intent.of.is_none()
}

fn state(done: &Outcome) -> &'static str {
    match done.status {
        Status::RUNNING => "active",
        status if status.is_success() => "closed",
        _ => "errored",
    }
}

fn ended(state: StreamState) -> &'static str {
    match state {
        StreamState::Exited | StreamState::Removed | StreamState::Stopped => "closed",
        StreamState::Failed | StreamState::TimedOut | StreamState::Lost => "errored",
    }
}

impl Scheme for Commands {
    fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    fn get(&self, uri: &Uri) -> Result<Option<Entry>, Refusal> {
        let fail = |e: StoreError| failed(uri, &e);
        let Some((run, at)) = row_of::<Coord>(&uri.path) else { return Ok(None) };
        let runs = self.store.runs(&self.session).map_err(fail)?;
        if !runs.iter().any(|row| row.id == run) {
            return Ok(None);
        }
        let commands = self.of_run(&run).map_err(fail)?;
        let Some(command) = commands.into_iter().find(|command| command.at == at) else {
            return Ok(None);
        };
        if command.state == "active" {
            let text = format!("{uri} goes on; what it prints is its run's until it is over");
            return Err(Refusal { status: Status::CONFLICT, text });
        }
        let printed = command.printed.map(|printed| self.store.content(&printed.hash));
        let content = printed.transpose().map_err(fail)?.unwrap_or_default();
        let tags = vec![command.state.to_owned()];
        Ok(Some(Entry { content, mime: "text/plain".to_owned(), tags }))
    }

    fn list(&self, under: &Uri) -> Result<Vec<Listed>, Refusal> {
        let fail = |e: StoreError| failed(under, &e);
        let mut listed = Vec::new();
        for run in self.store.runs(&self.session).map_err(fail)? {
            for command in self.of_run(&run.id).map_err(fail)? {
                let uri = Uri { path: format!("{}/{}", run.id, command.at), ..under.entry() };
                let bytes = command.printed.map(|printed| printed.bytes);
                listed.push(Listed { uri, bytes, tags: vec![command.state.to_owned()] });
            }
        }
        listed.retain(|one| one.uri.path.starts_with(&under.path));
        listed.sort_by(|a, b| a.uri.path.cmp(&b.uri.path));
        Ok(listed)
    }
}
