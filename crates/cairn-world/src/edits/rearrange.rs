//! Removing, moving and copying, worked out: every file, directory and link that would come or go.
//! Changes nothing; `apply` does. Links are taken as links and never followed.

use crate::changes::apply::missing_directories;
use crate::changes::state::{self, Standing};
use crate::edits::edit;
use crate::folders::private::FolderPrivacy;
use crate::folders::root_directory::entry;
use crate::folders::roots::Roots;
use crate::folders::unread::Door;
use crate::folders::walk::{Name, names};
use crate::folders::workspace::{Workspace, refusal};
use crate::membership::{Ground, Judge, Judged, Stands, around, counted};
use crate::settled::{Prepared, Refusal};
use cairn_text::shown::clean;
use cairn_types::{Change, FileKind, FileState, Status};
use rustix::fs::{AtFlags, FileType, OFlags};
use std::collections::HashSet;
use std::fmt::Write;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd};

/// The most files, directories and links that one op removes, moves or copies.
const MAX_ENTRIES: usize = 5000;
/// The most bytes, since a copy of them is kept.
const MAX_BYTES: u64 = 64 << 20;
/// How many paths a person is shown.
const SHOWN: usize = 200;

/// A tree of things with the bytes of its files.
#[derive(Default)]
struct Tree {
    /// Paths beneath the tree's own, the outer before the inner; the tree itself is the empty one.
    entries: Vec<(String, FileState)>,
    contents: Vec<Vec<u8>>,
    bytes: u64,
    /// Repositories' own directories beside `.git`.
    own: Vec<String>,
    /// What in it is no member and was not looked at.
    strangers: Vec<String>,
    /// What no op sees.
    private: FolderPrivacy,
    /// How much of a told path leads to the folder.
    lead: usize,
}

/// How a member is known.
#[derive(Clone, Copy)]
struct By<'a> {
    judge: &'a Judge<'a>,
    /// What holds in the directory it lies in.
    around: &'a Ground,
    judged: Judged,
}

impl By<'_> {
    /// What holds in it, if it is a directory with these names at this path.
    fn inside(&self, dir: BorrowedFd<'_>, found: &[Name], path: &str) -> Ground {
        let at = self.judge.full(path).len() + 1;
        self.judge.inside(self.around, &self.judged, (dir, found), at)
    }
}

/// What removing would change.
pub(crate) fn prepare_kill(workspace: &Workspace, path: &str) -> Prepared {
    let work_out = || {
        let real = workspace.place_of(path)?;
        refuse_stranger(workspace, path, &real)?;
        let tree = Tree::at(workspace, &real)?;
        let gone = |(rest, state): &(String, FileState)| {
            Change::between(joined(&real, rest), Some(state.clone()), None)
        };
        let changes: Vec<Change> = tree.entries.iter().map(gone).collect();
        let told = format!("removed {real}{}", tree.counted());
        let shown = listing(&format!("remove {real}{}", tree.counted()), &real, &tree);
        Ok(Worked { tree, changes, told, shown })
    };
    prepared(&format!("remove {path}"), Status::OK, work_out())
}

/// What moving would change.
pub(crate) fn prepare_move(roots: &Roots, from: &str, to: &str) -> Prepared {
    let work_out = || {
        let ends = Ends::of(roots, from, to)?;
        let tree = ends.tree(roots, from)?;
        let mut changes = missing_directories(roots.root_of(&ends.to), &ends.to);
        // A directory stays with what in it is no member.
        let stay: HashSet<&str> = tree.strangers.iter().flat_map(|path| around(path)).collect();
        for (rest, state) in &tree.entries {
            let gone = Change::between(joined(&ends.from, rest), Some(state.clone()), None);
            let come = Change::between(joined(&ends.to, rest), None, Some(state.clone()));
            changes.push(come);
            changes.extend((!stay.contains(rest.as_str())).then_some(gone));
        }
        Ok(ends.worked(("move", "moved"), "left behind", tree, changes))
    };
    prepared(&format!("move {from} → {to}"), Status::CREATED, work_out())
}

