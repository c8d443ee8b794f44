//! `cairn gc`: says what nobody needs any more, asks a person, and has the store free it.

use crate::out::say;
use crate::run::Usage;
use crate::{cli, place};
use anyhow::Result;
use cairn_runtime::{now_ms, undo};
use cairn_store::{Freed, Gc};
use serde_json::json;
use std::io::{BufRead, IsTerminal, Write};
use std::process::ExitCode;

const DAY_MS: u64 = 86_400_000;

/// Runs the command.
pub fn gc(args: &cli::Gc) -> Result<ExitCode> {
    let config = place::config(&place::root(None)?)?;
    let days = args.keep_days.unwrap_or_else(|| config.count("keep_days"));
    let before = now_ms().saturating_sub(days.saturating_mul(DAY_MS));
    let store = place::store()?;
    // An undo that is done after this is of a young run.
    let mut what = Gc { before, keep: undo::needed(&store)?, dry_run: true };
    if !args.yes && !args.dry_run {
        let would = store.gc(&what)?;
        if would.contents > 0 && !is_meant(args, &counted(&would, days))? {
            let _ = writeln!(std::io::stderr().lock(), "nothing is freed");
            return Ok(ExitCode::from(3));
        }
    }
    what.dry_run = args.dry_run;
    let freed = store.gc(&what)?;
    if args.json {
        say!(
            "{}",
            json!({"runs": freed.runs, "contents": freed.contents, "bytes": freed.bytes, "files": freed.files, "locks": freed.locks, "dry_run": args.dry_run})
        );
        return Ok(ExitCode::SUCCESS);
    }
    let verb = if args.dry_run { "would free" } else { "freed" };
    say!("{verb} {}", counted(&freed, days));
    say!("facts and receipts stay; what was freed reads as redacted");
    Ok(ExitCode::SUCCESS)
}

/// How much that is.
fn counted(freed: &Freed, days: u64) -> String {
    let many = |n: u64, one: &str| match n {
        1 => format!("1 {one}"),
        n => format!("{n} {one}s"),
    };
    format!(
        "{}, {}, of {} untouched for {}",
        many(freed.contents, "content"),
        many(freed.bytes, "byte"),
        many(freed.runs, "run"),
        many(days, "day")
    )
}

/// Asks whoever sits at the terminal.
fn is_meant(args: &cli::Gc, what: &str) -> Result<bool> {
    if args.json || !std::io::stdin().is_terminal() {
        return Err(Usage(format!(
            "this would free {what}; nobody can be asked here, so add --yes to free it for good"
        ))
        .into());
    }
    let mut err = std::io::stderr().lock();
    let question = format!(
        "free {what}, for good? Those runs can then not be continued, shown in full or undone. y yes, n no: "
    );
    let _ = write!(err, "{question}").and_then(|()| err.flush());
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "yes"))
}
