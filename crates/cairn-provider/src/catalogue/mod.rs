//! The catalogue of models: limits, prices and abilities by `provider/name`, from the list that comes
//! with the program, a file of the user's, and the user's own words, each beating the one before.
//! It knows no key and asks nobody; a model it does not know is unknown, never guessed.
//!
//! A name is `provider/id`. It is found by these rules and no others, in this order:
//!
//! 1. the id as it is;
//! 2. for `google`, without a leading `models/`, which its API puts before every id;
//! 3. without a date at its end (`-20250929`, `-2025-09-29`): a dated edition of a listed model that
//!    is not listed itself has that model's limits and prices.
//!
//! A reseller's models have the reseller's ids: `openrouter/anthropic/claude-sonnet-4.5` is found
//! among OpenRouter's, and never among Anthropic's.

mod bundle;
pub mod decimal;
mod document;
mod entry;
mod shape;

pub use bundle::Listed;
pub use document::{CatalogueError, Document, LONGEST};
pub use entry::{Entry, Own, Rates, Source};

use std::collections::{BTreeMap, BTreeSet};

/// All that is known of models.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    file: Option<Document>,
    own: BTreeMap<(String, String), Own>,
}

impl Catalogue {
    /// The list that comes with the program. Costs nothing until something is looked up.
    #[must_use]
    pub fn bundled() -> Catalogue {
        Catalogue::default()
    }

    /// With a file of the user's over the bundled list: what it lists beats what is bundled, model
    /// by model.
    pub fn with_overrides(self, text: &str) -> Result<Catalogue, CatalogueError> {
        Ok(self.with_document(Document::parse(text)?))
    }

    /// The same with a list that was read already.
    #[must_use]
    pub fn with_document(mut self, document: Document) -> Catalogue {
        self.file = Some(document);
        self
    }

    /// With what the user says of one model, `provider/name`.
    #[must_use]
    pub fn with_own(mut self, name: &str, own: Own) -> Catalogue {
        if let Some((provider, id)) = name.split_once('/') {
            self.own.insert((provider.to_owned(), id.to_owned()), own);
        }
        self
    }

    /// What is known of a model; `None` when nothing is.
    #[must_use]
    pub fn model(&self, name: &str) -> Option<Entry> {
        let (provider, id) = name.split_once('/')?;
        let own = self.own.get(&(provider.to_owned(), id.to_owned()));
        match (spellings(provider, id).find_map(|id| self.listed(provider, id)), own) {
            (Some(entry), Some(own)) => Some(own.over(entry)),
            (None, Some(own)) => Some(own.over(Entry::unknown(provider, id))),
            (entry, None) => entry,
        }
    }

    fn listed(&self, provider: &str, id: &str) -> Option<Entry> {
        let key = (provider.to_owned(), id.to_owned());
        let in_file = self.file.as_ref().and_then(|file| file.models.get(&key)).cloned();
        in_file.or_else(|| bundle::model(provider, id))
    }

    /// All models of a provider, by id.
    #[must_use]
    pub fn models(&self, provider: &str) -> Vec<Entry> {
        let mut all: BTreeMap<String, Entry> =
            bundle::models(provider).map(|entry| (entry.id.clone(), entry)).collect();
        let file = self.file.iter().flat_map(|file| file.models.values());
        let file = file.filter(|entry| entry.provider == provider);
        all.extend(file.map(|entry| (entry.id.clone(), entry.clone())));
        for ((_, id), own) in self.own.iter().filter(|((of, _), _)| of == provider) {
            let known = all.remove(id).or_else(|| self.model(&format!("{provider}/{id}")));
            let known = known.unwrap_or_else(|| Entry::unknown(provider, id));
            all.insert(id.clone(), own.over(Entry { id: id.clone(), ..known }));
        }
        all.into_values().collect()
    }

    /// The ids of all providers that any source names: the bundled ones first, in their order.
    #[must_use]
    pub fn providers(&self) -> Vec<String> {
        let mut all: Vec<String> = bundle::providers().map(str::to_owned).collect();
        let listed: BTreeSet<String> = all.iter().cloned().collect();
        let file = self.file.iter().flat_map(|file| file.names.keys());
        let more: BTreeSet<&String> = file.chain(self.own.keys().map(|(of, _)| of)).collect();
        all.extend(more.into_iter().filter(|id| !listed.contains(*id)).cloned());
        all
    }

    /// What the bundled list says of a provider. A user's file has no say in it: it could send a key
    /// elsewhere.
    #[must_use]
    pub fn provider(id: &str) -> Option<Listed> {
        bundle::provider(id)
    }
}

/// The ids that a name may stand for, the likeliest first.
fn spellings<'a>(provider: &str, id: &'a str) -> impl Iterator<Item = &'a str> {
    let bare = match provider {
        "google" => id.strip_prefix("models/"),
        _ => None,
    };
    let undated = without_date(bare.unwrap_or(id));
    std::iter::once(id).chain(bare).chain(undated)
}

/// The id without the date at its end.
fn without_date(id: &str) -> Option<&str> {
    [("-00000000", 9), ("-0000-00-00", 11)].iter().find_map(|(shape, length)| {
        let (head, date) = id.split_at_checked(id.len().checked_sub(*length)?)?;
        let fits = |(a, b): (u8, u8)| if b == b'0' { a.is_ascii_digit() } else { a == b };
        // Models have dates of this millennium; another number is part of a name.
        let is_date = date.bytes().zip(shape.bytes()).all(fits) && date.starts_with("-20");
        (is_date && !head.is_empty()).then_some(head)
    })
}

#[cfg(test)]
mod tests;
