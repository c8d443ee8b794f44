//! What the catalogue knows of one model. What nobody has said is absent, never a guess.

use cairn_types::PicoUsd;

/// One model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The provider's id, as the catalogue lists it.
    pub provider: String,
    /// The model's id, as the catalogue lists it; a name that was resolved may differ.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// Tokens that a request and its answer may hold together.
    pub context: Option<u64>,
    /// Tokens that an answer may hold.
    pub output: Option<u64>,
    /// What a token costs.
    pub price: Option<Rates>,
    /// Whether it calls tools.
    pub tools: Option<bool>,
    /// Whether it thinks before it answers.
    pub reasoning: Option<bool>,
    /// Whether it takes images.
    pub images: Option<bool>,
    /// Whether it takes PDF documents.
    pub pdf: Option<bool>,
    /// When it came out: a year, a month or a day.
    pub released: Option<String>,
    /// The family it belongs to.
    pub family: Option<String>,
    /// Who says all this.
    pub source: Source,
}

impl Entry {
    /// A model of which nothing is known but its name.
    #[must_use]
    pub fn unknown(provider: &str, id: &str) -> Entry {
        Entry {
            provider: provider.to_owned(),
            id: id.to_owned(),
            name: id.to_owned(),
            context: None,
            output: None,
            price: None,
            tools: None,
            reasoning: None,
            images: None,
            pdf: None,
            released: None,
            family: None,
            source: Source::Own,
        }
    }
}

/// What one token costs, in pico-dollars. What is absent is charged as the provider charges it:
/// a cached token like any other sent, reasoning like any other answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rates {
    /// A token sent.
    pub input: PicoUsd,
    /// A token received.
    pub output: PicoUsd,
    /// A token sent that the provider's cache held.
    pub cache_read: Option<PicoUsd>,
    /// A token sent that the provider's cache took up.
    pub cache_write: Option<PicoUsd>,
    /// A token of an answer that was thought about.
    pub reasoning: Option<PicoUsd>,
}

/// Who says what is known of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The list that comes with this program.
    Bundled,
    /// The user's file of models.
    File,
    /// The user's configuration, at least in part.
    Own,
    /// The server that has the model, which says no more than its name.
    Server,
}

impl Source {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Source::Bundled => "bundled",
            Source::File => "file",
            Source::Own => "configuration",
            Source::Server => "server",
        }
    }
}

/// What a user says of a model; it beats every list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Own {
    /// Tokens that a request and its answer may hold together.
    pub context: Option<u64>,
    /// Tokens that an answer may hold.
    pub output: Option<u64>,
    /// What a token sent costs.
    pub input_price: Option<PicoUsd>,
    /// What a token received costs.
    pub output_price: Option<PicoUsd>,
    /// What a token from the provider's cache costs.
    pub cache_read: Option<PicoUsd>,
    /// What a token into the provider's cache costs.
    pub cache_write: Option<PicoUsd>,
    /// All that it can do, of `tools`, `reasoning`, `images` and `pdf`; nothing is said when absent.
    pub abilities: Option<Vec<String>>,
}

impl Own {
    /// Lays what the user says over what is known. A price needs both of its halves, from either
    /// side; without them it stays unknown. Saying what an answer costs says it of thoughts, too.
    pub(super) fn over(&self, mut entry: Entry) -> Entry {
        entry.context = self.context.or(entry.context);
        entry.output = self.output.or(entry.output);
        if let Some(abilities) = &self.abilities {
            let can = |what: &str| Some(abilities.iter().any(|ability| ability == what));
            (entry.tools, entry.reasoning) = (can("tools"), can("reasoning"));
            (entry.images, entry.pdf) = (can("images"), can("pdf"));
        }
        let known = entry.price;
        let input = self.input_price.or(known.map(|price| price.input));
        let output = self.output_price.or(known.map(|price| price.output));
        entry.price = input.zip(output).map(|(input, output)| Rates {
            input,
            output,
            cache_read: self.cache_read.or(known.and_then(|price| price.cache_read)),
            cache_write: self.cache_write.or(known.and_then(|price| price.cache_write)),
            reasoning: known.and_then(|p| p.reasoning).filter(|_| self.output_price.is_none()),
        });
        entry.source = Source::Own;
        entry
    }
}