/// What copying would change.
pub(crate) fn prepare_copy(roots: &Roots, from: &str, to: &str) -> Prepared {
    let work_out = || {
        let ends = Ends::of(roots, from, to)?;
        let tree = ends.tree(roots, from)?;
        let mut changes = missing_directories(roots.root_of(&ends.to), &ends.to);
        let group_bit = roots.root_of(&ends.to).group_bit(crate::folders::path::split(&ends.to).0);
        for (rest, state) in &tree.entries {
            // A copy is the copier's, and acts as nobody but its owner.
            let group_bit = if state.kind == FileKind::Directory { group_bit } else { 0 };
            let mode = state.mode & 0o1777 | group_bit;
            // Its access control list says what the mode means for the group.
            let (mtime_ns, uid, gid) = (None, None, None);
            let state = FileState { mtime_ns, mode, uid, gid, ..state.clone() };
            changes.push(Change::between(joined(&ends.to, rest), None, Some(state)));
        }
        Ok(ends.worked(("copy", "copied"), "left out", tree, changes))
    };
    prepared(&format!("copy {from} → {to}"), Status::CREATED, work_out())
}

/// Both ends of a move or copy.
struct Ends {
    from: String,
    to: String,
}

impl Ends {
    fn of(roots: &Roots, from: &str, to: &str) -> Result<Ends, Refusal> {
        let given = from;
        let from = roots.of(given).place_of(given)?;
        refuse_stranger(roots.of(&from), given, &from)?;
        let workspace = roots.of(to);
        let name = from.rsplit_once('/').map_or(from.as_str(), |(_, name)| name);
        let inside = workspace.open_existing(to).is_ok_and(|opened| opened.is_directory());
        let to =
            if inside { format!("{}/{name}", to.trim_end_matches('/')) } else { to.to_owned() };
        let to = match workspace.open_existing(&to) {
            Err(refusal) if refusal.status == Status::NOT_FOUND => workspace.place_of_new(&to)?,
            Err(refusal) => return Err(refusal),
            Ok(there) => {
                workspace.refuse_stranger(&to, &there.path, there.is_directory())?;
                return Err(taken(roots.of(&from), &from, (workspace, &there.path)));
            }
        };
        if to.starts_with(&format!("{from}/")) {
            let text = format!("{to} is inside {from}");
            return Err(Refusal::new(Status::BAD_REQUEST, text));
        }
        Ok(Ends { from, to })
    }

    /// The members that stand at the one end. What must not be read must not be carried to where it can
    /// be, and what is carried is a member where it comes to.
    fn tree(&self, roots: &Roots, given: &str) -> Result<Tree, Refusal> {
        let workspace = roots.of(&self.from);
        let tree = Tree::of_members(workspace, &self.from)?;
        for (rest, _) in &tree.entries {
            let real = joined(&self.from, rest);
            let named = if rest.is_empty() { given } else { real.as_str() };
            workspace.refuse_unread(Door::Carry, named, &real)?;
        }
        Ok(tree)
    }

    fn worked(
        &self,
        (doing, done): (&str, &str),
        without: &str,
        tree: Tree,
        changes: Vec<Change>,
    ) -> Worked {
        let Ends { from, to } = self;
        let left = counted(tree.strangers.len());
        let left = left.map(|left| format!("; {left} {without}")).unwrap_or_default();
        let told = format!("{done} {from} to {to}{}{left}", tree.counted());
        let title = format!("{doing} {from} to {to}{}{left}", tree.counted());
        let shown = listing(&title, from, &tree);
        Worked { tree, changes, told, shown }
    }
}

/// A rearrangement worked out but not done.
struct Worked {
    tree: Tree,
    changes: Vec<Change>,
    told: String,
    shown: String,
}

/// What there is to say where something stands at the other end.
fn taken(workspace: &Workspace, from: &str, (other, to): (&Workspace, &str)) -> Refusal {
    if state::kind_at(&workspace.root, from).is_none() {
        return Refusal::new(Status::NOT_FOUND, format!("{from} does not exist"));
    }
    match same((workspace, from), (other, to)) {
        true => Refusal::new(Status::UNCHANGED, format!("{to} is the same already")),
        false => Refusal::new(Status::CONFLICT, format!("{to} is there already")),
    }
}

