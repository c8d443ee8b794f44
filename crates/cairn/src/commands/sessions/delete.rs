//! `cairn sessions delete`: asks a person, then has the store forget a session.

use crate::cli;
use crate::home::{named, place};
use crate::output::out::say;
use crate::run::Usage;
use anyhow::Result;
use cairn_runtime::now_ms;
use cairn_store::SessionRow;
use cairn_text::shown::clean;
use serde_json::json;
use std::io::{BufRead, IsTerminal, Write};
use std::process::ExitCode;

/// Runs the command.
pub fn delete(args: &cli::Delete) -> Result<ExitCode> {
    let store = place::store()?;
    let session = named::session(&store, Some(&args.session))?;
    let row = named::session_row(&store, &session)?;
    if !args.yes && !is_meant(&row)? {
        let _ = writeln!(std::io::stderr().lock(), "nothing is deleted");
        return Ok(ExitCode::from(3));
    }
    let gone = store.delete(&session, now_ms())?;
    if args.json {
        say!(
            "{}",
            json!({"session": session, "runs": gone.runs, "facts": gone.facts, "receipts": gone.receipts, "contents": gone.contents, "bytes": gone.bytes})
        );
    } else {
        say!(
            "session {session} is deleted: {} runs, {} facts, {} receipts, {} contents of {} bytes",
            gone.runs,
            gone.facts,
            gone.receipts,
            gone.contents,
            gone.bytes
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// Asks whoever sits at the terminal.
fn is_meant(row: &SessionRow) -> Result<bool> {
    if !std::io::stdin().is_terminal() {
        return Err(Usage(
            "nobody can be asked here; add --yes to delete the session for good".to_owned(),
        )
        .into());
    }
    let name = row.name.as_deref().map(|name| format!(" ({name})")).unwrap_or_default();
    let question = format!(
        "delete session {}{name} over {} with {} runs for good? y yes, n no: ",
        row.id, row.root, row.runs
    );
    let mut err = std::io::stderr().lock();
    let _ = write!(err, "{}", clean(&question)).and_then(|()| err.flush());
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "yes"))
}
