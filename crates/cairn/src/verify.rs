//! `cairn verify` and `cairn bundle`: what an auditor needs, here and elsewhere.

use crate::out::say;
use crate::run::Usage;
use crate::{cli, named, place};
use anyhow::{Context, Result};
use cairn_runtime::now_ms;
use cairn_store::{Report, Verdict, verify_bytes};
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
    let report = match args.what.as_deref().map(Path::new).filter(|path| path.is_file()) {
        Some(path) => match std::fs::read(path) {
            Ok(bytes) => verify_bytes(&bytes, anchor.as_deref()),
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

fn in_home(args: &cli::Verify, anchor: Option<&str>) -> Result<Report> {
    let store = place::store_to_read()?;
    let session = named::session(&store, args.what.as_deref())?;
    Ok(store.verify_session(&session, anchor)?)
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
        let signers = report.signers.iter().map(|signer| json!({"public_key": signer.public_key, "receipts": signer.receipts, "checkpoints": signer.checkpoints}));
        let signers: Vec<_> = signers.collect();
        say!(
            "{}",
            json!({"verdict": word, "why": why, "receipts": receipts, "checkpoints": checkpoints, "anchor": anchor, "bad": bad, "signers": signers})
        );
        return;
    }
    say!("{word}: {}", cairn_text::shown::clean(&report.why));
    if let Some(bad) = &report.bad {
        say!("first bad: {}", cairn_text::shown::clean(bad));
    }
    say!("{} receipts, {} checkpoints", report.receipts, report.checkpoints);
    for signer in report.signers.iter().filter(|_| report.signers.len() > 1) {
        let (receipts, checkpoints) = (signer.receipts, signer.checkpoints);
        say!("{receipts} receipts, {checkpoints} checkpoints signed with {}", signer.public_key);
    }
    if let Some(anchor) = &report.anchor {
        say!("anchor {anchor}");
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
