//! Bad input and bad ground: broken configuration, wrong words, damaged and full homes, models and
//! files full of rubbish. Each is told in one sentence with the fix, and nothing is lost by it.

use crate::bench_world::{Bench, Done, done};
use cairn_testkit::Fault;
use serde_json::{Value, json};
use std::fs;

/// Starts the program with these variables on top and expects its code and parts of its sentence.
fn check(bench: &Bench, args: &[&str], env: &[(&str, &str)], (code, told): (i32, &[&str])) {
    let mut command = bench.command(args);
    command.envs(env.iter().copied());
    expect(done(command.output().unwrap()), args, (code, told));
}

fn expect(done: Done, args: &[&str], (code, told): (i32, &[&str])) {
    assert_eq!(done.code, code, "{args:?}: {done:?}");
    assert!(!done.err.contains("panicked"), "{args:?}: {}", done.err);
    // A verdict is printed where verdicts are.
    let said = if code == 7 { &done.out } else { &done.err };
    assert_eq!(said.matches("cairn: ").count(), usize::from(code != 7), "{args:?}: {said}");
    for part in told {
        assert!(said.contains(part), "{args:?}: {said}");
    }
}

/// A command line, variables on top of the usual ones, its code and what it is told.
type Case<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)], i32, &'a str);

fn one_command() -> Value {
    json!([{"calls": [{"tool": "bash", "args": {"command": "echo hi"}}]}, {"say": "ok"}, {"say": "more"}])
}

// keeps: bad-input
#[test]
fn a_broken_configuration_is_named_with_file_line_and_fix_and_nothing_starts() {
    let bench = Bench::new(one_command());
    let user = bench.temp.path().join(".config/cairn/cairn.toml");
    fs::create_dir_all(user.parent().unwrap()).unwrap();
    let project = bench.file("cairn.toml");
    for (file, text, told) in [
        (&user, &b"\nmodel = \n"[..], "cairn/cairn.toml:2: not TOML: "),
        (&user, b"a = [\n\xff", "cairn/cairn.toml: not UTF-8 text; save it as UTF-8"),
        (
            &user,
            b"max_turns = 5\nmodle = 'x'",
            ":2: unknown key \"modle\"; did you mean \"model\"?",
        ),
        (
            &user,
            b"[zzzzzzzzz]\nqq = 1",
            ":2: unknown key \"zzzzzzzzz.qq\"; `cairn config --all` lists",
        ),
        (&user, b"max_turns = true", ":1: max_turns must be a whole number from 1 to 10000"),
        (&user, b"max_turns = -1", ":1: max_turns must be a whole number from 1 to 10000"),
        (&user, b"pass_env = [1]", ":1: pass_env must be a list of texts, such as [\"A\", \"B\"]"),
        (&user, b"model = 1979-05-27", ":1: model must be a text in quotes"),
        (
            &project,
            b"[providers.openai]\nbase_url = 'http://evil'",
            "cairn.toml:2: a project may not set providers.openai.base_url; it is the user's alone. Move it",
        ),
        (&project, b"model = 'openai/x'", "cairn.toml:1: a project may not set model"),
        (
            &project,
            b"max_turns = 10000",
            "cairn.toml:1: a project may only lower max_turns; 10000 is above ",
        ),
    ] {
        fs::write(file, text).unwrap();
        check(&bench, &["run", "--yolo", "work"], &[], (2, &[told]));
        fs::remove_file(file).unwrap();
    }
    fs::create_dir(&user).unwrap();
    check(&bench, &["run", "work"], &[], (2, &["make it a readable file, or move it away"]));
    fs::remove_dir(&user).unwrap();
    assert!(bench.model.requests().is_empty());
    assert_eq!(bench.cairn(&["run", "--yolo", "work"]).code, 0);
}

// keeps: bad-input
#[test]
fn for_a_level_that_there_is_not_all_are_named_and_none_that_keeps_less_is_proposed() {
    let bench = Bench::new(one_command());
    for given in ["none", "opne", "off", "", "workspaces"] {
        let done = bench.cairn(&["run", "--sandbox", given, "work"]);
        assert_eq!(done.code, 2, "{given}: {done:?}");
        let said = &done.err;
        assert!(said.contains(&format!("there is no level {given:?}")), "{said}");
        for told in ["strict ", "workspace ", "open ", "the default", "no sandbox"] {
            assert!(said.contains(told), "{given}: {said}");
        }
        assert!(!said.contains("tip:") && !said.contains("similar"), "{said}");
    }
    assert!(bench.model.requests().is_empty());
}

