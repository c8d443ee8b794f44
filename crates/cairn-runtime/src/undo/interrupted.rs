//! Ops that a crash cut in the middle and that no driver went on with. Before rows are undone they are
//! settled as they are found: its row records the changes that were made, and the missing ones are not made.

use crate::act::entries_alone;
use crate::{Client, RunError, holder};
use cairn_engine::{Engine, Found, Recording};
use cairn_store::{Lease, Store};
use cairn_types::{Body, Change, Coord, Drive, RunId};
use cairn_world::{Probe, World};
use std::sync::Arc;

/// An op that began to change something and whose end nobody recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterruptedOp {
    /// Its run.
    pub run: RunId,
    /// Its row.
    pub at: Coord,
    /// What was asked for, in one line.
    pub asked: String,
}

/// Returns the interrupted op of a run, if it has one.
pub fn interrupted_op(store: &Store, run: &RunId) -> Result<Option<InterruptedOp>, RunError> {
    let engine = Engine::fold(&store.facts(run, 0)?);
    Ok(engine.interrupted_op().map(|op| InterruptedOp {
        run: run.clone(),
        at: op.intent.at,
        asked: format!("{} {}", op.intent.tool, op.intent.target),
    }))
}

/// Records what became of the interrupted op of the run that this lease is for. Its loop stays open:
/// whoever continues the run goes on after the op.
pub async fn settle_interrupted_op(
    store: &Store,
    world: &Arc<World>,
    lease: Lease,
) -> Result<Lease, RunError> {
    let facts = store.facts(lease.run(), 0)?;
    let engine = Engine::fold(&facts);
    let begun = engine.interrupted_op().and_then(|op| Some((op.intent.at, op.begin.clone()?)));
    let last_drive = facts.iter().rev().find_map(|fact| match &fact.body {
        Body::Drive(drive) => Some(drive.clone()),
        _ => None,
    });
    let (Some((at, begin)), Some(last_drive)) = (begun, last_drive) else { return Ok(lease) };
    let drive =
        Drive { epoch: lease.epoch(), holder: holder(), since: None, lost: None, ..last_drive };
    let mut client = Client::over(store.clone(), world.clone(), lease, engine);
    client.record(Recording::of(Body::Drive(drive)));
    if begin.changes.iter().any(Change::is_stored) {
        client.alone = Some(entries_alone(store).await?);
    }
    let mut settled = client.engine.left_as_found(at, look(world, &begin.changes));
    for body in &mut settled.facts {
        if let Body::Outcome(outcome) = body
            && outcome.changes.is_empty()
        {
            outcome.changes = world.made(&begin.changes);
        }
    }
    client.record(settled);
    client.commit().await?;
    Ok(client.lease)
}

/// What the disk shows of these changes. An entry changes with the outcome alone, so of an op that
/// changes one there is always something missing.
fn look(world: &World, changes: &[Change]) -> Found {
    match world.probe(changes) {
        Probe::Done if changes.iter().any(Change::is_stored) => Found::Partly,
        Probe::Done => Found::Done,
        Probe::NotDone => Found::NotDone,
        Probe::Partly => Found::Partly,
        Probe::Neither => Found::Unknown,
    }
}
