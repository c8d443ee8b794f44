//! The hooks of a run: the user's own, those of files the user names, and the project's where they
//! are trusted. What is left out is said once.

use crate::cli;
use crate::commands::trust::Book;
use crate::config::Config;
use crate::home::place;
use crate::run::Usage;
use anyhow::Result;
use cairn_hooks::trust::{self, Executable, Trusted};
use cairn_hooks::{CommandHook, Declared, Hook, Hooks, Setup, parse_settings};
use cairn_text::shown::clean;
use cairn_world::Workspace;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The longest settings file that is read.
const LONGEST: u64 = 4 << 20;

/// The hooks of a run, and what a person is told about them.
#[derive(Debug, Default)]
pub struct Found {
    /// The hooks, in order.
    pub hooks: Hooks,
    /// What is left out, and why.
    pub remarks: Vec<String>,
}

/// Finds the hooks of a run in a project.
pub fn find(config: &Config, trusting: cli::Trusting, setup: &Setup) -> Result<Found> {
    let mut remarks: Vec<String> = config.unasked().map(clean).collect();
    let mut all: Vec<Arc<dyn Hook>> = Vec::new();
    for declared in
        config.hooks().into_iter().chain(imported(config, setup.workspace.path(), &mut remarks)?)
    {
        all.push(Arc::new(CommandHook::own(declared, setup.clone())));
    }
    match of_project(config, trusting, &setup.workspace) {
        Ok(Some(found)) => {
            let trusted = Arc::new(Trusted::new(&found));
            let file = trust::HOOKS_FILE;
            let left_out = found.left_out.iter();
            remarks.extend(left_out.map(|what| clean(&format!("{file}: not used: {what}"))));
            let own = |hook| CommandHook::of_project(hook, setup.clone(), Arc::clone(&trusted));
            all.extend(found.hooks.into_iter().map(|hook| Arc::new(own(hook)) as Arc<dyn Hook>));
        }
        Ok(None) => {}
        Err(Left(why)) => remarks.push(why),
    }
    Ok(Found { hooks: Hooks::new(all), remarks })
}

/// What would be asked in a run here: the user's own, imported ones, and the project's if they are
/// trusted.
pub fn declared(config: &Config, workspace: &Workspace) -> Result<Vec<Declared>> {
    let mut all = config.hooks();
    all.extend(imported(config, workspace.path(), &mut Vec::new())?);
    if let Ok(Some(found)) = of_project(config, cli::Trusting::default(), workspace) {
        all.extend(found.hooks);
    }
    Ok(all)
}

/// Why a project's own hooks do not run.
struct Left(String);

/// What of the project runs; absent when it has nothing that would.
fn of_project(
    config: &Config,
    trusting: cli::Trusting,
    workspace: &Workspace,
) -> Result<Option<Executable>, Left> {
    let unreadable =
        |e: &dyn std::fmt::Display| Left(format!("the project's own hooks do not run: {e}"));
    let root = workspace.path();
    let is_there = root.join(trust::HOOKS_FILE).symlink_metadata().is_ok();
    if is_there && place::is_ignored(root) {
        return Ok(None);
    }
    let Some(found) = trust::read(workspace).map_err(|e| unreadable(&e))? else {
        return Ok(None);
    };
    let believes =
        trusting.trust_committed || config.list("trust.committed").iter().any(|r| is(r, root));
    if trusting.trust {
        return Ok(Some(found));
    }
    if believes && trust::committed(workspace).is_ok_and(|named| named.contains(&found.hash)) {
        return Ok(Some(found));
    }
    let book = place::home().and_then(|home| Book::open(&home)).map_err(|e| unreadable(&e))?;
    if book.trusts(root, &found.hash) {
        return Ok(Some(found));
    }
    let why = match (book.knows(root), believes) {
        (true, _) => "they have changed since they were trusted",
        (false, true) => "their hash is not in .cairn/trusted",
        (false, false) => "nobody trusted them",
    };
    let (hooks, file) = (found.hooks.len(), trust::HOOKS_FILE);
    Err(Left(format!(
        "the project's own hooks do not run ({hooks} in {file}): {why}. To look at them: cairn trust"
    )))
}

fn is(given: &str, root: &Path) -> bool {
    expanded(given).canonicalize().is_ok_and(|path| path == root)
}

/// A path of the user's, with `~` for the home directory.
pub fn expanded(given: &str) -> PathBuf {
    match (given.strip_prefix("~/"), place::env("HOME")) {
        (Some(rest), Some(home)) => PathBuf::from(home).join(rest),
        _ => PathBuf::from(given),
    }
}

/// The hooks of the files that the user names. What a project brings is not the user's own, so no file
/// beneath its root is one of them, whichever way leads there.
fn imported(config: &Config, root: &Path, remarks: &mut Vec<String>) -> Result<Vec<Declared>> {
    let mut all = Vec::new();
    for given in config.list("hooks.import") {
        let path = expanded(given);
        let wrong = |why: String| Usage(format!("hooks.import: {given}: {why}"));
        if !path.is_absolute() {
            let why =
                "it would be another file in every project; write the whole path, from / or ~/";
            return Err(wrong(why.to_owned()).into());
        }
        if leads_through(&path, root) {
            let fix = "put its hooks into .cairn/hooks.toml and trust it: cairn trust";
            remarks.push(clean(&format!(
                "hooks.import: {given} is not used: it lies in the project; {fix}"
            )));
            continue;
        }
        let text = crate::home::private::read(&path, LONGEST, crate::home::private::Seen::AsUsual)
            .map_err(|e| wrong(e.to_string()))?
            .ok_or_else(|| wrong("there is no such file".to_owned()))?;
        let found = parse_settings(&text).map_err(|e| wrong(e.to_string()))?;
        remarks
            .extend(found.left_out.iter().map(|what| clean(&format!("{given}: not used: {what}"))));
        all.extend(found.hooks);
    }
    Ok(all)
}

/// Whether a path, or a directory on the way to it, lies in the project once links are followed: then
/// the project says what is found there.
fn leads_through(path: &Path, root: &Path) -> bool {
    let is_beneath = |at: &Path| at.canonicalize().is_ok_and(|real| real.starts_with(root));
    path.ancestors().any(is_beneath)
}
