//! `cairn fork`: a new run that shares another's world and its history so far.

use crate::out::say;
use crate::run::Usage;
use crate::{cli, named, place};
use anyhow::Result;
use cairn_engine::Engine;
use cairn_runtime::{holder, new_run_id, now_ms};
use cairn_store::{Batch, NewRun};
use cairn_types::{Address, Body, Fact, ForkPoint, RowAddress};
use serde_json::json;
use std::process::ExitCode;

/// Runs the command.
pub fn fork(args: &cli::Fork) -> Result<ExitCode> {
    let store = place::store()?;
    let at = args.at.as_deref().map(point).transpose()?;
    let parent = named::run(&store, args.run.as_deref())?;
    let facts = store.facts(&parent.id, 0)?;
    let n = shared(&facts, at).ok_or_else(|| {
        Usage(match at {
            Some((lap, turn)) => {
                format!("run {} has no finished turn {lap}/{turn} to fork after", parent.id)
            }
            None => format!("run {} has no finished turn to fork after", parent.id),
        })
    })?;
    let id = new_run_id();
    let lease = store.lease(&id, &holder())?;
    let run = NewRun {
        id: id.clone(),
        session: parent.session.clone(),
        name: args.name.clone(),
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
    if args.json {
        say!("{}", json!({"run": id, "session": parent.session, "parent": parent.id, "shares": n}));
    } else {
        say!("{id}\ngo on with it: cairn run --resume {id} \"…\"");
    }
    Ok(ExitCode::SUCCESS)
}

/// `1/2`, or an address of a turn.
fn point(text: &str) -> Result<(u32, u32)> {
    let address = if text.contains("://") { text.to_owned() } else { format!("log://here/{text}") };
    match address.parse::<Address>() {
        Ok(Address { row: RowAddress::Turn(lap, turn), .. }) => Ok((lap, turn)),
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
