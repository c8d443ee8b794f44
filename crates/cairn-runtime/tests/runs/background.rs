//! Commands in the background: used, looked at, removed, ended with the driver, lost with it.

use crate::kit::{Told, block_on, script, start, store};
use cairn_runtime::{Driver, Pause, Place};
use cairn_store::Store;
use cairn_testkit::{ModelServer, TempHome};
use cairn_types::{Body, Hash, RunId, Stream, StreamState};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const HOME: &str = "CAIRN_TEST_BACKGROUND";

fn bash(command: &str) -> Value {
    json!({"calls": [{"tool": "bash", "args": {"command": command}}]})
}

fn beside(command: &str) -> Value {
    json!({"calls": [{"tool": "bash", "args": {"command": command, "background": true}}]})
}

fn read(path: &str) -> Value {
    json!({"calls": [{"tool": "read", "args": {"path": path}}]})
}

fn remove(path: &str) -> Value {
    json!({"calls": [{"tool": "remove", "args": {"path": path}}]})
}

/// Waits in a command for a file that another one makes.
fn until(file: &str) -> String {
    format!("until [ -e {file} ]; do sleep 0.01; done")
}

/// How many processes work in the folder.
fn at_work(folder: &Path) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let works = |cwd: std::path::PathBuf| cwd.starts_with(folder);
    processes.filter(|p| std::fs::read_link(p.path().join("cwd")).is_ok_and(works)).count()
}

/// A workspace, its home, and a model that says these things and then that it is done.
struct Bench {
    temp: TempHome,
    model: ModelServer,
    store: Store,
}

impl Bench {
    fn new(replies: &[Value]) -> Bench {
        let temp = TempHome::new();
        let replies = [replies, &[json!({"say": "done"})]].concat();
        let store = store(&temp.home());
        Bench { temp, model: ModelServer::start(script(&replies)), store }
    }

    async fn driver(&self) -> Driver {
        let told = Arc::new(Told::default());
        let start = start(&self.store, &self.temp.workspace(), &self.model.url(), told);
        let place = Place::New { new_session: false, name: None };
        start.take(place, Some("work")).await.unwrap().0
    }

    /// Drives to the end; nothing is at work afterwards.
    fn drive(&self) -> RunId {
        let run = block_on(async {
            let mut driver = self.driver().await;
            assert_eq!(driver.drive(None).await.unwrap(), Pause::Idle);
            driver.run_id().clone()
        });
        assert_eq!(at_work(&self.temp.workspace()), 0);
        run
    }

    /// What became of each op: its status and what the model was told.
    fn told(&self, run: &RunId) -> Vec<String> {
        let facts = self.store.facts(run, 0).unwrap();
        let outcomes = facts.iter().filter_map(|fact| match &fact.body {
            Body::Outcome(outcome) => {
                let text = self.store.content(&outcome.result.hash).unwrap();
                Some(format!("{} {}", outcome.status, String::from_utf8(text).unwrap()))
            }
            _ => None,
        });
        outcomes.collect()
    }

    fn streams(&self, run: &RunId) -> Vec<Stream> {
        let facts = self.store.facts(run, 0).unwrap();
        let streams = facts.into_iter().filter_map(|fact| match fact.body {
            Body::Stream(stream) => Some(stream),
            _ => None,
        });
        streams.collect()
    }
}

const RUNNING: &str = "102 running in the background; its output is log:///1/1/1#output";

// keeps: background
#[test]
fn a_server_in_the_background_serves_and_ends_with_the_work() {
    let serve = "mkfifo ask answer; touch up; while read line < ask; do echo asked $line; \
                 echo got $line > answer; done";
    let ask = format!("{}; echo tea > ask; cat answer", until("up"));
    let bench = Bench::new(&[beside(serve), bash(&ask), read("log:///1/1/1#output")]);
    let run = bench.drive();
    let served = ["200 got tea\nexit=0", "200 1\tasked tea\nrunning"];
    assert_eq!(bench.told(&run), [&[RUNNING], &served[..]].concat());
    let stream = bench.streams(&run).remove(0);
    assert_eq!((stream.state, stream.exit), (StreamState::Stopped, None));
    assert_eq!(stream.output.unwrap().hash, Hash::of(b"asked tea\n"));
    assert!(!stream.layers.is_empty());
    let facts = bench.store.facts(&run, 0).unwrap();
    let kinds: Vec<&str> = facts.iter().map(|fact| fact.body.kind()).collect();
    assert_eq!(
        kinds[kinds.len() - 2..],
        ["stream", "end"],
        "its end is recorded before the loop's"
    );
}

