//! Rows that a model folds and opens: what it is shown of them, and that nothing is lost.

use crate::kit::{Told, block_on, script, start, store};
use cairn_provider::{Message, Part};
use cairn_runtime::{Driver, Place, request_at};
use cairn_testkit::{ModelServer, TempHome};
use cairn_types::{Body, Status};
use serde_json::{Value, json};
use std::sync::Arc;

fn call(tool: &str, args: Value) -> Value {
    json!({"calls": [{"tool": tool, "args": args}]})
}

/// Every result that the model was shown in its last request, in order.
fn results(request: &[u8]) -> Vec<String> {
    let request: Value = serde_json::from_slice(request).unwrap();
    let messages = request["messages"].as_array().unwrap();
    let tool = messages.iter().filter(|message| message["role"] == "tool");
    tool.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

/// What a message tells of a call, if it does.
fn result(message: &Message) -> Option<String> {
    match message {
        Message::Result { parts, .. } => match &parts[..] {
            [Part::Text(text)] => Some(text.to_string()),
            parts => panic!("{parts:?}"),
        },
        _ => None,
    }
}

fn statuses(driver: &Driver) -> Vec<Status> {
    let facts = driver.store().facts(driver.run_id(), 0).unwrap();
    facts
        .iter()
        .filter_map(|fact| match &fact.body {
            Body::Outcome(outcome) => Some(outcome.status),
            _ => None,
        })
        .collect()
}

// keeps: fold
#[test]
fn a_folded_result_is_shown_by_its_address_until_it_is_opened() {
    let temp = TempHome::new();
    std::fs::write(temp.workspace().join("long.txt"), "the long text\n").unwrap();
    let model = ModelServer::start(script(&[
        call("read", json!({"path": "long.txt"})),
        call("fold", json!({"path": "log:///1/1/1"})),
        call("read", json!({"path": "log:///1/1/1"})),
        call("fold", json!({"path": "log:///1/**"})),
        call("read", json!({"path": "long.txt"})),
        call("open", json!({"path": "log:///1/1"})),
        json!({"say": "done"}),
    ]));
    let store = store(&temp.home());
    block_on(async {
        let told = Arc::new(Told::default());
        let start = start(&store, &temp.workspace(), &model.url(), told);
        let place = Place::New { new_session: false, name: None };
        let (mut driver, _commands) = start.take(place, Some("look")).await.unwrap();
        driver.drive(None).await.unwrap();
        let shown: Vec<Vec<String>> = model.requests().iter().map(|one| results(one)).collect();
        let stub = |n: u32| format!("folded; it is log:///1/{n}/1");
        let whole = "1\tthe long text";
        assert!(shown[1][0].contains(whole), "{:?}", shown[1]);
        assert_eq!(shown[2][0], stub(1), "from then on only its address is shown");
        assert_eq!(shown[2][1], "folded 1 row");
        assert!(shown[3][2].contains(whole), "a folded row is read by its address: {:?}", shown[3]);
        assert_eq!(shown[4][..3], [stub(1), stub(2), stub(3)]);
        assert!(shown[5][4].contains(whole), "what is not in view is told whole: {:?}", shown[5]);
        assert!(shown[6][0].contains(whole), "{:?}", shown[6]);
        assert_eq!(shown[6][1..3], [stub(2), stub(3)]);
        assert!(statuses(&driver).iter().all(|status| *status == Status::OK));
        let facts = store.facts(driver.run_id(), 0).unwrap();
        for (turn, sent) in (1..).zip(model.requests()) {
            let again = request_at(&facts, (1, turn), &store).unwrap().unwrap();
            let told: Vec<String> =
                again.request.messages.iter().filter_map(|m| result(m)).collect();
            assert_eq!(told, results(&sent), "turn {turn} is rebuilt as it was sent");
        }
    });
}
