//! Who may do what, at the command line: rules, modes, answers that are remembered, explanations that
//! agree with what happens.

use crate::bench_world::Bench;
use crate::terminal::Terminal;
use serde_json::{Value, json};

fn bash(command: &str) -> Value {
    json!({"calls": [{"tool": "bash", "args": {"command": command}}]})
}

fn write(path: &str) -> Value {
    json!({"calls": [{"tool": "write", "args": {"path": path, "content": "x\n"}}]})
}

fn read(path: &str) -> Value {
    json!({"calls": [{"tool": "read", "args": {"path": path}}]})
}

/// The statuses of all rows of the newest run.
fn statuses(bench: &Bench) -> Vec<u64> {
    let rows = bench.cairn(&["log", "--json"]).out;
    let row = |line: &str| serde_json::from_str::<Value>(line).unwrap()["status"].as_u64().unwrap();
    rows.lines().map(row).collect()
}

// keeps: policy-rules
#[test]
fn what_rules_mean_runs_unasked_and_what_they_forbid_does_not_run_whoever_says_yes() {
    let bench = Bench::new(json!([
        bash("touch a"),
        bash("touch b; touch c"),
        bash("touch d"),
        write("src/x"),
        write("y"),
        {"say": "done"}
    ]));
    bench.own(
        "cairn.toml",
        "[policy]\nallow = [\"exec touch a\", \"edit src/**\"]\ndeny = [\"exec touch d\"]\n",
    );
    let done = bench.cairn(&["run", "work"]);
    assert_eq!(done.code, 5, "{}", done.err);
    assert_eq!(statuses(&bench), [200, 403, 403, 201, 403]);
    let there = |name: &str| bench.file(name).exists();
    assert_eq!(
        ["a", "b", "c", "d", "src/x", "y"].map(there),
        [true, false, false, false, true, false]
    );
    // With --yolo what would be asked is done, what is forbidden is not.
    assert_eq!(bench.cairn(&["run", "--yolo", "work"]).code, 0);
    assert_eq!(["b", "c", "d", "y"].map(there), [true, true, false, true]);
}

// keeps: policy-modes
#[test]
fn a_mode_says_what_is_asked_about() {
    for (mode, expected) in [
        ("read-only", [200, 403, 403, 403]),
        ("plan", [200, 403, 403, 403]),
        ("act", [200, 403, 403, 403]),
        ("accept-edits", [200, 201, 403, 403]),
    ] {
        let bench = Bench::new(
            json!([read("f"), write("a"), write(".envrc"), bash("touch b"), {"say": "done"}]),
        );
        bench.temp.write("f", "text\n");
        let done = bench.cairn(&["run", "--mode", mode, "work"]);
        assert_eq!(statuses(&bench), expected, "{mode}: {}", done.err);
        assert!(!bench.file("b").exists() && !bench.file(".envrc").exists());
    }
}

// keeps: policy-narrows
#[test]
fn a_project_narrows_and_an_operator_caps_what_everybody_else_says() {
    let bench =
        Bench::new(json!([bash("touch a"), bash("touch b"), bash("touch c"), {"say": "done"}]));
    bench.own("cairn.toml", "[policy]\nallow = [\"exec touch *\"]\n");
    bench.temp.write("cairn.toml", "[policy]\ndeny = [\"exec touch b\"]\n");
    let operator =
        bench.own("operator.toml", "[policy]\ndeny = [\"exec touch c\"]\nyolo = \"never\"\n");
    let run = |args: &[&str]| {
        let mut command = bench.command(&[&["run"], args].concat());
        crate::bench_world::done(command.env("CAIRN_OPERATOR", &operator).output().unwrap())
    };
    assert_eq!(run(&["work"]).code, 0);
    assert_eq!(statuses(&bench), [200, 403, 403]);
    let done = run(&["--yolo", "work"]);
    assert_eq!(done.code, 2);
    assert!(
        done.err.contains("--yolo may not be given here") && done.err.contains("operator.toml:3"),
        "{}",
        done.err
    );
    // A rule that means everything is no way around it.
    bench.own("cairn.toml", "[policy]\nallow = [\"exec *\", \"exec touch a\"]\n");
    bench.temp.write("cairn.toml", "");
    assert_eq!(run(&["--allow", "*", "--allow", "exec t* *", "work"]).code, 5);
    assert_eq!(statuses(&bench), [200, 403, 403], "only what is named");
    bench.temp.write("cairn.toml", "[policy]\nallow = [\"exec *\"]\n");
    let done = run(&["work"]);
    assert_eq!(done.code, 2);
    assert!(done.err.contains("a project may not set policy.allow"), "{}", done.err);
}

