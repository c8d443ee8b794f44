//! `cairn undo`, `redo` and `rewind`: what ops changed is taken back, as ops of the session's client
//! run. Files that somebody else changed are named and left alone.

use crate::cli::Careful;
use crate::out::say;
use crate::run::Usage;
use crate::{cli, fork, name, named, place, run};
use anyhow::Result;
use cairn_runtime::undo::{History, Plan, Span, Undone};
use cairn_runtime::{Client, ClientOp, folders_of, holder};
use cairn_store::{Lease, RunRow, Store};
use cairn_text::shown::clean;
use cairn_types::{Address, Change, ChangeKind, RowAddress, RunId};
use cairn_world::{Settings, Workspace, World};
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// Where an undo works.
struct Place {
    store: Store,
    run: RunRow,
    world: Arc<World>,
    /// Held unless nothing is to be changed.
    client: Option<Client>,
    /// The run whose rows are undone: nobody drives it meanwhile.
    lease: Option<Lease>,
    runtime: tokio::runtime::Runtime,
}

impl Place {
    /// What an earlier undo was cut off from is finished first: a plan is made for what is there.
    fn of(store: Store, run: RunRow, how: &Careful) -> Result<Place> {
        if run.imported {
            let why = "was imported: what it changed, it changed elsewhere";
            return Err(Usage(format!("run {} {why}; nothing is undone here", run.id)).into());
        }
        let root = named::session_row(&store, &run.session)?.root;
        let workspace = Workspace::open(Path::new(&root))?;
        // No command is run.
        let settings = Settings::new("/bin/sh".into(), Vec::new());
        // An undo that is finished or taken back may be another run's.
        let mut folders = Vec::new();
        for other in store.runs(&run.session)? {
            let (there, _) = run::folders(folders_of(&store.facts(&other.id, 0)?));
            folders.extend(there);
        }
        folders.sort();
        folders.dedup();
        let world = Arc::new(World::with_folders(workspace, &folders, settings)?);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut place = Place { store, run, world, client: None, lease: None, runtime };
        if !how.dry_run {
            place.hold(&place.run.id.clone())?;
            let (store, session) = (place.store.clone(), place.run.session.clone());
            let taking = Client::take(store, place.world.clone(), &session);
            place.client = Some(place.runtime.block_on(taking)?);
        }
        Ok(place)
    }

    /// Keeps others from driving a run; says who does.
    fn hold(&mut self, run: &RunId) -> Result<()> {
        if self.lease.as_ref().is_none_or(|lease| lease.run() != run) {
            self.lease = Some(self.store.lease(run, &holder())?);
        }
        Ok(())
    }

    /// What is known of a run that is worked on, and which of its folders cannot be.
    fn history(&self, run: &RunId) -> Result<History> {
        let (_, gone) = run::folders(folders_of(&self.store.facts(run, 0)?));
        run::tell_gone(&gone);
        Ok(History::read(&self.store, &self.run.session, run)?)
    }
}

/// What is done and how that is called.
struct Deed {
    done: &'static str,
    op: ClientOp,
    /// Sentences about what was passed over on the way to it.
    passed: Vec<String>,
}

/// `cairn undo`.
pub fn undo(args: &cli::Undo) -> Result<ExitCode> {
    let (address, span) = span(args.what.as_deref())?;
    let store = place::store()?;
    let run = named::workable(&store, address.as_deref(), args.run.as_deref())?;
    let mut place = Place::of(store, run, &args.how)?;
    let history = place.history(&place.run.id)?;
    let plan_of = |span| Plan::undo(&history, span, &place.world, args.how.force);
    let (plan, passed) = match (span, args.since) {
        (Some(span), false) => (plan_of(span), Vec::new()),
        (Some(span), true) => (plan_of(from(span)?), Vec::new()),
        (None, _) => newest(&history, plan_of)?,
    };
    if plan.rows.is_empty() && plan.commands.is_empty() {
        return Err(Usage(format!(
            "no row there changed a file that is not undone already; `cairn log {}` lists them",
            place.run.id
        ))
        .into());
    }
    let op = plan.undo_op(&place.run.id, run::person());
    Ok(carry_out(&mut place, &plan, &args.how, Deed { done: "undone", op, passed })?.0)
}

