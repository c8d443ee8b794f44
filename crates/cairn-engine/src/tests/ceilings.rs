//! What nobody below an operator says yes to beforehand: neither by a rule nor by an answer.

use super::policy::{ASKED, bash, call, leave, of, word_of};
use super::*;

#[test]
fn where_yolo_is_never_no_rule_is_as_good_as_it() {
    let all = ["*", "exec", "exec *", "exec * *", "exec t* *", "exec[host=*]", "exec[tool=bash]"];
    for rule in all {
        let policy = Policy { no_yolo: true, ..of(&[&format!("allow {rule}")]) };
        let (tool, args) = bash("touch https://a.org");
        assert_eq!(word_of(&leave(policy, ASKED, (tool, &args), &[])), "ask", "{rule}");
        let policy = of(&[&format!("allow {rule}")]);
        assert_eq!(word_of(&leave(policy, ASKED, (tool, &args), &[])), "allow", "{rule}");
    }
    for (rules, text, expected) in [
        (&["allow exec touch *"][..], "touch a", "allow"),
        (&["allow exec touch *", "allow *"], "touch a; ls", "ask"),
        (&["answer: allow exec"], "ls", "ask"),
        (&["answer: allow exec ls"], "ls", "allow"),
        (&["allow *"], "write a", "ask"),
        (&["allow edit"], "write a", "allow"),
        (&["allow *[effect=world]"], "write a", "allow"),
        (&["allow *"], "read a", "allow"),
    ] {
        let (tool, args) = call(text);
        let policy = Policy { no_yolo: true, ..of(rules) };
        assert_eq!(
            word_of(&leave(policy, ASKED, (tool, &args), &[])),
            expected,
            "{rules:?} {text}"
        );
    }
}

#[test]
fn where_yolo_is_never_no_answer_is_for_every_command() {
    let mut sim = Sim::new(Mode::Act, Approval::Ask);
    let policy = Policy { no_yolo: true, ..of(&[]) };
    let drive = Drive { policy, ..drive(Mode::Act, Approval::Ask) };
    sim.record(Recording::of(Body::Drive(drive)));
    sim.prompt("go");
    sim.go();
    sim.reply(&[BASH], Finish::Calls);
    sim.go();
    sim.prepared(at(1, 1, 1));
    sim.go();
    assert_eq!(sim.engine.op(at(1, 1, 1)).unwrap().question().cloned().unwrap().offers, ["exec x"]);
    let mut said = word("p1.1.1", Verdict::Allow, None);
    for rule in [None, Some("exec *"), Some("*")] {
        (said.remember, said.rule) = (Remember::Run, rule.map(str::to_owned));
        let refused = sim.engine.decided(&said, 0).unwrap_err();
        assert!(matches!(refused, DecideError::Everything(_)), "{refused}");
    }
    said.rule = Some("exec x".into());
    assert!(sim.engine.decided(&said, 0).is_ok());
}
