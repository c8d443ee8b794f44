//! Edits: what one would change, and doing it. The file is put in place by `write`.

use crate::settled::{Performed, Prepared, Refusal};
use crate::workspace::{Opened, Workspace};
use crate::write;
use cairn_text::edit::EditProblem;
use cairn_text::shown::clean;
use cairn_text::{diff, lines};
use cairn_types::{Change, ChangeKind, EditBody, FileKind, FileState, Hash, Status};
use rustix::fs::Stat;
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;

/// The largest file an edit reads or writes.
pub(crate) const MAX_FILE: u64 = 16 << 20;
/// How many edited places are shown.
const PLACES: usize = 3;
/// How many lines are shown around each.
const CONTEXT: usize = 2;

/// An edit worked out but not done.
struct Worked {
    change: Change,
    before: Option<(Vec<u8>, Stat)>,
    after: String,
    spans: Vec<(usize, usize)>,
}

/// What an edit would change.
pub(crate) fn prepare(workspace: &Workspace, path: &str, body: &EditBody) -> Prepared {
    let worked = match work_out(workspace, path, body) {
        Ok(worked) => worked,
        Err(refusal) => {
            let label = clean(&format!("edit {path}"));
            return Prepared { label, settled: Some(refusal.into()), ..Prepared::default() };
        }
    };
    let (shown, label) = shown(&worked);
    let before = worked.before.map(|(bytes, _)| bytes);
    let contents = before.into_iter().chain([worked.after.into_bytes()]).collect();
    let label = clean(&label);
    Prepared { changes: vec![worked.change], shown, label, contents, settled: None }
}

fn shown(worked: &Worked) -> (String, String) {
    let path = &worked.change.path;
    let after = format!("b/{path}");
    let Some((bytes, _)) = &worked.before else {
        let lines = worked.after.lines().count();
        let diff = diff::unified("/dev/null", &after, "", &worked.after);
        return (diff, format!("create {path} (+{lines})"));
    };
    match std::str::from_utf8(bytes) {
        Ok(text) => {
            let (added, removed) = diff::counted(text, &worked.after);
            let diff = diff::unified(&format!("a/{path}"), &after, text, &worked.after);
            (diff, format!("edit {path} (+{added} -{removed})"))
        }
        Err(_) => {
            let (was, lines) = (bytes.len(), worked.after.lines().count());
            let note = format!(
                "--- a/{path}\n+++ {after}\n@@ {was} bytes that are not text → {lines} lines @@\n"
            );
            (note, format!("edit {path} (replaces a binary file)"))
        }
    }
}

fn work_out(workspace: &Workspace, path: &str, body: &EditBody) -> Result<Worked, Refusal> {
    let opened = match workspace.open_existing(path) {
        Ok(opened) => Some(opened),
        Err(refusal) if refusal.status == Status::NOT_FOUND => None,
        Err(refusal) => return Err(refusal),
    };
    if opened.as_ref().is_some_and(Opened::is_directory) {
        return Err(Refusal::new(Status::CONFLICT, format!("{path} is a directory")));
    }
    let real = match &opened {
        Some(opened) => opened.path.clone(),
        None => workspace.place_of_new(path)?,
    };
    let before = match opened {
        Some(opened) => Some((read_all(path, opened.fd, MAX_FILE)?, opened.stat)),
        None => None,
    };
    let old = before.as_ref().map(|(bytes, _)| bytes.as_slice());
    let (after, spans) = apply(&real, old, body)?;
    if after.len() as u64 > MAX_FILE {
        let text = format!("{path} would be {} bytes, more than {MAX_FILE}", after.len());
        return Err(Refusal::new(Status::TOO_LARGE, text));
    }
    if old == Some(after.as_bytes()) {
        return Err(Refusal::new(Status::UNCHANGED, format!("{real} is unchanged")));
    }
    let change = change(workspace, real, before.as_ref(), &after);
    Ok(Worked { change, before, after, spans })
}

