//! Runs and their facts: forks, leases, concurrent writers, contents, and what a commit costs.

use crate::kit::{self, Bench, Driver, end, op, outcome_only};
use cairn_store::{
    Access, Batch, Found, LeaseKey, Options, Replies, ReplyRow, Store, StoreError, Verdict,
};
use cairn_types::{Body, ForkPoint, Hash, RunId, SessionId};
use serde_json::json;

#[tokio::test]
async fn every_outcome_has_its_receipt_and_they_chain() {
    let bench = Bench::new();
    let mut driver = Driver::start(&bench.store, 1).await;
    let first = driver.commit(op(1, "ls")).await;
    let second = driver.commit([op(2, "pwd"), op(3, "date")].concat()).await;
    let last = driver.commit(end()).await;
    assert_eq!((first.receipts.len(), second.receipts.len()), (1, 2));
    assert!(last.anchor.is_some() && first.anchor.is_none());

    let receipts = bench.store.receipts(&driver.run).unwrap();
    let facts = bench.store.facts(&driver.run, 0).unwrap();
    let outcomes: Vec<u64> =
        facts.iter().filter(|f| matches!(f.body, Body::Outcome(_))).map(|f| f.n).collect();
    assert_eq!(receipts.iter().map(|r| r.fact_n).collect::<Vec<_>>(), outcomes);
    assert_eq!(receipts[0].payload.prev, "0".repeat(64));
    for pair in receipts.windows(2) {
        assert_eq!(pair[1].payload.prev, pair[0].hash);
        assert_eq!(pair[1].payload.facts.from, pair[0].payload.facts.to + 1);
    }
    assert_eq!(receipts[0].payload.tool_id, "bash");
    assert_eq!(receipts[0].payload.decided_by, "person:ada");
    assert_eq!(receipts[2].payload.turn_id, "1/1/3");
}

/// A reply that took so many tokens.
fn reply(turn: u32, input: u64, cost: Option<u64>) -> (Body, Vec<u8>) {
    let body = json!({"lap": 1, "turn": turn, "model": "scripted/one", "finish": "stop",
        "usage": {"input": input, "output": 0}, "cost": cost, "attempts": 1, "ms": 1});
    let body = Body::Reply(serde_json::from_value(body).unwrap());
    (body, Vec::new())
}

#[tokio::test]
async fn every_reply_is_told_once_under_the_run_that_had_it() {
    let bench = Bench::new();
    let mut driver = Driver::start(&bench.store, 1).await;
    driver.commit(vec![reply(1, 10, Some(7))]).await;
    driver.commit(op(1, "ls")).await;
    let mut child = driver.fork(driver.n).await;
    child.drive().await;
    child.commit(vec![reply(2, 20, None)]).await;
    let told = |since, session| {
        let mut told = Vec::new();
        let which = Replies { since, session };
        let mut each = |row: ReplyRow| {
            told.push((row.run, row.at, row.usage.unwrap().input, row.cost.map(|cost| cost.0)));
        };
        bench.store.replies(&which, &mut each).unwrap();
        told.sort();
        told
    };
    let all = told(0, None);
    let tokens: Vec<_> = all.iter().map(|(run, _, input, cost)| (run, *input, *cost)).collect();
    let mut expect = [(&driver.run, 10, Some(7)), (&child.run, 20, None)];
    expect.sort();
    assert_eq!(tokens, expect);
    assert_eq!(told(0, Some(kit::session())), all);
    assert_eq!(told(0, Some(SessionId::new(9, 9))), []);
    let latest = all.iter().map(|(_, at, ..)| *at).max().unwrap();
    assert!(told(latest, None).iter().all(|(_, at, ..)| *at == latest));
    assert_eq!(told(latest + 1, None), []);
}

