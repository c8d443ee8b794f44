//! Whether a path is a member: what git does not ignore, as the globs of the settings and what the run made
//! widen and narrow it. Nothing that is judged is opened.

use super::Membership;
use crate::folders::root_directory::{RootDirectory, step};
use crate::folders::walk::Name;
use crate::folders::workspace::{Workspace, refusal};
use crate::git::ignored::{Git, GitJudge, GitVerdict, Has, Level, Source};
use crate::settled::Refusal;
use cairn_text::glob::{PathGlob, Stance};
use rustix::fs::AtFlags;
use std::collections::BTreeSet;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

/// How something stands to the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stands {
    /// It is a member.
    Member,
    /// It is a directory that is none and leads to some.
    Way,
    /// It is none, and nothing in it is.
    Not,
}

/// Why something is no member by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// A rule names it, or a directory it lies in.
    Rule(Source),
    /// A glob of the setting `ignore` does.
    Ignored,
    /// Only what git tracks is a member.
    Untracked,
    /// It is a private place, or in one.
    Private,
}

/// What was found about a path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Judged {
    pub(crate) stands: Stands,
    /// Set also of a directory that a change made: what is in it is judged as if it were none.
    why: Option<Why>,
    /// Everything in it is a member, whatever rules say.
    is_added: bool,
    git: GitVerdict,
}

impl Judged {
    const MEMBER: Judged =
        Judged { stands: Stands::Member, why: None, is_added: false, git: GitVerdict::KEPT };
    const ADDED: Judged = Judged { is_added: true, ..Judged::MEMBER };

    /// Why it is no member by itself.
    pub(crate) fn why(&self) -> Option<Why> {
        self.why
    }
}

/// What holds in a directory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ground {
    level: Level,
    /// It is no member, for this reason.
    out: Option<Why>,
    is_added: bool,
}

/// A path, the directory it is in, and what was found about it.
pub(crate) struct Found {
    /// What leads to it from where rules begin.
    pub(crate) full: Vec<u8>,
    /// What holds in the directory it lies in.
    pub(crate) around: Ground,
    pub(crate) judged: Judged,
}

