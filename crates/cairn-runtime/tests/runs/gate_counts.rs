//! How often a real run asks the gates about its ops.

use crate::kit::{Told, block_on, script, start, store};
use cairn_runtime::Place;
use cairn_testkit::{ModelServer, TempHome};
use serde_json::json;
use std::sync::Arc;

#[test]
fn the_gates_are_asked_once_about_a_read_and_twice_about_an_edit() {
    let temp = TempHome::new();
    temp.write("f", "one\ntwo\n");
    let store = store(&temp.home());
    let read = json!({"calls": [{"tool": "read", "args": {"path": "f"}}]});
    let edit = json!({"path": "f", "old": "two", "new": "three"});
    let edit = json!({"calls": [{"tool": "edit", "args": edit}]});
    let model = ModelServer::start(script(&[read, edit, json!({"say": "done"})]));
    block_on(async {
        let start = start(&store, &temp.workspace(), &model.url(), Arc::new(Told::default()));
        let place = Place::New { new_session: false, name: None };
        let (mut driver, _commands) = start.take(place, Some("work")).await.unwrap();
        driver.drive(None).await.unwrap();
        assert_eq!(std::fs::read_to_string(temp.workspace().join("f")).unwrap(), "one\nthree\n");
        assert_eq!(driver.engine().driving().gate_evaluations(), 1 + 2);
    });
}
