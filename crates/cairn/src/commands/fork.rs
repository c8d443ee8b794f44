//! `cairn fork`: a new run that shares another's world and its history so far.

use crate::home::{name, named, place};
use crate::output::out::say;
use crate::run::Usage;
use crate::{cli, run};
use anyhow::Result;
use cairn_runtime::{find_fork_point, make_fork, new_run_id};
use cairn_store::{RunRow, Store};
use cairn_types::{Address, RowAddress, RunId};
use serde_json::json;
use std::process::ExitCode;

/// Runs the command.
pub fn fork(args: &cli::Fork) -> Result<ExitCode> {
    let store = place::store()?;
    let (address, at) = args.at.as_deref().map(point).transpose()?.unzip();
    let (run, task) = match (&args.run, &args.task) {
        (None, Some(text)) if is_run_id(&store, text)? => (Some(text), None),
        (run, task) => (run.as_ref(), task.as_ref()),
    };
    let parent = named::workable(&store, address.flatten().as_deref(), run.map(String::as_str))?;
    let name = name::of_run(&store, args.name.as_deref())?;
    let id = new_run_id();
    let n = make(&store, &parent, at, (id.clone(), name))?;
    if let Some(task) = task {
        drop(store);
        return run::run(&cli::Run {
            task: Some(task.clone()),
            resume: Some(id.to_string()),
            terms: args.terms.clone(),
            rights: args.rights.clone(),
            trusting: args.trusting,
            json: args.json,
            ..cli::Run::default()
        });
    }
    if args.json {
        say!("{}", json!({"run": id, "session": parent.session, "parent": parent.id, "shares": n}));
    } else {
        say!("{id}\ngo on with it: cairn run --resume {id} \"…\"");
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether a text is the whole id of a run that is here: then it is no task.
fn is_run_id(store: &Store, text: &str) -> Result<bool> {
    Ok(match text.parse::<RunId>() {
        Ok(run) => store.run(&run)?.is_some(),
        Err(_) => false,
    })
}

/// Makes the fork with this id and name; gives how many facts it shares.
pub fn make(
    store: &Store,
    parent: &RunRow,
    at: Option<(u32, u32)>,
    named: (RunId, Option<String>),
) -> Result<u64> {
    let facts = store.facts(&parent.id, 0)?;
    let n = find_fork_point(&facts, at).ok_or_else(|| no_turn(parent, at))?;
    run::block_on(make_fork(store, parent, n, named))??;
    Ok(n)
}

/// Returns the last fact that a fork at this turn shares, before anything is done; an error if there is
/// nothing to fork there.
pub fn check(store: &Store, parent: &RunRow, at: (u32, u32)) -> Result<u64> {
    let facts = store.facts(&parent.id, 0)?;
    Ok(find_fork_point(&facts, Some(at)).ok_or_else(|| no_turn(parent, Some(at)))?)
}

fn no_turn(parent: &RunRow, at: Option<(u32, u32)>) -> Usage {
    Usage(match at {
        Some((lap, turn)) => {
            format!("run {} has no finished turn {lap}/{turn} to go back to", parent.id)
        }
        None => format!("run {} has no finished turn to go back to", parent.id),
    })
}

/// `1/2`, or an address of a turn, which names a run.
pub fn point(text: &str) -> Result<(Option<String>, (u32, u32))> {
    let is_address = text.contains("://");
    let address = if is_address { text.to_owned() } else { format!("log://here/{text}") };
    match address.parse::<Address>() {
        Ok(Address { run, row: RowAddress::Turn(lap, turn), .. }) => {
            Ok((is_address.then_some(run), (lap, turn)))
        }
        _ => Err(Usage(format!("{text:?} is not a turn; write loop/turn, for example 1/2")).into()),
    }
}
