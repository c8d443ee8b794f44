//! Edits worked out: what a file is, what it would be, what a person and the model are shown of it.
//! Changes nothing; `apply` does.

use crate::apply::missing_directories;
use crate::settled::{Prepared, Refusal};
use crate::state;
use crate::workspace::{Opened, Workspace};
use cairn_text::edit::EditProblem;
use cairn_text::shown::clean;
use cairn_text::{diff, lines};
use cairn_types::{Change, EditBody, FileKind, FileState, Hash, Status};
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;

/// The largest file an edit reads or writes.
pub(crate) const MAX_FILE: u64 = 16 << 20;
/// How many edited places are shown.
const PLACES: usize = 3;
/// How many lines are shown around each.
const CONTEXT: usize = 2;
/// A file up to this size is shown whole when it was not read before.
const SHOWN_WHOLE: usize = 12 << 10;
/// How many lines around an intended edit are shown of a larger one.
const AROUND: usize = 20;

/// One file's edit, worked out but not done.
struct Worked {
    change: Change,
    before: Option<Vec<u8>>,
    after: String,
    spans: Vec<(usize, usize)>,
    notes: Vec<String>,
}

/// What an edit would change.
pub(crate) fn prepare(workspace: &Workspace, path: Option<&str>, body: &EditBody) -> Prepared {
    let path = path.unwrap_or_default();
    match work_out(workspace, path, body) {
        Ok(worked) => prepared(workspace, vec![worked]),
        Err((refusal, seen)) => {
            let label = clean(&format!("edit {path}"));
            let mut settled = crate::Performed::from(refusal);
            settled.seen.extend(seen);
            Prepared { label, settled: Some(settled), ..Prepared::default() }
        }
    }
}

fn prepared(workspace: &Workspace, worked: Vec<Worked>) -> Prepared {
    let mut prepared = Prepared::default();
    let (mut labels, mut fresh, mut told) = (Vec::new(), Vec::new(), Vec::new());
    let mut status = Status::CREATED;
    for one in worked {
        let (shown, label) = shown(&one);
        prepared.shown.push_str(&shown);
        labels.push(clean(&label));
        fresh.extend(one.fresh());
        told.push(one.told());
        if one.before.is_some() {
            status = Status::OK;
        }
        for directory in missing_directories(workspace, &one.change.path) {
            if !prepared.changes.contains(&directory) {
                prepared.changes.push(directory);
            }
        }
        prepared.contents.extend(one.before.into_iter().chain([one.after.into_bytes()]));
        prepared.changes.push(one.change);
    }
    prepared.label = labels.join(", ");
    prepared.told = Some((status, told.join("\n")));
    prepared.fresh = fresh;
    prepared
}

