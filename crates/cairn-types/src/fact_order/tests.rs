//! Orders of facts that can be, and such as cannot.

use super::*;
use crate::RunId;
use serde_json::{Value, json};

/// A fact in short: `ask 1 2` is that the model is asked for turn 2 of loop 1, `op 1/2/3 host` an intent.
fn body(short: &str) -> Body {
    let words: Vec<&str> = short.split(' ').collect();
    let number = |n: usize| words[n].parse::<u32>().unwrap();
    let none = json!({"hash": "0".repeat(64), "bytes": 0});
    let (kind, fields) = match words[0] {
        "run" => (
            "run",
            json!({"session": "s00000001000001", "system": none, "tools": none, "surface": words[1], "view": "transcript"}),
        ),
        "drive" => (
            "drive",
            json!({"epoch": 1, "holder": "me", "model": "m", "mode": "act", "approval": "ask", "caps": {"turns": 1, "ops": 1}}),
        ),
        "prompt" => ("prompt", json!({"lap": number(1), "text": none, "writer": "client"})),
        "steer" => ("steer", json!({"text": none, "writer": "client"})),
        "ask" => ("ask", json!({"lap": number(1), "turn": number(2), "messages": 1})),
        "reply" => (
            "reply",
            json!({"lap": number(1), "turn": number(2), "model": "m", "finish": "stop", "attempts": 1, "ms": 1}),
        ),
        "fault" => (
            "fault",
            json!({"lap": number(1), "turn": number(2), "class": "c", "message": "m", "attempts": 1}),
        ),
        "op" => (
            "intent",
            json!({"at": at(words[1]), "call": "", "writer": "model", "surface": "native", "tool": "t", "input": none,
                "target": "", "effect": words[2], "repeatable": false}),
        ),
        "allow" | "refuse" => (
            "decision",
            json!({"at": at(words[1]), "verdict": words[0], "by": {"kind": "yolo"}, "gates": []}),
        ),
        "begin" => ("begin", json!({"at": at(words[1]), "changes": [], "again": false})),
        "done" | "not" => (
            "outcome",
            json!({"at": at(words[1]), "status": 200, "result": none, "gates": [], "ms": 1,
                "settled": if words[0] == "done" { "performed" } else { "not-performed" }}),
        ),
        "end" => ("end", json!({"lap": number(1), "status": 200, "why": ""})),
        other => panic!("{other}"),
    };
    read(kind, fields)
}

fn at(text: &str) -> Value {
    let parts: Vec<u32> = text.split('/').map(|part| part.parse().unwrap()).collect();
    serde_json::to_value(Coord { lap: parts[0], turn: parts[1], seq: parts[2] }).unwrap()
}

fn read(kind: &str, fields: Value) -> Body {
    let stored = crate::StoredFact {
        run: RunId::new(1, 1),
        n: 1,
        at: 1,
        engine: "0".to_owned(),
        kind: kind.to_owned(),
        v: 1,
        body: fields,
    };
    let body = crate::Fact::try_from(stored).unwrap().body;
    assert!(!matches!(body, Body::Unknown { .. }), "{body:?}");
    body
}

/// Takes facts in order; gives why the first that may not follow may not.
fn check(shorts: &str, expected: Option<&str>) {
    let mut order = FactOrder::default();
    let mut refused = None;
    for short in shorts.split(", ") {
        let body = body(short);
        refused = order.check_next(&body).err().map(|misplaced| misplaced.to_string());
        if refused.is_some() {
            break;
        }
        order.advance(&body);
        let kept = FactOrder::from_text(&order.to_text());
        assert_eq!(kept.as_ref(), Some(&order), "what is kept comes back");
    }
    match (refused, expected) {
        (Some(refused), Some(expected)) => assert!(refused.contains(expected), "{refused}"),
        (refused, expected) => assert_eq!(refused.as_deref(), expected, "{shorts}"),
    }
}

