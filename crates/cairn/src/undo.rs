//! `cairn undo`, `redo` and `rewind`: what ops changed is taken back, as ops of the session's client
//! run. Files that somebody else changed are named and left alone.

use crate::cli::Careful;
use crate::out::say;
use crate::run::Usage;
use crate::{cli, fork, named, place, run};
use anyhow::Result;
use cairn_runtime::undo::{History, Plan, Span};
use cairn_runtime::{Client, ClientOp, folders_of};
use cairn_store::{RunRow, Store};
use cairn_text::shown::clean;
use cairn_types::{Address, Change, ChangeKind, RowAddress};
use cairn_world::{Settings, Workspace, World};
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// Where an undo works.
struct Place {
    store: Store,
    run: RunRow,
    history: History,
    world: Arc<World>,
    /// Held unless nothing is to be changed.
    client: Option<Client>,
    runtime: tokio::runtime::Runtime,
}

impl Place {
    /// What an earlier undo was cut off from is finished first: a plan is made for what is there.
    fn of(run: Option<&str>, how: &Careful) -> Result<Place> {
        let store = place::store()?;
        let run = named::run(&store, run)?;
        if run.imported {
            let why = "was imported: what it changed, it changed elsewhere";
            return Err(Usage(format!("run {} {why}; nothing is undone here", run.id)).into());
        }
        let root = named::session_row(&store, &run.session)?.root;
        let workspace = Workspace::open(Path::new(&root))?;
        // No command is run.
        let settings = Settings::new("/bin/sh".into(), Vec::new());
        let folders = run::folders(folders_of(&store.facts(&run.id, 0)?));
        let world = Arc::new(World::with_folders(workspace, &folders, settings)?);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let client = match how.dry_run {
            true => None,
            false => {
                let taking = Client::take(store.clone(), world.clone(), &run.session);
                Some(runtime.block_on(taking)?)
            }
        };
        let history = History::read(&store, &run.session, &run.id)?;
        Ok(Place { store, run, history, world, client, runtime })
    }
}

/// `cairn undo`.
pub fn undo(args: &cli::Undo) -> Result<ExitCode> {
    let (named_run, span) = span(args.what.as_deref())?;
    let mut place = Place::of(named_run.as_deref().or(args.run.as_deref()), &args.how)?;
    let span = match (span, args.since) {
        (Some(span), false) => span,
        (Some(span), true) => from(span)?,
        (None, _) => place.history.newest_turn().ok_or_else(|| {
            let run = &place.run.id;
            Usage(format!("run {run} changed no file that is not undone already"))
        })?,
    };
    let plan = Plan::undo(&place.history, span, &place.world, args.how.force);
    if plan.rows.is_empty() && plan.commands.is_empty() {
        return Err(Usage(format!(
            "no row there changed a file that is not undone already; `cairn log {}` lists them",
            place.run.id
        ))
        .into());
    }
    let op = plan.undo_op(&place.run.id, run::person());
    Ok(carry_out(&mut place, &plan, &args.how, ("undone", op))?.0)
}

/// `cairn redo`.
pub fn redo(args: &cli::Redo) -> Result<ExitCode> {
    let mut place = Place::of(args.run.as_deref(), &args.how)?;
    let undone = place
        .history
        .undone
        .last()
        .cloned()
        .ok_or_else(|| Usage("there is no undo here that could be taken back".to_owned()))?;
    let plan = Plan::redo(&undone, &place.history, &place.world, args.how.force);
    let op = plan.redo_op(&undone, run::person());
    Ok(carry_out(&mut place, &plan, &args.how, ("done again", op))?.0)
}

/// `cairn rewind`.
pub fn rewind(args: &cli::Rewind) -> Result<ExitCode> {
    let (lap, turn) = fork::point(&args.turn)?;
    let mut place = Place::of(args.run.as_deref(), &args.how)?;
    fork::check(&place.store, &place.run, (lap, turn))?;
    let plan = Plan::undo(&place.history, Span::After(lap, turn), &place.world, args.how.force);
    let op = plan.undo_op(&place.run.id, run::person());
    let (code, done) = carry_out(&mut place, &plan, &args.how, ("undone", op))?;
    if !done || args.how.dry_run {
        return Ok(code);
    }
    let (id, _) = fork::make(&place.store, &place.run, Some((lap, turn)), args.name.clone())?;
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

/// Shows a plan and carries it out, unless something stands in its way. Whether it was done.
fn carry_out(
    place: &mut Place,
    plan: &Plan,
    how: &Careful,
    (done, op): (&str, ClientOp),
) -> Result<(ExitCode, bool)> {
    let blocked = !plan.conflicts.is_empty() && !how.partial;
    let mut report = Report { plan, how, done, blocked, receipt: None, row: None };
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
    done: &'a str,
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
            "done": !self.blocked && !self.how.dry_run,
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
        let mut lines = Vec::new();
        let shows_changes = !self.blocked || self.how.dry_run;
        for change in self.plan.changes.iter().filter(|_| shows_changes) {
            lines.push(format!("  {} {}", verb(change), change.path));
        }
        for conflict in &self.plan.conflicts {
            let force = if conflict.may_insist { "; --force overwrites it" } else { "" };
            lines.push(format!("  left alone: {} was {}{force}", conflict.path, conflict.why));
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
        if self.blocked {
            let files = if conflicts == 1 { "1 path is" } else { "some paths are" };
            return format!(
                "nothing was {}: {files} not as it was left; --partial takes back the rest",
                self.done
            );
        }
        match (self.how.dry_run, changes) {
            (_, 0) => "nothing to do: no path differs from what it was".to_owned(),
            (true, _) => format!("{paths} would be {}", self.done),
            (false, _) => {
                format!("{paths} {}; row {}", self.done, self.row.as_deref().unwrap_or_default())
            }
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
