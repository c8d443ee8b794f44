//! Who may do what: the word of every gate on ops as models write them.

use super::*;
use crate::gates::{Asked, Leave, Terms};
use crate::policy::{Case, Rule, Rulebook, subject_of};
use cairn_surface::native;

/// A policy of lines such as `deny read .env`, the user's unless another is named: `project: ask edit`.
pub(super) fn of(lines: &[&str]) -> Policy {
    let rule = |line: &&str| {
        let (from, rest) = match line.split_once(": ") {
            Some(("operator", rest)) => (RuleFrom::Operator, rest),
            Some(("project", rest)) => (RuleFrom::Project, rest),
            Some(("answer", rest)) => (RuleFrom::Answer, rest),
            _ => (RuleFrom::User, *line),
        };
        let (word, rule) = rest.split_once(' ').unwrap();
        let word = match word {
            "allow" => RuleWord::Allow,
            "ask" => RuleWord::Ask,
            "deny" => RuleWord::Deny,
            other => panic!("{other} is no word"),
        };
        PolicyRule { word, rule: rule.to_owned(), from, place: String::new(), until: None }
    };
    let rules = lines.iter().map(rule).collect();
    Policy { root: "/w".to_owned(), rules, ..Policy::default() }
}

pub(super) fn leave(
    policy: Policy,
    terms: Terms,
    (tool, args): (&str, &str),
    changed: &[&str],
) -> Leave {
    let parsed = native::parse(tool, args);
    let action = parsed.action.unwrap();
    let subject = subject_of(&action);
    let changed: Vec<String> = changed.iter().map(|path| (*path).to_owned()).collect();
    let case = Case {
        op: action.op(),
        tool,
        writer: Writer::Model,
        effect: parsed.effect,
        subject: &subject,
        changed: &changed,
        ignored: &[],
        gone: &[],
        removed: Removed::default(),
    };
    Asked::new(case, terms, &Rulebook::read(policy).unwrap(), 5).leave()
}

pub(super) fn word_of(leave: &Leave) -> &'static str {
    match leave {
        Leave::Granted(..) => "allow",
        Leave::Ask(_) => "ask",
        Leave::Refused(..) => "deny",
        Leave::Answered(..) | Leave::Hook(_) => "hook",
    }
}

pub(super) const ASKED: Terms = Terms {
    mode: Mode::Act,
    approval: Approval::Ask,
    flags: Flags {
        no_repo: false,
        no_web: false,
        no_proposals: false,
        no_interaction: false,
        someone: false,
        large_deletions: false,
    },
};

pub(super) fn bash(command: &str) -> (&'static str, String) {
    ("bash", serde_json::json!({ "command": command }).to_string())
}

/// A path's op by its tool's name: `read .env`, `write a`, `move a b`; anything else is a command.
pub(super) fn call(text: &str) -> (&'static str, String) {
    let words: Vec<&str> = text.split(' ').collect();
    match words[..] {
        ["read", path] => ("read", serde_json::json!({ "path": path }).to_string()),
        ["write", path] => ("write", serde_json::json!({"path": path, "content": "x"}).to_string()),
        ["remove", path] => ("remove", serde_json::json!({ "path": path }).to_string()),
        ["find", path] => ("find", serde_json::json!({"under": path, "text": "x"}).to_string()),
        ["move", from, to] => ("move", serde_json::json!({"from": from, "to": to}).to_string()),
        ["copy", from, to] => ("copy", serde_json::json!({"from": from, "to": to}).to_string()),
        _ => bash(text),
    }
}

pub(super) fn check(rules: &[&str], terms: Terms, cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let (tool, args) = call(text);
        let leave = leave(of(rules), terms, (tool, &args), &[]);
        assert_eq!(word_of(&leave), *expected, "{text} under {rules:?}: {leave:?}");
    }
}