/// The newest turn of which something is left to undo; turns of which nothing is are passed over.
fn newest(history: &History, plan_of: impl Fn(Span) -> Plan) -> Result<(Plan, Vec<String>)> {
    let mut passed = Vec::new();
    for (lap, turn) in history.open_turns() {
        let plan = plan_of(Span::Turn(lap, turn));
        if !plan.is_idle() {
            return Ok((plan, passed));
        }
        passed.push(format!("  passed over: {lap}/{turn}, of which nothing is left to undo"));
    }
    match history.open_turns().first() {
        Some((lap, turn)) => Ok((plan_of(Span::Turn(*lap, *turn)), passed)),
        None => {
            let run = &history.run;
            Err(Usage(format!("run {run} changed no file that is not undone already")).into())
        }
    }
}

/// `cairn redo`.
pub fn redo(args: &cli::Redo) -> Result<ExitCode> {
    let store = place::store()?;
    let run = named::workable(&store, None, args.run.as_deref())?;
    let (id, session) = (run.id.clone(), run.session.clone());
    // Of a run that is named, its own; otherwise the session's, whose newest run may be driven.
    let undos = |store: &Store| -> Result<Vec<Undone>> {
        let of = |undone: &Undone| args.run.is_none() || undone.run == id;
        let all = History::read(store, &session, &id)?.undone;
        Ok(all.into_iter().rev().filter(of).collect())
    };
    let newest = undos(&store)?.into_iter().next();
    let target = newest.map_or(Ok(None), |undone| store.run(&undone.run))?;
    let mut place = Place::of(store, target.unwrap_or(run), &args.how)?;
    let mut undos = undos(&place.store)?.into_iter().peekable();
    let mut passed = Vec::new();
    while let Some(undone) = undos.next() {
        if !args.how.dry_run {
            place.hold(&undone.run)?;
        }
        let history = place.history(&undone.run)?;
        let plan = Plan::redo(&undone, &history, &place.world, args.how.force);
        if plan.is_idle() && undos.peek().is_some() {
            let at = undone.at;
            passed.push(format!("  passed over: the undo {at}, of which nothing is left to redo"));
            continue;
        }
        let op = plan.redo_op(&undone, run::person());
        let deed = Deed { done: "done again", op, passed };
        return Ok(carry_out(&mut place, &plan, &args.how, deed)?.0);
    }
    Err(Usage("there is no undo here that could be taken back".to_owned()).into())
}

/// `cairn rewind`.
pub fn rewind(args: &cli::Rewind) -> Result<ExitCode> {
    let (address, (lap, turn)) = fork::point(&args.turn)?;
    let store = place::store()?;
    let run = named::workable(&store, address.as_deref(), args.run.as_deref())?;
    let name = name::of_run(&store, args.name.as_deref())?;
    let mut place = Place::of(store, run, &args.how)?;
    fork::check(&place.store, &place.run, (lap, turn))?;
    let history = place.history(&place.run.id)?;
    let plan = Plan::undo(&history, Span::After(lap, turn), &place.world, args.how.force);
    let op = plan.undo_op(&place.run.id, run::person());
    let deed = Deed { done: "undone", op, passed: Vec::new() };
    let (code, done) = carry_out(&mut place, &plan, &args.how, deed)?;
    if !done || args.how.dry_run {
        return Ok(code);
    }
    let (id, _) = fork::make(&place.store, &place.run, Some((lap, turn)), name)?;
    if args.how.json {
        say!("{}", json!({"run": id, "session": place.run.session, "parent": place.run.id}));
    } else {
        say!("{id}\ngo on from {lap}/{turn}: cairn run -c \"…\"");
    }
    Ok(code)
}

/// `1/2/3`, `1/2`, `1`, or an address, which may name a run.
pub fn span(text: Option<&str>) -> Result<(Option<String>, Option<Span>)> {
    let Some(text) = text else { return Ok((None, None)) };
    let is_address = text.contains("://");
    let address = if is_address { text.to_owned() } else { format!("log://here/{text}") };
    let bad = || {
        Usage(format!(
            "{text:?} is not a row, turn or loop; write 1/2/3, 1/2 or 1 (`cairn log` shows them)"
        ))
    };
    let address: Address = address.parse().map_err(|_| bad())?;
    let span = match address.row {
        RowAddress::Row(at) => Some(Span::Row(at)),
        RowAddress::Turn(lap, turn) => Some(Span::Turn(lap, turn)),
        RowAddress::Lap(lap) => Some(Span::Lap(lap)),
        RowAddress::Run if is_address => Some(Span::All),
        RowAddress::Run => return Err(bad().into()),
    };
    Ok((is_address.then_some(address.run), span))
}

