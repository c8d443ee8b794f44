//! Streams cut at every byte: the whole answer or a fault, never half of one.

use crate::kit::{WIRES, ask, http, once};
use cairn_provider::http::Wire;
use cairn_provider::scripted::Script;
use cairn_provider::{Answer, FaultClass};
use cairn_testkit::{Fault as Inject, ModelServer};

const SHORT: &str = r#"{"cairn_script": 1, "name": "short", "replies": [
    {"think": "so", "say": "é go", "calls": [{"tool": "f", "args": {"a": "é"}}, {"tool": "g"}],
     "usage": {"input": 10, "output": 5, "cache_read": 4, "reasoning": 2}}
]}"#;

async fn cut_at_every_byte(wire: Wire, inject: fn(usize) -> Inject) {
    let server = ModelServer::start(Script::parse(SHORT).unwrap());
    // A new client each time: a connection that has served one answer is used again.
    let whole = ask(&http(&server, wire, once())).await.unwrap();
    let (mut faults, mut answers, mut with_usage) = (0, 0, 0);
    // What follows the usage is the mark of the end, and then nothing.
    let mut byte = 0;
    while with_usage < 60 {
        server.fault_always(inject(byte));
        match ask(&http(&server, wire, once())).await {
            Ok(answer) => {
                answers += 1;
                with_usage += usize::from(answer.usage.is_some());
                let (usage, cost) = (answer.usage.or(whole.usage), answer.cost.or(whole.cost));
                assert_eq!(Answer { usage, cost, ..answer }, whole, "{wire:?} at {byte}");
            }
            Err(fault) => {
                faults += 1;
                let found = (fault.class, fault.attempts, answers);
                assert_eq!(found, (FaultClass::Cut, 1, 0), "{wire:?} at {byte}: {fault:?}");
            }
        }
        byte += 1;
    }
    assert!(faults > 800 && answers >= 60, "{wire:?}: {faults} faults, {answers} answers");
}

// keeps: never-half-a-call
#[tokio::test]
async fn an_answer_closed_at_any_byte_is_the_whole_answer_or_a_fault() {
    for wire in WIRES {
        cut_at_every_byte(wire, Inject::CutClose).await;
    }
}

// keeps: never-half-a-call
#[tokio::test]
async fn an_answer_reset_at_any_byte_is_the_whole_answer_or_a_fault() {
    for wire in WIRES {
        cut_at_every_byte(wire, Inject::CutReset).await;
    }
}
