//! Money that runs of one session share, whichever process asks.

use crate::kit::{Bench, Driver, end, session};
use cairn_store::{Reserve, Reserved, Store};
use cairn_types::*;

fn reserve(store: &Store, run: &RunId, least: u64, most: u64) -> Reserved {
    let session = &session();
    let (least, most) = (PicoUsd(least), PicoUsd(most));
    store.reserve(&Reserve { run, session, budget: PicoUsd(100), least, most }).unwrap()
}

fn granted(pico: u64) -> Reserved {
    Reserved::Granted(PicoUsd(pico))
}

fn short(spent: u64, reserved: u64) -> Reserved {
    Reserved::Short { spent: PicoUsd(spent), reserved: PicoUsd(reserved) }
}

fn reply(cost: Option<u64>) -> Vec<(Body, Vec<u8>)> {
    let reply = Reply {
        lap: 1,
        turn: 1,
        model: "scripted/one".to_owned(),
        text: None,
        reasoning: None,
        thoughts: None,
        calls: Vec::new(),
        finish: Finish::Stop,
        usage: None,
        cost: cost.map(PicoUsd),
        attempts: 1,
        ms: 1,
        ..Reply::default()
    };
    vec![(Body::Reply(reply), Vec::new())]
}

fn fault() -> Vec<(Body, Vec<u8>)> {
    let (class, message) = ("overloaded".to_owned(), "later".to_owned());
    vec![(Body::Fault(Fault { lap: 1, turn: 1, class, message, attempts: 1 }), Vec::new())]
}

// keeps: money-reserved
#[tokio::test]
async fn what_is_set_aside_is_gone_for_others_until_it_is_settled() {
    let bench = Bench::new();
    let mut one = Driver::start(&bench.store, 1).await;
    one.commit(reply(Some(10))).await;
    let other = bench.open();
    let mut two = Driver::start(&other, 2).await;
    assert_eq!(
        reserve(&bench.store, &one.run, 50, 60),
        granted(60),
        "what was spent before counts"
    );
    assert_eq!(reserve(&other, &two.run, 31, 60), short(10, 60));
    assert_eq!(reserve(&other, &two.run, 30, 60), granted(30), "as much as there is");
    assert_eq!(reserve(&bench.store, &one.run, 61, 70), short(10, 30), "its own is not in its way");
    assert_eq!(reserve(&bench.store, &one.run, 50, 60), granted(60));
    one.commit(reply(Some(5))).await;
    two.commit(reply(None)).await;
    assert_eq!(
        reserve(&other, &two.run, 56, 90),
        short(45, 0),
        "what nobody counted cost all of it"
    );
    assert_eq!(reserve(&other, &two.run, 55, 90), granted(55));
    for settled in [fault(), end()] {
        two.commit(settled).await;
        assert_eq!(reserve(&bench.store, &one.run, 55, 55), granted(55));
        one.commit(fault()).await;
        assert_eq!(reserve(&other, &two.run, 55, 55), granted(55));
    }
}

// keeps: money-reserved
#[tokio::test]
async fn what_a_driver_that_died_had_set_aside_is_given_back_and_absurd_costs_do_not_wrap() {
    let bench = Bench::new();
    let mut one = Driver::start(&bench.store, 1).await;
    let mut two = Driver::start(&bench.store, 2).await;
    assert_eq!(reserve(&bench.store, &one.run, 1, u64::MAX), granted(100));
    assert_eq!(reserve(&bench.store, &two.run, 1, 1), short(0, 100));
    one.release();
    assert_eq!(reserve(&bench.store, &two.run, 1, 1), granted(1));
    two.commit(reply(Some(u64::MAX))).await;
    two.commit(reply(Some(u64::MAX))).await;
    assert_eq!(reserve(&bench.store, &two.run, 1, 1), short(i64::MAX as u64, 0));
    two.release();
    bench.store.delete(&session(), 9).unwrap();
    assert_eq!(
        bench.count("SELECT (SELECT count(*) FROM spent) + (SELECT count(*) FROM reserved)"),
        0
    );
}
