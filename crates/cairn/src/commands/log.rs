//! `cairn log`: a run's rows, or its facts.

use crate::cli;
use crate::home::{named, place};
use crate::output::tally::Tally;
use crate::output::{money, to_wire};
use anyhow::Result;
use cairn_engine::{ChangesRow, Recorded, Row, Rows};
use cairn_runtime::undo::{self, Undone};
use cairn_store::{Replies, RunRow, Store};
use cairn_text::shown::clean;
use cairn_types::{
    Address, Body, ContentRef, Decision, Fact, HookAnswer, Hooked, Intent, Outcome, Remember,
    Reply, RunId, Settled, Stream, UnreadParts, Usage, Writer,
};
use serde_json::{Value, json};
use std::io::Write;
use std::process::ExitCode;

/// What is said of a result that stands without the word of the hooks that look at results.
pub const UNHEARD: &str = "the hooks that look at its result were not all heard";

/// Runs the command.
pub fn log(args: &cli::Log) -> Result<ExitCode> {
    let store = place::store_to_read()?;
    let run = named::run(&store, args.run.as_deref())?;
    let facts = store.facts(&run.id, 0)?;
    let undone = undo::standing(&store, &run.session)?;
    let rows = Rows::fold(&facts);
    let mut out = crate::output::out::stdout();
    // Someone who pipes into `head` is not an error.
    let _ = match (args.facts, args.json) {
        (true, true) => print_facts_json(&facts, &mut out),
        (true, false) => print_facts(&facts, &mut out),
        (false, true) => print_rows_json(&run.id, &rows, &undone, &mut out),
        (false, false) => {
            let (of_run, of_loop) = (Tally::default(), Tally::default());
            let (store, undone, out) = (&store, &undone, &mut out);
            Printer { store, undone, rows: &rows, out, of_run, of_loop }.print(&run, &facts)
        }
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

/// Those of a row's paths that are undone.
fn undone_paths<'a>(undone: &[Undone], done: Recorded<'a, Outcome>) -> Vec<&'a str> {
    let (run, paths) =
        (&done.fact.run, done.body.changes.iter().map(|change| change.path.as_str()));
    paths.filter(|path| undone.iter().any(|undo| undo.took(run, done.at, path))).collect()
}

fn print_rows_json(
    run: &RunId,
    rows: &Rows<'_>,
    undone: &[Undone],
    out: &mut impl Write,
) -> Result<()> {
    let ops = rows.sorted_by(Row::result).into_iter();
    let ops = ops.map(|(row, done)| (done.fact.n, row_line(run, row, done, undone)));
    let changes = rows.changes().map(|row| (row.delta.fact.n, changes_line(run, &row)));
    let mut lines: Vec<(u64, Value)> = ops.chain(changes).collect();
    lines.sort_by_key(|(n, _)| *n);
    lines.iter().try_for_each(|(_, line)| Ok(writeln!(out, "{line}")?))
}

fn row_line(run: &RunId, row: &Row<'_>, done: Recorded<'_, Outcome>, undone: &[Undone]) -> Value {
    let undone = undone_paths(undone, done);
    let chosen = row.choice();
    let texts = chosen.iter().flat_map(|of| &of.texts).map(|text| &text.path);
    json!({
        "address": Address::row(run, row.at),
        "tool": row.intent.map(|i| &i.body.tool),
        "target": row.intent.map(|i| &i.body.target),
        "of": row.intent.and_then(|i| i.of),
        "status": done.status,
        "exit": done.exit,
        "changes": done.changes,
        "items": chosen.map(|of| &of.body.items),
        "texts": texts.collect::<Vec<_>>(),
        "undone": undone.len() == done.changes.len() && !undone.is_empty(),
        "undone_paths": undone,
        "settled": done.settled,
        "concluded": row.outcome.is_some(),
        "at": done.fact.at,
    })
}

/// What others changed, with the keys of every line: it is no op's, so most are null.
fn changes_line(run: &RunId, row: &ChangesRow<'_>) -> Value {
    json!({
        "address": Address::row(run, row.place()),
        "tool": null,
        "target": null,
        "of": null,
        "status": null,
        "exit": null,
        "changes": [],
        "items": null,
        "texts": [],
        "undone": false,
        "undone_paths": [],
        "settled": null,
        "concluded": true,
        "at": row.delta.fact.at,
        "noticed": row.delta.noticed,
    })
}

/// Prints what happened in a run, fact by fact; of a row in one place, where its result is.
struct Printer<'a, W> {
    store: &'a Store,
    undone: &'a [Undone],
    rows: &'a Rows<'a>,
    out: &'a mut W,
    of_run: Tally,
    of_loop: Tally,
}

