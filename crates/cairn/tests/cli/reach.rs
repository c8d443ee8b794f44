//! Which hosts a command may reach: none by itself; a person is asked once, and a rule lets it.

use crate::bench_world::Bench;
use crate::hooks::hooks;
use crate::overlay::{bash, decide, facts, told};
use crate::terminal::Terminal;
use cairn_testkit::Origin;
use serde_json::{Value, json};
use std::net::SocketAddr;

/// A command that writes what a host says, or why it says nothing, into a file.
fn fetch(at: SocketAddr) -> String {
    format!(
        "python3 - <<'END'\nimport urllib.request as r, urllib.error as e\ntry: said = r.urlopen('http://{at}/').read().decode()\nexcept e.HTTPError as x: said = str(x.code)\nprint(said)\nif said != 'origin': exit(1)\nopen('got', 'w').write(said)\nEND"
    )
}

fn bench(commands: &[String]) -> Bench {
    let mut replies: Vec<Value> = commands.iter().map(|command| bash(command)).collect();
    replies.push(json!({"say": "done"}));
    Bench::confined(json!(replies))
}

// keeps: network-asked
#[test]
fn a_person_is_asked_which_hosts_and_then_what_it_changed() {
    let origin = Origin::start();
    let at = origin.at();
    let bench = bench(&[fetch(at), fetch(at)]);
    let mut talk = bench.talk(&["run", "--json", "fetch it"]);
    let question = talk.until("proposal/opened");
    assert_eq!(
        (&question["kind"], &question["hosts"]),
        (&json!("network"), &json!([at.to_string()]))
    );
    assert!(
        question["shown"].as_str().unwrap().contains(&format!("{at} (this machine)")),
        "{question}"
    );
    assert_eq!(origin.came(), 0);
    talk.say(json!({"type": "decide", "proposal": question["proposal"], "verdict": "allow",
        "remember": "session"}));
    let question = talk.until("proposal/opened");
    assert_eq!(question["kind"], "edit", "{question}");
    assert!(question["shown"].as_str().unwrap().contains("origin"), "{question}");
    assert!(!bench.file("got").exists());
    decide(&mut talk, &question, "allow");
    assert_eq!(talk.result()["status"], "done");
    assert_eq!((bench.temp.read("got"), origin.came()), ("origin".to_owned(), 2));
    assert!(told(&bench, 2).contains("origin\nexit=0\nkept: new got"), "{}", told(&bench, 2));
    // What was said for the session holds in its next run; each time it is recorded before it runs.
    assert_eq!(facts(&bench, "reach").len(), 2);
    let answers = bench.cairn(&["policy", "answers"]).out;
    assert!(answers.contains(&format!("exec[effect=network,host={at}]")), "{answers}");
}

// keeps: network-asked
#[test]
fn nobody_lets_it_out_but_a_person_or_a_rule() {
    let origin = Origin::start();
    let at = origin.at();
    for (args, expected) in [
        (&["run", "--yolo", "fetch"][..], 0),
        (&["run", "fetch"], 0),
        (&["run", "--yolo", "--allow", "exec", "fetch"], 0),
        (&["run", "--yolo", "--allow", "RULE", "--no-web", "fetch"], 0),
        (&["run", "--yolo", "--sandbox", "strict", "--allow", "RULE", "fetch"], 0),
        (&["run", "--yolo", "--allow", "RULE", "fetch"], 1),
    ] {
        let bench = bench(&[fetch(at)]);
        let rule = format!("exec[effect=network,host={at}]");
        let args: Vec<&str> = args.iter().map(|a| if *a == "RULE" { &*rule } else { *a }).collect();
        let done = bench.cairn(&args);
        assert_eq!(origin.came(), expected, "{args:?}: {}", done.err);
        if expected == 0 && !args.contains(&"strict") {
            let said = format!("not reached, because it is not allowed: {at}\nexit=1");
            assert!(told(&bench, 2).contains(&said), "{args:?}: {}", told(&bench, 2));
        }
    }
}

