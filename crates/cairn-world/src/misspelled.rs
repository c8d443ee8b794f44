//! Addresses that were nearly written: a scheme with one slash behind it, which as a path would make a file of
//! that name.

use crate::scheme::Schemes;
use crate::settled::Refusal;
use cairn_types::{Action, Status, built_in};

/// Refuses an action that names such an address, with the right spelling.
pub(crate) fn refuse(schemes: &Schemes, action: &Action) -> Result<(), Refusal> {
    match paths(action).into_iter().find_map(|path| spelled(schemes, path).map(|as_| (path, as_))) {
        None => Ok(()),
        Some((path, address)) => {
            let text = format!(
                "{path} is no address; it is written {address}, and a file of that name ./{path}"
            );
            Err(Refusal::new(Status::BAD_REQUEST, text))
        }
    }
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
        | Action::Consult(_) => Vec::new(),
    }
}
