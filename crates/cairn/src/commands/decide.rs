//! `cairn decide`: a word on a question of a run that another process drives, said at its door. The
//! first word wins.

use crate::cli::{self, Far, PlanMode, Say};
use crate::commands::log;
use crate::home::{named, place};
use crate::output::out::say;
use crate::output::to_wire;
use crate::run::interaction;
use crate::run::{Usage, door, person};
use anyhow::{Context, Result};
use cairn_engine::{DecideError, Engine, LONGEST_TEXT};
use cairn_protocol as wire;
use cairn_store::{RunRow, Store};
use cairn_text::shown::clean;
use cairn_types::{By, Proposal, ProposalId, ProposalKind, RunId};
use door::{Letter, Reply};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::time::Duration;

/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(15);

/// An open question.
struct Open {
    run: RunRow,
    proposal: Proposal,
    shown: String,
}

/// Runs the command.
pub fn decide(args: &cli::Decide) -> Result<ExitCode> {
    let store = place::store_to_read()?;
    let open = open_questions(&store, args.run.as_deref())?;
    let Some(wanted) = &args.proposal else { return list(&open, args.json) };
    let matching: Vec<&Open> = open.iter().filter(|one| one.proposal.id.0 == *wanted).collect();
    let one = match matching[..] {
        [one] => one,
        [] => return not_open(&store, args, wanted),
        _ => {
            let runs: Vec<String> = matching.iter().map(|one| one.run.id.to_string()).collect();
            let runs = runs.join(", ");
            return Err(
                Usage(format!("{wanted} is open in several runs ({runs}); add --run")).into()
            );
        }
    };
    match args.word {
        None => list(&[one], args.json),
        Some(word) => {
            match tell(&one.run.id, letter(args, word, one)?) {
                Ok(reply) => answered(args, word, one, &reply),
                // The run may have been decided on, and ended, meanwhile.
                Err(gone) => match decided_before(&store, &one.run, wanted)? {
                    Some(reply) => refused(args, &reply),
                    None => Err(gone),
                },
            }
        }
    }
}

/// The question was decided before, or never put.
fn not_open(store: &Store, args: &cli::Decide, wanted: &str) -> Result<ExitCode> {
    let run = named::run(store, args.run.as_deref())?;
    match decided_before(store, &run, wanted)? {
        Some(reply) => refused(args, &reply),
        None => {
            let list = "`cairn decide` lists them";
            Err(Usage(format!("{wanted} is no open question; {list}")).into())
        }
    }
}

/// Who decided on a question, and when, by the run's log.
fn decided_before(store: &Store, run: &RunRow, wanted: &str) -> Result<Option<Reply>> {
    for fact in store.facts(&run.id, 0)? {
        if let cairn_types::Body::Decision(decision) = &fact.body
            && decision.proposal.as_ref().is_some_and(|id| id.0 == wanted)
        {
            let proposal = ProposalId(wanted.to_owned());
            let (verdict, by, at) = (decision.verdict, decision.by.clone(), fact.at);
            return Ok(Some(DecideError::Decided { proposal, verdict, by, at }.into()));
        }
    }
    Ok(None)
}

/// The texts that were given for files. Which files a proposal writes is not looked at here.
fn texts(given: &[String]) -> Result<Vec<wire::Text>> {
    let mut texts = Vec::new();
    let mut stdin = false;
    for one in given {
        let (path, file) = one.split_once('=').ok_or_else(|| {
            Usage(format!("--text {one}: write PATH=FILE, the file of the question and yours"))
        })?;
        let mut bytes = Vec::new();
        match file {
            "-" if std::mem::replace(&mut stdin, true) => {
                return Err(Usage("only one --text can be read from stdin".to_owned()).into());
            }
            "-" => std::io::stdin().lock().take(LONGEST_TEXT + 1).read_to_end(&mut bytes),
            _ => File::open(file)
                .and_then(|file| file.take(LONGEST_TEXT + 1).read_to_end(&mut bytes)),
        }
        .map_err(|e| Usage(format!("--text {one}: {file} cannot be read: {e}")))?;
        if bytes.len() as u64 > LONGEST_TEXT {
            return Err(Usage(format!("--text {one}: more than {LONGEST_TEXT} bytes")).into());
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| Usage(format!("--text {one}: {file} is not UTF-8 text")))?;
        texts.push(wire::Text { path: path.to_owned(), text });
    }
    Ok(texts)
}

fn letter(args: &cli::Decide, word: Say, one: &Open) -> Result<Letter> {
    let verdict = match word {
        Say::Allow => wire::Verdict::Allow,
        Say::Refuse => wire::Verdict::Refuse,
        Say::Happened => wire::Verdict::Happened,
        Say::Skip => wire::Verdict::Skip,
        Say::Answer => wire::Verdict::Answer,
    };
    let remember = match args.remember {
        None => wire::Remember::Once,
        Some(Far::Run) => wire::Remember::Run,
        Some(Far::Session) => wire::Remember::Session,
        Some(Far::Project) => wire::Remember::Project,
        Some(Far::Always) => wire::Remember::Always,
    };
    let by = match person() {
        By::Person(name) => name,
        other => other.to_string(),
    };
    let command = wire::Command::Decide {
        proposal: one.proposal.id.to_string(),
        verdict,
        shown_hash: Some(one.proposal.shown_hash.to_string()),
        items: args.items.clone(),
        texts: texts(&args.texts)?,
        words: args.words.as_ref().map(|words| match word {
            Say::Answer => interaction::chosen(words, &options(&one.proposal)),
            _ => words.clone(),
        }),
        remember,
        rule: args.rule.clone().or_else(|| args.remember.and(one.proposal.offers.first().cloned())),
        until: None,
        mode: args.mode.map(|mode| match mode {
            PlanMode::Plan => wire::Mode::Plan,
            PlanMode::Act => wire::Mode::Act,
            PlanMode::AcceptEdits => wire::Mode::AcceptEdits,
        }),
    };
    Ok(Letter { by, command })
}

