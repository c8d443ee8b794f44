//! What schemes declare, as far as it decides anything: what an op on their entries may reach, and who may
//! change them. Those that every world has are known; a driver names its others.

use crate::policy::Case;
use cairn_types::{
    Action, Carry, Effect, Manifest, OpName, Post, Status, built_in, is_stream, scheme_of,
};

/// What is declared of the scheme that a path is in; nothing where it is a file, or nobody knows.
fn of<'a>(more: &'a [Manifest], path: &str) -> Option<&'a Manifest> {
    let scheme = scheme_of(path)?;
    more.iter().chain(built_in()).find(|manifest| manifest.name == scheme)
}

/// Whether reading what a path names reaches beyond this machine.
pub(crate) fn is_remote(path: &str) -> bool {
    of(&[], path).is_some_and(|manifest| manifest.reads == Effect::Network)
}

/// What an action may change: what its tool may, and what the schemes of its entries may besides. `more` are
/// schemes besides those of every world.
#[must_use]
pub fn effect(action: &Action, of_tool: Effect, more: &[Manifest]) -> Effect {
    let (reads, writes): (Vec<&str>, Vec<&str>) = match action {
        Action::Read(read) => (vec![&read.path], vec![]),
        Action::List { path, .. } => (vec![path], vec![]),
        Action::Find(find) => (find.under.iter().map(String::as_str).collect(), vec![]),
        Action::Edit(edit) => (vec![], edit.path.iter().map(String::as_str).collect()),
        Action::Copy(Carry { from, to, .. }) => (vec![from], vec![to]),
        Action::Move(Carry { from, to, .. }) => (vec![], vec![from, to]),
        Action::Kill { path } => (vec![], vec![path]),
        Action::Send(Post { to: Some(to), status, .. }) => return of_tool.max(said(to, *status)),
        Action::Send(_)
        | Action::Open { .. }
        | Action::Fold { .. }
        | Action::Exec(_)
        | Action::Todo { .. }
        | Action::Consult(_)
        | Action::Call(_) => (vec![], vec![]),
    };
    let reads = reads.into_iter().filter_map(|path| Some(of(more, path)?.reads));
    let writes = writes.into_iter().filter_map(|path| Some(of(more, path)?.writes));
    reads.chain(writes).fold(of_tool, Effect::max)
}

/// What saying something to an address may change: what a command reads it may do, a socket's other end is
/// beyond this machine, and another run is of this world.
fn said(to: &str, status: u16) -> Effect {
    match scheme_of(to) {
        Some("exec" | "log") if status != Status::CANCELLED.0 => Effect::Host,
        Some("ws" | "wss") if status != Status::CANCELLED.0 => Effect::Network,
        Some(scheme) if scheme == "run" || is_stream(scheme) => Effect::World,
        _ => Effect::Read,
    }
}

/// The scheme whose entries an op would change though its writer may not. Ending a command by its row
/// is no change of the row.
pub(crate) fn unwritable(case: &Case<'_>, more: &[Manifest]) -> Option<String> {
    let mut written = case.subject.writes.iter().filter_map(|path| of(more, path));
    let is_end = |manifest: &Manifest| case.op == OpName::Kill && is_stream(&manifest.name);
    written
        .find(|manifest| !manifest.lets(case.writer) && !is_end(manifest))
        .map(|manifest| manifest.name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    // keeps: send-is-gated
    #[test]
    fn what_is_said_reaches_as_far_as_whoever_hears_it() {
        let check = |to: Option<&str>, status, expected| {
            let to = to.map(str::to_owned);
            let action = Action::Send(Post { to: to.clone(), status, text: "x".to_owned() });
            assert_eq!(effect(&action, Effect::Read, &[]), expected, "{to:?} {status}");
        };
        check(None, 102, Effect::Read);
        check(Some("known:///a"), 200, Effect::Read);
        check(Some("src/a.rs"), 200, Effect::Read);
        for row in ["exec:///1/2/3", "log:///1/2/3"] {
            check(Some(row), 200, Effect::Host);
            check(Some(row), 499, Effect::World);
        }
        for socket in ["ws://vm:81/", "wss://vm/"] {
            check(Some(socket), 200, Effect::Network);
            check(Some(socket), 499, Effect::World);
        }
        check(Some("sse://vm/"), 499, Effect::World);
        check(Some("run:///other"), 200, Effect::World);
    }
}
