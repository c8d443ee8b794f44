//! The workspace beneath one directory handle, and the ops over it. The only crate that opens
//! workspace files. It decides nothing about who may do what.

mod caught;
mod changes;
mod commands;
mod context;
mod edits;
mod entries;
mod find;
mod folders;
mod git;
mod locations;
mod look;
mod membership;
mod settings;
mod settled;

pub use changes::apply::{Contents, OnProgress, inverse};
pub use changes::state::{alike, is_edited_since};
pub use changes::trash::{Trash, TrashBatch, TrashSize};
pub use commands::background::{Background, Over};
pub use commands::growing::Growing;
pub use commands::overlay;
pub use commands::rehearse::{Confine, Rehearsed};
pub use commands::rehearsing::{Ended, OnOutput, Rehearsing};
pub use commands::runtimes::{Runtime, Runtimes};
pub use context::{Above, Head, Index, Instructions, Repository, with_imports};
pub use edits::choose::Choice;
pub use edits::earlier::{EarlierChange, EarlierEdit, EarlierInReply, names_lines};
pub use edits::parts::Part;
pub use entries::docs::{Doc, DocSource};
pub use entries::scheme::{Entry, Listed, Scheme, Schemes};
pub use entries::stored::Stored;
pub use folders::root_directory::WorldError;
pub use folders::ruled::Ruled;
pub use folders::unread::{Door, Kept, Unread};
pub use folders::workspace::Workspace;
pub use git::ignored::{GlobalExcludes, is_ignored_folder};
pub use git::settings::GitConfigFiles;
pub use locations::Locations;
pub use look::media::{Kind as MediaKind, kind as media_kind};
pub use look::read::Lines;
pub use membership::Membership;
pub use membership::survey::{Noticed, Scanned, Survey, Surveyed};
pub use settings::Settings;
pub use settled::{Performed, Prepared, Probe, Refusal, Shown};

use cairn_text::scrub::Scrubber;
use cairn_text::shown::clean;
use cairn_types::{
    Action, Carry, Change, Exec, Find, HostAccess, Manifest, Post, Read, Status, ToolCall,
    UriError, built_in, scheme_of,
};
use caught::{caught, caught_while};
use changes::apply::List;
use changes::{apply, removed};
use commands::rehearse::{Known, Rehearsal};
use commands::{exec, output, rehearse};
use edits::{choose, edit, many, rearrange};
use folders::roots::Roots;
use git::{guarded, ignored};
use look::near;
use membership::survey;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use tokio_util::sync::CancellationToken;

/// What an action needs while it acts.
pub struct Acting<'a> {
    /// The address of its row, where the model can read more than it is told.
    pub row: &'a str,
    /// Ends a command.
    pub cancel: &'a CancellationToken,
    /// Sees a command's output as it comes.
    pub on_output: &'a mut (dyn FnMut(&[u8]) + Send),
}

/// A workspace and the means to act on it.
#[derive(Debug, Clone)]
pub struct World {
    locations: Locations,
    settings: Arc<Settings>,
    known: Arc<Known>,
    docs: Arc<Vec<Doc>>,
}

impl World {
    /// A world over this workspace.
    #[must_use]
    pub fn new(workspace: Workspace, settings: Settings) -> World {
        let mut roots = Roots::new(workspace);
        roots.keep_members(&settings.membership);
        roots.keep_private(&settings.private);
        World::over(roots, settings)
    }

    /// A world over this workspace and these folders besides it, whose paths are absolute.
    pub fn with_folders(
        workspace: Workspace,
        folders: &[PathBuf],
        settings: Settings,
    ) -> Result<World, WorldError> {
        let mut roots = Roots::new(workspace);
        folders.iter().try_for_each(|folder| roots.add(folder))?;
        let home = settings.env.iter().find(|(name, _)| name == "HOME");
        roots.add_repository(home.map(|(_, home)| Path::new(home)));
        roots.keep_to(&settings.unread, &settings.ruled);
        roots.keep_members(&settings.membership);
        roots.keep_private(&settings.private);
        Ok(World::over(roots, settings))
    }

    fn over(roots: Roots, settings: Settings) -> World {
        let locations = Locations { roots: Arc::new(roots), schemes: Arc::default() };
        let (known, docs) = Default::default();
        World { locations, settings: Arc::new(settings), known, docs }
    }

