//! Signals that end a program: the run is recorded as cancelled, and a signal that whoever started it wanted
//! ignored is ignored.

use crate::bench_world::{Bench, Talk};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::process::Command;
use std::time::Duration;

/// A running `cairn run --json` whose model has been asked and takes this long to answer. The signals do what
/// `env` is told (`--default-signal`, `--ignore-signal`), whatever this test itself was started with.
fn asked(bench: &Bench, signals: &str, delay: Duration) -> Talk {
    bench.model.delay(delay);
    let run = bench.command(&["run", "--json", "work"]);
    #[allow(clippy::disallowed_methods, reason = "tests start the program")]
    let mut command = Command::new("env");
    command.arg(signals).arg(run.get_program()).args(run.get_args());
    command.env_clear().envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(bench.temp.workspace()).stdout(std::process::Stdio::piped());
    let mut talk = Talk::with(&mut command);
    talk.until("turn/asked");
    talk
}

fn send(talk: &Talk, signal: Signal) {
    kill_process(Pid::from_child(&talk.child), signal).unwrap();
}

fn ended(talk: &Talk) -> Vec<&Value> {
    talk.seen.iter().filter(|event| event["type"] == "loop/ended").collect()
}

// keeps: interrupts
#[test]
fn sigterm_and_sighup_cancel_the_loop_as_ctrl_c_does() {
    for (signal, why) in [
        (Signal::TERM, "terminated by SIGTERM"),
        (Signal::HUP, "hung up (SIGHUP)"),
        (Signal::INT, "interrupted"),
    ] {
        let bench = Bench::new(json!([{"say": "never told"}]));
        let mut talk = asked(&bench, "--default-signal=HUP,INT,TERM", Duration::from_secs(60));
        send(&talk, signal);
        // A terminal that closes sends it twice.
        if signal != Signal::INT {
            send(&talk, signal);
        }
        talk.until("loop/ended");
        assert_eq!(ended(&talk)[0]["status"], 499, "{signal:?}");
        let result = talk.result();
        assert_eq!(result["status"], "cancelled", "{signal:?}: {result}");
        assert_eq!((&result["exit_code"], &result["why"]), (&json!(3), &json!(why)));
        let listed = bench.cairn(&["sessions"]).out;
        assert!(listed.contains("cancelled"), "{listed}");
    }
}

// keeps: interrupts
#[test]
fn a_signal_that_was_ignored_when_the_program_started_stays_ignored() {
    for signal in [Signal::HUP, Signal::INT, Signal::TERM] {
        let bench = Bench::new(json!([{"say": "finished"}]));
        let talk = asked(&bench, "--ignore-signal=HUP,INT,TERM", Duration::from_millis(300));
        send(&talk, signal);
        send(&talk, signal);
        let result = talk.result();
        assert_eq!((&result["status"], &result["answer"]), (&json!("done"), &json!("finished")));
    }
}