// keeps: network-asked
#[test]
fn a_rule_against_a_host_counts_whatever_lets_more_than_it() {
    let origin = Origin::start();
    let at = origin.at();
    let [wide, host, all] = [at.to_string(), at.ip().to_string(), "*".to_owned()]
        .map(|host| format!("exec[effect=network,host={host}]"));
    for (args, questions, expected) in [
        (["--allow", &wide, "--deny", &host], 0, 0),
        (["--allow", &wide, "--deny", &all], 0, 0),
        (["--allow", &wide, "--deny", "exec[host=example.org]"], 0, 1),
        (["--allow", &wide, "--ask", &host], 1, 1),
    ] {
        let bench = bench(&[fetch(at)]);
        let args =
            [&["run", "--json", "--mode", "accept-edits"], &args[..], &["fetch it"]].concat();
        let (mut talk, before) = (bench.talk(&args), origin.came());
        for _ in 0..questions {
            let question = talk.until("proposal/opened");
            assert_eq!((&question["kind"], origin.came()), (&json!("network"), before), "{args:?}");
            decide(&mut talk, &question, "allow");
        }
        assert_eq!(talk.result()["status"], "done", "{args:?}");
        assert_eq!(origin.came() - before, expected, "{args:?} {}", told(&bench, 2));
        assert_eq!(facts(&bench, "proposal").len(), questions, "{args:?}");
        assert_eq!(bench.file("got").exists(), expected == 1, "{args:?}");
        assert_eq!(bench.cairn(&["policy", "replay"]).code, 0, "{args:?}");
    }
}

/// A command that asks the proxy itself, also for a host that programs do not ask it for, and fails.
fn asks(method: &str, to: &str) -> String {
    format!(
        "python3 - <<'END'\nimport socket\ns = socket.create_connection(('127.0.0.1', 3128))\ns.sendall(b'{method} http://{to}/ HTTP/1.1\\r\\nHost: {to}\\r\\n\\r\\n')\nprint(s.recv(99).split()[1])\nexit(1)\nEND"
    )
}

// keeps: network-asked
#[test]
fn what_no_yes_can_help_is_told_and_not_asked_about() {
    let origin = Origin::start();
    let (at, name) = (origin.at(), format!("localhost:{}", origin.at().port()));
    let rule = format!("exec[effect=network,host={name}]");
    for (allow, method, to, questions, expected) in [
        (true, "GET", &name, 0, "not reached, because it leads to this machine ("),
        (false, "GET", &name, 1, "not reached, because it leads to this machine ("),
        (false, "POST", &name, 0, "not reached, because only GET and HEAD are passed on over"),
    ] {
        let bench = bench(&[asks(method, to)]);
        let rules: &[&str] = if allow { &["--allow", &rule] } else { &[] };
        let mut talk = bench.talk(&[&["run", "--json"], rules, &["fetch it"]].concat());
        for _ in 0..questions {
            let question = talk.until("proposal/opened");
            assert_eq!(question["hosts"], json!([name]), "{question}");
            decide(&mut talk, &question, "allow");
        }
        assert_eq!(talk.result()["status"], "done");
        assert_eq!(facts(&bench, "proposal").len(), questions, "{allow} {method}");
        assert!(told(&bench, 2).contains(expected), "{}", told(&bench, 2));
        assert!(!told(&bench, 2).contains("not allowed"), "{}", told(&bench, 2));
    }
    assert_eq!(origin.came(), 0, "{at}");
}

// keeps: network-asked
#[test]
fn a_code_of_0_hides_no_host_that_was_wanted() {
    let origin = Origin::start();
    let at = origin.at();
    let hidden =
        "python3 -c \"import os, urllib.request as r\nr.urlopen(open('url').read())\" 2>&1";
    let caught = "python3 -c \"import urllib.request as r\ntry: r.urlopen(open('url').read())\nexcept Exception: pass\"";
    let named = format!("{caught} http://{at}/");
    for (command, questions) in [
        (format!("{hidden} | tail -n 1"), 1),
        (format!("{hidden} || true"), 1),
        (format!("{hidden}; true"), 1),
        (named, 1),
        // It did its work all the same.
        (caught.to_owned(), 0),
        (format!("true && {caught}"), 0),
    ] {
        let bench = bench(std::slice::from_ref(&command));
        bench.temp.write("url", format!("http://{at}/"));
        let mut talk = bench.talk(&["run", "--json", "fetch it"]);
        for _ in 0..questions {
            let question = talk.until("proposal/opened");
            assert_eq!(question["hosts"], json!([at.to_string()]), "{command}");
            decide(&mut talk, &question, "refuse");
        }
        assert_eq!(talk.result()["status"], "done", "{command}");
        assert_eq!(facts(&bench, "proposal").len(), questions, "{command}");
        assert!(told(&bench, 2).contains(&format!("{at}\nexit=0")), "{}", told(&bench, 2));
    }
    assert_eq!(origin.came(), 0);
}

