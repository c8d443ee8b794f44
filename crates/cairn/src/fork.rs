//! `cairn fork`: a new run that shares another's world and its history so far.

use crate::out::say;
use crate::run::Usage;
use crate::{cli, name, named, place, run};
use anyhow::Result;
use cairn_engine::Engine;
use cairn_runtime::{holder, new_run_id, now_ms};
use cairn_store::{Batch, NewRun, RunRow, Store};
use cairn_types::{Address, Body, Fact, ForkPoint, RowAddress, RunId};
use serde_json::json;
use std::process::ExitCode;

/// Runs the command.
pub fn fork(args: &cli::Fork) -> Result<ExitCode> {
    let store = place::store()?;
    let (address, at) = args.at.as_deref().map(point).transpose()?.unzip();
    let parent = named::workable(&store, address.flatten().as_deref(), args.run.as_deref())?;
    let name = name::of_run(&store, args.name.as_deref())?;
    let id = new_run_id();
    let n = make(&store, &parent, at, (id.clone(), name))?;
    if let Some(task) = &args.task {
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

/// Makes the fork with this id and name; gives how many facts it shares.
pub fn make(
    store: &Store,
    parent: &RunRow,
    at: Option<(u32, u32)>,
    (id, name): (RunId, Option<String>),
) -> Result<u64> {
    let facts = store.facts(&parent.id, 0)?;
    let n = shared(&facts, at).ok_or_else(|| no_turn(parent, at))?;
    let lease = store.lease(&id, &holder())?;
    let run = NewRun {
        id,
        session: parent.session.clone(),
        name,
        parent: Some(ForkPoint { run: parent.id.clone(), n }),
        at: now_ms(),
    };
    let batch = Batch {
        lease: lease.key(),
        session: None,
        run: Some(run),
        facts: Vec::new(),
        contents: Vec::new(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(store.commit(batch))?;
    Ok(n)
}

/// Says that there is nothing to fork there, before anything is done.
pub fn check(store: &Store, parent: &RunRow, at: (u32, u32)) -> Result<()> {
    let facts = store.facts(&parent.id, 0)?;
    match shared(&facts, Some(at)) {
        Some(_) => Ok(()),
        None => Err(no_turn(parent, Some(at)).into()),
    }
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

/// The last fact that the fork shares: where nothing is open and, if a turn is named, that turn has
/// just been settled.
fn shared(facts: &[Fact], at: Option<(u32, u32)>) -> Option<u64> {
    let mut engine = Engine::default();
    let mut last = None;
    for fact in facts {
        engine.apply(fact);
        let settled = engine.last_settled();
        // Of a turn that is named: up to its loop's end, when it was the last one.
        let wanted = at.is_none_or(|turn| settled == Some(turn) && closes(&fact.body));
        if wanted && engine.is_between_turns() {
            last = Some(fact.n);
        }
    }
    last
}

/// Whether a fact ends a turn, or its loop.
fn closes(body: &Body) -> bool {
    matches!(body, Body::Reply(_) | Body::Outcome(_) | Body::End(_))
}
