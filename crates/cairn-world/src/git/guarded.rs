//! Marks changes of files that git would run, or read as configuration, by other names than its own: what settings
//! name, what makes a folder a bare repository, and what a rebase goes on with; and of what links with guarded and
//! protected names lead to. Gates judge such a change as one of git's own file, or of the link. Decides nothing.

use crate::commands::rehearse;
use crate::folders::path;
use crate::folders::roots::Roots;
use crate::folders::workspace::Workspace;
use crate::git::bare::BareRepositories;
use crate::git::linked_names::find_linked_names;
use crate::git::settings::{GitConfigFiles, GitGuard, find_git_guards};
use crate::settled::Prepared;
use cairn_text::git_todo::{are_plain_options, is_own_strategy, is_plain_todo};
use cairn_types::{Change, FileKind, Hash, is_guarded};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// So many paths are named to a person with the reason.
const MAX_TOLD: usize = 20;

/// Whether a text runs nothing but git.
type IsPlain = fn(&str) -> bool;

/// Files that say what a rebase, or a sequence of picks, does when it goes on, and what of them is plain.
const GOING_ON: [(&str, IsPlain); 6] = [
    ("/rebase-merge/git-rebase-todo", is_plain_todo),
    ("/rebase-apply/git-rebase-todo", is_plain_todo),
    ("/sequencer/todo", is_plain_todo),
    ("/sequencer/opts", are_plain_options),
    ("/rebase-merge/strategy", is_own_strategy),
    ("/rebase-apply/strategy", is_own_strategy),
];

/// Says of every change as which of git's own files it counts, and adds to what a person is shown why.
pub(crate) fn mark_guarded(roots: &Roots, person: &GitConfigFiles, prepared: &mut Prepared) {
    let is_file = |change: &Change| change.entry().is_none();
    if !prepared.changes.iter().any(is_file) {
        return;
    }
    let ground = Ground::new(roots, prepared);
    let mut marks: Vec<Vec<String>> = vec![Vec::new(); prepared.changes.len()];
    let mut told: Vec<String> = Vec::new();
    let mut mark = |at: usize, counts_as: String, why: Option<String>| {
        if !marks[at].contains(&counts_as) {
            marks[at].push(counts_as);
            told.extend(why);
        }
    };
    let near = ground.directories();
    let (guards, linked) = (find_git_guards(roots, person, &near), find_linked_names(roots, &near));
    let changes = prepared.changes.iter().enumerate().filter(|(_, change)| is_file(change));
    for (at, change) in changes.filter(|(_, change)| !is_guarded(&change.path)) {
        let root = roots.root_of(&change.path);
        let place = ground.absolute(&change.path);
        if let Some(guard) = guards.iter().find(|guard| ground.touches(change, &place, &guard.path))
        {
            let GitGuard { counts_as, why, .. } = guard;
            let shown = path::shown(change.path.as_bytes());
            let why = format!("git runs or reads {shown} ({why})\n");
            mark(at, root.op_path(counts_as), Some(why));
        }
        for name in linked.iter().filter(|name| ground.touches(change, &place, &name.path)) {
            mark(at, name.counts_as.clone(), Some(name.told(&change.path)));
        }
        if goes_on_with_more(change, &prepared.contents) {
            mark(at, root.op_path(".git/hooks"), None);
        }
    }
    for (at, counts_as) in BareRepositories::new(&ground).found() {
        let why = match prepared.changes[at].path.as_str() {
            path if counts_as.starts_with(path) => None,
            path => Some(path::shown(path.as_bytes())),
        };
        let why = why.map(|path| format!("git takes {path} for a part of a bare repository\n"));
        mark(at, counts_as, why);
    }
    for (change, counts_as) in prepared.changes.iter_mut().zip(marks) {
        change.counts_as = counts_as;
    }
    told.iter().take(MAX_TOLD).for_each(|line| prepared.shown.push_str(line));
    if told.len() > MAX_TOLD {
        let more = format!("git runs or reads {} more of them\n", told.len() - MAX_TOLD);
        prepared.shown.push_str(&more);
    }
}

