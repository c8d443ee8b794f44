//! `cairn gc`: says what nobody needs any more, asks a person, and has the store free it and the trash
//! of the home's roots cleared.

use crate::cli;
use crate::home::place;
use crate::output::out::say;
use crate::run::Usage;
use anyhow::Result;
use cairn_runtime::{now_ms, undo};
use cairn_store::{Freed, Gc, Store};
use cairn_text::shown::clean;
use cairn_world::Trash;
use serde_json::json;
use std::io::{BufRead, IsTerminal, Write};
use std::process::ExitCode;

const DAY_MS: u64 = 86_400_000;
/// What no row names may be of a command that is just being put before a person; after this long it
/// is not.
const SETTLED_MS: u64 = 3_600_000;

/// Runs the command.
pub fn gc(args: &cli::Gc) -> Result<ExitCode> {
    let config = place::config(&place::root(None)?)?;
    let days = args.keep_days.unwrap_or_else(|| config.count("keep_days"));
    let before = now_ms().saturating_sub(days.saturating_mul(DAY_MS));
    let store = place::store()?;
    // An undo that is done after this is of a young run.
    let mut what = Gc { before, keep: undo::needed(&store)?, dry_run: true };
    if !args.yes && !args.dry_run {
        let (would, trash) = (store.gc(&what)?, clear_trash(&store, before, true)?);
        let is_any = would.contents > 0 || trash.batches > 0;
        if is_any && !is_meant(args, &counted(&would, &trash, days))? {
            let _ = writeln!(std::io::stderr().lock(), "nothing is freed");
            return Ok(ExitCode::from(3));
        }
    }
    what.dry_run = args.dry_run;
    let freed = store.gc(&what)?;
    let trash = clear_trash(&store, before, args.dry_run)?;
    for left in &trash.left {
        let _ = writeln!(std::io::stderr().lock(), "cairn: {}", clean(left));
    }
    if args.json {
        let removed = json!({"batches": trash.batches, "entries": trash.entries, "bytes": trash.bytes, "left": trash.left});
        say!(
            "{}",
            json!({"runs": freed.runs, "contents": freed.contents, "bytes": freed.bytes, "files": freed.files, "locks": freed.locks, "trash": removed, "dry_run": args.dry_run})
        );
        return Ok(ExitCode::SUCCESS);
    }
    let verb = if args.dry_run { "would free" } else { "freed" };
    say!("{verb} {}", counted(&freed, &trash, days));
    say!("facts and receipts stay; what was freed reads as redacted");
    Ok(ExitCode::SUCCESS)
}

/// What was removed of what ops moved aside, or would be.
#[derive(Default)]
struct Cleared {
    /// How often something was moved aside.
    batches: u64,
    /// Files, links and directories.
    entries: u64,
    /// Their bytes.
    bytes: u64,
    /// What could not be removed, and why.
    left: Vec<String>,
}

/// Clears the trash of every root of the home. After the contents: a run that is taken up in between
/// keeps what it moved.
fn clear_trash(store: &Store, before: u64, dry_run: bool) -> Result<Cleared> {
    let settled = before.min(now_ms().saturating_sub(SETTLED_MS));
    let mut cleared = Cleared::default();
    for (root, asides) in undo::asides(store, before)? {
        // A root that is gone took its trash with it.
        let Ok(trash) = Trash::open(&root) else { continue };
        for batch in trash.batches() {
            if !asides.lets_go(&batch.name, batch.touched, settled) {
                continue;
            }
            let swept = if dry_run { trash.size(&batch.name) } else { trash.remove(&batch.name) };
            match swept {
                Ok(size) => {
                    cleared.batches += 1;
                    cleared.entries += size.entries;
                    cleared.bytes += size.bytes;
                }
                Err(why) => {
                    cleared.left.push(format!(
                        "in {}, {} stays: {why}",
                        root.display(),
                        batch.name
                    ));
                }
            }
        }
    }
    Ok(cleared)
}

/// How much that is.
fn counted(freed: &Freed, trash: &Cleared, days: u64) -> String {
    let many = |n: u64, one: &str| match n {
        1 => format!("1 {one}"),
        n => format!("{n} {one}s"),
    };
    let contents = format!(
        "{}, {}, of {} untouched for {}",
        many(freed.contents, "content"),
        many(freed.bytes, "byte"),
        many(freed.runs, "run"),
        many(days, "day")
    );
    if trash.batches == 0 {
        return contents;
    }
    let (things, bytes) = (many(trash.entries, "thing"), many(trash.bytes, "byte"));
    format!("{contents}, and {things} moved aside, {bytes}")
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
