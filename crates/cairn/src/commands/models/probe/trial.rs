//! One task, done by a model in one way of writing: in a folder and a home that are made for it and thrown away. What
//! became of it, and whether its replies could be admitted.

use super::Way;
use super::signals::Signals;
use super::tasks::Task;
use crate::commands::policy;
use crate::config::Config;
use crate::home::place;
use crate::model::manner;
use crate::output::tally::Tally;
use crate::run::{Watch, world_settings};
use crate::setup::sandbox::CommandSettings;
use anyhow::{Context, Result};
use cairn_engine::policy::Rulebook;
use cairn_provider::{FaultClass, Provider};
use cairn_runtime::{
    Command, Driver, Event, Longest, Manner, Place, Settings, Sink, Start, new_run_id,
};
use cairn_store::{Access, Options, Store};
use cairn_text::scrub::Scrubber;
use cairn_types::{
    Approval, Body, Budgets, Caps, Fact, Flags, Mode, PicoUsd, Rail, Status, Surface, ToolUse,
};
use cairn_world::{Confine, Ruled, Workspace, World};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::Instant;

/// So many turns a task may take.
pub const TURNS: u32 = 8;
/// So long it may take.
const LONGEST: Duration = Duration::from_secs(120);

/// What every task is done with.
pub struct Bench {
    /// The configuration, without a project's.
    pub config: Config,
    /// The model's name, `provider/name`.
    pub model: String,
    /// The longest answer in tokens.
    pub most: u64,
    /// Finds secrets in what the model is told.
    pub scrubber: Scrubber,
    /// Where commands are confined from; tasks lie in folders of their own beneath it.
    pub place: Temporary,
}

/// What became of a task.
#[derive(Debug, Default)]
pub struct Tried {
    /// How many replies there were.
    pub replies: u64,
    /// How many of them could be admitted whole.
    pub valid: u64,
    /// Whether what was wanted holds, and the model said that it was done.
    pub correct: bool,
    /// What the replies took.
    pub tally: Tally,
    /// That no reply came in all the time there was, if none did.
    pub silence: Option<String>,
    /// Why there was no trying, if there was none.
    pub stopped: Option<Stopped>,
}

/// Why a task was not tried to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stopped {
    /// A person wanted it.
    Interrupted,
    /// It would have cost more than it may.
    Cost,
    /// The model could not be had in this way.
    Refused(String),
    /// Nothing answers where the model should be.
    Unreachable(String),
}

impl Bench {
    /// Tries one task; it may cost so much.
    pub async fn tries(
        &self,
        task: &Task,
        (way, provider): (Way, Arc<dyn Provider>),
        (cost, signals): (Option<PicoUsd>, &mut Signals),
    ) -> Result<Tried> {
        let place = Temporary::within(self.place.path())?;
        let root = place.path().join("work");
        laid_out(task, &root)?;
        let heard = Arc::new(Heard::default());
        let start =
            self.start((place.path(), &root), (way, provider), (cost, heard.clone())).await?;
        let new = Place::New { new_session: true, name: None };
        let (mut driver, commands) = start.take(new, Some(task.prompt)).await?;
        let ending = driven(&mut driver, &commands, signals).await?;
        let ended = driver.engine().ended().cloned();
        drop(driver);
        let mut tried = heard.tried(way.surface);
        let is_done = ended.as_ref().is_some_and(|end| end.status.is_success());
        tried.correct = is_done && holds(task, &root, &heard.watch.seen().answer)?;
        tried.stopped = match ended {
            _ if ending == Ending::Interrupted => Some(Stopped::Interrupted),
            Some(end) if end.rail == Some(Rail::Cost) => Some(Stopped::Cost),
            Some(end) if end.status == Status::FAILED => Some(match heard.is_unreached() {
                true => Stopped::Unreachable(end.why),
                false => Stopped::Refused(end.why),
            }),
            _ if ending == Ending::Late => heard.trouble().map(Stopped::Refused),
            _ => None,
        };
        if ending == Ending::Late && tried.replies == 0 {
            let seconds = LONGEST.as_secs();
            tried.silence = Some(format!("the model did not reply within {seconds} s"));
        }
        Ok(tried)
    }

