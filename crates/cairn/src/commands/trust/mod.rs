//! `cairn trust`: shows what of a project would run, asks, and remembers the answer. What belongs to
//! it and its hash is read elsewhere; nothing here runs anything.

mod book;

pub use book::Book;

use crate::cli;
use crate::commands::log;
use crate::home::place;
use crate::output::out::say;
use crate::run::Usage;
use anyhow::Result;
use cairn_hooks::trust::{Executable, read};
use cairn_text::shown::clean;
use cairn_world::Workspace;
use serde_json::{Value, json};
use std::io::{BufRead, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

/// Runs the command.
pub fn trust(args: &cli::Trust) -> Result<ExitCode> {
    let mut book = Book::open(&place::home()?)?;
    if args.list {
        return Ok(list(&book, args.json));
    }
    let root = place::root(None)?;
    if args.revoke {
        return revoke(&mut book, &root, args.json);
    }
    let Some(found) = read(&Workspace::open(&root)?)? else {
        let nothing = "nothing of this project would run: it has no .cairn/hooks.toml";
        match args.json {
            true => say!("{}", json!({"root": root, "hash": null, "trusted": false})),
            false => say!("{nothing}"),
        }
        return Ok(ExitCode::SUCCESS);
    };
    let is_trusted = book.trusts(&root, &found.hash);
    if args.show {
        show(&found, &root, is_trusted, args.json);
        return Ok(ExitCode::SUCCESS);
    }
    if !args.yes && !is_trusted && !is_meant(&found, &root, args)? {
        let _ = writeln!(std::io::stderr().lock(), "it is not trusted; nothing of it runs");
        return Ok(ExitCode::from(3));
    }
    book.trust(&root, &found.hash, cairn_runtime::now_ms())?;
    match args.json {
        true => show(&found, &root, true, true),
        false => say!("trusted as it is now: {} ({})", clean(&root.to_string_lossy()), found.hash),
    }
    Ok(ExitCode::SUCCESS)
}

fn list(book: &Book, json: bool) -> ExitCode {
    for (root, trusted) in book.all() {
        match json {
            true => say!("{}", json!({"root": root, "hash": trusted.hash, "at": trusted.at})),
            false => say!("{}  {}  {}", log::time(trusted.at), trusted.hash, clean(root)),
        }
    }
    if !json && book.all().next().is_none() {
        say!("no project is trusted");
    }
    ExitCode::SUCCESS
}

fn revoke(book: &mut Book, root: &Path, json: bool) -> Result<ExitCode> {
    let was = book.revoke(root)?;
    let shown = clean(&root.to_string_lossy());
    match (json, was) {
        (true, was) => say!("{}", json!({"root": root, "revoked": was})),
        (false, true) => say!("{shown} is no longer trusted"),
        (false, false) => say!("{shown} was not trusted"),
    }
    Ok(ExitCode::SUCCESS)
}

fn as_json(found: &Executable, root: &Path, is_trusted: bool) -> Value {
    let files = found.files.iter().map(|(path, bytes)| json!({"path": path, "bytes": bytes}));
    let hooks =
        found.hooks.iter().map(|hook| json!({"event": hook.event, "command": hook.command}));
    json!({
        "root": root,
        "hash": found.hash,
        "trusted": is_trusted,
        "files": files.collect::<Vec<_>>(),
        "hooks": hooks.collect::<Vec<_>>(),
    })
}

fn show(found: &Executable, root: &Path, is_trusted: bool, json: bool) {
    if json {
        say!("{}", as_json(found, root, is_trusted));
        return;
    }
    say!("{}", spoken(found, root).trim_end());
    say!(
        "{}",
        if is_trusted { "It is trusted." } else { "It is not trusted: nothing of it runs." }
    );
}

/// What would run, for a person.
fn spoken(found: &Executable, root: &Path) -> String {
    let mut text = format!("In {} these commands would run:\n", clean(&root.to_string_lossy()));
    for hook in &found.hooks {
        let command = clean(&hook.command).replace('\n', "\n    ");
        text.push_str(&format!("  at {}: {command}\n", hook.event));
    }
    text.push_str("They consist of these files; what those run in turn is not looked at:\n");
    for (path, bytes) in &found.files {
        text.push_str(&format!("  {}  {bytes} bytes\n", clean(path)));
    }
    text.push_str(&format!("hash {}\n", found.hash));
    text
}

/// Asks whoever sits at the terminal.
fn is_meant(found: &Executable, root: &Path, args: &cli::Trust) -> Result<bool> {
    if args.json || !std::io::stdin().is_terminal() {
        let fix = "nobody can be asked here; look at it with --show, then add --yes";
        return Err(Usage(format!("{}{fix}", spoken(found, root))).into());
    }
    let mut err = std::io::stderr().lock();
    let question = format!("{}Let them run with your rights? y yes, n no: ", spoken(found, root));
    let _ = write!(err, "{question}").and_then(|()| err.flush());
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "yes"))
}
