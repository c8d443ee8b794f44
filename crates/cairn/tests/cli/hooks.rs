//! Hooks at the command line: real scripts, asked by real runs. Each answer does what it says, is in
//! the log, and is never asked for twice.

use crate::bench_world::Bench;
use serde_json::{Value, json};

pub fn bash(command: &str) -> Value {
    json!({"calls": [{"tool": "bash", "args": {"command": command}}]})
}

/// The user's hooks: event, matcher and command of each.
pub fn hooks(bench: &Bench, all: &[(&str, &str, &str)]) {
    let table = |(event, matcher, command): &(&str, &str, &str)| {
        format!("[[hooks.{event}]]\nmatcher = '{matcher}'\ncommand = '''{command}'''\n")
    };
    bench.own("cairn.toml", &all.iter().map(table).collect::<String>());
}

/// What the model was told last, in each request.
pub fn told(bench: &Bench) -> Vec<String> {
    let last = |request: &Value| {
        let message = request["messages"].as_array().unwrap().last().unwrap().clone();
        message["content"].as_str().unwrap_or_default().to_owned()
    };
    bench.requests().iter().map(last).collect()
}

pub fn shown(bench: &Bench, address: &str) -> Value {
    serde_json::from_str(&bench.cairn(&["show", "--json", address]).out).unwrap()
}

