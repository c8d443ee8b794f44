//! A whole list of models: read from a file as hostile input, compared, and written in the one form
//! that is kept. It tells limits, prices and abilities; an endpoint or a key's name is never taken
//! from one.

use super::decimal::{per_million, per_token};
use super::entry::{Entry, Rates, Source};
use super::shape::{Cost, Model, Pairs, Provider};
use cairn_types::PicoUsd;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;

/// The longest list that is read.
pub const LONGEST: usize = 16 << 20;
const MOST_PROVIDERS: usize = 1_000;
const MOST_MODELS: usize = 50_000;
const LONGEST_NAME: usize = 200;
/// A million dollars for a million tokens: what is above is a mistake, and sums stay in range.
const HIGHEST: PicoUsd = PicoUsd(1_000_000_000_000);
const MOST_TOKENS: u64 = 1 << 40;

/// Why a list of models cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// It is longer than what is read.
    #[error("it is longer than 16 MiB, which no list of models is")]
    TooLong,
    /// It is not JSON of a known shape.
    #[error(
        "it is not a list of models: {0}; a file in the form of models.dev's api.json is expected"
    )]
    Shape(#[from] serde_json::Error),
    /// It lists too much or nothing.
    #[error(
        "it lists {models} models of {providers} providers; some are expected, and at most {MOST_MODELS} of {MOST_PROVIDERS}"
    )]
    Count {
        /// How many models.
        models: usize,
        /// How many providers.
        providers: usize,
    },
    /// Something is named as nothing can be.
    #[error(
        "the {what} {name:?} is not a name of one; visible ASCII, at most 200 letters, is expected"
    )]
    Name {
        /// Of what kind.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// Something stands in it twice.
    #[error("{0:?} stands in it twice; leave one out")]
    Twice(String),
    /// A number makes no sense.
    #[error("{model:?} has the {what} {value}, which cannot be; a number from 0 up is expected")]
    Number {
        /// Whose.
        model: String,
        /// Which number.
        what: &'static str,
        /// As it is written.
        value: String,
    },
}

/// A list of models.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Document {
    /// Where it comes from, as it says itself.
    pub source: String,
    /// The providers' names for people, by id.
    pub(super) names: BTreeMap<String, String>,
    /// The models, by provider and id.
    pub(super) models: BTreeMap<(String, String), Entry>,
}

impl Document {
    /// Reads a list in our form or in that of models.dev. All of it must be sound: a list with one
    /// impossible model is refused whole.
    pub fn parse(text: &str) -> Result<Document, CatalogueError> {
        if text.len() > LONGEST {
            return Err(CatalogueError::TooLong);
        }
        let Pairs(top) = serde_json::from_str::<Pairs<&RawValue>>(text)?;
        let ours = top.iter().find(|(key, _)| key == "providers");
        let Pairs(providers) = match ours {
            Some((_, inner)) => serde_json::from_str(inner.get())?,
            None => serde_json::from_str::<Pairs<Provider<'_>>>(text)?,
        };
        let source = top.iter().find(|(key, _)| ours.is_some() && key == "source");
        let source = source.and_then(|(_, text)| serde_json::from_str::<String>(text.get()).ok());
        let models = providers.iter().map(|(_, provider)| provider.models.0.len()).sum();
        if models == 0 || models > MOST_MODELS || providers.len() > MOST_PROVIDERS {
            return Err(CatalogueError::Count { models, providers: providers.len() });
        }
        let mut document = Document { source: shown(source), ..Document::default() };
        let mut seen = HashSet::new();
        for (id, provider) in providers {
            if !is_provider_id(&id) {
                return Err(CatalogueError::Name { what: "provider", name: cut(&id) });
            }
            if !seen.insert(id.clone()) {
                return Err(CatalogueError::Twice(id));
            }
            document.take(id, provider)?;
        }
        Ok(document)
    }

    fn take(&mut self, provider: String, from: Provider<'_>) -> Result<(), CatalogueError> {
        for (id, model) in from.models.0 {
            if !is_model_id(&id) {
                return Err(CatalogueError::Name { what: "model", name: cut(&id) });
            }
            let entry = entry(&provider, &id, model, Source::File)?;
            if self.models.insert((provider.clone(), id.clone()), entry).is_some() {
                return Err(CatalogueError::Twice(format!("{provider}/{id}")));
            }
        }
        let name = shown(from.name);
        let name = if name.is_empty() { provider.clone() } else { name };
        self.names.insert(provider, name);
        Ok(())
    }

    /// How many models it lists.
    #[must_use]
    pub fn len(&self) -> usize {
        self.models.len()
    }

    /// Whether it lists none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.models.is_empty()
    }

    /// The list in the form that is kept: one line per model.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut out = format!("{{\"source\":{},\"providers\":{{\n", json!(self.source));
        for (at, (provider, name)) in self.names.iter().enumerate() {
            let comma = if at == 0 { "" } else { ",\n" };
            let _ =
                write!(out, "{comma}{}:{{\"name\":{},\"models\":[", json!(provider), json!(name));
            let of_provider = self.models.values().filter(|entry| entry.provider == *provider);
            for (at, entry) in of_provider.enumerate() {
                let _ = write!(out, "{}\n{}", if at == 0 { "" } else { "," }, line(entry));
            }
            out.push_str("\n]}");
        }
        out.push_str("\n}}\n");
        out
    }
}

