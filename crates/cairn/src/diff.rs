//! `cairn diff`: what rows changed, as one diff, from the images the store keeps.

use crate::out::say;
use crate::{cli, named, place, undo};
use anyhow::Result;
use cairn_runtime::undo::{History, Span};
use cairn_store::Store;
use cairn_text::shown::clean;
use cairn_types::{Change, FileKind, FileState};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;

/// Runs the command.
pub fn diff(args: &cli::Diff) -> Result<ExitCode> {
    let (named_run, span) = undo::span(args.what.as_deref())?;
    let store = place::store_to_read()?;
    let run = named::run(&store, named_run.as_deref().or(args.run.as_deref()))?;
    let history = History::read(&store, &run.session, &run.id)?;
    let span = span.unwrap_or(Span::All);
    let mut paths: BTreeMap<String, Change> = BTreeMap::new();
    for change in history.rows.iter().filter(|row| span.holds(row.at)).flat_map(|row| &row.changes)
    {
        let before = match paths.get(&change.path) {
            Some(earlier) => earlier.before.clone(),
            None => change.before.clone(),
        };
        let net = Change::between(change.path.clone(), before, change.after.clone());
        paths.insert(change.path.clone(), net);
    }
    let is_dir = |s: &Option<FileState>| s.as_ref().is_none_or(|s| s.kind == FileKind::Directory);
    let changed = |c: &&Change| {
        let only_directories = is_dir(&c.before) && is_dir(&c.after);
        !only_directories && !cairn_world::same(c.before.as_ref(), c.after.as_ref())
    };
    let mut out = crate::out::stdout();
    let is_terminal = out.is_terminal();
    for change in paths.values().filter(changed) {
        let text = of(&store, change);
        let (added, removed) = counted(&text);
        if args.json {
            let row = json!({"path": change.path, "kind": change.kind, "added": added, "removed": removed, "diff": text});
            let _ = writeln!(out, "{row}");
        } else if args.stat {
            let _ = writeln!(out, "{}  +{added} -{removed}", clean(&change.path));
        } else if is_terminal {
            let _ = write!(out, "{}", clean(&text));
        } else {
            let _ = write!(out, "{text}");
        }
    }
    drop(out);
    if paths.is_empty() && !args.json {
        say!("no op there changed a file");
    }
    Ok(ExitCode::SUCCESS)
}

/// Lines added and removed by a unified diff.
fn counted(diff: &str) -> (usize, usize) {
    let begins = |mark: &str, head: &str| {
        diff.lines().filter(|line| line.starts_with(mark) && !line.starts_with(head)).count()
    };
    (begins("+", "+++ "), begins("-", "--- "))
}

/// The change as a unified diff; a sentence where the bytes are not text or not kept.
pub fn of(store: &Store, change: &Change) -> String {
    let side = |state: &Option<FileState>| -> Option<String> {
        let Some(state) = state else { return Some(String::new()) };
        match (state.hash, &state.link) {
            (Some(hash), _) => String::from_utf8(store.content(&hash).ok()?).ok(),
            (None, Some(link)) => Some(link.clone()),
            (None, None) => Some(String::new()),
        }
    };
    let name = |state: &Option<FileState>, prefix: &str| match state {
        Some(_) => format!("{prefix}/{}", change.path),
        None => "/dev/null".to_owned(),
    };
    match (side(&change.before), side(&change.after)) {
        (Some(before), Some(after)) => cairn_text::diff::unified(
            &name(&change.before, "a"),
            &name(&change.after, "b"),
            &before,
            &after,
        ),
        _ => format!("{}: not text, or its bytes are no longer kept\n", change.path),
    }
}
