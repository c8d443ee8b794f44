//! Taking a run to drive it: a new one, or one that exists.

use crate::background::sent::WaitedCommand;
use crate::changes::change_watch::ChangeWatch;
use crate::driver::made;
use crate::journal::Journal;
use crate::model::model_calls::ModelCalls;
use crate::model::system;
use crate::run_record::RunRecord;
use crate::schemes::Leads;
use crate::{
    Command, Driver, Manner, Messages, RunError, Settings, Sink, Surroundings, clock, now_ms,
    schemes,
};
use cairn_engine::gates::Terms;
use cairn_engine::policy::Rulebook;
use cairn_engine::{Engine, Recording, Step};
use cairn_provider::Provider;
use cairn_store::{HomeLock, NewRun, NewSession, Store};
use cairn_surface::Toolbox;
use cairn_surface::any::Telling;
use cairn_surface::native;
use cairn_types::{
    Approval, Body, Budgets, Caps, ContentRef, Drive, End, Flags, Mode, Policy, Rail, RunId,
    RunStarted, SessionId, Surface, ToolUse, Writer,
};
use cairn_world::{Shown, World};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// Which run to drive.
#[derive(Debug, Clone)]
pub enum Place {
    /// A new run.
    New {
        /// In a new session, even if there is one over this root.
        new_session: bool,
        /// A person's name for it.
        name: Option<String>,
    },
    /// A run that exists.
    Existing {
        /// The run.
        run: RunId,
        /// Its session.
        session: SessionId,
    },
}

/// What a run is asked to do, and what it is shown with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// The words.
    pub text: String,
    /// Pictures and documents.
    pub shown: Vec<Shown>,
}

impl From<&str> for Task {
    fn from(text: &str) -> Task {
        Task { text: text.to_owned(), shown: Vec::new() }
    }
}

/// Everything needed to take a run.
pub struct Start {
    /// The store.
    pub store: Store,
    /// The workspace and its ops.
    pub world: Arc<World>,
    /// The model.
    pub provider: Arc<dyn Provider>,
    /// Where events go.
    pub sink: Arc<dyn Sink>,
    /// The project root, for the session and for the model's first message.
    pub root: String,
    /// Where a new run begins, for the model's first message.
    pub surroundings: Surroundings,
    /// What may be done.
    pub mode: Mode,
    /// How far an approved plan may widen that; absent where it does not.
    pub after_plan: Option<Mode>,
    /// Who answers questions.
    pub approval: Approval,
    /// What is ruled out besides.
    pub flags: Flags,
    /// The rules.
    pub policy: Policy,
    /// The limits.
    pub caps: Caps,
    /// What may be used up.
    pub budgets: Budgets,
    /// How the driver behaves.
    pub settings: Settings,
}

/// This process, for people who are told that it holds a run.
#[must_use]
pub fn holder() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = if host.trim().is_empty() { "this machine" } else { host.trim() };
    format!("pid {} on {host}", std::process::id())
}

impl Start {
    /// Takes the run, queues the task if there is one, and gives the driver and a way to talk
    /// to it. Nothing is durable before the driver's first commit. Where nothing is left to do, but the
    /// driver before said `note_end_shown(false)` and was gone before it took that back, this one tells the end again.
    pub async fn take(
        self,
        place: Place,
        task: Option<impl Into<Task>>,
    ) -> Result<(Driver, mpsc::UnboundedSender<Command>), RunError> {
        let (sender, inbox) = mpsc::unbounded_channel();
        let start = self.kept_apart();
        let mut driver = match place {
            Place::New { new_session, name } => start.new_run(new_session, name, inbox).await?,
            Place::Existing { run, session } => start.existing(&run, session, inbox)?,
        };
        if let Some(Task { text, shown }) = task.map(Into::into) {
            driver.run.leave_inherited_loop()?;
            let text = with_folders(&text, &driver.settings.folders);
            let shown = shown.into_iter().map(|s| (s.mime.to_owned(), s.name, s.bytes)).collect();
            let recording = driver.engine().prompted_with(&text, shown, Writer::Client);
            driver.run.record(recording)?;
        }
        let is_idle = matches!(driver.engine().step(), Step::Idle)
            && driver.store().letters(driver.run_id())?.is_empty();
        if is_idle && !driver.run.journal.lease().was_end_not_shown() {
            let state = stands(driver.engine().ended());
            return Err(RunError::NothingToDo { run: driver.run_id().clone(), state });
        }
        driver.shows_end_again = is_idle;
        Ok((driver, sender))
    }

    /// The same; a run that may not touch the project has none of its documents either.
    fn kept_apart(mut self) -> Start {
        if self.flags.no_repo {
            let own = self.world.docs().iter().filter(|doc| !doc.is_projects());
            let own = own.cloned().collect();
            self.world = Arc::new(World::clone(&self.world).with_docs(own));
        }
        self
    }