impl<W: Write> Printer<'_, W> {
    fn print(mut self, run: &RunRow, facts: &[Fact]) -> Result<()> {
        let name = run.name.as_deref().map(|name| format!(" ({name})")).unwrap_or_default();
        writeln!(self.out, "run {}{}, session {}", run.id, clean(&name), run.session)?;
        facts.iter().try_for_each(|fact| self.fact(fact))?;
        self.end(run)
    }

    fn text(&self, r: &ContentRef) -> String {
        let bytes = self.store.content(&r.hash).unwrap_or_else(|e| format!("({e})").into_bytes());
        clean(&String::from_utf8_lossy(&bytes))
    }

    fn fact(&mut self, fact: &Fact) -> Result<()> {
        let at = time(fact.at);
        let line = match &fact.body {
            Body::Prompt(prompt) => {
                let names: Vec<_> = prompt
                    .media
                    .iter()
                    .map(|m| format!("\n  with {}, {}", m.name, m.mime))
                    .collect();
                let shown = clean(&names.concat());
                format!("\n{at}  {}  > {}{shown}", prompt.lap, self.text(&prompt.text))
            }
            Body::Steer(steer) => {
                let who = if steer.writer == Writer::System { "told" } else { "steer" };
                format!("{at}  {who}  > {}", self.text(&steer.text))
            }
            Body::Delta(_) => {
                let row = self.rows.changes_of(fact);
                let lines: Vec<String> = row.iter().flat_map(noticed).collect();
                lines.iter().map(|line| format!("{at}  {line}")).collect::<Vec<_>>().join("\n")
            }
            Body::Decision(decision) => match (&decision.words, choice(decision)) {
                (Some(words), _) => format!("{at}  {}  > {}", decision.at, self.text(words)),
                (None, Some(chosen)) => format!("{at}  {}  {chosen}", decision.at),
                (None, None) => return Ok(()),
            },
            Body::Reply(reply) => return self.reply(&at, reply),
            Body::Performed(done) | Body::Outcome(done) => {
                return match self.rows.get(done.at).and_then(|row| Some((row, row.result()?))) {
                    Some((row, result)) if result.fact.n == fact.n => self.row(row, result),
                    _ => Ok(()),
                };
            }
            Body::Stream(of) => format!("{at}  {}", stream(of)),
            Body::Hook(hooked) if hooked.answer != HookAnswer::default() => {
                format!("{at}  {}", hook(hooked))
            }
            Body::Fault(fault) => {
                format!("{at}  the model could not be had: {}", clean(&fault.message))
            }
            Body::Abort(abort) => format!("{at}  stopped: {}", clean(&abort.why)),
            Body::End(end) => {
                let took = std::mem::take(&mut self.of_loop).line();
                let why = clean(&format!(" {}", end.why));
                format!("{at}  loop {} ended: {}{} ({took})", end.lap, end.status, why.trim_end())
            }
            _ => return Ok(()),
        };
        Ok(writeln!(self.out, "{line}")?)
    }

    fn reply(&mut self, at: &str, reply: &Reply) -> Result<()> {
        let turn = format!("{at}  {}/{}", reply.lap, reply.turn);
        if let Some(said) = &reply.text {
            let said = self.text(said);
            writeln!(self.out, "{turn}  {}", said.trim_end())?;
        }
        if let Some(problems) = &reply.problems {
            for problem in unread(&self.store.content(&problems.hash)?) {
                writeln!(self.out, "{turn}  not read: {problem}")?;
            }
        }
        self.of_run.add(reply.usage, reply.cost);
        self.of_loop.add(reply.usage, reply.cost);
        if let Some(took) = took(reply) {
            writeln!(self.out, "{turn}  ({took})")?;
        }
        Ok(())
    }

    /// A row, from what it came to.
    fn row(&mut self, row: &Row<'_>, done: Recorded<'_, Outcome>) -> Result<()> {
        let is_concluded = row.outcome.is_some();
        let exit = done.exit.map(|exit| format!(" exit {exit}")).unwrap_or_default();
        let known = match done.settled {
            _ if !is_concluded => format!(" ({UNHEARD})"),
            Settled::Performed | Settled::NotPerformed => String::new(),
            other => format!(" ({})", to_wire::word(&other)),
        };
        let undone = undone_paths(self.undone, done);
        let is_whole = undone.len() == done.changes.len();
        let mark = if is_whole && !undone.is_empty() { "  undone" } else { "" };
        let (at, asked, status) = (time(done.fact.at), what(row), done.status);
        writeln!(self.out, "{at}  {}  {asked}  → {status}{exit}{known}{mark}", row.at)?;
        let is_said = row.intent.is_some_and(|intent| intent.is_for_everyone());
        if is_said && done.settled == Settled::Performed {
            for line in self.text(&done.result).lines() {
                writeln!(self.out, "            {line}")?;
            }
        }
        for change in &done.changes {
            let (kind, path) = (to_wire::word(&change.kind), clean(&change.path));
            let is_marked = !is_whole && undone.contains(&change.path.as_str());
            let mark = if is_marked { "  undone" } else { "" };
            writeln!(self.out, "            {kind} {path}{mark}")?;
        }
        Ok(())
    }

    /// What was left open, and what it all took.
    fn end(self, run: &RunRow) -> Result<()> {
        for row in self.rows.iter().filter(|row| row.result().is_none()) {
            if let Some(begin) = row.begins.last() {
                let (when, at, asked) = (time(begin.fact.at), row.at, what(row));
                writeln!(self.out, "{when}  {at}  {asked}  → began, its end was not seen")?;
            }
        }
        let mut of_session = Tally::default();
        let which = Replies { since: 0, session: Some(run.session.clone()) };
        self.store.replies(&which, &mut |reply| of_session.add(reply.usage, reply.cost))?;
        writeln!(self.out, "\nrun: {}\nsession: {}", self.of_run.line(), of_session.line())?;
        Ok(())
    }
}

