//! `cairn op`: one op of a person or script, as a row of the session's client run.

use crate::cli;
use crate::cli::{Ends, OpKind, Where};
use crate::commands::policy;
use crate::home::place;
use crate::model::network;
use crate::output::out;
use crate::run::{Usage, block_on, world_settings};
use crate::setup::sandbox::CommandSettings;
use crate::setup::{docs, secrets};
use anyhow::{Context, Result};
use cairn_engine::policy::Rulebook;
use cairn_runtime::{Answer, Client, now_ms, session_here};
use cairn_store::Store;
use cairn_text::shown::clean;
use cairn_types::{By, Policy};
use cairn_world::{Confine, Ruled, Workspace, World};
use serde_json::{Value, json};
use std::io::{IsTerminal, Read};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// Does one op.
pub fn op(args: &cli::Op) -> Result<ExitCode> {
    let (tool, call, place) = call(&args.what)?;
    let root = place::root(place.cwd.as_deref())?;
    let store = place::store()?;
    let is_command = matches!(args.what, OpKind::Exec { .. });
    let (world, policy) = block_on(world_for(&store, &root, is_command))??;
    let web = network::web(&place::config(&root)?)?;
    let answer = block_on(async {
        let client = Client::here(store, Arc::new(world), &root, policy).await?;
        let mut client = client.reaching(&web);
        client.op(tool, &call.to_string(), By::Person(whose())).await
    })??;
    tell(&answer, place.json);
    Ok(match (answer.status.is_success(), answer.exit) {
        (true, Some(exit)) => ExitCode::from(u8::try_from(exit).unwrap_or(1)),
        (true, None) => ExitCode::SUCCESS,
        (false, _) => ExitCode::FAILURE,
    })
}

/// Who does it, for the row.
fn whose() -> String {
    place::env("USER").or_else(|| place::env("LOGNAME")).unwrap_or_else(|| "somebody".to_owned())
}

/// The project's world, and the rules it is under. Nothing is run in it.
pub fn world(store: &Store, root: &Path) -> Result<(World, Policy)> {
    block_on(world_for(store, root, false))?
}

/// The same; commands are run in it, confined.
async fn world_for(store: &Store, root: &Path, commands: bool) -> Result<(World, Policy)> {
    let config = place::config(root)?;
    let scrubber = secrets::scrubber(&config, store.salt()?);
    let mut settings = world_settings(&config, &scrubber)?;
    if commands {
        settings.spool = Some(store.spool());
        settings.confine =
            CommandSettings::read(&config).confine(&[root.to_owned()], &settings.env).await?;
    }
    let mut policy = policy::configured(&config, root, &settings.shell);
    let session = session_here(store, root)?;
    policy.overlay = matches!(settings.confine, Confine::Overlay(..));
    policy.rules.extend(policy::remembered(store, session.as_ref(), root, now_ms())?);
    let rules = Rulebook::read(policy.clone())?;
    settings.unread = policy::unread(&rules);
    settings.unreadable = rules.unread_by_commands().unwrap_or_default().into();
    settings.ruled = Ruled(rules.ruled().cloned().collect());
    settings.little = policy.little;
    let mut world = World::with_folders(Workspace::open(root)?, &[], settings)?;
    policy.keeps_unread = world.keep_unread();
    Ok((world.with_docs(docs::of(&config)?), policy))
}

/// The op as a tool's call, and where it is done.
fn call(what: &OpKind) -> Result<(&'static str, Value, &Where)> {
    Ok(match what {
        OpKind::Find { under, glob, text, tags, skip, place } => {
            let glob = glob
                .clone()
                .or_else(|| (text.is_none() && tags.is_empty()).then(|| "**".to_owned()));
            let call =
                json!({ "under": under, "glob": glob, "text": text, "tags": tags, "skip": skip });
            ("find", call, place)
        }
        OpKind::Read { target, scope, matching, hashes, place } => {
            let call =
                json!({ "path": target, "scope": scope, "matching": matching, "hashes": hashes });
            ("read", call, place)
        }
        OpKind::Edit { target, body, scope, old, new, all, patch, tags, place } => {
            let (tool, call) = match (old, patch) {
                (Some(old), _) => {
                    ("edit", json!({ "path": target, "old": old, "new": new, "all": all }))
                }
                (None, Some(file)) => {
                    let text = std::fs::read_to_string(file)
                        .with_context(|| format!("{} cannot be read", file.display()))?;
                    ("edit", json!({ "path": target, "patch": text }))
                }
                (None, None) => {
                    let content = content(body.as_deref())?;
                    let call =
                        json!({ "path": target, "content": content, "scope": scope, "tags": tags });
                    ("write", call)
                }
            };
            (tool, call, place)
        }
        OpKind::Copy { ends } => ("copy", between(ends), &ends.place),
        OpKind::Move { ends } => ("move", between(ends), &ends.place),
        OpKind::Open { target, place } => ("open", json!({ "path": target }), place),
        OpKind::Fold { target, place } => ("fold", json!({ "path": target }), place),
        OpKind::Send { text, to, status, place } => {
            let is_said = matches!(status, None | Some(200));
            let text = match text {
                None if is_said && !std::io::stdin().is_terminal() => Some(piped()?),
                text => text.clone(),
            };
            ("send", json!({ "to": to, "status": status, "text": text }), place)
        }
        OpKind::Exec { command, runtime, timeout_ms, discard, place } => {
            let call = json!({ "command": command, "runtime": runtime, "timeout_ms": timeout_ms });
            (if *discard { "env" } else { "bash" }, call, place)
        }
        OpKind::Kill { target, place } => ("remove", json!({ "path": target }), place),
    })
}

fn between(ends: &Ends) -> Value {
    json!({ "from": ends.from, "to": ends.to, "tags": ends.tags })
}

/// What to write: what is given, else what is piped in.
fn content(given: Option<&str>) -> Result<String> {
    if let Some(given) = given {
        return Ok(given.to_owned());
    }
    if std::io::stdin().is_terminal() {
        return Err(Usage("there is no content; give --body, or pipe it in".to_owned()).into());
    }
    match piped()? {
        // Of a script that has no input it would empty what stands there.
        empty if empty.is_empty() => {
            Err(Usage("what is piped in is empty; --body '' empties what is there".to_owned())
                .into())
        }
        text => Ok(text),
    }
}

/// What is piped in.
fn piped() -> Result<String> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes).context("what is piped in cannot be read")?;
    let text = String::from_utf8(bytes);
    Ok(text.map_err(|_| Usage("what is piped in is not UTF-8 text".to_owned()))?)
}

fn tell(answer: &Answer, is_json: bool) {
    let row = format!("log://{}/{}", answer.run, answer.at);
    if is_json {
        out::line(json!({
            "status": answer.status.0,
            "exit": answer.exit,
            "text": answer.text,
            "row": row,
            "receipt": answer.receipt,
            "changes": answer.changes,
        }));
        return;
    }
    match answer.status.is_success() {
        true => out::line(clean(&answer.text)),
        false => eprintln_line(&format!("{} {}", answer.status, clean(&answer.text))),
    }
}

fn eprintln_line(text: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr().lock(), "cairn: {text}");
}
