//! Commands over an overlay: one runs to its end, then what it changed is read as a proposal. Nothing of
//! it counts until `commit`; dropping what was prepared forgets it.

use crate::caught::caught;
use crate::commands::exec;
use crate::commands::overlay::{self, Census, Found, Own, Scratch, Terms};
use crate::commands::rehearsing::{OnOutput, Rehearsing};
use crate::commands::unreadable::expand;
use crate::folders::root_directory::RootDirectory;
use crate::folders::roots::Roots;
use crate::folders::workspace::Workspace;
use crate::git::linked_names::find_linked_names;
use crate::git::settings::{GitConfigFiles, find_git_guards};
use crate::settled::{Performed, Prepared, Refusal};
use crate::{Acting, Settings};
use cairn_sandbox::network::Reach;
use cairn_sandbox::{Access, Confined, Context, Host, Level, Place, Running, Sandbox, Spec};
use cairn_text::shell;
use cairn_types::{
    Aside, Change, ChangeKind, CommandLine, Exec, HostAccess, Joint, SandboxLayer, Status,
    is_guarded,
};
use std::collections::HashSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// So many changed paths are named to the model.
const NAMED: usize = 20;
/// What lets git look for a repository above the file system that it is in.
const ACROSS: &str = "GIT_DISCOVERY_ACROSS_FILESYSTEM";

/// How commands are confined.
#[derive(Debug, Clone, Default)]
pub enum Confine {
    /// Not at all: the person chose so.
    #[default]
    Open,
    /// They should be and cannot; this is why, and what to do.
    Refused(String),
    /// They are, on the files themselves.
    Direct(Arc<Sandbox>),
    /// They are; one that is waited for works on an overlay whose layers are made in this directory.
    Overlay(Arc<Sandbox>, PathBuf),
}

/// What is known of the folders between commands: what stood there, and what was written by us.
#[derive(Debug, Default)]
pub(crate) struct Known(Mutex<Vec<(Census, Own)>>);

/// The layers in which a command's changes are.
#[derive(Debug)]
pub struct Rehearsed {
    scratches: Vec<Scratch>,
    /// The name under which things are kept aside.
    name: String,
    /// What of the changes is not kept, and why.
    left_out: Vec<String>,
    /// Files of the changes that have other names.
    linked: Vec<String>,
    /// What was known of the folders when the layers were mounted, where other things were done since.
    pub(crate) known: Option<Vec<(Census, Own)>>,
}

impl PartialEq for Rehearsed {
    fn eq(&self, other: &Rehearsed) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Rehearsed {}

/// A command that is to be run over an overlay.
pub(crate) struct Rehearsal<'a> {
    pub(crate) roots: &'a Arc<Roots>,
    pub(crate) settings: &'a Settings,
    pub(crate) known: &'a Arc<Known>,
    /// The name under which things are kept aside.
    pub(crate) name: &'a str,
    /// The hosts that it may reach.
    pub(crate) hosts: &'a [HostAccess],
}

impl Confine {
    /// Where a command runs that works on the files themselves.
    pub(crate) fn direct(
        settings: &Settings,
        roots: &Roots,
        cwd: PathBuf,
    ) -> Result<Arc<dyn Context>, Refusal> {
        let sandbox = match &settings.confine {
            Confine::Open => return Ok(Host::context()),
            Confine::Refused(why) => {
                return Err(Refusal::new(Status::NOT_IMPLEMENTED, why.clone()));
            }
            Confine::Direct(sandbox) | Confine::Overlay(sandbox, _) => Arc::clone(sandbox),
        };
        let places: Result<Vec<_>, _> =
            roots.all().map(|folder| place(&folder.root, Access::Write)).collect();
        let mut places = places?;
        places.extend(read_only_for_git(roots, &settings.git_config, &cwd));
        let reach = reach(&sandbox, &[]);
        let unreadable = expand(roots, &settings.unreadable, &settings.private)?;
        Ok(Arc::new(Confined { sandbox, places, unreadable, cwd, reach }))
    }
}

