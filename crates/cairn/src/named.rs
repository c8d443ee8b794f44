//! What a person means by a name: a run or a session, by id, prefix or a run's name; what is here
//! when nothing is said.

use crate::place;
use crate::run::Usage;
use anyhow::Result;
use cairn_runtime::session_here;
use cairn_store::{Found, RunRow, SessionRow, Store};
use cairn_types::SessionId;
use std::path::Path;

/// The run that is meant; of a session, its newest.
pub fn run(store: &Store, text: Option<&str>) -> Result<RunRow> {
    match text {
        None => newest_here(store, &place::root(None)?),
        Some(text) => match store.find(text)? {
            Found::Run(run) => Ok(run),
            Found::Session(session) => newest(store, &session.id),
        },
    }
}

/// The newest run over this root.
pub fn newest_here(store: &Store, root: &Path) -> Result<RunRow> {
    let none = || {
        let root = root.display();
        Usage(format!(
            "there is no run in {root}; start one: cairn run \"…\" (`cairn sessions` lists all)"
        ))
    };
    newest(store, &session_here(store, root)?.ok_or_else(none)?)
}

fn newest(store: &Store, session: &SessionId) -> Result<RunRow> {
    let none = || Usage(format!("session {session} has no run yet; start one: cairn run \"…\""));
    let runs = store.runs(session)?.into_iter();
    let mut agents = runs.filter(|run| run.name.as_deref() != Some(cairn_runtime::CLIENT_RUN));
    Ok(agents.next().ok_or_else(none)?)
}

/// The session that is meant; of a run, its own.
pub fn session(store: &Store, text: Option<&str>) -> Result<SessionId> {
    match text {
        Some(text) => Ok(match store.find(text)? {
            Found::Session(session) => session.id,
            Found::Run(run) => run.session,
        }),
        None => {
            let root = place::root(None)?;
            let root_shown = root.display();
            let none = || {
                Usage(format!(
                    "there is no session over {root_shown}; name one, or a bundle's file"
                ))
            };
            Ok(session_here(store, &root)?.ok_or_else(none)?)
        }
    }
}

/// The session's own row.
pub fn session_row(store: &Store, session: &SessionId) -> Result<SessionRow> {
    match store.find(session.as_str())? {
        Found::Session(row) => Ok(row),
        Found::Run(_) => Err(Usage(format!("{session} is not a session")).into()),
    }
}