    async fn start(
        &self,
        (place, root): (&Path, &Path),
        (way, provider): (Way, Arc<dyn Provider>),
        (cost, heard): (Option<PicoUsd>, Arc<Heard>),
    ) -> Result<Start> {
        let home = place.join("home");
        let options = Options::new(&home, Access::ReadWrite);
        let store = Store::open(&options)?;
        let mut settings = world_settings(&self.config, &self.scrubber)?;
        settings.spool = Some(store.spool());
        let folders = [root.to_owned()];
        let commands = CommandSettings::read(&self.config);
        settings.confine =
            commands.confine_from(self.place.path(), &folders, &settings.env).await?;
        let mut policy = policy::configured(&self.config, root, &settings.shell);
        policy.overlay = matches!(settings.confine, Confine::Overlay(..));
        settings.little = policy.little;
        let rules = Rulebook::read(policy.clone())?;
        settings.unread = policy::unread(&rules);
        settings.ruled = Ruled(rules.ruled().cloned().collect());
        let told = commands.description_for_model(&settings.confine);
        let mut surroundings = place::surroundings(&settings.shell, (told, policy.overlay));
        // It is the model that is looked at, not what a person tells it.
        surroundings.own = None;
        Ok(Start {
            store,
            surroundings,
            world: Arc::new(World::with_folders(Workspace::open(root)?, &[], settings)?),
            provider,
            sink: heard,
            root: root.to_string_lossy().into_owned(),
            mode: Mode::AcceptEdits,
            after_plan: None,
            approval: Approval::Nobody,
            flags: Flags::default(),
            policy,
            caps: Caps { turns: TURNS, ops: u32::try_from(self.config.count("max_ops"))?, cost },
            budgets: Budgets::default(),
            settings: Settings {
                model: self.model.clone(),
                scrubber: self.scrubber.clone(),
                longest: Longest::Held(self.most),
                manner: way.manner(),
                ..Settings::default()
            },
        })
    }
}

impl Way {
    /// How a run writes that is tried so.
    fn manner(self) -> Manner {
        let only: &[&str] = if self.small { &manner::small(self.surface) } else { &[] };
        Manner {
            surface: self.surface,
            small: self.small,
            tools: only.iter().map(|name| (*name).to_owned()).collect(),
            tool_use: ToolUse::Free,
        }
    }
}

/// Who ended a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// The model, or a rule.
    Own,
    /// Whoever started the probe.
    Interrupted,
    /// The clock.
    Late,
}

/// Drives a run to its end.
async fn driven(
    driver: &mut Driver,
    commands: &UnboundedSender<Command>,
    signals: &mut Signals,
) -> Result<Ending> {
    let deadline = Instant::now() + LONGEST;
    let mut ending = Ending::Own;
    let mut driving = Box::pin(driver.drive(None));
    loop {
        tokio::select! {
            ended = &mut driving => {
                ended?;
                return Ok(ending);
            }
            () = signals.one() => {
                ending = Ending::Interrupted;
                let _ = commands.send(Command::Abort("interrupted".to_owned()));
            }
            () = tokio::time::sleep_until(deadline), if ending == Ending::Own => {
                ending = Ending::Late;
                let _ = commands.send(Command::Abort("the task took too long".to_owned()));
            }
        }
    }
}

/// What is heard of a run.
#[derive(Default)]
struct Heard {
    watch: Watch,
    facts: Mutex<Vec<Fact>>,
    /// Why the model is asked once more, until it replies.
    trouble: Mutex<Option<String>>,
}

impl Sink for Heard {
    fn event(&self, event: &Event) {
        self.watch.look(event);
        if let (Event::Retrying { why, .. }, Ok(mut trouble)) = (event, self.trouble.lock()) {
            *trouble = Some(why.clone());
        }
        let Event::Fact { fact, .. } = event else { return };
        if let (Body::Reply(_), Ok(mut trouble)) = (&fact.body, self.trouble.lock()) {
            *trouble = None;
        }
        if let Ok(mut facts) = self.facts.lock() {
            facts.push((**fact).clone());
        }
    }
}

impl Heard {
    /// What the provider last complained about, if no reply came since.
    fn trouble(&self) -> Option<String> {
        self.trouble.lock().ok().and_then(|trouble| trouble.clone())
    }

    /// Whether it ended because no connection could be made.
    fn is_unreached(&self) -> bool {
        let unreached = FaultClass::Unreachable.as_str();
        let is_it =
            |fact: &Fact| matches!(&fact.body, Body::Fault(fault) if fault.class == unreached);
        self.facts.lock().is_ok_and(|facts| facts.iter().any(is_it))
    }