// keeps: policy-unread
#[test]
fn what_must_not_be_read_is_not_found_copied_moved_or_reached_through_a_link() {
    let secret = "the-secret-text";
    let bench = Bench::new(json!([
        read("keys/k"),
        read("link"),
        {"calls": [{"tool": "find", "args": {"text": secret}}]},
        {"calls": [{"tool": "copy", "args": {"from": "keys", "to": "open"}}]},
        {"calls": [{"tool": "move", "args": {"from": "keys", "to": "moved"}}]},
        {"calls": [{"tool": "edit", "args": {"path": "link", "old": "the-secret-tex", "new": "x"}}]},
        write("keys/k"),
        read("other"),
        {"say": "done"}
    ]));
    bench.temp.write("keys/k", format!("{secret}\n"));
    bench.temp.write("other", "fine\n");
    std::os::unix::fs::symlink("keys/k", bench.file("link")).unwrap();
    let done = bench.cairn(&["run", "--yolo", "--deny", "read keys/**", "work"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let told = statuses(&bench);
    assert_eq!(
        (told[0], told[1], told[3], told[5], told[6], told[7]),
        (403, 403, 403, 403, 403, 200)
    );
    let sent: String = bench.requests().iter().map(Value::to_string).collect();
    // Once it stands in the model's own call.
    let own = r#"\"text\":\"the-secret-text\""#;
    assert!(!sent.replace(own, "").replace("the-secret-tex\\\"", "").contains(secret), "{sent}");
    assert_eq!(std::fs::read_to_string(bench.file("keys/k")).unwrap(), format!("{secret}\n"));
}

// keeps: policy-unread
#[test]
fn a_row_that_shows_what_is_forbidden_by_now_is_not_read_again() {
    let row = |n: usize| read(&format!("log:///1/{n}/1"));
    let find = |under: &str| json!({"calls": [{"tool": "find", "args": {"under": under, "text": "hush"}}]});
    let first = [
        read("keys/k"),
        read("other"),
        find("."),
        find("open"),
        bash("cat keys/k"),
        bash("cat open/o"),
        row(1),
        read("link"),
    ];
    let again = (1..=first.len()).map(row);
    let mut script = first.to_vec();
    script.push(json!({"say": "one"}));
    script.extend(again);
    script.push(json!({"say": "two"}));
    let bench = Bench::new(Value::Array(script));
    for path in ["keys/k", "other", "open/o"] {
        bench.temp.write(path, "hush\n");
    }
    std::os::unix::fs::symlink("keys/k", bench.file("link")).unwrap();
    let run = |args: &[&str]| bench.cairn(&[&["run", "--yolo"], args].concat());
    assert_eq!(run(&["work"]).code, 0);
    assert_eq!(run(&["-c", "--deny", "read keys/**", "more"]).code, 0);
    let told = statuses(&bench);
    assert_eq!(&told[..8], [200; 8]);
    assert_eq!(told[8..], [403, 200, 403, 200, 403, 200, 403, 403], "rows by what they show");
}

// keeps: policy-unread
// keeps: rows-are-entries
#[test]
fn a_row_that_is_forbidden_by_now_is_not_matched_copied_or_come_upon_either() {
    let call = |tool: &str, args: Value| json!({"calls": [{"tool": tool, "args": args}]});
    let (row, all) = ("log:///1/1/1", "log:///");
    let script = json!([
        read("keys/k"),
        call("find", json!({"under": all, "text": "hush"})),
        read("other"),
        {"say": "one"},
        call("read", json!({"path": row, "matching": "hush"})),
        call("read", json!({"path": row, "scope": "1"})),
        call("read", json!({"path": "log:///1/1/1#input"})),
        call("copy", json!({"from": row, "to": "known:///k"})),
        call("copy", json!({"from": row, "to": "k.md"})),
        read("log:///1/2/1"),
        call("find", json!({"under": all, "text": "hush"})),
        call("list", json!({"path": all})),
        {"say": "two"}
    ]);
    let bench = Bench::new(script);
    for path in ["keys/k", "other"] {
        bench.temp.write(path, "hush\n");
    }
    let run = |args: &[&str]| bench.cairn(&[&["run", "--yolo"], args].concat());
    assert_eq!(run(&["work"]).code, 0);
    assert_eq!(run(&["-c", "--deny", "read keys/**", "more"]).code, 0);
    let told = statuses(&bench);
    assert_eq!(told, [200, 200, 200, 403, 403, 403, 403, 403, 403, 200, 200]);
    let found = bench.cairn(&["show", "2/7/1#result"]).out;
    let expected =
        "log:///1/3/1\n1:\t1\thush\n\nnot looked into: 2 kept from being read by the policy";
    assert_eq!(found, expected);
    let listed = bench.cairn(&["show", "2/8/1#result"]).out;
    assert!(listed.starts_with("log:///1/1/1  6 bytes\nlog:///1/2/1"), "{listed}");
}

// keeps: policy-narrows
#[test]
fn what_flags_forbade_stays_forbidden_when_a_run_goes_on_and_what_they_allowed_does_not() {
    let check = |first: &[&str], then: &[&str], expected: [u64; 2], kept: &str| {
        let script = json!([{"say": "one"}, bash("touch a"), read("f"), {"say": "two"}]);
        let bench = Bench::new(script);
        bench.temp.write("f", "text\n");
        assert_eq!(bench.cairn(&[&["run"], first, &["work"]].concat()).code, 0);
        let done = bench.cairn(&[&["run", "-c"], then, &["more"]].concat());
        assert_eq!(statuses(&bench), expected, "{first:?} {then:?}: {}", done.err);
        let said: Vec<&str> =
            done.err.lines().filter(|line| line.starts_with("kept from before")).collect();
        let told = format!("kept from before: {kept}; to go on without: --new-terms");
        let meant = if kept.is_empty() { Vec::new() } else { vec![told.as_str()] };
        assert_eq!(said, meant, "{first:?} {then:?}");
    };
    let yes = ["--allow", "exec touch *"];
    check(&[], &yes, [200, 200], "");
    check(&["--read-only"], &yes, [403, 200], "--mode read-only");
    check(&["--mode", "plan"], &["--yolo"], [200, 200], "");
    check(&["--read-only"], &["--yolo"], [403, 200], "--mode read-only");
    check(&["--read-only"], &["--mode", "act", "--yolo"], [200, 200], "");
    check(&["--read-only"], &["--new-terms", "--yolo"], [200, 200], "");
    check(&["--deny", "read f"], &yes, [200, 403], "--deny 'read f'");
    check(&["--deny", "exec touch *"], &["--yolo"], [403, 200], "--deny 'exec touch *'");
    let more = ["--yolo", "--deny", "read g"];
    check(&["--deny", "read f"], &more, [200, 403], "--deny 'read f'");
    check(&["--deny", "read f", "--no-web"], &["--yolo", "--new-terms"], [200, 200], "");
    check(
        &["--ask", "exec touch a", "--no-web"],
        &yes,
        [403, 200],
        "--ask 'exec touch a', --no-web",
    );
    check(&["--no-repo"], &["--yolo"], [403, 403], "--no-repo");
    check(&["--no-proposals"], &[], [403, 200], "--no-proposals");
    check(&yes, &[], [403, 200], "");
    check(&["--yolo"], &[], [403, 200], "");
}

// keeps: policy-remembers
#[test]
fn a_yes_is_remembered_for_what_was_chosen_as_far_and_no_further_and_can_be_revoked() {
    let bench = Bench::new(json!([bash("touch a"), bash("touch b"), {"say": "done"}]));
    let mut terminal = Terminal::open(&bench, bench.command(&["run", "work"]));
    terminal.until("m remember");
    terminal.keys("m\n");
    let menu = terminal.until("which? ");
    assert!(menu.contains("1  exec touch a") && menu.contains("2  exec\r\n"), "{menu}");
    terminal.keys("9\n");
    terminal.until("m remember");
    terminal.keys("m\n");
    terminal.until("which? ");
    terminal.keys("1p 7d\n");
    terminal.until("m remember");
    terminal.keys("n\n");
    terminal.until("done: 3 turns");
    assert!(bench.file("a").exists() && !bench.file("b").exists());
    let answers: Value =
        serde_json::from_str(&bench.cairn(&["policy", "answers", "--json"]).out).unwrap();
    assert_eq!(
        (&answers[0]["rule"], &answers[0]["scope"]),
        (&json!("exec touch a"), &json!("project"))
    );
    let span = answers[0]["until"].as_u64().unwrap() - answers[0]["at"].as_u64().unwrap();
    assert!((604_000_000..605_000_000).contains(&span), "{span}");

    std::fs::remove_file(bench.file("a")).unwrap();
    assert_eq!(bench.cairn(&["run", "--new-session", "work"]).code, 5);
    assert_eq!(statuses(&bench), [200, 403]);
    let explained = bench.cairn(&["policy", "explain", "exec", "touch", "a"]).out;
    assert!(explained.contains("policy     pass    allow exec touch a (answer 1)"), "{explained}");

    let revoked = bench.cairn(&["policy", "revoke", "1"]);
    assert!(revoked.out.contains("1 taken back"), "{revoked:?}");
    std::fs::remove_file(bench.file("a")).unwrap();
    assert_eq!(bench.cairn(&["run", "work"]).code, 5);
    assert_eq!(statuses(&bench), [403, 403]);
    let again = bench.cairn(&["policy", "revoke", "1"]);
    assert_eq!((again.code, again.err.contains("there is no answer 1")), (2, true));
}

// keeps: policy-explained
#[test]
fn an_explanation_a_table_and_a_replay_agree_with_what_happens() {
    let calls = ["touch a", "touch b", "cat keys/k"];
    let bench =
        Bench::new(json!([bash(calls[0]), bash(calls[1]), bash(calls[2]), {"say": "done"}]));
    bench.own("cairn.toml", "[policy]\nallow = [\"exec touch a\"]\ndeny = [\"read keys/**\"]\n");
    bench.cairn(&["run", "work"]);
    let facts = bench.cairn(&["log", "--facts", "--json"]).out;
    let decided: Vec<Value> = facts
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|fact| fact["kind"] == "decision")
        .map(|fact| fact["body"]["gates"].clone())
        .collect();
    for (command, gates) in calls.iter().zip(&decided) {
        let explained =
            bench.cairn(&["policy", "explain", "--headless", "--json", "exec", command]).out;
        let explained: Value = serde_json::from_str(&explained).unwrap();
        assert_eq!(&explained["gates"], gates, "{command}");
    }
    let replayed = bench.cairn(&["policy", "replay"]);
    assert!(replayed.out.contains("3 decisions the same, 0 otherwise"), "{replayed:?}");
    bench
        .temp
        .write("t", "# expected\nallow exec touch a\nask exec touch b\ndeny exec cat keys/k\n");
    let table = bench.cairn(&["policy", "test", "t"]);
    assert_eq!((table.code, table.out.as_str()), (0, "3 as expected, 0 otherwise\n"));
    bench.temp.write("t", "deny exec touch a\n");
    let table = bench.cairn(&["policy", "test", "t"]);
    assert_eq!(table.code, 1);
    assert!(table.out.starts_with("t:1: exec touch a is allow, not deny"), "{}", table.out);
    bench.temp.write("t", "perhaps exec touch a\n");
    assert_eq!(bench.cairn(&["policy", "test", "t"]).code, 2);
    let listed = bench.cairn(&["policy"]).out;
    assert!(
        listed.contains("deny  read keys/**  # user: ") && listed.contains("cairn.toml:3"),
        "{listed}"
    );
}

// keeps: policy-explained
#[test]
fn an_explanation_says_what_holds_of_hosts() {
    let bench = Bench::confined(json!([]));
    let rule = |host: &str| format!("exec[effect=network,host={host}]");
    let command = "curl http://vm:8777/";
    let other = "host any other: asked about when it is wanted";
    for (args, command, expected) in [
        (vec![], command, vec!["host vm:8777: asked about when it is wanted", other]),
        (
            vec!["--headless"],
            command,
            vec!["host vm:8777: not reached", "host any other: not reached"],
        ),
        (
            vec!["--deny", &rule("vm")],
            command,
            vec!["host vm:8777: denied, by exec[effect=network,host=vm] (--deny)"],
        ),
        (
            vec!["--deny", &rule("vm")],
            "make",
            vec!["host vm: denied, by exec[effect=network,host=vm] (--deny)", other],
        ),
        (
            vec!["--ask", &rule("vm")],
            command,
            vec![
                "host vm:8777: asked about when it is wanted, by exec[effect=network,host=vm] (--ask)",
                other,
            ],
        ),
        (
            vec!["--allow", &rule("vm:8777")],
            command,
            vec!["host vm:8777: reached, by exec[effect=network,host=vm:8777] (--allow)", other],
        ),
        // A rule that names no port allows the usual ones.
        (
            vec!["--allow", &rule("vm")],
            command,
            vec!["host vm:8777: asked about when it is wanted", other],
        ),
        (
            vec!["--allow", &rule("vm"), "--no-web"],
            "curl http://vm/",
            vec!["host vm: not reached", "host any other: not reached"],
        ),
        (vec!["--sandbox", "open", "--deny", &rule("vm")], command, vec![]),
    ] {
        let args = [&["policy", "explain"], &args[..], &["exec", command]].concat();
        let explained = bench.cairn(&args).out;
        let hosts: Vec<&str> = explained.lines().filter(|l| l.starts_with("host ")).collect();
        assert_eq!(hosts, expected, "{args:?}\n{explained}");
        let is_denied = args.contains(&"--deny") && command != "make";
        assert_eq!(explained.contains("refused, by"), is_denied, "{args:?}\n{explained}");
    }
    let json = bench.cairn(&["policy", "explain", "--json", "exec", command]).out;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["hosts"][0], json!({"host": "vm:8777", "word": "ask", "rule": null}));
}

