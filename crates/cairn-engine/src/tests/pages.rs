//! Reads of what is beyond this machine: which rules are about them, and that they change nothing.

use super::policy::{ASKED, of, word_of};
use super::*;
use crate::effect_of;
use crate::gates::{Asked, Terms};
use crate::policy::{Case, Rulebook, subject_of};
use cairn_surface::native;

/// A read of an address, a copy where two are given, or words for one.
fn call(words: &str) -> (&'static str, String) {
    match words.split_once(' ') {
        Some(("to", to)) => ("send", format!("{{\"to\":\"{to}\",\"text\":\"x\"}}")),
        Some((from, to)) => ("copy", format!("{{\"from\":\"{from}\",\"to\":\"{to}\"}}")),
        None => ("read", format!("{{\"path\":\"{words}\"}}")),
    }
}

#[track_caller]
fn check(rules: &[&str], terms: Terms, cases: &[(&str, &str)]) {
    let rules = Rulebook::read(of(rules)).unwrap();
    for (words, expected) in cases {
        let (tool, args) = call(words);
        let parsed = native::parse(tool, &args);
        let action = parsed.action.unwrap();
        let (effect, subject) = (effect_of(&action, parsed.effect, &[]), subject_of(&action));
        let case = Case {
            op: action.op(),
            tool,
            writer: Writer::Model,
            effect,
            subject: &subject,
            changed: &[],
            ignored: &[],
            gone: &[],
            removed: Removed::default(),
        };
        let leave = Asked::new(case, terms, &rules, 5).leave();
        assert_eq!(word_of(&leave), *expected, "{words}: {:?}", leave.gates());
    }
}

// keeps: web-asked
#[test]
fn a_page_is_allowed_only_by_a_rule_that_speaks_of_the_network() {
    let page = "https://docs.rs/serde/a";
    for (rule, expected) in [
        ("allow *", "allow"),
        ("allow read[effect=network]", "allow"),
        ("allow read[scheme=https]", "allow"),
        ("allow read[scheme=https] docs.rs/serde/**", "allow"),
        ("allow read[effect=network,host=docs.rs]", "allow"),
        ("allow read[host=docs.rs]", "allow"),
        ("answer: allow read[effect=network,host=docs.rs]", "allow"),
        ("allow read", "ask"),
        ("answer: allow read", "ask"),
        ("allow read **", "ask"),
        ("allow read[scheme=http]", "ask"),
        ("allow read[scheme=https] docs.rs/tokio/**", "ask"),
        ("allow read[effect=network,host=rs]", "ask"),
        ("allow read[effect=network,host=*.docs.rs]", "ask"),
        ("allow read[effect=network,host=docs.rs:81]", "ask"),
        ("allow exec[effect=network,host=docs.rs]", "ask"),
        ("allow copy[effect=network,host=docs.rs]", "ask"),
        ("project: allow read[effect=network]", "ask"),
        ("deny read[host=docs.rs]", "deny"),
        ("deny *[effect=network]", "deny"),
        ("deny read[scheme=https] docs.rs/**", "deny"),
        ("deny read", "deny"),
        ("deny read[host=docs.rs:81]", "ask"),
        ("deny read **", "ask"),
    ] {
        check(&[rule], ASKED, &[(page, expected)]);
    }
    check(
        &["allow read[effect=network,host=vm:81]", "allow read[effect=network,host=*.b.org]"],
        ASKED,
        &[
            ("http://vm:81/", "allow"),
            ("http://vm/", "ask"),
            ("http://vm:82/", "ask"),
            ("https://a.b.org/", "allow"),
            ("https://a.b.org:81/", "ask"),
            ("https://b.org/", "ask"),
            ("https://b.org@evil.org/", "ask"),
            ("https:///a.b.org/", "allow"),
        ],
    );
    check(&["allow read[host=*]"], ASKED, &[(page, "allow"), ("http://vm:81/", "ask")]);
}

