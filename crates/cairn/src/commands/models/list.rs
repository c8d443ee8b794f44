//! `cairn models list`: the models of the providers one can use, or of all.

use super::{abilities, as_json, catalogue};
use crate::config::Config;
use crate::home::place;
use crate::model::{credentials, known};
use crate::output::money;
use crate::output::out::say;
use crate::output::table::{Side, lined_up};
use crate::run::Usage;
use crate::{cli, model};
use anyhow::Result;
use cairn_provider::catalogue::{Catalogue, Entry, Source};
use std::process::ExitCode;

/// Runs the command.
pub fn list(args: &cli::ModelsList) -> Result<ExitCode> {
    let config = place::config(&place::root(None)?)?;
    let catalogue = catalogue(&config)?;
    let providers = match &args.provider {
        Some(provider) => vec![named(provider, &config, &catalogue)?],
        None if args.all => all(&catalogue, &config),
        None => usable(&catalogue, &config)?,
    };
    let entries: Vec<Entry> = providers.iter().flat_map(|p| of(p, &catalogue, &config)).collect();
    if args.json {
        entries.iter().for_each(|entry| say!("{}", as_json(entry)));
        return Ok(ExitCode::SUCCESS);
    }
    if entries.is_empty() {
        say!("{}", none(&providers));
        return Ok(ExitCode::SUCCESS);
    }
    say!("{}", drawn(&entries).trim_end());
    if !args.all && args.provider.is_none() {
        let names: Vec<&str> = known::KNOWN.iter().map(|known| known.name).collect();
        let rest = names.iter().filter(|name| !providers.iter().any(|p| p == *name)).count();
        say!(
            "\n{rest} more providers are known; `cairn models list --all` shows them, `cairn login PROVIDER` stores a key."
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn named(given: &str, config: &Config, catalogue: &Catalogue) -> Result<String> {
    let provider = known::canonical(given);
    if all(catalogue, config).iter().any(|known| known == provider) {
        return Ok(provider.to_owned());
    }
    let names = all(catalogue, config).join(", ");
    Err(Usage(format!("there is no provider {given:?}; known are {names}")).into())
}

/// Every provider: the known ones, then those that only a list or the configuration names.
fn all(catalogue: &Catalogue, config: &Config) -> Vec<String> {
    let mut all: Vec<String> = known::KNOWN.iter().map(|known| known.name.to_owned()).collect();
    let declared = config.declared_providers().map(known::canonical).map(str::to_owned);
    for provider in declared.chain(catalogue.providers()) {
        if !all.contains(&provider) {
            all.push(provider);
        }
    }
    all
}

/// The providers that would answer: those whose key is there, those that need none.
fn usable(catalogue: &Catalogue, config: &Config) -> Result<Vec<String>> {
    let stored = credentials::Stored::load()?;
    let has_key = |provider: &str| {
        let in_environment = credentials::in_environment(provider, config, &place::env);
        in_environment.is_some() || stored.has(provider)
    };
    let needs_key = |provider: &str| match known::find(provider) {
        Some(known) => known.needs_key(),
        None => model::setting(provider, "key_env", config).is_some(),
    };
    let declared = |provider: &str| config.declared_providers().any(|one| one == provider);
    let mut usable = all(catalogue, config);
    usable.retain(|provider| {
        let reachable = known::find(provider).is_some() || declared(provider);
        reachable && (has_key(provider) || !needs_key(provider))
    });
    Ok(usable)
}

/// A provider's models. A local server says itself which it has.
fn of(provider: &str, catalogue: &Catalogue, config: &Config) -> Vec<Entry> {
    let Some((_, own)) = known::local().find(|(name, _)| *name == provider) else {
        return catalogue.models(provider);
    };
    let told = model::setting(provider, "base_url", config);
    let served = model::local_models(told.unwrap_or(own)).into_iter();
    let entry = |id: String| {
        let known = catalogue.model(&format!("{provider}/{id}"));
        known.unwrap_or_else(|| Entry { source: Source::Server, ..Entry::unknown(provider, &id) })
    };
    served.map(entry).collect()
}

fn none(providers: &[String]) -> String {
    match providers {
        [one] => format!(
            "No model of {one} is listed. A provider's model can be used without being listed: cairn run --model {one}/NAME"
        ),
        _ => {
            "No key is set and no local model server answers. `cairn models list --all` shows all \
              models, `cairn login PROVIDER` stores a key."
                .to_owned()
        }
    }
}

fn drawn(entries: &[Entry]) -> String {
    let head = ["model", "context", "output", "in per M", "out per M", "abilities"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for entry in entries {
        let tokens = |count: Option<u64>| count.map_or("?".to_owned(), money::tokens);
        let price = |which: fn(&cairn_provider::catalogue::Rates) -> cairn_types::PicoUsd| {
            entry.price.as_ref().map_or("?".to_owned(), |price| money::per_million(which(price)))
        };
        let can = abilities(entry).into_iter().filter(|(_, has)| *has == Some(true));
        let can: Vec<&str> = can.map(|(ability, _)| ability).collect();
        rows.push(vec![
            format!("{}/{}", entry.provider, entry.id),
            tokens(entry.context),
            tokens(entry.output),
            price(|price| price.input),
            price(|price| price.output),
            can.join(" "),
        ]);
    }
    let sides = [Side::Left, Side::Right, Side::Right, Side::Right, Side::Right, Side::Left];
    lined_up(&sides, &rows)
}
