//! `cairn sessions`: the worlds in this home, what their runs came to, and what a person does with a
//! whole session. Runs nothing.

mod carry;
mod delete;
mod list;
mod outline;
mod search;

use crate::out::say;
use crate::run::Usage;
use crate::{cli, named, place};
use anyhow::Result;
use cairn_text::shown::clean;
use cli::SessionsCommand;
use serde_json::json;
use std::process::ExitCode;

/// The longest name, in bytes.
const MOST_NAME: usize = 200;

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
    let name = args.name.trim();
    if name.len() > MOST_NAME || name.chars().any(char::is_control) {
        let fix = format!("a name has at most {MOST_NAME} bytes, on one line");
        return Err(Usage(fix).into());
    }
    let store = place::store()?;
    let session = named::session(&store, Some(&args.session))?;
    store.rename(&session, Some(name).filter(|name| !name.is_empty()))?;
    match (args.json, name.is_empty()) {
        (true, true) => say!("{}", json!({"session": session, "name": null})),
        (true, false) => say!("{}", json!({"session": session, "name": name})),
        (false, true) => say!("session {session} has no name any more"),
        (false, false) => say!("session {session} is called {}", clean(name)),
    }
    Ok(ExitCode::SUCCESS)
}
