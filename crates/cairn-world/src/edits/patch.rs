//! Patches worked out: the edit language over the workspace's files, one or several. Changes nothing;
//! what it works out is made like any edit.

use crate::changes::state;
use crate::edits::earlier::{EarlierInReply, SeenText, misplaced};
use crate::edits::edit::{
    self, There, Worked, look, look_at_text, not_text, status_of, worked, written,
};
use crate::folders::roots::Roots;
use crate::folders::workspace::Workspace;
use crate::settled::Refusal;
use cairn_text::edit::Edited;
use cairn_text::patch::{FilePatch, PatchProblem, Patched, parse};
use cairn_types::{Change, FileKind, FileState, Status};

/// What a patch would change. `path` is the file of a patch that names none, or names this one.
pub(crate) fn work_out(
    roots: &Roots,
    path: Option<&str>,
    text: &str,
    earlier: &EarlierInReply,
) -> Result<Vec<Worked>, Refusal> {
    let patches = parse(text).map_err(|problem| refusal(None, &problem))?;
    let mut all: Vec<Worked> = Vec::new();
    let mut unchanged = None;
    for patch in &patches {
        let path = file(patch, path, patches.len())?;
        match work_out_file(roots, earlier, patch, path, &mut all) {
            // A part that changes nothing does not keep the others from it.
            Err(refusal) if refusal.status == Status::UNCHANGED => unchanged = Some(refusal),
            done => done?,
        }
    }
    match unchanged {
        Some(refusal) if all.is_empty() => Err(refusal),
        _ => Ok(all),
    }
}

/// The file a patch is for.
fn file<'a>(
    patch: &'a FilePatch,
    given: Option<&'a str>,
    files: usize,
) -> Result<&'a str, Refusal> {
    let bad = |text: String| Err(Refusal::new(Status::BAD_REQUEST, text));
    match (patch.path.as_deref(), given) {
        (None, None) => bad("the patch names no file, and no path is given".to_owned()),
        (None, Some(given)) => Ok(given),
        (Some(named), None) => Ok(named),
        (Some(named), Some(given)) if is_same(named, given) => Ok(given),
        (Some(_), Some(_)) if files > 1 => {
            bad(format!("the patch speaks of {files} files; leave out path"))
        }
        (Some(named), Some(given)) => bad(format!("the patch is for {named}, not for {given}")),
    }
}

/// Whether a patch's name for a file and a given path are the same file: one may be written from
/// further above.
fn is_same(named: &str, given: &str) -> bool {
    let (named, given) = (named.trim_start_matches("./"), given.trim_start_matches("./"));
    named == given || given.ends_with(&format!("/{named}")) || named.ends_with(&format!("/{given}"))
}

/// Works out one file's patch, on what earlier parts made of the file.
fn work_out_file(
    roots: &Roots,
    earlier: &EarlierInReply,
    patch: &FilePatch,
    path: &str,
    all: &mut Vec<Worked>,
) -> Result<(), Refusal> {
    let workspace = roots.of(path);
    let link = link_at(workspace, path);
    if let Some(link) = &link
        && let Some(gone) = without_link(patch, link, all)?
    {
        workspace.refuse_taking(path, &link.0, false)?;
        all.push(gone);
        return Ok(());
    }
    let (real, before) = look_at_text(workspace, path)?;
    let in_patch = all.iter().position(|done| done.change.path == real);
    let old = before.as_ref().map(|(bytes, _)| bytes.as_slice());
    let text = match in_patch {
        Some(n) => all[n].after.clone(),
        None => match old.map(std::str::from_utf8) {
            None => None,
            Some(Ok(text)) => Some(text.to_owned()),
            Some(Err(_)) => return Err(not_text(&real)),
        },
    };
    let seen = match (patch.names_lines(), old) {
        (true, Some(old)) => earlier.seen_text(&real, old, |edit, old, seen| {
            edit::edited(roots, &real, Some(old), edit, seen)
        })?,
        _ => None,
    };
    let patched = applied(&real, patch, text.as_deref(), seen.as_ref())?;
    if let (Some((place, _)), true) = (&link, goes(&patched, patch)) {
        let text = format!("{place} is a link to {real}; name the one that is to go");
        return Err(Refusal::new(Status::CONFLICT, text));
    }
    // A file that an earlier part made or moved here is still that file.
    let made = in_patch.map(|n| all.remove(n));
    let came = made.as_ref().and_then(|made| made.from.clone());
    let like = made.and_then(|made| made.change.after);
    let like = like.or_else(|| before.as_ref().map(|(_, state)| state.clone()));
    match (patched, &patch.moved_to) {
        (Patched::Deleted, _) => all.extend(removed(real, before)),
        (Patched::Edited(edited), None) => {
            let worked = worked(workspace, (real, before), edited)?.like(like.as_ref());
            all.push(Worked { from: came, ..worked });
        }
        (Patched::Edited(edited), Some(to)) => {
            let moved = moved(roots.of(to), to, like.as_ref(), edited)?;
            all.push(Worked { from: Some(came.unwrap_or_else(|| real.clone())), ..moved });
            all.extend(removed(real, before));
        }
    }
    Ok(())
}