/// Judges paths of one folder, as they stand at one moment.
pub(crate) struct Judge<'a> {
    workspace: &'a Workspace,
    terms: Arc<Membership>,
    made: Arc<BTreeSet<String>>,
    git: GitJudge<'a>,
    /// What leads to the root from where rules begin. Paths that are judged begin with it.
    pub(crate) lead: Vec<u8>,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(workspace: &'a Workspace) -> Judge<'a> {
        let git = GitJudge::new(workspace);
        Judge {
            workspace,
            terms: Arc::clone(&workspace.members.terms),
            made: workspace.members.made(),
            lead: git.lead.clone(),
            git,
        }
    }

    /// What holds around the root.
    fn begin(&self) -> Ground {
        Ground { level: self.git.outer().clone(), ..Ground::default() }
    }

    fn judged_root(&self) -> Judged {
        Judged { git: self.git.root, ..Judged::MEMBER }
    }

    /// What holds in the root, whose names these are.
    pub(crate) fn root(&self, dir: BorrowedFd<'_>, names: &[Name]) -> Ground {
        self.inside(&self.begin(), &self.judged_root(), (dir, names), self.lead.len())
    }

    /// What holds in a directory that was judged, with these names; `at` is how much of a path leads to it.
    pub(crate) fn inside(
        &self,
        around: &Ground,
        judged: &Judged,
        (dir, names): (BorrowedFd<'_>, &[Name]),
        at: usize,
    ) -> Ground {
        self.within(around, judged, (dir, Has::among(names)), at)
    }

    /// The same where it is known which files of rules are there.
    pub(crate) fn within(
        &self,
        around: &Ground,
        judged: &Judged,
        (dir, has): (BorrowedFd<'_>, Has),
        at: usize,
    ) -> Ground {
        let Judged { why, is_added, git, .. } = judged;
        // What is private is told by its own path, so that what a person opened in it is judged as anything.
        let out = (*why).filter(|why| *why != Why::Private);
        // Nothing in what is left out is taken in again, and nothing in what is added is left out.
        let is_entered = !is_added && matches!(out, None | Some(Why::Rule(_)));
        let level = match is_entered {
            true => self.git.enter(&around.level, git, dir, has, at),
            false => around.level.clone(),
        };
        Ground { level, out, is_added: *is_added }
    }

    /// Judges a path in a directory. `full` leads to it from where rules begin, with no slash at its end.
    pub(crate) fn judge(&self, ground: &Ground, full: &[u8], is_directory: bool) -> Judged {
        let inner = &full[self.lead.len()..];
        if self.workspace.private.hides(inner) {
            return self.private(ground, full, is_directory);
        }
        if self.is_named(&self.terms.ignore, inner) {
            return self.unless_made(Why::Ignored, inner, is_directory);
        }
        if ground.is_added || self.is_added(ground, inner) {
            return Judged::ADDED;
        }
        let level = &ground.level;
        let (why, git) = match ground.out {
            // The settings leave it out.
            Some(why @ (Why::Ignored | Why::Untracked)) => {
                let kept = self.git.keeps_tracked(level, full, is_directory);
                (Some(why), GitVerdict::of(kept))
            }
            Some(Why::Rule(_) | Why::Private) | None => {
                let verdict = self.git.judge(level, full, is_directory);
                (verdict.by.map(Why::Rule), verdict)
            }
        };
        if let Some(why) = why {
            return Judged { git, ..self.unless_tracked(why, git.git, inner, is_directory) };
        }
        let member = Judged { git, ..Judged::MEMBER };
        let is_judged_by_index = self.terms.tracked && level.is_in_repository();
        let is_tracked = || {
            let git = self.git.keeps_tracked(level, full, is_directory);
            matches!(git, Git::Keeps | Git::KeepsSome)
        };
        if !is_judged_by_index || is_tracked() {
            return member;
        }
        Judged { git, ..self.unless_led(Why::Untracked, inner, is_directory) }
    }

    /// What is private is no member, whatever made, tracks or adds it.
    fn private(&self, ground: &Ground, full: &[u8], is_directory: bool) -> Judged {
        let inner = &full[self.lead.len()..];
        let leads = is_directory && self.workspace.private.leads_to_opened(inner);
        let stands = if leads { Stands::Way } else { Stands::Not };
        let git = self.git.judge(&ground.level, full, is_directory);
        Judged { stands, why: Some(Why::Private), is_added: false, git }
    }

    /// What is left out is still a member if it is tracked.
    fn unless_tracked(&self, why: Why, git: Git, inner: &[u8], is_directory: bool) -> Judged {
        match git {
            Git::Keeps => Judged::MEMBER,
            Git::KeepsSome => {
                let judged = self.unless_made(why, inner, is_directory);
                Judged { stands: judged.stands.or_way(), ..judged }
            }
            Git::Ignores | Git::Unsure => self.unless_led(why, inner, is_directory),
        }
    }

    /// The same if it leads to what is added.
    fn unless_led(&self, why: Why, inner: &[u8], is_directory: bool) -> Judged {
        let judged = self.unless_made(why, inner, is_directory);
        let leads = |glob: &PathGlob| {
            !glob.is_anywhere() && stance(&self.workspace.root, glob, &text(inner)) != Stance::Apart
        };
        match is_directory && self.terms.add.iter().any(leads) {
            true => Judged { stands: judged.stands.or_way(), ..judged },
            false => judged,
        }
    }

    /// The same if a change made it.
    fn unless_made(&self, why: Why, inner: &[u8], is_directory: bool) -> Judged {
        let judged = |stands| Judged { stands, why: Some(why), ..Judged::MEMBER };
        if self.made.is_empty() {
            return judged(Stands::Not);
        }
        let path = text(inner);
        if self.made.contains(&*path) {
            return judged(Stands::Member);
        }
        let beneath = format!("{path}/");
        let next = self.made.range(beneath.clone()..).next();
        match is_directory && next.is_some_and(|next| next.starts_with(&beneath)) {
            true => judged(Stands::Way),
            false => judged(Stands::Not),
        }
    }

    /// Whether a glob of the setting `add` names it. One that may match anywhere does not reach into
    /// directories that are left out: that would mean to look through all of them.
    fn is_added(&self, ground: &Ground, inner: &[u8]) -> bool {
        let reaches = |glob: &&PathGlob| ground.out.is_none() || !glob.is_anywhere();
        let mut reaching = self.terms.add.iter().filter(reaches).peekable();
        reaching.peek().is_some() && {
            let path = text(inner);
            reaching.any(|glob| names(&self.workspace.root, glob, &path))
        }
    }

    fn is_named(&self, globs: &[PathGlob], inner: &[u8]) -> bool {
        !globs.is_empty()
            && globs.iter().any(|glob| names(&self.workspace.root, glob, &text(inner)))
    }

    /// Judges one path, given as it really is, by what stands along its way.
    pub(crate) fn find(&self, real: &str, is_directory: bool) -> Result<Found, Refusal> {
        let refuse = |e| refusal(real, e);
        let inner = self.workspace.root.inner_path(real);
        let mut parts = inner.split('/').filter(|part| !matches!(*part, "" | ".")).peekable();
        let mut found =
            Found { full: self.lead.clone(), around: self.begin(), judged: self.judged_root() };
        let mut directory = step(self.workspace.root.handle(), b".").map_err(refuse)?;
        while let Some(part) = parts.next() {
            let has = |name: &str| {
                rustix::fs::statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
            };
            let at = found.full.len();
            let here = (directory.as_fd(), Has::asking(has));
            found.around = self.within(&found.around, &found.judged, here, at);
            found.full.extend_from_slice(part.as_bytes());
            let is_last = parts.peek().is_none();
            found.judged = self.judge(&found.around, &found.full, !is_last || is_directory);
            if is_last || found.judged.stands == Stands::Not {
                break;
            }
            found.full.push(b'/');
            directory = step(directory.as_fd(), part.as_bytes()).map_err(refuse)?;
        }
        Ok(found)
    }

    /// What leads to a real path from where rules begin.
    pub(crate) fn full(&self, real: &str) -> Vec<u8> {
        [&self.lead, self.workspace.root.inner_path(real).as_bytes()].concat()
    }

    /// The fact behind a reason.
    pub(crate) fn told(&self, found: &Found, why: Why) -> String {
        match why {
            Why::Ignored => "the setting membership.ignore names it".to_owned(),
            Why::Untracked => "git does not track it".to_owned(),
            Why::Private => "it is private".to_owned(),
            Why::Rule(source) => self.git.told(&found.full, source),
        }
    }
}

impl Stands {
    fn or_way(self) -> Stands {
        if self == Stands::Not { Stands::Way } else { self }
    }
}

/// Whether a glob names a path beneath the root, told from there or as an absolute one.
pub(super) fn names(root: &RootDirectory, glob: &PathGlob, path: &str) -> bool {
    match glob.as_str().starts_with('/') {
        false => glob.matches(path),
        true => glob.matches(&root.path().join(path).to_string_lossy()),
    }
}

fn stance(root: &RootDirectory, glob: &PathGlob, path: &str) -> Stance {
    match glob.as_str().starts_with('/') {
        false => glob.stance(path),
        true => glob.stance(&root.path().join(path).to_string_lossy()),
    }
}

fn text(path: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(path)
}
