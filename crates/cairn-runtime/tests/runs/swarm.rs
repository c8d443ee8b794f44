//! Many runs at once over one home, in one process and in two.

use crate::kit::{Told, block_on, script, start, store};
use cairn_runtime::{Pause, Place};
use cairn_store::Verdict;
use cairn_testkit::{ModelServer, TempHome};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const RUNS: usize = 25;
const HOME: &str = "CAIRN_TEST_SHARED";

fn replies() -> Vec<Value> {
    let turn = json!({"calls": [
        {"tool": "bash", "args": {"command": "echo x >> log.txt; sleep 0.02"}},
        {"tool": "read", "args": {"path": "log.txt", "limit": 1}}]});
    let mut replies = vec![turn; 6];
    replies.push(json!({"say": "done"}));
    replies
}

/// Twenty-five runs side by side over one root; every fact that was told is in the store.
fn swarm(home: &Path, workspace: &Path) {
    let model = ModelServer::start(script(&replies()));
    let store = store(home);
    block_on(tokio::task::LocalSet::new().run_until(async {
        let runs = (0..RUNS).map(|_| {
            let told = Arc::new(Told::default());
            let start = start(&store, workspace, &model.url(), told.clone());
            tokio::task::spawn_local(async move {
                let place = Place::New { new_session: false, name: None };
                let (mut driver, _commands) = start.take(place, Some("work")).await.unwrap();
                assert_eq!(driver.drive(None).await.unwrap(), Pause::Idle);
                (driver.run_id().clone(), told.all())
            })
        });
        for run in runs.collect::<Vec<_>>() {
            let (run, told) = run.await.unwrap();
            let facts = store.facts(&run, 0).unwrap();
            let stored: Vec<_> = facts.iter().map(|f| (f.n, f.body.kind().to_owned())).collect();
            assert_eq!(stored, told, "run {run}");
            assert_eq!(stored.last().unwrap().1, "end");
        }
    }));
}

/// The folder another test shares with this process.
#[allow(clippy::disallowed_methods, reason = "tests of two processes agree by the environment")]
fn shared() -> Option<PathBuf> {
    std::env::var_os(HOME).map(PathBuf::from)
}

// keeps: many-runs-one-home
#[test]
fn twenty_five_runs_share_one_process_and_one_home() {
    match shared() {
        Some(folder) => swarm(&folder.join("home"), &folder.join("workspace")),
        None => {
            let temp = TempHome::new();
            swarm(&temp.home(), &temp.workspace());
        }
    }
}

// keeps: many-runs-one-home
#[test]
#[allow(clippy::disallowed_methods, reason = "two processes are the point")]
fn two_processes_with_fifty_runs_lose_nothing_and_share_one_session() {
    let temp = TempHome::new();
    let process = || {
        std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "swarm::twenty_five_runs_share_one_process_and_one_home",
                "--nocapture",
            ])
            .env(HOME, temp.path())
            .spawn()
            .unwrap()
    };
    for mut process in [process(), process()] {
        assert!(process.wait().unwrap().success());
    }
    let store = store(&temp.home());
    let sessions = store.sessions().unwrap();
    assert_eq!(sessions.len(), 1, "one root is one session");
    let runs = store.runs(&sessions[0].id).unwrap();
    assert_eq!(runs.iter().filter(|run| run.name.is_none()).count(), 2 * RUNS);
    assert_eq!(store.verify_session(&sessions[0].id, None).unwrap().verdict, Verdict::Unanchored);
}
