//! `cairn undo`, `redo` and `rewind`: what ops changed is taken back, as ops of the session's client
//! run. Files that somebody else changed are named and left alone. What is said of it is `report`'s.

mod report;

use crate::cli::Careful;
use crate::commands::fork;
use crate::config::Config;
use crate::home::{name, named, place};
use crate::run::Usage;
use crate::setup::secrets;
use crate::{cli, run};
use anyhow::Result;
use cairn_runtime::undo::{
    History, InterruptedOp, OpenTurn, Plan, Span, UncoveredCommand, Undone, interrupted_op,
    open_turns, settle_interrupted_op, standing,
};
use cairn_runtime::{Client, ClientOp, folders_of, holder, new_run_id, schemes};
use cairn_store::{Lease, RunRow, Store, StoreError};
use cairn_text::shown::clean;
use cairn_types::{Address, RowAddress, RunId, SessionId};
use cairn_world::{Settings, Workspace, World};
use report::{Made, Report};
use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// Where an undo works.
struct Place {
    store: Store,
    session: SessionId,
    world: Arc<World>,
    /// Held unless nothing is to be changed.
    client: Option<Client>,
    /// The run whose rows are undone: nobody drives it meanwhile.
    lease: Option<Lease>,
    runtime: tokio::runtime::Runtime,
}

impl Place {
    /// What an earlier undo was cut off from is finished first: a plan is made for what is there.
    fn open(store: Store, run: &RunRow, lease: Option<Lease>, how: &Careful) -> Result<Place> {
        let session = run.session.clone();
        let root = named::session_row(&store, &session)?.root;
        let workspace = Workspace::open(Path::new(&root))?;
        // No command is run.
        let mut settings = Settings::new("/bin/sh".into(), Vec::new());
        if !how.dry_run {
            // A configuration that is broken keeps nobody from taking back what was done.
            let files = place::config_files(Some(Path::new(&root)));
            let (config, _) = Config::what_can_be_read(&files, &place::env);
            settings.scrubber = secrets::scrubber(&config, store.salt()?);
        }
        // An undo that is finished or taken back may be another run's.
        let mut folders = Vec::new();
        for other in store.runs(&session)? {
            let (there, _) = run::folders(folders_of(&store, &other.id)?.here);
            folders.extend(there);
        }
        folders.sort();
        folders.dedup();
        let world = World::with_folders(workspace, &folders, settings)?;
        let world = Arc::new(world.with_schemes(schemes::from_outside(&store, &session, &world)));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut place = Place { store, session, world, client: None, lease, runtime };
        if !how.dry_run {
            let taking = Client::take(place.store.clone(), place.world.clone(), &place.session);
            place.client = Some(place.runtime.block_on(taking)?);
        }
        Ok(place)
    }

    /// Opens the place for any run of the session, and settles what a crash cut off in all of them.
    fn of(store: Store, run: &RunRow, how: &Careful) -> Result<Place> {
        let mut place = Place::open(store, run, None, how)?;
        for other in place.store.runs(&place.session)?.iter().filter(|other| !other.imported) {
            place.settle_interrupted(&other.id)?;
        }
        Ok(place)
    }

    /// The same, for a run that is named: nobody drives it.
    fn with(store: Store, run: &RunRow, how: &Careful) -> Result<Place> {
        refuse_imported(run)?;
        let lease = (!how.dry_run).then(|| store.lease(&run.id, &holder())).transpose()?;
        let mut place = Place::open(store, run, lease, how)?;
        place.settle_interrupted(&run.id)?;
        Ok(place)
    }