/// What commands may reach; whoever wants something else is told so. What is no host is none; what is kept
/// from and is no host, such as `*`, is all of them.
fn reach(sandbox: &Sandbox, hosts: &[HostAccess]) -> Option<Reach> {
    let mut reach = Reach::default();
    let (mut no_host, mut only_named) = (false, false);
    for access in hosts {
        match access {
            HostAccess::Denied(host) => match host.parse() {
                Ok(pattern) => reach.deny.push(pattern),
                Err(_) => no_host = true,
            },
            HostAccess::OnlyByName(host) => match host.parse() {
                Ok(pattern) => reach.ask.push(pattern),
                Err(_) => only_named = true,
            },
            HostAccess::AllowedByName(host) => reach.named.extend(host.parse()),
            HostAccess::Allowed(host) => reach.allow.extend(host.parse()),
        }
    }
    if only_named {
        reach.allow.clone_from(&reach.named);
    }
    if no_host {
        reach.allow.clear();
    }
    (sandbox.level() != Level::Strict).then_some(reach)
}

/// What git runs or obeys by other names than its own, where it is there: read-only to a command that works on the
/// files themselves. Some of the project's own `.git` is known to the sandbox by its name.
fn read_only_for_git(roots: &Roots, person: &GitConfigFiles, cwd: &Path) -> Vec<Place> {
    let near = HashSet::from([cwd.to_owned()]);
    let linked = find_linked_names(roots, &near);
    let linked =
        linked.into_iter().filter(|name| is_guarded(&name.counts_as)).map(|name| name.path);
    let guards = find_git_guards(roots, person, &near).into_iter().map(|guard| guard.path);
    let kept = guards.chain(linked).filter_map(|guarded| {
        let is_known = roots.all().any(|root| {
            let git = root.path().join(".git");
            ["hooks", "config", "info"].iter().any(|name| guarded.starts_with(git.join(name)))
        });
        let is_plain = guarded.canonicalize().is_ok_and(|real| real == guarded);
        let found = std::fs::metadata(&guarded).ok().filter(|_| is_plain && !is_known)?;
        Some(Place { path: guarded, is: (found.dev(), found.ino()), access: Access::Read })
    });
    kept.collect()
}

fn place(root: &RootDirectory, access: Access) -> Result<Place, Refusal> {
    let found = rustix::fs::fstat(root.handle())
        .map_err(|e| crate::folders::workspace::refusal(&root.path().display().to_string(), e))?;
    Ok(Place { path: root.path().to_owned(), is: (found.st_dev, found.st_ino), access })
}

