//! What is kept and shared: forks, garbage, bundles.

use crate::bench_world::Bench;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

fn bash(command: &str) -> Value {
    json!({"calls": [{"tool": "bash", "args": {"command": command}}]})
}

// keeps: gc
#[test]
fn gc_frees_contents_of_old_runs_and_the_session_still_verifies() {
    let bench = Bench::new(json!([bash("seq 1 200000"), {"say": "a lot of numbers"}]));
    assert_eq!(bench.cairn(&["run", "--yolo", "count"]).code, 0);
    let large = || {
        std::fs::read_dir(bench.temp.home().join("contents"))
            .unwrap()
            .flatten()
            .map(|folder| std::fs::read_dir(folder.path()).unwrap().count())
            .sum::<usize>()
    };
    assert_eq!(large(), 1, "the kept output is a file of its own");

    let young: Value = serde_json::from_str(&bench.cairn(&["gc", "--json"]).out).unwrap();
    assert_eq!(young["contents"], 0, "what is young stays");
    std::thread::sleep(std::time::Duration::from_millis(5));
    let dry: Value =
        serde_json::from_str(&bench.cairn(&["gc", "--keep-days", "0", "--dry-run", "--json"]).out)
            .unwrap();
    assert!(dry["bytes"].as_u64().unwrap() > 50_000, "{dry}");
    assert_eq!(large(), 1);
    for args in [&["gc", "--keep-days", "0"][..], &["gc", "--keep-days", "0", "--json"]] {
        let asked = bench.cairn(args);
        assert_eq!((asked.code, asked.out.as_str()), (2, ""), "{args:?}");
        assert!(asked.err.contains("nobody can be asked here, so add --yes"), "{}", asked.err);
    }
    assert_eq!(large(), 1, "nobody said yes");
    let freed = bench.cairn(&["gc", "--keep-days", "0", "--yes"]);
    assert!(freed.out.starts_with("freed "), "{freed:?}");
    assert_eq!(large(), 0);

    assert!(bench.cairn(&["log"]).out.contains("bash seq 1 200000"));
    let verified = bench.cairn(&["verify"]);
    assert_eq!(verified.code, 0, "{verified:?}");
    let gone = bench.cairn(&["run", "--yolo", "-c", "more"]);
    assert_eq!(gone.code, 1);
    assert!(gone.err.contains("freed by `cairn gc`"), "{}", gone.err);
    assert_eq!(bench.cairn(&["run", "--yolo", "afresh"]).code, 0);
}

// keeps: forks-share
#[test]
fn a_fork_shares_the_history_goes_its_own_way_and_costs_one_row() {
    let bench = Bench::new(json!([
        bash("echo one"),
        bash("echo two"),
        {"say": "end of the parent"},
        {"say": "end of a later loop"},
    ]));
    let events = bench.events(&["run", "--yolo", "--json", "work"]);
    let parent = events[0]["run"].as_str().unwrap();
    let fork: Value =
        serde_json::from_str(&bench.cairn(&["fork", "--run", parent, "--at", "1/1", "--json"]).out)
            .unwrap();
    let fork = fork["run"].as_str().unwrap().to_owned();
    let before = bench.model.requests().len();
    let went_on = bench.cairn(&["run", "--yolo", "--resume", &fork]);
    assert_eq!((went_on.code, went_on.out.as_str()), (0, "end of the parent\n"), "{}", went_on.err);
    let requests = bench.model.requests();
    assert_eq!(requests[before], requests[1], "the fork asks what its parent asked");
    assert_eq!(bench.cairn(&["verify"]).code, 0);
    let log = |run: &str| bench.cairn(&["log", run, "--facts", "--json"]).out;
    let shared = log(parent)
        .lines()
        .zip(log(&fork).lines().map(str::to_owned))
        .take_while(|(a, b)| a == b)
        .count();
    assert!(shared > 5, "only {shared} facts shared");
    let wrong = bench.cairn(&["fork", "--run", parent, "--at", "9/9"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("no finished turn 9/9"), "{}", wrong.err);
}

// keeps: bundle-verifies
#[test]
fn a_bundle_is_checked_anywhere_and_needs_its_anchor_to_be_verified() {
    let bench = Bench::new(json!([bash("echo one"), {"say": "done"}]));
    assert_eq!(bench.cairn(&["run", "--yolo", "work"]).code, 0);
    let file = bench.temp.path().join("audit.cairn");
    let file = file.to_str().unwrap();
    let written = bench.cairn(&["bundle", "-o", file]);
    assert_eq!(written.code, 0, "{}", written.err);
    let anchor = written.out.lines().find_map(|line| line.strip_prefix("anchor ")).unwrap();
    std::fs::remove_dir_all(bench.temp.home()).unwrap();
    let verdict = |args: &[&str]| {
        let done = bench.cairn(&[&["verify", file], args].concat());
        (done.code, done.out.split(':').next().unwrap().to_owned())
    };
    assert_eq!(verdict(&["--anchor", anchor]), (0, "VERIFIED".into()));
    assert_eq!(verdict(&[]), (0, "UNANCHORED".into()));
    assert_eq!(verdict(&["--anchor", &"0".repeat(64)]), (1, "REFUTED".into()));
    assert_eq!(verdict(&["--anchor", &anchor.to_uppercase()]), (0, "VERIFIED".into()));
    assert_eq!(verdict(&["--anchor", &anchor[..8]]).0, 2, "a part of an anchor proves nothing");
    std::fs::write(file, "hello").unwrap();
    assert_eq!(verdict(&[]), (7, "UNVERIFIABLE".into()));
}

#[test]
fn a_bundle_is_its_owners_alone_and_written_over_nothing_unless_forced() {
    let bench = Bench::new(json!([{"say": "done"}]));
    assert_eq!(bench.cairn(&["run", "--yolo", "work"]).code, 0);
    let path = bench.temp.path().join("audit.cairn");
    let file = path.to_str().unwrap();
    let mode = || std::fs::metadata(file).unwrap().permissions().mode() & 0o777;
    assert_eq!(bench.cairn(&["bundle", "-o", file]).code, 0);
    assert_eq!(mode(), 0o600);
    for content in ["hello", "{\"format\":\"cairn-bundle\""] {
        std::fs::write(file, content).unwrap();
        let over = bench.cairn(&["bundle", "-o", file]);
        assert_eq!(over.code, 2, "{}", over.out);
        assert!(
            over.err.contains("exists already") && over.err.contains("--force"),
            "{}",
            over.err
        );
        assert_eq!(std::fs::read_to_string(file).unwrap(), content);
    }
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(bench.cairn(&["bundle", "-o", file, "--force"]).code, 0);
    assert_eq!(mode(), 0o600);
    assert_eq!(bench.cairn(&["verify", file]).code, 0);
}