// keeps: bad-input
#[test]
fn wrong_words_on_the_command_line_are_told_with_the_fix_and_change_nothing() {
    let bench = Bench::new(one_command());
    bench.temp.write("a.txt", "not a script, not a bundle\n");
    let events = bench.events(&["run", "--yolo", "--json", "work"]);
    let run = events[0]["run"].as_str().unwrap();
    let log = bench.cairn(&["log", "--facts"]).out;
    let at = |rest: &str| format!("log://{run}/{rest}");
    let nobody = "there is no run or session \"nobody\"; `cairn sessions` lists what there is";
    let cases: &[Case<'_>] = &[
        (&["run", "x", "--model", "nope"], &[], 2, "\"nope\" is not a model; write provider/name"),
        (
            &["run", "x", "--model", "nope/x"],
            &[],
            2,
            "there is no provider \"nope\"; known are openai",
        ),
        (&["run", "x"], &[("CAIRN_MODEL", "")], 2, "no model is chosen; use --model provider/name"),
        (&["run", "x"], &[("OPENAI_API_KEY", "")], 2, "openai needs a key: set OPENAI_API_KEY"),
        (&["run", "x"], &[("OPENAI_BASE_URL", "rubbish")], 2, "is not a URL; write it like"),
        (&["run", "x", "--model", "scripted/none"], &[], 2, "cannot read the script none"),
        (&["run", "x", "--model", "scripted/a.txt"], &[], 2, "a.txt:1: not a script: "),
        (
            &["run", "x", "--max-turns", "0"],
            &[],
            2,
            "--max-turns: max_turns must be from 1 to 10000",
        ),
        (&["run"], &[], 2, "there is no task; write it in quotes"),
        (&["run", " \n"], &[], 2, "there is no task; write it in quotes"),
        (&["run", "-c"], &[], 2, "nothing left to do; give it a task: cairn run --resume"),
        (&["run", "x", "--cwd", "nowhere"], &[], 2, "the folder nowhere cannot be opened"),
        (
            &["run", "x", "--cwd", "a.txt"],
            &[],
            2,
            "a.txt is not a folder; name the project's folder",
        ),
        (&["run", "x", "--resume", "nobody"], &[], 2, nobody),
        (&["log", "nobody"], &[], 2, nobody),
        (&["fork", "--run", "nobody"], &[], 2, nobody),
        (&["verify", "nobody"], &[], 2, nobody),
        (&["show", "log://nobody/1/1/1"], &[], 2, nobody),
        (&["show", "rubbish"], &[], 2, "is not an address; write 1/2/3 for a row of the newest"),
        (&["show", "log://x/1/1/1/1/1"], &[], 2, "is not an address; write 1/2/3 for a row"),
        (&["show", &at("9")], &[], 2, "there is no loop 9 in that run; `cairn log` lists them"),
        (&["show", &at("9/9")], &[], 2, "turn 9/9 has no reply in that run; `cairn log` shows it"),
        (&["show", &at("9/9/9")], &[], 2, "there is no row 9/9/9 in that run; `cairn log` lists"),
        (&["show", &at("1#x")], &[], 2, "only a turn or a row has channels, so there is no #x"),
        (&["show", &at("1/1/1#x")], &[], 2, "row 1/1/1 has no #x; a row has #input, #result"),
        (&["fork", "--at", "soon"], &[], 2, "\"soon\" is not a turn; write loop/turn"),
        (&["verify", "a.txt"], &[], 7, "UNVERIFIABLE: this is not a Cairn bundle"),
        (&["bundle", "-o", "no/where"], &[], 1, "no/where cannot be written: No such file"),
        (&["log"], &[("CAIRN_HOME", "elsewhere")], 2, "there is no Cairn home at elsewhere; start"),
    ];
    for (args, env, code, told) in cases {
        check(&bench, args, env, (*code, &[told]));
    }
    assert_eq!(bench.cairn(&["log", "--facts"]).out, log);
    assert_eq!(bench.cairn(&["verify"]).code, 0);
    assert_eq!(bench.requests().len(), 2, "no model was asked");
}

// keeps: bad-input
#[test]
fn a_home_that_is_a_file_is_named_and_left_alone() {
    let bench = Bench::new(one_command());
    let file = bench.temp.path().join("file");
    fs::write(&file, "precious").unwrap();
    for home in [file.clone(), file.join("deeper/home")] {
        let env = [("CAIRN_HOME", home.to_str().unwrap())];
        for args in [&["run", "--yolo", "work"][..], &["log"], &["verify"], &["sessions"]] {
            let told = "is not a folder; move it away, or set CAIRN_HOME to another place";
            check(&bench, args, &env, (2, &["the home ", told]));
        }
    }
    assert_eq!(fs::read(&file).unwrap(), b"precious");
}