/// The content of one file after a patch of it, or after its parts of a patch of several files. See
/// [`edit::edited`].
pub(crate) fn edited(
    roots: &Roots,
    real: &str,
    text: &str,
    old: Option<&[u8]>,
    seen: Option<&SeenText>,
) -> Result<Edited, Refusal> {
    let patches = parse(text).map_err(|problem| refusal(Some(real), &problem))?;
    let old = old.map(std::str::from_utf8).transpose().map_err(|_| not_text(real))?;
    let is_only = patches.len() == 1;
    let mut edited: Option<Edited> = None;
    for patch in patches.iter().filter(|patch| is_only || names_file(roots, patch, real)) {
        let now = edited.as_ref().map_or(old, |edited| Some(edited.content.as_str()));
        match (applied(real, patch, now, seen)?, &mut edited) {
            (Patched::Deleted, _) => {
                return Err(Refusal::new(Status::GONE, format!("{real} is gone")));
            }
            (Patched::Edited(next), None) => edited = Some(next),
            (Patched::Edited(next), Some(edited)) => {
                edited.moves.then(next.moves);
                edited.content = next.content;
            }
        }
    }
    edited.ok_or_else(|| refusal(Some(real), &PatchProblem::NoFile))
}

/// Whether the path in a patch leads to this file.
fn names_file(roots: &Roots, patch: &FilePatch, real: &str) -> bool {
    let Some(path) = patch.path.as_deref() else { return false };
    roots.of(path).open_existing(path).is_ok_and(|opened| opened.path == real)
}

/// What a patch makes of a text. The lines it names are those of the text that the model saw before its reply.
fn applied(
    real: &str,
    patch: &FilePatch,
    old: Option<&str>,
    seen: Option<&SeenText>,
) -> Result<Patched, Refusal> {
    let patched = match (seen, old) {
        (Some(seen), Some(now)) if patch.names_lines() => {
            let moved = patch.clone().after_moves(&seen.moves, &seen.text, now);
            moved.map_err(|problem| misplaced(real, &problem))?.apply(old)
        }
        _ => patch.apply(old),
    };
    patched.map_err(|problem| refusal(Some(real), &problem))
}

/// Whether nothing is left at a file's own place.
fn goes(patched: &Patched, patch: &FilePatch) -> bool {
    *patched == Patched::Deleted || patch.moved_to.is_some()
}

/// The link that a path names, if it names one. Nothing else is read.
fn link_at(workspace: &Workspace, path: &str) -> Option<(String, FileState)> {
    let place = workspace.place_of(path).ok()?;
    state::kind_at(&workspace.root, &place).filter(|kind| *kind == FileKind::Symlink)?;
    let (state, _) = state::at(&workspace.root, &place).ok()??;
    (state.kind == FileKind::Symlink).then_some((place, state))
}

/// The removal of a link, if that is what a patch says. As in git, the text of a link is where it
/// leads.
fn without_link(
    patch: &FilePatch,
    (place, link): &(String, FileState),
    all: &[Worked],
) -> Result<Option<Worked>, Refusal> {
    if !matches!(patch.apply(link.link.as_deref()), Ok(Patched::Deleted)) {
        return Ok(None);
    }
    if all.iter().any(|done| done.change.path == *place) {
        return Err(refusal(Some(place), &PatchProblem::NoFile));
    }
    let text = link.link.clone().unwrap_or_default().into_bytes();
    Ok(removed(place.clone(), Some((text, link.clone()))))
}

/// A file that goes; nothing when an earlier part of the same patch made it.
fn removed(real: String, before: Option<There>) -> Option<Worked> {
    let (bytes, state) = before?;
    let change = Change::between(real, Some(state), None);
    let (before, spans, notes) = (Some(bytes), Vec::new(), Vec::new());
    Some(Worked { change, before, after: None, spans, notes, from: None })
}

/// A file at its new place.
fn moved(
    workspace: &Workspace,
    to: &str,
    like: Option<&FileState>,
    edited: Edited,
) -> Result<Worked, Refusal> {
    let (real, there) = look(workspace, to)?;
    if there.is_some() {
        return Err(Refusal::new(Status::CONFLICT, format!("{real} is there already")));
    }
    let Edited { content, spans, notes, .. } = edited;
    let after = written(&workspace.root, like, content.as_bytes());
    let change = Change::between(real, None, Some(after));
    Ok(Worked { change, before: None, after: Some(content), spans, notes, from: None })
}

fn refusal(path: Option<&str>, problem: &PatchProblem) -> Refusal {
    let status = match problem {
        PatchProblem::Edit { problem, .. } => status_of(problem),
        PatchProblem::NoFile => Status::NOT_FOUND,
        PatchProblem::Exists | PatchProblem::Leftover { .. } => Status::CONFLICT,
        _ => Status::UNPROCESSABLE,
    };
    match path {
        Some(path) => Refusal::new(status, format!("{path}: {problem}")),
        None => Refusal::new(status, problem.to_string()),
    }
}
