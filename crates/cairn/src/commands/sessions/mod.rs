//! `cairn sessions`: the worlds in this home, what their runs came to, and what a person does with a
//! whole session. Runs nothing.

mod carry;
mod delete;
mod list;
pub mod outline;
mod search;

use crate::cli;
use crate::home::{name, named, place};
use crate::output::out::say;
use anyhow::Result;
use cli::SessionsCommand;
use serde_json::json;
use std::process::ExitCode;

/// Runs the command.
pub fn sessions(args: &cli::Sessions) -> Result<ExitCode> {
    match &args.command {
        None => list::list(args),
        Some(SessionsCommand::Rename(args)) => rename(args),
        Some(SessionsCommand::Search(args)) => search::search(args),
        Some(SessionsCommand::Delete(args)) => delete::delete(args),
        Some(SessionsCommand::Export(args)) => carry::export(args),
        Some(SessionsCommand::Import(args)) => carry::import(args),
    }
}

fn rename(args: &cli::Rename) -> Result<ExitCode> {
    let store = place::store()?;
    let session = named::session(&store, Some(&args.session))?;
    let name = name::of_session(&store, &session, &args.name)?;
    store.rename(&session, name.as_deref())?;
    match (args.json, &name) {
        (true, _) => say!("{}", json!({"session": session, "name": name})),
        (false, None) => say!("session {session} has no name any more"),
        (false, Some(name)) => say!("session {session} is called {name}"),
    }
    Ok(ExitCode::SUCCESS)
}
