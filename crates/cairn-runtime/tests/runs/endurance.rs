//! A loop of 200 turns: what was sent never changes, and a turn costs the same late as early.

use crate::kit::{Told, block_on, script, start, store};
use cairn_runtime::{Pause, Place, Written};
use cairn_testkit::{ModelServer, TempHome};
use serde_json::{Value, json};
use std::sync::Arc;

const TURNS: usize = 200;

/// What each turn made durable.
fn costs(temp: &TempHome, model: &ModelServer) -> Vec<Written> {
    let store = store(&temp.home());
    let start = start(&store, &temp.workspace(), &model.url(), Arc::new(Told::default()));
    block_on(async {
        let place = Place::New { new_session: false, name: None };
        let (mut driver, _commands) = start.take(place, Some("go on and on")).await.unwrap();
        // The first step records that the model is asked; then a turn is four: ask, prepare, act,
        // record that it is asked again. A pause there commits nothing that would wait otherwise.
        driver.drive(Some(1)).await.unwrap();
        let mut at_turn = vec![driver.written()];
        while driver.drive(Some(4)).await.unwrap() == Pause::Steps {
            at_turn.push(driver.written());
        }
        at_turn
            .windows(2)
            .map(|w| Written {
                commits: w[1].commits - w[0].commits,
                rows: w[1].rows - w[0].rows,
                bytes: w[1].bytes - w[0].bytes,
            })
            .collect()
    })
}

// keeps: flat-cost, sent-never-changes
#[test]
fn two_hundred_turns_cost_the_same_each_and_change_nothing_that_was_sent() {
    let turn = |n| {
        let echo = json!({"command": format!("echo done {n:03}")});
        json!({"say": "on", "calls": [{"tool": "bash", "args": echo}]})
    };
    let mut replies: Vec<Value> = (0..TURNS).map(turn).collect();
    replies.push(json!({"say": "enough"}));
    let (temp, model) = (TempHome::new(), ModelServer::start(script(&replies)));
    let costs = costs(&temp, &model);
    assert_eq!(costs.len(), TURNS);

    let (early, late) = (&costs[9..19], &costs[TURNS - 11..TURNS - 1]);
    assert!(
        early.iter().chain(late).all(|cost| cost.commits == 2),
        "a one-call turn is two commits"
    );
    let sum = |part: &[Written], of: fn(&Written) -> u64| part.iter().map(of).sum::<u64>();
    assert_eq!(sum(early, |c| c.rows), sum(late, |c| c.rows), "rows touched grow with history");
    let (bytes_early, bytes_late) = (sum(early, |c| c.bytes), sum(late, |c| c.bytes));
    // Numbers get longer: turn 9 becomes turn 199.
    assert!(bytes_late < bytes_early + bytes_early / 20, "{bytes_early} bytes became {bytes_late}");
    println!(
        "rows per turn {}, bytes per turn {} early, {} late",
        costs[9].rows,
        bytes_early / 10,
        bytes_late / 10
    );

    let requests = model.requests();
    assert_eq!(requests.len(), TURNS + 1);
    for pair in requests.windows(2) {
        // All but the closing brackets of the earlier one begins the later one.
        assert!(
            pair[1].starts_with(&pair[0][..pair[0].len() - 2]),
            "a message that was sent changed"
        );
    }
    let last: Value = serde_json::from_slice(requests.last().unwrap()).unwrap();
    assert_eq!(last["messages"].as_array().unwrap().len(), 2 + 2 * TURNS);
}