/// A repository with a folder of so many files, and one that git ignores.
fn with_many_files(bench: &Bench, files: usize) {
    for n in 0..files {
        bench.temp.write(&format!("many/{n}"), "x\n");
    }
    for n in 0..80 {
        bench.temp.write(&format!("made/out/{n}"), "x\n");
    }
    bench.temp.write(".gitignore", "/made/out\n");
    std::fs::create_dir_all(bench.file(".git")).unwrap();
    bench.temp.write(".git/HEAD", "ref: refs/heads/main\n");
}

fn remove(path: &str) -> Value {
    json!({"calls": [{"tool": "remove", "args": {"path": path}}]})
}

// keeps: large-deletions
#[test]
fn much_is_removed_only_when_a_person_says_so_whatever_was_allowed() {
    let script = json!([remove("many"), remove("made"), {"say": "done"}]);
    let check = |files: usize, args: &[&str], gone: (bool, bool), code: i32| {
        let bench = Bench::new(script.clone());
        with_many_files(&bench, files);
        let done = bench.cairn(&[&["run", "work"], args].concat());
        let there = |name: &str| bench.file(name).exists();
        assert_eq!((!there("many"), !there("made")), gone, "{files} {args:?}: {}", done.err);
        assert_eq!(done.code, code, "{files} {args:?}: {}", done.err);
    };
    check(50, &["--yolo"], (true, true), 0);
    check(51, &["--yolo"], (false, true), 5);
    check(51, &["--allow", "*"], (false, true), 5);
    check(51, &["--yolo", "--allow-large-deletions"], (true, true), 0);

    // Somebody is there: asked, even with --yolo.
    let bench = Bench::new(script);
    with_many_files(&bench, 60);
    let mut terminal = Terminal::open(&bench, bench.command(&["run", "--yolo", "work"]));
    let asked = terminal.until("r refuse with words: ");
    assert!(asked.contains("60 files"), "{asked}");
    assert!(bench.file("many").exists());
    terminal.keys("y\n");
    terminal.until("done: 3 turns");
    assert!(!bench.file("many").exists());
    let replayed = bench.cairn(&["policy", "replay"]);
    assert!(replayed.out.contains("2 decisions the same, 0 otherwise"), "{replayed:?}");
}

