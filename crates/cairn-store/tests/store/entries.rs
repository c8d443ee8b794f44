//! Entries that stand on no disk: each is what the outcomes of the session's runs made of it.

use crate::kit::{Bench, Driver, contents, end, facts, op, session};
use cairn_store::{Batch, Committed, Gc, Import, StoreError};
use cairn_types::{Body, Change, ContentRef, EntryState, FileState};
use std::io::Write;

fn state(text: &str, tags: &[&str]) -> FileState {
    let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
    let entry = EntryState { mime: "text/markdown".to_owned(), tags, agent: false, own: false };
    FileState::of_entry(ContentRef::of(text.as_bytes()), entry)
}

fn change(address: &str, before: Option<FileState>, after: Option<FileState>) -> Change {
    Change::between(address.to_owned(), before, after)
}

/// A command's facts whose outcome changes these entries.
fn changing(seq: u32, text: &str, changes: &[Change]) -> Vec<(Body, Vec<u8>)> {
    let mut bodies = op(seq, text);
    if let Some((Body::Outcome(outcome), _)) = bodies.last_mut() {
        outcome.changes = changes.to_vec();
    }
    bodies
}

/// The same commit, which may be refused.
async fn try_commit(
    bench: &Bench,
    driver: &Driver,
    bodies: &[(Body, Vec<u8>)],
) -> Result<Committed, StoreError> {
    let facts = facts(&driver.run, driver.n, bodies);
    let (lease, contents) = (driver.key(), contents(bodies));
    bench.store.commit(Batch { lease, session: None, run: None, facts, contents }).await
}

fn listed(bench: &Bench) -> Vec<String> {
    let rows = bench.store.entries(&session(), "known:///").unwrap();
    rows.into_iter()
        .map(|row| {
            let entry = row.state.entry.unwrap();
            format!("{} {} {}", row.address, row.state.bytes.unwrap(), entry.tags.join(","))
        })
        .collect()
}

// keeps: entries-with-outcome
#[tokio::test]
async fn an_entry_is_what_outcomes_made_of_it_and_a_stale_change_is_refused_whole() {
    let bench = Bench::new();
    let mut one = Driver::start(&bench.store, 1).await;
    let (first, second) = (state("one\n", &[]), state("second\n", &["a", "b"]));
    let made = change("known:///x", None, Some(first.clone()));
    let other = change("known:///y", None, Some(first.clone()));
    one.commit(changing(1, "make", &[made.clone(), other])).await;
    one.commit(changing(2, "edit", &[change("known:///x", Some(first.clone()), Some(second))]))
        .await;
    assert_eq!(listed(&bench), ["known:///x 7 a,b", "known:///y 4 "]);
    let stale = [
        change("known:///y", Some(first.clone()), None),
        change("known:///x", Some(first.clone()), None),
    ];
    let refused = try_commit(&bench, &one, &changing(3, "stale", &stale)).await;
    let told = refused.unwrap_err().to_string();
    assert_eq!(told, "known:///x was changed by another run meanwhile; nothing was written");
    assert_eq!(listed(&bench), ["known:///x 7 a,b", "known:///y 4 "]);
    one.commit(changing(3, "kill", &[change("known:///y", Some(first), None)])).await;
    assert_eq!(listed(&bench), ["known:///x 7 a,b"]);
    assert!(bench.store.entry(&session(), "known:///x").unwrap().is_some());
    assert!(bench.store.entry(&cairn_types::SessionId::new(9, 9), "known:///x").unwrap().is_none());
}

// keeps: entries-with-outcome
#[tokio::test]
async fn entries_are_carried_with_their_session_kept_by_gc_and_go_with_it() {
    let (here, there) = (Bench::new(), Bench::new());
    let mut one = Driver::start(&here.store, 1).await;
    let (a, b) = (state("a\n", &[]), state("b\n", &["t"]));
    let path = "known:///x";
    for (seq, (before, after)) in (1..).zip([
        (None, Some(&a)),
        (Some(&a), Some(&b)),
        (Some(&b), Some(&a)),
        (Some(&a), Some(&b)),
    ]) {
        let change = change(path, before.cloned(), after.cloned());
        let mut bodies = changing(seq, "turn", &[change]);
        bodies.last_mut().unwrap().1 = b"turn".to_vec();
        one.commit(bodies).await;
    }
    let agent = {
        let mut state = state("of all\n", &[]);
        state.entry.as_mut().unwrap().agent = true;
        state
    };
    one.commit(changing(5, "all", &[change("memory:///m", None, Some(agent))])).await;
    one.contents(vec![b"b\n".to_vec(), b"of all\n".to_vec()]).await;
    one.commit(end()).await;
    one.release();
    here.store.checkpoint(&session(), 99).await.unwrap();
    let mut bytes = Vec::new();
    here.store.export(&session(), &mut bytes).unwrap();
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&bytes).unwrap();
    let root = "/elsewhere".to_owned();
    there.store.import(&mut Import { file: &mut file, root, at: 5_000 }).unwrap();
    assert_eq!(listed(&there), ["known:///x 2 t"]);
    assert!(there.store.entry(&session(), "memory:///m").unwrap().is_none());
    assert!(here.store.entry(&session(), "memory:///m").unwrap().is_some());
    here.store.gc(&Gc { before: 9_999_999, ..Gc::default() }).unwrap();
    let kept = here.store.entry(&session(), path).unwrap().unwrap().state.hash.unwrap();
    assert_eq!(here.store.content(&kept).unwrap(), b"b\n");
    here.store.delete(&session(), 5).unwrap();
    assert_eq!(here.count("SELECT count(*) FROM entries"), 1, "what every session has stays");
    assert_eq!(here.count("SELECT count(*) FROM contents"), 1);
}
