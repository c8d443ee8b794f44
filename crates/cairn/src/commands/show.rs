//! `cairn show`: one row, turn or loop in full, and what the model was really sent.

mod json;

use crate::commands::{diff, log};
use crate::home::{named, place};
use crate::output::out::say;
use crate::output::to_wire;
use crate::run::Usage;
use crate::{cli, model};
use anyhow::{Context, Result};
use cairn_engine::{Recorded, Row, RowReceipt, Rows};
use cairn_store::Store;
use cairn_text::shown::clean;
use cairn_types::{
    Address, Body, ContentRef, Coord, Decision, Fact, Intent, Outcome, RowAddress, RowPlace,
    SandboxLayer,
};
use json::Shown;
use std::io::Write;
use std::process::ExitCode;

/// Runs the command.
pub fn show(args: &cli::Show) -> Result<ExitCode> {
    let (address, is_named) = address(&args.address)?;
    let store = place::store_to_read()?;
    let run = named::run(&store, is_named.then_some(address.run.as_str()))?;
    let facts = store.facts(&run.id, 0)?;
    let shown = Shown { store: &store, run: &run, facts: &facts, rows: Rows::fold(&facts) };
    match (address.row, address.channel.as_deref()) {
        (RowAddress::Row(at), channel) => row(&shown, at, channel, args)?,
        (RowAddress::Changes(n), channel) => changes(&shown, n, channel, args)?,
        (RowAddress::Turn(lap, turn), channel) => turn_of(&shown, (lap, turn), channel, args)?,
        (RowAddress::Run | RowAddress::Lap(_), Some(channel)) => {
            let why = format!("only a turn or a row has channels, so there is no #{channel}");
            return Err(Usage(why).into());
        }
        (RowAddress::Run, None) if args.json => say!("{}", shown.run()),
        (RowAddress::Run, None) => list(&shown.rows, None),
        (RowAddress::Lap(lap), None) => {
            let is_there = |f: &Fact| matches!(&f.body, Body::Prompt(p) if p.lap == lap);
            if !facts.iter().any(is_there) {
                let why = format!("there is no loop {lap} in that run; `cairn log` lists them");
                return Err(Usage(why).into());
            }
            if args.json { say!("{}", shown.lap(lap)) } else { list(&shown.rows, Some(lap)) }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The address, and whether it names a run: without one, the newest here is meant.
fn address(given: &str) -> Result<(Address, bool), Usage> {
    let here = given.strip_prefix("log:///").or((!given.contains("://")).then_some(given));
    let text = here.map_or(given.to_owned(), |row| format!("log://here/{row}"));
    let bad = |_| {
        Usage(format!(
            "{given:?} is not an address; write 1/2/3 for a row of the newest run here, or \
             log://RUN/1/2/3 (`cairn log` shows them)"
        ))
    };
    Ok((text.parse().map_err(bad)?, here.is_none()))
}

/// Lists the rows of a loop, or of the run, which has those of what others changed as well.
fn list(rows: &Rows<'_>, lap: Option<u32>) {
    for row in rows.iter().filter(|row| lap.is_none_or(|lap| lap == row.at.lap)) {
        if let Some(intent) = row.intent {
            say!("{}  {}", Address::row(&intent.fact.run, row.at), log::what(row));
        }
    }
    for row in rows.changes().filter(|_| lap.is_none()) {
        for line in log::noticed(&row) {
            say!("log://{}/{line}", row.delta.fact.run);
        }
    }
}

/// What others changed.
fn changes(shown: &Shown, n: u32, channel: Option<&str>, args: &cli::Show) -> Result<()> {
    let place = RowPlace::Changes(n);
    let Some(row) = shown.rows.changes_at(n) else {
        let why = format!("there is no row {place} in that run; `cairn log` lists them");
        return Err(Usage(why).into());
    };
    match channel {
        None if args.json => say!("{}", shown.changes(&row)?),
        None => {
            for line in log::noticed(&row) {
                say!("{}  {line}", log::time(row.delta.fact.at));
            }
            say!("{}", text(shown.store, &row.delta.text)?);
        }
        Some(channel) => {
            let content = row.content(channel).ok_or_else(|| {
                Usage(format!(
                    "row {place} has no #{channel}; what others changed has #result alone"
                ))
            })?;
            if !args.json {
                return raw_content(shown.store, &content);
            }
            say!("{}", shown.channel("row", &place.to_string(), (channel, &content)));
        }
    }
    Ok(())
}

fn row(shown: &Shown, at: Coord, channel: Option<&str>, args: &cli::Show) -> Result<()> {
    let Some(row) = shown.rows.get(at) else {
        let why = format!("there is no row {at} in that run; `cairn log` lists them");
        return Err(Usage(why).into());
    };
    if let Some(channel) = channel {
        let content = row.content(channel).ok_or_else(|| {
            Usage(format!("row {at} has no #{channel}; a row has #input, #result, and where they exist #output, #shown, #words"))
        })?;
        if args.json {
            say!("{}", shown.channel("row", &at.to_string(), (channel, &content)));
            return Ok(());
        }
        return raw_content(shown.store, &content);
    }
    let row = Row { receipt: receipt(shown.store, row)?, ..row.clone() };
    if args.json {
        say!("{}", shown.row(&row)?);
        return Ok(());
    }
    let mut printer =
        RowPrinter { store: shown.store, row: &row, out: crate::output::out::stdout() };
    for fact in &row.facts {
        match printer.fact(fact) {
            // Someone who pipes into `head` is not an error.
            Err(error) if is_broken_pipe(&error) => return Ok(()),
            printed => printed?,
        }
    }
    Ok(())
}

/// The receipt of a row's outcome, where it has one.
fn receipt(store: &Store, row: &Row<'_>) -> Result<Option<RowReceipt>> {
    let Some(Recorded { fact, .. }) = row.outcome else { return Ok(None) };
    let receipts = store.receipts(&fact.run)?;
    let found = receipts.into_iter().find(|receipt| receipt.fact_n == fact.n);
    Ok(found.map(|receipt| RowReceipt { id: receipt.receipt_id, hash: receipt.hash }))
}

/// A text as a terminal may show it.
fn text(store: &Store, of: &ContentRef) -> Result<String> {
    Ok(clean(&String::from_utf8_lossy(&store.content(&of.hash)?)))
}

/// Prints a row fact by fact.
struct RowPrinter<'a, W> {
    store: &'a Store,
    row: &'a Row<'a>,
    out: W,
}

impl<W: Write> RowPrinter<'_, W> {
    fn fact(&mut self, fact: &Fact) -> Result<()> {
        let when = log::time(fact.at);
        match &fact.body {
            Body::Intent(intent) => self.intent(&when, intent)?,
            Body::Proposal(proposal) => {
                writeln!(self.out, "{when}  proposed {}", proposal.id)?;
                for item in proposal.items.iter().filter(|_| proposal.by_item) {
                    writeln!(self.out, "  item {}: {}", item.item, clean(&item.label))?;
                }
            }
            Body::Decision(decision) => self.decision(&when, decision)?,
            Body::Begin(begin) => {
                let again = if begin.again { " again" } else { "" };
                writeln!(self.out, "{when}  began{again}")?;
            }
            Body::Outcome(done) => self.result(&when, done)?,
            Body::Performed(done) if self.row.outcome.is_none() => self.result(&when, done)?,
            Body::Stream(stream) => writeln!(self.out, "{when}  {}", log::stream(stream))?,
            Body::Hook(hooked) => {
                writeln!(self.out, "{when}  {}", log::hook(hooked))?;
                let answer = &hooked.answer;
                let texts = [&answer.block, &answer.substitute, &answer.input];
                for content in texts.into_iter().flatten().chain(&answer.context) {
                    writeln!(self.out, "  {}", text(self.store, content)?)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn intent(&mut self, when: &str, intent: &Intent) -> Result<()> {
        let (tool, effect) = (clean(&intent.tool), to_wire::word(&intent.effect));
        writeln!(self.out, "{when}  asked: {tool}, effect {effect}")?;
        if let Some(row) = intent.of {
            writeln!(self.out, "  what {row} came to, which was sent to the background")?;
        }
        writeln!(self.out, "{}", text(self.store, &intent.input)?)?;
        for repair in &intent.repairs {
            writeln!(self.out, "  repaired: {repair}")?;
        }
        Ok(())
    }

    fn decision(&mut self, when: &str, decision: &Decision) -> Result<()> {
        let by = clean(&decision.by.to_string());
        writeln!(self.out, "{when}  {} by {by}", to_wire::word(&decision.verdict))?;
        if let Some(chosen) = log::choice(decision) {
            writeln!(self.out, "  {chosen}")?;
        }
        if let Some(words) = &decision.words {
            writeln!(self.out, "  with the words: {}", text(self.store, words)?)?;
        }
        for gate in &decision.gates {
            writeln!(self.out, "  gate {}: {} ({})", gate.gate, gate.verdict, gate.why)?;
        }
        Ok(())
    }

    fn result(&mut self, when: &str, done: &Outcome) -> Result<()> {
        let settled = to_wire::word(&done.settled);
        writeln!(self.out, "{when}  status {}, {settled}", done.status)?;
        if self.row.outcome.is_none() {
            writeln!(self.out, "  {}", log::UNHEARD)?;
        }
        if !done.layers.is_empty() {
            writeln!(self.out, "  layers: {}", SandboxLayer::join_names(&done.layers))?;
        }
        writeln!(self.out, "{}", text(self.store, &done.result)?)?;
        for change in &done.changes {
            write!(self.out, "{}", clean(&diff::of(self.store, change)))?;
        }
        if let Some(RowReceipt { id, hash }) = &self.row.receipt {
            writeln!(self.out, "  receipt {id} {hash}")?;
        }
        Ok(())
    }
}

fn turn_of(shown: &Shown, of: (u32, u32), channel: Option<&str>, args: &cli::Show) -> Result<()> {
    let Shown { store, facts, .. } = *shown;
    let (lap, turn) = of;
    let reply = facts.iter().find_map(|fact| match &fact.body {
        Body::Reply(reply) if (reply.lap, reply.turn) == of => Some(reply),
        _ => None,
    });
    let no_reply =
        || Usage(format!("turn {lap}/{turn} has no reply in that run; `cairn log` shows it"));
    match channel {
        Some("request") => {
            let asked = cairn_runtime::request_at(facts, of, store)?;
            let asked = asked
                .ok_or_else(|| Usage(format!("turn {lap}/{turn} was never asked in that run")))?;
            let model = reply.map(|reply| reply.model.clone()).or_else(|| driven_model(facts));
            let name = model.context("no model was chosen in that run")?;
            raw(&model::body(&name, &asked))
        }
        Some("reasoning") => match reply.ok_or_else(no_reply)?.reasoning {
            Some(thought) if args.json => {
                say!(
                    "{}",
                    shown.channel("turn", &format!("{lap}/{turn}"), ("reasoning", &thought))
                );
                Ok(())
            }
            Some(thought) => raw(&store.content(&thought.hash)?),
            None => Ok(()),
        },
        Some("reply") | None if args.json => {
            say!("{}", shown.turn(reply.ok_or_else(no_reply)?));
            Ok(())
        }
        Some("reply") | None => {
            let reply = reply.ok_or_else(no_reply)?;
            if let Some(said) = reply.written.as_ref().or(reply.text.as_ref()) {
                raw(&store.content(&said.hash)?)?;
                say!("");
            }
            if let Some(problems) = &reply.problems {
                for problem in log::unread(&store.content(&problems.hash)?) {
                    say!("not read: {problem}");
                }
            }
            for repair in &reply.repairs {
                say!("repaired: {}", clean(repair));
            }
            for (seq, call) in (1..).zip(&reply.calls) {
                let input = store.content(&call.args.hash)?;
                say!(
                    "{}  {} {}",
                    Coord { lap, turn, seq },
                    clean(&call.name),
                    clean(&String::from_utf8_lossy(&input))
                );
            }
            Ok(())
        }
        Some(other) => {
            Err(Usage(format!("a turn has #request, #reply and #reasoning, not #{other}")).into())
        }
    }
}

fn driven_model(facts: &[Fact]) -> Option<String> {
    facts.iter().rev().find_map(|fact| match &fact.body {
        Body::Drive(drive) => Some(drive.model.clone()),
        _ => None,
    })
}

/// To a terminal cleaned, to a pipe byte for byte.
fn raw(bytes: &[u8]) -> Result<()> {
    let mut out = crate::output::out::stdout();
    let _ = match out.is_terminal() {
        true => writeln!(out, "{}", clean(&String::from_utf8_lossy(bytes))),
        false => out.write_all(bytes),
    };
    Ok(())
}

/// The same for a content, which into a pipe goes piece by piece: it may be long.
fn raw_content(store: &Store, content: &ContentRef) -> Result<()> {
    use std::io::IsTerminal;
    if std::io::stdout().is_terminal() {
        return raw(&store.content(&content.hash)?);
    }
    let mut out = crate::output::out::stdout();
    let mut is_open = true;
    store.each_of_content(&content.hash, &mut |piece| {
        is_open = is_open && out.write_all(piece).is_ok();
    })?;
    Ok(())
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    io.is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
}