/// The new content and the lines that are new in it.
fn apply(
    path: &str,
    old: Option<&[u8]>,
    body: &EditBody,
) -> Result<(String, Vec<(usize, usize)>), Refusal> {
    let text = old.map(std::str::from_utf8);
    match body {
        EditBody::Whole { content } => {
            let spans = match text {
                Some(Ok(text)) => diff::spans(text, content),
                _ => Vec::new(),
            };
            Ok((content.clone(), spans))
        }
        EditBody::Replace { old, new, all } => {
            let missing = || Refusal::new(Status::NOT_FOUND, format!("{path} does not exist"));
            let not_text = |_| Refusal::new(Status::NOT_TEXT, format!("{path} is not UTF-8 text"));
            let text = text.ok_or_else(missing)?.map_err(not_text)?;
            let edited = cairn_text::edit::replace(text, old, new, *all).map_err(|problem| {
                let status = match problem {
                    EditProblem::Empty => Status::UNPROCESSABLE,
                    EditProblem::Same => Status::UNCHANGED,
                    EditProblem::NotFound { .. } | EditProblem::Several { .. } => Status::CONFLICT,
                };
                Refusal::new(status, format!("{path}: {problem}"))
            })?;
            Ok((edited.content, edited.spans))
        }
    }
}

fn change(
    workspace: &Workspace,
    path: String,
    before: Option<&(Vec<u8>, Stat)>,
    after: &str,
) -> Change {
    let before = before.map(|(bytes, stat)| write::state_of(stat, Some(Hash::of(bytes))));
    let kind = if before.is_some() { ChangeKind::Modified } else { ChangeKind::Created };
    let mode = before.as_ref().map_or(workspace.new_file_mode(), |state| state.mode);
    let after = FileState {
        kind: FileKind::File,
        hash: Some(Hash::of(after.as_bytes())),
        bytes: Some(after.len() as u64),
        mode,
        mtime_ns: None,
        link: None,
    };
    Change { path, kind, before, after: Some(after) }
}

/// Does an edit, if the file is as it was expected to be.
pub(crate) fn perform(
    workspace: &Workspace,
    path: &str,
    body: &EditBody,
    expected: &[Change],
) -> Result<Performed, Refusal> {
    let expected = expected.first();
    let worked = match (work_out(workspace, path, body), expected) {
        (Ok(worked), Some(expected)) if !is_as_expected(&worked.change, expected) => {
            return Err(write::changed_since(&expected.path));
        }
        (Err(_), Some(expected)) => return Err(write::changed_since(&expected.path)),
        (worked, _) => worked?,
    };
    let was = worked.before.as_ref().map(|(_, stat)| stat);
    let after = write::write(workspace, &worked.change, worked.after.as_bytes(), was)?;
    let (status, text) = told(&worked);
    let change = Change { after: Some(after), ..worked.change };
    Ok(Performed { changes: vec![change], ..Performed::told(status, text) })
}

fn is_as_expected(change: &Change, expected: &Change) -> bool {
    let key = |state: Option<&FileState>| state.map(|s| (s.kind, s.hash, s.mode));
    change.path == expected.path
        && key(change.before.as_ref()) == key(expected.before.as_ref())
        && change.after.as_ref().map(|s| s.hash) == expected.after.as_ref().map(|s| s.hash)
}

fn told(worked: &Worked) -> (Status, String) {
    let path = &worked.change.path;
    if worked.before.is_none() {
        let lines = match worked.after.lines().count() {
            1 => "1 line".to_owned(),
            n => format!("{n} lines"),
        };
        return (Status::CREATED, format!("created {path}, {lines}"));
    }
    let shown = &worked.spans[..worked.spans.len().min(PLACES)];
    let mut text = format!("updated {path}");
    let excerpt = lines::excerpt(&worked.after, shown, CONTEXT);
    if !excerpt.is_empty() {
        text = format!("{text}\n{excerpt}");
    }
    if worked.spans.len() > shown.len() {
        text = format!("{text}\n… {} more places", worked.spans.len() - shown.len());
    }
    (Status::OK, text)
}

/// A whole file, if it is not too large.
pub(crate) fn read_all(path: &str, fd: OwnedFd, limit: u64) -> Result<Vec<u8>, Refusal> {
    let mut bytes = Vec::new();
    File::from(fd)
        .take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| Refusal::new(Status::FAILED, format!("{path} could not be read: {e}")))?;
    if bytes.len() as u64 > limit {
        let text = format!("{path} is larger than {limit} bytes");
        return Err(Refusal::new(Status::TOO_LARGE, text));
    }
    Ok(bytes)
}
