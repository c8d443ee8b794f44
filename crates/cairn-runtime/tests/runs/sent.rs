//! What a person says while a command runs over an overlay, driven step by step: that it goes to the
//! background, or words.

use crate::kit::{block_on, script, start, store};
use cairn_runtime::{Command, Driver, Event, Pause, Place, Sink, Start};
use cairn_sandbox::{Level, Sandbox, Surroundings};
use cairn_store::Store;
use cairn_testkit::{ModelServer, TempHome};
use cairn_types::{Body, Policy, PrivatePlaces, RunId, StreamState};
use cairn_world::{Confine, Workspace, World};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc::UnboundedSender;

/// Says something as soon as the command that runs prints, and keeps what is said to a person.
#[derive(Default)]
struct Sender {
    says: Mutex<Option<(UnboundedSender<Command>, Command)>>,
    notices: Mutex<Vec<String>>,
}

impl Sink for Sender {
    fn event(&self, event: &Event) {
        match event {
            Event::Output { .. } => {
                if let Some((commands, command)) = self.says.lock().unwrap().take() {
                    commands.send(command).unwrap();
                }
            }
            Event::Notice(text) => self.notices.lock().unwrap().push(text.clone()),
            _ => {}
        }
    }
}

struct Bench {
    temp: TempHome,
    model: ModelServer,
    store: Store,
    sender: Arc<Sender>,
}

fn bash(command: &str) -> Value {
    json!({"calls": [{"tool": "bash", "args": {"command": command}}]})
}

/// Prints, changes something, and waits for what is written outside.
const WAITS: &str = "echo begun; echo mine > a; until grep -q go flag; do sleep 0.01; done";

impl Bench {
    fn new(replies: &[Value]) -> Bench {
        let temp = TempHome::new();
        let store = store(&temp.home());
        temp.write("flag", "wait\n");
        Bench { temp, model: ModelServer::start(script(replies)), store, sender: Arc::default() }
    }

    /// With commands over an overlay.
    fn start(&self) -> Start {
        let env = vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())];
        let layers = self.temp.home().join("overlays");
        std::fs::create_dir_all(&layers).unwrap();
        let mut private = PrivatePlaces::default();
        private.seal(&self.temp.home());
        let sandbox = Sandbox::new(Surroundings {
            home: None,
            env: env.clone(),
            private,
            own: self.temp.home().join("sandbox"),
            level: Level::Workspace,
            processes: 512,
            memory: None,
            overlays: true,
        });
        let mut settings = cairn_world::Settings::new("/bin/sh".into(), env);
        settings.spool = Some(self.store.spool());
        settings.confine = Confine::Overlay(Arc::new(sandbox), layers);
        let workspace = Workspace::open(&self.temp.workspace()).unwrap();
        let started = start(&self.store, &self.temp.workspace(), &self.model.url(), Arc::default());
        let sink: Arc<dyn Sink> = self.sender.clone();
        let policy = Policy { overlay: true, ..Policy::default() };
        Start { world: Arc::new(World::new(workspace, settings)), sink, policy, ..started }
    }

    async fn driver(&self) -> (Driver, UnboundedSender<Command>) {
        let place = Place::New { new_session: false, name: None };
        let (driver, commands) = self.start().take(place, Some("work")).await.unwrap();
        *self.sender.says.lock().unwrap() = Some((commands.clone(), Command::Background(None)));
        (driver, commands)
    }

    /// Drives step by step until something is so.
    async fn until(&self, driver: &mut Driver, is_so: impl Fn(&Driver) -> bool) {
        while !is_so(driver) {
            assert_eq!(driver.drive(Some(1)).await.unwrap(), Pause::Steps);
        }
    }

    fn go(&self) {
        self.temp.write("flag", "go\n");
    }

    fn kinds(&self, run: &RunId) -> Vec<String> {
        let facts = self.store.facts(run, 0).unwrap();
        facts.iter().map(|fact| fact.body.kind().to_owned()).collect()
    }

    /// Statuses of all ops, and how the model was told of them.
    fn outcomes(&self, run: &RunId) -> Vec<(u16, String)> {
        let facts = self.store.facts(run, 0).unwrap();
        let outcomes = facts.iter().filter_map(|fact| match &fact.body {
            Body::Outcome(outcome) => {
                let told = self.store.content(&outcome.result.hash).unwrap();
                Some((outcome.status.0, String::from_utf8(told).unwrap()))
            }
            _ => None,
        });
        outcomes.collect()
    }
}

