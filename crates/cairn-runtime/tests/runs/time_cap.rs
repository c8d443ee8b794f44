//! The cap on a loop's time, while the model is being waited for.

use crate::kit::{Told, block_on, script, start, store};
use cairn_runtime::Place;
use cairn_store::{Batch, Kept};
use cairn_testkit::{ModelServer, TempHome};
use cairn_types::{Body, Budgets, ContentRef, Drive, Fact, Rail, Status, Steer, Writer};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};

// keeps: time-cap
#[test]
fn an_answer_is_not_waited_for_past_the_cap() {
    let (temp, model) = (TempHome::new(), ModelServer::start(script(&[json!({"say": "late"})])));
    let store = store(&temp.home());
    model.delay(Duration::from_secs(60));
    let begin = || {
        let mut start = start(&store, &temp.workspace(), &model.url(), Arc::new(Told::default()));
        start.budgets = Budgets { minutes: Some(1), ..Budgets::default() };
        start
    };
    block_on(async {
        let new = Place::New { new_session: false, name: None };
        let (mut driver, _commands) = begin().take(new, Some("work")).await.unwrap();
        driver.drive(Some(1)).await.unwrap();
        let (run, session) = (driver.run_id().clone(), driver.session_id().clone());
        drop(driver);
        // The loop was worked on for all but a moment of its minute.
        let facts = store.facts(&run, 0).unwrap();
        let drive = facts.iter().find_map(|fact| match &fact.body {
            Body::Drive(drive) => Some(drive.clone()),
            _ => None,
        });
        let last = facts.last().unwrap();
        let lease = store.lease(&run, "a test").unwrap();
        let drive = Drive { epoch: lease.epoch(), ..drive.unwrap() };
        let text = ContentRef::of(b"go on");
        let steer = Steer { text, writer: Writer::Client, begun: None, from: None };
        let fact = |n: u64, at: u64, body: Body| {
            let (run, engine) = (run.clone(), last.engine.clone());
            Fact { run, n: last.n + n, at: last.at + at, engine, body }
        };
        let facts = vec![fact(1, 0, Body::Drive(drive)), fact(2, 59_600, Body::Steer(steer))];
        let contents = vec![Kept::from(b"go on".to_vec())];
        let batch = Batch { lease: lease.key(), session: None, run: None, facts, contents };
        #[allow(clippy::disallowed_methods, reason = "the facts are of another time")]
        store.commit(batch).await.unwrap();
        drop(lease);

        let existing = Place::Existing { run: run.clone(), session };
        let (mut driver, _commands) = begin().take(existing, None::<&str>).await.unwrap();
        let began = Instant::now();
        driver.drive(None).await.unwrap();
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
        let ended = driver.engine().ended().unwrap();
        assert_eq!((ended.status, ended.rail), (Status::LIMIT, Some(Rail::Time)), "{ended:?}");
        assert_eq!(model.requests().len(), 1, "it was asked, and not waited for");
        let facts = store.facts(&run, 0).unwrap();
        assert!(!facts.iter().any(|fact| matches!(fact.body, Body::Reply(_) | Body::Fault(_))));
    });
}
