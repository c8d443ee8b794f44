//! `cairn models`: what is known of models, and from where: the bundled list, the user's file, the
//! user's configuration.

mod list;
mod probe;
pub mod probes;
mod show;
mod update;

pub use probe::MOST_TASKS;

use crate::cli;
use crate::config::{Config, ConfigError};
use crate::home::place;
use crate::home::private::{self, Seen};
use crate::model::known;
use crate::run::Usage;
use anyhow::Result;
use cairn_provider::catalogue::{Catalogue, Entry, LONGEST, Own, Rates};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

/// Runs the command.
pub fn models(args: &cli::Models) -> Result<ExitCode> {
    match &args.command {
        cli::ModelsCommand::List(args) => list::list(args),
        cli::ModelsCommand::Show(args) => show::show(args),
        cli::ModelsCommand::Probe(args) => probe::probe(args),
        cli::ModelsCommand::Update(args) => update::update(args),
    }
}

/// The user's file of models.
fn file() -> Option<PathBuf> {
    place::user_file().map(|path| path.with_file_name("models.json"))
}

/// All that is known of models.
pub fn catalogue(config: &Config) -> Result<Catalogue> {
    let mut catalogue = listed()?;
    for (name, origin) in config.models() {
        let wrong = |what: String| ConfigError { place: origin.to_string(), what };
        let Some((provider, id)) = name.split_once('/').filter(|(_, id)| !id.is_empty()) else {
            let fix = "write [models.\"provider/name\"], with the quotes";
            return Err(wrong(format!("models.{name} is not a model; {fix}")).into());
        };
        let full = format!("{}/{id}", known::canonical(provider));
        let own = own(name, config);
        let unknown = own.abilities.iter().flatten().find(|word| !ABILITIES.contains(&&***word));
        if let Some(word) = unknown {
            let (word, all) = (word.clone(), ABILITIES.join(", "));
            let why = format!("{word:?} is no ability of {name}; there are {all}");
            return Err(wrong(why).into());
        }
        let says_price =
            own.input_price.or(own.output_price).or(own.cache_read).or(own.cache_write);
        catalogue = catalogue.with_own(&full, own);
        if says_price.is_some() && catalogue.model(&full).and_then(|entry| entry.price).is_none() {
            let fix = "set both input and output";
            return Err(wrong(format!("half a price of {name} is no price; {fix}")).into());
        }
    }
    Ok(catalogue)
}

/// What is known without the user's configuration.
fn listed() -> Result<Catalogue> {
    let catalogue = Catalogue::bundled();
    let Some(path) = file() else { return Ok(catalogue) };
    let fix = "write it anew with `cairn models update FILE`, or go without with `cairn models update --remove`";
    let wrong = |why: String| Usage(format!("{}: {why}; {fix}", path.display()));
    let text = private::read(&path, LONGEST as u64, Seen::AsUsual);
    match text.map_err(|e| wrong(e.to_string()))? {
        None => Ok(catalogue),
        Some(text) => Ok(catalogue.with_overrides(&text).map_err(|e| wrong(e.to_string()))?),
    }
}

fn own(name: &str, config: &Config) -> Own {
    let key = |what: &str| format!("models.{name}.{what}");
    let count = |what: &str| Some(config.count(&key(what))).filter(|n| *n > 0);
    Own {
        context: count("context"),
        output: count("max_output"),
        input_price: config.price(&key("input")),
        output_price: config.price(&key("output")),
        cache_read: config.price(&key("cache_read")),
        cache_write: config.price(&key("cache_write")),
        abilities: match config.list(&key("abilities")) {
            [] => None,
            abilities => Some(abilities.to_vec()),
        },
    }
}

/// The words for abilities.
const ABILITIES: [&str; 4] = ["tools", "reasoning", "images", "pdf"];

/// The abilities by name, with what is known of each.
fn abilities(entry: &Entry) -> [(&'static str, Option<bool>); 4] {
    [
        ("tools", entry.tools),
        ("reasoning", entry.reasoning),
        ("images", entry.images),
        ("pdf", entry.pdf),
    ]
}

/// A model for programs. Prices are pico-dollars per token; null is unknown.
fn as_json(entry: &Entry) -> Value {
    let mut object = json!({
        "model": format!("{}/{}", entry.provider, entry.id),
        "name": entry.name,
        "context": entry.context,
        "output": entry.output,
        "price": entry.price.map(price_json),
        "released": entry.released,
        "family": entry.family,
        "source": entry.source.as_str(),
    });
    for (ability, has) in abilities(entry) {
        object[ability] = json!(has);
    }
    object
}

fn price_json(price: Rates) -> Value {
    let Rates { input, output, cache_read, cache_write, reasoning } = price;
    json!({"input": input, "output": output, "cache_read": cache_read, "cache_write": cache_write, "reasoning": reasoning})
}