fn shown(worked: &Worked) -> (String, String) {
    let path = &worked.change.path;
    let after = format!("b/{path}");
    let Some(bytes) = &worked.before else {
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

/// An edit that cannot be: why, and the file if the reason shows some of it.
type Unworked = (Refusal, Option<cairn_types::Seen>);

fn work_out(workspace: &Workspace, path: &str, body: &EditBody) -> Result<Worked, Unworked> {
    let (real, before) = look(workspace, path).map_err(|refusal| (refusal, None))?;
    let old = before.as_ref().map(|(bytes, _)| bytes.as_slice());
    let edited = apply(&real, old, body).map_err(|refusal| {
        let shows = refusal.status == Status::CONFLICT;
        let hash = old.filter(|_| shows).map(Hash::of);
        let seen = hash.map(|hash| cairn_types::Seen { path: real.clone(), hash });
        (refusal, seen)
    })?;
    let (after, spans, notes) = edited;
    let refuse = |status, text: String| Err((Refusal::new(status, text), None));
    if after.len() as u64 > MAX_FILE {
        let text = format!("{path} would be {} bytes, more than {MAX_FILE}", after.len());
        return refuse(Status::TOO_LARGE, text);
    }
    if old == Some(after.as_bytes()) {
        return refuse(Status::UNCHANGED, format!("{real} is unchanged"));
    }
    let state = before.as_ref().map(|(_, state)| state.clone());
    let change = Change::between(real, state.clone(), Some(written(workspace, state, &after)));
    Ok(Worked { change, before: before.map(|(bytes, _)| bytes), after, spans, notes })
}

/// A file's bytes and state.
type There = (Vec<u8>, FileState);

/// A file's real path, and what it is if it exists.
fn look(workspace: &Workspace, path: &str) -> Result<(String, Option<There>), Refusal> {
    let opened = match workspace.open_existing(path) {
        Ok(opened) => opened,
        Err(refusal) if refusal.status == Status::NOT_FOUND => {
            return Ok((workspace.place_of_new(path)?, None));
        }
        Err(refusal) => return Err(refusal),
    };
    if opened.is_directory() {
        return Err(Refusal::new(Status::CONFLICT, format!("{path} is a directory")));
    }
    let Opened { path: real, fd, stat } = opened;
    let bytes = read_all(path, fd, MAX_FILE)?;
    let state = state::of_file(&stat, Hash::of(&bytes));
    Ok((real, Some((bytes, state))))
}

type Edited = (String, Vec<(usize, usize)>, Vec<String>);

/// The new content, the lines that are new in it, and what was tolerated.
fn apply(path: &str, old: Option<&[u8]>, body: &EditBody) -> Result<Edited, Refusal> {
    let text = old.map(std::str::from_utf8);
    let exchanges = match body {
        EditBody::Whole { content } => {
            let spans = match text {
                Some(Ok(text)) => diff::spans(text, content),
                _ => Vec::new(),
            };
            return Ok((content.clone(), spans, Vec::new()));
        }
        EditBody::Replace(exchanges) => exchanges,
        EditBody::Patch(_) => return Err(Refusal::new(Status::NOT_IMPLEMENTED, "patch")),
    };
    let missing = || Refusal::new(Status::NOT_FOUND, format!("{path} does not exist"));
    let not_text = |_| Refusal::new(Status::NOT_TEXT, format!("{path} is not UTF-8 text"));
    let text = text.ok_or_else(missing)?.map_err(not_text)?;
    let [exchange] = &exchanges[..] else {
        return Err(Refusal::new(Status::NOT_IMPLEMENTED, "multi"));
    };
    let edited = cairn_text::edit::replace(text, &exchange.old, &exchange.new, exchange.all);
    let edited = edited
        .map_err(|problem| Refusal::new(status_of(&problem), format!("{path}: {problem}")))?;
    Ok((edited.content, edited.spans, Vec::new()))
}

fn status_of(problem: &EditProblem) -> Status {
    match problem {
        EditProblem::Empty => Status::UNPROCESSABLE,
        EditProblem::Same => Status::UNCHANGED,
        EditProblem::NotFound { .. } | EditProblem::Several { .. } => Status::CONFLICT,
    }
}

/// The state a file will have with this content.
fn written(workspace: &Workspace, before: Option<FileState>, after: &str) -> FileState {
    FileState {
        kind: FileKind::File,
        hash: Some(Hash::of(after.as_bytes())),
        bytes: Some(after.len() as u64),
        mode: before.map_or(workspace.new_file_mode(), |state| state.mode),
        mtime_ns: None,
        link: None,
    }
}

impl Worked {
    /// What the model is told when it is done: the edited places as they now are.
    fn told(&self) -> String {
        let path = &self.change.path;
        if self.before.is_none() {
            let lines = match self.after.lines().count() {
                1 => "1 line".to_owned(),
                n => format!("{n} lines"),
            };
            return format!("created {path}, {lines}");
        }
        let shown = &self.spans[..self.spans.len().min(PLACES)];
        let mut text = format!("updated {path}");
        for note in &self.notes {
            text = format!("{text}\n({note})");
        }
        let excerpt = lines::excerpt(&self.after, shown, CONTEXT);
        if !excerpt.is_empty() {
            text = format!("{text}\n{excerpt}");
        }
        if self.spans.len() > shown.len() {
            text = format!("{text}\n… {} more places", self.spans.len() - shown.len());
        }
        text
    }

    /// The file as it is, for a model that has not seen it: all of it, or what lies around the
    /// edit.
    fn fresh(&self) -> Option<String> {
        let path = &self.change.path;
        let bytes = self.before.as_deref()?;
        let Ok(text) = std::str::from_utf8(bytes) else {
            return Some(format!("{path} is a binary file, {} bytes", bytes.len()));
        };
        if text.is_empty() {
            return Some(format!("{path} is empty"));
        }
        if text.len() <= SHOWN_WHOLE {
            return Some(format!("{path}:\n{}", lines::numbered(text, 1)));
        }
        let total = text.lines().count();
        let places: Vec<(usize, usize)> = diff::spans(&self.after, text);
        let shown = &places[..places.len().min(PLACES)];
        let excerpt = lines::excerpt(text, shown, AROUND);
        Some(format!("{path}, some of its {total} lines:\n{excerpt}"))
    }
}

/// A whole file, if it is not too large.
pub(crate) fn read_all(path: &str, fd: OwnedFd, limit: u64) -> Result<Vec<u8>, Refusal> {
    let mut bytes = Vec::new();
    let read = File::from(fd).take(limit + 1).read_to_end(&mut bytes);
    read.map_err(|e| state::unread(path, &e))?;
    if bytes.len() as u64 > limit {
        let text = format!("{path} is larger than {limit} bytes");
        return Err(Refusal::new(Status::TOO_LARGE, text));
    }
    Ok(bytes)
}
