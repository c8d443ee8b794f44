//! `cairn log`: a run's rows, or its facts.

use crate::tally::Tally;
use crate::{cli, money, named, place, to_wire};
use anyhow::Result;
use cairn_runtime::undo::{self, Undone};
use cairn_store::{Replies, RunRow, Store};
use cairn_text::shown::clean;
use cairn_types::{
    Body, ContentRef, Coord, Decision, Fact, HookAnswer, Hooked, Intent, Outcome, Remember, Reply,
    RunId, Settled, Stream, Usage, Writer,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};
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
    let mut out = crate::out::stdout();
    // Someone who pipes into `head` is not an error.
    let _ = match (args.facts, args.json) {
        (true, true) => print_facts_json(&facts, &mut out),
        (true, false) => print_facts(&facts, &mut out),
        (false, true) => print_rows_json(&run.id, &facts, &undone, &mut out),
        (false, false) => print_rows(&run, &facts, (&store, &undone), &mut out),
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

/// The ops that have their outcome. One that was performed and is not among them waits for a hook's
/// word on its result, or was cut off there.
fn concluded(facts: &[Fact]) -> HashSet<Coord> {
    let of = |fact: &Fact| match &fact.body {
        Body::Outcome(outcome) => Some(outcome.at),
        _ => None,
    };
    facts.iter().filter_map(of).collect()
}

/// Those of a row's paths that are undone.
fn undone_paths<'a>(undone: &[Undone], run: &RunId, outcome: &'a Outcome) -> Vec<&'a str> {
    let paths = outcome.changes.iter().map(|change| change.path.as_str());
    paths.filter(|path| undone.iter().any(|undo| undo.took(run, outcome.at, path))).collect()
}

