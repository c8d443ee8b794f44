//! Which files git runs, or reads as configuration, because a setting names them or a link leads to them. Reads
//! configuration files by itself and follows what they include; runs no git and changes nothing.

use crate::folders::roots::Roots;
use crate::git::repositories::{GitRepositories, GitRepository, find_git_repositories};
use cairn_text::git_config::{GitSettingUse, parse_git_config, paths_in_command};
use rustix::fs::{Mode, OFlags};
use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// Files include others so deep, as in git.
const MAX_DEPTH: u32 = 10;
/// So many files are read for one repository.
const MAX_FILES: usize = 200;
/// So much of a file is read.
const MAX_BYTES: u64 = 4 << 20;
/// So many names in a folder of hooks are looked at.
const MAX_HOOKS: usize = 1000;
/// The name of what a file counts as that git reads as configuration.
const CONFIG: &str = ".git/config";
/// The name of what a file counts as that git runs.
const HOOKS: &str = ".git/hooks";
/// The files in a repository's own directory that say what git runs.
const OWN: [(&str, &str); 5] = [
    ("config", CONFIG),
    ("config.worktree", CONFIG),
    ("commondir", CONFIG),
    ("info/attributes", CONFIG),
    ("hooks", HOOKS),
];
/// The names of hooks, for where a folder of hooks is the project itself.
const HOOK_NAMES: [&str; 28] = [
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "p4-changelist",
    "p4-post-changelist",
    "p4-pre-submit",
    "p4-prepare-changelist",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-receive",
    "post-rewrite",
    "post-update",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "pre-receive",
    "prepare-commit-msg",
    "proc-receive",
    "push-to-checkout",
    "reference-transaction",
    "sendemail-validate",
    "update",
];

/// Where the person's own git configuration is, as their environment says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GitConfigFiles {
    /// The configuration of the machine and of the person, in git's order.
    pub files: Vec<PathBuf>,
    /// The person's home.
    pub home: Option<PathBuf>,
}

/// A file or folder of the project that git runs, or reads as configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GitGuard {
    /// Where it is: absolute, in a folder of the world.
    pub(crate) path: PathBuf,
    /// Which of git's own names it counts as.
    pub(crate) counts_as: &'static str,
    /// The setting that names it, or what else leads there.
    pub(crate) why: String,
}

/// All that settings in force name in the world's folders, for repositories at and above the folders and at and
/// above `near`.
pub(crate) fn find_git_guards(
    roots: &Roots,
    person: &GitConfigFiles,
    near: &HashSet<PathBuf>,
) -> Vec<GitGuard> {
    let mut finder =
        GuardFinder { roots, person, guards: Vec::new(), known: HashSet::new(), files: 0 };
    for file in &person.files {
        finder.push(file, CONFIG, "it is your git configuration");
    }
    let GitRepositories { found, not_read } = find_git_repositories(roots, near);
    for repository in &found {
        finder.files = 0;
        finder.look_at(repository);
    }
    for worktree in &not_read {
        finder.push(
            worktree,
            CONFIG,
            "there are too many repositories to read the settings of this one",
        );
    }
    if found.is_empty() {
        for root in roots.all() {
            finder.read_files_of_person(root.path());
        }
    }
    finder.guards
}

struct GuardFinder<'a> {
    roots: &'a Roots,
    person: &'a GitConfigFiles,
    guards: Vec<GitGuard>,
    /// The paths of the guards.
    known: HashSet<PathBuf>,
    /// How many files were read for one repository.
    files: usize,
}