// keeps: background
#[test]
fn what_it_printed_grows_and_its_end_is_recorded_when_it_comes() {
    let command =
        format!("echo one; touch a; {}; echo two; touch c; {}; exit 3", until("b"), until("d"));
    let output = "log:///1/1/1#output";
    let bench = Bench::new(&[
        beside(&command),
        bash(&until("a")),
        read(output),
        bash(&format!("touch b; {}", until("c"))),
        read(output),
        bash("touch d"),
        read(output),
    ]);
    let run = block_on(async {
        let mut driver = bench.driver().await;
        while !bench.temp.workspace().join("d").exists() {
            assert_eq!(driver.drive(Some(1)).await.unwrap(), Pause::Steps);
        }
        while driver.running() > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(driver.drive(None).await.unwrap(), Pause::Idle);
        driver.run_id().clone()
    });
    let reads =
        ["200 1\tone\nrunning", "200 1\tone\n2\ttwo\nrunning", "200 1\tone\n2\ttwo\nexit=3"];
    let told = bench.told(&run);
    assert_eq!([&told[2], &told[4], &told[6]], reads.each_ref());
    let streams = bench.streams(&run);
    assert_eq!(streams.len(), 1);
    assert_eq!((streams[0].state, streams[0].exit), (StreamState::Exited, Some(3)));
    let kept = streams[0].output.as_ref().unwrap().kept.hash;
    assert_eq!(bench.store.content(&kept).unwrap(), b"one\ntwo\n");
}

// keeps: background
#[test]
fn one_that_is_removed_ends_with_all_it_started_and_is_gone_after_that() {
    let deaf = "trap '' TERM HUP; (setsid sh -c 'sleep 7400' &); echo up; touch up; sleep 7400";
    let row = "log:///1/1/1";
    let gone = format!("410 {row} is over: removed, everything it started was ended");
    let bench = Bench::new(&[
        beside(deaf),
        bash(&until("up")),
        json!({"calls": [{"tool": "remove", "args": {"path": row}}, {"tool": "remove", "args": {"path": row}}]}),
        bash("ls"),
        remove(row),
        read("log:///1/1/1#output"),
        remove("log:///1/2/1"),
        remove("log:///1/2/9"),
        remove("log:///one"),
    ]);
    let run = bench.drive();
    let expected = [
        RUNNING,
        "200 exit=0",
        "200 removed, everything it started was ended",
        &gone,
        "200 up\nexit=0",
        &gone,
        "200 1\tup\nremoved, everything it started was ended",
        "403 log:///1/2/1 is a row, and rows stay; only what runs in the background is ended so",
        "404 log:///1/2/9 is no command in the background of this run",
        "400 log:///one is not the address of a row, such as log:///1/2/3",
    ];
    assert_eq!(bench.told(&run), expected);
    let streams = bench.streams(&run);
    assert_eq!(streams.iter().map(|s| s.state).collect::<Vec<_>>(), [StreamState::Removed]);
}

// keeps: background
#[test]
fn no_more_than_sixteen_run_at_a_time() {
    let call = json!({"tool": "bash", "args": {"command": "sleep 7500", "background": true}});
    let bench = Bench::new(&[json!({"calls": vec![call; 17]}), bash("echo still")]);
    let run = bench.drive();
    let told = bench.told(&run);
    assert_eq!(told.iter().filter(|text| text.starts_with("102 running")).count(), 16);
    assert_eq!(told[16], "429 16 commands run in the background, and no more may");
    assert_eq!(told[17], "200 still\nexit=0");
    let streams = bench.streams(&run);
    assert!(streams.len() == 16 && streams.iter().all(|s| s.state == StreamState::Stopped));
}