    /// Records what became of the op that a crash cut off in this run, if there is one: its row is
    /// then undone like any. Where nothing may be changed, it is named instead. An op of a run that is
    /// being driven is its driver's to end.
    fn settle_interrupted(&mut self, run: &RunId) -> Result<()> {
        let Some(op) = interrupted_op(&self.store, run)? else { return Ok(()) };
        if self.client.is_none() {
            let is_left =
                self.store.driven_by(run).is_some() || self.store.missing_record(run)?.is_some();
            return if is_left { Ok(()) } else { Err(still_open(&op).into()) };
        }
        let held = self.lease.take_if(|lease| lease.run() == run);
        let is_named = held.is_some();
        let lease = match held.map_or_else(|| self.store.lease(run, &holder()), Ok) {
            Err(StoreError::Held { .. }) => return Ok(()),
            // Nobody continues it, so its op stays open; other runs can still be undone.
            Err(StoreError::Behind { .. }) if !is_named => return Ok(()),
            lease => lease?,
        };
        let settling = settle_interrupted_op(&self.store, &self.world, lease);
        let lease = self.runtime.block_on(settling)?;
        let InterruptedOp { run, at, asked } = &op;
        let _ = writeln!(
            std::io::stderr().lock(),
            "run {run} was interrupted in {at} ({}); what it did until then is recorded now",
            clean(asked)
        );
        self.lease = is_named.then_some(lease);
        Ok(())
    }

    /// Keeps others from driving a run, or says who does; where something is to be changed.
    fn hold(&mut self, run: &RunId) -> Result<()> {
        let is_held = self.lease.as_ref().is_some_and(|lease| lease.run() == run);
        if self.client.is_some() && !is_held {
            self.lease = Some(self.store.lease(run, &holder())?);
        }
        Ok(())
    }

    /// What is known of a run that is worked on, and which of its folders cannot be.
    fn history(&self, run: &RunId) -> Result<History> {
        let (_, gone) = run::folders(folders_of(&self.store, run)?.here);
        run::tell_gone(&gone);
        Ok(History::read(&self.store, &self.session, run)?)
    }
}

/// Why nothing is said about an undo while an interrupted op is not settled.
fn still_open(op: &InterruptedOp) -> Usage {
    let InterruptedOp { run, at, asked } = op;
    Usage(format!(
        "run {run} was interrupted in {at} ({asked}), and what that changed is not recorded yet; \
         without --dry-run it is recorded first, or continue the run: cairn run --resume {run}"
    ))
}

fn refuse_imported(run: &RunRow) -> Result<(), Usage> {
    match run.imported {
        true => Err(Usage(format!(
            "run {} was imported: what it changed, it changed elsewhere; nothing is undone here",
            run.id
        ))),
        false => Ok(()),
    }
}

/// What is done and how that is called.
struct Deed {
    done: &'static str,
    op: ClientOp,
    /// The run whose rows it is about.
    of: RunId,
    /// Whether that is the run anybody would think of.
    is_newest: bool,
    /// Sentences about what was passed over on the way to it.
    passed: Vec<String>,
    /// Commands that ran on the files themselves and that it would go past, which nobody asked for.
    past: Vec<UncoveredCommand>,
}

/// `cairn undo`.
pub fn undo(args: &cli::Undo) -> Result<ExitCode> {
    let (address, span) = span(args.what.as_deref())?;
    let store = place::store()?;
    let run = named::workable(&store, address.as_deref(), args.run.as_deref())?;
    let (mut place, chosen) = match (span, args.run.is_some()) {
        (Some(span), _) => {
            let place = Place::with(store, &run, &args.how)?;
            let span = if args.since { from(span)? } else { span };
            let history = place.history(&run.id)?;
            let plan = Plan::undo(&history, span, &place.world, args.how.force);
            (place, Chosen::new(run.id.clone(), plan))
        }
        (None, true) => {
            let mut place = Place::with(store, &run, &args.how)?;
            let history = place.history(&run.id)?;
            let of_run = |(lap, turn)| OpenTurn { run: run.id.clone(), lap, turn };
            let open: Vec<OpenTurn> = history.open_turns().into_iter().map(of_run).collect();
            let Some((mut chosen, history)) = newest(&mut place, &open, args.how.force)? else {
                let last = history.commands.into_iter().next_back();
                return Err(all_undone(&format!("run {}", run.id), &run.id, last).into());
            };
            chosen.past = history.gone_past(&chosen.plan.rows);
            (place, chosen)
        }
        (None, false) => {
            let mut place = Place::of(store, &run, &args.how)?;
            let open = open_turns(&place.store, &place.session)?;
            let Some((mut chosen, history)) = newest(&mut place, &open, args.how.force)? else {
                let History { mut commands, other_commands, .. } = place.history(&run.id)?;
                commands.extend(other_commands);
                let last = commands.into_iter().max_by_key(|command| command.order);
                return Err(all_undone("the work here", &run.id, last).into());
            };
            chosen.past = history.gone_past_by_any(&chosen.plan.rows);
            (place, chosen)
        }
    };
    let Chosen { of, plan, passed, past } = chosen;
    if plan.rows.is_empty() && plan.commands.is_empty() {
        return Err(Usage(format!(
            "no row there changed a file that is not undone already; `cairn log {of}` lists them"
        ))
        .into());
    }
    let op = plan.undo_op(&of, run::person());
    let deed = Deed { done: "undone", op, is_newest: of == run.id, of, passed, past };
    Ok(carry_out(&mut place, &plan, &args.how, deed)?.tell())
}