/// Whether it changes what a rebase goes on with to something that runs more than git.
fn goes_on_with_more(change: &Change, contents: &[Vec<u8>]) -> bool {
    let framed = format!("/{}", change.path.to_lowercase());
    let Some(after) = &change.after else { return false };
    // A repository's own directory may have any name; those of a sequence of picks are too common to mean one.
    let is_git = |name: &str| !name.starts_with("/sequencer/") || framed.contains("/.git/");
    let found = GOING_ON.iter().find(|(name, _)| framed.ends_with(name) && is_git(name));
    let Some((_, is_plain)) = found else { return false };
    let bytes = after.hash.and_then(|hash| contents.iter().find(|one| Hash::of(one) == hash));
    let text = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok());
    !text.is_some_and(is_plain)
}

/// What stands in the folders before the changes, and what would after them.
pub(crate) struct Ground<'a> {
    pub(crate) roots: &'a Roots,
    pub(crate) changes: &'a [Change],
    by_path: HashMap<&'a str, &'a Change>,
    /// Where a command's changes are: the folder, and what lies over it.
    layers: Vec<(&'a Workspace, PathBuf)>,
}

impl<'a> Ground<'a> {
    fn new(roots: &'a Roots, prepared: &'a Prepared) -> Ground<'a> {
        let by_path =
            prepared.changes.iter().map(|change| (change.path.as_str(), change)).collect();
        let layers = prepared.rehearsed.as_deref();
        let layers = layers.map(|layers| rehearse::layers(roots, layers)).unwrap_or_default();
        Ground { roots, changes: &prepared.changes, by_path, layers }
    }

    /// The absolute path of something in a folder of the world.
    pub(crate) fn absolute(&self, told: &str) -> PathBuf {
        self.roots.absolute(told)
    }

    /// The directories in which something is changed.
    fn directories(&self) -> HashSet<PathBuf> {
        let files = self.changes.iter().filter(|change| change.entry().is_none());
        files.filter_map(|change| Some(self.absolute(&change.path).parent()?.to_owned())).collect()
    }

    pub(crate) fn is_there_before(&self, told: &str) -> bool {
        exists(&self.absolute(told))
    }

    pub(crate) fn is_there_after(&self, told: &str) -> bool {
        let mut above = told;
        loop {
            if let Some(change) = self.by_path.get(above) {
                let Some(after) = &change.after else { return false };
                return match (above == told, after.kind, &after.aside) {
                    (true, ..) => true,
                    (false, FileKind::Directory, None) => self.is_there_before(told),
                    (false, FileKind::Directory, Some(_)) => self.is_in_layer(told),
                    (false, ..) => false,
                };
            }
            match above.rsplit_once('/') {
                Some((parent, _)) => above = parent,
                None => return self.is_there_before(told),
            }
        }
    }

    /// Where something lies in what a command made.
    pub(crate) fn in_layer(&self, told: &str) -> Option<PathBuf> {
        let folder = self.roots.of(told);
        let (_, upper) = self.layers.iter().find(|(of, _)| std::ptr::eq(*of, folder))?;
        Some(upper.join(folder.root.inner_path(told)))
    }

    fn is_in_layer(&self, told: &str) -> bool {
        self.in_layer(told).is_some_and(|path| exists(&path))
    }

    /// Whether a change is of a guarded file or folder, of something in it, or of what it lies in.
    fn touches(&self, change: &Change, path: &Path, guarded: &Path) -> bool {
        let sides = [&change.before, &change.after];
        let is_whole = sides.into_iter().flatten().any(|state| state.aside.is_some());
        if path.starts_with(guarded) {
            return is_whole || !change.makes_directory();
        }
        let Ok(inner) = guarded.strip_prefix(path) else { return false };
        let Some(inner) = inner.to_str() else { return true };
        let is_plain = |kind: FileKind| kind == FileKind::Directory;
        let is_turned = sides.into_iter().flatten().any(|state| !is_plain(state.kind));
        let told = format!("{}/{inner}", change.path);
        is_turned || is_whole && (self.is_there_before(&told) || self.is_there_after(&told))
    }
}

/// Whether something stands there; the mark of something removed, in a layer, is nothing.
fn exists(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    std::fs::symlink_metadata(path).is_ok_and(|found| !found.file_type().is_char_device())
}
