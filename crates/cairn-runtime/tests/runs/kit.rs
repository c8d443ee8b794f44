//! What every test here needs: a store, a world, a model over HTTP, and someone who listens.

use cairn_provider::http::{Config, Http, Wire};
use cairn_provider::scripted::Script;
use cairn_provider::{Abilities, Limits};
use cairn_runtime::{Event, Settings, Sink, Start, Surroundings};
use cairn_store::{Access, Options, Store};
use cairn_types::{Approval, Caps, Flags, Mode, Policy, PolicyRule, RuleFrom, RuleWord};
use cairn_world::{Workspace, World};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};

pub fn script(replies: &[Value]) -> Script {
    let script = json!({"cairn_script": 1, "name": "test", "replies": replies});
    Script::parse(&script.to_string()).unwrap()
}

pub fn store(home: &Path) -> Store {
    Store::open(&Options::new(home, Access::ReadWrite)).unwrap()
}

/// Keeps the cursors that were told.
#[derive(Default)]
pub struct Told(Mutex<Vec<(u64, String)>>);

impl Sink for Told {
    fn event(&self, event: &Event) {
        if let Event::Fact { fact, .. } = event {
            self.0.lock().unwrap().push((fact.n, fact.body.kind().to_owned()));
        }
    }
}

impl Told {
    pub fn all(&self) -> Vec<(u64, String)> {
        self.0.lock().unwrap().clone()
    }
}

/// A model at `url` that is asked once.
pub fn config(url: &str, wire: Wire) -> Config {
    Config {
        limits: Limits { attempts: 1, ..Limits::default() },
        abilities: Abilities { reasoning: true, ..Abilities::default() },
        ..Config::new("test", wire, url, "test")
    }
}

/// Everything to start a run over `workspace` with the model at `url`.
pub fn start(store: &Store, workspace: &Path, url: &str, told: Arc<Told>) -> Start {
    start_with(store, workspace, config(url, Wire::Chat), told)
}

/// The same with a model configured like this.
pub fn start_with(store: &Store, workspace: &Path, config: Config, told: Arc<Told>) -> Start {
    let env = vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())];
    let mut settings = cairn_world::Settings::new("/bin/sh".into(), env);
    settings.spool = Some(store.spool());
    Start {
        store: store.clone(),
        world: Arc::new(World::new(Workspace::open(workspace).unwrap(), settings)),
        provider: Arc::new(Http::new(config).unwrap()),
        sink: told,
        root: workspace.to_string_lossy().into_owned(),
        surroundings: Surroundings { date: "2026-01-31".to_owned(), ..Surroundings::default() },
        mode: Mode::Act,
        after_plan: None,
        approval: Approval::Yolo,
        flags: Flags::default(),
        policy: Policy::default(),
        caps: Caps { turns: 1000, ops: 32, cost: None },
        budgets: Default::default(),
        settings: Settings { model: "test/test".to_owned(), ..Settings::default() },
    }
}

pub fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// The rules of whoever starts a run: `allow exec`, `deny read a`.
pub fn rules(rules: &[&str]) -> Policy {
    let rule = |text: &&str| {
        let (word, rule) = text.split_once(' ').unwrap();
        let word = if word == "deny" { RuleWord::Deny } else { RuleWord::Allow };
        let (rule, place) = (rule.to_owned(), "a test".to_owned());
        PolicyRule { word, rule, from: RuleFrom::User, place, until: None }
    };
    Policy { rules: rules.iter().map(rule).collect(), ..Policy::default() }
}
