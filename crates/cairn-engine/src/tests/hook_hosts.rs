//! Hooks before the question which hosts a command may reach: their word answers it as a person's would,
//! and no more than it.

use super::hook_events::{AT, next, says_yes};
use super::hooks::*;
use super::*;
use cairn_surface::Toolbox;

const HOOKS: [&str; 2] = ["PermissionRequest p bash", "PermissionRequest q bash"];

/// A command that ran over an overlay, changed nothing and wanted these hosts.
/// The hosts that the op may reach, as a log has them.
fn written_hosts(sim: &Sim) -> Vec<String> {
    sim.engine.op_in_run(AT).unwrap().host_access().iter().map(HostAccess::to_string).collect()
}

fn wants(hosts: &[&str]) -> Prepared {
    let wanted = hosts.iter().map(|host| (*host).to_owned()).collect();
    Prepared { shown: "what".into(), label: "what".into(), wanted, ..Prepared::default() }
}

/// A run whose commands run over overlays, with these hooks and rules.
fn overlaid(approval: Approval, rules: &[&str], no_yolo: bool) -> Sim {
    let mut sim = Sim::new(Mode::Act, approval);
    drive_hooked(&mut sim, approval, &HOOKS);
    let Body::Drive(drive) = sim.facts.last().unwrap().body.clone() else { unreachable!() };
    let policy = Policy { overlay: true, no_yolo, ..super::policy::of(rules) };
    sim.record(Recording::of(Body::Drive(Drive { policy, ..drive })));
    sim.prompt("go");
    sim.go();
    sim.reply(&[BASH], Finish::Calls);
    sim
}

/// Who is asked, in order, about reaching these hosts, and what is wanted then. The word on hosts, if one
/// was given, stands before.
fn course(sim: &mut Sim, hosts: &[&str], says: [HookSays; 2]) -> (String, Step) {
    let (mut said, mut says) = (String::new(), says.into_iter());
    let step = loop {
        match next(sim, &wants(hosts)) {
            Ok(ask) => {
                said.push_str(&format!("{} {} ", ask.name, ask.hosts.join(",")));
                let recording = sim.engine.hooked(
                    &ask,
                    says.next().expect("asked twice"),
                    1,
                    &Toolbox::default(),
                );
                sim.record(recording);
                assert_eq!(Engine::fold(&sim.facts).step(), sim.engine.step());
            }
            Err(step) => break step,
        }
    };
    let words = sim.facts.iter().filter_map(|fact| match &fact.body {
        Body::Decision(word) if !word.hosts.is_empty() => Some(format!("{:?}", word.verdict)),
        Body::Proposal(question) => Some(format!("{:?} {}", question.kind, question.hosts.len())),
        _ => None,
    });
    said.extend(words);
    (said, step)
}

// keeps: hook-questions
#[test]
fn hooks_are_asked_before_the_question_about_hosts_and_a_no_beats_a_yes() {
    for (says, expected, hosts) in [
        ([nothing(), nothing()], "p a.org q a.org Network 1", &[][..]),
        ([says_yes(), nothing()], "p a.org q a.org Allow", &["a.org"]),
        ([nothing(), says_yes()], "p a.org q a.org Allow", &["a.org"]),
        ([says_yes(), block("never")], "p a.org q a.org Refuse", &[]),
        ([says_yes(), asks()], "p a.org q a.org Network 1", &[]),
        // It cannot make another command of one that ran.
        ([change(r#"{"command":"y"}"#), nothing()], "p a.org q a.org Network 1", &[]),
    ] {
        let mut sim = overlaid(Approval::Ask, &[], false);
        let (said, step) = course(&mut sim, &["a.org"], says);
        assert_eq!((&*said, written_hosts(&sim)), (expected, owned(hosts)));
        match expected.contains("Network") {
            true => assert_eq!(step, Step::Await(AT)),
            // A word on hosts is none on the command: that goes its own way.
            false => assert_eq!(step, Step::Act { at: AT, again: false }),
        }
    }
}

// keeps: hook-questions
#[test]
fn a_hooks_yes_to_hosts_beats_no_rule_and_nobody_is_asked_where_nobody_is_there() {
    let yes = || [says_yes(), nothing()];
    for (approval, rules, no_yolo, expected) in [
        (Approval::Ask, &[][..], true, "p a.org,b.org:81 q a.org,b.org:81 Network 2"),
        (
            Approval::Ask,
            &["ask exec[host=a.org]"],
            false,
            "p a.org,b.org:81 q a.org,b.org:81 Network 2",
        ),
        (Approval::Ask, &["deny exec[host=a.org]"], false, "p b.org:81 q b.org:81 Allow"),
        (Approval::Ask, &["deny exec[effect=network,host=b.org]"], false, "p a.org q a.org Allow"),
        (
            Approval::Ask,
            &["deny exec[host=*.a.org]"],
            false,
            "p a.org,b.org:81 q a.org,b.org:81 Allow",
        ),
        (Approval::Ask, &["deny exec[host=*]"], false, ""),
        (Approval::Yolo, &[], false, ""),
        (Approval::Nobody, &[], false, ""),
    ] {
        let mut sim = overlaid(approval, rules, no_yolo);
        let (said, _) = course(&mut sim, &["a.org", "b.org:81"], yes());
        assert_eq!(said, expected, "{approval:?} {rules:?}");
    }
}

// keeps: hook-questions
#[test]
fn a_word_on_other_hosts_or_on_another_command_counts_for_nothing() {
    let mut sim = overlaid(Approval::Ask, &[], false);
    let ask = next(&mut sim, &wants(&["a.org"])).unwrap();
    let recording = sim.engine.hooked(&ask, says_yes(), 1, &Toolbox::default());
    sim.record(recording);
    // It ran again, after a crash perhaps, and wanted something else.
    let (said, step) = course(&mut sim, &["evil.org"], [nothing(), nothing()]);
    assert_eq!((&*said, step), ("p evil.org q evil.org Network 1", Step::Await(AT)));

    let mut sim = overlaid(Approval::Ask, &[], false);
    course(&mut sim, &["a.org"], [says_yes(), nothing()]);
    assert_eq!(written_hosts(&sim), ["a.org"]);
    let Body::Intent(intent) = sim.facts.iter().find_map(intent_of).unwrap() else {
        unreachable!()
    };
    sim.record(Recording::of(Body::Intent(Intent { target: "other".into(), ..intent })));
    assert_eq!(written_hosts(&sim), owned(&[]));
}

fn intent_of(fact: &Fact) -> Option<Body> {
    matches!(fact.body, Body::Intent(_)).then(|| fact.body.clone())
}

fn owned(hosts: &[&str]) -> Vec<String> {
    hosts.iter().map(|host| (*host).to_owned()).collect()
}

fn asks() -> HookSays {
    HookSays { word: Some(HookWord::Ask), ..nothing() }
}
