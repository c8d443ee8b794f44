//! Making forks: where one may leave its parent, and what the fork of a run whose facts were lost records.

use crate::{RunError, holder, now_ms};
use cairn_engine::{Engine, VERSION};
use cairn_store::{Batch, MissingRecord, NewRun, RunRow, Store};
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
    let mut facts = Vec::new();
    if let Some(missing) = store.missing_record(&parent.id)?
        && let Some(last) = last_drive(&store.facts(&parent.id, 0)?, shared)
    {
        let lost = Some(lost_facts(missing));
        let drive = Drive { epoch: lease.epoch(), holder: holder(), since: None, lost, ..last };
        facts.push(Fact {
            run: id.clone(),
            n: shared + 1,
            at: now_ms(),
            engine: VERSION.to_owned(),
            body: Body::Drive(drive),
        });
    }
    let run = NewRun {
        id,
        session: parent.session.clone(),
        name,
        parent: Some(ForkPoint { run: parent.id.clone(), n: shared }),
        at: now_ms(),
    };
    let lease = lease.key();
    store
        .commit(Batch { lease, session: None, run: Some(run), facts, contents: Vec::new() })
        .await?;
    Ok(())
}

/// The drive in force at this fact.
fn last_drive(facts: &[Fact], upto: u64) -> Option<Drive> {
    facts.iter().rev().filter(|fact| fact.n <= upto).find_map(|fact| match &fact.body {
        Body::Drive(drive) => Some(drive.clone()),
        _ => None,
    })
}

/// What a fork records of what its parent lost.
pub(crate) fn lost_facts(missing: MissingRecord) -> LostFacts {
    let MissingRecord { run, last_n, receipt, why, .. } = missing;
    LostFacts { run, last: last_n, receipt, why }
}
