//! `cairn run`: one task, driven here, shown on a screen or told as events.

mod bell;
pub mod door;
mod editor;
mod excerpt;
mod input;
pub mod interaction;
mod json;
mod kept;
mod outcome;
mod pen;
mod pictures;
mod question;
mod remembering;
mod schema;
mod screen;
mod stop_signals;
mod thought;

pub use input::person;
pub use outcome::Watch;

use crate::commands::policy;
use crate::config::{Config, Layer, Origin, Value};
use crate::home::{name, named, place};
use crate::model::{manner, network};
use crate::setup::sandbox::CommandSettings;
use crate::setup::{docs, hooks, membership, privacy, sandbox, secrets};
use crate::{cli, model};
use anyhow::Result;
use cairn_engine::policy::Rulebook;
use cairn_hooks::Setup;
use cairn_provider::Effort;
use cairn_runtime::{
    Command, Driver, Folders, Manner, Place, RunError, Settings, Sink, Start, Task, folders_of,
};
use cairn_store::{RunRow, Store};
use cairn_surface::native::ON_REQUEST;
use cairn_text::scrub::Scrubber;
use cairn_text::shown::clean;
use cairn_types::{
    Approval, Body, Budgets, Caps, Drive, Exceeded, Flags, PicoUsd, Policy, Removed, RunId,
};
use cairn_world::{Confine, Ruled, Unread, Workspace, World};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// What was asked for makes no sense.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// A run that began could not go on.
#[derive(Debug, thiserror::Error)]
#[error("{why}. To go on with it: cairn run --resume {run}")]
struct Stopped {
    run: RunId,
    #[source]
    why: RunError,
}

/// How people and programs talk to this run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Talk {
    /// A person at a terminal, who types on stdin.
    Terminal,
    /// A person at a terminal, while something is piped in.
    Beside,
    /// A program: events out, commands in.
    Json,
    /// Nobody: pipes, CI.
    Nobody,
}

/// Waits for something, on a runtime of its own.
pub fn block_on<T>(work: impl Future<Output = T>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(work))
}

/// Says how many runs were recorded in this home, if the database has none at all.
fn warn_of_lost_runs(store: &Store) -> Result<()> {
    if !store.sessions()?.is_empty() {
        return Ok(());
    }
    let recorded = match store.missing_records()?.len() {
        0 => return Ok(()),
        1 => "1 run was".to_owned(),
        many => format!("{many} runs were"),
    };
    let _ = writeln!(
        std::io::stderr().lock(),
        "{recorded} recorded here and the database has none: it was lost or replaced. A new one is begun; \
         `cairn doctor` names the runs"
    );
    Ok(())
}

/// Runs the command.
pub fn run(args: &cli::Run) -> Result<ExitCode> {
    let began = Instant::now();
    let talk = match (args.json, std::io::stdin().is_terminal()) {
        (true, _) => Talk::Json,
        (false, true) => Talk::Terminal,
        (false, false) if input::has_terminal_beside() => Talk::Beside,
        (false, false) => Talk::Nobody,
    };
    let shown = pictures::read(&args.terms.image)?;
    let here = place::root(args.cwd.as_deref())?;
    // A run that goes on may work elsewhere, with another project's configuration.
    let is_new = args.resume.is_none() && !args.go_on;
    let early = is_new.then(|| configured(args, &here)).transpose()?;
    let task = task(args, talk)?.map(|text| Task { text, shown });
    if task.is_none() && !args.terms.image.is_empty() {
        return Err(Usage("--image goes with a task; write one in quotes".into()).into());
    }
    let store = place::store()?;
    warn_of_lost_runs(&store)?;
    let (place, root) = which(args, &store, here)?;
    let mut config = early.map_or_else(|| configured(args, &root), Ok)?;
    let last = last_drive(&store, &place)?;
    // A file says which model new runs have; for this one somebody has to name another.
    let is_named = matches!(config.origin("model"), Some(Origin::Env(_) | Origin::Flag(_)));
    if let (false, Some(last)) = (is_named, &last) {
        config.lay(Layer::flag("model", "resume", Value::Text(last.model.clone()))?)?;
    }
    if let (None, Some(effort)) =
        (config.text("effort"), last.as_ref().and_then(|l| l.effort.clone()))
    {
        config.lay(Layer::flag("effort", "resume", Value::Text(effort))?)?;
    }
    let kept = last.filter(|_| !args.new_terms);
    let kept = kept.map(|last| kept::Kept::of(&last, &args.rights, &config)).unwrap_or_default();
    kept.lay(&mut config)?;
    if let Some(told) = kept.told() {
        let _ = writeln!(std::io::stderr().lock(), "{told}");
    }
    if task.is_none() && matches!(place, Place::New { .. }) {
        return Err(Usage(
            "there is no task; write it in quotes: cairn run \"fix the failing test\"".into(),
        )
        .into());
    }
    let place = not_imported(&store, place)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let order = Order { args, config, kept, root, talk };
    let code = runtime.block_on(async {
        let (driver, commands, shown) = order.start(store, place, task).await?;
        driver.note_end_shown(false);
        let door = order.door(&driver, &commands)?;
        watch(commands, &shown, talk);
        let code = Box::pin(drive(driver, &shown, args.steps, began)).await;
        if let Some(door) = door {
            door.close().await;
        }
        code
    });
    // What still waits for input must not keep the process.
    runtime.shutdown_background();
    code
}