#[tokio::test]
async fn a_fork_goes_on_from_its_parents_receipt() {
    let bench = Bench::new();
    let mut driver = Driver::start(&bench.store, 1).await;
    driver.commit(op(1, "one")).await;
    let point = driver.n;
    driver.commit(op(2, "two")).await;
    // The fork settles an op that its parent had asked for.
    let half = op(3, "three");
    driver.commit(half[..3].to_vec()).await;
    let late = driver.n;
    driver.commit(half[3..].to_vec()).await;
    driver.commit(end()).await;

    let mut child = driver.fork(point).await;
    child.drive().await;
    child.commit(op(2, "other")).await;
    let mut grandchild = child.fork(child.n).await;
    let mut cousin = driver.fork(late).await;
    cousin.drive().await;
    cousin.commit(outcome_only(3, "settled in the fork")).await;

    let parent = bench.store.receipts(&driver.run).unwrap();
    let child_receipts = bench.store.receipts(&child.run).unwrap();
    assert_eq!(child_receipts[0], parent[0]);
    assert_eq!(child_receipts[1].payload.prev, parent[0].hash);
    assert_eq!((child_receipts.len(), child_receipts[1].seq), (2, 2));
    let cousin_receipts = bench.store.receipts(&cousin.run).unwrap();
    assert_eq!(cousin_receipts[2].payload.prev, parent[1].hash);

    let facts = bench.store.facts(&child.run, 0).unwrap();
    assert!(facts.iter().map(|f| f.n).eq(1..=child.n));
    assert_eq!(facts[point as usize - 1].run, driver.run);
    assert_eq!(facts[point as usize].run, child.run);
    assert_eq!(bench.store.facts(&child.run, point).unwrap().len() as u64, child.n - point);

    // An empty fork, and the same after it was driven.
    assert_eq!(bench.verdict(None), Verdict::Unanchored);
    grandchild.drive().await;
    grandchild.commit(end()).await;
    assert_eq!(bench.verdict(None), Verdict::Unanchored);
    assert_eq!(cairn_store::verify_bytes(&bench.bundle().await, None).verdict, Verdict::Unanchored);
}

#[tokio::test]
async fn a_fork_costs_the_same_whatever_its_parents_length() {
    let bench = Bench::new();
    let mut driver = Driver::start(&bench.store, 1).await;
    let mut costs = Vec::new();
    for _ in 0..3 {
        for _ in 0..20 {
            driver.next_op("x").await;
        }
        costs.push(driver.try_fork(driver.n).await.unwrap().0.rows);
    }
    assert!(costs.iter().all(|cost| *cost == costs[0]), "{costs:?}");
}

#[tokio::test]
async fn a_commit_costs_the_same_at_fact_10_and_at_fact_1000() {
    let bench = Bench::new();
    let mut driver = Driver::start(&bench.store, 1).await;
    let early = driver.next_op("same").await;
    assert!(driver.n < 12);
    while driver.n < 1_000 {
        driver.next_op("same").await;
    }
    let late = driver.next_op("same").await;
    assert_eq!(early.rows, late.rows);
    // The numbers in a row grow by a few digits.
    assert!(late.bytes.abs_diff(early.bytes) < 40, "{} {}", early.bytes, late.bytes);
    let first_end = driver.commit(end()).await;
    let second_end = driver.commit(end()).await;
    assert!(second_end.rows < 12 && first_end.rows > 200, "{second_end:?}");
}

#[tokio::test]
async fn a_driver_that_lost_its_lease_cannot_write() {
    let bench = Bench::new();
    let mut old = Driver::start(&bench.store, 1).await;
    let stale = old.key();
    old.release();
    let mut new = Driver::take(&bench.store, &old.run, old.n).await;
    new.drive().await;
    let batch = |lease: LeaseKey| Batch {
        lease,
        session: None,
        run: None,
        facts: kit::facts(&new.run, new.n, &op(1, "late")),
        contents: kit::contents(&op(1, "late")),
    };
    let refused = bench.store.commit(batch(stale)).await.unwrap_err();
    assert!(matches!(&refused, StoreError::Fenced { holder: Some(_), .. }), "{refused}");
    bench.store.commit(batch(new.key())).await.unwrap();
    let again = bench.store.commit(batch(new.key())).await.unwrap_err();
    assert!(matches!(again, StoreError::OutOfOrder { .. }), "{again}");
}