// keeps: sent-to-background
#[test]
fn a_loop_waits_for_its_command_also_where_another_one_is_queued() {
    let replies =
        [bash(WAITS), json!({"say": "one"}), json!({"say": "two"}), json!({"say": "three"})];
    let bench = Bench::new(&replies);
    let run = block_on(async {
        let (mut driver, commands) = bench.driver().await;
        commands.send(Command::Prompt("more".to_owned())).unwrap();
        bench.until(&mut driver, |driver| driver.engine().totals().turns() == 2).await;
        assert!(
            driver.engine().lap_in_run().is_some_and(|lap| lap.lingers()) && driver.running() == 1
        );
        bench.go();
        assert_eq!(driver.drive(None).await.unwrap(), Pause::Idle);
        driver.run_id().clone()
    });
    assert_eq!(std::fs::read_to_string(bench.temp.workspace().join("a")).unwrap(), "mine\n");
    let kinds = bench.kinds(&run).join(" ");
    // What the test itself wrote is told, too.
    let expected = "intent decision outcome ask reply stream intent decision begin outcome delta ask \
                    reply end ask reply end";
    assert!(kinds.ends_with(expected), "{kinds}");
    let outcomes = bench.outcomes(&run);
    assert_eq!((outcomes[0].0, outcomes[1].0), (102, 200));
    assert!(outcomes[0].1.starts_with("a person sent it to the background"), "{}", outcomes[0].1);
    assert_eq!(outcomes[1].1, "begun\nexit=0\nkept: new a");
    let notices = bench.sender.notices.lock().unwrap().concat();
    assert!(notices.contains("waiting for 1/1/1"), "{notices}");
}

// keeps: sent-to-background
#[test]
fn a_driver_that_stops_loses_it_and_the_next_one_tells_so() {
    let bench = Bench::new(&[bash(WAITS), json!({"say": "one"}), json!({"say": "two"})]);
    let run = block_on(async {
        let (mut driver, _commands) = bench.driver().await;
        bench.until(&mut driver, |driver| driver.engine().totals().turns() == 2).await;
        let (run, session) = (driver.run_id().clone(), driver.session_id().clone());
        drop(driver);
        bench.go();
        let place = Place::Existing { run: run.clone(), session };
        let (mut driver, _commands) = bench.start().take(place, None::<&str>).await.unwrap();
        assert_eq!(driver.drive(None).await.unwrap(), Pause::Idle);
        run
    });
    assert!(!bench.temp.workspace().join("a").exists());
    let lost = "what it changed is lost with the program that held it";
    assert_eq!(bench.outcomes(&run)[1], (410, lost.to_owned()));
    let facts = bench.store.facts(&run, 0).unwrap();
    let stream = facts.iter().find_map(|fact| match &fact.body {
        Body::Stream(stream) => Some(stream.state),
        _ => None,
    });
    assert_eq!(stream, Some(StreamState::Lost));
}

// keeps: sent-to-background
#[test]
fn nothing_is_sent_where_nothing_runs() {
    let bench = Bench::new(&[json!({"say": "done"})]);
    block_on(async {
        let (mut driver, commands) = bench.driver().await;
        commands.send(Command::Background(None)).unwrap();
        assert_eq!(driver.drive(None).await.unwrap(), Pause::Idle);
    });
    let none = "no command is being waited for, so there is none to send to the background";
    assert_eq!(*bench.sender.notices.lock().unwrap(), [none]);
}

// keeps: steering
#[test]
fn words_while_a_command_runs_leave_it_its_changes_and_skip_what_follows() {
    let calls = [
        json!({"tool": "bash", "args": {"command": "echo begun; echo mine > a"}}),
        json!({"tool": "bash", "args": {"command": "echo never > b"}}),
    ];
    let bench = Bench::new(&[json!({"calls": calls}), json!({"say": "heard"})]);
    let run = block_on(async {
        let (mut driver, commands) = bench.driver().await;
        let words = Command::Steer("words".to_owned());
        *bench.sender.says.lock().unwrap() = Some((commands, words));
        assert_eq!(driver.drive(None).await.unwrap(), Pause::Idle);
        driver.run_id().clone()
    });
    assert_eq!(bench.temp.read("a"), "mine\n");
    assert!(!bench.temp.workspace().join("b").exists());
    let outcomes = bench.outcomes(&run);
    assert_eq!(outcomes[0], (200, "begun\nexit=0\nkept: new a".to_owned()));
    let skipped = "not performed: the person said something meanwhile; it follows";
    assert_eq!(outcomes[1], (499, skipped.to_owned()));
    let facts = bench.store.facts(&run, 0).unwrap();
    let begun = facts.iter().find_map(|fact| match &fact.body {
        Body::Steer(steer) => steer.begun,
        _ => None,
    });
    assert_eq!(begun, Some("1/1/1".parse().unwrap()), "the log alone says why it was not skipped");
}
