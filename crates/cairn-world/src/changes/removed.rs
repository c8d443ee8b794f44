//! How much a list of changes would remove, without what git ignores: that can be made again. A file that
//! is emptied counts as one that is removed. What is moved aside counts as well; a whole directory is one
//! thing, of the bytes its row says.

use crate::changes::write::is_written_directory;
use crate::folders::roots::Roots;
use crate::git::ignored::{Git, GitJudge};
use cairn_types::{Change, FileKind, FileState, Removed};
use std::collections::HashMap;

/// How much would be gone. What is little anyway is counted without asking what is ignored.
pub(crate) fn by(roots: &Roots, changes: &[Change], little: Removed) -> Removed {
    let gone: Vec<Gone<'_>> = changes.iter().filter_map(Gone::by).collect();
    let all = sum(&gone);
    if !all.exceeds(little) {
        return all;
    }
    let mut kept = Vec::new();
    for folder in roots.laid() {
        let (judge, mut known) = (GitJudge::new(folder), HashMap::new());
        let here = gone.iter().filter(|gone| std::ptr::eq(roots.of(&gone.change.path), folder));
        kept.extend(here.copied().filter(|gone| {
            let path = folder.root.inner_path(&gone.change.path);
            judge.judge_beneath(path, gone.is_directory, &mut known) != Git::Ignores
        }));
    }
    sum(&kept)
}

/// A change that removes or empties something.
#[derive(Clone, Copy)]
struct Gone<'a> {
    change: &'a Change,
    bytes: u64,
    is_directory: bool,
}

impl Gone<'_> {
    fn by(change: &Change) -> Option<Gone<'_>> {
        let before = change.before.as_ref().filter(|state| !is_written_directory(state))?;
        let is_gone = change.after.is_none() || is_emptied(before, change.after.as_ref());
        let is_directory = before.kind == FileKind::Directory;
        is_gone.then_some(Gone { change, bytes: before.bytes.unwrap_or(0), is_directory })
    }
}

/// Whether a file had content and has none afterwards.
pub(crate) fn is_emptied(before: &FileState, after: Option<&FileState>) -> bool {
    let bytes = |state: &FileState| state.bytes.filter(|_| state.kind == FileKind::File);
    bytes(before).is_some_and(|bytes| bytes > 0) && after.and_then(bytes) == Some(0)
}

fn sum(gone: &[Gone<'_>]) -> Removed {
    let bytes = gone.iter().map(|gone| gone.bytes).sum();
    Removed { files: gone.len() as u64, bytes, exposed: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folders::workspace::Workspace;
    use cairn_types::Aside;

    #[test]
    fn what_is_moved_aside_counts_unless_it_is_ignored() {
        let holder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(holder.path().join(".git")).unwrap();
        std::fs::write(holder.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        std::fs::write(holder.path().join(".gitignore"), "target/\n*.o\n").unwrap();
        let roots = Roots::new(Workspace::open(holder.path()).unwrap());
        let gone = |path: &str, kind: FileKind, bytes: Option<u64>, is_moved: bool| {
            let aside = is_moved.then(|| Aside { path: String::new(), inode: 1 });
            let state = FileState { bytes, aside, ..FileState::of(kind, 0o755) };
            Change::between(path.to_owned(), Some(state), None)
        };
        let check = |changes: &[Change], files: u64, bytes: u64| {
            let none = Removed::default();
            let expected = Removed { files, bytes, exposed: 0 };
            assert_eq!(by(&roots, changes, none), expected);
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