#[tokio::test]
async fn a_second_driver_is_told_who_holds_the_run() {
    let bench = Bench::new();
    let driver = Driver::start(&bench.store, 1).await;
    let other = bench.open();
    let refused = other.lease(&driver.run, "pid 2 on here").unwrap_err();
    assert!(refused.to_string().contains("pid 1 on here"), "{refused}");
    let run = driver.run.clone();
    drop(driver);
    assert_eq!(other.lease(&run, "pid 2 on here").unwrap().epoch(), 2);
}

#[tokio::test]
async fn two_stores_on_one_home_lose_nothing() {
    let bench = Bench::new();
    let stores = [bench.store.clone(), bench.open()];
    let mut tasks = tokio::task::JoinSet::new();
    for i in 0..50u32 {
        let store = stores[i as usize % 2].clone();
        tasks.spawn(async move {
            let mut driver = Driver::start(&store, 100 + i).await;
            for _ in 0..3 {
                driver.next_op("echo").await;
            }
            driver.commit(end()).await;
            (driver.run.clone(), driver.n)
        });
    }
    let mut count = 0;
    while let Some(done) = tasks.join_next().await {
        let (run, n) = done.unwrap();
        assert_eq!(stores[count % 2].facts(&run, 0).unwrap().len() as u64, n);
        count += 1;
    }
    assert_eq!((count, bench.store.runs(&kit::session()).unwrap().len()), (50, 50));
    let report = bench.store.verify_session(&kit::session(), None).unwrap();
    assert_eq!((report.verdict, report.receipts), (Verdict::Unanchored, 150), "{}", report.why);
}

#[tokio::test]
async fn contents_round_trip_and_their_damage_is_found() {
    let bench = Bench::new();
    let mut driver = Driver::start(&bench.store, 1).await;
    let text = "the same line again\n".repeat(40_000).into_bytes();
    let noise: Vec<u8> = (0..9_000u32).flat_map(|i| Hash::of(&i.to_le_bytes()).0).collect();
    let cases = [Vec::new(), b"small".to_vec(), "medium ".repeat(400).into_bytes(), text, noise];
    driver.contents(cases.to_vec()).await;
    driver.contents(cases.to_vec()).await;
    for case in &cases {
        assert_eq!(bench.store.content(&Hash::of(case)).unwrap(), *case);
    }
    let hash = Hash::of(&cases[4]);
    let name = hash.to_string();
    let path = bench.home().join("contents").join(&name[..2]).join(&name[2..]);
    let mut damaged = std::fs::read(&path).unwrap();
    damaged[7] ^= 1;
    std::fs::write(&path, &damaged).unwrap();
    assert!(matches!(bench.store.content(&hash), Err(StoreError::ContentCorrupt { .. })));
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(bench.store.content(&hash), Err(StoreError::ContentMissing { .. })));
    // Whoever brings it again repairs it.
    driver.contents(vec![cases[4].clone()]).await;
    assert_eq!(bench.store.content(&hash).unwrap(), cases[4]);
}

#[tokio::test]
async fn a_bad_batch_fails_alone() {
    let bench = Bench::new();
    let mut good = Driver::start(&bench.store, 1).await;
    let bad = Driver::start(&bench.store, 2).await;
    let orphan = Batch {
        lease: bad.key(),
        session: None,
        run: None,
        facts: kit::facts(&bad.run, bad.n, &outcome_only(9, "no intent")),
        contents: kit::contents(&outcome_only(9, "no intent")),
    };
    let (kept, refused) = tokio::join!(good.next_op("fine"), bench.store.commit(orphan));
    assert_eq!(kept.receipts.len(), 1);
    assert!(refused.unwrap_err().to_string().contains("nobody asked for 1/1/9"));
    assert_eq!(bench.store.facts(&bad.run, 0).unwrap().len() as u64, bad.n);
    let lost = Hash::of(b"no intent");
    assert!(matches!(bench.store.content(&lost), Err(StoreError::ContentMissing { .. })));
}

