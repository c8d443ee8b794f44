//! `cairn verify` and `cairn bundle`: what an auditor needs, here and elsewhere.

use crate::cli;
use crate::commands::doctor::in_words;
use crate::home::{named, place};
use crate::output::out::say;
use crate::output::progress::Progress;
use crate::run::Usage;
use anyhow::{Context, Result};
use cairn_runtime::now_ms;
use cairn_store::{
    ContentsReport, Found, MIN_BEGINNING, MissingRecord, Report, RunVerdict, Signer, Store,
    StoreError, Verdict, recorded_runs, verify_bytes,
};
use cairn_types::SessionId;
use serde_json::json;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::ExitCode;

/// Runs `cairn verify`.
pub fn verify(args: &cli::Verify) -> Result<ExitCode> {
    let anchor = args.anchor.as_deref().map(str::to_lowercase);
    if anchor.as_deref().is_some_and(|anchor| anchor.parse::<cairn_types::Hash>().is_err()) {
        return Err(Usage("an anchor is 64 hex digits, all of them".to_owned()).into());
    }
    let file = args.what.as_deref().map(Path::new).filter(|path| path.is_file());
    if args.contents && file.is_some() {
        let why = "--contents reads what a home keeps; a bundle's file has its contents in it";
        return Err(Usage(why.to_owned()).into());
    }
    let report = match file {
        Some(path) => match std::fs::read(path) {
            Ok(bytes) => bundle_file(&bytes, anchor.as_deref()),
            Err(e) => unreadable(&format!("{} cannot be read: {e}", path.display())),
        },
        None => match in_home(args, anchor.as_deref()) {
            // What cannot be judged is not refuted.
            Err(error) if crate::code_of(&error) != 2 => unreadable(&crate::sentence(&error)),
            judged => judged?,
        },
    };
    print(&report, args.json);
    Ok(ExitCode::from(match report.verdict {
        Verdict::Verified | Verdict::Unanchored => 0,
        Verdict::Refuted => 1,
        Verdict::Unverifiable => 7,
    }))
}

/// Judges a bundle by itself and, where there is a home that can be read, by what that holds.
fn bundle_file(bytes: &[u8], anchor: Option<&str>) -> Report {
    let report = match place::store_to_read() {
        Ok(store) => store.verify_bundle(bytes, anchor).map_err(anyhow::Error::from),
        Err(error) if matches!(error.downcast_ref(), Some(StoreError::NoHome { .. })) => {
            return verify_bytes(bytes, anchor);
        }
        Err(error) => Err(error),
    };
    report.unwrap_or_else(|error| {
        let report = verify_bytes(bytes, anchor);
        let not_compared = "It was not compared with this home, which cannot be read";
        Report {
            why: format!("{}. {not_compared}: {}", report.why, crate::sentence(&error)),
            ..report
        }
    })
}

/// Judges what is named where it lives. Runs that were recorded here and are gone are named also where
/// nothing is left of what was asked for.
fn in_home(args: &cli::Verify, anchor: Option<&str>) -> Result<Report> {
    let home = place::home()?;
    let store = match place::store_to_read() {
        Ok(store) => store,
        Err(error) => {
            let is_gone = matches!(error.downcast_ref(), Some(StoreError::NoHome { .. }));
            let gone = if is_gone { recorded_runs(&home)? } else { Vec::new() };
            return refuted_if_gone(gone).ok_or(error);
        }
    };
    let mut gone = store.missing_records()?;
    gone.retain(|record| record.is_whole_run);
    let Some(text) = args.what.as_deref() else {
        let session = match named::session(&store, None) {
            Ok(session) => session,
            Err(error) => return refuted_if_gone(gone).ok_or(error),
        };
        let report = store.verify_session(&session, anchor)?;
        // A session that is gone may have been of this project.
        let sessions: Vec<SessionId> = store.sessions()?.into_iter().map(|row| row.id).collect();
        gone.retain(|record| !sessions.contains(&record.session));
        return Ok(match report.verdict {
            Verdict::Verified | Verdict::Unanchored => match refuted_if_gone(gone) {
                Some(refuted) => refuted,
                None => with_contents(args, &store, &session, report)?,
            },
            Verdict::Refuted | Verdict::Unverifiable => report,
        });
    };
    match store.find(text) {
        Ok(Found::Run(run)) => {
            let report = store.verify_run(&run, anchor)?;
            with_contents(args, &store, &run.session, report)
        }
        Ok(Found::Session(session)) => {
            let report = store.verify_session(&session.id, anchor)?;
            with_contents(args, &store, &session.id, report)
        }
        Err(error @ StoreError::NoSuch { .. }) => {
            // A beginning that could be anybody's names nobody.
            let is_meant = |id: &str| text.len() >= MIN_BEGINNING && id.starts_with(text);
            gone.retain(|record| {
                is_meant(&record.run.to_string()) || is_meant(&record.session.to_string())
            });
            refuted_if_gone(gone).ok_or_else(|| error.into())
        }
        Err(error) => Err(error.into()),
    }
}

/// The report after every content of the session was read, if that is wanted.
fn with_contents(
    args: &cli::Verify,
    store: &Store,
    session: &SessionId,
    report: Report,
) -> Result<Report> {
    if !args.contents || report.verdict == Verdict::Unverifiable {
        return Ok(report);
    }
    let mut progress = Progress::new("contents read");
    let found = store.check_contents(Some(session), &mut |done, all| progress.tell(done, all))?;
    let ContentsReport { read, freed, unreadable } = found;
    let Some(first) = unreadable.first() else {
        let why =
            format!("{}. {read} contents are as they were kept, {freed} were freed", report.why);
        return Ok(Report { why, ..report });
    };
    let each: Vec<String> = unreadable.iter().map(in_words).collect();
    let (bad, verdict) = (Some(first.hash.to_string()), Verdict::Refuted);
    Ok(match report.verdict {
        Verdict::Refuted => {
            let why = format!("{}. Of its contents, {}", report.why, each.join("; "));
            Report { why, ..report }
        }
        _ => {
            Report { verdict, why: format!("of its contents, {}", each.join("; ")), bad, ..report }
        }
    })
}