// keeps: web-asked
#[test]
fn a_copy_from_a_page_is_asked_about_at_both_ends() {
    let copy = "https://docs.rs/a docs/a.md";
    check(&[], ASKED, &[(copy, "ask"), ("https://docs.rs/a known:///a", "ask")]);
    check(&["allow copy"], ASKED, &[(copy, "ask")]);
    check(&["allow copy[effect=network,host=docs.rs]"], ASKED, &[(copy, "allow")]);
    check(&["allow copy[scheme=https,host=docs.rs]"], ASKED, &[(copy, "ask")]);
    check(
        &["allow copy[scheme=https,host=docs.rs]", "allow copy docs/**"],
        ASKED,
        &[(copy, "allow")],
    );
    check(&["deny read[host=docs.rs]", "allow *"], ASKED, &[(copy, "deny")]);
    check(&["deny edit docs/**", "allow *"], ASKED, &[(copy, "deny")]);
    // Nobody writes one.
    let yolo = Terms { approval: Approval::Yolo, ..ASKED };
    check(&["allow *"], yolo, &[("known:///a https://docs.rs/a", "deny")]);
}

// keeps: web-asked
#[test]
fn a_page_may_be_read_in_every_mode_and_never_without_the_web() {
    let page = "https://docs.rs/a";
    for mode in [Mode::ReadOnly, Mode::Plan, Mode::Act, Mode::AcceptEdits] {
        let terms = Terms { mode, ..ASKED };
        check(&[], terms, &[(page, "ask")]);
        check(&["allow read[host=docs.rs]"], terms, &[(page, "allow")]);
        let flags = Flags { no_web: true, ..Flags::default() };
        check(&["allow *"], Terms { flags, ..terms }, &[(page, "deny")]);
    }
    let terms = Terms { mode: Mode::Plan, ..ASKED };
    check(&["allow *"], terms, &[("https://docs.rs/a docs/a.md", "deny")]);
}

// keeps: feeds-asked
#[test]
fn a_feed_is_ruled_like_a_page_of_its_host() {
    let feeds = ["sse://docs.rs/a", "sses://docs.rs/a", "ws://docs.rs/a", "wss://docs.rs/a"];
    for feed in feeds {
        let (scheme, _) = feed.split_once(':').unwrap();
        for (rule, expected) in [
            ("allow *", "allow"),
            ("allow read[effect=network,host=docs.rs]", "allow"),
            (&format!("allow read[scheme={scheme}] docs.rs/**"), "allow"),
            ("allow read", "ask"),
            ("allow read[scheme=https]", "ask"),
            ("allow read[effect=network,host=docs.rs:81]", "ask"),
            ("deny read[host=docs.rs]", "deny"),
        ] {
            check(&[rule], ASKED, &[(feed, expected)]);
        }
        let flags = Flags { no_web: true, ..Flags::default() };
        check(&["allow *"], Terms { flags, ..ASKED }, &[(feed, "deny")]);
        // Nobody writes one.
        let yolo = Terms { approval: Approval::Yolo, ..ASKED };
        check(&["allow *"], yolo, &[(&format!("known:///a {feed}"), "deny")]);
    }
    let port = &["allow read[effect=network,host=vm:81]"];
    check(port, ASKED, &[("sse://vm:81/", "allow"), ("ws://vm/", "ask"), ("wss://vm:82/", "ask")]);
}

