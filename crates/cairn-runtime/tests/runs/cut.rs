//! A model whose stream is cut anywhere: a completed turn or a typed fault, never half a call.

use crate::kit::{Told, block_on, script, start, store};
use cairn_provider::http::Wire;
use cairn_provider::scripted::render;
use cairn_runtime::Place;
use cairn_testkit::{Fault, ModelServer, TempHome};
use cairn_types::{Body, Status};
use serde_json::json;
use std::sync::Arc;

/// Every so many bytes here; the adapter's own test cuts at every one.
const STRIDE: usize = 13;

// keeps: never-half-a-call
#[test]
fn a_stream_cut_anywhere_executes_a_whole_call_or_nothing() {
    let replies = [
        json!({"say": "I make a file.", "calls": [{"tool": "write", "args": {"path": "made.txt", "content": "whole"}}]}),
        json!({"say": "done"}),
    ];
    let script = script(&replies);
    let first = script.reply(0, "").unwrap();
    // The response's head is cut, too.
    let length = render(Wire::Chat, &first, "test").len() + 300;
    let (mut whole, mut faults) = (0, 0);
    let temp = TempHome::new();
    let (store, made) = (store(&temp.home()), temp.workspace().join("made.txt"));
    for at in (0..length).step_by(STRIDE) {
        for reset in [false, true] {
            let model = ModelServer::start(script.clone());
            model.fault(0, if reset { Fault::CutReset(at) } else { Fault::CutClose(at) });
            let start = start(&store, &temp.workspace(), &model.url(), Arc::new(Told::default()));
            let (ended, class) = block_on(async {
                let place = Place::New { new_session: false, name: None };
                let (mut driver, _commands) = start.take(place, Some("work")).await.unwrap();
                driver.drive(None).await.unwrap();
                let facts = store.facts(driver.run_id(), 0).unwrap();
                let class = facts.iter().find_map(|fact| match &fact.body {
                    Body::Fault(fault) if fault.turn == 1 => Some(fault.class.clone()),
                    _ => None,
                });
                (driver.engine().ended().unwrap().status, class)
            });
            match class {
                None => {
                    assert_eq!(std::fs::read_to_string(&made).unwrap(), "whole", "cut at {at}");
                    std::fs::remove_file(&made).unwrap();
                    whole += 1;
                }
                Some(class) => {
                    assert_eq!((ended, class.as_str()), (Status::FAILED, "cut"), "cut at {at}");
                    assert!(!made.exists(), "half a call was executed, cut at {at}");
                    faults += 1;
                }
            }
        }
    }
    assert!(whole > 0 && faults > 100, "{whole} whole, {faults} faults");
}
