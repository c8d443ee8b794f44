//! Edits worked out: what a file is, what it would be, what a person and the model are shown of it.
//! Changes nothing; `apply` does.

use crate::changes::apply::missing_directories;
use crate::changes::{attributes, state};
use crate::edits::earlier::{EarlierInReply, SeenText};
use crate::edits::{parts, patch};
use crate::folders::root_directory::RootDirectory;
use crate::folders::roots::Roots;
use crate::folders::unread::Door;
use crate::folders::workspace::{Opened, Workspace, refusal};
use crate::look::read::refuse_binary;
use crate::settled::{Prepared, Refusal};
use cairn_text::edit::{EditProblem, Edited};
use cairn_text::shown::clean;
use cairn_text::{diff, lines, mime};
use cairn_types::{Change, ContentRef, Edit, EditBody, FileState, Hash, Status};
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

/// What the model is told of a file that has other names, since an edit puts another file in the place of this one.
const OTHER_NAMES: &str = "it has other names (hard links), which keep the old text";

/// One file's edit, worked out but not done.
pub(crate) struct Worked {
    /// From what it is to what it would be.
    pub(crate) change: Change,
    pub(crate) before: Option<Vec<u8>>,
    /// Absent when the file would be gone.
    pub(crate) after: Option<String>,
    pub(crate) spans: Vec<(usize, usize)>,
    pub(crate) notes: Vec<String>,
    /// The place it leaves, when it is moved.
    pub(crate) from: Option<String>,
}

/// What an edit would change, after earlier ops of the same reply.
pub(crate) fn prepare(roots: &Roots, edit: &Edit, earlier: &EarlierInReply) -> Prepared {
    let path = edit.path.as_deref();
    let worked = match (path, &edit.body) {
        (_, EditBody::Patch(_) | EditBody::Replace(_)) if edit.scope.is_some() => {
            Err(Refusal::new(Status::BAD_REQUEST, SCOPE_OF_CONTENT))
        }
        (path, EditBody::Patch(text)) => patch::work_out(roots, path, text, earlier),
        (Some(path), _) => work_out(roots, path, edit, earlier).map(|worked| vec![worked]),
        (None, _) => Err(Refusal::new(Status::BAD_REQUEST, "no path is given")),
    };
    match worked {
        Ok(worked) => with_directories(roots, together(worked)),
        Err(refusal) => {
            let label = clean(&format!("edit {}", path.unwrap_or("by a patch")));
            Prepared { label, settled: Some(refusal.into()), ..Prepared::default() }
        }
    }
}

/// What several edits come to, as one.
pub(crate) fn together(worked: Vec<Worked>) -> Prepared {
    let mut prepared = Prepared { parts: parts::of(&worked), ..Prepared::default() };
    let mut labels = Vec::new();
    let mut status = Status::CREATED;
    for one in worked {
        let shown = parts::numbered(&one.shown(), &one.change.path, &prepared.parts);
        prepared.shown.push_str(&shown);
        labels.push(clean(&one.label()));
        prepared.fresh.extend(one.fresh());
        prepared.told_of.push((one.change.path.clone(), one.told()));
        if one.before.is_some() {
            status = Status::OK;
        }
        let after = one.after.map(String::into_bytes);
        prepared.contents.extend(one.before.into_iter().chain(after));
        prepared.changes.push(one.change);
    }
    prepared.label = labels.join(", ");
    let told: Vec<&str> = prepared.told_of.iter().map(|(_, told)| told.as_str()).collect();
    prepared.told = Some((status, told.join("\n")));
    prepared
}

/// With the directories that have to be made, each before what is put into it.
fn with_directories(roots: &Roots, prepared: Prepared) -> Prepared {
    let mut changes: Vec<Change> = Vec::new();
    for change in prepared.changes {
        if change.after.is_some() {
            for directory in missing_directories(roots.root_of(&change.path), &change.path) {
                if !changes.contains(&directory) {
                    changes.push(directory);
                }
            }
        }
        changes.push(change);
    }
    Prepared { changes, ..prepared }
}

/// What a scope is for.
pub(crate) const SCOPE_OF_CONTENT: &str =
    "a scope goes with the content for it, not with texts to exchange";

fn work_out(
    roots: &Roots,
    path: &str,
    edit: &Edit,
    earlier: &EarlierInReply,
) -> Result<Worked, Refusal> {
    let workspace = roots.of(path);
    let (real, before) = look_at_text(workspace, path)?;
    let old = before.as_ref().map(|(bytes, _)| bytes.as_slice());
    let redo = |edit: &Edit, old: &[u8], seen: Option<&SeenText>| {
        edited(roots, &real, Some(old), edit, seen)
    };
    let seen = match (&edit.scope, old) {
        (Some(_), Some(old)) => earlier.seen_text(&real, old, redo)?,
        _ => None,
    };
    let edited = edited(roots, &real, old, edit, seen.as_ref())?;
    worked(workspace, (real, before), edited)
}

