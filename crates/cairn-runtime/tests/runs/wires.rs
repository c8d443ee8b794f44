//! A run in every wire format: what the model thought is kept as a fact, goes back, and what was sent
//! can be rebuilt from the log.

use crate::kit::{Told, block_on, config, script, start_with, store};
use cairn_provider::http::{Config, Http, Wire, render, render_as};
use cairn_provider::{Fallback, Price};
use cairn_runtime::Place;
use cairn_testkit::{Fault, ModelServer, TempHome};
use cairn_types::{Body, PicoUsd, Status};
use serde_json::json;
use std::sync::Arc;

// keeps: request-rebuilt
#[test]
fn a_run_sends_its_thoughts_back_and_its_requests_can_be_rebuilt_in_every_format() {
    let write = json!({"tool": "write", "args": {"path": "made.txt", "content": "whole"}});
    let replies = [
        json!({"think": "I plan.", "say": "I make a file.", "calls": [write, {"tool": "nonsense"}]}),
        json!({"say": "done"}),
    ];
    for wire in [Wire::Chat, Wire::Responses, Wire::Anthropic, Wire::Gemini] {
        let (temp, model) = (TempHome::new(), ModelServer::start(script(&replies)));
        let (store, config) = (store(&temp.home()), config(&model.url(), wire));
        let start =
            start_with(&store, &temp.workspace(), config.clone(), Arc::new(Told::default()));
        let facts = block_on(async {
            let place = Place::New { new_session: false, name: None };
            let (mut driver, _commands) = start.take(place, Some("work")).await.unwrap();
            driver.drive(None).await.unwrap();
            assert_eq!(driver.engine().ended().unwrap().status, Status::OK, "{wire:?}");
            store.facts(driver.run_id(), 0).unwrap()
        });
        let kept = facts.iter().find_map(|fact| match &fact.body {
            Body::Reply(reply) => Some(reply.thoughts.is_some()),
            _ => None,
        });
        assert_eq!(kept, Some(wire != Wire::Chat), "{wire:?}");
        let sent = model.requests();
        assert_eq!(sent.len(), 2);
        for (turn, sent) in (1..).zip(&sent) {
            let request = cairn_runtime::request_at(&facts, (1, turn), &store).unwrap().unwrap();
            assert_eq!(&render(&config, &request.request).unwrap(), sent, "{wire:?} turn {turn}");
            let form = request.form.unwrap();
            assert_eq!(render_as(&form, &request.request).as_ref(), Some(sent), "{wire:?}");
        }
        let second = String::from_utf8(sent[1].clone()).unwrap();
        assert_eq!(second.contains("c2VhbA0001"), wire != Wire::Chat, "{wire:?} {second}");
        match wire {
            Wire::Anthropic => assert_eq!(second.matches(r#""is_error":true"#).count(), 1),
            Wire::Gemini => {
                assert!(second.contains(r#""name":"write","response":{"output""#), "{second}");
                assert!(second.contains(r#""name":"nonsense","response":{"error""#), "{second}");
            }
            Wire::Chat | Wire::Responses => {}
        }
    }
}

#[test]
fn the_model_that_answered_is_in_the_log_with_its_own_price() {
    let usage = json!({"input": 7, "output": 0});
    let script = script(&[json!({"say": "done", "usage": usage})]);
    let (first, then) = (ModelServer::start(script.clone()), ModelServer::start(script));
    first.fault_always(Fault::status(503, "no capacity"));
    let priced = |server: &ModelServer, wire, pico| {
        let price = Some(Price { input: PicoUsd(pico), ..Price::default() });
        Arc::new(Http::new(Config { price, ..config(&server.url(), wire) }).unwrap())
    };
    let temp = TempHome::new();
    let store = store(&temp.home());
    let told = Arc::new(Told::default());
    let unused = config(&first.url(), Wire::Chat);
    let mut start = start_with(&store, &temp.workspace(), unused, told);
    start.provider = Arc::new(Fallback {
        first: priced(&first, Wire::Responses, 1),
        then: priced(&then, Wire::Anthropic, 100),
        then_name: "other/second".to_owned(),
    });
    let facts = block_on(async {
        let place = Place::New { new_session: false, name: None };
        let (mut driver, _commands) = start.take(place, Some("work")).await.unwrap();
        driver.drive(None).await.unwrap();
        store.facts(driver.run_id(), 0).unwrap()
    });
    let reply = facts.iter().find_map(|fact| match &fact.body {
        Body::Reply(reply) => Some((reply.model.clone(), reply.cost, reply.attempts)),
        _ => None,
    });
    assert_eq!(reply, Some(("other/second".to_owned(), Some(PicoUsd(700)), 2)));
}
