//! What a person means by a name: a run or a session, by id, prefix or a run's name; what is here
//! when nothing is said, also in a folder within the project.

use crate::home::place;
use crate::run::Usage;
use anyhow::Result;
use cairn_runtime::session_here;
use cairn_store::{Found, RunRow, SessionRow, Store};
use cairn_text::shown::clean;
use cairn_types::{Body, SessionId, Surface};
use std::io::Write;
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
            "run {} is the session's own record, in which no agent works; name another \
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

/// The newest run over this folder, or over the nearest one above it that has any.
pub fn newest_here(store: &Store, folder: &Path) -> Result<RunRow> {
    let none = || {
        let folder = folder.display();
        Usage(format!(
            "there is no run in {folder} or above it; start one: cairn run \"…\" (`cairn sessions` \
             lists all)"
        ))
    };
    newest(store, &here(store, folder)?.ok_or_else(none)?)
}

/// The session over this folder, or over the nearest one above it, which is then said. A repository
/// is a project of its own: nothing above its folder is meant.
fn here(store: &Store, folder: &Path) -> Result<Option<SessionId>> {
    for root in folder.ancestors() {
        if let Some(session) = session_here(store, root)? {
            if root != folder {
                let root = clean(&root.display().to_string());
                let said = "is meant: nothing was run in this folder itself";
                let _ = writeln!(std::io::stderr().lock(), "the project {root} {said}");
            }
            return Ok(Some(session));
        }
        if root.join(".git").exists() {
            break;
        }
    }
    Ok(None)
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
                    "there is no session over {root_shown} or above it; name one, or a bundle's file"
                ))
            };
            Ok(here(store, &root)?.ok_or_else(none)?)
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