// keeps: background
#[test]
fn one_that_ends_at_once_is_read_with_its_exit_code() {
    let bench = Bench::new(&[beside("exit 7"), read("log:///1/1/1#output")]);
    let run = block_on(async {
        let mut driver = bench.driver().await;
        while driver.engine().totals().turns() < 1 || driver.engine().streams().next().is_none() {
            driver.drive(Some(1)).await.unwrap();
        }
        while driver.running() > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        driver.drive(None).await.unwrap();
        driver.run_id().clone()
    });
    assert_eq!(bench.told(&run)[1], "200 (empty)\nexit=7");
}

/// What the driver that is killed works on, and the one after it.
fn interrupted() -> Vec<Value> {
    let command = "(setsid sh -c 'sleep 7600' &); echo up; touch up; sleep 7600";
    vec![
        beside(command),
        bash(&format!("{}; touch both; sleep 7600", until("up"))),
        read("log:///1/1/1#output"),
        remove("log:///1/1/1"),
        json!({"say": "done"}),
    ]
}

/// Not a promise: the driver that `a_killed_driver…` kills.
#[test]
#[allow(clippy::disallowed_methods, reason = "tests of two processes agree by the environment")]
fn helper_that_is_killed() {
    let Some(folder) = std::env::var_os(HOME).map(std::path::PathBuf::from) else { return };
    let model = ModelServer::start(script(&interrupted()));
    let store = store(&folder.join("home"));
    let start = start(&store, &folder.join("workspace"), &model.url(), Arc::default());
    block_on(async {
        let place = Place::New { new_session: false, name: None };
        let (mut driver, _commands) = start.take(place, Some("work")).await.unwrap();
        driver.drive(None).await.unwrap();
    });
}

// keeps: background, no-survivors
#[test]
#[allow(clippy::disallowed_methods, reason = "a process is killed")]
fn a_killed_driver_leaves_no_process_and_the_next_one_says_that_it_was_lost() {
    let temp = TempHome::new();
    let mut helper = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "background::helper_that_is_killed", "--nocapture"])
        .env(HOME, temp.path())
        .spawn()
        .unwrap();
    let wait = |what: &str, is_so: &dyn Fn() -> bool| {
        let until = Instant::now() + Duration::from_secs(60);
        while !is_so() {
            assert!(Instant::now() < until, "still waiting until {what}");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    wait("both commands run", &|| temp.workspace().join("both").exists());
    assert!(at_work(&temp.workspace()) >= 4);
    helper.kill().unwrap();
    helper.wait().unwrap();
    wait("nothing is at work", &|| at_work(&temp.workspace()) == 0);

    let store = store(&temp.home());
    let bench = Bench { model: ModelServer::start(script(&interrupted())), store, temp };
    let session = bench.store.sessions().unwrap().remove(0).id;
    let mut runs = bench.store.runs(&session).unwrap();
    runs.retain(|run| run.name.is_none());
    let run = runs.remove(0).id;
    let url = bench.model.url();
    let start = start(&bench.store, &bench.temp.workspace(), &url, Arc::default());
    block_on(async {
        let place = Place::Existing { run: run.clone(), session };
        let (mut driver, _commands) = start.take(place, None::<&str>).await.unwrap();
        assert_eq!(driver.drive(None).await.unwrap(), Pause::Idle);
    });
    let lost = "ended when the program was interrupted; its output is not known";
    let told = bench.told(&run);
    assert!(told[1].starts_with("500 the program was interrupted"), "{told:?}");
    assert_eq!(told[2..], [format!("200 {lost}"), format!("410 log:///1/1/1 is over: {lost}")]);
    assert_eq!(bench.streams(&run).remove(0), Stream::lost("1/1/1".parse().unwrap()));
}
