//! The hooks around questions, failures, senseless calls and turns: real scripts, asked by real runs.

use crate::bench_world::Bench;
use crate::hooks::{bash, hooks, shown, told};
use serde_json::{Value, json};

/// What a script that only writes down what it reads has written.
fn heard(bench: &Bench, file: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(bench.temp.path().join(file)).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn note(file: &str) -> String {
    format!("cat >> $HOME/{file}")
}

// keeps: hook-questions
#[test]
fn a_script_answers_in_a_persons_place_and_what_it_leaves_open_is_asked() {
    let bench = Bench::new(json!([
        bash("touch fine"),
        bash("touch made"),
        bash("touch other"),
        bash("touch asked"),
        {"say": "ok"}
    ]));
    let script = r#"tee -a $HOME/heard | python3 -c '
import json, sys
command = json.load(sys.stdin)["tool_input"]["command"]
says = {
    "touch fine": {"behavior": "allow"},
    "touch made": {"behavior": "deny", "message": "made is not wanted"},
    "touch other": {"behavior": "allow", "updatedInput": {"command": "touch another"}},
}.get(command)
if says: print(json.dumps({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": says}}))
'"#;
    hooks(&bench, &[("PermissionRequest", "Bash", script)]);
    let mut talk = bench.talk(&["run", "--json", "work"]);
    let open = talk.until("proposal/opened");
    assert!(open["shown"].as_str().unwrap().contains("touch asked"), "{open}");
    talk.say(json!({"type": "decide", "proposal": open["proposal"], "verdict": "refuse"}));
    assert_eq!(talk.result()["exit_code"], 0);
    let there = ["fine", "made", "other", "another", "asked"].map(|name| bench.file(name).exists());
    assert_eq!(there, [true, false, false, true, false]);
    assert_eq!(told(&bench)[2], "refused by a hook: made is not wanted");
    let first = &heard(&bench, "heard")[0];
    assert!(first["proposal_shown"].as_str().unwrap().contains("touch fine"), "{first}");
    assert_eq!(first["tool_name"], "Bash");
    assert_eq!(shown(&bench, "1/2/1")["outcome"]["status"], 403);
    assert_eq!(bench.cairn(&["verify"]).code, 0);
    assert_eq!(bench.cairn(&["policy", "replay"]).code, 0);
}

// keeps: hook-accepting
#[test]
fn a_script_vetoes_what_was_allowed_and_nothing_of_it_is_done() {
    let bench = Bench::new(json!([bash("touch made"), bash("touch fine"), {"say": "ok"}]));
    let veto =
        r#"tee -a $HOME/heard | grep -q 'touch made' && { echo frozen >&2; exit 2; }; exit 0"#;
    hooks(&bench, &[("Accepting", "Bash", veto)]);
    let done = bench.cairn(&["run", "--yolo", "work"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(!bench.file("made").exists() && bench.file("fine").exists());
    assert_eq!(told(&bench)[1], "refused by a hook: frozen");
    let row = shown(&bench, "1/1/1");
    assert_eq!((&row["outcome"]["status"], &row["began"]), (&json!(403), &json!([])), "{row}");
    assert_eq!(heard(&bench, "heard")[0]["by"], "yolo");
    assert_eq!(bench.cairn(&["verify"]).code, 0);
    assert_eq!(bench.cairn(&["policy", "replay"]).code, 0);
}

// keeps: hook-questions
#[test]
fn scripts_are_told_of_a_question_and_of_the_word_on_it() {
    let bench = Bench::new(json!([bash("touch made"), {"say": "ok"}]));
    let (asked, decided) = (note("asked"), note("decided"));
    hooks(
        &bench,
        &[
            ("Notification", "permission_prompt", &asked),
            ("Notification", "idle_prompt", "touch $HOME/never"),
            ("Decided", "", &decided),
        ],
    );
    let mut talk = bench.talk(&["run", "--json", "work"]);
    let open = talk.until("proposal/opened");
    talk.until("hook/answered");
    talk.say(json!({"type": "decide", "proposal": open["proposal"], "verdict": "refuse", "words": "not that"}));
    assert_eq!(talk.result()["exit_code"], 0);
    let asked = &heard(&bench, "asked")[0];
    assert_eq!(asked["notification_type"], "permission_prompt");
    assert!(asked["message"].as_str().unwrap().contains("touch made"), "{asked}");
    assert_eq!(asked["proposal"], open["proposal"]);
    let decided = &heard(&bench, "decided")[0];
    assert_eq!((&decided["verdict"], &decided["words"]), (&json!("refuse"), &json!("not that")));
    assert_eq!(decided["tool_input"]["command"], "touch made");
    assert!(!bench.temp.path().join("never").exists());
}

// keeps: hook-failures
#[test]
fn a_script_says_more_about_what_failed_and_another_sees_what_succeeded() {
    let read = |path: &str| json!({"calls": [{"tool": "read", "args": {"path": path}}]});
    let edit = json!({"calls": [{"tool": "edit", "args": {"path": "a.txt", "old": "nowhere", "new": "x"}}]});
    let bench =
        Bench::new(json!([read("gone.txt"), read("a.txt"), edit, bash("exit 3"), {"say": "ok"}]));
    std::fs::write(bench.file("a.txt"), "hello\n").unwrap();
    let failed = r#"tee -a $HOME/failed >/dev/null; echo '{"hookSpecificOutput":{"additionalContext":"it moved"}}'"#;
    let succeeded = note("succeeded");
    hooks(&bench, &[("PostToolUseFailure", "", failed), ("PostToolUse", "", &succeeded)]);
    assert_eq!(bench.cairn(&["run", "--yolo", "work"]).code, 0);
    let told = told(&bench);
    assert!(told[1].ends_with("a hook adds:\nit moved"), "{}", told[1]);
    assert!(told[3].ends_with("a hook adds:\nit moved"), "{}", told[3]);
    let (failed, succeeded) = (heard(&bench, "failed"), heard(&bench, "succeeded"));
    let tools =
        |all: &[Value]| all.iter().map(|one| one["tool_name"].to_string()).collect::<Vec<_>>();
    assert_eq!(tools(&failed), ["\"Read\"", "\"Edit\""]);
    // A command that ran has not failed, whatever its exit code.
    assert_eq!(tools(&succeeded), ["\"Read\"", "\"Bash\""]);
    assert_eq!(succeeded[1]["tool_response"]["exit"], 3);
    assert_eq!(failed[0]["tool_response"]["status"], 404);
    assert!(failed[0]["error"].as_str().unwrap().contains("gone.txt"), "{}", failed[0]);
    assert_eq!(shown(&bench, "1/1/1")["outcome"]["status"], 404);
    assert_eq!(bench.cairn(&["verify"]).code, 0);
}

// keeps: hook-unknown
#[test]
fn a_script_says_what_a_senseless_call_meant_or_answers_it() {
    let call = |tool: &str, args: Value| json!({"calls": [{"tool": tool, "args": args}]});
    let bench = Bench::new(json!([
        call("teleport", json!({"to": "made"})),
        call("weather", json!({"at": "home"})),
        call("read", json!({"no": "path"})),
        {"say": "ok"}
    ]));
    let script = r#"tee -a $HOME/heard | python3 -c '
import json, sys
e = json.load(sys.stdin)
if e["tool_name"] == "teleport":
    print(json.dumps({"hookSpecificOutput": {"updatedTool": "Bash", "updatedInput": {"command": "touch " + e["tool_input"]["to"]}}}))
elif e["reason"] == "unknown":
    print(json.dumps({"substitute": "it rains"}))
else:
    print("read wants a path", file=sys.stderr)
    sys.exit(2)
'"#;
    hooks(&bench, &[("UnknownTool", "", script)]);
    let done = bench.cairn(&["run", "--yolo", "work"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(bench.file("made").exists());
    assert_eq!(told(&bench)[2], "it rains");
    assert!(told(&bench)[3].ends_with("a hook adds:\nread wants a path"), "{}", told(&bench)[3]);
    let row = shown(&bench, "1/1/1");
    assert_eq!((&row["tool"], &row["outcome"]["status"]), (&json!("bash"), &json!(200)), "{row}");
    assert_eq!(shown(&bench, "1/2/1")["outcome"]["settled"], "not-performed");
    assert_eq!(shown(&bench, "1/3/1")["outcome"]["status"], 400);
    let reasons: Vec<Value> = heard(&bench, "heard").iter().map(|e| e["reason"].clone()).collect();
    assert_eq!(reasons, [json!("unknown"), json!("unknown"), json!("invalid")]);
    assert_eq!(bench.cairn(&["verify"]).code, 0);
    assert_eq!(bench.cairn(&["policy", "replay"]).code, 0);

    // What was meant is asked about like anything else.
    let bench = Bench::new(json!([call("teleport", json!({"to": "made"})), {"say": "ok"}]));
    hooks(&bench, &[("UnknownTool", "", script)]);
    assert_eq!(bench.cairn(&["run", "work"]).code, 5);
    assert!(!bench.file("made").exists());
}

// keeps: hook-turns
#[test]
fn scripts_see_every_turn_add_to_it_and_refuse_the_next() {
    let list = json!({"calls": [{"tool": "list", "args": {"path": "."}}]});
    let bench = Bench::new(json!([list, list, {"say": "ok"}]));
    let start = r#"tee -a $HOME/started | grep -q '"turn":3' && { echo 'two are enough' >&2; exit 2; }; echo 'be brief'"#;
    let end = note("ended");
    hooks(&bench, &[("TurnStart", "", start), ("TurnEnd", "", &end)]);
    let done = bench.cairn(&["run", "--yolo", "work"]);
    assert_eq!(done.code, 1, "{}", done.err);
    assert!(done.err.contains("two are enough"), "{}", done.err);
    assert!(done.err.contains("a hook refused turn 3"), "{}", done.err);
    assert_eq!(told(&bench), ["a hook adds:\nbe brief", "a hook adds:\nbe brief"]);
    let started = heard(&bench, "started");
    assert_eq!((started.len(), &started[0]["messages"]), (3, &json!(1)));
    assert_eq!(started[0]["model"], "openai/test");
    assert!(started[1]["bytes"].as_u64() > started[0]["bytes"].as_u64());
    let ended = heard(&bench, "ended");
    assert_eq!(ended.len(), 2);
    assert_eq!(
        ended[0]["ops"],
        json!([{"tool_use_id": "1/1/1", "cairn_tool": "list", "status": 200}])
    );
}

// keeps: hook-facts
#[test]
fn a_run_that_is_cut_after_every_step_asks_each_of_these_hooks_once() {
    let bench = Bench::new(json!([
        json!({"calls": [
            {"tool": "bash", "args": {"command": "touch a"}},
            {"tool": "read", "args": {"path": "gone"}},
            {"tool": "teleport", "args": {}}
        ]}),
        {"say": "ok"}
    ]));
    let all = ["TurnStart", "UnknownTool", "Accepting", "PostToolUseFailure", "TurnEnd"];
    let commands: Vec<String> = all.iter().map(|event| note(event)).collect();
    let table: Vec<(&str, &str, &str)> =
        all.iter().zip(&commands).map(|(event, command)| (*event, "", &**command)).collect();
    hooks(&bench, &table);
    assert_eq!(bench.cairn(&["run", "--yolo", "--steps", "1", "work"]).code, 4);
    let mut steps = 1;
    while bench.cairn(&["run", "--yolo", "--steps", "1", "-c"]).code == 4 {
        steps += 1;
        assert!(steps < 60);
    }
    assert_eq!(all.map(|event| heard(&bench, event).len()), [2, 1, 1, 1, 2], "after {steps} steps");
    assert_eq!(bench.cairn(&["verify"]).code, 0);
}

// keeps: policy-explained
#[test]
fn explaining_an_op_names_the_hooks_that_would_be_asked_about_it() {
    let bench = Bench::new(json!([]));
    hooks(
        &bench,
        &[
            ("PreToolUse", "Bash", "pre"),
            ("PermissionRequest", "Bash", "request"),
            ("Accepting", "Edit|Write", "edits"),
            ("Accepting", "", "accept"),
            ("Notification", "", "tell"),
        ],
    );
    let asked = |args: &[&str]| -> Vec<String> {
        let done = bench.cairn(&[&["policy", "explain", "--json"], args].concat());
        let said: Value = serde_json::from_str(&done.out).unwrap();
        let hook =
            |hook: &Value| format!("{} {}", hook["event"], hook["commands"]).replace('"', "");
        said["hooks"].as_array().unwrap().iter().map(hook).collect()
    };
    let (pre, accept) = ("PreToolUse [pre]", "Accepting [accept]");
    assert_eq!(
        asked(&["exec", "ls"]),
        [pre, "PermissionRequest [request]", "Notification [tell]", accept]
    );
    assert_eq!(asked(&["--yolo", "exec", "ls"]), [pre, accept]);
    assert_eq!(asked(&["--deny", "exec *", "exec", "ls"]), [pre]);
    assert_eq!(asked(&["read", "a"]), [""; 0]);
    let spoken = bench.cairn(&["policy", "explain", "exec", "ls"]).out;
    assert!(spoken.contains("PermissionRequest: request"), "{spoken}");
}

// keeps: hook-commands
#[test]
fn an_event_of_elsewhere_is_said_to_be_unasked_and_a_misspelt_one_is_an_error() {
    let bench = Bench::new(json!([{"say": "ok"}]));
    hooks(&bench, &[("SubagentStop", "", "touch ran"), ("Stop", "", "touch stopped")]);
    let done = bench.cairn(&["run", "--yolo", "work"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(done.err.matches("SubagentStop: not asked yet").count(), 1, "{}", done.err);
    assert!(!bench.file("ran").exists() && bench.file("stopped").exists());
    hooks(&bench, &[("PreToolUze", "", "true")]);
    let wrong = bench.cairn(&["run", "--yolo", "work"]);
    assert_eq!(wrong.code, 2, "{}", wrong.err);
    assert!(wrong.err.contains("did you mean \"hooks.PreToolUse\"?"), "{}", wrong.err);

    // The same in a project's own file.
    bench.own("cairn.toml", "");
    std::fs::create_dir(bench.file(".cairn")).unwrap();
    let file = "[[PreCompact]]\ncommand = \"true\"\n[[Stop]]\ncommand = \"touch again\"\n";
    std::fs::write(bench.file(".cairn/hooks.toml"), file).unwrap();
    let done = bench.cairn(&["run", "--yolo", "--trust", "work"]);
    assert_eq!(done.err.matches("PreCompact: not asked yet").count(), 1, "{}", done.err);
    assert!(bench.file("again").exists(), "{}", done.err);
    let file = file.replace("[[Stop]]", "[[Stopp]]");
    std::fs::write(bench.file(".cairn/hooks.toml"), file).unwrap();
    let wrong = bench.cairn(&["run", "--yolo", "--trust", "work"]);
    assert!(wrong.err.contains("did you mean Stop?"), "{}", wrong.err);
}