impl Rehearsal<'_> {
    /// Starts the command. What it comes to is known when it is over; at once where it cannot be run.
    pub(crate) async fn start(
        &self,
        run: &Exec,
        on_output: OnOutput,
    ) -> Result<Box<Rehearsing>, Box<Prepared>> {
        let begun = Instant::now();
        let mut prepared =
            exec::prepare(self.roots.of(run.cwd.as_deref().unwrap_or(".")), self.settings, run);
        if prepared.settled.is_some() {
            return Err(Box::new(prepared));
        }
        let runtime = run.runtime.as_deref();
        let discards = runtime.is_some_and(|name| self.settings.runtimes.discards(name));
        match self.mounted(run, discards).await {
            Ok((spec, rehearsed)) => Ok(Box::new(Rehearsing {
                timeout: spec.timeout,
                running: Running::telling(spec, on_output),
                run: run.clone(),
                begun,
                prepared,
                rehearsed,
                discards,
                roots: Arc::clone(self.roots),
                known: Arc::clone(self.known),
                git_config: self.settings.git_config.clone(),
            })),
            Err(refusal) => {
                prepared.settled = Some(refusal.into());
                Err(Box::new(prepared))
            }
        }
    }

    /// Runs the command over an overlay that is thrown away: nothing of what it changed is looked at.
    pub(crate) async fn look(&self, run: &Exec, acting: Acting<'_>) -> Performed {
        match self.spec(run).await {
            Ok((spec, _scratches)) => {
                let mut ran = exec::finish(spec, acting).await;
                if !ran.layers.is_empty() {
                    ran.layers.push(SandboxLayer::Overlay);
                }
                ran
            }
            Err(refusal) => refusal.into(),
        }
    }

    /// The command as the sandbox takes it, over fresh layers.
    async fn spec(&self, run: &Exec) -> Result<(Spec, Vec<Scratch>), Refusal> {
        let Confine::Overlay(sandbox, layers) = &self.settings.confine else {
            let text = "commands do not run over an overlay here";
            return Err(Refusal::new(Status::NOT_IMPLEMENTED, text));
        };
        let scratches = scratches(self.roots, layers)?;
        let places = self.roots.laid().zip(&scratches).map(|(folder, scratch)| {
            place(&folder.root, Access::Overlay(scratch.path().to_owned()))
        });
        let places = places.chain(self.roots.seen().map(|seen| place(&seen.root, Access::Read)));
        let places = places.collect::<Result<_, _>>()?;
        let workspace = self.roots.of(run.cwd.as_deref().unwrap_or("."));
        let mut spec = exec::spec(workspace, self.settings, run)?;
        if self.roots.seen().is_some() {
            // The overlay is a file system of its own, and git would look no further.
            spec.env.push((ACROSS.to_owned(), "1".to_owned()));
        }
        let cwd = exec::inner_directory(workspace, run)?;
        let (roots, settings) = (Arc::clone(self.roots), self.settings);
        let (globs, private) = (Arc::clone(&settings.unreadable), Arc::clone(&settings.private));
        let unreadable = beside(move || expand(&roots, &globs, &private)).await??;
        let (sandbox, reach) = (Arc::clone(sandbox), reach(sandbox, self.hosts));
        spec.context = Arc::new(Confined { sandbox, places, unreadable, cwd, reach });
        Ok((spec, scratches))
    }

    /// The command over fresh layers, and what stood in the folders just before.
    async fn mounted(&self, run: &Exec, discards: bool) -> Result<(Spec, Rehearsed), Refusal> {
        let (spec, scratches) = self.spec(run).await?;
        let name = unused(self.roots, self.name);
        let (left_out, linked) = (Vec::new(), Vec::new());
        let rehearsed = Rehearsed { scratches, name, left_out, linked, known: None };
        if discards {
            return Ok((spec, rehearsed));
        }
        let (roots, known) = (Arc::clone(self.roots), Arc::clone(self.known));
        let rehearsed =
            beside(move || known.take(&roots, &rehearsed.scratches).map(|()| rehearsed)).await??;
        Ok((spec, rehearsed))
    }
}

/// A name under which nothing is kept aside yet: a command that is run again after a crash finds there what
/// was brought for it the first time.
fn unused(roots: &Roots, name: &str) -> String {
    let is_free = |name: &String| {
        let batch = format!("{}/{name}", Aside::TRASH);
        roots.laid().all(|folder| folder.root.open_directory(&folder.root.op_path(&batch)).is_err())
    };
    let further = (2..).map(|n: u32| format!("{name}-{n}"));
    let mut names = std::iter::once(name.to_owned()).chain(further);
    names.find(is_free).unwrap_or_else(|| name.to_owned())
}

/// Does something long beside the caller's thread.
pub(crate) async fn beside<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Refusal> {
    let done = tokio::task::spawn_blocking(move || caught(work)).await;
    done.unwrap_or_else(|e| Err(crate::unfinished(&e)))
}

/// The folders that a command worked on, each with where its changes are.
pub(crate) fn layers<'a>(roots: &'a Roots, rehearsed: &Rehearsed) -> Vec<(&'a Workspace, PathBuf)> {
    roots.laid().zip(&rehearsed.scratches).map(|(root, one)| (root, one.upper())).collect()
}