/// What could not be read of a reply, one line each.
pub fn unread(problems: &[u8]) -> Vec<String> {
    let parts = UnreadParts::from_json(&String::from_utf8_lossy(problems));
    parts.lines().map(|line| clean(&line)).collect()
}

/// What a turn took, where anything is known of it.
fn took(reply: &Reply) -> Option<String> {
    let tokens = |usage: Usage| format!("{} tokens in, {} out", usage.input, usage.output);
    let parts = [reply.usage.map(tokens), reply.cost.map(money::shown)];
    let known: Vec<String> = parts.into_iter().flatten().collect();
    (!known.is_empty()).then(|| known.join(", "))
}

/// A time as people here write it.
pub fn time(at_ms: u64) -> String {
    let at = i64::try_from(at_ms).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    at.map(|at| at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string())
        .unwrap_or_else(|| at_ms.to_string())
}

/// What somebody chose of a proposal, in one line; nothing when they took it as it was.
pub fn choice(of: &Decision) -> Option<String> {
    if !of.is_choice() {
        return None;
    }
    let taken = of.items.iter().filter(|choice| choice.accepted);
    let taken: Vec<String> = taken.map(|choice| choice.item.to_string()).collect();
    let mut said = Vec::new();
    if taken.len() < of.items.len() {
        said.push(format!("took item {} of {}", taken.join(", "), of.items.len()));
    }
    said.extend(of.texts.iter().map(|text| format!("changed the text of {}", text.path)));
    Some(clean(&format!("{} {}", of.by, said.join(", and "))))
}

/// What is remembered of a decision for longer than one op.
pub fn remembered(decision: &Decision) -> Option<String> {
    let far = match decision.remember {
        Remember::Once => return None,
        Remember::Run => "in this run",
        Remember::Session => "in this session",
        Remember::Project => "in this project",
        Remember::Always => "everywhere",
    };
    let rules = match &decision.hosts[..] {
        [] => decision.rule.clone().unwrap_or_default(),
        _ => decision.remembered().join(", "),
    };
    let until = decision.until.map(|at| format!(", until {}", time(at))).unwrap_or_default();
    Some(format!("remembered {far}{until}: allow {rules}")).filter(|_| !rules.is_empty())
}

/// A hook's answer in one line.
pub fn hook(of: &Hooked) -> String {
    let at = of.at.map(|at| format!("{at}  ")).unwrap_or_default();
    let said = match &to_wire::said(&of.answer)[..] {
        [] => "nothing".to_owned(),
        words => words.join(", "),
    };
    let problem = of.answer.problem.as_ref().map(|problem| format!("; {problem}"));
    let problem = problem.unwrap_or_default();
    clean(&format!("{at}hook {} {} says: {said}{problem}", of.event, of.name))
}

/// What others changed, each in a line that begins with the place of the row.
pub fn noticed(row: &ChangesRow<'_>) -> Vec<String> {
    let place = row.place();
    let line = |one: &cairn_types::delta::Change| {
        let times = if one.edits > 1 { format!(", {} edits", one.edits) } else { String::new() };
        clean(&format!("{place}  edit {} [{}{times}]", one.path, one.source))
    };
    row.delta.noticed.iter().map(line).collect()
}

/// What a row was asked for, in a line.
pub fn what(row: &Row<'_>) -> String {
    row.intent.map(|intent| clean(&asked(&intent))).unwrap_or_default()
}

/// What an op was asked for, in a line.
pub fn asked(intent: &Intent) -> String {
    let of = intent.of.map(|row| format!(" (begun as {row})")).unwrap_or_default();
    let unclosed = if intent.unclosed { " (its end was not written)" } else { "" };
    format!("{} {}{of}{unclosed}", intent.tool, intent.target)
}

/// How a command in the background ended, in one line.
pub fn stream(of: &Stream) -> String {
    let exit = of.exit.map(|exit| format!(" exit {exit}")).unwrap_or_default();
    let why = if of.why.is_empty() { String::new() } else { format!(": {}", clean(&of.why)) };
    format!("{}  in the background: {}{exit}{why}", of.at, to_wire::word(&of.state))
}
