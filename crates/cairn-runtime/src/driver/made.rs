//! What a run's earlier ops did, recalled by the world of the process that drives it now: what they made is a
//! member of the project, and what they changed of the rules about ignored paths is known as it was before. What
//! was done elsewhere, in a run that was imported, says nothing of the files here.

use crate::RunError;
use cairn_store::Store;
use cairn_types::{Body, Fact, RunId};
use cairn_world::World;
use std::collections::HashMap;

/// Tells the world what these facts say was done.
pub(crate) fn tell(world: &World, store: &Store, facts: &[Fact]) -> Result<(), RunError> {
    let mut last: Option<(&RunId, bool)> = None;
    let mut begun = HashMap::new();
    for fact in facts {
        if let Body::Begin(begin) = &fact.body {
            begun.insert((&fact.run, begin.at), fact.at);
        }
        let Body::Outcome(outcome) = &fact.body else { continue };
        let is_imported = match last {
            Some((of, is_imported)) if *of == fact.run => is_imported,
            _ => store.run(&fact.run)?.is_none_or(|row| row.imported),
        };
        last = Some((&fact.run, is_imported));
        if !is_imported {
            let at = begun.remove(&(&fact.run, outcome.at)).unwrap_or(fact.at);
            world.recall(&outcome.changes, at, &|hash| store.content(hash).ok());
        }
    }
    Ok(())
}