#[tokio::test]
async fn names_prefixes_and_ids_are_found() {
    let bench = Bench::new();
    let one = Driver::start(&bench.store, 1).await;
    let two = Driver::start(&bench.store, 2).await;
    let find = |text: &str| match bench.store.find(text) {
        Ok(Found::Run(run)) => run.id.to_string(),
        Ok(Found::Session(session)) => session.id.to_string(),
        Err(error) => error.to_string(),
    };
    assert_eq!(find(one.run.as_str()), one.run.as_str());
    assert_eq!(find("task"), two.run.as_str());
    assert_eq!(find(&kit::session().as_str()[..4]), kit::session().as_str());
    assert!(find(&one.run.as_str()[..9]).contains("write more of it"));
    assert!(find("nothing").contains("there is no run or session"));
    assert!(find("%%%").contains("there is no run or session"));
    let sessions = bench.store.sessions().unwrap();
    assert_eq!((sessions.len(), sessions[0].runs), (1, 2));
    assert_eq!(bench.store.latest_session("/root/project").unwrap(), Some(kit::session()));
    assert_eq!(bench.store.latest_session("/elsewhere").unwrap(), None);
    assert_eq!(bench.store.run(&one.run).unwrap().unwrap().last_n, one.n);
}

#[tokio::test]
async fn a_home_that_cannot_be_had_says_why() {
    let bench = Bench::new();
    let open = |home: std::path::PathBuf, access| Store::open(&Options::new(home, access));
    let missing = open(bench.home().join("none"), Access::ReadOnly);
    assert!(matches!(missing, Err(StoreError::NoHome { .. })));
    let file = bench.home().join("file");
    std::fs::write(&file, "").unwrap();
    assert!(matches!(open(file, Access::ReadWrite), Err(StoreError::NotAFolder { .. })));

    let driver = Driver::start(&bench.store, 1).await;
    let reader = open(bench.home().to_owned(), Access::ReadOnly).unwrap();
    assert_eq!(reader.facts(&driver.run, 0).unwrap().len() as u64, driver.n);
    let refused = reader.lease(&driver.run, "me");
    assert!(matches!(refused, Err(StoreError::ReadOnlyHome { .. })));
    std::fs::remove_file(bench.home().join("keys/signing")).unwrap();
    // Nothing was signed yet, so a new key is no harm; afterwards it would be.
    let mut driver = Driver::take(&bench.open(), &RunId::new(1, 2), 0).await;
    driver.create().await;
    driver.next_op("sign").await;
    std::fs::remove_file(bench.home().join("keys/hmac")).unwrap();
    let refused = open(bench.home().to_owned(), Access::ReadWrite);
    assert!(matches!(refused, Err(StoreError::Key { .. })));
}

#[tokio::test]
async fn a_fork_point_beyond_the_parent_is_refused() {
    let bench = Bench::new();
    let driver = Driver::start(&bench.store, 1).await;
    let refused = driver.try_fork(driver.n + 1).await.err().unwrap();
    assert!(matches!(refused, StoreError::BadBatch { .. }), "{refused}");
    let parent = ForkPoint { run: RunId::new(9, 9), n: 1 };
    let refused = kit::fork(&bench.store, &RunId::new(8, 8), parent).await.unwrap_err();
    assert!(refused.to_string().contains("does not exist"), "{refused}");
}

#[tokio::test]
async fn gc_frees_nothing_beside_a_fact_that_cannot_be_read() {
    let bench = Bench::new();
    let mut driver = Driver::start(&bench.store, 1).await;
    driver.contents(vec![b"kept by a fact".to_vec()]).await;
    let contents = bench.count("SELECT count(*) FROM contents");
    for damage in ["'{\"kind'", "CAST(X'7BFF7D' AS TEXT)"] {
        bench.tamper(&format!("UPDATE facts SET body = {damage} WHERE n = 1"));
        bench.store.gc(&cairn_store::Gc::default()).unwrap_err();
        assert_eq!(bench.count("SELECT count(*) FROM contents"), contents, "{damage}");
    }
}
