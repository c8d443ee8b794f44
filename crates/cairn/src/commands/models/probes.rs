//! What probes found of models, kept in one file beside `cairn.toml`.

use crate::home::place;
use crate::home::private::{self, Seen};
use crate::run::Usage;
use anyhow::{Context, Result};
use cairn_types::Surface;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The file is no longer than this.
const LONGEST: u64 = 1 << 20;

/// What serves a model best.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// How it writes ops.
    pub surface: Surface,
    /// Whether it needs the short beginning and few tools.
    pub small: bool,
    /// Whether its decoding was constrained.
    pub constrained: bool,
    /// Of a hundred replies, how many could be admitted.
    pub valid: f64,
    /// Of a hundred tasks, how many came out right.
    pub correct: f64,
    /// When, milliseconds since 1970.
    pub at: u64,
}

fn file() -> Option<PathBuf> {
    place::user_file().map(|path| path.with_file_name("probes.json"))
}

fn all() -> Result<BTreeMap<String, Found>> {
    let Some(path) = file() else { return Ok(BTreeMap::new()) };
    let wrong = |why: String| {
        Usage(format!("{}: {why}; remove it, and probe your models again", path.display()))
    };
    match private::read(&path, LONGEST, Seen::AsUsual).map_err(|e| wrong(e.to_string()))? {
        None => Ok(BTreeMap::new()),
        Some(text) => Ok(serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))?),
    }
}

/// What a probe found of this model, if one did.
pub fn found(model: &str) -> Result<Option<Found>> {
    Ok(all()?.remove(model))
}

/// Keeps what a probe found of this model, instead of what another one did.
pub fn record(model: &str, found: Found) -> Result<()> {
    let path = file().context("there is no place to keep it: set XDG_CONFIG_HOME or HOME")?;
    let mut all = all()?;
    all.insert(model.to_owned(), found);
    let text = serde_json::to_string_pretty(&all)? + "\n";
    private::replace(&path, &text, Seen::AsUsual)
        .with_context(|| format!("{} cannot be written", path.display()))
}
