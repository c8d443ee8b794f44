//! `cairn policy replay`: a run's recorded decisions, decided again from the log alone.

use crate::cli::Replay;
use crate::home::{named, place};
use crate::output::out::say;
use anyhow::Result;
use cairn_engine::{Engine, VERSION};
use cairn_types::Body;
use serde_json::json;
use std::process::ExitCode;

/// `cairn policy replay`.
pub fn replay(args: &Replay) -> Result<ExitCode> {
    let store = place::store_to_read()?;
    let run = named::run(&store, args.run.as_deref())?;
    let mut engine = Engine::default();
    let (mut same, mut other, mut older) = (0, Vec::new(), 0);
    for fact in store.facts(&run.id, 0)? {
        if let Body::Decision(decision) = &fact.body
            && let Some(again) =
                engine.op_in_run(decision.at).ok().and_then(|op| op.gates_again(decision))
        {
            match (again == decision.gates, fact.engine == VERSION) {
                (true, _) => same += 1,
                (false, false) => older += 1,
                (false, true) => other.push((fact.n, decision.at, again)),
            }
        }
        engine.apply(&fact);
    }
    if args.json {
        let other: Vec<_> = other
            .iter()
            .map(|(n, at, gates)| json!({"fact": n, "op_at": at, "gates": gates}))
            .collect();
        say!(
            "{}",
            json!({"run": run.id.to_string(), "same": same, "otherwise": other, "of_another_version": older})
        );
    } else {
        for (n, at, _) in &other {
            say!("fact {n}, {at}: the gates now say otherwise");
        }
        say!("run {}: {same} decisions the same, {} otherwise", run.id, other.len());
        if older > 0 {
            say!("{older} were made by another version and come out otherwise");
        }
    }
    Ok(if other.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
