//! `cairn sessions export` and `import`: a session as one file, written for its owner alone and
//! believed by nobody.

use crate::cli;
use crate::home::{named, place};
use crate::output::out::say;
use crate::run::Usage;
use anyhow::{Context, Result};
use cairn_runtime::now_ms;
use cairn_store::{Import, Imported};
use cairn_text::shown::clean;
use serde_json::json;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::ExitCode;

/// Runs `cairn sessions export`.
pub fn export(args: &cli::Export) -> Result<ExitCode> {
    let output = args.output.display();
    if args.output.symlink_metadata().is_ok() {
        return Err(Usage(format!("{output} exists already; name another file")).into());
    }
    let store = place::store()?;
    let session = named::session(&store, args.session.as_deref())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let anchor = runtime.block_on(store.checkpoint(&session, now_ms()))?;
    let failed = || format!("{output} cannot be written");
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&args.output);
    let mut file = BufWriter::new(file.with_context(failed)?);
    let written = store.export(&session, &mut file).map_err(anyhow::Error::from);
    let written = written.and_then(|exported| {
        file.flush().and_then(|()| file.get_ref().sync_all()).with_context(failed)?;
        Ok(exported)
    });
    let exported = written.inspect_err(|_| {
        // Half a file is no export.
        let _ = std::fs::remove_file(&args.output);
    })?;
    if args.json {
        say!(
            "{}",
            json!({"session": session, "file": args.output, "anchor": anchor, "runs": exported.runs, "contents": exported.contents, "missing": exported.missing})
        );
        return Ok(ExitCode::SUCCESS);
    }
    say!(
        "{output} holds session {session}: {} runs, {} contents",
        exported.runs,
        exported.contents
    );
    if exported.missing > 0 {
        let missing = exported.missing;
        say!(
            "{missing} contents were freed earlier and are not in it; a run that needs them cannot go on"
        );
    }
    say!("anchor {anchor}\ntake it in elsewhere with: cairn sessions import {output} --root DIR");
    Ok(ExitCode::SUCCESS)
}

/// Runs `cairn sessions import`.
pub fn import(args: &cli::Import) -> Result<ExitCode> {
    let shown = args.file.display();
    if !args.file.is_file() {
        return Err(Usage(format!("{shown} is not a file")).into());
    }
    let mut file = File::open(&args.file).with_context(|| format!("{shown} cannot be read"))?;
    let root = root(args, &mut file)?;
    let store = place::store()?;
    let imported =
        store.import(&mut Import { file: &mut file, root: root.clone(), at: now_ms() })?;
    let Imported { session, runs, contents, report, own } = imported;
    if args.json {
        let key = report.signers.last().map(|signer| &signer.public_key);
        say!(
            "{}",
            json!({"session": session, "root": root, "runs": runs, "contents": contents, "anchor": report.anchor, "signed_here": own, "public_key": key})
        );
        return Ok(ExitCode::SUCCESS);
    }
    say!("session {session} is here, over {}: {runs} runs, {contents} contents", clean(&root));
    match (own, report.signers.last()) {
        (false, Some(signer)) => {
            say!("it was signed by another home, with the key {}", signer.public_key);
        }
        _ => say!("it was signed by this home"),
    }
    if let Some(anchor) = &report.anchor {
        say!("compare its anchor with one kept elsewhere: {anchor}");
    }
    say!("nothing of it runs by itself; go on with: cairn run --resume {session} \"…\"");
    Ok(ExitCode::SUCCESS)
}

/// The folder a person chose, or the recorded one if it is there.
fn root(args: &cli::Import, file: &mut File) -> Result<String> {
    let (folder, fix) = match &args.root {
        Some(root) => (root.clone(), "name a folder that is there with --root"),
        None => {
            let recorded = Import::recorded_root(file)?;
            let fix = "where it worked before; name the project's folder with --root";
            if !Path::new(&recorded).is_absolute() {
                return Err(Usage(format!("{recorded:?} is no folder, {fix}")).into());
            }
            (recorded.into(), fix)
        }
    };
    let shown = folder.display().to_string();
    let found = folder.canonicalize().ok().filter(|folder| folder.is_dir());
    let found = found.and_then(|folder| folder.to_str().map(str::to_owned));
    Ok(found.ok_or_else(|| Usage(format!("{shown} is no folder here, {fix}")))?)
}
