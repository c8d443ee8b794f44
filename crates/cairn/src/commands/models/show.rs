//! `cairn models show`: everything that is known of one model, and who says it.

use super::{abilities, as_json, catalogue, file, probes};
use crate::commands::log;
use crate::home::place;
use crate::model::{credentials, known};
use crate::output::money;
use crate::output::out::say;
use crate::run::Usage;
use crate::{cli, model};
use anyhow::Result;
use cairn_provider::catalogue::{Catalogue, Entry, Source};
use cairn_provider::http::Wire;
use cairn_text::shown::clean;
use serde_json::{Value, json};
use std::process::ExitCode;

/// Runs the command.
pub fn show(args: &cli::ModelsShow) -> Result<ExitCode> {
    let config = place::config(&place::root(None)?)?;
    let catalogue = catalogue(&config)?;
    let Some((given, id)) = args.name.split_once('/').filter(|(_, id)| !id.is_empty()) else {
        return Err(Usage(format!(
            "{:?} is not a model; write provider/name{}",
            args.name,
            alike(&args.name, &catalogue)
        ))
        .into());
    };
    let provider = known::canonical(given);
    let name = format!("{provider}/{id}");
    if provider == "scripted" {
        let why = "is a script and no provider's model: it has no limits and no price";
        return Err(Usage(format!("{name} {why}")).into());
    }
    let place = model::place_of(provider, &config, &place::env);
    let probe = probes::found(&name)?;
    // One that no list has can have been probed.
    let unlisted = || probe.as_ref().map(|_| Entry::unknown(provider, id));
    let Some(entry) = catalogue.model(&name).or_else(unlisted) else {
        if known::find(provider).is_none() {
            // Of a provider that nobody knows, that is what there is to say.
            place?;
        }
        let fix = "it can be used all the same, at an unknown price";
        return Err(
            Usage(format!("nothing is known of {name}; {fix}{}", alike(id, &catalogue))).into()
        );
    };
    let use_of = UseOf {
        provider,
        place: place.ok(),
        keys: credentials::variables(provider, &config),
        probe,
    };
    if args.json {
        say!("{}", use_of.as_json(&entry));
        return Ok(ExitCode::SUCCESS);
    }
    let listed = format!("{}/{}", entry.provider, entry.id);
    if listed != name {
        say!("{} is listed as {}", clean(&name), clean(&listed));
    }
    say!("{}", clean(&(drawn(&entry) + &use_of.drawn())).trim_end());
    Ok(ExitCode::SUCCESS)
}

/// What a model is used with, as the configuration has it.
struct UseOf<'a> {
    provider: &'a str,
    /// Where requests go and in which format; none where nobody says.
    place: Option<(String, Wire)>,
    /// The variables that may hold the key.
    keys: Vec<String>,
    /// What a probe found, if one did.
    probe: Option<probes::Found>,
}

impl UseOf<'_> {
    fn as_json(&self, entry: &Entry) -> Value {
        let mut said = as_json(entry);
        said["endpoint"] = json!(self.place.as_ref().map(|(url, _)| url));
        said["format"] = json!(self.place.as_ref().map(|(_, wire)| wire.word()));
        said["key_variables"] = json!(self.keys);
        said["probe"] = json!(self.probe);
        said
    }

    fn drawn(&self) -> String {
        let provider = self.provider;
        let mut out = match &self.place {
            Some((url, wire)) => format!("endpoint        {url}, format {}\n", wire.word()),
            None => format!(
                "endpoint        none yet; set base_url under [providers.{provider}] in your cairn.toml\n"
            ),
        };
        if !self.keys.is_empty() {
            let keys = self.keys.join(" or ");
            out += &format!("key             {keys}, or `cairn login {provider}`\n");
        }
        if let Some(found) = &self.probe {
            out += &format!("probe           {}, {}\n", found.told(), log::time(found.at));
        }
        out
    }
}

/// Up to a few models whose ids hold these words, as the end of a sentence.
fn alike(words: &str, catalogue: &Catalogue) -> String {
    let words = words.to_lowercase();
    let all = catalogue.providers().into_iter().flat_map(|provider| catalogue.models(&provider));
    let found = all.filter(|entry| words.len() > 2 && entry.id.to_lowercase().contains(&words));
    let found: Vec<String> =
        found.map(|entry| format!("{}/{}", entry.provider, entry.id)).take(5).collect();
    match found.is_empty() {
        true => String::new(),
        false => format!(". Alike are {}", found.join(", ")),
    }
}

fn drawn(entry: &Entry) -> String {
    let unknown = || "unknown".to_owned();
    let count = |count: Option<u64>| count.map_or_else(unknown, |n| format!("{n} tokens"));
    let mut lines = vec![
        ("model", format!("{}/{}", entry.provider, entry.id)),
        ("name", entry.name.clone()),
        ("family", entry.family.clone().unwrap_or_else(unknown)),
        ("released", entry.released.clone().unwrap_or_else(unknown)),
        ("context", count(entry.context)),
        ("output", count(entry.output)),
    ];
    for (ability, has) in abilities(entry) {
        let has = has.map_or_else(unknown, |has| if has { "yes" } else { "no" }.to_owned());
        lines.push((ability, has));
    }
    match entry.price {
        None => lines.push(("price", "unknown".to_owned())),
        Some(price) => {
            let per = |rate| format!("{} per million tokens", money::per_million(rate));
            let input = || "as input".to_owned();
            lines.push(("input price", per(price.input)));
            lines.push(("from the cache", price.cache_read.map_or_else(input, per)));
            lines.push(("into the cache", price.cache_write.map_or_else(input, per)));
            lines.push(("output price", per(price.output)));
            let reasoning = price.reasoning.map_or("as output".to_owned(), per);
            lines.push(("of reasoning", reasoning));
        }
    }
    lines.push(("source", source(entry.source)));
    lines.iter().map(|(what, value)| format!("{what:<15} {value}\n")).collect()
}

fn source(source: Source) -> String {
    let path = |path: Option<std::path::PathBuf>| path.unwrap_or_default().display().to_string();
    match source {
        Source::Bundled => "bundled with this program".to_owned(),
        Source::File => path(file()),
        Source::Own => format!("[models] in {}", path(place::user_file())),
        Source::Server => "the local server".to_owned(),
    }
}
