//! `cairn sessions`: the worlds in this home and their runs.

use crate::{cli, log, place};
use anyhow::Result;
use cairn_text::shown::clean;
use serde_json::json;
use std::io::Write;
use std::process::ExitCode;

/// Runs the command.
pub fn sessions(args: &cli::Sessions) -> Result<ExitCode> {
    let store = place::store_to_read()?;
    let mut out = std::io::stdout().lock();
    for session in store.sessions()? {
        let runs = store.runs(&session.id)?;
        if args.json {
            let runs: Vec<_> = runs
                .iter()
                .map(|run| json!({"run": run.id, "name": run.name, "created_at": run.created_at, "facts": run.last_n, "parent": run.parent}))
                .collect();
            let line = json!({"session": session.id, "root": session.root, "created_at": session.created_at, "runs": runs});
            let _ = writeln!(out, "{line}");
            continue;
        }
        let _ = writeln!(
            out,
            "{}  {}  {}",
            session.id,
            log::time(session.created_at),
            clean(&session.root)
        );
        for run in runs {
            let name = run.name.as_deref().unwrap_or_default();
            let _ = writeln!(
                out,
                "  {}  {}  {} facts  {}",
                run.id,
                log::time(run.created_at),
                run.last_n,
                clean(name)
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}
