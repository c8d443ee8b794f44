//! Removing, copying and moving whatever a pattern means: one op, worked out thing by thing, all of it or nothing.
//! A name that is there as it is written is that thing and no pattern.

use crate::edits::earlier::EarlierInReply;
use crate::folders::roots::Roots;
use crate::locations::Locations;
use crate::settled::{Prepared, Refusal};
use crate::{World, entries, find};
use cairn_text::shown::clean;
use cairn_types::{Action, Carry, Change, FileKind, Status, scheme_of};
use std::collections::HashSet;

/// The most things that one pattern means.
const MOST: usize = 1000;

/// What an action over a pattern would change; none where its source is no pattern.
pub(crate) fn prepare(world: &World, action: &Action) -> Option<Prepared> {
    let source = match action {
        Action::Kill { path } => path,
        Action::Copy(carry) | Action::Move(carry) => &carry.from,
        _ => return None,
    };
    let matches = matches(&world.locations, source)?;
    let label = clean(&format!("{} {}", action.op(), action.target()));
    Some(match all(world, action, matches) {
        Ok(prepared) => Prepared { label, ..prepared },
        Err(refusal) => entries::refused(&label, refusal),
    })
}

/// What a pattern means, in the order of paths; none where it is no pattern.
fn matches(locations: &Locations, source: &str) -> Option<Result<Vec<String>, Refusal>> {
    if scheme_of(source).is_none() {
        let workspace = locations.roots.of(source);
        let is_pattern = source.contains(['*', '?']) && workspace.open_existing(source).is_err();
        return is_pattern.then(|| find::paths(workspace, source, MOST));
    }
    let uri = locations.schemes.address(source)?.ok().filter(|_| source.contains('*'))?;
    let is_there = entries::there(&locations.schemes, &uri).is_ok();
    (!is_there).then(|| entries::look::matching(&locations.schemes, uri))
}

fn all(
    world: &World,
    action: &Action,
    matches: Result<Vec<String>, Refusal>,
) -> Result<Prepared, Refusal> {
    let matches = matches?;
    if matches.is_empty() {
        return Err(Refusal::new(
            Status::NOT_FOUND,
            format!("nothing matches {}", action.target()),
        ));
    }
    if matches.len() > MOST {
        let text = format!("{} means more than {MOST} things", action.target());
        return Err(Refusal::new(Status::TOO_LARGE, text));
    }
    let mut whole = Prepared::default();
    let (mut told, mut made) = (Vec::new(), HashSet::new());
    for path in matches {
        let one = world
            .worked_out(&of_one(&world.locations.roots, action, path)?, &EarlierInReply::default());
        if let Some(settled) = one.settled {
            return Err(Refusal::new(settled.status, settled.text));
        }
        for change in one.changes {
            let is_made = change.before.is_none();
            let is_second = is_made && !made.insert(change.path.clone());
            match (is_second, is_directory(&change)) {
                (false, _) => whole.changes.push(change),
                // A folder that several of them need is made once.
                (true, true) => {}
                (true, false) => {
                    let text = format!("several things would be {}", change.path);
                    return Err(Refusal::new(Status::CONFLICT, text));
                }
            }
        }
        whole.contents.extend(one.contents);
        whole.shown.push_str(&one.shown);
        let (status, text) = one.told.unwrap_or((Status::OK, String::new()));
        whole.told = Some((status, String::new()));
        told.push(text);
    }
    if let Some((_, text)) = &mut whole.told {
        *text = told.join("\n");
    }
    Ok(whole)
}

fn is_directory(change: &Change) -> bool {
    change.after.as_ref().is_some_and(|state| state.kind == FileKind::Directory)
}

/// Whether things can be put into this place.
fn is_folder(roots: &Roots, to: &str) -> bool {
    let is_there = || roots.of(to).open_existing(to).is_ok_and(|opened| opened.is_directory());
    to.ends_with('/') || (scheme_of(to).is_none() && is_there())
}

/// The action on one of them. What is carried keeps its name.
fn of_one(roots: &Roots, action: &Action, path: String) -> Result<Action, Refusal> {
    let carried = |carry: &Carry| {
        let name = path.rsplit('/').next().unwrap_or_default();
        let folder = carry.to.trim_end_matches('/');
        match is_folder(roots, &carry.to) {
            true => {
                let to = match carry.to.ends_with("//") {
                    // The beginning of a scheme's addresses.
                    true => format!("{}{name}", carry.to),
                    false => format!("{folder}/{name}"),
                };
                Ok(Carry { from: path.clone(), to, ..carry.clone() })
            }
            false => {
                let text =
                    format!("{} is one place for several things; a folder ends with /", carry.to);
                Err(Refusal::new(Status::BAD_REQUEST, text))
            }
        }
    };
    Ok(match action {
        Action::Copy(carry) => Action::Copy(carried(carry)?),
        Action::Move(carry) => Action::Move(carried(carry)?),
        _ => Action::Kill { path },
    })
}
