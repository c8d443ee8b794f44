//! How much a list of changes would remove, without what git ignores: that can be made again.

use crate::list::rules_above;
use crate::path;
use crate::roots::Roots;
use crate::workspace::Workspace;
use cairn_types::{Change, FileKind, Removed};
use std::collections::HashMap;

/// How much would be gone. What is little anyway is counted without asking what is ignored.
pub(crate) fn by(roots: &Roots, changes: &[Change], little: Removed) -> Removed {
    let gone: Vec<(&Change, u64)> = changes
        .iter()
        .filter(|change| change.after.is_none())
        .filter_map(|change| {
            let state = change.before.as_ref().filter(|state| state.kind != FileKind::Directory)?;
            Some((change, state.bytes.unwrap_or(0)))
        })
        .collect();
    let sum = |gone: &[(&Change, u64)]| Removed {
        files: gone.len() as u64,
        bytes: gone.iter().map(|(_, bytes)| bytes).sum(),
    };
    let all = sum(&gone);
    if !all.exceeds(little) {
        return all;
    }
    let mut known = HashMap::new();
    let kept: Vec<_> = gone
        .into_iter()
        .filter(|(change, _)| {
            let workspace = roots.of(&change.path);
            !is_ignored(workspace, workspace.inner(&change.path), false, &mut known)
        })
        .collect();
    sum(&kept)
}

/// Whether git ignores a path, or a directory it lies in.
fn is_ignored(
    workspace: &Workspace,
    real: &str,
    is_directory: bool,
    known: &mut HashMap<String, bool>,
) -> bool {
    if real == "." {
        return false;
    }
    if let Some(ignored) = known.get(real) {
        return *ignored;
    }
    let ignored = is_ignored(workspace, path::split(real).0, true, known)
        || rules_above(workspace, real).is_ok_and(|(rules, full)| {
            let bare = full.strip_suffix(b"/").unwrap_or(&full);
            rules.is_some_and(|rules| rules.leave_out(bare, is_directory))
        });
    if is_directory {
        known.insert(real.to_owned(), ignored);
    }
    ignored
}
