//! Rows, folded from facts.

use super::*;

fn intent(at: Coord, target: &str) -> Body {
    Body::Intent(Intent {
        at,
        call: "call".to_owned(),
        writer: Writer::Model,
        surface: Surface::Native,
        tool: "bash".to_owned(),
        input: ContentRef::of(target.as_bytes()),
        op: Some(OpName::Exec),
        target: target.to_owned(),
        subject: None,
        effect: Effect::Host,
        repeatable: false,
        of: None,
        repairs: Vec::new(),
        unclosed: false,
        says: None,
        problem: None,
    })
}

fn begin(at: Coord, again: bool) -> Body {
    Body::Begin(Begin { at, changes: Vec::new(), again, told: None, ran: None })
}

fn facts(bodies: Vec<Body>) -> Vec<Fact> {
    let fact = |(n, body)| Fact { run: RunId::new(1, 1), n, at: n, engine: VERSION.into(), body };
    (1..).zip(bodies).map(fact).collect()
}

// keeps: log-shows
#[test]
fn a_row_has_all_that_is_recorded_of_its_op() {
    let (one, two) = (at(1, 1, 1), at(1, 1, 2));
    let by = || By::Person("ada".to_owned());
    let looked_at = Outcome { result: ContentRef::of(b"more"), ..outcome(one) };
    let facts = facts(vec![
        intent(one, "x"),
        intent(two, "z"),
        // What a hook made of the first.
        intent(one, "y"),
        Body::Decision(Decision::new(one, Verdict::Allow, by(), Vec::new())),
        begin(one, false),
        begin(one, true),
        Body::Performed(outcome(one)),
        Body::Decision(Decision::new(two, Verdict::Refuse, by(), Vec::new())),
        Body::Outcome(outcome(two)),
        Body::Outcome(looked_at),
        Body::Stream(Stream::lost(one)),
    ]);
    let rows = Rows::fold(&facts);
    let order: Vec<Coord> = rows.iter().map(|row| row.at).collect();
    assert_eq!(order, [one, two], "in the order in which they were asked for");
    let row = rows.get(one).unwrap();
    assert_eq!(row.intent.unwrap().target, "y");
    assert_eq!((row.decisions.len(), row.begins.len()), (1, 2));
    assert_eq!(row.stream.unwrap().fact.n, 11);
    assert_eq!(row.content("input"), Some(ContentRef::of(b"y")));
    assert_eq!(row.content("result"), Some(ContentRef::of(b"more")));
    assert_eq!(row.content("words"), None);
    let numbers: Vec<u64> = row.facts.iter().map(|fact| fact.n).collect();
    assert_eq!(numbers, [1, 3, 4, 5, 6, 7, 10, 11]);
    let settled: Vec<u64> =
        rows.sorted_by(Row::result).iter().map(|(_, done)| done.fact.n).collect();
    assert_eq!(settled, [9, 10], "in the order in which they were settled");
    let done: Vec<u64> =
        rows.sorted_by(Row::first_result).iter().map(|(_, done)| done.fact.n).collect();
    assert_eq!(done, [7, 9], "in the order in which they were done");
    assert!(rows.get(at(1, 1, 3)).is_none());
}

// keeps: log-shows
#[test]
fn a_result_that_hooks_look_at_is_the_rows_until_its_outcome_comes() {
    let one = at(1, 1, 1);
    let facts = facts(vec![intent(one, "x"), begin(one, false), Body::Performed(outcome(one))]);
    let rows = Rows::fold(&facts);
    let row = rows.get(one).unwrap();
    assert!(row.outcome.is_none());
    assert_eq!(row.result().unwrap().fact.n, 3);
    assert_eq!(row.output(), None);
}