// keeps: policy-narrows
#[test]
fn a_file_of_ceilings_that_is_named_must_be_there() {
    let bench = Bench::new(json!([{"say": "done"}]));
    let missing = bench.temp.path().join("operator.toml");
    for args in [&["run", "--yolo", "work"][..], &["policy"], &["config"]] {
        let mut command = bench.command(args);
        let done =
            crate::bench_world::done(command.env("CAIRN_OPERATOR", &missing).output().unwrap());
        assert_ne!(done.code, 0, "{args:?}");
        assert!(
            done.err.contains("operator.toml: CAIRN_OPERATOR names this file, and it is not there"),
            "{args:?}: {}",
            done.err
        );
    }
    assert!(bench.requests().is_empty(), "nothing runs without its ceilings");
    assert_eq!(bench.cairn(&["run", "work"]).code, 0);
}

#[test]
fn rules_are_shown_without_what_a_terminal_would_obey_and_told_whole_to_programs() {
    let bench = Bench::new(json!([]));
    let empty: Value = serde_json::from_str(&bench.cairn(&["policy", "--json"]).out).unwrap();
    assert_eq!(empty["policy"]["rules"], json!([]));
    assert_eq!(empty["policy"]["little"], json!({"files": 50, "bytes": 10 << 20}));
    bench.temp.write("cairn.toml", "[policy]\ndeny = [\"read a\\u001bc\\u202Eb\"]\n");
    let shown = bench.cairn(&["policy"]).out;
    assert!(shown.contains("deny  read a") && shown.contains("cairn.toml:2"), "{shown:?}");
    assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown:?}");
    let whole: Value = serde_json::from_str(&bench.cairn(&["policy", "--json"]).out).unwrap();
    let rule = &whole["policy"]["rules"][0];
    assert_eq!(rule["rule"], "read a\u{1b}c\u{202e}b");
    assert!(rule.as_object().unwrap().contains_key("until") && rule["until"].is_null(), "{rule}");
}

