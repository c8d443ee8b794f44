//! `cairn models update`: replaces the user's file of models by another, which is read as hostile
//! input, and says what changed by it.

use super::{file, listed};
use crate::cli;
use crate::home::private::{self, Seen};
use crate::output::money;
use crate::output::out::say;
use crate::run::Usage;
use anyhow::Result;
use cairn_provider::catalogue::{Catalogue, Document, Entry, LONGEST, Rates};
use cairn_text::shown::clean;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

/// How many lines are said of each kind of change.
const MOST_LINES: usize = 20;

/// Runs the command.
pub fn update(args: &cli::ModelsUpdate) -> Result<ExitCode> {
    let none = || Usage("there is no place for the file: set HOME or XDG_CONFIG_HOME".to_owned());
    let path = file().ok_or_else(none)?;
    // A file that is broken tells nothing of what was there before.
    let before = listed().unwrap_or_else(|_| Catalogue::bundled());
    let after = match &args.file {
        Some(given) => replace(&path, given)?,
        None => {
            match private::remove(&path).map_err(|e| failed(&path, &e))? {
                true => say!("removed {}; the bundled list holds", path.display()),
                false => say!("there was no file of models; the bundled list holds"),
            }
            Catalogue::bundled()
        }
    };
    say_changes(&all(&before), &all(&after));
    Ok(ExitCode::SUCCESS)
}

fn replace(path: &Path, given: &Path) -> Result<Catalogue> {
    let shown = given.display();
    let wrong = |why: String| Usage(format!("{shown}: {why}. Nothing was changed"));
    let text = private::read(given, LONGEST as u64, Seen::AsUsual);
    let text = text.map_err(|e| wrong(e.to_string()))?;
    let text = text.ok_or_else(|| wrong("there is no such file".to_owned()))?;
    let document = Document::parse(&text).map_err(|e| wrong(e.to_string()))?;
    private::replace(path, &document.to_text(), Seen::AsUsual).map_err(|e| failed(path, &e))?;
    say!("{} models of {shown} are now in {}", document.len(), path.display());
    Ok(Catalogue::bundled().with_document(document))
}

fn failed(path: &Path, why: &std::io::Error) -> anyhow::Error {
    anyhow::anyhow!("{} cannot be changed: {why}", path.display())
}

fn all(catalogue: &Catalogue) -> BTreeMap<String, Entry> {
    let all = catalogue.providers().into_iter().flat_map(|provider| catalogue.models(&provider));
    all.map(|entry| (format!("{}/{}", entry.provider, entry.id), entry)).collect()
}

fn say_changes(before: &BTreeMap<String, Entry>, after: &BTreeMap<String, Entry>) {
    let missing_in = |other: &BTreeMap<String, Entry>, these: &BTreeMap<String, Entry>| {
        these.keys().filter(|name| !other.contains_key(*name)).cloned().collect::<Vec<_>>()
    };
    let both = || after.iter().filter_map(|(name, new)| Some((name, before.get(name)?, new)));
    let prices = both().filter(|(_, old, new)| old.price != new.price);
    let prices = prices
        .map(|(name, old, new)| format!("{name}: {}, was {}", price(new.price), price(old.price)));
    let same_price = both().filter(|(_, old, new)| old.price == new.price);
    let others =
        same_price.filter(|(_, old, new)| Entry { source: old.source, ..(*new).clone() } != **old);
    let changes = [
        say_some("added", &missing_in(before, after)),
        say_some("price changed", &prices.collect::<Vec<_>>()),
        say_some("otherwise changed", &others.map(|(name, ..)| name.clone()).collect::<Vec<_>>()),
        say_some("removed", &missing_in(after, before)),
    ];
    if changes.iter().sum::<usize>() == 0 {
        say!("nothing is different from before");
    }
}

fn price(rates: Option<Rates>) -> String {
    let Some(rates) = rates else { return "unknown".to_owned() };
    let of = |what: &str, rate| Some(format!("{what} {}", money::per_million(rate?)));
    let parts = [
        of("in", Some(rates.input)),
        of("out", Some(rates.output)),
        of("cached", rates.cache_read),
        of("caching", rates.cache_write),
        of("reasoning", rates.reasoning),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// Says the lines of one kind of change, or nothing. How many there were.
fn say_some(what: &str, lines: &[String]) -> usize {
    if !lines.is_empty() {
        say!("{what}: {}", lines.len());
    }
    for line in lines.iter().take(MOST_LINES) {
        say!("  {}", clean(line));
    }
    if lines.len() > MOST_LINES {
        say!("  … and {} more", lines.len() - MOST_LINES);
    }
    lines.len()
}