    /// Adds a scheme, which stays when a run or a client takes the world. A name that every session has a
    /// scheme of is not to be had.
    pub fn register(&mut self, scheme: Arc<dyn Scheme>) {
        Arc::make_mut(&mut self.locations.schemes).register(scheme);
    }

    /// The same world with these schemes, besides its files and the others that were added.
    #[must_use]
    pub fn with_schemes(&self, schemes: Schemes) -> World {
        let schemes = Arc::new(schemes.or(&self.locations.schemes));
        let locations = Locations { schemes, ..self.locations.clone() };
        World { locations, ..self.clone() }
    }

    /// What the schemes declare of themselves that not every world has.
    #[must_use]
    pub fn added(&self) -> Vec<Manifest> {
        let is_everywhere = |one: &Manifest| built_in().iter().any(|known| known.name == one.name);
        self.manifests().filter(|one| !is_everywhere(one)).cloned().collect()
    }

    /// What its schemes declare of themselves.
    pub fn manifests(&self) -> impl Iterator<Item = &Manifest> {
        self.locations.schemes.manifests()
    }

    /// The entries at an address and beneath it.
    pub fn listed(&self, address: &str) -> Result<Vec<Listed>, Refusal> {
        entries::look::beneath(&self.locations.schemes, &address.parse().map_err(bad_address)?)
    }

