//! What of all that was moved aside somebody may still need, by root. Read from the log; the disk is
//! not looked at.

use super::standing::{standing, unfinished};
use crate::RunError;
use crate::client::client_run;
use cairn_engine::Rows;
use cairn_store::{SessionRow, Store};
use cairn_types::{Aside, Change};
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

/// The batches in one root's trash that rows of this home name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asides {
    /// Those that an undo or a redo can need.
    pub needed: HashSet<String>,
    /// All of them.
    pub named: HashSet<String>,
}

impl Asides {
    /// Whether a batch can go: nobody needs it, and it is known to be of a row whose before-images are
    /// no longer kept, or nobody touched it since then. A batch that no row names may be another
    /// home's, or of a command that was not put before a person yet.
    #[must_use]
    pub fn lets_go(&self, batch: &str, touched: u64, since: u64) -> bool {
        !self.needed.contains(batch) && (self.named.contains(batch) || touched < since)
    }
}

/// What was moved aside in every root that a session of this home works on. Kept is what runs that
/// were touched since then moved, and what an undo that stands or was cut off needs.
pub fn asides(store: &Store, since: u64) -> Result<BTreeMap<PathBuf, Asides>, RunError> {
    let living = store.living(since)?;
    let mut roots: BTreeMap<PathBuf, Asides> = BTreeMap::new();
    for session in store.sessions()? {
        roots.entry(PathBuf::from(&session.root)).or_default();
        let client = client_run(store, &session.id)?;
        // What an imported run moved, it moved elsewhere.
        for run in store.runs(&session.id)?.into_iter().filter(|run| !run.imported) {
            let mut facts = store.facts(&run.id, 0)?;
            facts.retain(|fact| fact.run == run.id);
            note(
                &mut roots,
                &session,
                facts.iter().flat_map(|fact| fact.body.changes()),
                living.contains(&run.id),
            );
            if Some(&run.id) == client.as_ref() {
                note(&mut roots, &session, unfinished(&Rows::fold(&facts)), true);
            }
        }
        let undone = standing(store, &session.id)?;
        note(&mut roots, &session, undone.iter().flat_map(|undo| &undo.changes), true);
    }
    Ok(roots)
}

fn note<'a>(
    roots: &mut BTreeMap<PathBuf, Asides>,
    session: &SessionRow,
    changes: impl Iterator<Item = &'a Change>,
    is_needed: bool,
) {
    let states = changes.flat_map(|change| [&change.before, &change.after]).flatten();
    for aside in states.filter_map(|state| state.aside.as_ref()) {
        let Some((root, name)) = batch(session, &aside.path) else { continue };
        let asides = roots.entry(root).or_default();
        asides.named.insert(name.clone());
        if is_needed {
            asides.needed.insert(name);
        }
    }
}

/// The root and the batch of something that is kept aside. The path of what is in a folder besides
/// the project is absolute.
fn batch(session: &SessionRow, path: &str) -> Option<(PathBuf, String)> {
    let lead = path.rfind(&format!("/{}/", Aside::TRASH)).filter(|_| path.starts_with('/'));
    let (root, inner) = match lead {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (session.root.as_str(), path),
    };
    Some((PathBuf::from(root), Aside::in_trash(inner)?.0.to_owned()))
}