// keeps: course
#[test]
fn a_loop_goes_its_order_and_no_fact_stands_where_it_cannot_have_been() {
    const TURN: &str = "run native, drive, prompt 1, ask 1 1, reply 1 1";
    for (then, refused) in [
        ("end 1", None),
        ("end 1, prompt 2, ask 2 1, fault 2 1, end 2", None),
        ("ask 1 2, fault 1 2, op 1/1/1 host, not 1/1/1, end 1", None),
        ("op 1/1/1 read, done 1/1/1, ask 1 2, reply 1 2, end 1", None),
        ("op 1/1/1 host, allow 1/1/1, begin 1/1/1, done 1/1/1, end 1", None),
        ("op 1/1/1 host, refuse 1/1/1, not 1/1/1, end 1", None),
        ("op 1/1/1 host, allow 1/1/1, begin 1/1/1, begin 1/1/1, done 1/1/1, end 1", None),
        ("op 1/1/1 host, op 1/1/1 host, allow 1/1/1, begin 1/1/1, not 1/1/1", None),
        ("prompt 2, prompt 3, end 1, end 2, end 3, prompt 4", None),
        ("run native", Some("it begins twice")),
        ("prompt 1", Some("loop 1 was asked for before")),
        ("reply 1 2", Some("turn 2 is not the one that is due")),
        ("ask 1 1", Some("turn 1 is not")),
        ("ask 1 3", Some("turn 3 is not")),
        ("ask 1 2, fault 1 2, reply 1 2", Some("turn 2 is not")),
        ("ask 1 2, fault 1 2, op 1/2/1 host", Some("1/2/1 is not in the open turn")),
        ("ask 1 2, ask 1 2", Some("turn 2 is not")),
        ("ask 2 1", Some("loop 2 is not open")),
        ("end 2", Some("loop 2 is not open")),
        ("end 1, end 1", Some("loop 1 is not open")),
        ("end 1, steer", Some("no loop is open")),
        ("prompt 2, ask 2 1", Some("loop 2 is not open")),
        ("prompt 2, end 1, end 1", Some("loop 1 is not open")),
        ("op 1/2/1 read", Some("1/2/1 is not in the open turn")),
        ("op 1/1/0 read", Some("1/1/0 is not in the open turn")),
        ("op 1/1/99999 read", Some("is not in the open turn")),
        ("ask 1 2, op 1/1/1 read", Some("is not in the open turn")),
        ("op 1/1/1 read, ask 1 2", Some("op 1 of turn 1 has no outcome")),
        ("op 1/1/1 read, end 1", Some("op 1 of turn 1 has no outcome")),
        ("done 1/1/1", Some("nobody asked for 1/1/1")),
        ("allow 1/1/1", Some("nobody asked for 1/1/1")),
        ("op 1/1/1 read, done 1/1/1, done 1/1/1", Some("1/1/1 has its outcome")),
        ("op 1/1/1 read, done 1/1/1, op 1/1/1 read", Some("1/1/1 is under way")),
        ("op 1/1/1 host, begin 1/1/1", Some("1/1/1 begins and nobody allowed it")),
        ("op 1/1/1 host, refuse 1/1/1, begin 1/1/1", Some("nobody allowed it")),
        ("op 1/1/1 host, allow 1/1/1, op 1/1/1 host, begin 1/1/1", Some("nobody allowed it")),
        ("op 1/1/1 host, allow 1/1/1, done 1/1/1", Some("1/1/1 did not begin")),
        ("op 1/1/1 world, allow 1/1/1, begin 1/1/1, op 1/1/1 read", Some("under way")),
    ] {
        check(&format!("{TURN}, {then}"), refused);
    }
    for (shorts, refused) in [
        ("drive", "driven before it begins"),
        ("prompt 1", "nobody drives it"),
        ("run native, prompt 1", "nobody drives it"),
        ("run native, drive, steer", "no loop is open"),
        ("run native, drive, prompt 1, op 1/1/1 read", "is not in the open turn"),
        ("run client, drive, prompt 1, op 1/2/1 world", "is not in the open turn"),
    ] {
        check(shorts, Some(refused));
    }
    check(
        "run client, drive, prompt 1, op 1/1/1 world, allow 1/1/1, begin 1/1/1, done 1/1/1, end 1",
        None,
    );
}