/// A model's line.
fn line(entry: &Entry) -> String {
    let mut fields: Vec<(&str, Value)> = vec![("id", json!(entry.id)), ("name", json!(entry.name))];
    let mut put = |name, value: Option<Value>| fields.extend(value.map(|value| (name, value)));
    put("context", entry.context.map(|n| json!(n)));
    put("output", entry.output.map(|n| json!(n)));
    put("cost", entry.price.map(|price| cost(&price)));
    put("tool_call", entry.tools.map(|b| json!(b)));
    put("reasoning", entry.reasoning.map(|b| json!(b)));
    if let (Some(images), Some(pdf)) = (entry.images, entry.pdf) {
        let takes = [("text", true), ("image", images), ("pdf", pdf)];
        let takes: Vec<&str> =
            takes.iter().filter(|(_, does)| *does).map(|(what, _)| *what).collect();
        put("input", Some(json!(takes)));
    }
    put("released", entry.released.as_ref().map(|text| json!(text)));
    put("family", entry.family.as_ref().map(|text| json!(text)));
    let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
    Value::Object(fields.collect()).to_string()
}

/// Prices as decimal texts: a JSON number would be read as a float by most.
fn cost(price: &Rates) -> Value {
    let optional = [
        ("cache_read", price.cache_read),
        ("cache_write", price.cache_write),
        ("reasoning", price.reasoning),
    ];
    let both = [("input", Some(price.input)), ("output", Some(price.output))];
    let rates = both.into_iter().chain(optional);
    let rates = rates.filter_map(|(name, rate)| Some((name.to_owned(), json!(per_million(rate?)))));
    Value::Object(rates.collect())
}

/// A model as a line of a list has it.
pub(super) fn entry(
    provider: &str,
    id: &str,
    model: Model<'_>,
    source: Source,
) -> Result<Entry, CatalogueError> {
    let full = format!("{provider}/{id}");
    let limit = model.limit.as_ref();
    let context = model.context.or(limit.and_then(|limit| limit.context));
    let output = model.output.or(limit.and_then(|limit| limit.output));
    let takes = model.input.or(model.modalities.and_then(|modalities| modalities.input));
    let takes = |what: &str| takes.as_ref().map(|all| all.iter().any(|one| one == what));
    let name = shown(model.name);
    Ok(Entry {
        provider: provider.to_owned(),
        id: id.to_owned(),
        name: if name.is_empty() { id.to_owned() } else { name },
        context: tokens(&full, "context", context)?,
        output: tokens(&full, "output limit", output)?,
        price: model.cost.map(|cost| rates(&full, &cost)).transpose()?.flatten(),
        tools: model.tool_call,
        reasoning: model.reasoning,
        images: takes("image"),
        pdf: takes("pdf"),
        released: model.released.or(model.release_date).filter(|date| is_date(date)),
        family: Some(shown(model.family)).filter(|family| !family.is_empty()),
        source,
    })
}

/// A number of tokens; 0 is how lists say that they do not know.
fn tokens(
    model: &str,
    what: &'static str,
    count: Option<u64>,
) -> Result<Option<u64>, CatalogueError> {
    match count {
        None | Some(0) => Ok(None),
        Some(count) if count <= MOST_TOKENS => Ok(Some(count)),
        Some(count) => {
            Err(CatalogueError::Number { model: model.to_owned(), what, value: count.to_string() })
        }
    }
}

/// The prices; none unless both what is sent and what is received has one.
fn rates(model: &str, cost: &Cost<'_>) -> Result<Option<Rates>, CatalogueError> {
    let rate = |what, raw: Option<&RawValue>| -> Result<Option<PicoUsd>, CatalogueError> {
        let Some(raw) = raw.map(RawValue::get) else { return Ok(None) };
        let plain = raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"')).unwrap_or(raw);
        let wrong = || CatalogueError::Number { model: model.to_owned(), what, value: cut(raw) };
        per_token(plain).filter(|rate| *rate <= HIGHEST).map(Some).ok_or_else(wrong)
    };
    let input = rate("input price", cost.input)?;
    let output = rate("output price", cost.output)?;
    let cache_read = rate("price of cached input", cost.cache_read)?;
    let cache_write = rate("price of caching", cost.cache_write)?;
    let reasoning = rate("price of reasoning", cost.reasoning)?;
    let both = input.zip(output);
    Ok(both.map(|(input, output)| Rates { input, output, cache_read, cache_write, reasoning }))
}

fn is_provider_id(id: &str) -> bool {
    let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b);
    (1..=64).contains(&id.len()) && id.bytes().all(fits)
}

fn is_model_id(id: &str) -> bool {
    (1..=LONGEST_NAME).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_graphic())
}

fn is_date(date: &str) -> bool {
    let shape: String = date.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    ["0000", "0000-00", "0000-00-00"].contains(&shape.as_str())
}

/// Words for people: without control characters, and not longer than a line.
fn shown(text: Option<String>) -> String {
    let text = text.unwrap_or_default();
    text.chars().filter(|c| !c.is_control()).take(LONGEST_NAME).collect()
}

fn cut(text: &str) -> String {
    text.chars().take(80).collect()
}
