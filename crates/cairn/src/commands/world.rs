//! `cairn world`: which schemes there are, what entries they have, and one of them as it stands. Only
//! looks, and leaves no row.

use crate::cli;
use crate::commands::op;
use crate::home::place;
use crate::output::out;
use crate::run::{Usage, block_on};
use anyhow::Result;
use cairn_runtime::{schemes, session_here};
use cairn_text::shown::clean;
use cairn_types::{Action, Manifest, Read, Status, Writer, is_feed, scheme_of};
use cairn_world::{Listed, World};
use serde_json::{Value, json};
use std::process::ExitCode;
use tokio_util::sync::CancellationToken;

/// Lists or shows.
pub fn world(args: &cli::World) -> Result<ExitCode> {
    let root = place::root(args.cwd.as_deref())?;
    let store = place::store()?;
    let Some(session) = session_here(&store, &root)? else {
        let text = "there is no session here yet; `cairn run` or `cairn op` makes one".to_owned();
        return Err(Usage(text).into());
    };
    let (files, _) = op::world(&store, &root)?;
    let world = files.with_schemes(schemes::from_outside(&store, &session, &files));
    match args.target.as_deref() {
        None => list_schemes(&world, args.json),
        Some(target) if scheme_of(target).is_none() => {
            let text = format!("{target:?} is no address, such as known:///");
            return Err(Usage(text).into());
        }
        Some(target) if matches!(scheme_of(target), Some("http" | "https")) => {
            let text = format!("nothing of {target} is kept here; `cairn op read` reads it");
            return Err(Usage(text).into());
        }
        Some(target) if scheme_of(target).is_some_and(is_feed) => {
            let text = format!("nothing of {target} is kept here; an agent's read opens it");
            return Err(Usage(text).into());
        }
        Some(target) => return show(&world, target, args.json),
    }
    Ok(ExitCode::SUCCESS)
}

fn list_schemes(world: &World, is_json: bool) {
    let counted: Vec<(&Manifest, usize)> = world
        .manifests()
        .map(|manifest| {
            let all = world.listed(&format!("{}:///", manifest.name));
            (manifest, all.map_or(0, |all| all.len()))
        })
        .collect();
    if is_json {
        let rows: Vec<Value> = counted
            .iter()
            .map(|(manifest, entries)| json!({ "scheme": manifest, "entries": entries }))
            .collect();
        out::line(json!(rows));
        return;
    }
    for (manifest, entries) in counted {
        let counted =
            if entries == 1 { "1 entry".to_owned() } else { format!("{entries} entries") };
        out::line(format!("{:<9} {counted:<12} {}", manifest.name, writers(manifest)));
    }
}

fn writers(manifest: &Manifest) -> String {
    let word = |writer: &Writer| match writer {
        Writer::Model => "agents",
        Writer::Client => "you",
        Writer::Plugin => "plugins",
        Writer::System => "cairn",
    };
    match manifest.writers.as_slice() {
        [] => "only read".to_owned(),
        writers => {
            let words: Vec<&str> = writers.iter().map(word).collect();
            format!("written by {}", words.join(", "))
        }
    }
}

fn show(world: &World, target: &str, is_json: bool) -> Result<ExitCode> {
    if is_json
        && let Ok(listed) = world.listed(target)
        && (target.ends_with('/') || listed.len() != 1)
    {
        out::line(json!(listed.iter().map(row).collect::<Vec<_>>()));
        return Ok(ExitCode::SUCCESS);
    }
    let read = Action::Read(Read { path: target.to_owned(), first: 1, ..Read::default() });
    let cancel = CancellationToken::new();
    let told = block_on(world.look(&read, "", &cancel))?;
    match (is_json, told.status.is_success()) {
        (true, _) => out::line(json!({ "status": told.status.0, "text": told.text })),
        (false, true) if told.status == Status::NOTHING_FOUND => out::line("no entries"),
        (false, true) => out::line(clean(&told.text)),
        (false, false) => return Err(Usage(told.text).into()),
    }
    Ok(if told.status.is_success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn row(listed: &Listed) -> Value {
    json!({ "address": listed.uri.to_string(), "bytes": listed.bytes, "tags": listed.tags })
}