// keeps: policy-explained
#[test]
fn an_explanation_knows_every_op_and_tool_and_who_is_no_member() {
    let bench = Bench::new(json!([{"say": "done"}]));
    bench.temp.write(".ignore", "secret\n");
    bench.temp.write("secret", "x\n");
    bench.temp.write("kept", "x\n");
    bench.own("cairn.toml", "[membership]\nread_only = [\"kept\"]\n");
    let word = |op: &[&str]| {
        let explained = bench.cairn(&[&["policy", "explain", "--json"], op].concat());
        assert_eq!(explained.code, 0, "{op:?}: {explained:?}");
        let explained: Value = serde_json::from_str(&explained.out).unwrap();
        explained["word"].as_str().unwrap().to_owned()
    };
    for op in [&["send", "done"][..], &["open", "log:///1"], &["fold", "log:///1"], &["todo"]] {
        assert_eq!(word(op), "allow", "{op:?}");
    }
    assert_eq!(word(&["send", "exec:///1/1/1", "yes"]), "ask");
    for op in ["read", "edit", "write", "kill", "remove", "list", "multi_edit"] {
        assert_eq!(word(&[op, "secret"]), "deny", "{op}");
    }
    assert_eq!(
        (word(&["read", "kept"]), word(&["write", "kept"])),
        ("allow".into(), "deny".into())
    );
    assert_eq!(
        (word(&["read", "new"]), word(&["copy", "secret", "b"])),
        ("allow".into(), "deny".into())
    );
    std::os::unix::fs::symlink("/etc", bench.file("outside")).unwrap();
    for path in ["/etc/passwd", "../x", "outside/hosts", "known:/x", "file:/x"] {
        assert_eq!((path, word(&["read", path])), (path, "deny".into()));
    }
    for path in ["../x", "outside/new", "known:/x"] {
        assert_eq!((path, word(&["write", path])), (path, "deny".into()));
    }
    let said = bench.cairn(&["policy", "explain", "read", "secret"]).out;
    assert!(said.contains("members    deny    secret is not a member"), "{said}");
    assert!(said.ends_with("refused, by membership\n"), "{said}");
    let undo = bench.cairn(&["policy", "explain", "undo"]);
    assert!(undo.code == 0 && undo.out.contains("for people"), "{undo:?}");
    assert_eq!(bench.cairn(&["policy", "explain", "dance"]).code, 2);
}