/// What was asked for, and what holds for it.
struct Order<'a> {
    args: &'a cli::Run,
    config: Config,
    /// What was forbidden when the run was last driven.
    kept: kept::Kept,
    root: PathBuf,
    talk: Talk,
}

fn configured(args: &cli::Run, root: &Path) -> Result<Config> {
    let mut config = place::config(root)?;
    if let Some(model) = &args.terms.model {
        config.lay(Layer::flag("model", "model", Value::Text(model.clone()))?)?;
    }
    if let Some(effort) = &args.terms.effort {
        config.lay(Layer::flag("effort", "effort", Value::Text(effort.clone()))?)?;
    }
    if let Some(turns) = args.terms.max_turns {
        config.lay(Layer::flag("max_turns", "max-turns", Value::Count(turns))?)?;
    }
    if let Some(minutes) = args.terms.max_minutes {
        config.lay(Layer::flag("max_minutes", "max-minutes", Value::Count(minutes))?)?;
    }
    if let Some(usd) = &args.terms.max_cost {
        config.lay(Layer::flag("max_cost", "max-cost", Value::Text(usd.clone()))?)?;
    }
    policy::lay_flags(&mut config, &args.rights)?;
    Ok(config)
}

/// The task: the argument, piped input, or both.
fn task(args: &cli::Run, talk: Talk) -> Result<Option<String>> {
    let piped = match talk {
        Talk::Nobody | Talk::Beside => input::piped()?,
        Talk::Terminal | Talk::Json => String::new(),
    };
    Ok(match (args.task.as_deref().filter(|task| !task.trim().is_empty()), piped.trim()) {
        (None, "") => None,
        (Some(task), "") => Some(task.to_owned()),
        (None, piped) => Some(piped.to_owned()),
        (Some(task), piped) => Some(format!("{task}\n\n{piped}")),
    })
}

/// How a run was last driven, in the mode that it came to.
fn last_drive(store: &Store, place: &Place) -> Result<Option<Drive>> {
    let Place::Existing { run, .. } = place else { return Ok(None) };
    let mut chosen = None;
    for fact in store.facts(run, 0)?.into_iter().rev() {
        match fact.body {
            Body::Decision(decision) => chosen = chosen.or(decision.mode),
            Body::Drive(drive) => {
                return Ok(Some(Drive { mode: chosen.unwrap_or(drive.mode), ..drive }));
            }
            _ => {}
        }
    }
    Ok(None)
}

/// Which run is meant, and the folder it works in: its session's, wherever we are.
fn which(args: &cli::Run, store: &Store, here: PathBuf) -> Result<(Place, PathBuf)> {
    let run = match &args.resume {
        Some(text) => named::workable(store, None, Some(text))?,
        None if args.go_on => refuse_imported(named::newest_here(store, &here)?)?,
        None => {
            let name = name::of_run(store, args.name.as_deref())?;
            return Ok((Place::New { new_session: args.new_session, name }, here));
        }
    };
    let root = PathBuf::from(named::session_row(store, &run.session)?.root);
    if !root.is_dir() {
        let (run, root) = (run.id, root.display());
        let fix = "put the folder back there, or a link to where it is now";
        return Err(Usage(format!("run {run} works in {root}, which is gone; {fix}")).into());
    }
    if args.cwd.is_some() && root != here {
        let (run, root) = (run.id, root.display());
        return Err(Usage(format!("run {run} works in {root}; leave out --cwd")).into());
    }
    Ok((Place::Existing { run: run.id, session: run.session }, root))
}

