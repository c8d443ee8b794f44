//! Letters between runs and the streams that go on: each stands there from the outcome that makes it to the fact
//! that ends it, however often it is told.

use crate::kit::{Bench, Driver, op, session};
use cairn_types::{Body, ContentRef, Coord, Letter, Origin, Steer, Stream, Writer};

fn at(seq: u32) -> Coord {
    Coord { lap: 1, turn: 1, seq }
}

/// A command's facts whose outcome opens a stream, or says something.
fn making(seq: u32, stream: Option<&str>, letter: Option<Letter>) -> Vec<(Body, Vec<u8>)> {
    let mut bodies = op(seq, "x");
    if let Some((Body::Outcome(outcome), _)) = bodies.last_mut() {
        outcome.stream = stream.map(str::to_owned);
        outcome.letter = letter;
    }
    bodies
}

fn letter(to: &Driver, stream: Option<Coord>) -> Option<Letter> {
    let (to, text) = (to.run.clone(), ContentRef::of(b"x"));
    Some(Letter { to, stream, status: 200, text })
}

fn heard(from: &Driver, seq: u32) -> Vec<(Body, Vec<u8>)> {
    let from = Some(Origin { run: from.run.clone(), row: at(seq) });
    let text = ContentRef::of(b"x");
    let steer = Steer { text, writer: Writer::Model, begun: None, from };
    vec![(Body::Steer(steer), b"x".to_vec())]
}

// keeps: two-doors
#[tokio::test]
async fn a_letter_waits_from_its_outcome_until_the_fact_that_it_was_heard() {
    let bench = Bench::new();
    let mut one = Driver::start(&bench.store, 1).await;
    let mut other = Driver::start(&bench.store, 2).await;
    one.commit(making(1, None, letter(&other, None))).await;
    one.commit(making(2, None, letter(&other, None))).await;
    let waiting = || {
        let letters = bench.open().letters(&other.run).unwrap();
        letters.into_iter().map(|one| one.from.row.seq).collect::<Vec<_>>()
    };
    assert_eq!(waiting(), [1, 2], "in order, for whoever opens the home");
    assert!(bench.store.letters(&one.run).unwrap().is_empty());
    let first = heard(&one, 1);
    other.commit(first).await;
    let left: Vec<u32> =
        bench.store.letters(&other.run).unwrap().iter().map(|l| l.from.row.seq).collect();
    assert_eq!(left, [2]);
    let second = heard(&one, 2);
    other.commit(second).await;
    assert!(bench.store.letters(&other.run).unwrap().is_empty());
}

// keeps: streams-are-cancelled
#[tokio::test]
async fn a_stream_is_listed_until_it_is_over_and_nobody_is_told_after_that() {
    let bench = Bench::new();
    let mut one = Driver::start(&bench.store, 1).await;
    let mut other = Driver::start(&bench.store, 2).await;
    one.commit(making(1, Some("exec:///r/1/1/1"), None)).await;
    let open = || -> Vec<String> {
        let open = bench.open().subscriptions(&session()).unwrap();
        open.into_iter().map(|one| format!("{} {}", one.row, one.address)).collect()
    };
    assert_eq!(open(), ["1/1/1 exec:///r/1/1/1"]);
    other.commit(making(1, None, letter(&one, Some(at(1))))).await;
    other.commit(making(2, None, letter(&one, Some(at(9))))).await;
    let letters = bench.store.letters(&one.run).unwrap();
    assert_eq!(letters.len(), 1, "nothing is said to a stream that does not go on");
    one.commit(vec![(Body::Stream(Stream::lost(at(1))), Vec::new())]).await;
    assert!(open().is_empty());
    assert!(bench.store.letters(&one.run).unwrap().is_empty());
    other.commit(making(3, None, letter(&one, Some(at(1))))).await;
    assert!(bench.store.letters(&one.run).unwrap().is_empty());
    let mut over_before_its_row = making(2, Some("exec:///r/1/1/2"), None);
    let over = (Body::Stream(Stream::lost(at(2))), Vec::new());
    over_before_its_row.insert(over_before_its_row.len() - 1, over);
    one.commit(over_before_its_row).await;
    assert!(open().is_empty());
}