/// A home with one run in it, all of it in the database's file, and what its log says.
fn settled() -> (Bench, String) {
    let bench = Bench::new(one_command());
    assert_eq!(bench.cairn(&["run", "--yolo", "work"]).code, 0);
    let bundle = bench.file("kept.cairn");
    assert_eq!(bench.cairn(&["bundle", "-o", bundle.to_str().unwrap()]).code, 0);
    #[allow(clippy::disallowed_methods, reason = "the test folds the log from outside")]
    let db = rusqlite::Connection::open(bench.temp.home().join("cairn.db")).unwrap();
    db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop(db);
    let log = bench.cairn(&["log", "--facts"]).out;
    (bench, log)
}

// keeps: bad-input
#[test]
fn a_damaged_database_is_named_whatever_page_it_is_and_never_verifies_by_mistake() {
    let (bench, log) = settled();
    let path = bench.temp.home().join("cairn.db");
    let sound = fs::read(&path).unwrap();
    let facts = log.lines().count();
    let (mut refused, mut judged) = (0, 0);
    let pages = sound.len() / 4096;
    assert!(pages > 10);
    for page in 0..pages {
        let mut damaged = sound.clone();
        damaged[page * 4096..][..4096].fill(0xa5);
        fs::write(&path, &damaged).unwrap();
        let told = "is damaged (";
        let fix = "); move it away or restore it from a copy. Bundles written earlier";
        for args in [&["log", "--facts"][..], &["sessions"], &["verify"], &["fork"]] {
            let done = bench.cairn(args);
            match (done.code, args[0]) {
                (0, "log") => assert_eq!(done.out.lines().count(), facts),
                (0, "verify") => assert_eq!(bench.cairn(&["log", "--facts"]).out, log),
                (0, _) => judged += 1,
                // The page was one of a content's: what it says is no longer what was signed.
                (1, "verify") => assert!(done.out.starts_with("REFUTED: "), "{done:?}"),
                (7, "verify") => expect(done, args, (7, &["UNVERIFIABLE: ", told, fix])),
                _ => {
                    refused += 1;
                    expect(done, args, (1, &[told, fix]));
                }
            }
        }
        let _ = fs::remove_file(bench.temp.home().join("cairn.db-wal"));
        let _ = fs::remove_file(bench.temp.home().join("cairn.db-shm"));
    }
    assert!(refused > 10 && judged > 10, "{refused} refused, {judged} judged");
    assert_eq!(bench.cairn(&["verify", "kept.cairn"]).code, 0, "the bundle needs no database");
    fs::write(&path, &sound).unwrap();
    assert_eq!(bench.cairn(&["log", "--facts"]).out, log);
    assert_eq!(bench.cairn(&["run", "--yolo", "-c", "go on"]).code, 0);
}