/// What was imported goes on only when a person names it.
fn refuse_imported(run: RunRow) -> Result<RunRow, Usage> {
    match run.imported {
        true => Err(Usage(format!(
            "the newest run here, {run}, was imported; to go on with it: cairn run --resume {run}",
            run = run.id
        ))),
        false => Ok(run),
    }
}

/// An imported run stays as it was signed, so a fork of it goes on in its place.
fn not_imported(store: &Store, place: Place) -> Result<Place> {
    let Place::Existing { run, session } = place else { return Ok(place) };
    let row = store.run(&run)?.filter(|row| row.imported);
    let run = match row {
        Some(row) => {
            let id = cairn_runtime::new_run_id();
            crate::commands::fork::make(store, &row, None, (id.clone(), row.name.clone()))?;
            id
        }
        None => run,
    };
    Ok(Place::Existing { run, session })
}

/// That the model does not see the pictures of a task, if it does not.
fn unseen_pictures(task: Option<&Task>, chosen: &model::Chosen) -> Option<String> {
    pictures::unseen(&task?.shown, &chosen.name, chosen.sees)
}

impl Order<'_> {
    /// The most a loop may cost. A limit on money is refused for a model whose price is not known.
    fn cost_cap(&self, chosen: &model::Chosen) -> Result<Option<PicoUsd>> {
        let cost = self.config.money("max_cost");
        let is_limited = cost.is_some() || self.config.money("budgets.session").is_some();
        if is_limited && chosen.provider.price().is_none() {
            return Err(no_price(&chosen.name).into());
        }
        Ok(cost)
    }

    async fn start(
        &self,
        store: Store,
        place: Place,
        task: Option<Task>,
    ) -> Result<(Driver, mpsc::UnboundedSender<Command>, Shown)> {
        let name = self.config.text("model").ok_or_else(no_model)?;
        let scrubber = secrets::scrubber(&self.config, store.salt()?);
        let asking = manner::asking(&self.args.manner, name, &self.config)?;
        let chosen = model::choose(name, &asking, &place::env, &scrubber)?;
        let cost = self.cost_cap(&chosen)?;
        let unseen = unseen_pictures(task.as_ref(), &chosen);
        let shown = Shown::new(self.talk, self.config.text("notify").unwrap_or_default());
        let is_new = matches!(place, Place::New { .. });
        let in_home = is_new.then(|| privacy::remark(&self.root)).flatten();
        let workspace = Workspace::open(&self.root)?;
        let folders = self.folders(&store, &place)?;
        let mut settings = world_settings(&self.config, &scrubber)?;
        settings.spool = Some(store.spool());
        settings.confine = self.confine(&folders, &settings.env).await?;
        let mode = policy::mode(&self.config);
        let mut policy = self.policy(&store, &place, &settings.shell)?;
        policy.overlay = matches!(settings.confine, Confine::Overlay(..));
        let confined = sandbox::remark(&settings.confine).filter(|_| mode.may_act());
        settings.little = policy.little;
        let rules = Rulebook::read(policy.clone())?;
        settings.unread = policy::unread(&rules);
        settings.unreadable = rules.unread_by_commands().unwrap_or_default().into();
        settings.ruled = Ruled(rules.ruled().cloned().collect());
        let found = self.hooks(&settings)?;
        let manner = self.manner(&store, &place, &chosen.name)?;
        let told = CommandSettings::read(&self.config).description_for_model(&settings.confine);
        let surroundings = place::surroundings(&settings.shell, (told, policy.overlay));
        let mut world =
            World::with_folders(workspace, &folders, settings)?.with_docs(docs::of(&self.config)?);
        policy.keeps_unread = world.keep_unread();
        let start = Start {
            store,
            surroundings,
            world: Arc::new(world),
            provider: chosen.provider,
            sink: shown.sink(),
            root: self.root.to_string_lossy().into_owned(),
            mode,
            after_plan: policy::after_plan(&self.config),
            approval: self.approval(),
            flags: Flags {
                someone: self.talk != Talk::Nobody || self.args.rights.wait,
                ..self.kept.flags(policy::flags(&self.args.rights))
            },
            policy,
            caps: self.caps(cost)?,
            budgets: self.budgets()?,
            settings: Settings {
                model: chosen.name,
                decide_within: self.decide_within(),
                folders: folders.iter().map(|folder| folder.display().to_string()).collect(),
                effort: Effort::of_word(self.config.text("effort")),
                schema: self.args.terms.output_schema.as_deref().map(schema::read).transpose()?,
                scrubber,
                longest: chosen.longest,
                hooks: found.hooks,
                web: network::web(&self.config)?,
                more_tools: self.more_tools(),
                manner,
                ..Settings::default()
            },
        };
        docs::check(&self.config, &start.world)?;
        let (driver, commands) = start.take(place, task).await?;
        let remarks = chosen.remark.into_iter().chain(unseen).chain(found.remarks).chain(confined);
        let remarks: Vec<String> = remarks.chain(in_home).collect();
        shown.began(&driver, &remarks);
        Ok((driver, commands, shown))
    }

    fn caps(&self, cost: Option<PicoUsd>) -> Result<Caps> {
        Ok(Caps {
            turns: u32::try_from(self.config.count("max_turns"))?,
            ops: u32::try_from(self.config.count("max_ops"))?,
            cost,
        })
    }

    /// How the model writes. A run that goes on writes as it did.
    fn manner(&self, store: &Store, place: &Place, model: &str) -> Result<Manner> {
        let manner = manner::of(&self.args.manner, model, &self.config)?;
        let Place::Existing { run, .. } = place else { return Ok(manner) };
        let began = store.facts(run, 0)?.into_iter().find_map(|fact| match fact.body {
            Body::Run(began) => Some(began),
            _ => None,
        });
        let cli::Manner { small, allowed_tools, require_tool, skip_tools, .. } = &self.args.manner;
        if *small || *require_tool || *skip_tools || !allowed_tools.is_empty() {
            let flags = "--small, --allowed-tools, --require-tool and --skip-tools";
            return Err(
                Usage(format!("{flags} are for a new run; {run} has what it began with")).into()
            );
        }
        match began {
            Some(began)
                if self.args.manner.surface.is_some() && began.surface != manner.surface =>
            {
                let (surface, wanted) = (began.surface, manner.surface);
                Err(Usage(format!(
                    "run {run} is written in {surface}, not in {wanted}; a new one can be"
                ))
                .into())
            }
            _ => Ok(manner),
        }
    }

    /// Tools that are given only where somebody wants it.
    fn more_tools(&self) -> Vec<String> {
        match self.config.text("tools.fold") {
            Some("yes") => ON_REQUEST.map(str::to_owned).to_vec(),
            _ => Vec::new(),
        }
    }

    /// How long a question waits for an answer; for ever when absent.
    fn decide_within(&self) -> Option<Duration> {
        let ms = self.config.count("approval_timeout_ms");
        (ms > 0).then(|| Duration::from_millis(ms))
    }

    /// How commands are confined.
    async fn confine(&self, folders: &[PathBuf], env: &[(String, String)]) -> Result<Confine> {
        let mut all = vec![self.root.clone()];
        all.extend_from_slice(folders);
        CommandSettings::read(&self.config).confine(&all, env).await
    }

    /// The folders besides the project's: those named now, and those the run had before.
    fn folders(&self, store: &Store, place: &Place) -> Result<Vec<PathBuf>> {
        let had = match place {
            Place::Existing { run, .. } => folders_of(store, run)?,
            Place::New { .. } => Folders::default(),
        };
        let (mut all, gone) = folders(had.here);
        tell_gone(&gone);
        for given in &self.args.terms.add_dir {
            let folder = place::folder(given)?;
            if folder.starts_with(&self.root) || self.root.starts_with(&folder) {
                let (folder, root) = (folder.display(), self.root.display());
                let why = format!(
                    "{folder} and the project {root} lie in each other; --add-dir is for a folder elsewhere"
                );
                return Err(Usage(why).into());
            }
            if !all.contains(&folder) {
                all.push(folder);
            }
        }
        for folder in had.elsewhere.iter().filter(|folder| !all.contains(&PathBuf::from(folder))) {
            let what = "was opened where this run was imported from, and is not open here";
            tell_closed(folder, what);
        }
        Ok(all)
    }

    /// The rules, and what people said before that reaches this run.
    fn policy(&self, store: &Store, place: &Place, shell: &Path) -> Result<Policy> {
        let mut policy = policy::configured(&self.config, &self.root, shell);
        let session = match place {
            Place::Existing { session, .. } => Some(session.clone()),
            Place::New { new_session: true, .. } => None,
            Place::New { .. } => store.latest_session(&self.root.to_string_lossy())?,
        };
        let now = cairn_runtime::now_ms();
        policy.rules.extend(policy::remembered(store, session.as_ref(), &self.root, now)?);
        Ok(policy)
    }

    /// Where another terminal may say a word. Only whoever waits for one cannot do without.
    fn door(
        &self,
        driver: &Driver,
        commands: &mpsc::UnboundedSender<Command>,
    ) -> Result<Option<door::Door>> {
        if self.approval() != Approval::Ask {
            return Ok(None);
        }
        match door::open(&place::home()?, driver.run_id(), commands.clone()) {
            Ok(door) => Ok(Some(door)),
            Err(why) if self.args.rights.wait => {
                Err(Usage(format!("nobody could decide from elsewhere: {why}")).into())
            }
            Err(_) => Ok(None),
        }
    }

    /// Who is asked when something happens.
    fn hooks(&self, settings: &cairn_world::Settings) -> Result<hooks::Found> {
        let setup = Setup {
            shell: settings.shell.clone(),
            env: settings.env.clone(),
            workspace: Arc::new(Workspace::open(&self.root)?),
            way: settings.way,
        };
        let mut found = hooks::find(&self.config, self.args.trusting, &setup)?;
        // A hook's name is its command, and is in the log.
        found.hooks = found.hooks.renamed(|name| settings.scrubber.text(name).into_owned());
        Ok(found)
    }

    /// What may be used up besides a loop's caps.
    fn budgets(&self) -> Result<Budgets> {
        let minutes = self.config.count("max_minutes");
        Ok(Budgets {
            calls: policy::calls(&self.config)?,
            on_exceeded: match self.config.text("budgets.on_exceeded") {
                Some("steer") => Exceeded::Steer,
                _ => Exceeded::Block,
            },
            minutes: (minutes > 0).then_some(minutes),
            session: self.config.money("budgets.session"),
        })
    }

    fn approval(&self) -> Approval {
        match (self.args.rights.yolo, self.talk) {
            (true, _) => Approval::Yolo,
            (false, Talk::Nobody) if self.args.rights.wait => Approval::Ask,
            (false, Talk::Nobody) => Approval::Nobody,
            (false, Talk::Terminal | Talk::Beside | Talk::Json) => Approval::Ask,
        }
    }
}

