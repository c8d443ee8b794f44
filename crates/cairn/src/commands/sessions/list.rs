//! The list of sessions with their runs, for people and for programs.

use super::outline::{self, Outline, State};
use crate::cli;
use crate::commands::log::time;
use crate::home::place;
use crate::output::out::say;
use crate::output::table::{Side, lined_up};
use anyhow::Result;
use cairn_runtime::SYSTEM_RUN;
use cairn_store::{RunRow, SessionRow, Store};
use cairn_text::shown::clean;
use serde_json::{Value, json};
use std::process::ExitCode;

/// How many runs of a session are shown unless all are asked for.
const NEWEST: usize = 5;
/// How much of a task is shown.
const TASK: usize = 60;

/// Lists the sessions, the one that was worked on last first.
pub fn list(args: &cli::Sessions) -> Result<ExitCode> {
    let store = place::store_to_read()?;
    let mut sessions = store.sessions()?;
    sessions.sort_by_key(|session| std::cmp::Reverse(session.last_at));
    if sessions.is_empty() && !args.json {
        say!("there is no session yet; start one: cairn run \"…\"");
    }
    for session in sessions {
        let mut runs = store.runs(&session.id)?;
        runs.retain(|run| run.name.as_deref() != Some(SYSTEM_RUN));
        if args.json {
            say!("{}", as_json(&store, &session, &runs)?);
        } else {
            let most = if args.all { runs.len() } else { NEWEST };
            say!("{}", drawn(&store, &session, &runs, most)?.trim_end());
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn as_json(store: &Store, session: &SessionRow, runs: &[RunRow]) -> Result<Value> {
    let run = |run: &RunRow| -> Result<Value> {
        let Outline { task, model, state, tally } = outline::of(store, run)?;
        let (why, driven_by) = match &state {
            State::Running(by) => (None, Some(by)),
            State::Ended(_, why) => (Some(why).filter(|why| !why.is_empty()), None),
            State::Empty | State::Paused | State::ApprovalNeeded => (None, None),
        };
        let mut line = json!({
            "run": run.id,
            "name": run.name,
            "created_at": run.created_at,
            "facts": run.last_n,
            "parent": run.parent,
            "imported": run.imported,
            "task": task,
            "model": model,
            "status": state.word(),
            "why": why,
            "driven_by": driven_by,
        });
        if let (Value::Object(line), Value::Object(took)) = (&mut line, tally.as_json()) {
            line.extend(took);
        }
        Ok(line)
    };
    let runs = runs.iter().map(run).collect::<Result<Vec<_>>>()?;
    Ok(json!({
        "session": session.id,
        "name": session.name,
        "root": session.root,
        "created_at": session.created_at,
        "last_at": session.last_at,
        "runs": runs,
    }))
}

fn drawn(store: &Store, session: &SessionRow, runs: &[RunRow], most: usize) -> Result<String> {
    let name = session.name.as_deref().map(|name| format!("  {name}")).unwrap_or_default();
    let count = if runs.len() == 1 { "1 run".to_owned() } else { format!("{} runs", runs.len()) };
    let head =
        format!("{}{name}  {}  {count}, last {}", session.id, session.root, time(session.last_at));
    let mut rows = Vec::new();
    for run in runs.iter().take(most) {
        rows.push(row(run, &outline::of(store, run)?));
    }
    let sides =
        [Side::Left, Side::Left, Side::Left, Side::Right, Side::Left, Side::Left, Side::Left];
    let mut out = clean(&head);
    for line in lined_up(&sides, &rows).lines() {
        out += &format!("\n  {line}");
    }
    if runs.len() > most {
        out += &format!("\n  and {} older; cairn sessions --all", runs.len() - most);
    }
    Ok(out)
}

fn row(run: &RunRow, outline: &Outline) -> Vec<String> {
    let state = match &outline.state {
        State::Running(by) => format!("running, {by}"),
        other => other.word().to_owned(),
    };
    let tally = &outline.tally;
    let turns =
        if tally.turns == 1 { "1 turn".to_owned() } else { format!("{} turns", tally.turns) };
    let cost = if tally.turns == 0 { String::new() } else { tally.cost_shown() };
    let name = run.name.as_deref().map(|name| format!("({name}) ")).unwrap_or_default();
    let imported = if run.imported { "(imported) " } else { "" };
    let task = outline.task.as_deref().unwrap_or_default();
    let model = outline.model.clone().unwrap_or_default();
    vec![
        run.id.to_string(),
        time(run.created_at),
        state,
        turns,
        cost,
        model,
        format!("{imported}{name}{}", short(task)),
    ]
}

/// A line that is not too long for a list.
fn short(line: &str) -> String {
    match line.char_indices().nth(TASK) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}