    /// The first of these changes whose entry is not as it was before, if there is one.
    #[must_use]
    pub fn stale<'a>(&self, changes: &'a [Change]) -> Option<&'a str> {
        entries::stale(&self.locations.schemes, changes)
    }

    /// Finds the secrets in what is told of this world.
    #[must_use]
    pub fn scrubber(&self) -> &Scrubber {
        &self.settings.scrubber
    }

    /// Its folders and schemes.
    #[must_use]
    pub fn locations(&self) -> &Locations {
        &self.locations
    }

    /// The project's workspace.
    #[must_use]
    pub fn workspace(&self) -> &Workspace {
        self.locations.roots.main()
    }

    /// The workspace that a command runs in.
    fn cwd(&self, exec: &Exec) -> &Workspace {
        self.locations.roots.of(exec.cwd.as_deref().unwrap_or("."))
    }

    /// What an action would do, without doing anything.
    #[must_use]
    pub fn prepare(&self, action: &Action) -> Prepared {
        self.prepare_in_reply(action, &EarlierInReply::default())
    }

    /// The same of an op of a reply whose earlier ops did this.
    #[must_use]
    pub fn prepare_in_reply(&self, action: &Action, earlier: &EarlierInReply) -> Prepared {
        tracing::trace!(target: "cairn::turn", "World::prepare_in_reply");
        caught(|| self.prepared(action, earlier)).unwrap_or_else(unprepared)
    }

    fn prepared(&self, action: &Action, earlier: &EarlierInReply) -> Prepared {
        if let Err(refusal) = self.locations.refuse_misnamed(action) {
            return entries::refused(&format!("{} {}", action.op(), action.target()), refusal);
        }
        let mut prepared =
            many::prepare(self, action).unwrap_or_else(|| self.worked_out(action, earlier));
        if let Some(settled) = &mut prepared.settled {
            near::tell(&self.locations, action, settled);
        }
        if !matches!(action, Action::Exec(_))
            && let Err(refusal) = self.locations.refuse_read_only(&prepared.changes)
        {
            let label = prepared.label;
            return Prepared { label, settled: Some(refusal.into()), ..Prepared::default() };
        }
        if matches!(action, Action::Kill { .. } | Action::Edit(_)) {
            prepared.removed =
                removed::by(&self.locations.roots, &prepared.changes, self.settings.little);
        }
        self.mark_guarded(&mut prepared);
        self.locations.roots.count_exposed(&mut prepared);
        prepared
    }

    /// What these changes made is a member from now on, whatever rules say of it. Callers tell of those that
    /// this world did not make itself: of a run's earlier ops.
    pub fn count_made<'a>(&self, changes: impl IntoIterator<Item = &'a Change> + Clone) {
        let files = changes.clone().into_iter();
        files.for_each(|change| self.locations.roots.count_made(change));
        let placed = ignored::placed(changes, |path| self.locations.roots.absolute(path));
        self.workspace().ignored.count(placed);
    }

    /// What an earlier process did in the same run: what it made is a member, and what it changed of the
    /// rules about ignored paths is known as it was before. `at` is when it began, in milliseconds since 1970.
    pub fn recall(&self, changes: &[Change], at: u64, contents: &Contents<'_>) {
        let placed = ignored::placed(changes, |path| self.locations.roots.absolute(path));
        self.workspace().ignored.recall(placed, at, contents);
        changes.iter().for_each(|change| self.locations.roots.count_made(change));
    }

    pub(crate) fn worked_out(&self, action: &Action, earlier: &EarlierInReply) -> Prepared {
        let Locations { roots, schemes } = &self.locations;
        let ends = entries::carry::Ends { roots, schemes, cancel: &CancellationToken::new() };
        let is_entry = |carry: &Carry| {
            [&carry.from, &carry.to].into_iter().any(|end| scheme_of(end).is_some())
        };
        match action {
            Action::Edit(edit) => match edit.path.as_deref().and_then(|path| schemes.address(path))
            {
                Some(Ok(uri)) => entries::edit::prepare(schemes, &uri, edit, earlier),
                Some(Err(refusal)) => entries::refused("edit", refusal),
                None => edit::prepare(roots, edit, earlier),
            },
            Action::Kill { path } => match schemes.address(path) {
                Some(Ok(uri)) => entries::carry::prepare_kill(schemes, &uri),
                Some(Err(refusal)) => entries::refused("remove", refusal),
                None => rearrange::prepare_kill(roots.of(path), path),
            },
            Action::Move(carry) if is_entry(carry) => ends.relocate(carry),
            Action::Copy(carry) if is_entry(carry) => ends.copy(carry),
            Action::Move(Carry { from, to, .. }) => rearrange::prepare_move(roots, from, to),
            Action::Copy(Carry { from, to, .. }) => rearrange::prepare_copy(roots, from, to),
            Action::Exec(exec) => exec::prepare(self.cwd(exec), &self.settings, exec),
            Action::Send(post) => entries::refused("send", unsaid(post)),
            Action::Call(call) => shown_call(call),
            Action::Find(Find { under: Some(path), .. })
            | Action::List { path, .. }
            | Action::Read(Read { path, .. })
                if schemes.remote(path).is_some() =>
            {
                self.look_beyond(action, path)
            }
            Action::Find(_)
            | Action::List { .. }
            | Action::Read(_)
            | Action::Open { .. }
            | Action::Fold { .. }
            | Action::Todo { .. }
            | Action::Consult(_) => {
                let label = clean(&format!("{} {}", action.op(), action.target()));
                Prepared { label, ..Prepared::default() }
            }
        }
    }

    /// The same beside the caller's thread, since a file or a tree can be large.
    pub async fn prepare_beside(&self, action: &Action) -> Prepared {
        self.prepare_in_reply_beside(action, EarlierInReply::default()).await
    }

    /// The same of an op of a reply whose earlier ops did this.
    pub async fn prepare_in_reply_beside(
        &self,
        action: &Action,
        earlier: EarlierInReply,
    ) -> Prepared {
        let (world, action) = (self.clone(), action.clone());
        let prepared =
            tokio::task::spawn_blocking(move || world.prepare_in_reply(&action, &earlier));
        prepared.await.unwrap_or_else(|e| unprepared(unfinished(&e)))
    }

    /// What is really to be done of an edit that was prepared, by what a person chose of it.
    #[must_use]
    pub fn chosen(&self, prepared: &Prepared, choice: &Choice) -> Prepared {
        let chosen = || {
            let mut chosen = choose::chosen(prepared, choice);
            chosen.removed =
                removed::by(&self.locations.roots, &chosen.changes, self.settings.little);
            self.mark_guarded(&mut chosen);
            self.locations.roots.count_exposed(&mut chosen);
            chosen
        };
        caught(chosen).unwrap_or_else(unprepared)
    }

    /// Marks changes of what git runs or reads as configuration, by the settings in force now.
    fn mark_guarded(&self, prepared: &mut Prepared) {
        guarded::mark_guarded(&self.locations.roots, &self.settings.git_config, prepared);
    }

    /// Does what was prepared. Files are changed only if they are as they were then (else 409). What
    /// panicked is marked so: what it did is to be found out as after a crash.
    pub async fn act(&self, action: &Action, prepared: &Prepared, acting: Acting<'_>) -> Performed {
        self.act_and_count(action, prepared, acting, &mut |_, _| {}).await
    }

    /// The same, telling how many of how many changes of files are made.
    pub async fn act_and_count(
        &self,
        action: &Action,
        prepared: &Prepared,
        acting: Acting<'_>,
        progress: OnProgress<'_>,
    ) -> Performed {
        tracing::trace!(target: "cairn::turn", "World::act_and_count");
        match caught_while(Box::pin(self.acted(action, prepared, acting, progress))).await {
            Ok(performed) => performed,
            Err(refusal) => Performed { panicked: true, ..refusal.into() },
        }
    }

    async fn acted(
        &self,
        action: &Action,
        prepared: &Prepared,
        acting: Acting<'_>,
        progress: OnProgress<'_>,
    ) -> Performed {
        let begun = Instant::now();
        let mut performed = match action {
            Action::Exec(exec) if prepared.ran.is_none() => {
                exec::perform(&self.locations.roots, &self.settings, exec, acting).await
            }
            Action::Read(_) => return self.look(action, acting.row, acting.cancel).await,
            _ if prepared.changes.iter().any(is_own) => self.change_beside(prepared).await,
            _ => self.change(prepared, progress),
        };
        if let Some(ran) = &prepared.ran {
            let Performed { exit, output, layers, .. } = ran.clone();
            performed = Performed { exit, output, layers, ..performed };
        }
        performed.ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        performed
    }

    /// Whether this is a command that runs over an overlay.
    #[must_use]
    pub fn rehearses(&self, action: &Action) -> bool {
        matches!(action, Action::Exec(exec) if !exec.background)
            && matches!(self.settings.confine, Confine::Overlay(..))
    }

    /// Starts a command over an overlay, in the runtime of the caller; `name` is for what of it is kept
    /// aside, and the hosts are what it may reach. What cannot be run is settled at once.
    pub async fn rehearse(
        &self,
        action: &Action,
        (name, hosts): (&str, &[HostAccess]),
        on_output: OnOutput,
    ) -> Result<Box<Rehearsing>, Box<Prepared>> {
        let Action::Exec(exec) = action else { return Err(Box::new(self.prepare(action))) };
        let overlay = self.overlay((name, hosts));
        let started = caught_while(Box::pin(overlay.start(exec, on_output))).await;
        started.unwrap_or_else(|refusal| Err(Box::new(unprepared(refusal))))
    }

    fn overlay<'a>(&'a self, (name, hosts): (&'a str, &'a [HostAccess])) -> Rehearsal<'a> {
        let (roots, settings, known) = (&self.locations.roots, &self.settings, &self.known);
        Rehearsal { roots, settings, known, name, hosts }
    }

    /// Before what a command changed is made to count: moves what of it is never read to where it is
    /// kept, so that a crash in the middle can be completed.
    pub fn stage(&self, prepared: &mut Prepared) -> Result<(), Refusal> {
        caught(|| rehearse::stage(&self.locations.roots, &self.known, prepared))?
    }

    /// A text that grows, kept as a command's output is.
    #[must_use]
    pub fn growing(&self) -> Growing {
        Growing::new(output::limits(self.settings.spool.as_deref()), &self.settings.scrubber)
    }

    /// Starts a command in the background, in the runtime of the caller.
    pub async fn start(&self, action: &Action, on_output: OnOutput) -> Result<Background, Refusal> {
        match action {
            Action::Exec(exec) => {
                exec::start(&self.locations.roots, &self.settings, exec, on_output).await
            }
            _ => Err(Refusal::new(Status::FAILED, "not a command")),
        }
    }

    /// The same beside the caller's thread, since a scheme of somebody's own may take its time.
    async fn change_beside(&self, prepared: &Prepared) -> Performed {
        let (world, prepared) = (self.clone(), prepared.clone());
        let changed = move || caught(|| world.change(&prepared, &mut |_, _| {}));
        match tokio::task::spawn_blocking(changed).await {
            Ok(Ok(changed)) => changed,
            Ok(Err(refusal)) => Performed { panicked: true, ..refusal.into() },
            Err(e) => Performed { panicked: true, ..unfinished(&e).into() },
        }
    }

    fn change(&self, prepared: &Prepared, progress: OnProgress<'_>) -> Performed {
        let kept: HashMap<_, _> =
            prepared.contents.iter().map(|bytes| (cairn_types::Hash::of(bytes), bytes)).collect();
        let contents = |hash: &cairn_types::Hash| kept.get(hash).map(|bytes| (*bytes).clone());
        match self.locations.make(&prepared.changes, List::Afresh, &contents, progress) {
            Err(refusal) => refusal.into(),
            Ok(changes) => {
                self.known.wrote(&self.locations.roots, &changes);
                self.count_made(&changes);
                let (status, text) = prepared.told.clone().unwrap_or((Status::OK, String::new()));
                Performed { changes, ..Performed::told(status, text) }
            }
        }
    }

    /// Looks; changes nothing. Reads and finds can be long, so they run beside the caller's thread. `row`
    /// is where more than is told can be read.
    pub async fn look(&self, action: &Action, row: &str, cancel: &CancellationToken) -> Performed {
        let begun = Instant::now();
        if let Action::Exec(exec) = action {
            let acting = Acting { row, cancel, on_output: &mut |_| {} };
            let overlay = self.overlay(("", &[]));
            let looked = caught_while(Box::pin(overlay.look(exec, acting))).await;
            let mut performed = looked.unwrap_or_else(Into::into);
            performed.ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
            return performed;
        }
        let (locations, action) = (self.locations.clone(), action.clone());
        let cancelled = cancel.child_token();
        let _stop = cancelled.clone().drop_guard();
        let looked = tokio::task::spawn_blocking(move || {
            let look = || {
                let looked = look::looked(&locations, &action, &cancelled);
                let mut told = looked.unwrap_or_else(Into::into);
                near::tell(&locations, &action, &mut told);
                told
            };
            caught(look).unwrap_or_else(Into::into)
        });
        let mut performed = looked.await.unwrap_or_else(|e| unfinished(&e).into());
        performed.ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        performed
    }

    /// After a crash: how far these changes came, by what is on disk now. Removes what an
    /// unfinished write left behind.
    #[must_use]
    pub fn probe(&self, expected: &[Change]) -> Probe {
        caught(|| self.locations.probe(expected)).unwrap_or(Probe::Neither)
    }

    /// Those of the changes that stand as they were meant, as they are on disk now.
    #[must_use]
    pub fn made(&self, changes: &[Change]) -> Vec<Change> {
        let files = changes.iter().filter(|change| change.entry().is_none());
        apply::made(&self.locations.roots, &files.cloned().collect::<Vec<_>>())
    }

    /// Makes these changes, all or none, with the bytes that `contents` gives; those already made
    /// are left alone. Err says why nothing was changed.
    pub fn apply(
        &self,
        changes: &[Change],
        contents: &Contents<'_>,
    ) -> Result<Vec<Change>, Refusal> {
        self.apply_and_count(changes, contents, &mut |_, _| {})
    }

    /// The same, telling how many of how many changes of files are made.
    pub fn apply_and_count(
        &self,
        changes: &[Change],
        contents: &Contents<'_>,
        progress: OnProgress<'_>,
    ) -> Result<Vec<Change>, Refusal> {
        caught(|| self.locations.make(changes, List::GoOn, contents, progress))?
    }

    /// Looks which members of the project changed since the survey was last brought up to date, and brings
    /// it there.
    pub fn scan(&self, survey: &mut Survey) -> Scanned {
        survey::scan(self.locations.roots.main(), survey)
    }
}

