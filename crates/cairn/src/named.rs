//! What a person means by a name: a run or a session, by id, prefix or a run's name; what is here
//! when nothing is said.

use crate::place;
use crate::run::Usage;
use anyhow::Result;
use cairn_runtime::session_here;
use cairn_store::{Found, RunRow, SessionRow, Store};
use cairn_types::{Body, SessionId, Surface};
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

/// The run that an address and a flag mean together; they may not mean two.
pub fn addressed(store: &Store, address: Option<&str>, flag: Option<&str>) -> Result<RunRow> {
    let found = run(store, address.or(flag))?;
    if let (Some(address), Some(flag)) = (address, flag) {
        let other = run(store, Some(flag))?;
        if other.id != found.id {
            let (one, other) = (found.id, other.id);
            return Err(Usage(format!(
                "log://{address} is run {one}, and --run {flag} is run {other}; name one of them"
            ))
            .into());
        }
    }
    Ok(found)
}

/// The same, to be driven, forked or undone: a run that an agent works in.
pub fn workable(store: &Store, address: Option<&str>, flag: Option<&str>) -> Result<RunRow> {
    let run = addressed(store, address, flag)?;
    if is_client(store, &run)? {
        return Err(Usage(format!(
            "run {} is the session's own record of undos, in which no agent works; name another \
             (`cairn sessions` lists them), and take back an undo with `cairn redo`",
            run.id
        ))
        .into());
    }
    Ok(run)
}

/// Whether no model writes in a run; its first fact says so, also that of a fork.
fn is_client(store: &Store, run: &RunRow) -> Result<bool> {
    let facts = store.facts(&run.id, 0)?;
    let first = facts.first().map(|fact| &fact.body);
    Ok(matches!(first, Some(Body::Run(started)) if started.surface == Surface::Client))
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
    for run in store.runs(session)? {
        if !is_client(store, &run)? {
            return Ok(run);
        }
    }
    Err(none().into())
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