/// Everything from there on.
fn from(span: Span) -> Result<Span> {
    match span {
        Span::Turn(lap, turn) => Ok(Span::After(lap, turn.saturating_sub(1))),
        Span::Lap(lap) => Ok(Span::After(lap, 0)),
        Span::All => Ok(Span::All),
        Span::Row(_) | Span::After(..) => {
            Err(Usage("--since needs a turn or a loop, for example 1/2".to_owned()).into())
        }
    }
}

/// Shows a plan and carries it out, unless something stands in its way. Whether nothing did.
fn carry_out(
    place: &mut Place,
    plan: &Plan,
    how: &Careful,
    deed: Deed,
) -> Result<(ExitCode, bool)> {
    let blocked = !plan.conflicts.is_empty() && !how.partial;
    let op = deed.op.clone();
    let mut report = Report { plan, how, deed, blocked, receipt: None, row: None };
    let client = place.client.as_mut().filter(|_| !blocked && !plan.changes.is_empty());
    if let Some(client) = client {
        let made = place.runtime.block_on(client.perform(op))?;
        made.changes?;
        report.receipt = made.receipt;
        report.row = Some(Address::row(&made.run, made.at));
    }
    report.tell();
    let code = if blocked { ExitCode::from(1) } else { ExitCode::SUCCESS };
    Ok((code, !blocked))
}

/// What is said about an undo.
struct Report<'a> {
    plan: &'a Plan,
    how: &'a Careful,
    deed: Deed,
    blocked: bool,
    receipt: Option<String>,
    row: Option<String>,
}

impl Report<'_> {
    fn tell(&self) {
        if self.how.json {
            say!("{}", self.json());
        } else {
            self.lines().iter().for_each(|line| say!("{}", clean(line)));
        }
    }

    fn json(&self) -> Value {
        json!({
            "done": self.row.is_some(),
            "why": self.row.is_none().then(|| self.verdict()),
            "rows": self.plan.rows,
            "changes": self.plan.changes,
            "conflicts": self.plan.conflicts.iter().map(|c| json!({
                "path": c.path, "why": c.why, "force": c.may_insist,
            })).collect::<Vec<_>>(),
            "kept": self.plan.kept,
            "not_covered": self.plan.commands.iter().map(|c| json!({
                "row": c.at, "command": c.command,
            })).collect::<Vec<_>>(),
            "row": self.row,
            "receipt": self.receipt,
        })
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = self.deed.passed.clone();
        let shows_changes = !self.blocked || self.how.dry_run;
        for change in self.plan.changes.iter().filter(|_| shows_changes) {
            lines.push(format!("  {} {}", verb(change), change.path));
        }
        for conflict in &self.plan.conflicts {
            let force = if conflict.may_insist { "; --force overwrites it" } else { "" };
            lines.push(format!("  left alone: {}{force}", conflict.why));
        }
        for path in &self.plan.kept {
            lines.push(format!("  left alone: {path}/ holds something else"));
        }
        for command in &self.plan.commands {
            let (at, what) = (command.at, &command.command);
            lines.push(format!("  not covered: what the command {at} changed: {what}"));
        }
        lines.push(self.verdict());
        lines
    }

    fn verdict(&self) -> String {
        let (changes, conflicts) = (self.plan.changes.len(), self.plan.conflicts.len());
        let paths = if changes == 1 { "1 path".to_owned() } else { format!("{changes} paths") };
        let done = self.deed.done;
        if self.blocked || (changes == 0 && conflicts > 0) {
            let what = match conflicts {
                1 => "1 path is not as it was left".to_owned(),
                n => format!("{n} paths are not as they were left"),
            };
            let rest = if changes > 0 { "; --partial takes back the rest" } else { "" };
            return format!("nothing was {done}: {what}{rest}");
        }
        match (&self.row, changes) {
            (_, 0) => "nothing to do: no path differs from what it was".to_owned(),
            (None, _) => format!("{paths} would be {done}"),
            (Some(row), _) => format!("{paths} {done}; row {row}"),
        }
    }
}

fn verb(change: &Change) -> &'static str {
    match change.kind {
        ChangeKind::Created => "brought back",
        ChangeKind::Modified => "as before",
        ChangeKind::Deleted => "removed",
    }
}