/// The report on runs that are gone; `None` where none are.
fn refuted_if_gone(gone: Vec<MissingRecord>) -> Option<Report> {
    let first = gone.first()?.run.to_string();
    let names: Vec<&str> = gone.iter().map(|record| record.run.as_str()).collect();
    let recorded = match names.len() {
        1 => "1 run was".to_owned(),
        many => format!("{many} runs were"),
    };
    let why =
        format!("{recorded} recorded here and the database has none of it: {}", names.join(", "));
    let runs =
        gone.into_iter().map(|record| RunVerdict { run: record.run, missing: Some(record.why) });
    let runs = runs.collect();
    Some(Report { verdict: Verdict::Refuted, bad: Some(first), runs, ..unreadable(&why) })
}

fn unreadable(why: &str) -> Report {
    Report {
        verdict: Verdict::Unverifiable,
        why: why.to_owned(),
        receipts: 0,
        checkpoints: 0,
        anchor: None,
        bad: None,
        signers: Vec::new(),
        runs: Vec::new(),
    }
}

fn print(report: &Report, as_json: bool) {
    let word = match report.verdict {
        Verdict::Verified => "VERIFIED",
        Verdict::Unanchored => "UNANCHORED",
        Verdict::Refuted => "REFUTED",
        Verdict::Unverifiable => "UNVERIFIABLE",
    };
    if as_json {
        let Report { why, receipts, checkpoints, anchor, bad, .. } = report;
        let signers = report.signers.iter().map(|signer| json!({"public_key": signer.public_key, "receipts": signer.receipts, "checkpoints": signer.checkpoints, "own": signer.is_own}));
        let signers: Vec<_> = signers.collect();
        let runs: Vec<_> = report.runs.iter().map(|run| json!({"run": run.run, "verdict": run_word(report, run), "missing": run.missing})).collect();
        say!(
            "{}",
            json!({"verdict": word, "why": why, "receipts": receipts, "checkpoints": checkpoints, "anchor": anchor, "bad": bad, "signers": signers, "runs": runs})
        );
        return;
    }
    say!("{word}: {}", cairn_text::shown::clean(&report.why));
    if let Some(bad) = &report.bad {
        say!("first bad: {}", cairn_text::shown::clean(bad));
    }
    say!("{} receipts, {} checkpoints", report.receipts, report.checkpoints);
    for Signer { public_key, receipts, checkpoints, is_own } in &report.signers {
        let whose = match is_own {
            Some(true) => ", the key of this home",
            Some(false) => ", the key of another home",
            None => "",
        };
        say!("{receipts} receipts, {checkpoints} checkpoints signed with {public_key}{whose}");
    }
    if report.runs.iter().any(|run| run.missing.is_some()) {
        for run in &report.runs {
            match &run.missing {
                Some(missing) => say!("{}: {missing}", run_word(report, run)),
                None => say!("{}: run {}", run_word(report, run), run.run),
            }
        }
        say!(
            "go on in a fork of what is left of a run: cairn fork RUN; or put the newer database back"
        );
    }
    if let Some(anchor) = &report.anchor {
        say!("anchor {anchor}");
    }
}

/// The verdict on one run of a session.
fn run_word(report: &Report, run: &RunVerdict) -> &'static str {
    let is_only_truncated = report.runs.iter().any(|run| run.missing.is_some());
    match (&run.missing, report.verdict) {
        (Some(_), _) => "REFUTED",
        (None, Verdict::Refuted) if !is_only_truncated => "REFUTED",
        (None, _) => "IN ORDER",
    }
}

/// Runs `cairn bundle`.
pub fn bundle(args: &cli::Bundle) -> Result<ExitCode> {
    if !args.force && args.output.symlink_metadata().is_ok() {
        let output = args.output.display();
        let fix = "name another file, or add --force to write over it";
        return Err(Usage(format!("{output} exists already; {fix}")).into());
    }
    let store = place::store()?;
    let session = named::session(&store, args.session.as_deref())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let anchor = runtime.block_on(store.checkpoint(&session, now_ms()))?;
    let failed = || format!("{} cannot be written", args.output.display());
    // Beside its place, then renamed: a bundle is whole or absent.
    let mut name = args
        .output
        .file_name()
        .ok_or_else(|| Usage("the output is not a file's name".to_owned()))?
        .to_owned();
    name.push(".part");
    let part = args.output.with_file_name(name);
    let _ = std::fs::remove_file(&part);
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&part);
    let mut file = std::io::BufWriter::new(file.with_context(failed)?);
    let written = store
        .bundle(&session, &mut file)
        .map_err(anyhow::Error::from)
        .and_then(|()| file.flush().and_then(|()| file.get_ref().sync_all()).with_context(failed));
    if let Err(error) = written {
        let _ = std::fs::remove_file(&part);
        return Err(error);
    }
    if let Err(why) = std::fs::rename(&part, &args.output) {
        let _ = std::fs::remove_file(&part);
        return Err(why).with_context(failed);
    }
    say!("{} holds session {session}\nanchor {anchor}", args.output.display());
    say!("check it anywhere with: cairn verify {} --anchor {anchor}", args.output.display());
    Ok(ExitCode::SUCCESS)
}
