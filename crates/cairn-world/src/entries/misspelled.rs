//! Addresses that were nearly written: a scheme with one slash behind it, which as a path would make a file of
//! that name.

use crate::entries::scheme::Schemes;
use crate::settled::Refusal;
use cairn_text::patch;
use cairn_types::{Action, EditBody, Status, built_in, scheme_of};

/// Refuses an action that names such an address, also within a patch, with the right spelling.
pub(crate) fn refuse(schemes: &Schemes, action: &Action) -> Result<(), Refusal> {
    let in_patch = paths_in_patch(action);
    let names_entry =
        matches!(action, Action::Edit(edit) if edit.path.as_deref().is_some_and(is_address));
    if let Some(address) = in_patch.iter().find(|path| is_address(path) && !names_entry) {
        let text = format!(
            "{address} is an entry; a patch without a path changes files, so give edit this path and a patch of it alone"
        );
        return Err(Refusal::new(Status::BAD_REQUEST, text));
    }
    let mut paths = paths(action).into_iter().chain(in_patch.iter().map(String::as_str));
    match paths.find_map(|path| spelled(schemes, path).map(|as_| (path, as_))) {
        None => Ok(()),
        Some((path, address)) => {
            let text = format!(
                "{path} is no address; it is written {address}, and a file of that name ./{path}"
            );
            Err(Refusal::new(Status::BAD_REQUEST, text))
        }
    }
}

fn is_address(path: &str) -> bool {
    scheme_of(path).is_some_and(|scheme| built_in().iter().any(|one| one.name == scheme))
}

/// How an address is written whose scheme has only one slash behind it.
fn spelled(schemes: &Schemes, path: &str) -> Option<String> {
    let (scheme, rest) = path.split_once(":/")?;
    let mut known = schemes.manifests().chain(built_in());
    let is_scheme = scheme == "file" || known.any(|one| one.name == scheme);
    if rest.starts_with('/') || !is_scheme {
        return None;
    }
    let has_host = ["http", "https", "ws", "wss", "sse", "sses"].contains(&scheme);
    Some(format!("{scheme}:{}{rest}", if has_host { "//" } else { "///" }))
}

/// The paths in the patch that an action is, and those it moves files to; none if it cannot be read.
fn paths_in_patch(action: &Action) -> Vec<String> {
    let Action::Edit(edit) = action else { return Vec::new() };
    let EditBody::Patch(text) = &edit.body else { return Vec::new() };
    let patches = patch::parse(text).unwrap_or_default();
    patches.into_iter().flat_map(|patch| [patch.path, patch.moved_to]).flatten().collect()
}

/// The files and entries that an action names. Rows are also named by less than an address.
pub(crate) fn paths(action: &Action) -> Vec<&str> {
    match action {
        Action::Find(find) => find.under.as_deref().into_iter().collect(),
        Action::Read(read) => vec![&read.path],
        Action::Edit(edit) => edit.path.as_deref().into_iter().collect(),
        Action::Copy(carry) | Action::Move(carry) => vec![&carry.from, &carry.to],
        Action::List { path, .. } | Action::Kill { path } => vec![path],
        Action::Open { .. }
        | Action::Fold { .. }
        | Action::Send(_)
        | Action::Exec(_)
        | Action::Todo { .. }
        | Action::Call(_)
        | Action::Consult(_) => Vec::new(),
    }
}
