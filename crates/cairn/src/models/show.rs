//! `cairn models show`: everything that is known of one model, and who says it.

use super::{abilities, as_json, catalogue, file};
use crate::out::say;
use crate::run::Usage;
use crate::{cli, credentials, known, money, place};
use anyhow::Result;
use cairn_provider::catalogue::{Catalogue, Entry, Source};
use cairn_text::shown::clean;
use std::process::ExitCode;

/// Runs the command.
pub fn show(args: &cli::ModelsShow) -> Result<ExitCode> {
    let config = place::config(&place::root(None)?)?;
    let catalogue = catalogue(&config)?;
    let Some((given, id)) = args.name.split_once('/') else {
        return Err(Usage(format!(
            "{:?} is not a model; write provider/name{}",
            args.name,
            alike(&args.name, &catalogue)
        ))
        .into());
    };
    let provider = known::canonical(given);
    let name = format!("{provider}/{id}");
    let entry = catalogue.model(&name).ok_or_else(|| {
        let fix = "it can be used all the same, at an unknown price";
        Usage(format!("nothing is known of {name}; {fix}{}", alike(id, &catalogue)))
    })?;
    if args.json {
        say!("{}", as_json(&entry));
        return Ok(ExitCode::SUCCESS);
    }
    let (listed, variables) =
        (format!("{}/{}", entry.provider, entry.id), credentials::variables(provider, &config));
    if listed != name {
        say!("{} is listed as {}", clean(&name), clean(&listed));
    }
    say!("{}", clean(&drawn(&entry)).trim_end());
    if let Some(known) = known::find(provider) {
        let place = known.url().unwrap_or("where you say (providers.NAME.base_url)");
        say!("endpoint        {place}, format {}", known.wire.word());
    }
    if !variables.is_empty() {
        say!("key             {}, or `cairn login {provider}`", variables.join(" or "));
    }
    Ok(ExitCode::SUCCESS)
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
