//! `cairn show`: one row, turn or loop in full, and what the model was really sent.

mod json;

use crate::out::say;
use crate::{cli, diff, log, model, named, place, run::Usage, to_wire};
use anyhow::{Context, Result};
use cairn_store::Store;
use cairn_text::shown::clean;
use cairn_types::{Address, Body, ContentRef, Coord, Fact, RowAddress, SandboxLayer};
use json::Shown;
use std::io::Write;
use std::process::ExitCode;

/// Runs the command.
pub fn show(args: &cli::Show) -> Result<ExitCode> {
    let (address, is_named) = address(&args.address)?;
    let store = place::store_to_read()?;
    let run = named::run(&store, is_named.then_some(address.run.as_str()))?;
    let facts = store.facts(&run.id, 0)?;
    let shown = Shown { store: &store, run: &run, facts: &facts };
    match (address.row, address.channel.as_deref()) {
        (RowAddress::Row(at), channel) => row(&shown, at, channel, args)?,
        (RowAddress::Turn(lap, turn), channel) => turn_of(&shown, (lap, turn), channel, args)?,
        (RowAddress::Run | RowAddress::Lap(_), Some(channel)) => {
            let why = format!("only a turn or a row has channels, so there is no #{channel}");
            return Err(Usage(why).into());
        }
        (RowAddress::Run, None) if args.json => say!("{}", shown.run()),
        (RowAddress::Run, None) => list(&facts, None),
        (RowAddress::Lap(lap), None) => {
            let is_there = |f: &Fact| matches!(&f.body, Body::Prompt(p) if p.lap == lap);
            if !facts.iter().any(is_there) {
                let why = format!("there is no loop {lap} in that run; `cairn log` lists them");
                return Err(Usage(why).into());
            }
            if args.json { say!("{}", shown.lap(lap)) } else { list(&facts, Some(lap)) }
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

fn list(facts: &[Fact], lap: Option<u32>) {
    for fact in facts {
        if let Body::Intent(intent) = &fact.body
            && lap.is_none_or(|lap| lap == intent.at.lap)
        {
            let (run, at) = (&fact.run, intent.at);
            say!("log://{run}/{at}  {}", clean(&log::asked(intent)));
        }
    }
}

/// The op that a fact is about.
fn op_of(body: &Body) -> Option<Coord> {
    match body {
        Body::Intent(intent) => Some(intent.at),
        Body::Proposal(proposal) => Some(proposal.at),
        Body::Decision(decision) => Some(decision.at),
        Body::Begin(begin) => Some(begin.at),
        Body::Outcome(outcome) | Body::Performed(outcome) => Some(outcome.at),
        Body::Hook(hooked) => hooked.at,
        Body::Stream(stream) => Some(stream.at),
        _ => None,
    }
}

fn row(shown: &Shown, at: Coord, channel: Option<&str>, args: &cli::Show) -> Result<()> {
    let of_row: Vec<&Fact> =
        shown.facts.iter().filter(|fact| op_of(&fact.body) == Some(at)).collect();
    if of_row.is_empty() {
        return Err(
            Usage(format!("there is no row {at} in that run; `cairn log` lists them")).into()
        );
    }
    if let Some(channel) = channel {
        let content = of_row.iter().rev().find_map(|fact| channel_of(&fact.body, channel));
        let content = content.ok_or_else(|| {
            Usage(format!("row {at} has no #{channel}; a row has #input, #result, and where they exist #output, #shown, #words"))
        })?;
        if args.json {
            say!("{}", shown.channel("row", &at.to_string(), (channel, &content)));
            return Ok(());
        }
        return raw_content(shown.store, &content);
    }
    if args.json {
        say!("{}", shown.row(at, &of_row)?);
        return Ok(());
    }
    let is_concluded = of_row.iter().any(|fact| matches!(fact.body, Body::Outcome(_)));
    for fact in of_row {
        if is_concluded && matches!(fact.body, Body::Performed(_)) {
            continue;
        }
        match print_fact(shown.store, fact) {
            // Someone who pipes into `head` is not an error.
            Err(error) if is_broken_pipe(&error) => return Ok(()),
            printed => printed?,
        }
    }
    Ok(())
}

fn channel_of(body: &Body, channel: &str) -> Option<ContentRef> {
    match (body, channel) {
        (Body::Intent(intent), "input") => Some(intent.input),
        (Body::Outcome(done) | Body::Performed(done), "result") => Some(done.result),
        (Body::Outcome(done) | Body::Performed(done), "output") => {
            done.output.as_ref().map(|output| output.kept)
        }
        (Body::Stream(stream), "output") => stream.output.as_ref().map(|output| output.kept),
        (Body::Proposal(proposal), "shown") => Some(proposal.shown),
        (Body::Decision(decision), "words") => decision.words,
        _ => None,
    }
}

fn print_fact(store: &Store, fact: &Fact) -> Result<()> {
    let text = |r: &ContentRef| -> Result<String> {
        Ok(clean(&String::from_utf8_lossy(&store.content(&r.hash)?)))
    };
    let mut out = crate::out::stdout();
    let when = log::time(fact.at);
    match &fact.body {
        Body::Intent(intent) => {
            writeln!(
                out,
                "{when}  asked: {}, effect {}",
                clean(&intent.tool),
                to_wire::word(&intent.effect)
            )?;
            if let Some(row) = intent.of {
                writeln!(out, "  what {row} came to, which was sent to the background")?;
            }
            writeln!(out, "{}", text(&intent.input)?)?;
            for repair in &intent.repairs {
                writeln!(out, "  repaired: {repair}")?;
            }
        }
        Body::Proposal(_) | Body::Decision(_) => print_question(&mut out, fact, &text)?,
        Body::Begin(begin) => {
            writeln!(out, "{when}  began{}", if begin.again { " again" } else { "" })?
        }
        Body::Outcome(outcome) | Body::Performed(outcome) => {
            writeln!(
                out,
                "{when}  status {}, {}",
                outcome.status,
                to_wire::word(&outcome.settled)
            )?;
            if matches!(fact.body, Body::Performed(_)) {
                writeln!(out, "  {}", log::UNHEARD)?;
            }
            if !outcome.layers.is_empty() {
                writeln!(out, "  layers: {}", SandboxLayer::join_names(&outcome.layers))?;
            }
            writeln!(out, "{}", text(&outcome.result)?)?;
            for change in &outcome.changes {
                write!(out, "{}", clean(&diff::of(store, change)))?;
            }
            let receipts = store.receipts(&fact.run)?;
            if let Some(receipt) = receipts.iter().find(|receipt| receipt.fact_n == fact.n) {
                writeln!(out, "  receipt {} {}", receipt.receipt_id, receipt.hash)?;
            }
        }
        Body::Stream(stream) => writeln!(out, "{when}  {}", log::stream(stream))?,
        Body::Hook(hooked) => {
            writeln!(out, "{when}  {}", log::hook(hooked))?;
            let answer = &hooked.answer;
            let texts = [&answer.block, &answer.substitute, &answer.input].into_iter().flatten();
            for content in texts.chain(&answer.context) {
                writeln!(out, "  {}", text(content)?)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// A question, or the word on it.
fn print_question(
    out: &mut impl Write,
    fact: &Fact,
    text: &impl Fn(&ContentRef) -> Result<String>,
) -> Result<()> {
    let when = log::time(fact.at);
    if let Body::Proposal(proposal) = &fact.body {
        writeln!(out, "{when}  proposed {}", proposal.id)?;
        for item in proposal.items.iter().filter(|_| proposal.by_item) {
            writeln!(out, "  item {}: {}", item.item, clean(&item.label))?;
        }
    }
    if let Body::Decision(decision) = &fact.body {
        let by = clean(&decision.by.to_string());
        writeln!(out, "{when}  {} by {by}", to_wire::word(&decision.verdict))?;
        if let Some(chosen) = log::choice(decision) {
            writeln!(out, "  {chosen}")?;
        }
        if let Some(words) = &decision.words {
            writeln!(out, "  with the words: {}", text(words)?)?;
        }
        for gate in &decision.gates {
            writeln!(out, "  gate {}: {} ({})", gate.gate, gate.verdict, gate.why)?;
        }
    }
    Ok(())
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
    let mut out = crate::out::stdout();
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
    let mut out = crate::out::stdout();
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
