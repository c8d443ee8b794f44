//! Ops that a crash cut in the middle and that no driver went on with. Before rows are undone they are
//! settled as they are found: its row records the changes that were made, and the missing ones are not made.

use crate::driver::fork::last_drive;
use crate::journal::{AfterCrash, Journal, Recovery};
use crate::{RunError, holder};
use cairn_engine::{Engine, Recording};
use cairn_store::{Lease, Store};
use cairn_types::{Body, Coord, Drive, RunId};
use cairn_world::World;
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
    let at = engine.interrupted_op().map(|op| op.intent.at);
    let session = engine.run().map(|run| run.session.clone());
    let (Some(at), Some(session), Some(last)) = (at, session, last_drive(facts)) else {
        return Ok(lease);
    };
    let drive = Drive { epoch: lease.epoch(), holder: holder(), since: None, lost: None, ..last };
    let scrubber = world.scrubber().clone();
    let mut journal = Journal::new(store.clone(), lease, session, engine, scrubber);
    journal.record(Recording::of(Body::Drive(drive)));
    let _entries_lock = journal.lock_entries_of(journal.begun_changes(at)).await?;
    let after_crash = journal.settle_after_crash(at, world, Recovery::LeaveAsFound)?;
    if let AfterCrash::Record(settled) = after_crash {
        journal.record(settled);
    }
    journal.flush().await?;
    Ok(journal.into_lease())
}