/// That a model's price is not known, where it must be.
pub fn no_price(model: &str) -> Usage {
    let file = place::user_file().map_or("your cairn.toml".to_owned(), |p| p.display().to_string());
    Usage(format!(
        "no price of {model} is known, so max_cost cannot be kept, nor a session's budget. Leave it out, or put the price, in \
         US dollars per million tokens, into {file}:\n\n  [models.\"{model}\"]\n  input = \"0.25\"\n  \
         output = \"2.00\"\n"
    ))
}

/// Folders that were named before: those that are still there, and those that are not. They were
/// recorded as they really were: one that now leads elsewhere is not the one a person opened.
pub fn folders(named: Vec<String>) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let is_there = |folder: &PathBuf| {
        folder.is_dir() && folder.canonicalize().is_ok_and(|real| real == *folder)
    };
    named.into_iter().map(PathBuf::from).partition(is_there)
}

/// Says which folders of a run are no longer worked in.
pub fn tell_gone(folders: &[PathBuf]) {
    for folder in folders {
        let what = if folder.is_dir() { "now leads elsewhere" } else { "is gone" };
        tell_closed(&folder.display().to_string(), what);
    }
}

fn tell_closed(folder: &str, what: &str) {
    let _ = writeln!(
        std::io::stderr().lock(),
        "the folder {} {what}; nothing is done in it. To open it again: --add-dir",
        clean(folder)
    );
}