fn print_rows_json(
    run: &RunId,
    facts: &[Fact],
    undone: &[Undone],
    out: &mut impl Write,
) -> Result<()> {
    let (mut intents, mut chosen) = (HashMap::new(), HashMap::new());
    let concluded = concluded(facts);
    for fact in facts {
        match &fact.body {
            Body::Intent(intent) => {
                intents.insert(intent.at, intent);
            }
            Body::Decision(decision) if decision.is_choice() => {
                chosen.insert(decision.at, decision);
            }
            Body::Performed(outcome) if concluded.contains(&outcome.at) => {}
            Body::Outcome(outcome) | Body::Performed(outcome) => {
                let intent = intents.get(&outcome.at);
                let undone = undone_paths(undone, &fact.run, outcome);
                let chosen = chosen.get(&outcome.at);
                let texts = chosen.iter().flat_map(|of| &of.texts).map(|text| &text.path);
                let row = json!({
                    "address": cairn_types::Address::row(run, outcome.at),
                    "tool": intent.map(|i| &i.tool),
                    "target": intent.map(|i| &i.target),
                    "of": intent.and_then(|i| i.of),
                    "status": outcome.status,
                    "exit": outcome.exit,
                    "changes": outcome.changes,
                    "items": chosen.map(|of| &of.items),
                    "texts": texts.collect::<Vec<_>>(),
                    "undone": undone.len() == outcome.changes.len() && !undone.is_empty(),
                    "undone_paths": undone,
                    "settled": outcome.settled,
                    "concluded": concluded.contains(&outcome.at),
                    "at": fact.at,
                });
                writeln!(out, "{row}")?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn print_rows(
    run: &RunRow,
    facts: &[Fact],
    (store, undone): (&Store, &[Undone]),
    out: &mut impl Write,
) -> Result<()> {
    let name = run.name.as_deref().map(|name| format!(" ({name})")).unwrap_or_default();
    writeln!(out, "run {}{}, session {}", run.id, clean(&name), run.session)?;
    let mut printer = Printer {
        store,
        undone,
        out,
        rows: HashMap::new(),
        begun: BTreeMap::new(),
        said: HashSet::new(),
        concluded: concluded(facts),
        of_run: Tally::default(),
        of_loop: Tally::default(),
    };
    facts.iter().try_for_each(|fact| printer.fact(fact))?;
    printer.end(run)
}

/// Prints a run's rows fact by fact.
struct Printer<'a, W> {
    store: &'a Store,
    undone: &'a [Undone],
    out: &'a mut W,
    /// What ops without an outcome so far are.
    rows: HashMap<Coord, String>,
    /// When those began that did.
    begun: BTreeMap<Coord, String>,
    /// Those that say something to whoever reads this.
    said: HashSet<Coord>,
    /// Which have their outcome.
    concluded: HashSet<Coord>,
    of_run: Tally,
    of_loop: Tally,
}

impl<W: Write> Printer<'_, W> {
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
            Body::Delta(delta) => {
                let rows = delta.noticed.iter().map(|one| {
                    let times = if one.edits > 1 {
                        format!(", {} edits", one.edits)
                    } else {
                        String::new()
                    };
                    format!("{at}  edit {} [{}{times}]", one.path, one.source)
                });
                clean(&rows.collect::<Vec<_>>().join("\n"))
            }
            Body::Intent(intent) => {
                let row = clean(&asked(intent));
                if intent.is_for_everyone() {
                    self.said.insert(intent.at);
                }
                self.rows.insert(intent.at, row);
                return Ok(());
            }
            Body::Begin(begin) => {
                self.begun.insert(begin.at, at);
                return Ok(());
            }
            Body::Decision(decision) => match (&decision.words, choice(decision)) {
                (Some(words), _) => format!("{at}  {}  > {}", decision.at, self.text(words)),
                (None, Some(chosen)) => format!("{at}  {}  {chosen}", decision.at),
                (None, None) => return Ok(()),
            },
            Body::Reply(reply) => return self.reply(&at, reply),
            Body::Performed(outcome) if self.concluded.contains(&outcome.at) => return Ok(()),
            Body::Outcome(outcome) | Body::Performed(outcome) => {
                return self.outcome(&at, &fact.run, outcome);
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

    fn outcome(&mut self, at: &str, run: &RunId, outcome: &Outcome) -> Result<()> {
        self.begun.remove(&outcome.at);
        let row = self.rows.remove(&outcome.at).unwrap_or_default();
        let exit = outcome.exit.map(|exit| format!(" exit {exit}")).unwrap_or_default();
        let known = match outcome.settled {
            _ if !self.concluded.contains(&outcome.at) => format!(" ({UNHEARD})"),
            Settled::Performed | Settled::NotPerformed => String::new(),
            other => format!(" ({})", to_wire::word(&other)),
        };
        let undone = undone_paths(self.undone, run, outcome);
        let is_whole = undone.len() == outcome.changes.len();
        let mark = if is_whole && !undone.is_empty() { "  undone" } else { "" };
        let status = outcome.status;
        writeln!(self.out, "{at}  {}  {row}  → {status}{exit}{known}{mark}", outcome.at)?;
        if self.said.remove(&outcome.at) && outcome.settled == Settled::Performed {
            for line in self.text(&outcome.result).lines() {
                writeln!(self.out, "            {line}")?;
            }
        }
        for change in &outcome.changes {
            let (kind, path) = (to_wire::word(&change.kind), clean(&change.path));
            let is_marked = !is_whole && undone.contains(&change.path.as_str());
            let mark = if is_marked { "  undone" } else { "" };
            writeln!(self.out, "            {kind} {path}{mark}")?;
        }
        Ok(())
    }

    /// What was left open, and what it all took.
    fn end(mut self, run: &RunRow) -> Result<()> {
        for (at, when) in &self.begun {
            let row = self.rows.remove(at).unwrap_or_default();
            writeln!(self.out, "{when}  {at}  {row}  → began, its end was not seen")?;
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
    let list: Vec<Value> = serde_json::from_slice(problems).unwrap_or_default();
    let told = |one: &Value| {
        let word = |key: &str| one[key].as_str().unwrap_or_default().to_owned();
        clean(&format!("{} at {}:{}, {}", word("kind"), one["line"], one["column"], word("note")))
    };
    list.iter().map(told).collect()
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

/// What a hook said, in one line.
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