/// The content after an edit of one file. Its line numbers mean the text that the model saw before its reply, if edits
/// of that reply changed it since.
pub(crate) fn edited(
    roots: &Roots,
    real: &str,
    old: Option<&[u8]>,
    edit: &Edit,
    seen: Option<&SeenText>,
) -> Result<Edited, Refusal> {
    match (&edit.body, &edit.scope, old) {
        // A scope is a place in what is there; where nothing is, the body is all there will be.
        (EditBody::Whole { content }, Some(scope), Some(old)) => {
            let text = std::str::from_utf8(old).map_err(|_| not_text(real))?;
            let mime = mime::of(real, old).name();
            let scope = match seen {
                Some(seen) => seen.scope_now(real, scope, text, mime::is_json(mime))?,
                None => scope.clone(),
            };
            crate::entries::text::spliced(real, text, (&scope, content), mime)
        }
        (EditBody::Patch(text), _, old) => patch::edited(roots, real, text, old, seen),
        (body, _, _) => apply(real, old, body),
    }
}

/// The edit of a file to this content.
pub(crate) fn worked(
    workspace: &Workspace,
    (real, before): (String, Option<There>),
    edited: Edited,
) -> Result<Worked, Refusal> {
    let Edited { content, spans, mut notes, .. } = edited;
    if before.is_some() && workspace.root.has_other_names(&real) {
        notes.push(OTHER_NAMES.to_owned());
    }
    if content.len() as u64 > MAX_FILE {
        let text = format!("{real} would be {} bytes, more than {MAX_FILE}", content.len());
        return Err(Refusal::new(Status::TOO_LARGE, text));
    }
    if before.as_ref().is_some_and(|(bytes, _)| bytes == content.as_bytes()) {
        return Err(Refusal::new(Status::UNCHANGED, format!("{real} is unchanged")));
    }
    let (before, state) = before.unzip();
    let after = written(&workspace.root, state.as_ref(), content.as_bytes());
    let change = Change::between(real, state, Some(after));
    Ok(Worked { change, before, after: Some(content), spans, notes, from: None })
}

/// A file's bytes and state.
pub(crate) type There = (Vec<u8>, FileState);

/// A file's real path, and what it is if it exists.
pub(crate) fn look(workspace: &Workspace, path: &str) -> Result<(String, Option<There>), Refusal> {
    let opened = match workspace.open_existing(path) {
        Ok(opened) => opened,
        Err(refusal) if refusal.status == Status::NOT_FOUND => {
            return Ok((workspace.place_of_new(path)?, None));
        }
        Err(refusal) => return Err(refusal),
    };
    workspace.refuse_stranger(path, &opened.path, opened.is_directory())?;
    if opened.is_directory() {
        return Err(Refusal::new(Status::CONFLICT, format!("{path} is a directory")));
    }
    let Opened { path: real, fd, stat } = opened;
    workspace.refuse_unread(Door::Edit, path, &real)?;
    let attributes = attributes::of(&fd).map_err(|e| refusal(path, e))?;
    let bytes = read_all(path, fd, MAX_FILE).map_err(with_way_on)?;
    let state = FileState { attributes, ..state::of_file(&stat, Hash::of(&bytes)) };
    Ok((real, Some((bytes, state))))
}

/// The same of what an edit may change and show a model. A binary file is neither.
pub(crate) fn look_at_text(
    workspace: &Workspace,
    path: &str,
) -> Result<(String, Option<There>), Refusal> {
    let (real, there) = look(workspace, path)?;
    if let Some((bytes, _)) = &there {
        refuse_binary(&real, bytes)?;
    }
    Ok((real, there))
}

/// The new content, the lines that are new in it, and what was tolerated.
fn apply(path: &str, old: Option<&[u8]>, body: &EditBody) -> Result<Edited, Refusal> {
    let text = old.map(std::str::from_utf8);
    let exchanges = match body {
        EditBody::Replace(exchanges) => exchanges,
        EditBody::Whole { content } => {
            let before = text.and_then(Result::ok);
            return Ok(Edited::rewritten(before, content.clone()));
        }
        EditBody::Patch(_) => return Err(Refusal::new(Status::FAILED, "not one file's edit")),
    };
    let missing = || Refusal::new(Status::NOT_FOUND, format!("{path} does not exist"));
    let text = text.ok_or_else(missing)?.map_err(|_| not_text(path))?;
    cairn_text::edit::replace_each(text, exchanges).map_err(|(n, problem)| {
        let which = match exchanges.len() {
            1 => String::new(),
            all => format!("edit {} of {all}: ", n + 1),
        };
        Refusal::new(status_of(&problem), format!("{path}: {which}{problem}"))
    })
}