// keeps: network-asked
#[test]
fn a_yes_that_is_remembered_is_shown_as_its_rule() {
    let origin = Origin::start();
    for (key, far) in [("a", "run"), ("s", "session")] {
        let bench = bench(&[fetch(origin.at())]);
        let mut terminal =
            Terminal::open(&bench, bench.command(&["run", "--mode", "accept-edits", "fetch"]));
        terminal.until("n no: ");
        terminal.keys(&format!("{key}\n"));
        let rule = format!("exec[effect=network,host={}]", origin.at());
        terminal.until(&format!("remembered in this {far}: allow {rule}"));
        terminal.until("done: 2 turns");
    }
}

// keeps: network-asked
#[test]
fn a_yes_to_one_host_is_none_to_others_that_the_same_rule_asks_about() {
    let (one, two) = (Origin::start(), Origin::start());
    let [first, second] = [&one, &two].map(Origin::at);
    let [let_first, let_second, ask] =
        [first.to_string(), second.to_string(), first.ip().to_string()]
            .map(|host| format!("exec[effect=network,host={host}]"));
    let bench = bench(&[format!("set -e\n{}\n{}", fetch(first), fetch(second))]);
    let rules = ["--allow", &let_first, "--allow", &let_second, "--ask", &ask];
    let args = [&["run", "--json", "--mode", "accept-edits"], &rules[..], &["fetch"]].concat();
    let mut talk = bench.talk(&args);
    let question = talk.until("proposal/opened");
    assert_eq!(question["hosts"], json!([first.to_string()]), "{question}");
    decide(&mut talk, &question, "allow");
    assert_eq!(talk.result()["status"], "done");
    assert_eq!((one.came(), two.came()), (1, 0), "{}", told(&bench, 2));
}

// keeps: network-asked
#[test]
fn a_no_is_told_and_asked_once() {
    let origin = Origin::start();
    let at = origin.at();
    let bench = bench(&[fetch(at)]);
    let mut talk = bench.talk(&["run", "--json", "fetch it"]);
    let question = talk.until("proposal/opened");
    decide(&mut talk, &question, "refuse");
    assert_eq!(talk.result()["status"], "done");
    assert_eq!((origin.came(), facts(&bench, "proposal").len()), (0, 1));
    assert!(told(&bench, 2).contains("403\nnot reached"), "{}", told(&bench, 2));
}

/// A hook's script that says this of any command that wants out, and writes down what it was told.
fn says(decision: &str) -> String {
    let answer = format!(
        r#"{{"hookSpecificOutput":{{"hookEventName":"PermissionRequest","decision":{decision}}}}}"#
    );
    format!("tee -a $HOME/heard | grep -q '\"hosts\"' && echo '{answer}'; exit 0")
}