impl GuardFinder<'_> {
    fn look_at(&mut self, repository: &GitRepository) {
        for directory in [&repository.common, &repository.own] {
            for (name, counts_as) in OWN {
                self.push(&directory.join(name), counts_as, "it is git's own");
            }
        }
        self.push_hooks(&repository.common.join("hooks"), "it is git's own");
        let base = repository.worktree.as_path();
        self.read_files_of_person(base);
        let common = repository.common.join("config.worktree");
        for file in
            [repository.common.join("config"), repository.own.join("config.worktree"), common]
        {
            self.read(&file, base, 0);
        }
    }

    fn read_files_of_person(&mut self, base: &Path) {
        let person = self.person;
        for file in &person.files {
            self.read(file, base, 0);
        }
    }

    /// Reads one file of settings; paths in commands are taken from `base`.
    fn read(&mut self, file: &Path, base: &Path, depth: u32) {
        if depth > MAX_DEPTH || self.files >= MAX_FILES {
            return;
        }
        let Some(text) = read_text(file) else { return };
        self.files += 1;
        for setting in parse_git_config(&text) {
            let Some(value) = setting.value.as_deref().filter(|value| !value.is_empty()) else {
                continue;
            };
            let why = setting.full_name();
            match setting.used_as() {
                GitSettingUse::Include => {
                    let beside = file.parent().unwrap_or(base);
                    let Some(path) = self.resolve(value, beside) else { continue };
                    self.push(&path, CONFIG, &why);
                    self.read(&path, base, depth + 1);
                }
                GitSettingUse::Path => {
                    let Some(path) = self.resolve(value, base) else { continue };
                    match setting.name.as_str() {
                        "hookspath" => self.push_hooks(&path, &why),
                        _ => self.push(&path, CONFIG, &why),
                    }
                }
                GitSettingUse::CommandAfterBang if !value.starts_with('!') => {}
                GitSettingUse::CommandAfterExt => {
                    let command = value.strip_prefix("ext::");
                    command.into_iter().for_each(|command| self.push_command(command, base, &why));
                }
                GitSettingUse::Command | GitSettingUse::CommandAfterBang => {
                    self.push_command(value, base, &why);
                }
                GitSettingUse::Other => {}
            }
        }
    }

    fn push_command(&mut self, command: &str, base: &Path, why: &str) {
        for named in paths_in_command(command) {
            let Some(path) = self.resolve(&named.text, base) else { continue };
            if named.is_certain || path.is_file() {
                self.push(&path, HOOKS, why);
            }
        }
        // A path may hold what ends a word in a shell.
        if let Some(path) = self.resolve(command, base).filter(|path| path.is_file()) {
            self.push(&path, HOOKS, why);
        }
    }

    /// A folder of hooks, and what links in it lead to. Of one that is a folder of the world only the hooks.
    fn push_hooks(&mut self, folder: &Path, why: &str) {
        let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let names: Vec<PathBuf> = HOOK_NAMES.iter().map(|name| real.join(name)).collect();
        match self.roots.all().any(|root| root.path().starts_with(&real)) {
            true => names.iter().for_each(|hook| self.push(hook, HOOKS, why)),
            false => self.push(folder, HOOKS, why),
        }
        let Ok(entries) = std::fs::read_dir(&real) else { return };
        for entry in entries.take(MAX_HOOKS).flatten() {
            let is_hook = HOOK_NAMES.iter().any(|name| entry.file_name() == *name);
            if is_hook && entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                self.push(&entry.path(), HOOKS, why);
            }
        }
    }

    /// The path that a value means, without `.` and `..`.
    fn resolve(&self, value: &str, base: &Path) -> Option<PathBuf> {
        let value = value.strip_prefix(":(optional)").unwrap_or(value);
        let path = match value.strip_prefix('~') {
            None => base.join(value),
            Some(rest) => match rest.split_once('/').unwrap_or((rest, "")) {
                ("", rest) => self.person.home.as_ref()?.join(rest),
                (user, rest) => self.home_of(user)?.join(rest),
            },
        };
        (!value.contains('\0')).then(|| without_dots(&path))
    }

    /// The home of a user of this machine, also where only another service than `/etc/passwd` knows them: beside
    /// the person's own.
    fn home_of(&self, user: &str) -> Option<PathBuf> {
        let known = read_text(Path::new("/etc/passwd")).and_then(|users| {
            let fields = users.lines().map(|line| line.split(':').collect::<Vec<_>>());
            let home = fields.into_iter().find(|fields| fields[0] == user)?.get(5).copied()?;
            Some(PathBuf::from(home))
        });
        let beside = || Some(self.person.home.as_ref()?.parent()?.join(user));
        known.or_else(beside)
    }

    /// Remembers a path by its name and by where it really is, as far as that lies in a folder of the world and is
    /// none of them.
    fn push(&mut self, path: &Path, counts_as: &'static str, why: &str) {
        for path in [without_dots(path), real_path(path)] {
            let is_inside = |root: &Path| path.starts_with(root) && path != root;
            let is_here = self.roots.all().any(|root| is_inside(root.path()))
                && !self.roots.all().any(|root| root.path().starts_with(&path));
            if is_here && self.known.insert(path.clone()) {
                self.guards.push(GitGuard { path, counts_as, why: why.to_owned() });
            }
        }
    }
}

/// The text of a regular file, as far as it is read.
pub(crate) fn read_text(file: &Path) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = File::from(rustix::fs::open(file, flags, Mode::empty()).ok()?);
    opened.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let mut bytes = Vec::new();
    opened.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// A path as its text reads, without `.` and `..`.
pub(crate) fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// Where a path really is, links followed as far as something is there.
fn real_path(path: &Path) -> PathBuf {
    for above in path.ancestors() {
        if let Ok(real) = above.canonicalize() {
            let rest = path.strip_prefix(above).unwrap_or(Path::new(""));
            return without_dots(&real.join(rest));
        }
    }
    without_dots(path)
}