pub(crate) fn not_text(path: &str) -> Refusal {
    Refusal::new(Status::NOT_TEXT, format!("{path} is not UTF-8 text"))
}

pub(crate) fn status_of(problem: &EditProblem) -> Status {
    match problem {
        EditProblem::Empty => Status::UNPROCESSABLE,
        EditProblem::Same => Status::UNCHANGED,
        EditProblem::NotFound { .. } | EditProblem::Several { .. } => Status::CONFLICT,
    }
}

/// The state a file will have with this content.
pub(crate) fn written(root: &RootDirectory, before: Option<&FileState>, after: &[u8]) -> FileState {
    let mode = before.map_or(root.new_file_mode(), |state| state.mode);
    FileState {
        uid: before.and_then(|state| state.uid),
        gid: before.and_then(|state| state.gid),
        ..FileState::of_file(ContentRef::of(after), mode)
    }
}

impl Worked {
    /// With the mode, owner and attributes of this state, where there is one.
    pub(crate) fn like(mut self, state: Option<&FileState>) -> Worked {
        if let (Some(after), Some(state)) = (&mut self.change.after, state) {
            (after.mode, after.uid, after.gid) = (state.mode, state.uid, state.gid);
            after.attributes.clone_from(&state.attributes);
        }
        self
    }

    /// What a person is shown: the diff. No path holds a line feed, so its name is one line.
    pub(crate) fn shown(&self) -> String {
        let path = &self.change.path;
        let (from, to) = (format!("a/{path}"), format!("b/{path}"));
        let after = self.after.as_deref().unwrap_or_default();
        match (self.before.as_deref().map(std::str::from_utf8), &self.after) {
            (None, _) => diff::unified("/dev/null", &to, "", after),
            (Some(Ok(text)), None) => diff::unified(&from, "/dev/null", text, ""),
            (Some(Ok(text)), Some(_)) => diff::unified(&from, &to, text, after),
            (Some(Err(_)), _) => {
                let was = self.before.as_ref().map_or(0, Vec::len);
                let lines = after.lines().count();
                format!(
                    "--- {from}\n+++ {to}\n@@ {was} bytes that are not text → {lines} lines @@\n"
                )
            }
        }
    }

    /// The same in one line.
    pub(crate) fn label(&self) -> String {
        let path = &self.change.path;
        let after = self.after.as_deref().unwrap_or_default();
        match (self.before.as_deref().map(std::str::from_utf8), &self.after) {
            (None, _) => format!("create {path} (+{})", after.lines().count()),
            (Some(Ok(text)), None) => format!("remove {path} (-{})", text.lines().count()),
            (Some(Ok(text)), Some(_)) => {
                let (added, removed) = diff::counted(text, after);
                format!("edit {path} (+{added} -{removed})")
            }
            (Some(Err(_)), _) => format!("edit {path} (replaces bytes that are not UTF-8)"),
        }
    }

    /// What the model is told when it is done: the edited places as they now are.
    fn told(&self) -> String {
        let path = &self.change.path;
        let Some(after) = &self.after else { return format!("removed {path}") };
        if self.before.is_none() {
            let lines = match after.lines().count() {
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
        let excerpt = lines::excerpt(after, shown, CONTEXT);
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
            return Some(format!("{path} is not UTF-8 text, {} bytes", bytes.len()));
        };
        if text.is_empty() {
            return Some(format!("{path} is empty"));
        }
        if text.len() <= SHOWN_WHOLE {
            return Some(format!("{path}:\n{}", lines::numbered(text, 1)));
        }
        let total = text.lines().count();
        let places = diff::spans(self.after.as_deref().unwrap_or_default(), text);
        let shown = &places[..places.len().min(PLACES)];
        let excerpt = lines::excerpt(text, shown, AROUND);
        Some(format!("{path}, some of its {total} lines:\n{excerpt}"))
    }
}

/// The refusal of a file that is too large for an edit, with what can be done instead.
fn with_way_on(refusal: Refusal) -> Refusal {
    match refusal.status {
        Status::TOO_LARGE => {
            let text = format!("{}; change it with a command, such as sed -i", refusal.text);
            Refusal { text, ..refusal }
        }
        _ => refusal,
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