    /// How its replies were. One is admitted if nothing in it makes no sense and, where only what is asked for
    /// counts, it asks for something.
    fn tried(&self, surface: Surface) -> Tried {
        let facts = self.facts.lock().map(|facts| facts.clone()).unwrap_or_default();
        let mut tried = Tried::default();
        let mut is_plain = false;
        for (n, fact) in facts.iter().enumerate() {
            let reply = match &fact.body {
                Body::Ask(ask) => {
                    is_plain = ask.plain;
                    continue;
                }
                Body::Reply(reply) => reply,
                _ => continue,
            };
            let intents = facts[n..].iter().filter_map(|fact| match &fact.body {
                Body::Intent(one) if (one.at.lap, one.at.turn) == (reply.lap, reply.turn) => {
                    Some(one)
                }
                _ => None,
            });
            let is_read =
                reply.problems.is_none() && intents.clone().all(|one| one.problem.is_none());
            let must_ask = surface.is_text() && !is_plain && !reply.is_final;
            tried.replies += 1;
            tried.valid += u64::from(is_read && (!must_ask || intents.count() > 0));
            tried.tally.add(reply.usage, reply.cost);
        }
        tried
    }
}

fn laid_out(task: &Task, root: &Path) -> Result<()> {
    fs::create_dir_all(root)?;
    for (path, text) in task.files {
        let path = root.join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, text)?;
    }
    Ok(())
}

/// Whether what a task wants holds. Blanks at the end of a file do not matter.
fn holds(task: &Task, root: &Path, answer: &str) -> Result<bool> {
    let mut wanted: BTreeMap<String, &str> =
        task.files.iter().map(|(path, text)| ((*path).to_owned(), text.trim_end())).collect();
    for (path, after) in task.after {
        match after {
            Some(text) => drop(wanted.insert((*path).to_owned(), text)),
            None => drop(wanted.remove(*path)),
        }
    }
    let there = files(root)?;
    let is_there = there.len() == wanted.len()
        && there.iter().zip(&wanted).all(|((path, text), (wanted, expected))| {
            path == wanted && text.trim_end() == *expected
        });
    let answer = answer.to_lowercase();
    let says = |words: &&str| words.split('|').any(|word| answer.contains(word));
    Ok(is_there && task.says.iter().all(says) && !task.never.iter().any(says))
}

/// The files beneath a folder with their texts, but for what begins with a point.
fn files(root: &Path) -> Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    let mut folders: Vec<PathBuf> = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for item in fs::read_dir(&folder)? {
            let item = item?;
            let (path, kind) = (item.path(), item.file_type()?);
            if item.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            if kind.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(root)?.to_string_lossy().into_owned();
            let text = if kind.is_file() { fs::read(&path)? } else { Vec::new() };
            found.insert(name, String::from_utf8_lossy(&text).into_owned());
        }
    }
    Ok(found)
}

/// A folder that is gone when this is.
pub struct Temporary(PathBuf);

impl Temporary {
    /// One where temporary things lie.
    pub fn new() -> Result<Temporary> {
        let above = std::env::temp_dir();
        let above = above.canonicalize().with_context(|| {
            format!("there is no folder for temporary things at {}", above.display())
        })?;
        Temporary::within(&above)
    }

    fn within(above: &Path) -> Result<Temporary> {
        let path = above.join(format!("cairn-probe-{}", new_run_id()));
        let made = fs::DirBuilder::new().mode(0o700).create(&path);
        made.with_context(|| format!("{} cannot be made", path.display()))?;
        Ok(Temporary(path))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // What cannot be removed is left to whoever sweeps temporary things.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tasks::TASKS;
    use super::*;

    /// What a task comes to when it is done to the letter, and when nothing is.
    #[test]
    fn every_task_holds_when_it_was_done_and_not_when_another_file_was_lost() {
        for task in TASKS {
            let place = Temporary::new().unwrap();
            let root = place.path().join("work");
            laid_out(task, &root).unwrap();
            let is_kept = task.after.is_empty() && task.says.is_empty();
            assert_eq!(holds(task, &root, "").unwrap(), is_kept, "{}", task.name);
            for (path, after) in task.after {
                let path = root.join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                match after {
                    Some(text) => fs::write(path, format!("{text}\n")).unwrap(),
                    None => fs::remove_file(path).unwrap(),
                }
            }
            let first = |words: &&str| words.split('|').next().unwrap().to_uppercase();
            let answer: Vec<String> = task.says.iter().map(first).collect();
            assert!(holds(task, &root, &answer.join(" ")).unwrap(), "{}", task.name);
            fs::write(root.join("stray.txt"), "").unwrap();
            assert!(!holds(task, &root, &answer.join(" ")).unwrap(), "{}", task.name);
        }
    }
}
