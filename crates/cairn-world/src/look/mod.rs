//! Ops that change nothing: reading, listing and finding (`find`), and which part of the world each is for.

mod list;
pub(crate) mod media;
pub(crate) mod near;
mod notebook;
pub(crate) mod read;
mod todo;

use crate::entries::misspelled;
use crate::locations::Locations;
use crate::settled::{Performed, Refusal};
use crate::{World, entries, find, unsaid};
use cairn_types::{Action, Status, UriError, scheme_of};
use tokio_util::sync::CancellationToken;

/// What is seen where one looks.
pub(crate) fn looked(
    locations: &Locations,
    action: &Action,
    cancel: &CancellationToken,
) -> Result<Performed, Refusal> {
    let Locations { roots, schemes } = locations;
    misspelled::refuse(schemes, action)?;
    match action {
        Action::Read(read) => match schemes.address(&read.path) {
            Some(uri) => entries::look::read(schemes, &uri?, read, cancel),
            None => read::perform(roots.of(&read.path), read, cancel),
        },
        Action::List { path, .. } if scheme_of(path).is_some() => {
            let uri = path
                .parse()
                .map_err(|why: UriError| Refusal::new(Status::BAD_REQUEST, why.to_string()))?;
            entries::look::list(schemes, &uri)
        }
        Action::Find(find)
            if find.under.as_deref().is_some_and(|under| scheme_of(under).is_some()) =>
        {
            entries::look::find(schemes, find, cancel)
        }
        Action::Find(find) if !find.tags.is_empty() => {
            let text = "files have no tags; to look for entries, say under what, as known:///";
            Err(Refusal::new(Status::BAD_REQUEST, text))
        }
        Action::Find(find) => {
            let query = find::Query {
                glob: find.glob.as_deref(),
                text: find.text.as_deref(),
                under: find.under.as_deref(),
                context: u8::try_from(find.context).unwrap_or(u8::MAX),
            };
            let workspace = roots.of(find.under.as_deref().unwrap_or("."));
            let mut found = find::perform(workspace, query, (find.skip, find.limit), cancel)?;
            if let Some(folder) = workspace.root.path_prefix() {
                found.text = format!("in {folder}:\n{}", found.text);
            }
            Ok(found)
        }
        Action::List { path, depth } => list::perform(roots.of(path), path, *depth, cancel),
        Action::Todo { items } => Ok(todo::perform(items)),
        Action::Send(post) => match post.to {
            None => Ok(Performed::told(Status(post.status), post.text.as_str())),
            Some(_) => Err(unsaid(post)),
        },
        Action::Edit(_)
        | Action::Copy(_)
        | Action::Move(_)
        | Action::Kill { .. }
        | Action::Exec(_)
        | Action::Open { .. }
        | Action::Fold { .. }
        | Action::Consult(_)
        | Action::Call(_) => Err(Refusal::new(Status::FAILED, "not a look")),
    }
}

impl World {
    /// Checks that every file an action names may be worked on: its address is well written, it is a member of the
    /// project and not private, and what would be changed is not kept from being changed.
    pub fn admits(&self, action: &Action) -> Result<(), Refusal> {
        self.locations.refuse_misnamed(action)?;
        let is_changed = |path: &str| match action {
            Action::Read(_) | Action::Find(_) | Action::List { .. } => false,
            Action::Copy(carry) => path == carry.to,
            _ => true,
        };
        for path in misspelled::paths(action).into_iter().filter(|path| scheme_of(path).is_none()) {
            let workspace = self.locations.roots.of(path);
            let opened = match workspace.open_existing(path) {
                Ok(opened) => opened,
                // What is not there is made, if its place is one.
                Err(missing) if missing.status == Status::NOT_FOUND => {
                    match workspace.place_of(path) {
                        Err(refusal) if is_changed(path) && refusal.status != Status::NOT_FOUND => {
                            return Err(refusal);
                        }
                        _ => continue,
                    }
                }
                Err(refusal) => return Err(refusal),
            };
            workspace.refuse_stranger(path, &opened.path, opened.is_directory())?;
            if is_changed(path) {
                workspace.members.refuse_read_only(&workspace.root, &opened.path)?;
            }
        }
        Ok(())
    }
}