fn no_model() -> Usage {
    let file = place::user_file().map_or_else(String::new, |path| {
        format!(", or put model = \"provider/name\" into {}", path.display())
    });
    Usage(format!(
        "no model is chosen; use --model provider/name, set CAIRN_MODEL{file}. To see Cairn work \
         without one: make try"
    ))
}

pub fn world_settings(config: &Config, scrubber: &Scrubber) -> Result<cairn_world::Settings> {
    let env = secrets::environment(config, scrubber);
    Ok(cairn_world::Settings {
        shell: place::shell(config),
        runtimes: Arc::new(CommandSettings::read(config).runtimes()?),
        private: Arc::new(privacy::places_for_tools(config, &env)?),
        unreadable: Arc::default(),
        env,
        timeout: Duration::from_millis(config.count("command_timeout_ms")),
        timeout_max: Duration::from_millis(config.count("command_timeout_max_ms")),
        way: cairn_sandbox::Way::Best,
        confine: Confine::Open,
        spool: None,
        unread: Unread::default(),
        membership: membership::of(config)?,
        ruled: Ruled::default(),
        little: Removed::LITTLE,
        scrubber: scrubber.clone(),
        git_config: place::git_config_files(),
    })
}

/// The screen or the event stream.
enum Shown {
    Screen(Arc<screen::Screen>),
    Json(Arc<json::Json>),
}

