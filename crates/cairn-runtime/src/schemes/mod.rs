//! The schemes of a run's world: those that the store keeps, and those that tell of runs. One line each.

mod catalog;
mod exec;
mod feeds;
mod http;
mod log;
mod own_rows;
mod prompt;
mod run;

pub(crate) use crate::reach::Leads;
pub use crate::reach::Web;
pub(crate) use http::told;
pub(crate) use own_rows::{OwnRows, Shown, ShownRow};

use cairn_store::{Store, StoreError};
use cairn_types::{FEEDS, Manifest, RunId, SessionId, Status, Uri, built_in};
use cairn_world::{Refusal, Schemes, Stored, World};
use std::str::FromStr;
use std::sync::Arc;

/// The schemes that every run of a session has.
#[must_use]
pub fn of_session(store: &Store, session: &SessionId, files: &World) -> Schemes {
    let mut schemes = Schemes::default();
    for manifest in built_in().iter().filter(|manifest| !manifest.writers.is_empty()) {
        let stored = Stored::new(store.clone(), session.clone(), manifest.clone());
        schemes.register(Arc::new(stored));
    }
    let catalog = catalog::Catalog::new(store.clone(), session.clone(), files.clone());
    schemes.register(Arc::new(catalog));
    schemes.register(Arc::new(prompt::Prompts::new(store.clone(), session.clone())));
    schemes.register(Arc::new(run::Runs::new(store.clone(), session.clone())));
    schemes
}

/// The same, seen from outside all runs: with everybody's rows and commands.
#[must_use]
pub fn from_outside(store: &Store, session: &SessionId, files: &World) -> Schemes {
    let mut schemes = of_session(store, session, files);
    schemes.register(Arc::new(log::SessionRows::new(store.clone(), session.clone())));
    schemes.register(Arc::new(exec::Commands::new(store.clone(), session.clone())));
    schemes
}

/// Adds what is beyond this machine.
pub(crate) fn add_web(schemes: &mut Schemes, web: &Web, leads: &Leads) {
    for scheme in ["http", "https"] {
        schemes.register(Arc::new(http::Pages::new(scheme, web, leads)));
    }
    for scheme in FEEDS {
        schemes.register(Arc::new(feeds::Feeds::new(scheme, web)));
    }
}

/// Adds a run's own rows, and gives what says which they are.
pub(crate) fn add_own_rows(schemes: &mut Schemes, store: &Store) -> OwnRows {
    let rows = OwnRows::new(store.clone());
    schemes.register(Arc::new(rows.clone()));
    rows
}

/// What is declared of a scheme that every world has.
fn declared(name: &str) -> Manifest {
    let found = built_in().iter().find(|manifest| manifest.name == name).cloned();
    found.unwrap_or_else(|| Manifest::told(name, &["body"]))
}

/// The run that a path names, and in it an op by its coordinate, or any row by its place.
pub(crate) fn row_of<T: FromStr>(path: &str) -> Option<(RunId, T)> {
    let (run, at) = path.split_once('/')?;
    Some((run.parse().ok()?, at.parse().ok()?))
}

/// That the store could not tell.
fn failed(uri: &Uri, error: &StoreError) -> Refusal {
    Refusal { status: Status::FAILED, text: format!("{uri} could not be read: {error}") }
}