/// An op that could not be prepared.
fn unprepared(why: Refusal) -> Prepared {
    Prepared { settled: Some(why.into()), ..Prepared::default() }
}

/// Work beside the caller's thread that did not come to its end.
fn unfinished(why: &tokio::task::JoinError) -> Refusal {
    Refusal::new(Status::FAILED, format!("it did not end: {why}"))
}

/// That nobody is there to be told.
fn unsaid(post: &Post) -> Refusal {
    let to = post.to.as_deref().unwrap_or(Post::EVERYONE);
    let text = format!("send {} is not for {to}", post.status);
    Refusal::new(Status::NOT_IMPLEMENTED, text)
}

/// Whether it is of an entry that its scheme keeps itself.
fn is_own(change: &Change) -> bool {
    change.entry().is_some_and(|entry| entry.own)
}

fn bad_address(why: UriError) -> Refusal {
    Refusal::new(Status::BAD_REQUEST, why.to_string())
}

/// A call of a tool from outside, as a person is shown it.
fn shown_call(call: &ToolCall) -> Prepared {
    let arguments = serde_json::to_string_pretty(&call.arguments).unwrap_or_default();
    let label = clean(&format!("call {}", call.tool));
    let lines: Vec<String> = arguments.lines().map(clean).collect();
    let shown = format!("{label} with\n{}\n", lines.join("\n"));
    Prepared { label, shown, ..Prepared::default() }
}