/// What `cairn undo` is about.
struct Chosen {
    of: RunId,
    plan: Plan,
    passed: Vec<String>,
    past: Vec<UncoveredCommand>,
}

impl Chosen {
    fn new(of: RunId, plan: Plan) -> Chosen {
        Chosen { of, plan, passed: Vec::new(), past: Vec::new() }
    }
}

fn all_undone(what: &str, run: &RunId, last: Option<UncoveredCommand>) -> Usage {
    let last =
        last.map(|command| format!("; {}", uncovered(Some(run), &command))).unwrap_or_default();
    Usage(format!("{what} changed no file that is not undone already{last}"))
}

/// What is said of a command that ran on the files themselves, to somebody who thinks of this run.
pub fn uncovered(run: Option<&RunId>, ran: &UncoveredCommand) -> String {
    let row = match Some(&ran.run) == run {
        true => ran.at.to_string(),
        false => Address::row(&ran.run, ran.at),
    };
    let what = &ran.command;
    format!("{row} ran on the files themselves; what it changed is not covered: {what}")
}

/// The first of these turns of which something is left to undo; turns of which nothing is are passed over.
fn newest(
    place: &mut Place,
    turns: &[OpenTurn],
    insist: bool,
) -> Result<Option<(Chosen, History)>> {
    let mut idle: Option<(Chosen, History)> = None;
    let mut passed = Vec::new();
    let mut histories: HashMap<&RunId, History> = HashMap::new();
    let is_one_run = turns.iter().all(|turn| turn.run == turns[0].run);
    for OpenTurn { run, lap, turn } in turns {
        place.hold(run)?;
        if !histories.contains_key(run) {
            histories.insert(run, place.history(run)?);
        }
        let Some(history) = histories.get(run) else { continue };
        let plan = Plan::undo(history, Span::Turn(*lap, *turn), &place.world, insist);
        if !plan.is_idle() {
            let chosen = Chosen { passed, ..Chosen::new(run.clone(), plan) };
            return Ok(Some((chosen, history.clone())));
        }
        let of_run = if is_one_run { String::new() } else { format!(" of run {run}") };
        passed
            .push(format!("  passed over: {lap}/{turn}{of_run}, of which nothing is left to undo"));
        idle.get_or_insert_with(|| (Chosen::new(run.clone(), plan), history.clone()));
    }
    Ok(idle.map(|(idle, history)| (Chosen { passed, ..idle }, history)))
}

/// `cairn redo`.
pub fn redo(args: &cli::Redo) -> Result<ExitCode> {
    let store = place::store()?;
    let run = named::workable(&store, None, args.run.as_deref())?;
    if args.run.is_some() {
        refuse_imported(&run)?;
    }
    let mut place = Place::of(store, &run, &args.how)?;
    // Of a run that is named, its own; otherwise the session's, whose newest run may be driven.
    let of = |undone: &Undone| args.run.is_none() || undone.run == run.id;
    let all = standing(&place.store, &place.session)?;
    let mut undos = all.into_iter().rev().filter(of).peekable();
    let mut passed = Vec::new();
    while let Some(undone) = undos.next() {
        place.hold(&undone.run)?;
        let history = place.history(&undone.run)?;
        let plan = Plan::redo(&undone, &history, &place.world, args.how.force);
        if plan.is_idle() && undos.peek().is_some() {
            let at = undone.at;
            passed.push(format!("  passed over: the undo {at}, of which nothing is left to redo"));
            continue;
        }
        let op = plan.redo_op(&undone, run::person());
        let of = undone.run.clone();
        let deed = Deed { done: "done again", op, of, is_newest: true, passed, past: Vec::new() };
        let mut report = carry_out(&mut place, &plan, &args.how, deed)?;
        let made = match report.row {
            Some(_) => forward(&place, &undone),
            None => Ok(None),
        };
        return told(&mut report, made);
    }
    Err(Usage("there is no undo here that could be taken back".to_owned()).into())
}

