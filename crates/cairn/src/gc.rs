//! `cairn gc`: frees what nobody needs any more.

use crate::out::say;
use crate::{cli, place};
use anyhow::Result;
use cairn_runtime::now_ms;
use cairn_store::Gc;
use serde_json::json;
use std::process::ExitCode;

const DAY_MS: u64 = 86_400_000;

/// Runs the command.
pub fn gc(args: &cli::Gc) -> Result<ExitCode> {
    let config = place::config(&place::root(None)?)?;
    let days = args.keep_days.unwrap_or_else(|| config.count("keep_days"));
    let before = now_ms().saturating_sub(days.saturating_mul(DAY_MS));
    let store = place::store()?;
    // An undo that is done after this is of a young run.
    let keep = cairn_runtime::undo::needed(&store)?;
    let freed = store.gc(&Gc { before, keep, dry_run: args.dry_run })?;
    if args.json {
        say!(
            "{}",
            json!({"runs": freed.runs, "contents": freed.contents, "bytes": freed.bytes, "files": freed.files, "locks": freed.locks, "dry_run": args.dry_run})
        );
        return Ok(ExitCode::SUCCESS);
    }
    let verb = if args.dry_run { "would free" } else { "freed" };
    say!(
        "{verb} {} contents, {} bytes, of {} runs untouched for {days} days",
        freed.contents,
        freed.bytes,
        freed.runs
    );
    say!("facts and receipts stay; what was freed reads as redacted");
    Ok(ExitCode::SUCCESS)
}