// keeps: hook-commands
#[test]
fn a_hook_that_says_no_is_heard_by_the_model_and_nothing_is_done() {
    let bench = Bench::new(json!([bash("touch made"), bash("touch fine"), {"say": "ok"}]));
    let guard = r#"grep -q 'touch made' && { echo 'made is not wanted' >&2; exit 2; }; exit 0"#;
    hooks(&bench, &[("PreToolUse", "Bash", guard), ("PreToolUse", "Edit|Write", "exit 2")]);
    let done = bench.cairn(&["run", "--yolo", "work"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(!bench.file("made").exists() && bench.file("fine").exists());
    assert_eq!(told(&bench)[1], "refused by a hook: made is not wanted");
    let row = shown(&bench, "1/1/1");
    assert_eq!(row["outcome"]["status"], 403);
    assert_eq!(row["hooks"][0]["said"], json!(["block"]));
    let gates: Vec<&str> = row["decisions"][0]["gates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|gate| gate["gate"].as_str().unwrap())
        .collect();
    assert_eq!(gates, ["writer", "mode", "hooks"]);
    assert!(bench.cairn(&["log"]).out.contains("hook PreToolUse"), "{}", bench.cairn(&["log"]).out);
    assert_eq!(bench.cairn(&["verify"]).code, 0);
    let replayed = bench.cairn(&["policy", "replay"]);
    assert_eq!(replayed.code, 0, "{}", replayed.out);
}

// keeps: hook-changes
#[test]
fn what_a_hook_changes_is_what_is_asked_about_done_and_receipted() {
    let bench = Bench::new(json!([bash("touch made"), {"say": "ok"}]));
    let change = r#"sed -n 's/.*"command":"touch made".*/{"hookSpecificOutput":{"updatedInput":{"command":"touch other"}}}/p'"#;
    hooks(&bench, &[("PreToolUse", "Bash", change)]);
    let mut talk = bench.talk(&["run", "--json", "work"]);
    let open = talk.until("proposal/opened");
    assert!(open["shown"].as_str().unwrap().contains("touch other"), "{open}");
    talk.say(json!({"type": "decide", "proposal": open["proposal"], "verdict": "allow"}));
    assert_eq!(talk.result()["exit_code"], 0);
    assert!(bench.file("other").exists() && !bench.file("made").exists());
    assert_eq!(bench.cairn(&["show", "1/1/1#input"]).out, r#"{"command":"touch other"}"#);
    let row = shown(&bench, "1/1/1");
    assert_eq!(row["hooks"].as_array().unwrap().len(), 2, "it is asked again, once");
    assert!(row["repairs"].to_string().contains("changed by the hook"), "{row}");
    assert_eq!(bench.cairn(&["verify"]).code, 0);

    // One that changes it each time is refused.
    let bench = Bench::new(json!([bash("touch made"), {"say": "ok"}]));
    let change = r#"python3 -c 'import json,sys; c=json.load(sys.stdin)["tool_input"]["command"]; print(json.dumps({"hookSpecificOutput":{"updatedInput":{"command":c+"x"}}}))'"#;
    hooks(&bench, &[("PreToolUse", "*", change)]);
    assert_eq!(bench.cairn(&["run", "--yolo", "work"]).code, 0);
    assert!(!bench.file("made").exists() && !bench.file("madex").exists());
    assert!(told(&bench)[1].contains("changed it again"), "{:?}", told(&bench));
}

// keeps: hook-results
#[test]
fn a_hook_gives_a_result_in_an_ops_place_and_adds_to_results_or_replaces_them() {
    let read = json!({"calls": [{"tool": "read", "args": {"path": "a.txt"}}]});
    let bench = Bench::new(json!([bash("touch made"), read, bash("echo long"), {"say": "ok"}]));
    std::fs::write(bench.file("a.txt"), "hello\n").unwrap();
    hooks(
        &bench,
        &[
            (
                "PreToolUse",
                "Bash",
                r#"grep -q 'touch made' && echo '{"substitute":"from the cache"}'; exit 0"#,
            ),
            (
                "PostToolUse",
                "Read",
                r#"echo '{"hookSpecificOutput":{"additionalContext":"a.txt is generated"}}'"#,
            ),
            (
                "PostToolUse",
                "Bash",
                r#"grep -q 'echo long' && echo '{"substitute":"short"}'; exit 0"#,
            ),
        ],
    );
    assert_eq!(bench.cairn(&["run", "--yolo", "work"]).code, 0);
    assert!(!bench.file("made").exists());
    let told = told(&bench);
    assert_eq!(told[1], "from the cache");
    assert!(told[2].ends_with("hello\na hook adds:\na.txt is generated"), "{}", told[2]);
    assert_eq!(told[3], "short");
    assert_eq!(shown(&bench, "1/1/1")["outcome"]["settled"], "not-performed");
    assert_eq!(shown(&bench, "1/3/1")["outcome"]["exit"], 0);
    assert_eq!(bench.cairn(&["verify"]).code, 0);
}

// keeps: hook-prompts
#[test]
fn a_hook_refuses_a_task_before_the_model_hears_of_it_or_adds_to_it() {
    let bench = Bench::new(json!([{"say": "ok"}]));
    let guard = r#"grep -q 'password' && { echo 'no passwords' >&2; exit 2; }; echo 'branch main'"#;
    let start = r#"grep -q '"source":"startup"' && echo 'it is Monday'"#;
    hooks(&bench, &[("UserPromptSubmit", "", guard), ("SessionStart", "", start)]);
    let refused = bench.cairn(&["run", "my password is x"]);
    assert_eq!(refused.code, 1, "{}", refused.err);
    assert!(refused.err.contains("no passwords"), "{}", refused.err);
    assert!(bench.requests().is_empty());
    assert_eq!(bench.cairn(&["run", "-c", "work"]).code, 0);
    let messages = bench.requests()[0]["messages"].clone();
    let said: Vec<&str> = messages.as_array().unwrap()[1..]
        .iter()
        .map(|message| message["content"].as_str().unwrap())
        .collect();
    assert_eq!(said, ["work", "a hook adds:\nbranch main"]);
    let bench_two = Bench::new(json!([{"say": "ok"}]));
    hooks(&bench_two, &[("SessionStart", "", start)]);
    assert_eq!(bench_two.cairn(&["run", "work"]).code, 0);
    assert_eq!(told(&bench_two), ["a hook adds:\nit is Monday"]);
}

// keeps: hook-stop
#[test]
fn a_hook_keeps_the_loop_going_until_it_is_content_and_another_sees_the_end() {
    let bench = Bench::new(json!([{"say": "done"}, bash("touch tested"), {"say": "really"}]));
    let stop = r#"test -e tested || { echo 'run the tests' >&2; exit 2; }"#;
    hooks(&bench, &[("Stop", "", stop), ("SessionEnd", "", "cat > ended")]);
    let events = bench.events(&["run", "--yolo", "--json", "work"]);
    let result = events.last().unwrap();
    assert_eq!((&result["answer"], &result["exit_code"]), (&json!("really"), &json!(0)));
    assert_eq!(told(&bench)[1], "a hook does not let the work end yet:\nrun the tests");
    assert!(std::fs::read_to_string(bench.file("ended")).unwrap().contains("SessionEnd"));
    let said: Vec<String> = events
        .iter()
        .filter(|event| event["type"] == "hook/answered")
        .map(|event| format!("{} {}", event["event"], event["said"]).replace('"', ""))
        .collect();
    assert_eq!(said, ["Stop [block]", "Stop []", "SessionEnd []"]);
}

// keeps: hook-facts
#[test]
fn a_run_that_is_cut_after_every_step_asks_each_hook_once() {
    let bench = Bench::new(json!([
        json!({"calls": [
            {"tool": "bash", "args": {"command": "touch a"}},
            {"tool": "list", "args": {"path": "."}}
        ]}),
        {"say": "ok"}
    ]));
    let note = "echo x >> $HOME/";
    let all = ["UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"];
    let commands: Vec<String> = all.iter().map(|event| format!("{note}{event}")).collect();
    let table: Vec<(&str, &str, &str)> =
        all.iter().zip(&commands).map(|(event, command)| (*event, "", &**command)).collect();
    hooks(&bench, &table);
    let first = bench.cairn(&["run", "--yolo", "--steps", "1", "work"]);
    assert_eq!(first.code, 4, "{}", first.err);
    let mut steps = 1;
    while bench.cairn(&["run", "--yolo", "--steps", "1", "-c"]).code == 4 {
        steps += 1;
        assert!(steps < 60);
    }
    let count = |event: &str| {
        std::fs::read_to_string(bench.temp.path().join(event)).unwrap().lines().count()
    };
    assert_eq!(all.map(count), [1, 2, 2, 1], "after {steps} steps");
    assert_eq!(bench.cairn(&["verify"]).code, 0);
}

// keeps: hook-commands
#[test]
fn hooks_of_another_agents_settings_work_when_the_user_names_the_file() {
    let bench = Bench::new(json!([bash("touch made"), {"say": "ok"}]));
    let settings = json!({"hooks": {
        "PreToolUse": [{"matcher": "Bash", "hooks": [
            {"type": "command", "command": "echo nope >&2; exit 2", "timeout": 5}]}],
        "PreCompact": [{"hooks": [{"type": "command", "command": "true"}]}],
    }});
    let file = bench.temp.path().join(".claude/settings.json");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, settings.to_string()).unwrap();
    bench.own("cairn.toml", "hooks.import = [\"~/.claude/settings.json\"]\n");
    let done = bench.cairn(&["run", "--yolo", "work"]);
    assert!(done.err.matches("PreCompact: not asked yet").count() == 1, "{}", done.err);
    assert_eq!(told(&bench)[1], "refused by a hook: nope");
    bench.own("cairn.toml", "hooks.import = [\"~/.claude/gone.json\"]\n");
    let gone = bench.cairn(&["run", "--yolo", "work"]);
    assert_eq!(gone.code, 2, "{}", gone.err);
}

// keeps: trust-asked
#[test]
fn an_import_never_makes_a_projects_commands_the_users_own() {
    let bench = Bench::new(json!([{"say": "ok"}]));
    let hook = json!([{"hooks": [{"type": "command", "command": "touch ran"}]}]);
    let settings = json!({"hooks": {"SessionStart": hook}}).to_string();
    std::fs::write(bench.file("s.json"), &settings).unwrap();
    let (root, home) = (bench.temp.workspace(), bench.temp.path());
    let folder = root.parent().unwrap();
    std::fs::write(folder.join("own.json"), &settings).unwrap();
    let link = std::os::unix::fs::symlink::<std::path::PathBuf, std::path::PathBuf>;
    link(root.to_owned(), home.join("alias")).unwrap();
    link(bench.file("s.json"), home.join("into.json")).unwrap();
    link(folder.join("own.json"), bench.file("out.json")).unwrap();
    let whole = |name: &str| root.join(name).display().to_string();
    let own = folder.join("own.json").display().to_string();
    for (given, code, ran, said) in [
        ("s.json", 2, false, "write the whole path"),
        ("./s.json", 2, false, "write the whole path"),
        ("../own.json", 2, false, "write the whole path"),
        ("~other/s.json", 2, false, "write the whole path"),
        (&whole("s.json"), 0, false, "it lies in the project"),
        (&whole("out.json"), 0, false, "it lies in the project"),
        (&whole("gone.json"), 0, false, "it lies in the project"),
        ("~/alias/s.json", 0, false, "it lies in the project"),
        ("~/alias/out.json", 0, false, "it lies in the project"),
        ("~/into.json", 0, false, "it lies in the project"),
        (&own, 0, true, ""),
    ] {
        let _ = std::fs::remove_file(bench.file("ran"));
        bench.own("cairn.toml", &format!("hooks.import = ['{given}']\n"));
        let done = bench.cairn(&["run", "--yolo", "work"]);
        assert_eq!((done.code, bench.file("ran").exists()), (code, ran), "{given} {}", done.err);
        assert!(done.err.contains(said), "{given} {}", done.err);
        assert_eq!(done.err.matches("hooks.import").count(), usize::from(!ran), "{}", done.err);
    }
}

// keeps: hook-commands
#[test]
fn a_hook_that_fails_is_reported_and_one_that_hangs_at_a_gate_refuses() {
    let bench = Bench::new(json!([bash("touch made"), {"say": "ok"}]));
    hooks(&bench, &[("PreToolUse", "", "echo broken >&2; exit 1")]);
    let done = bench.cairn(&["run", "--yolo", "work"]);
    assert!(bench.file("made").exists());
    assert!(done.err.contains("exit code 1: broken"), "{}", done.err);
    let bench = Bench::new(json!([bash("touch made"), {"say": "ok"}]));
    bench.own("cairn.toml", "[[hooks.PreToolUse]]\ncommand = \"sleep 1000\"\ntimeout_ms = 50\n");
    bench.cairn(&["run", "--yolo", "work"]);
    assert!(!bench.file("made").exists());
    assert!(told(&bench)[1].contains("did not answer within 50 ms"), "{:?}", told(&bench));
}

// keeps: trust-asked
#[test]
fn a_projects_own_hooks_run_only_while_they_are_what_was_trusted() {
    let bench = Bench::new(json!([{"say": "ok"}]));
    std::fs::create_dir(bench.file(".cairn")).unwrap();
    let file = "[[SessionEnd]]\ncommand = \"sh tools.sh\"\n";
    std::fs::write(bench.file(".cairn/hooks.toml"), file).unwrap();
    std::fs::write(bench.file("tools.sh"), "touch ran\n").unwrap();
    let runs = |args: &[&str]| {
        let _ = std::fs::remove_file(bench.file("ran"));
        let done = bench.cairn(&[&["run"], args, &["work"]].concat());
        assert_eq!(done.code, 0, "{}", done.err);
        let said = done.err.matches("hooks do not run").count();
        let ran = bench.file("ran").exists();
        assert_eq!(said, usize::from(!ran), "said once, and only then: {}", done.err);
        (ran, done.err)
    };
    let (ran, said) = runs(&[]);
    assert!(!ran && said.contains("nobody trusted them. To look at them: cairn trust"), "{said}");
    assert!(runs(&["--trust"]).0);
    assert!(!runs(&[]).0, "--trust is for one run");
    let asked = bench.cairn(&["trust"]);
    assert_eq!(asked.code, 2, "nobody can be asked: {}", asked.err);
    assert!(asked.err.contains("sh tools.sh") && asked.err.contains("tools.sh  10 bytes"));
    let trusted = bench.cairn(&["trust", "--yes"]);
    assert_eq!(trusted.code, 0, "{}", trusted.err);
    assert!(runs(&[]).0);
    assert!(bench.cairn(&["trust", "--list"]).out.contains("workspace"));
    std::fs::write(bench.file("tools.sh"), "touch ran \n").unwrap();
    let (ran, said) = runs(&[]);
    assert!(!ran && said.contains("have changed since they were trusted"), "{said}");
    std::fs::write(bench.file("tools.sh"), "touch ran\n").unwrap();
    assert!(runs(&[]).0);
    assert_eq!(bench.cairn(&["trust", "--revoke"]).code, 0);
    assert!(!runs(&[]).0);

    // What a repository says about itself counts only if the user says so.
    let shown: Value =
        serde_json::from_str(&bench.cairn(&["trust", "--show", "--json"]).out).unwrap();
    let hash = shown["hash"].as_str().unwrap();
    std::fs::write(bench.file(".cairn/trusted"), format!("{hash}\n")).unwrap();
    assert!(!runs(&[]).0);
    assert!(runs(&["--trust-committed"]).0);
    let root = bench.temp.workspace();
    bench.own("cairn.toml", &format!("trust.committed = [\"{}\"]\n", root.display()));
    assert!(runs(&[]).0);
    std::fs::write(bench.file("tools.sh"), "touch ran; :\n").unwrap();
    let (ran, said) = runs(&[]);
    assert!(!ran && said.contains("their hash is not in .cairn/trusted"), "{said}");
}