impl Shown {
    fn new(talk: Talk, notify: &str) -> Shown {
        match talk {
            Talk::Json => Shown::Json(Arc::default()),
            Talk::Nobody => Shown::Screen(Arc::default()),
            Talk::Terminal | Talk::Beside => {
                let call = bell::Call::of(notify, &place::env);
                Shown::Screen(Arc::new(screen::Screen::new(call)))
            }
        }
    }

    fn sink(&self) -> Arc<dyn Sink> {
        match self {
            Shown::Screen(screen) => screen.clone(),
            Shown::Json(json) => json.clone(),
        }
    }

    fn began(&self, driver: &Driver, remarks: &[String]) {
        match self {
            Shown::Screen(screen) => screen.began(driver, remarks),
            Shown::Json(json) => json.began(driver, remarks),
        }
    }
}

/// Listens to whoever may say something.
fn watch(commands: mpsc::UnboundedSender<Command>, shown: &Shown, talk: Talk) {
    let watch = match shown {
        Shown::Screen(screen) => &screen.watch,
        Shown::Json(json) => &json.watch,
    };
    editor::sweep();
    stop_signals::watch(commands.clone(), watch.stopping.clone());
    match (shown, talk) {
        (Shown::Screen(screen), Talk::Terminal) => {
            at_keys(&commands, screen);
            input::terminal(commands, screen.clone(), input::Keys::Stdin);
        }
        (Shown::Screen(screen), Talk::Beside) => {
            at_keys(&commands, screen);
            input::terminal(commands, screen.clone(), input::Keys::Terminal);
        }
        (Shown::Json(json), _) => input::json(commands, json.clone()),
        (Shown::Screen(_), _) => {}
    }
}

/// What a person at a terminal has besides typed lines: Ctrl-Z, and a hint of it.
fn at_keys(commands: &mpsc::UnboundedSender<Command>, screen: &Arc<screen::Screen>) {
    input::watch_suspends(commands.clone(), screen.clone());
    let screen = screen.clone();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_secs(1)).await;
            screen.hint();
        }
    });
}

async fn drive(
    mut driver: Driver,
    shown: &Shown,
    steps: Option<u64>,
    began: Instant,
) -> Result<ExitCode> {
    let pause = match driver.drive(steps).await {
        Ok(pause) => pause,
        Err(why) => {
            match shown {
                Shown::Json(json) => {
                    json.ended(&driver, outcome::stopped(&driver, &why, began.elapsed()));
                }
                Shown::Screen(screen) => screen.end_line(),
            }
            let run = driver.run_id().clone();
            let began = driver.store().run(&run).is_ok_and(|row| row.is_some());
            return Err(if began { Stopped { run, why }.into() } else { why.into() });
        }
    };
    let mut result = outcome::of(&driver, pause, began.elapsed(), shown);
    if let (Some(schema), "done") = (driver.schema(), result.status.as_str()) {
        match schema::problem(schema, &result.answer) {
            Some(why) => {
                (result.status, result.exit_code, result.why) = ("failed".to_owned(), 1, why)
            }
            None => result.answer = schema::unfenced(&result.answer).to_owned(),
        }
    }
    let code = result.exit_code;
    match shown {
        Shown::Screen(screen) => screen.ended(&driver, &result),
        Shown::Json(json) => json.ended(&driver, result),
    }
    if crate::output::out::is_whole() {
        driver.note_end_shown(true);
    }
    driver.store().fold();
    Ok(ExitCode::from(code))
}