// keeps: bad-input
#[test]
fn a_file_that_is_no_database_is_never_written_over() {
    let (bench, _) = settled();
    let path = bench.temp.home().join("cairn.db");
    let mut bytes = fs::read(&path).unwrap();
    bytes[..100].fill(b'?');
    fs::write(&path, &bytes).unwrap();
    let told = ["is damaged (file is not a database); move it away"];
    for args in [&["run", "--yolo", "x"][..], &["run", "-c", "x"], &["log"], &["sessions"], &["gc"]]
    {
        check(&bench, args, &[], (1, &told));
    }
    check(&bench, &["verify"], &[], (7, &told));
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

// keeps: bad-input
#[test]
fn a_model_that_answers_rubbish_is_told_and_the_run_goes_on_afterwards() {
    let fix = "; check that the base_url is that of a Chat Completions API\n";
    let unknown = "openai does not know the model \"test\" or the address ";
    for (fault, told) in [
        (Fault::Garbage(b"\x00\xff\xfe rubbish \x1b[31m".to_vec()), ["not HTTP", fix]),
        (Fault::status(200, "<html>sign in</html>"), ["sent an HTML page", fix]),
        (Fault::status(200, r#"{"choices": 7}"#), ["sent a broken chunk", fix]),
        (Fault::status(200, "[".repeat(100_000)), ["sent a broken chunk", fix]),
        (Fault::status(404, "\u{1b}]0;owned\u{7}"), [unknown, "; check the model's name and"]),
    ] {
        let bench = Bench::new(one_command());
        bench.model.fault_always(fault);
        let done = bench.cairn(&["run", "--yolo", "work"]);
        assert_eq!(done.code, 1, "{done:?}");
        assert!(told.iter().all(|part| done.err.matches(part).count() == 1), "{}", done.err);
        assert!(!done.err.contains("panicked"), "{}", done.err);
        assert!(!done.err.contains(['\x1b', '\0', '\x07']), "{:?}", done.err);
        assert!(bench.cairn(&["log"]).out.contains("the model could not be had: "));
        assert_eq!(bench.cairn(&["verify"]).code, 0);
        bench.model.clear_faults();
        let done = bench.cairn(&["run", "--yolo", "-c", "again"]);
        assert_eq!((done.code, &*done.out), (0, "ok\n"), "{done:?}");
    }
}

// keeps: bad-input
#[test]
fn calls_that_make_no_sense_are_answered_one_by_one_and_do_nothing() {
    let long = "x".repeat(100_000);
    let calls = json!([
        {"tool": "", "args": "{{{"},
        {"tool": &long, "args": {}},
        {"tool": "read", "args": "not json"},
        {"tool": "read", "args": "\u{0}"},
        {"tool": "read", "args": {"path": 7}},
        {"tool": "read", "args": {"path": "../../../etc/passwd"}},
        {"tool": "read", "args": {"path": "/etc/passwd"}},
        {"tool": "read", "args": {"path": "a.txt", "first": -1}},
        {"tool": "find", "args": {"text": "/((((/"}},
        {"tool": "find", "args": "[".repeat(100_000)},
        {"tool": "bash", "args": {"command": "touch made\u{0}"}},
        {"tool": "write", "args": {"path": &long, "content": "x"}},
    ]);
    let count = calls.as_array().unwrap().len();
    let bench = Bench::new(json!([{"say": "\u{1b}[2J\u{202e}", "calls": calls}, {"say": "ok"}]));
    bench.temp.write("a.txt", "as it was\n");
    let done = bench.cairn(&["run", "--yolo", "work"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.out.ends_with("ok\n") && !done.err.contains("panicked"), "{done:?}");
    assert!(!done.err.contains(['\x1b', '\u{202e}', '\0']), "{:?}", done.err);
    let told = bench.requests()[1]["messages"].as_array().unwrap().clone();
    assert_eq!(told.iter().filter(|message| message["role"] == "tool").count(), count);
    assert_eq!(fs::read_dir(bench.temp.workspace()).unwrap().count(), 1);
    assert_eq!(bench.temp.read("a.txt"), "as it was\n");
    assert_eq!(bench.cairn(&["verify"]).code, 0);
}

// keeps: bad-input
#[test]
fn bytes_that_are_not_utf_8_are_shown_as_such_kept_as_they_are_and_never_edited() {
    let bench = Bench::new(json!([
        {"calls": [
            {"tool": "read", "args": {"path": "latin1"}},
            {"tool": "edit", "args": {"path": "latin1", "old": "line", "new": "x", "all": true}},
        ]},
        {"calls": [{"tool": "bash", "args": {"command": "printf 'a\\377\\376\\033[31m\\000b'"}}]},
        {"say": "ok"},
    ]));
    let bytes = b"a plain line, then a caf\xe9 on this line\n";
    bench.temp.write("latin1", bytes);
    // The limit on this file falls into the middle of a character.
    bench.temp.write("AGENTS.md", format!("x{}", "é".repeat(100_000)));
    let events = bench.events(&["run", "--yolo", "--json", "work"]);
    let run = events[0]["run"].as_str().unwrap();
    let told = bench.requests()[2]["messages"].clone();
    let system = told[0]["content"].as_str().unwrap();
    assert!(system.contains("\nxéé") && system.contains("Only the first 98303 bytes"), "{system}");
    let read = told[3]["content"].as_str().unwrap();
    assert!(read.contains("caf\u{fffd} on") && read.contains("not UTF-8 everywhere"), "{read}");
    assert_eq!(told[4]["content"], "latin1 is not UTF-8 text");
    assert_eq!(told[6]["content"], "a\u{fffd}\u{fffd}\u{1b}[31m\u{0}b\nexit=0");
    assert_eq!(fs::read(bench.file("latin1")).unwrap(), bytes);
    let shown = bench.command(&["show", &format!("log://{run}/1/2/1#output")]).output().unwrap();
    assert_eq!(shown.stdout, b"a\xff\xfe\x1b[31m\x00b");
}