/// Whether two files hold the same. A link is not the file that it leads to.
fn same(one: (&Workspace, &str), other: (&Workspace, &str)) -> bool {
    let bytes = |(workspace, real): (&Workspace, &str)| {
        let (path, there) = edit::look(workspace, real).ok()?;
        there.filter(|_| path == real).map(|(bytes, _)| bytes)
    };
    bytes(one).is_some_and(|held| bytes(other) == Some(held))
}

fn prepared(label: &str, done: Status, worked: Result<Worked, Refusal>) -> Prepared {
    let label = clean(label);
    match worked {
        Err(refusal) => Prepared { label, settled: Some(refusal.into()), ..Prepared::default() },
        Ok(worked) => Prepared {
            label,
            changes: worked.changes,
            contents: worked.tree.contents,
            shown: worked.shown,
            told: Some((done, worked.told)),
            ..Prepared::default()
        },
    }
}

/// Refuses to take what stands at a real path, if that is no member.
fn refuse_stranger(workspace: &Workspace, given: &str, real: &str) -> Result<(), Refusal> {
    match state::kind_at(&workspace.root, real) {
        Some(kind) => workspace.refuse_taking(given, real, kind == FileKind::Directory),
        None => Ok(()),
    }
}

fn joined(path: &str, rest: &str) -> String {
    if rest.is_empty() { path.to_owned() } else { format!("{path}/{rest}") }
}

fn listing(title: &str, root: &str, tree: &Tree) -> String {
    let mut out = format!("{title}\n");
    for (rest, state) in tree.entries.iter().take(SHOWN) {
        let path = joined(root, rest);
        let _ = match (state.kind, state.bytes, &state.link) {
            (FileKind::Directory, ..) => writeln!(out, "  {path}/"),
            (FileKind::Symlink, _, Some(link)) => writeln!(out, "  {path} → {link}"),
            (_, bytes, _) => {
                let hash = state.hash.map(|hash| hash.short()).unwrap_or_default();
                writeln!(out, "  {path}  {} bytes, {hash}", bytes.unwrap_or(0))
            }
        };
    }
    if tree.entries.len() > SHOWN {
        let _ = writeln!(out, "  … {} more", tree.entries.len() - SHOWN);
    }
    out
}

impl Tree {
    /// Everything at a real path.
    fn at(workspace: &Workspace, path: &str) -> Result<Tree, Refusal> {
        Tree::read(workspace, path, None)
    }

    /// The members at a real path.
    fn of_members(workspace: &Workspace, path: &str) -> Result<Tree, Refusal> {
        Tree::read(workspace, path, Some(&Judge::new(workspace)))
    }

    fn read(workspace: &Workspace, path: &str, judge: Option<&Judge<'_>>) -> Result<Tree, Refusal> {
        let (directory, name) = crate::folders::path::split(path);
        let dir = workspace.root.open_directory(directory).map_err(|e| refusal(path, e))?;
        let own = workspace.root.own_directories(directory);
        let private = workspace.private.clone();
        let lead = path.len() - workspace.root.inner_path(path).len();
        let mut tree = Tree { own, private, lead, ..Tree::default() };
        let found = judge.map(|judge| judge.find(path, true)).transpose()?;
        let by = judge.zip(found.as_ref()).map(|(judge, found)| By {
            judge,
            around: &found.around,
            judged: found.judged,
        });
        tree.add(dir.as_fd(), name, (path, String::new()), by)?;
        match tree.entries.is_empty() {
            true => Err(Refusal::new(Status::NOT_FOUND, format!("{path} does not exist"))),
            false => Ok(tree),
        }
    }