#[test]
fn without_rules_looking_is_free_and_everything_else_is_asked_about() {
    check(
        &[],
        ASKED,
        &[
            ("read a", "allow"),
            ("find .", "allow"),
            ("write a", "ask"),
            ("remove a", "ask"),
            ("ls", "ask"),
        ],
    );
    check(
        &[],
        Terms { approval: Approval::Nobody, ..ASKED },
        &[("write a", "deny"), ("ls", "deny")],
    );
    check(
        &[],
        Terms { approval: Approval::Yolo, ..ASKED },
        &[("write a", "allow"), ("ls", "allow")],
    );
}

#[test]
fn a_mode_says_what_may_be_done_at_all() {
    for (mode, read, write, exec) in [
        (Mode::ReadOnly, "allow", "deny", "deny"),
        (Mode::Plan, "allow", "deny", "deny"),
        (Mode::Act, "allow", "ask", "ask"),
        (Mode::AcceptEdits, "allow", "allow", "ask"),
    ] {
        let terms = Terms { mode, ..ASKED };
        check(&[], terms, &[("read a", read), ("write a", write), ("ls", exec)]);
        // What may not be done at all is not allowed by a rule either.
        let ruled = if mode.may_act() { "allow" } else { "deny" };
        check(&["allow *"], terms, &[("write a", ruled), ("ls", ruled)]);
    }
}

