//! `cairn log`: a run's rows, or its facts.

use crate::{cli, named, place, to_wire};
use anyhow::Result;
use cairn_store::{RunRow, Store};
use cairn_text::shown::clean;
use cairn_types::{Body, Fact, RunId, Settled, Stream};
use serde_json::json;
use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::process::ExitCode;

/// Runs the command.
pub fn log(args: &cli::Log) -> Result<ExitCode> {
    let store = place::store_to_read()?;
    let run = named::run(&store, args.run.as_deref())?;
    let facts = store.facts(&run.id, 0)?;
    let mut out = std::io::stdout().lock();
    // Someone who pipes into `head` is not an error.
    let _ = match (args.facts, args.json) {
        (true, true) => print_facts_json(&facts, &mut out),
        (true, false) => print_facts(&facts, &mut out),
        (false, true) => print_rows_json(&run.id, &facts, &mut out),
        (false, false) => print_rows(&run, &facts, &store, &mut out),
    };
    Ok(ExitCode::SUCCESS)
}

fn print_facts_json(facts: &[Fact], out: &mut impl Write) -> Result<()> {
    for fact in facts {
        writeln!(out, "{}", cairn_types::to_canonical(&fact.to_stored()?)?)?;
    }
    Ok(())
}

fn print_facts(facts: &[Fact], out: &mut impl Write) -> Result<()> {
    for fact in facts {
        let stored = fact.to_stored()?;
        writeln!(
            out,
            "{:>5}  {}  {:<9} {}",
            fact.n,
            time(fact.at),
            stored.kind,
            clean(&stored.body.to_string())
        )?;
    }
    Ok(())
}

fn print_rows_json(run: &RunId, facts: &[Fact], out: &mut impl Write) -> Result<()> {
    let mut intents = HashMap::new();
    for fact in facts {
        match &fact.body {
            Body::Intent(intent) => {
                intents.insert(intent.at, intent);
            }
            Body::Outcome(outcome) => {
                let intent = intents.get(&outcome.at);
                let row = json!({
                    "address": cairn_types::Address::row(run, outcome.at),
                    "tool": intent.map(|i| &i.tool),
                    "target": intent.map(|i| &i.target),
                    "status": outcome.status,
                    "exit": outcome.exit,
                    "changes": outcome.changes,
                    "settled": outcome.settled,
                    "at": fact.at,
                });
                writeln!(out, "{row}")?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn print_rows(run: &RunRow, facts: &[Fact], store: &Store, out: &mut impl Write) -> Result<()> {
    let name = run.name.as_deref().map(|name| format!(" ({name})")).unwrap_or_default();
    writeln!(out, "run {}{}, session {}", run.id, clean(&name), run.session)?;
    let text = |r: &cairn_types::ContentRef| {
        let bytes = store.content(&r.hash).unwrap_or_else(|e| format!("({e})").into_bytes());
        clean(&String::from_utf8_lossy(&bytes))
    };
    let mut rows = HashMap::new();
    let mut begun = BTreeMap::new();
    for fact in facts {
        let at = time(fact.at);
        match &fact.body {
            Body::Prompt(prompt) => {
                writeln!(out, "\n{at}  {}  > {}", prompt.lap, text(&prompt.text))?
            }
            Body::Steer(steer) => writeln!(out, "{at}  steer  > {}", text(&steer.text))?,
            Body::Intent(intent) => {
                rows.insert(intent.at, clean(&format!("{} {}", intent.tool, intent.target)));
            }
            Body::Reply(reply) => {
                if let Some(said) = &reply.text {
                    writeln!(out, "{at}  {}/{}  {}", reply.lap, reply.turn, text(said).trim_end())?;
                }
            }
            Body::Begin(begin) => {
                begun.insert(begin.at, at);
            }
            Body::Decision(decision) => {
                if let Some(words) = &decision.words {
                    writeln!(out, "{at}  {}  > {}", decision.at, text(words))?;
                }
            }
            Body::Outcome(outcome) => {
                begun.remove(&outcome.at);
                let row = rows.remove(&outcome.at).unwrap_or_default();
                let exit = outcome.exit.map(|exit| format!(" exit {exit}")).unwrap_or_default();
                let known = match outcome.settled {
                    Settled::Performed | Settled::NotPerformed => String::new(),
                    other => format!(" ({})", to_wire::word(&other)),
                };
                writeln!(out, "{at}  {}  {row}  → {}{exit}{known}", outcome.at, outcome.status)?;
                for change in &outcome.changes {
                    writeln!(
                        out,
                        "            {} {}",
                        to_wire::word(&change.kind),
                        clean(&change.path)
                    )?;
                }
            }
            Body::Stream(of) => writeln!(out, "{at}  {}", stream(of))?,
            Body::Fault(fault) => {
                writeln!(out, "{at}  the model could not be had: {}", clean(&fault.message))?
            }
            Body::Abort(abort) => writeln!(out, "{at}  stopped: {}", clean(&abort.why))?,
            Body::End(end) => {
                writeln!(out, "{at}  loop {} ended: {} {}", end.lap, end.status, clean(&end.why))?
            }
            _ => {}
        }
    }
    for (at, when) in begun {
        let row = rows.remove(&at).unwrap_or_default();
        writeln!(out, "{when}  {at}  {row}  → began, its end was not seen")?;
    }
    Ok(())
}

/// A time as people here write it.
pub fn time(at_ms: u64) -> String {
    let at = i64::try_from(at_ms).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    at.map(|at| at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string())
        .unwrap_or_else(|| at_ms.to_string())
}

/// How a command in the background ended, in one line.
pub fn stream(of: &Stream) -> String {
    let exit = of.exit.map(|exit| format!(" exit {exit}")).unwrap_or_default();
    let why = if of.why.is_empty() { String::new() } else { format!(": {}", clean(&of.why)) };
    format!("{}  in the background: {}{exit}{why}", of.at, to_wire::word(&of.state))
}
