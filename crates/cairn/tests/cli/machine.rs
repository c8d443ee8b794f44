//! `cairn doctor`, `config` with broken files, completions and the manual.

use crate::bench_world::{Bench, Done};
use serde_json::{Value, json};

fn bench() -> Bench {
    Bench::new(json!([{"say": "done"}]))
}

fn findings(done: &Done) -> Vec<Value> {
    done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn finding(done: &Done, what: &str) -> Value {
    let found = findings(done).into_iter().find(|finding| finding["what"] == what);
    found.unwrap_or_else(|| panic!("{what} in {done:?}"))
}

// keeps: doctor-says
#[test]
fn a_machine_that_works_is_said_to_work_before_and_after_the_first_run() {
    let bench = bench();
    let fresh = bench.cairn(&["doctor", "--json"]);
    assert_eq!(fresh.code, 0, "{fresh:?}");
    assert!(finding(&fresh, "database")["said"].as_str().unwrap().contains("none yet"));
    assert!(!bench.temp.home().join("cairn.db").exists(), "it only looks");
    assert_eq!(bench.cairn(&["run", "work"]).code, 0);
    let done = bench.cairn(&["doctor", "--json"]);
    assert_eq!(done.code, 0, "{done:?}");
    for what in
        ["version", "kernel", "openat2", "namespaces", "subreaper", "landlock", "memory", "home"]
    {
        assert_ne!(finding(&done, what)["level"], "problem");
    }
    assert!(finding(&done, "database")["said"].as_str().unwrap().contains("schema 9, sessions: 1"));
    assert_eq!(finding(&done, "model")["said"], "openai/test");
    assert!(finding(&done, "endpoint")["said"].as_str().unwrap().ends_with("answers"));
    assert_eq!(finding(&done, "keys")["said"], "openai (environment (OPENAI_API_KEY))");
    let text = bench.cairn(&["doctor"]).out;
    assert!(text.starts_with("ok       version: cairn 0.1.0, SQLite "), "{text}");
    assert!(text.ends_with("cairn run can work here\n"), "{text}");
    assert!(!text.contains("sk-secret-key"));
}

// keeps: doctor-says
#[test]
fn what_keeps_a_run_from_working_is_named_with_the_fix_and_exits_1() {
    let check = |broken: &dyn Fn(&Bench) -> Vec<(&'static str, String)>, what: &str, says: &str| {
        let bench = bench();
        let env = broken(&bench);
        let done = crate::bench_world::done(
            bench.command(&["doctor", "--json"]).envs(env).output().unwrap(),
        );
        let found = finding(&done, what);
        assert_eq!((done.code, &found["level"]), (1, &json!("problem")), "{done:?}");
        let all = format!("{} {}", found["said"], found["fix"]);
        assert!(all.contains(says), "{all}");
        assert!(findings(&done).iter().any(|finding| finding["what"] == "terminal"), "all of it");
    };
    let set = |name, value: &str| vec![(name, value.to_owned())];
    check(&|_| set("CAIRN_MODEL", "nobody/none"), "model", "there is no provider");
    check(&|_| set("CAIRN_MODEL", "nonsense"), "model", "is not a model");
    check(&|_| set("CAIRN_MODEL", "anthropic/x"), "model", "cairn login anthropic");
    check(&|_| set("OPENAI_BASE_URL", "http://127.0.0.1:9/v1"), "endpoint", "nothing answers");
    check(&|_| set("CAIRN_HOME", "/proc/version/home"), "home", "is not a folder");
    check(
        &|bench| {
            bench.temp.write("cairn.toml", "shell = \"x\"");
            vec![]
        },
        "configuration",
        "cairn.toml:1",
    );
    check(
        &|bench| {
            bench.own("cairn.toml", "modle = 1");
            vec![]
        },
        "configuration",
        "did you mean",
    );
    check(
        &|bench| {
            std::fs::create_dir_all(bench.temp.home()).unwrap();
            std::fs::write(bench.temp.home().join("cairn.db"), "rubbish ".repeat(900)).unwrap();
            vec![]
        },
        "database",
        "is damaged",
    );
    check(
        &|bench| {
            assert_eq!(bench.cairn(&["run", "work"]).code, 0);
            std::fs::remove_file(bench.temp.home().join("keys/signing")).unwrap();
            vec![]
        },
        "database",
        "is missing; restore it",
    );
}

// keeps: bad-input
#[test]
fn a_broken_project_file_does_not_hide_the_rest_of_the_configuration() {
    let bench = bench();
    bench.own("cairn.toml", "max_turns = 7\n");
    bench.temp.write("cairn.toml", "max_turns = \n");
    for args in [&["config", "--all"][..], &["config", "--json"], &["config"]] {
        let shown = bench.cairn(args);
        assert_eq!(shown.code, 2);
        assert!(shown.out.contains("max_turns") && shown.out.contains('7'), "{}", shown.out);
        assert!(shown.out.contains("openai/test"), "what comes after it counts: {}", shown.out);
        assert!(shown.err.contains("cairn.toml:1: not TOML"), "{}", shown.err);
    }
    assert_eq!(bench.cairn(&["run", "work"]).code, 2, "nothing runs with half a configuration");
}

// keeps: shell-knows
#[test]
fn shells_and_manuals_know_every_command() {
    let bench = bench();
    let help = bench.cairn(&["--help"]).out;
    let listed = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let commands: Vec<&str> =
        listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(commands.contains(&"doctor") && commands.len() > 20, "{commands:?}");
    for shell in ["bash", "zsh", "fish"] {
        let text = bench.cairn(&["completions", shell]);
        assert_eq!(text.code, 0);
        for command in &commands {
            assert!(text.out.contains(command), "{command} in {shell}");
        }
        assert!(text.out.contains("max-turns"), "flags, too");
    }
    assert_eq!(bench.cairn(&["completions", "tcsh"]).code, 2);
    let page = bench.cairn(&["man"]).out;
    assert!(page.contains(".TH cairn 1") && page.contains("Exit codes"), "{page}");
    let dir = bench.temp.path().join("man1");
    let dir = dir.to_str().unwrap();
    assert_eq!(bench.cairn(&["man", dir]).code, 2, "a folder that is not there");
    std::fs::create_dir(dir).unwrap();
    assert_eq!(bench.cairn(&["man", dir]).code, 0);
    for command in commands.iter().filter(|command| **command != "help") {
        let page = std::fs::read_to_string(format!("{dir}/cairn-{command}.1")).unwrap();
        assert!(page.contains(&format!("cairn-{command}")), "{command}");
    }
    let page = std::fs::read_to_string(format!("{dir}/cairn-sessions-import.1")).unwrap();
    assert!(page.contains("checked like"), "{page}");
}
