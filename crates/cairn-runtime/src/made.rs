//! What a run's earlier ops made, told to the world: that is a member of the project, whatever rules say of
//! it. What was made elsewhere, in a run that was imported, says nothing of the files here.

use crate::RunError;
use cairn_store::Store;
use cairn_types::{Body, Fact, RunId};
use cairn_world::World;

/// Tells the world what these facts say was made.
pub(crate) fn tell(world: &World, store: &Store, facts: &[Fact]) -> Result<(), RunError> {
    let mut last: Option<(&RunId, bool)> = None;
    for fact in facts {
        let Body::Outcome(outcome) = &fact.body else { continue };
        let is_imported = match last {
            Some((of, is_imported)) if *of == fact.run => is_imported,
            _ => store.run(&fact.run)?.is_none_or(|row| row.imported),
        };
        last = Some((&fact.run, is_imported));
        if !is_imported {
            world.count_made(&outcome.changes);
        }
    }
    Ok(())
}
