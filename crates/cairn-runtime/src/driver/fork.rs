//! Making forks: where one may leave its parent, and what the fork of a run whose facts were lost records.

use crate::journal::Journal;
use crate::{RunError, holder, now_ms};
use cairn_engine::{Engine, Recording};
use cairn_store::{MissingRecord, NewRun, RunRow, Store};
use cairn_text::scrub::Scrubber;
use cairn_types::{Body, Drive, Fact, ForkPoint, LostFacts, RunId};

/// Returns the number of the last fact that a fork shares: where nothing is open and, if a turn is
/// named, that turn has just been settled. `None` if there is no such fact.
#[must_use]
pub fn find_fork_point(facts: &[Fact], turn: Option<(u32, u32)>) -> Option<u64> {
    let mut engine = Engine::default();
    let mut last = None;
    for fact in facts {
        engine.apply(fact);
        let settled = engine.last_settled();
        // Of a turn that is named: up to its loop's end, when it was the last one.
        let wanted = turn.is_none_or(|turn| settled == Some(turn) && closes(&fact.body));
        if wanted && engine.is_between_turns() {
            last = Some(fact.n);
        }
    }
    last
}

/// Whether a fact ends a turn, or its loop.
fn closes(body: &Body) -> bool {
    matches!(body, Body::Reply(_) | Body::Outcome(_) | Body::End(_))
}

/// Makes a fork of a run that shares its facts up to this one. Where the database lacks what the parent
/// once had, the fork's first fact says so.
pub async fn make_fork(
    store: &Store,
    parent: &RunRow,
    shared: u64,
    (id, name): (RunId, Option<String>),
) -> Result<(), RunError> {
    let lease = store.lease(&id, &holder())?;
    let (mut engine, mut lost_drive) = (Engine::default(), None);
    if let Some(missing) = store.missing_record(&parent.id)? {
        let mut facts = store.facts(&parent.id, 0)?;
        facts.retain(|fact| fact.n <= shared);
        engine = Engine::fold(&facts);
        lost_drive = last_drive(facts).map(|last| {
            let lost = Some(lost_facts(missing));
            Drive { epoch: lease.epoch(), holder: holder(), since: None, lost, ..last }
        });
    }
    let (session, scrubber) = (parent.session.clone(), Scrubber::default());
    let mut journal = Journal::new(store.clone(), lease, session.clone(), engine, scrubber);
    let parent = Some(ForkPoint { run: parent.id.clone(), n: shared });
    journal.begin_run(NewRun { id, session, name, parent, at: now_ms() });
    if let Some(drive) = lost_drive {
        journal.record(Recording::of(Body::Drive(drive)));
    }
    journal.flush().await?;
    Ok(())
}

/// The drive in force after these facts.
pub(crate) fn last_drive(facts: Vec<Fact>) -> Option<Drive> {
    facts.into_iter().rev().find_map(|fact| match fact.body {
        Body::Drive(drive) => Some(drive),
        _ => None,
    })
}

/// What a fork records of what its parent lost.
pub(crate) fn lost_facts(missing: MissingRecord) -> LostFacts {
    let MissingRecord { run, last_n, receipt, why, .. } = missing;
    LostFacts { run, last: last_n, receipt, why }
}