/// After a rewind the conversation goes forward with the files: a new run shares all of the old one.
fn forward(place: &Place, undone: &Undone) -> Result<Option<Made>> {
    let Some(rewound) = &undone.rewound else { return Ok(None) };
    // A rewind that a crash cut short made no run; its conversation never went back.
    let (Some(_), Some(old)) = (place.store.run(rewound)?, place.store.run(&undone.run)?) else {
        return Ok(None);
    };
    let run = new_run_id();
    fork::make(&place.store, &old, None, (run.clone(), old.name.clone()))?;
    let from = format!("the end of run {}", old.id);
    Ok(Some(Made { run, parent: old.id, session: old.session, from }))
}

/// `cairn rewind`.
pub fn rewind(args: &cli::Rewind) -> Result<ExitCode> {
    let (address, (lap, turn)) = fork::point(&args.turn)?;
    let store = place::store()?;
    let run = named::workable(&store, address.as_deref(), args.run.as_deref())?;
    let name = name::of_run(&store, args.name.as_deref())?;
    let mut place = Place::with(store, &run, &args.how)?;
    let shared = fork::check(&place.store, &run, (lap, turn))?;
    let history = place.history(&run.id)?;
    if let Some(undone) = history.undone_after(&place.store, (lap, turn), shared)? {
        let (undo, run) = (undone.at, &run.id);
        return Err(Usage(format!(
            "the files of {lap}/{turn} are not here: the undo {undo} took back what the run had done \
             by then. Nothing was changed; do that again first: cairn redo --run {run}"
        ))
        .into());
    }
    let plan = Plan::undo(&history, Span::After(lap, turn), &place.world, args.how.force);
    let into = new_run_id();
    let op = plan.rewind_op(&run.id, &into, run::person());
    let (of, passed, past) = (run.id.clone(), Vec::new(), Vec::new());
    let deed = Deed { done: "undone", op, of, is_newest: true, passed, past };
    let mut report = carry_out(&mut place, &plan, &args.how, deed)?;
    if report.blocked || args.how.dry_run {
        return Ok(report.tell());
    }
    let made = fork::make(&place.store, &run, Some((lap, turn)), (into.clone(), name));
    let made = made.map(|_| {
        let from = format!("{lap}/{turn}");
        Some(Made { run: into, parent: run.id, session: run.session, from })
    });
    told(&mut report, made)
}

/// Says what was done, also when the run that should go with it could not be made.
fn told(report: &mut Report<'_>, made: Result<Option<Made>>) -> Result<ExitCode> {
    let (made, failed) = match made {
        Ok(made) => (made, None),
        Err(why) => (None, Some(why)),
    };
    report.made = made;
    let code = report.tell();
    failed.map_or(Ok(code), Err)
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
        RowAddress::Run | RowAddress::Changes(_) => return Err(bad().into()),
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

/// Carries a plan out, unless something stands in its way.
fn carry_out<'a>(
    place: &mut Place,
    plan: &'a Plan,
    how: &'a Careful,
    deed: Deed,
) -> Result<Report<'a>> {
    let is_in_conflict = !plan.conflicts.is_empty() && !how.partial;
    let blocked = is_in_conflict || !deed.past.is_empty();
    let op = deed.op.clone();
    let mut report = Report { plan, how, deed, blocked, receipt: None, row: None, made: None };
    let client = place.client.as_mut().filter(|_| !blocked && !plan.changes.is_empty());
    if let Some(client) = client {
        let made = place.runtime.block_on(client.perform(op))?;
        made.changes?;
        report.receipt = made.receipt;
        report.row = Some(Address::row(&made.run, made.at));
    }
    Ok(report)
}
