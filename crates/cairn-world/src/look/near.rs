//! What is there of nearly the same name, told with the fact that a path or an address is not. Names of members
//! alone, and of entries that people and models write.

use crate::entries::look::beneath;
use crate::entries::scheme::Schemes;
use crate::find;
use crate::folders::path;
use crate::folders::roots::Roots;
use crate::locations::Locations;
use crate::settled::Performed;
use cairn_text::near::of_name;
use cairn_types::{Action, Status, Uri};
use std::collections::BTreeSet;

/// So many names are told.
const MOST: usize = 3;
/// How a fact ends that names may follow.
const MISSING: &str = "does not exist";

/// Adds the nearest names to what is told of an action whose target is not there.
pub(crate) fn tell(locations: &Locations, action: &Action, told: &mut Performed) {
    if told.status != Status::NOT_FOUND || !told.text.ends_with(MISSING) {
        return;
    }
    let path = match action {
        Action::Read(read) => &read.path,
        Action::List { path, .. } | Action::Kill { path } => path,
        Action::Copy(carry) | Action::Move(carry) => &carry.from,
        Action::Edit(edit) => match &edit.path {
            Some(path) => path,
            None => return,
        },
        Action::Find(_) | Action::Exec(_) | Action::Open { .. } | Action::Fold { .. } => return,
        Action::Send(_) | Action::Todo { .. } | Action::Consult(_) | Action::Call(_) => return,
    };
    let Locations { roots, schemes } = locations;
    let near = match schemes.address(path) {
        Some(Ok(uri)) => entries(schemes, &uri),
        Some(Err(_)) => Vec::new(),
        None => files(roots, path),
    };
    match near.as_slice() {
        [] => {}
        [one] => told.text.push_str(&format!("; the nearest is {one}")),
        several => told.text.push_str(&format!("; the nearest are {}", several.join(", "))),
    }
}

/// Members of nearly this name: in its folder, or else anywhere.
fn files(roots: &Roots, given: &str) -> Vec<String> {
    let workspace = roots.of(given);
    let Ok(wanted) = workspace.relative(given) else { return Vec::new() };
    // Where it would lead is for the kernel to say.
    if wanted.split('/').any(|part| part == "..") {
        return Vec::new();
    }
    let folder = path::split(&wanted).0;
    let told = |folder: &str| -> Vec<String> {
        let found = find::beneath(workspace, &workspace.root.op_path(folder)).unwrap_or_default();
        nearest(&wanted, found)
            .iter()
            .map(|near| path::shown(workspace.root.op_path(near).as_bytes()))
            .collect()
    };
    let near = told(folder);
    if near.is_empty() && folder != "." { told(".") } else { near }
}

/// Entries of nearly this address.
fn entries(schemes: &Schemes, wanted: &Uri) -> Vec<String> {
    let is_kept = schemes.of(wanted).is_ok_and(|scheme| scheme.is_stored());
    let all = Uri { path: String::new(), channel: None, ..wanted.clone() };
    let listed = if is_kept { beneath(schemes, &all).unwrap_or_default() } else { Vec::new() };
    let paths = listed.into_iter().map(|listed| listed.uri.path).collect();
    let address = |path: String| Uri { path, ..all.clone() }.to_string();
    nearest(&wanted.path, paths).into_iter().map(address).collect()
}

/// Of these paths and the folders they lie in, those whose names are nearest; in the same folder, or else anywhere.
fn nearest(wanted: &str, paths: Vec<String>) -> Vec<String> {
    let mut all: BTreeSet<String> = BTreeSet::new();
    for path in paths {
        let ends = path.match_indices('/').map(|(at, _)| path[..at].to_owned());
        all.extend(ends);
        all.insert(path);
    }
    // It is there: something else is not.
    if all.contains(wanted) {
        return Vec::new();
    }
    let (folder, name) = path::split(wanted);
    let near = |is_here: bool| {
        let mut near: Vec<(usize, &String)> = all
            .iter()
            .filter(|path| (path::split(path).0 == folder) == is_here)
            .filter_map(|path| of_name(name, path::split(path).1).map(|far| (far, path)))
            .collect();
        near.sort_unstable();
        near.into_iter().take(MOST).map(|(_, path)| path.clone()).collect::<Vec<String>>()
    };
    let here = near(true);
    if here.is_empty() { near(false) } else { here }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_the_folder_come_before_those_elsewhere() {
        let paths = ["notes.md", "src/main.rs", "src/mail.rs", "docs/main.md", "docs/note.md"];
        let check = |wanted: &str, expected: &[&str]| {
            let paths = paths.map(str::to_owned).to_vec();
            assert_eq!(nearest(wanted, paths), expected, "{wanted}");
        };
        check("note.md", &["notes.md"]);
        check("src/mian.rs", &["src/main.rs", "src/mail.rs"]);
        check("main.rs", &["src/main.rs", "src/mail.rs", "docs/main.md"]);
        check("scr", &["src"]);
        check("scr/main.rs", &["src/main.rs", "src/mail.rs", "docs/main.md"]);
        check("notes.md", &[]);
        check("unlike.toml", &[]);
    }
}