/// Says it at the run's door.
fn tell(run: &RunId, letter: Letter) -> Result<Reply> {
    let gone = || Usage(format!("nobody drives run {run}; go on with cairn run --resume {run}"));
    let folder = File::open(door::folder(&place::home()?)).map_err(|_| gone())?;
    let mut stream =
        UnixStream::connect(door::address(&folder, run.as_str())).map_err(|_| gone())?;
    stream.set_read_timeout(Some(PATIENCE))?;
    writeln!(stream, "{}", serde_json::to_string(&letter)?)?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).context("the run did not answer")?;
    serde_json::from_str(&line).context("the run did not answer")
}

fn answered(args: &cli::Decide, word: Say, one: &Open, reply: &Reply) -> Result<ExitCode> {
    if reply.code != 200 {
        return refused(args, reply);
    }
    let (id, run) = (&one.proposal.id, &one.run.id);
    if args.json {
        say!("{}", json!({"proposal": id, "run": run, "code": 200, "verdict": word.to_string()}));
    } else {
        say!("{id} of run {run}: {word}, {}", clean(one.proposal.line()));
    }
    Ok(ExitCode::SUCCESS)
}

fn refused(args: &cli::Decide, reply: &Reply) -> Result<ExitCode> {
    if args.json {
        say!(
            "{}",
            json!({"proposal": args.proposal, "code": reply.code, "why": reply.why, "at": reply.at})
        );
    } else {
        let when = reply.at.map(|at| format!(", {}", log::time(at))).unwrap_or_default();
        let _ = writeln!(std::io::stderr().lock(), "cairn: {}{when}", clean(&reply.why));
    }
    Ok(ExitCode::FAILURE)
}

/// The answers to choose from, where the agent asks.
fn options(proposal: &Proposal) -> Vec<String> {
    match proposal.kind {
        ProposalKind::Question => proposal.items.iter().map(|item| item.label.clone()).collect(),
        _ => Vec::new(),
    }
}

/// The open questions of runs that are driven: of one, or of all of the home.
fn open_questions(store: &Store, run: Option<&str>) -> Result<Vec<Open>> {
    let runs = match run {
        Some(text) => vec![named::run(store, Some(text))?],
        None => driven(store)?,
    };
    let mut open = Vec::new();
    for run in runs {
        let engine = Engine::fold(&store.facts(&run.id, 0)?);
        if let Some(proposal) = engine.open_question() {
            let shown = store.content(&proposal.shown.hash)?;
            let shown = String::from_utf8_lossy(&shown).into_owned();
            open.push(Open { run, proposal: proposal.clone(), shown });
        }
    }
    Ok(open)
}

/// The runs that have a door.
fn driven(store: &Store) -> Result<Vec<RunRow>> {
    let Ok(doors) = std::fs::read_dir(door::folder(&place::home()?)) else { return Ok(Vec::new()) };
    let names = doors.filter_map(|door| door.ok()?.file_name().into_string().ok());
    let ids = names.filter_map(|name| name.parse::<RunId>().ok());
    let mut runs = Vec::new();
    for id in ids.filter(|id| store.driven_by(id).is_some()) {
        runs.extend(store.run(&id)?);
    }
    Ok(runs)
}

fn list(open: &[impl std::borrow::Borrow<Open>], as_json: bool) -> Result<ExitCode> {
    for one in open.iter().map(std::borrow::Borrow::borrow) {
        let Open { run, proposal, shown } = one;
        if as_json {
            say!("{}", question(run, proposal, shown));
            continue;
        }
        say!("{} of run {}: {}", proposal.id, run.id, clean(proposal.line()));
        for line in shown.lines() {
            say!("    {}", clean(line));
        }
        let is_choice = proposal.by_item && proposal.items.len() > 1;
        for item in proposal.items.iter().filter(|_| is_choice) {
            say!("    item {}  {}", item.item, clean(&item.label));
        }
        say!("    decide with: {}", interaction::how(proposal));
        if is_choice {
            say!("    or take some: cairn decide {} allow --items 1", proposal.id);
        }
    }
    if open.is_empty() && !as_json {
        say!("no question is open in a run that is driven now");
    }
    Ok(ExitCode::SUCCESS)
}

fn question(run: &RunRow, proposal: &Proposal, shown: &str) -> Value {
    json!({
        "proposal": proposal.id,
        "run": run.id,
        "session": run.session,
        "op_at": proposal.at,
        "kind": proposal.kind,
        "label": proposal.line(),
        "items": proposal.items.iter().map(to_wire::item).collect::<Vec<_>>(),
        "by_item": proposal.by_item,
        "shown": shown,
        "shown_hash": proposal.shown_hash,
        "offers": proposal.offers,
        "options": options(proposal),
    })
}