    fn add(
        &mut self,
        dir: BorrowedFd<'_>,
        name: &str,
        (root, rest): (&str, String),
        by: Option<By<'_>>,
    ) -> Result<(), Refusal> {
        let path = joined(root, &rest);
        if self.private.hides(&path.as_bytes()[self.lead..]) {
            let text = format!("{root} holds what is private, {path}");
            return Err(Refusal::new(Status::REFUSED, text));
        }
        self.refuse_large(dir, name, root)?;
        let standing: Standing = state::named(dir, name, &path)?;
        let Some((state, _)) = standing else { return Ok(()) };
        let (above, _) = crate::folders::path::split(&path);
        if crate::folders::path::is_trash(above.as_bytes(), name.as_bytes()) {
            let text = format!("{root} holds what is kept aside for undoing, {path}");
            return Err(Refusal::new(Status::REFUSED, text));
        }
        if name.eq_ignore_ascii_case(".git") || self.own.contains(&path) {
            let text = format!("{root} holds a repository's own directory, {path}");
            return Err(Refusal::new(Status::REFUSED, text));
        }
        let kind = state.kind;
        self.bytes += state.bytes.unwrap_or(0);
        self.entries.push((rest.clone(), state));
        match kind {
            FileKind::Symlink => Ok(()),
            FileKind::File => self.keep(dir, name, &path),
            FileKind::Directory => self.add_inner(dir, name, (root, &rest), by),
        }
    }

    /// What is in a directory, of which only members count where they are known.
    fn add_inner(
        &mut self,
        dir: BorrowedFd<'_>,
        name: &str,
        (root, rest): (&str, &str),
        by: Option<By<'_>>,
    ) -> Result<(), Refusal> {
        let path = joined(root, rest);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let inner = entry(dir, name.as_bytes(), flags).map_err(|e| refusal(&path, e))?;
        let mut found = names(&inner).map_err(|e| refusal(&path, e))?;
        found.sort();
        let ground = by.map(|by| by.inside(inner.as_fd(), &found, &path));
        // That is refused with all the rest.
        let is_hidden =
            |name: &str| crate::folders::path::is_hidden(path.as_bytes(), name.as_bytes());
        for name in found {
            let is_directory = name.directory().is_some();
            let name = String::from_utf8(name.into_bytes()).map_err(|_| {
                let text = format!("{path} holds a name that is not UTF-8");
                Refusal::new(Status::NOT_TEXT, text)
            })?;
            let inside = if rest.is_empty() { name.clone() } else { joined(rest, &name) };
            let by = by.zip(ground.as_ref()).map(|(by, ground)| {
                let full = by.judge.full(&joined(root, &inside));
                By { around: ground, judged: by.judge.judge(ground, &full, is_directory), ..by }
            });
            match by {
                Some(by) if by.judged.stands == Stands::Not && !is_hidden(&name) => {
                    self.strangers.push(inside);
                }
                by => self.add(inner.as_fd(), &name, (root, inside), by)?,
            }
        }
        Ok(())
    }

    /// Refuses what is too much before any of it is read.
    fn refuse_large(&self, dir: BorrowedFd<'_>, name: &str, root: &str) -> Result<(), Refusal> {
        let stat = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW);
        let file = stat.ok().filter(|stat| FileType::from_raw_mode(stat.st_mode).is_file());
        let bytes = file.map_or(0, |stat| u64::try_from(stat.st_size).unwrap_or(0));
        if self.entries.len() < MAX_ENTRIES && self.bytes.saturating_add(bytes) <= MAX_BYTES {
            return Ok(());
        }
        let most = MAX_BYTES >> 20;
        let text = format!(
            "{root} holds more than {MAX_ENTRIES} entries or {most} MiB, of which a copy would be kept"
        );
        Err(Refusal::new(Status::TOO_LARGE, text))
    }

    fn keep(&mut self, dir: BorrowedFd<'_>, name: &str, path: &str) -> Result<(), Refusal> {
        let fd = entry(dir, name.as_bytes(), OFlags::RDONLY).map_err(|e| refusal(path, e))?;
        let mut bytes = Vec::new();
        let read = File::from(fd).take(MAX_BYTES + 1).read_to_end(&mut bytes);
        read.map_err(|e| state::unread(path, &e))?;
        self.contents.push(bytes);
        Ok(())
    }

    /// How much it is, where it is more than one thing.
    fn counted(&self) -> String {
        let files = self.entries.iter().filter(|(_, s)| s.kind != FileKind::Directory).count();
        match self.entries.as_slice() {
            [_] => String::new(),
            _ if files == 1 => format!(" (1 file, {} bytes)", self.bytes),
            _ => format!(" ({files} files, {} bytes)", self.bytes),
        }
    }
}