    async fn new_run(
        self,
        new_session: bool,
        name: Option<String>,
        inbox: mpsc::UnboundedReceiver<Command>,
    ) -> Result<Driver, RunError> {
        let at = now_ms();
        let run = clock::new_run_id();
        let lease = self.store.lease(&run, &holder())?;
        let found = match new_session {
            true => SessionOver::Missing(None),
            false => session_over(&self.store, &self.root).await?,
        };
        let (session, making) = match found {
            SessionOver::Existing(session) => (session, None),
            SessionOver::Missing(lock) => (clock::new_session_id(), Some(lock)),
        };
        let scrubber = self.settings.scrubber.clone();
        let engine = Engine::default();
        let mut journal =
            Journal::new(self.store.clone(), lease, session.clone(), engine, scrubber);
        if let Some(lock) = making {
            let (id, root) = (session.clone(), self.root.clone());
            journal.begin_session(NewSession { id, root, at }, lock);
        }
        let (session_id, parent) = (session.clone(), None);
        journal.begin_run(NewRun { id: run, session: session_id, name: name.clone(), parent, at });
        let mut recording = Recording::default();
        let (world, about) = (&self.world, &self.surroundings);
        let terms = Terms { mode: self.mode, approval: self.approval, flags: self.flags };
        let Manner { surface, small, tools, tool_use } = &self.settings.manner;
        let (surface, small, tool_use) = (*surface, *small, *tool_use);
        let system = system::message(&self.root, world, about, (terms, &self.settings.manner));
        let mut given = native::given(terms.can_be_asked(), &self.more_tools(surface), tools);
        let mut toolbox = self.settings.outside_tools.toolbox().clone().only(tools);
        if tool_use == ToolUse::None {
            given.clear();
            toolbox = Toolbox::default();
        }
        let told = toolbox.told(surface, &given, Telling::of_small(small));
        let given = match surface.is_text() || !tools.is_empty() {
            true => names(&given),
            false => Vec::new(),
        };
        let started = RunStarted {
            session: session.clone(),
            name,
            system: recording.keep(system),
            tools: recording.keep(told),
            surface,
            view: surface.view(),
            given,
            tool_use,
            small,
            toolbox: toolbox.to_json().map(|specs| recording.keep(specs)),
        };
        recording.facts.push(Body::Run(started));
        let since = self.store.newest_receipt(&session)?.unwrap_or_default();
        let drive = self.drive_fact(journal.lease().epoch(), Some(since));
        recording.facts.push(Body::Drive(drive));
        let mut driver = self.driver(journal, Messages::default(), toolbox, inbox);
        recording.contents.extend(driver.model_calls.schema_content());
        driver.run.record(recording)?;
        Ok(driver)
    }

    /// The tools that are given only where they are wanted: where the model curates what it sees, it is given all.
    fn more_tools(&self, surface: Surface) -> Vec<String> {
        match surface {
            Surface::Tags | Surface::Heredoc if !self.settings.manner.small => {
                native::ON_REQUEST.map(str::to_owned).to_vec()
            }
            _ => self.settings.more_tools.clone(),
        }
    }

    fn existing(
        self,
        run: &RunId,
        session: SessionId,
        inbox: mpsc::UnboundedReceiver<Command>,
    ) -> Result<Driver, RunError> {
        let lease = self.store.lease(run, &holder())?;
        let facts = self.store.facts(run, 0)?;
        let engine = Engine::fold(&facts);
        if engine.run().is_none() {
            return Err(RunError::NoBeginning { run: run.clone() });
        }
        let messages = Messages::load(&engine, &self.store)?;
        let toolbox = match engine.run().and_then(|run| run.toolbox) {
            Some(specs) => {
                let specs = self.store.content(&specs.hash)?;
                Toolbox::from_json(&String::from_utf8_lossy(&specs))
            }
            None => Toolbox::default(),
        };
        made::tell(&self.world, &self.store, &facts)?;
        let since = match engine.driving().looked() {
            Some(_) => None,
            None => Some(self.store.newest_receipt(&session)?.unwrap_or_default()),
        };
        let drive = self.drive_fact(lease.epoch(), since);
        let scrubber = self.settings.scrubber.clone();
        let journal = Journal::new(self.store.clone(), lease, session, engine, scrubber);
        let mut driver = self.driver(journal, messages, toolbox, inbox);
        let contents = driver.model_calls.schema_content();
        driver.run.record(Recording { contents, ..Recording::of(Body::Drive(drive)) })?;
        driver.run.record_lost_streams()?;
        Ok(driver)
    }