#[test]
fn what_says_what_may_run_is_asked_about_even_where_edits_are_accepted() {
    let accepts = Terms { mode: Mode::AcceptEdits, ..ASKED };
    let cases = [
        ("write src/a.rs", "allow"),
        ("write .github/workflows/ci.yml", "ask"),
        ("write sub/../cairn.toml", "ask"),
        ("write /w/.mcp.json", "ask"),
        ("move a .husky/pre-commit", "ask"),
        ("remove AGENTS.md", "ask"),
    ];
    check(&[], accepts, &cases);
    check(&["answer: allow edit"], ASKED, &[("write a", "allow"), ("write cairn.toml", "ask")]);
    check(&["allow edit"], ASKED, &[("write AGENTS.md", "allow")]);
    let found = leave(of(&[]), accepts, ("remove", r#"{"path":"sub"}"#), &["sub/.envrc"]);
    assert_eq!(word_of(&found), "ask", "a directory with such a file in it");
}

// keeps: same-gate
#[test]
fn a_file_that_says_what_git_or_cairn_runs_needs_a_person_by_whatever_tool_it_is_changed() {
    let yolo = Terms { approval: Approval::Yolo, ..ASKED };
    let accepts = Terms { mode: Mode::AcceptEdits, ..ASKED };
    let changes = ["write cairn.toml", "move a .husky/pre-commit", "remove .githooks/pre-push"];
    for change in changes {
        check(&[], yolo, &[(change, "deny")]);
        check(&["allow edit", "allow move", "allow kill"], accepts, &[(change, "ask")]);
        check(&["allow edit ./cairn.toml", "answer: allow edit"], yolo, &[(change, "deny")]);
        check(&["allow *"], ASKED, &[(change, "allow")]);
    }
    check(&[], yolo, &[("write AGENTS.md", "allow"), ("write husky/pre-commit", "allow")]);
    let folder = leave(of(&[]), yolo, ("remove", r#"{"path":"sub"}"#), &["sub/.husky/pre-commit"]);
    assert_eq!(word_of(&folder), "deny", "a directory with such a file in it");
}

// keeps: same-gate
#[test]
fn a_patch_that_removes_files_is_judged_as_removing_them() {
    let patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch";
    let args = serde_json::json!({ "patch": patch }).to_string();
    let parsed = native::parse("edit", &args);
    let subject = subject_of(parsed.action.as_ref().unwrap());
    let paths = vec!["a".to_owned()];
    let word = |rules: &[&str], gone: &[String]| {
        let case = Case {
            op: OpName::Edit,
            tool: "edit",
            writer: Writer::Model,
            effect: parsed.effect,
            subject: &subject,
            changed: &paths,
            ignored: &[],
            gone,
            removed: Removed::default(),
        };
        word_of(&Asked::new(case, ASKED, &Rulebook::read(of(rules)).unwrap(), 5).leave())
    };
    assert_eq!(word(&["allow edit a"], &[]), "allow");
    assert_eq!(word(&["allow edit a"], &paths), "ask");
    assert_eq!(word(&["allow edit a", "allow kill a"], &paths), "allow");
    assert_eq!(word(&["allow edit a", "deny kill a"], &paths), "deny");
}

#[test]
fn the_strictest_rule_that_fits_decides() {
    check(
        &["allow read **", "deny read .env", "ask read keys/**"],
        ASKED,
        &[
            ("read a", "allow"),
            ("read .env", "deny"),
            ("read sub/./../x/.env", "deny"),
            ("read /w/.env", "deny"),
            ("read keys/a", "ask"),
            ("copy .env a", "deny"),
            ("move .env a", "deny"),
            ("write .env", "deny"),
            ("remove .env", "ask"),
            ("cat .env", "deny"),
            ("cat sub/.env", "deny"),
            ("grep x --file=.env", "deny"),
            ("sort < .env", "deny"),
        ],
    );
    check(
        &["deny edit dist/**", "allow write **"],
        ASKED,
        &[
            ("write dist/a", "deny"),
            ("remove dist", "allow"),
            ("remove dist/a", "deny"),
            ("move a dist/b", "deny"),
            ("echo x > dist/a", "deny"),
        ],
    );
    let inner = leave(
        of(&["deny edit dist/a", "allow write **"]),
        ASKED,
        ("remove", r#"{"path":"dist"}"#),
        &["dist/a"],
    );
    assert_eq!(word_of(&inner), "deny", "what lies in a directory counts");
}

#[test]
fn a_command_is_allowed_only_if_every_part_of_it_is_meant() {
    check(
        &["allow exec cargo test *", "allow exec git status"],
        ASKED,
        &[
            ("cargo test --all", "allow"),
            ("cargo test && git status", "allow"),
            ("cargo test; rm -rf /", "ask"),
            ("cargo test $(rm -rf /)", "ask"),
            ("PATH=. cargo test", "ask"),
            ("env cargo test", "ask"),
            ("git status --short", "ask"),
        ],
    );
    check(&["allow exec *"], ASKED, &[("x $(y)", "allow"), ("rm -rf /", "allow")]);
    check(
        &["allow exec *", "deny exec rm *"],
        ASKED,
        &[
            ("sudo rm -rf /", "deny"),
            ("$x -rf /", "ask"),
            ("echo $HOME", "allow"),
            ("rm $x", "deny"),
        ],
    );
    let strange = Policy { strange_shell: true, ..of(&["allow exec ls"]) };
    let (tool, args) = bash("ls");
    assert_eq!(word_of(&leave(strange, ASKED, (tool, &args), &[])), "ask");
}

#[test]
fn a_glob_of_the_shell_that_may_be_what_is_forbidden_is_asked_about() {
    check(
        &["allow exec *", "deny read .env", "deny read keys/**", "deny read *.pem"],
        ASKED,
        &[
            ("cat .e*", "ask"),
            ("cat *.rs", "allow"),
            ("cat *", "ask"),
            ("cat keys/*", "deny"),
            ("cat k*", "ask"),
            ("cat server.p*", "ask"),
            ("cat .env", "deny"),
        ],
    );
}

#[test]
fn a_host_is_what_is_named_and_nothing_that_poses_as_it() {
    check(
        &["allow exec[host=example.org] curl *", "deny exec[host=*.evil.org]"],
        ASKED,
        &[
            ("curl https://example.org/a", "allow"),
            ("curl https://example.org@other.org/a", "ask"),
            ("curl https://example.org.other.org", "ask"),
            ("curl https://a.evil.org", "deny"),
            ("curl https://example.org https://other.org", "ask"),
            ("curl example.org", "ask"),
        ],
    );
}

#[test]
fn a_rule_on_the_network_is_about_commands_that_name_its_hosts() {
    let yolo = Terms { approval: Approval::Yolo, ..ASKED };
    check(
        &["deny exec[effect=network,host=vm]", "deny exec[effect=network,host=other:81]"],
        yolo,
        &[
            ("curl http://vm:8777/", "deny"),
            ("curl http://other:81/", "deny"),
            ("curl http://other/", "allow"),
            ("cargo build", "allow"),
            // Where it cannot be told, nothing that was said before answers.
            ("curl http://$x/", "deny"),
        ],
    );
    check(&["ask exec[effect=network,host=vm]", "allow exec"], ASKED, &[("curl http://vm", "ask")]);
    check(
        &["deny *[effect=network]", "allow *"],
        ASKED,
        &[("curl http://vm/", "deny"), ("git clone git@vm:a/b", "deny"), ("ls", "allow")],
    );
    check(&["allow exec[effect=network,host=vm]"], ASKED, &[("curl http://vm/", "ask")]);
}

#[test]
fn a_ceiling_is_not_lifted_by_answers_rules_or_yolo() {
    let ceiling = [
        "operator: deny exec curl *",
        "operator: ask exec git push *",
        "allow *",
        "answer: allow exec",
    ];
    check(&ceiling, ASKED, &[("curl x", "deny"), ("git push", "ask"), ("ls", "allow")]);
    check(&ceiling, Terms { approval: Approval::Yolo, ..ASKED }, &[("curl x", "deny")]);
    check(&["project: deny exec ls", "allow exec ls"], ASKED, &[("ls", "deny")]);
    check(&["project: ask exec ls", "allow exec ls"], ASKED, &[("ls", "ask")]);
    check(&["project: ask exec ls", "answer: allow exec ls"], ASKED, &[("ls", "allow")]);
    // An allowance that a project or an operator wrote is none.
    check(&["project: allow exec ls", "operator: allow exec ls"], ASKED, &[("ls", "ask")]);
}

#[test]
fn what_may_be_forbidden_and_what_an_operator_asks_about_is_not_lifted_by_yolo() {
    let rules = ["deny exec rm *", "operator: ask exec git push *", "allow *"];
    let yolo = Terms { approval: Approval::Yolo, ..ASKED };
    let alone = [("$x -rf a", "deny"), ("git push origin", "deny"), ("ls", "allow")];
    check(&rules, yolo, &alone);
    let someone = Terms { flags: Flags { someone: true, ..Flags::default() }, ..yolo };
    check(&rules, someone, &[("$x -rf a", "ask"), ("git push origin", "ask"), ("ls", "allow")]);
}

// keeps: rules-frozen
#[test]
fn an_edit_that_lets_git_see_a_precious_file_needs_a_person_in_every_mode() {
    let subject = subject_of(&native::parse("read", r#"{"path":"x"}"#).action.unwrap());
    let writes = vec![".gitignore".to_owned()];
    let subject = Subject { reads: Vec::new(), writes, ..subject };
    let leave = |op: OpName, exposed: u64, terms: Terms| {
        let case = Case {
            op,
            tool: "edit",
            writer: Writer::Model,
            effect: Effect::World,
            subject: &subject,
            changed: &subject.writes,
            ignored: &[],
            gone: &[],
            removed: Removed { exposed, ..Removed::default() },
        };
        let policy = of(&["allow edit", "allow *"]);
        Asked::new(case, terms, &Rulebook::read(policy).unwrap(), 5).leave()
    };
    let yolo = Terms { approval: Approval::Yolo, ..ASKED };
    let accepting = Terms { mode: Mode::AcceptEdits, ..ASKED };
    for op in [OpName::Edit, OpName::Exec] {
        assert_eq!(word_of(&leave(op, 0, accepting)), "allow");
        assert_eq!(word_of(&leave(op, 1, accepting)), "ask");
        assert_eq!(word_of(&leave(op, 0, yolo)), "allow");
        assert_eq!(word_of(&leave(op, 1, yolo)), "deny");
    }
}

#[test]
fn a_condition_means_what_it_names_and_nothing_beside_it() {
    check(&["allow *[scheme=log]"], ASKED, &[("rm -rf x", "ask"), ("read log:///1/1/1", "allow")]);
    check(
        &["allow exec[host=good.org] curl *", "allow exec[host=good.org]"],
        ASKED,
        &[
            ("curl https://good.org/a", "allow"),
            ("curl https://good.org; rm -rf x", "ask"),
            ("curl https://good.org/ evil.org/steal", "ask"),
            ("curl -x evil.org:80 https://good.org/", "ask"),
        ],
    );
    let yolo = Terms { approval: Approval::Yolo, ..ASKED };
    check(&["deny exec[host=evil.org]"], yolo, &[("curl evil.org/x", "deny"), ("curl x", "allow")]);
    check(
        &["deny kill keys/**", "allow *"],
        ASKED,
        &[("rm keys/a", "deny"), ("move keys/a b", "deny")],
    );
    let strange = Policy { strange_shell: true, ..of(&["deny exec rm *"]) };
    let (tool, args) = bash("=rm x");
    assert_eq!(word_of(&leave(strange, yolo, (tool, &args), &[])), "deny");
}

#[test]
fn a_broad_answer_lifts_no_narrow_question() {
    check(
        &["ask exec git push *", "answer: allow exec", "answer: allow edit sub/**"],
        ASKED,
        &[
            ("git push", "ask"),
            ("ls", "allow"),
            ("write sub/a", "allow"),
            ("write sub/AGENTS.md", "ask"),
        ],
    );
    check(&["ask exec git push *", "answer: allow exec git push"], ASKED, &[("git push", "allow")]);
    let elsewhere = ("bash", r#"{"command":"cargo test","cwd":"sub"}"#);
    let rules = of(&["allow exec cargo test"]);
    assert_eq!(word_of(&leave(rules, ASKED, elsewhere, &[])), "ask", "another directory");
    let renamed = leave(of(&["deny *[tool=bash]"]), ASKED, ("bash", r#"{"command":"x"}"#), &[]);
    assert_eq!(word_of(&renamed), "deny");
}

#[test]
fn a_tool_by_another_name_is_the_same_tool() {
    let mut sim = Sim::new(Mode::Act, Approval::Yolo);
    sim.drive_by(Mode::Act, Approval::Yolo, &["deny *[tool=bash]"]);
    sim.prompt("go");
    sim.go();
    sim.reply(&[("Bash", r#"{"command":"x"}"#), ("shell", r#"{"command":"x"}"#)], Finish::Calls);
    sim.go();
    let refused = sim.said.iter().filter(|said| said.contains("→ 403")).count();
    assert_eq!(refused, 1, "and the rest of the turn is not done: {:?}", sim.said);
}

#[test]
fn an_answer_beyond_the_run_holds_only_as_long_as_it_is_on_the_list() {
    let mut sim = Sim::replied(Mode::Act, Approval::Ask, &[BASH, BASH], Finish::Calls);
    sim.go();
    sim.prepared(at(1, 1, 1));
    sim.go();
    let mut said = word("p1.1.1", Verdict::Allow, None);
    (said.remember, said.rule) = (Remember::Always, Some("exec x".into()));
    let recording = sim.engine.decided(&said, 0).unwrap();
    sim.record(recording);
    sim.go();
    sim.begin(at(1, 1, 1));
    sim.settle(at(1, 1, 1), Status::OK);
    // Another driver, whose rules no longer have it.
    sim.drive(Mode::Act, Approval::Ask);
    sim.go();
    sim.prepared(at(1, 1, 2));
    assert_eq!(sim.go(), Step::Await(at(1, 1, 2)));
}

#[test]
fn what_yolo_allowed_is_asked_about_by_a_driver_that_asks() {
    let mut sim = Sim::replied(Mode::Act, Approval::Yolo, &[BASH], Finish::Calls);
    sim.go();
    sim.prepared(at(1, 1, 1));
    assert_eq!(sim.go(), Step::Act { at: at(1, 1, 1), again: false });
    sim.drive(Mode::Act, Approval::Ask);
    assert_eq!(sim.go(), Step::Prepare(at(1, 1, 1)));
    sim.prepared(at(1, 1, 1));
    assert_eq!(sim.go(), Step::Await(at(1, 1, 1)));
    sim.decide(at(1, 1, 1), Verdict::Allow, None);
    assert_eq!(sim.go(), Step::Act { at: at(1, 1, 1), again: false });
    sim.drive(Mode::Act, Approval::Nobody);
    assert_eq!(sim.go(), Step::Act { at: at(1, 1, 1), again: false }, "a person said so");
}

#[test]
fn flags_rule_out_what_they_name() {
    let with = |flags| Terms { flags, ..ASKED };
    let none = Flags::default();
    check(
        &["allow *"],
        with(Flags { no_repo: true, ..none }),
        &[("read a", "deny"), ("ls", "deny"), ("write a", "deny")],
    );
    let silent = with(Flags { no_proposals: true, ..none });
    check(&["allow exec ls"], silent, &[("ls", "allow"), ("write a", "deny")]);
    let (tool, args) = call("write a");
    let refused = leave(of(&[]), silent, (tool, &args), &[]);
    assert_eq!(refused.gates().last().unwrap().why, "no_review_channel");
}

#[test]
fn an_answer_ends_when_it_was_said_to() {
    let mut policy = of(&["answer: allow exec ls", "answer: allow exec id"]);
    policy.rules[0].until = Some(5);
    policy.rules[1].until = Some(6);
    for (command, expected) in [("ls", "ask"), ("id", "allow")] {
        let (tool, args) = bash(command);
        assert_eq!(word_of(&leave(policy.clone(), ASKED, (tool, &args), &[])), expected);
    }
}

#[test]
fn every_gate_that_was_asked_says_why() {
    let (tool, args) = bash("curl x");
    let leave = leave(of(&["operator: deny exec curl *"]), ASKED, (tool, &args), &[]);
    let said: Vec<String> =
        leave.gates().iter().map(|g| format!("{} {} {}", g.gate, g.verdict, g.why)).collect();
    assert_eq!(
        said,
        [
            "writer pass model",
            "mode pass act",
            "hooks pass no hook is asked",
            "policy refuse deny exec curl *"
        ]
    );
}

#[test]
fn what_a_person_remembers_holds_in_this_run_and_no_further() {
    let mut sim = Sim::replied(Mode::Act, Approval::Ask, &[BASH], Finish::Calls);
    sim.go();
    sim.prepared(at(1, 1, 1));
    sim.go();
    let open = sim.engine.op(at(1, 1, 1)).unwrap().question().cloned().unwrap();
    assert_eq!(open.offers, ["exec x", "exec"]);
    let mut said = word(&open.id.0, Verdict::Allow, None);
    (said.remember, said.rule) = (Remember::Run, Some("exec x".into()));
    let recording = sim.engine.decided(&said, 0).unwrap();
    sim.record(recording);
    sim.go();
    sim.begin(at(1, 1, 1));
    sim.settle(at(1, 1, 1), Status::OK);
    sim.go();
    sim.reply(&[BASH, ("bash", r#"{"command":"y"}"#)], Finish::Calls);
    sim.go();
    sim.prepared(at(1, 2, 1));
    assert_eq!(sim.go(), Step::Act { at: at(1, 2, 1), again: false });
    sim.begin(at(1, 2, 1));
    sim.settle(at(1, 2, 1), Status::OK);
    sim.go();
    sim.prepared(at(1, 2, 2));
    assert_eq!(sim.go(), Step::Await(at(1, 2, 2)));
    said.rule = Some("eat x".into());
    said.proposal = sim.engine.op(at(1, 2, 2)).unwrap().question().cloned().unwrap().id;
    let refused = sim.engine.decided(&said, 0).unwrap_err().to_string();
    assert!(refused.starts_with("400: \"eat x\" is not a rule"), "{refused}");
}

#[test]
fn what_was_allowed_is_not_done_where_rules_forbid_it_by_now_or_it_reaches_further() {
    let edit = |path: &str| {
        let change = Change::between(path.into(), None, None);
        Prepared { changes: vec![change], ..Prepared::default() }
    };
    let mut sim = Sim::new(Mode::Act, Approval::Ask);
    sim.drive_by(Mode::Act, Approval::Ask, &["allow edit a"]);
    sim.prompt("go");
    sim.go();
    sim.reply(&[WRITE], Finish::Calls);
    sim.go();
    let granted = sim.engine.op_in_run(at(1, 1, 1)).unwrap().judge_prepared(&edit("a"));
    sim.record(granted);
    assert_eq!(sim.go(), Step::Act { at: at(1, 1, 1), again: false });
    assert_eq!(sim.engine.op_in_run(at(1, 1, 1)).unwrap().refusal_before_acting(&edit("a")), None);
    let further =
        sim.engine.op_in_run(at(1, 1, 1)).unwrap().refusal_before_acting(&edit("b")).unwrap();
    assert!(matches!(&further.facts[..], [Body::Outcome(o)] if o.status == Status::CONFLICT));
    sim.drive_by(Mode::Act, Approval::Yolo, &["deny edit a"]);
    let forbidden =
        sim.engine.op_in_run(at(1, 1, 1)).unwrap().refusal_before_acting(&edit("a")).unwrap();
    let [Body::Decision(_), Body::Outcome(o)] = &forbidden.facts[..] else {
        panic!("{forbidden:?}")
    };
    assert_eq!(o.status, Status::REFUSED);
}

#[test]
fn a_look_that_is_asked_about_waits_and_one_that_is_forbidden_shows_nothing() {
    let mut sim = Sim::new(Mode::Act, Approval::Ask);
    sim.drive_by(Mode::Act, Approval::Ask, &["ask read a", "deny read b"]);
    sim.prompt("go");
    sim.go();
    sim.reply(&[READ, ("read", r#"{"path":"b"}"#), ("read", r#"{"path":"c"}"#)], Finish::Calls);
    assert_eq!(sim.go(), Step::Await(at(1, 1, 1)));
    sim.decide(at(1, 1, 1), Verdict::Allow, None);
    assert_eq!(sim.go(), Step::Read(vec![at(1, 1, 1)]));
    sim.settle(at(1, 1, 1), Status::OK);
    assert_eq!(sim.go(), Step::Read(vec![at(1, 1, 3)]));
    let settled: Vec<&String> = sim.said.iter().filter(|said| said.contains('→')).collect();
    assert_eq!(settled, ["1/1/1 → 200 Performed", "1/1/2 → 403 NotPerformed"]);
}

#[test]
fn a_path_from_the_home_and_an_absolute_one_into_the_project_mean_what_they_name() {
    let read = |path: &str| ("read", format!(r#"{{"path":"{path}"}}"#));
    let run = |command: &str| ("bash", format!(r#"{{"command":"{command}"}}"#));
    for (rule, (tool, args), expected) in [
        ("deny read ~/.ssh/**", read("/home/me/.ssh/id"), "deny"),
        ("deny read ~/.ssh/**", run("cat ~/.ssh/id"), "deny"),
        ("deny read ~/.ssh/**", run("cat /home/me/.ssh/id"), "deny"),
        ("deny read /home/me/.ssh/**", run("cat ~/.ssh/id"), "deny"),
        ("deny read ~/.ssh/**", run("cat ~/notes"), "allow"),
        ("deny read /w/a/b", read("a/b"), "deny"),
        ("deny read /w/[ab]/*", read("a/b"), "deny"),
        ("deny read /w/a/b", read("b"), "allow"),
        ("deny read[tool=Read] /w/a", read("a"), "deny"),
    ] {
        let policy = Policy { home: "/home/me".to_owned(), ..of(&[rule]) };
        let terms = Terms { approval: Approval::Yolo, ..ASKED };
        let leave = leave(policy, terms, (tool, &args), &[]);
        assert_eq!(word_of(&leave), expected, "{rule}: {args}");
    }
    let unknown = Rule::parse("read[tool=Bsh] a").unwrap_err().to_string();
    assert!(unknown.contains("there is no tool"), "{unknown}");
}