// keeps: send-ruled
#[test]
fn what_is_said_to_an_address_is_ruled_by_its_scheme_and_host() {
    let socket = "to wss://docs.rs/a";
    for (rule, expected) in [
        ("allow *", "allow"),
        ("allow send[effect=network]", "allow"),
        ("allow send[effect=network,host=docs.rs]", "allow"),
        ("answer: allow send[effect=network,host=docs.rs]", "allow"),
        ("allow send[scheme=wss]", "allow"),
        ("allow send", "ask"),
        ("allow send[effect=network,host=rs]", "ask"),
        ("allow read[effect=network,host=docs.rs]", "ask"),
        ("deny send[host=docs.rs]", "deny"),
        ("deny send[scheme=wss]", "deny"),
    ] {
        check(&[rule], ASKED, &[(socket, expected)]);
    }
    let yolo = Terms { approval: Approval::Yolo, ..ASKED };
    for (scheme, to) in
        [("run", "to run:///a"), ("exec", "to exec:///1/1/1"), ("log", "to log:///1/1/1")]
    {
        check(&[], yolo, &[(to, "allow")]);
        check(&[&format!("deny send[scheme={scheme}]")], yolo, &[(to, "deny")]);
        check(&["deny send[scheme=wss]"], yolo, &[(to, "allow")]);
    }
    check(&[], ASKED, &[("to run:///a", "allow"), ("to exec:///1/1/1", "ask")]);
    for mode in [Mode::ReadOnly, Mode::Plan] {
        let terms = Terms { mode, ..yolo };
        let all = ["to run:///a", "to exec:///1/1/1", "to log:///1/1/1", socket];
        check(&["allow *"], terms, &all.map(|to| (to, "deny")));
    }
}

// keeps: send-ruled
#[test]
fn what_is_written_to_a_command_is_looked_at_as_a_command() {
    let yolo = Terms { approval: Approval::Yolo, ..ASKED };
    let to = |text: &str| {
        let args = serde_json::json!({"to": "exec:///1/1/1", "text": text}).to_string();
        let parsed = native::parse("send", &args);
        let action = parsed.action.unwrap();
        (effect_of(&action, parsed.effect, &[]), subject_of(&action))
    };
    for (rule, text, expected) in [
        ("deny exec rm *", "rm -rf a\n", "deny"),
        ("deny exec rm *", "yes\n", "allow"),
        ("deny exec rm *", "", "allow"),
        ("deny exec rm *", "if true; then rm a; fi\n", "deny"),
        ("deny exec", "yes\n", "deny"),
        ("deny read secret.txt", "cat secret.txt\n", "deny"),
        ("deny exec[effect=network,host=evil.org]", "curl https://evil.org/\n", "deny"),
        ("ask exec git *", "git push\n", "allow"),
        ("ask send", "yes\n", "allow"),
    ] {
        let rules = Rulebook::read(of(&[rule])).unwrap();
        let (effect, subject) = to(text);
        let (changed, ignored, gone): (&[String], &[String], &[String]) = (&[], &[], &[]);
        let (op, writer, removed) = (OpName::Send, Writer::Model, Removed::default());
        let subject = &subject;
        let case =
            Case { op, tool: "send", writer, effect, subject, changed, ignored, gone, removed };
        let leave = Asked::new(case, yolo, &rules, 5).leave();
        assert_eq!(word_of(&leave), expected, "{rule} {text}: {:?}", leave.gates());
    }
}

const PAGE: (&str, &str) = ("read", "{\"path\":\"https://docs.rs/a\"}");

// keeps: web-ops
#[test]
fn a_read_of_a_page_that_a_crash_cut_is_made_again() {
    let at = at(1, 1, 1);
    for mode in [Mode::Act, Mode::ReadOnly] {
        let mut sim = Sim::replied(mode, Approval::Yolo, &[PAGE], Finish::Calls);
        assert_eq!(sim.go(), Step::Prepare(at));
        sim.prepared(at);
        assert_eq!(sim.go(), Step::Act { at, again: false });
        sim.begin(at);
        sim.drive_by(mode, Approval::Yolo, &[]);
        assert_eq!(sim.go(), Step::Settle(at), "{mode:?}");
        assert_eq!(
            sim.engine.op_in_run(at).unwrap().settle_found(Found::Unknown, ""),
            Settlement::Repeat,
            "{mode:?}"
        );
    }
}