fn scratches(roots: &Roots, layers: &Path) -> Result<Vec<Scratch>, Refusal> {
    let scratch = |root: &Workspace| {
        // Nothing of ours is made in a repository only to know the time.
        let clock = if root.repository.is_some() { roots.main() } else { root };
        Scratch::timed(layers, root, clock)
            .map_err(|problem| Refusal::new(Status::FAILED, problem.to_string()))
    };
    roots.laid().map(scratch).collect()
}

/// What a command that ran and what was found of it come to.
pub(crate) fn settle(
    prepared: &mut Prepared,
    run: &Exec,
    (mut ran, found, rehearsed): (Performed, Result<Vec<Found>, Refusal>, Rehearsed),
) {
    if ran.layers.is_empty() {
        // It never ran.
        prepared.settled = Some(ran);
        return;
    }
    ran.layers.push(SandboxLayer::Overlay);
    let found = match found {
        Ok(found) => found,
        Err(refusal) => {
            ran.text = format!("{}\n{}", ran.text, refusal.text);
            ran.status = refusal.status;
            prepared.settled = Some(ran);
            return;
        }
    };
    let is_empty = found.iter().all(Found::is_empty);
    let left_out: Vec<String> = found.iter().flat_map(|found| found.left_out.clone()).collect();
    let linked: Vec<String> = found.iter().flat_map(|found| found.linked.clone()).collect();
    let is_nothing = is_empty && left_out.is_empty();
    if !ran.status.is_success() && !is_nothing {
        ran.text = format!("{}\nnothing of what it changed is kept", ran.text);
    }
    if !ran.status.is_success() {
        prepared.settled = Some(ran);
        return;
    }
    if !is_empty {
        let indented: String = run.command.lines().map(|line| format!("  {line}\n")).collect();
        let last = ran.text.lines().next_back().unwrap_or_default();
        prepared.shown = format!("command:\n{indented}it ran over an overlay: {last}\n");
        prepared.label.clear();
    }
    for Found { changes, contents, shown, label, removed, .. } in found {
        if changes.is_empty() {
            continue;
        }
        prepared.changes.extend(changes);
        prepared.contents.extend(contents);
        prepared.shown.push_str(&shown);
        let and = if prepared.label.is_empty() { "" } else { "; " };
        prepared.label = format!("{}{and}{label}", prepared.label);
        prepared.removed.files += removed.files;
        prepared.removed.bytes += removed.bytes;
    }
    if !is_empty {
        let told = told(&ran, &prepared.changes, &linked, &left_out);
        prepared.told = Some((ran.status, told));
        prepared.rehearsed = Some(Arc::new(Rehearsed { left_out, linked, ..rehearsed }));
    } else if !left_out.is_empty() {
        ran.text = format!("{}\n{}", ran.text, not_kept(&left_out));
    }
    // What did its work all the same only looked for something newer, unless it was told to look there.
    let is_done = ran.exit == Some(0) && tells_its_end(run);
    let is_asked = |host: &&String| !is_done || names(&run.command, host);
    prepared.wanted = ran.wanted.iter().filter(is_asked).cloned().collect();
    prepared.ran = Some(ran);
}

/// Whether a code of 0 says that all of it went well: one command, or several that each run only after the one before
/// did. The code of a pipe or of a list is its last command's.
fn tells_its_end(run: &Exec) -> bool {
    match shell::parse(&run.command) {
        CommandLine::Known(line)
            if matches!(run.runtime.as_deref(), None | Some("sh" | "bash")) =>
        {
            line.iter().skip(1).all(|command| command.joint == Joint::And)
        }
        _ => !run.command.contains(['|', ';', '&', '\n']),
    }
}

/// Whether a command holds the name of a host.
fn names(command: &str, host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    command.to_ascii_lowercase().contains(name)
}