// keeps: hook-questions
#[test]
fn a_hook_answers_the_question_about_hosts_and_only_that_one() {
    let allow = r#"{"behavior":"allow"}"#;
    let deny = r#"{"behavior":"deny","message":"not that host"}"#;
    let origin = Origin::start();
    let at = origin.at();
    let denied = format!("exec[effect=network,host={at}]");
    for (decision, args, questions, expected) in [
        (allow, &[][..], &["edit"][..], 1),
        (deny, &[], &[], 0),
        (allow, &["--ask", &denied], &["network"], 0),
        (allow, &["--deny", &denied], &[], 0),
        (allow, &["--no-web"], &[], 0),
    ] {
        let bench = bench(&[fetch(at)]);
        hooks(&bench, &[("PermissionRequest", "Bash", &says(decision))]);
        let args = [&["run", "--json"], args, &["fetch it"]].concat();
        let mut talk = bench.talk(&args);
        for kind in questions {
            let question = talk.until("proposal/opened");
            assert_eq!(question["kind"], *kind, "{args:?} {question}");
            decide(&mut talk, &question, if *kind == "edit" { "allow" } else { "refuse" });
        }
        assert_eq!(talk.result()["status"], "done", "{args:?}");
        assert_eq!(origin.came(), expected, "{args:?}");
        assert_eq!(facts(&bench, "proposal").len(), questions.len(), "{args:?}");
        assert_eq!(bench.file("got").exists(), expected == 1);
        let is_told = told(&bench, 2).contains("refused by a hook: not that host");
        assert_eq!(is_told, decision == deny, "{}", told(&bench, 2));
        let heard = std::fs::read_to_string(bench.temp.path().join("heard")).unwrap_or_default();
        let is_asked = !args.contains(&"--deny") && !args.contains(&"--no-web");
        assert_eq!(heard.contains(&format!("\"hosts\":[\"{at}\"]")), is_asked, "{heard}");
        assert_eq!(bench.cairn(&["verify"]).code, 0);
        assert_eq!(bench.cairn(&["policy", "replay"]).code, 0, "{args:?}");
    }
}

// keeps: network-asked
#[test]
fn a_question_about_hosts_outlives_the_process_that_put_it() {
    let origin = Origin::start();
    let bench = bench(&[fetch(origin.at())]);
    let mut talk = bench.talk(&["run", "--json", "fetch it"]);
    let first = talk.until("proposal/opened");
    talk.child.kill().unwrap();
    talk.child.wait().unwrap();
    let mut talk = bench.talk(&["run", "--json", "-c"]);
    let question = talk.until("proposal/opened");
    for part in ["kind", "hosts", "shown"] {
        assert_eq!(question[part], first[part], "{question}");
    }
    decide(&mut talk, &question, "allow");
    let question = talk.until("proposal/opened");
    assert_eq!((&question["kind"], origin.came()), (&json!("edit"), 1), "{question}");
    decide(&mut talk, &question, "allow");
    assert_eq!(talk.result()["status"], "done");
    assert_eq!(bench.temp.read("got"), "origin");
}

// keeps: network-asked
#[test]
fn one_that_may_have_reached_a_host_is_not_run_again_by_itself() {
    let origin = Origin::start();
    let at = origin.at();
    let command = format!("{}; sleep 60", fetch(at).replace("\nEND", "\nEND\ntrue"));
    let bench = bench(&[command]);
    let rule = format!("exec[effect=network,host={at}]");
    let mut driver = bench.command(&["run", "--yolo", "--allow", &rule, "fetch"]).spawn().unwrap();
    while origin.came() == 0 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    driver.kill().unwrap();
    driver.wait().unwrap();
    let done = bench.cairn(&["run", "-c", "--yolo", "--allow", &rule]);
    assert_eq!(origin.came(), 0, "{}", done.err);
    let outcomes = facts(&bench, "outcome");
    assert_eq!(
        (&outcomes[0]["status"], &outcomes[0]["settled"]),
        (&json!(500), &json!("indeterminate"))
    );
}

/// A command that reaches the first host and then wants the second one.
fn fetch_both(first: &Origin, second: &Origin) -> String {
    format!("{}\n{}", fetch(first.at()), fetch(second.at()))
}