    fn drive_fact(&self, epoch: u64, since: Option<String>) -> Drive {
        Drive {
            epoch,
            holder: holder(),
            model: self.settings.model.clone(),
            mode: self.mode,
            after_plan: self.after_plan,
            approval: self.approval,
            flags: self.flags,
            policy: self.policy.clone(),
            caps: self.caps,
            budgets: self.budgets.clone(),
            folders: self.settings.folders.clone(),
            form: self.provider.form(),
            effort: self.settings.effort.word().map(str::to_owned),
            schema: self.settings.schema.as_ref().map(|text| ContentRef::of(text.as_bytes())),
            hooks: self.settings.hooks.plans(self.settings.outside_tools.specs()),
            schemes: self.world.added(),
            since,
            lost: None,
        }
    }

    /// Where reads of pages may be led.
    fn leads(&self) -> Leads {
        Leads {
            rules: Rulebook::recorded(&self.policy),
            mode: self.mode,
            writer: Writer::Model,
            is_hooked: !self.settings.hooks.plans(self.settings.outside_tools.specs()).is_empty(),
        }
    }

    fn driver(
        self,
        journal: Journal,
        messages: Messages,
        toolbox: Toolbox,
        inbox: mpsc::UnboundedReceiver<Command>,
    ) -> Driver {
        let mut schemes = schemes::of_session(&self.store, journal.session(), &self.world);
        let leads = self.leads();
        schemes::add_web(&mut schemes, &self.settings.web, &leads);
        let own_rows = schemes::add_own_rows(&mut schemes, &self.store);
        let world = self.world.with_schemes(schemes);
        let world = Arc::new(world);
        Driver {
            run: RunRecord::new(journal, messages, toolbox, self.sink, world.clone()),
            world,
            model_calls: ModelCalls::new(self.provider, &self.settings),
            inbox,
            settings: self.settings,
            streams: crate::background::Streams::default(),
            waited_command: WaitedCommand::default(),
            leads,
            change_watch: ChangeWatch::default(),
            own_rows,
            shows_end_again: false,
        }
    }
}

/// How a run stands that nothing is left to do for.
fn stands(ended: Option<&End>) -> String {
    match ended {
        Some(End { rail: Some(Rail::Turns | Rail::Cost | Rail::Time), why, .. }) => {
            format!("stopped at its cap ({why})")
        }
        _ => "has nothing left to do".to_owned(),
    }
}

fn names(tools: &[&'static native::Tool]) -> Vec<String> {
    tools.iter().map(|tool| tool.name.to_owned()).collect()
}

/// The folders besides the project's that a run's drivers had open, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Folders {
    /// Those that a person opened here.
    pub here: Vec<String>,
    /// Those that only imported facts name: whoever opened them did so on another machine.
    pub elsewhere: Vec<String>,
}

/// The folders of a run and of the runs that it was forked from.
pub fn folders_of(store: &Store, run: &RunId) -> Result<Folders, RunError> {
    let mut folders = Folders::default();
    let mut last: Option<(RunId, bool)> = None;
    for fact in store.facts(run, 0)? {
        let Body::Drive(drive) = fact.body else { continue };
        let is_imported = match &last {
            Some((of, is_imported)) if *of == fact.run => *is_imported,
            _ => store.run(&fact.run)?.is_none_or(|row| row.imported),
        };
        last = Some((fact.run, is_imported));
        let named = if is_imported { &mut folders.elsewhere } else { &mut folders.here };
        for folder in drive.folders {
            if !named.contains(&folder) {
                named.push(folder);
            }
        }
    }
    folders.elsewhere.retain(|folder| !folders.here.contains(folder));
    Ok(folders)
}

/// The prompt, and which folders besides the project's are open.
fn with_folders<'a>(prompt: &'a str, folders: &[String]) -> Cow<'a, str> {
    match folders {
        [] => Cow::Borrowed(prompt),
        folders => Cow::Owned(format!(
            "{prompt}\n\nBesides the project, these folders are open; paths in them are absolute:\n{}",
            folders.join("\n")
        )),
    }
}

/// The session over a root, or the right to make one.
pub(crate) enum SessionOver {
    /// There is one.
    Existing(SessionId),
    /// There is none, or another is wanted. Nobody else makes one while the lock is held.
    Missing(Option<HomeLock>),
}

/// Finds the newest session over a root, or takes the right to make one.
pub(crate) async fn session_over(store: &Store, root: &str) -> Result<SessionOver, RunError> {
    loop {
        if let Some(session) = store.latest_session(root)? {
            return Ok(SessionOver::Existing(session));
        }
        if let Some(lock) = store.try_lock_sessions()? {
            // Looked again while holding the lock.
            return Ok(match store.latest_session(root)? {
                Some(session) => SessionOver::Existing(session),
                None => SessionOver::Missing(Some(lock)),
            });
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// The session a new run here belongs to: the newest one over this root, if there is one.
pub fn session_here(store: &Store, root: &Path) -> Result<Option<SessionId>, RunError> {
    Ok(store.latest_session(&root.to_string_lossy())?)
}