/// What the model is told of a command: what it printed, what of its changes is kept, and what is not.
fn told(ran: &Performed, changes: &[Change], linked: &[String], left_out: &[String]) -> String {
    let kept = (!changes.is_empty()).then(|| kept(changes));
    let not_kept = (!left_out.is_empty()).then(|| not_kept(left_out));
    let lines = [Some(ran.text.clone()), kept, other_names(linked), not_kept];
    lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

fn not_kept(left_out: &[String]) -> String {
    format!("not kept: {}", left_out.join(", "))
}

/// What the model is told of files that have other names, since another file is put in the place of each.
fn other_names(linked: &[String]) -> Option<String> {
    let has = match linked.len() {
        0 => return None,
        1 => "has",
        _ => "have",
    };
    let more = linked.len().saturating_sub(NAMED);
    let counted = (more > 0).then(|| format!("{more} more"));
    let named: Vec<String> = linked.iter().take(NAMED).cloned().chain(counted).collect();
    Some(format!("{} {has} other names (hard links), which keep the old text", named.join(", ")))
}

/// What the model is told of the changes that were kept.
fn kept(changes: &[Change]) -> String {
    let of_git = |change: &&Change| change.path.split('/').any(|part| part == ".git");
    let shown = changes.iter().filter(|change| !change.makes_directory() && !change.ignored);
    let git = shown.clone().filter(of_git).count();
    let shown = shown.filter(|change| !of_git(change));
    let named: Vec<String> = shown
        .clone()
        .take(NAMED)
        .map(|change| {
            let word = match change.kind {
                ChangeKind::Created => "new",
                ChangeKind::Modified => "changed",
                ChangeKind::Deleted => "removed",
            };
            format!("{word} {}", change.path)
        })
        .collect();
    let ignored = changes.iter().filter(|change| change.ignored).count();
    let mut told = named.join(", ");
    let more = shown.count().saturating_sub(NAMED);
    if more > 0 {
        told = format!("{told} and {more} more");
    }
    let others = [("git's own files", git), ("what git ignores", ignored)];
    for (what, _) in others.iter().filter(|(_, count)| *count > 0) {
        let and = if told.is_empty() { "" } else { ", and " };
        told = format!("{told}{and}{what}");
    }
    format!("kept: {told}")
}

impl Known {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(Census, Own)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at what stands in the folders now.
    fn take(&self, roots: &Roots, scratches: &[Scratch]) -> Result<(), Refusal> {
        let mut known = self.lock();
        known.resize_with(scratches.len(), Default::default);
        for ((root, scratch), (census, _)) in roots.laid().zip(scratches).zip(known.iter_mut()) {
            census.take(root, scratch.mark())?;
        }
        Ok(())
    }

    /// What is known now, for a command that goes on while other things are done. What we wrote
    /// ourselves is still known afterwards; what stands in the folders is looked at afresh.
    pub(crate) fn apart(&self) -> Vec<(Census, Own)> {
        let apart = |(census, own): &mut (Census, Own)| (std::mem::take(census), own.clone());
        self.lock().iter_mut().map(apart).collect()
    }

    pub(crate) fn read(&self, roots: &Roots, rehearsed: &Rehearsed) -> Result<Vec<Found>, Refusal> {
        let shared = self.lock();
        let known = rehearsed.known.as_ref().unwrap_or(&shared);
        let each = roots.laid().zip(&rehearsed.scratches).zip(known.iter());
        each.map(|((root, scratch), (census, own))| {
            overlay::read(root, scratch, &Terms { census, own, name: &rehearsed.name })
        })
        .collect()
    }

    /// Remembers what was just written, so that it is not taken for somebody else's.
    pub(crate) fn wrote(&self, roots: &Roots, changes: &[Change]) {
        let mut known = self.lock();
        known.resize_with(roots.laid().count(), Default::default);
        for (root, (_, own)) in roots.laid().zip(known.iter_mut()) {
            own.extend(overlay::written(&root.root, changes));
        }
    }
}

/// Moves what a command made and nobody reads to where it is kept, before the commit begins. Ignored
/// paths that somebody changed since they were looked at are left out, and that is told.
pub(crate) fn stage(roots: &Roots, known: &Known, prepared: &mut Prepared) -> Result<(), Refusal> {
    let Some(rehearsed) = prepared.rehearsed.clone() else { return Ok(()) };
    let (name, mut left_out) = (&rehearsed.name, rehearsed.left_out.clone());
    let mut staged = Vec::with_capacity(prepared.changes.len());
    let shared = known.lock();
    let known = rehearsed.known.as_ref().unwrap_or(&shared);
    for ((root, scratch), (census, own)) in roots.laid().zip(&rehearsed.scratches).zip(known.iter())
    {
        let is_here = |change: &&Change| std::ptr::eq(roots.of(&change.path), root);
        let mut here: Vec<Change> = prepared.changes.iter().filter(is_here).cloned().collect();
        let terms = Terms { census, own, name };
        left_out.extend(overlay::stage(root, scratch, &terms, &mut here)?);
        staged.append(&mut here);
    }
    prepared.changes = staged;
    if let (Some((status, _)), Some(ran)) = (&prepared.told, &prepared.ran) {
        prepared.told = Some((*status, told(ran, &prepared.changes, &rehearsed.linked, &left_out)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_types::FileState;

    /// What the model is told of a command that ended so, made these changes and left out these things.
    fn check(status: Status, changed: &[&str], left_out: &[&str], expected: &str) {
        let state = FileState::of(cairn_types::FileKind::File, 0o644);
        let change = |path: &&str| Change::between((*path).to_owned(), None, Some(state.clone()));
        let found = Found {
            changes: changed.iter().map(change).collect(),
            left_out: left_out.iter().map(|what| (*what).to_owned()).collect(),
            ..Found::default()
        };
        let mut ran = Performed::told(status, "done\nexit=0");
        ran.layers.push(SandboxLayer::Landlock);
        let rehearsed = Rehearsed {
            scratches: Vec::new(),
            name: String::new(),
            left_out: Vec::new(),
            linked: Vec::new(),
            known: None,
        };
        let (mut prepared, run) = (Prepared::default(), Exec::default());
        settle(&mut prepared, &run, (ran, Ok(vec![found]), rehearsed));
        let ended = prepared.settled.or(prepared.ran).map(|ran| ran.text);
        let told = prepared.told.map(|(_, told)| told).or(ended);
        assert_eq!(told.as_deref(), Some(expected), "{changed:?} {left_out:?}");
    }

    #[test]
    fn the_model_is_told_what_of_a_commands_changes_is_not_kept() {
        let (ok, pipe) = (Status::OK, "pipe (a pipe)");
        check(ok, &[], &[], "done\nexit=0");
        check(ok, &["a"], &[], "done\nexit=0\nkept: new a");
        check(ok, &[".git/x", "s/.git/y"], &[], "done\nexit=0\nkept: git's own files");
        check(ok, &["x.git/y"], &[], "done\nexit=0\nkept: new x.git/y");
        check(ok, &["a"], &[pipe], "done\nexit=0\nkept: new a\nnot kept: pipe (a pipe)");
        check(ok, &[], &[pipe, "2 more"], "done\nexit=0\nnot kept: pipe (a pipe), 2 more");
        let nothing = "done\nexit=0\nnothing of what it changed is kept";
        check(Status::FAILED, &[], &[], "done\nexit=0");
        check(Status::FAILED, &[], &[pipe], nothing);
        check(Status::FAILED, &["a"], &[pipe], nothing);
    }

    #[test]
    fn a_code_of_0_tells_of_one_command_and_of_those_that_depend_on_each_other() {
        let check = |command: &str, runtime: Option<&str>, expected: bool| {
            let (command, runtime) = (command.to_owned(), runtime.map(str::to_owned));
            let run = Exec { command, runtime, ..Exec::default() };
            assert_eq!(tells_its_end(&run), expected, "{}", run.command);
        };
        check("npm test", None, true);
        check("npm test 2>&1 > out", None, true);
        check("echo 'a; b | c'", None, true);
        check("cd app && npm test", None, true);
        check("npm install $x", None, true);
        for command in ["npm i x | tail -3", "npm i x || true", "npm i; ls", "npm i &", "npm i\nls"]
        {
            check(command, None, false);
        }
        check("cd a && npm i | tail", None, false);
        check("print(1); print(2)", Some("python"), false);
    }
}
