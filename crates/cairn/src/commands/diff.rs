//! `cairn diff`: what rows changed and was not undone, as one diff, from the images the store keeps.
//! The disk is not looked at.

use crate::cli;
use crate::commands::undo;
use crate::home::{named, place};
use crate::output::out::say;
use anyhow::Result;
use cairn_runtime::undo::{Changed, History, Span};
use cairn_store::{Store, StoreError};
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
    let run = named::addressed(&store, named_run.as_deref(), args.run.as_deref())?;
    let history = History::read(&store, &run.session, &run.id)?;
    let span = span.unwrap_or(Span::All);
    let commands: Vec<_> = history.commands.iter().filter(|c| span.holds(c.at)).cloned().collect();
    let (open, all) = (history.open_rows(span), history.rows);
    let all: Vec<Changed> = all.into_iter().filter(|row| span.holds(row.at)).collect();
    let rows = if args.all { &all } else { &open };
    let paths = parts(rows.iter().flat_map(|row| &row.changes));
    let mut out = crate::output::out::stdout();
    let is_terminal = out.is_terminal();
    for (path, parts) in &paths {
        let parts = || parts.iter().filter(|part| is_shown(part));
        if args.stat && !args.json && parts().next().is_some() {
            if let Some(moved) = parts().find_map(moved) {
                let _ = writeln!(out, "{}", clean(&moved));
                continue;
            }
            let counts = parts().map(|part| counted(&store, part));
            let (added, removed) = counts.fold((0, 0), |sum, n| (sum.0 + n.0, sum.1 + n.1));
            let _ = writeln!(out, "{}  +{added} -{removed}", clean(path));
            continue;
        }
        for part in parts() {
            let (text, (added, removed)) = (of(&store, part), counted(&store, part));
            let _ = if args.json {
                let row = json!({"path": path, "kind": part.kind, "added": added, "removed": removed, "diff": text});
                writeln!(out, "{row}")
            } else if is_terminal {
                write!(out, "{}", clean(&text))
            } else {
                write!(out, "{text}")
            };
        }
    }
    drop(out);
    if paths.is_empty() && !args.json {
        let is_undone = !all.is_empty();
        say!(
            "{}",
            match is_undone {
                true => "what ops there changed in files is undone; --all shows it",
                false if !commands.is_empty() =>
                    "no op whose changes are recorded changed a file there",
                false => "no op there changed a file",
            }
        );
    }
    // Beside the diff, which is a patch that other programs take.
    for command in &commands {
        let said = clean(&undo::uncovered(Some(&run.id), command));
        let _ = writeln!(std::io::stderr().lock(), "{said}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Each path's changes as one; as several where somebody else changed it in between, whose lines
/// are not these rows'.
fn parts<'a>(changes: impl Iterator<Item = &'a Change>) -> BTreeMap<String, Vec<Change>> {
    let mut paths: BTreeMap<String, Vec<Change>> = BTreeMap::new();
    for change in changes {
        let parts = paths.entry(change.path.clone()).or_default();
        match parts.last_mut() {
            Some(part) if cairn_world::alike(part.after.as_ref(), change.before.as_ref()) => {
                let (before, after) = (part.before.take(), change.after.clone());
                *part = Change::between(change.path.clone(), before, after);
            }
            _ => parts.push(change.clone()),
        }
    }
    paths
}

/// Whether a change has lines to show: directories have none, unless they are moved with all that is
/// in them.
fn is_shown(change: &Change) -> bool {
    let is_made = |s: &FileState| s.kind == FileKind::Directory && s.aside.is_none();
    let is_dir = |s: &Option<FileState>| s.as_ref().is_none_or(is_made);
    let only_directories = is_dir(&change.before) && is_dir(&change.after);
    !only_directories && !cairn_world::alike(change.before.as_ref(), change.after.as_ref())
}

/// Lines added and removed.
fn counted(store: &Store, change: &Change) -> (usize, usize) {
    sides(store, change)
        .map_or((0, 0), |(before, after)| cairn_text::diff::counted(&before, &after))
}

/// What was there and what is there, where both are text that is kept; otherwise why not.
fn sides(store: &Store, change: &Change) -> Result<(String, String), String> {
    let side = |state: &Option<FileState>| -> Result<String, String> {
        let Some(state) = state else { return Ok(String::new()) };
        if state.aside.is_some() {
            return Err("moved, not written".to_owned());
        }
        match (state.hash, &state.link) {
            (Some(hash), _) => {
                let bytes = store.content(&hash).map_err(|why| unreadable(&why).to_owned())?;
                String::from_utf8(bytes).map_err(|_| "not text".to_owned())
            }
            (None, Some(link)) => Ok(link.clone()),
            (None, None) => Ok(String::new()),
        }
    };
    Ok((side(&change.before)?, side(&change.after)?))
}

/// In what state a content is that cannot be read, in a few words.
pub fn unreadable(why: &StoreError) -> &'static str {
    match why {
        StoreError::ContentFreed { .. } => "its bytes were freed by `cairn gc`",
        StoreError::ContentMissing { .. } => "its bytes are missing and were not freed",
        StoreError::ContentCorrupt { .. } => "its bytes are damaged",
        _ => "its bytes cannot be read",
    }
}

/// The change as a unified diff; a sentence where the bytes are not text or not kept.
pub fn of(store: &Store, change: &Change) -> String {
    if let Some(moved) = moved(change) {
        return format!("{moved}\n");
    }
    let name = |state: &Option<FileState>, prefix: &str| match state {
        Some(_) => format!("{prefix}/{}", change.path),
        None => "/dev/null".to_owned(),
    };
    match sides(store, change) {
        Ok((before, after)) => cairn_text::diff::unified(
            &name(&change.before, "a"),
            &name(&change.after, "b"),
            &before,
            &after,
        ),
        Err(why) => format!("{}: {why}\n", change.path),
    }
}

/// A change of something that is moved and not written, in one line.
pub fn moved(change: &Change) -> Option<String> {
    let is_moved = |state: &Option<FileState>| state.as_ref().is_some_and(|s| s.aside.is_some());
    let what = match (is_moved(&change.before), is_moved(&change.after)) {
        (false, false) => return None,
        (true, false) => "moved aside",
        (false, true) => "moved into its place",
        (true, true) => "moved aside, and another into its place",
    };
    Some(format!("{} ({what})", told(change)))
}

/// The path of a change, with a slash where it is a directory's.
fn told(change: &Change) -> String {
    let state = change.after.as_ref().or(change.before.as_ref());
    let slash = if state.is_some_and(|s| s.kind == FileKind::Directory) { "/" } else { "" };
    format!("{}{slash}", change.path)
}