// keeps: network-asked
#[test]
fn what_reached_a_host_before_a_crash_is_run_again_only_after_a_yes_to_hosts() {
    let (first, second) = (Origin::start(), Origin::start());
    let rule = format!("exec[effect=network,host={}]", first.at());
    let both = || fetch_both(&first, &second);
    for (command, kind, args, verdict, again) in [
        (both(), "network", &[][..], Some("refuse"), false),
        (both(), "network", &["--yolo"], Some("refuse"), false),
        (both(), "network", &[], Some("allow"), true),
        (fetch(first.at()), "edit", &[], None, false),
        (fetch(first.at()), "edit", &["--mode", "accept-edits"], None, false),
    ] {
        let bench = bench(&[command]);
        let mut talk = bench.talk(&["run", "--json", "--allow", &rule, "fetch it"]);
        assert_eq!(talk.until("proposal/opened")["kind"], kind);
        assert_eq!(first.came(), 1, "{kind}");
        talk.child.kill().unwrap();
        talk.child.wait().unwrap();
        let mut talk = bench.talk(&[&["run", "--json", "-c", "--allow", &rule], args].concat());
        if let Some(verdict) = verdict {
            let question = talk.until("proposal/opened");
            decide(&mut talk, &question, verdict);
        }
        if again {
            let question = talk.until("proposal/opened");
            assert_eq!(question["kind"], "edit", "{question}");
            decide(&mut talk, &question, "allow");
        }
        // Nothing more is asked.
        talk.hang_up();
        assert_eq!(talk.result()["status"], "done");
        let outcome = &facts(&bench, "outcome")[0];
        let expected = if again { (200, "performed") } else { (500, "indeterminate") };
        let expected = (&json!(expected.0), &json!(expected.1));
        assert_eq!((&outcome["status"], &outcome["settled"]), expected, "{kind} {verdict:?}");
        assert_eq!(
            (first.came(), second.came()),
            (again.into(), again.into()),
            "{kind} {verdict:?}"
        );
        assert_eq!(bench.file("got").exists(), again);
        assert_eq!(bench.cairn(&["verify"]).code, 0, "{kind} {verdict:?}");
        assert_eq!(bench.cairn(&["policy", "replay"]).code, 0, "{kind} {verdict:?}");
    }
}

// keeps: network-asked
#[test]
fn what_reached_a_host_is_not_run_again_for_a_hook() {
    let (first, second) = (Origin::start(), Origin::start());
    let rule = format!("exec[effect=network,host={}]", first.at());
    let changes = r#"{"behavior":"allow","updatedInput":{"command":"echo other"}}"#;
    for (event, script, command, kind) in [
        ("Accepting", "exit 0".to_owned(), fetch(first.at()), "edit"),
        // It cannot make another command of one that ran, and its word counts for nothing against a rule.
        ("PermissionRequest", says(changes), fetch_both(&first, &second), "network"),
    ] {
        let bench = bench(&[command]);
        hooks(&bench, &[(event, "Bash", &script)]);
        let asked = format!("exec[effect=network,host={}]", second.at());
        let args = ["run", "--json", "--allow", &rule, "--ask", &asked, "fetch it"];
        let mut talk = bench.talk(&args);
        let question = talk.until("proposal/opened");
        assert_eq!(question["kind"], kind, "{question}");
        decide(&mut talk, &question, if kind == "edit" { "allow" } else { "refuse" });
        if kind == "network" {
            let question = talk.until("proposal/opened");
            decide(&mut talk, &question, "allow");
        }
        assert_eq!(talk.result()["status"], "done", "{event}");
        assert_eq!((first.came(), second.came()), (1, 0), "{event}");
        assert_eq!(bench.temp.read("got"), "origin");
        assert_eq!(bench.cairn(&["verify"]).code, 0, "{event}");
        assert_eq!(bench.cairn(&["policy", "replay"]).code, 0, "{event}");
    }
}

// keeps: network-asked, hook-questions
#[test]
fn a_command_that_reached_a_host_is_not_made_another_by_a_hook() {
    let origin = Origin::start();
    let at = origin.at();
    let bench = bench(&[fetch(at)]);
    let decision = r#"{"behavior":"allow","updatedInput":{"command":"echo other > other"}}"#;
    let answer = format!(
        r#"{{"hookSpecificOutput":{{"hookEventName":"PermissionRequest","decision":{decision}}}}}"#
    );
    hooks(&bench, &[("PermissionRequest", "Bash", &format!("echo '{answer}'"))]);
    let rule = format!("exec[effect=network,host={at}]");
    let talk = bench.talk(&["run", "--json", "--allow", &rule, "fetch it"]);
    assert_eq!(talk.result()["status"], "done");
    assert_eq!(origin.came(), 1);
    assert!(bench.file("got").exists() && !bench.file("other").exists(), "{}", told(&bench, 2));
    assert_eq!(bench.cairn(&["verify"]).code, 0);
    assert_eq!(bench.cairn(&["policy", "replay"]).code, 0);
}
