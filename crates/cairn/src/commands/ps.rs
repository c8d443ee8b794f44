//! `cairn ps`: the commands that run in the background of runs that somebody drives now.

use crate::cli;
use crate::commands::log::time;
use crate::commands::sessions::outline::{self, State};
use crate::home::place;
use crate::output::out::say;
use crate::output::table::{Side, lined_up};
use anyhow::Result;
use cairn_engine::{Engine, Row, Rows};
use cairn_store::{RunRow, Store};
use cairn_types::Coord;
use serde_json::json;
use std::process::ExitCode;

/// A command in the background.
struct Running {
    run: String,
    at: Coord,
    since: u64,
    command: String,
    driven_by: String,
    root: String,
}

/// Runs the command.
pub fn ps(args: &cli::Ps) -> Result<ExitCode> {
    let store = place::store_to_read()?;
    let mut found = Vec::new();
    for session in store.sessions()? {
        for run in store.runs(&session.id)? {
            if let State::Running(by) = outline::of(&store, &run)?.state {
                found.extend(of_run(&store, &run, (&by, &session.root))?);
            }
        }
    }
    if args.json {
        for Running { run, at, since, command, driven_by, root } in &found {
            let row = at.to_string();
            let line = json!({"run": run, "row": row, "since": since, "command": command, "driven_by": driven_by, "root": root});
            say!("{line}");
        }
        return Ok(ExitCode::SUCCESS);
    }
    if found.is_empty() {
        say!("no command runs in the background of any run");
        return Ok(ExitCode::SUCCESS);
    }
    let head = ["row", "since", "command", "driven by"].map(str::to_owned).to_vec();
    let row = |one: &Running| {
        let address = format!("log://{}/{}", one.run, one.at);
        vec![address, time(one.since), one.command.clone(), one.driven_by.clone()]
    };
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(found.iter().map(row)).collect();
    say!("{}", lined_up(&[Side::Left; 4], &rows).trim_end());
    Ok(ExitCode::SUCCESS)
}

fn of_run(store: &Store, run: &RunRow, (by, root): (&str, &str)) -> Result<Vec<Running>> {
    let facts = store.facts(&run.id, 0)?;
    let (engine, rows) = (Engine::fold(&facts), Rows::fold(&facts));
    let running = engine.streams().map(|at| Running {
        run: run.id.to_string(),
        at,
        since: rows.get(at).map_or(0, began),
        command: rows.get(at).and_then(asked_for).unwrap_or_default(),
        driven_by: by.to_owned(),
        root: root.to_owned(),
    });
    Ok(running.collect())
}

fn asked_for(row: &Row<'_>) -> Option<String> {
    Some(row.intent?.target.clone())
}

/// When it began; one that a person sent to the background has no such fact, and was asked for then.
fn began(row: &Row<'_>) -> u64 {
    let first = row.begins.first().map(|begin| begin.fact);
    first.or(row.facts.first().copied()).map_or(0, |fact| fact.at)
}
