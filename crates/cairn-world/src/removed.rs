//! How much a list of changes would remove, without what git ignores: that can be made again. What is
//! moved aside counts as what is removed; a whole directory is one thing, of the bytes its row says.

use crate::find::rules::{self, Rules};
use crate::path;
use crate::roots::Roots;
use crate::settled::Refusal;
use crate::walk::names;
use crate::workspace::{Workspace, refusal};
use crate::write::is_written_directory;
use cairn_types::{Change, FileKind, Removed};
use std::collections::HashMap;
use std::os::fd::AsFd;
use std::sync::Arc;

/// How much would be gone. What is little anyway is counted without asking what is ignored.
pub(crate) fn by(roots: &Roots, changes: &[Change], little: Removed) -> Removed {
    let gone: Vec<(&Change, u64)> = changes
        .iter()
        .filter(|change| change.after.is_none())
        .filter_map(|change| {
            let state = change.before.as_ref().filter(|state| !is_written_directory(state))?;
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
            let is_directory =
                change.before.as_ref().is_some_and(|state| state.kind == FileKind::Directory);
            !is_ignored(workspace, workspace.inner(&change.path), is_directory, &mut known)
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

/// The rules that hold in a directory before its own are read, and its path from where they begin.
fn rules_above(
    workspace: &Workspace,
    real: &str,
) -> Result<(Option<Arc<Rules>>, Vec<u8>), Refusal> {
    let above = rules::above(workspace.root(), workspace.path());
    let (mut rules, mut full) = (above.rules, above.lead);
    let mut here = String::new();
    for part in workspace.inner(real).split('/').filter(|part| *part != ".") {
        let at = if here.is_empty() { "." } else { &here };
        let dir = workspace.directory(at).map_err(|e| refusal(at, e))?;
        let found = names(&dir).map_err(|e| refusal(at, e))?;
        rules = Rules::inside(rules.as_ref(), dir.as_fd(), &found, full.len());
        here = if here.is_empty() { part.to_owned() } else { format!("{here}/{part}") };
        full.extend_from_slice(part.as_bytes());
        full.push(b'/');
    }
    Ok((rules, full))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_types::{Aside, FileState};

    #[test]
    fn what_is_moved_aside_counts_unless_it_is_ignored() {
        let holder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(holder.path().join(".git")).unwrap();
        std::fs::write(holder.path().join(".gitignore"), "target/\n*.o\n").unwrap();
        let roots = Roots::new(Workspace::open(holder.path()).unwrap());
        let gone = |path: &str, kind: FileKind, bytes: Option<u64>, is_moved: bool| {
            let aside = is_moved.then(|| Aside { path: String::new(), inode: 1 });
            let state = FileState { bytes, aside, ..FileState::of(kind, 0o755) };
            Change::between(path.to_owned(), Some(state), None)
        };
        let check = |changes: &[Change], files: u64, bytes: u64| {
            let none = Removed { files: 0, bytes: 0 };
            assert_eq!(by(&roots, changes, none), Removed { files, bytes });
        };
        let target = gone("target", FileKind::Directory, Some(200), true);
        let object = gone("main.o", FileKind::File, Some(30), true);
        let large = gone("film", FileKind::File, Some(4), true);
        let tree = gone("films", FileKind::Directory, Some(50), true);
        let written = gone("src", FileKind::Directory, None, false);
        check(&[target.clone(), object.clone(), written.clone()], 0, 0);
        check(&[target, object, large, tree, written], 2, 54);
    }
}
