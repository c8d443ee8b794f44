//! The JSON shapes a list of models may have, as they stand in a file: ours, and that of models.dev.
//! Reads them leniently and borrows numbers as text; what the values may be is checked elsewhere.

use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::fmt;
use std::marker::PhantomData;

/// A provider.
#[derive(Deserialize)]
pub(super) struct Provider<'a> {
    /// Its name for people.
    pub(super) name: Option<String>,
    /// The variables that hold its key.
    #[serde(default)]
    pub(super) env: Vec<String>,
    /// Its endpoint.
    pub(super) api: Option<String>,
    /// Its models.
    #[serde(borrow)]
    pub(super) models: Models<'a>,
}

/// A model.
#[derive(Deserialize)]
pub(super) struct Model<'a> {
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    pub(super) context: Option<u64>,
    pub(super) output: Option<u64>,
    pub(super) limit: Option<Limit>,
    #[serde(borrow)]
    pub(super) cost: Option<Cost<'a>>,
    pub(super) tool_call: Option<bool>,
    pub(super) reasoning: Option<bool>,
    pub(super) input: Option<Vec<String>>,
    pub(super) modalities: Option<Modalities>,
    pub(super) released: Option<String>,
    pub(super) release_date: Option<String>,
    pub(super) family: Option<String>,
}

/// Limits as models.dev has them.
#[derive(Deserialize)]
pub(super) struct Limit {
    pub(super) context: Option<u64>,
    pub(super) output: Option<u64>,
}

/// What a model takes, as models.dev has it.
#[derive(Deserialize)]
pub(super) struct Modalities {
    pub(super) input: Option<Vec<String>>,
}

/// Prices in US dollars per million tokens, as they are written.
#[derive(Deserialize)]
pub(super) struct Cost<'a> {
    #[serde(borrow)]
    pub(super) input: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) output: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) cache_read: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) cache_write: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) reasoning: Option<&'a RawValue>,
}

/// An object's members in their order, so that one that stands twice is seen twice.
pub(super) struct Pairs<T>(pub(super) Vec<(String, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Pairs<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(PairsVisitor(PhantomData))
    }
}

struct PairsVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for PairsVisitor<T> {
    type Value = Pairs<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<T>, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Pairs(pairs))
    }
}

/// A provider's models with their ids: a list, or an object by id.
pub(super) struct Models<'a>(pub(super) Vec<(String, Model<'a>)>);

impl<'de: 'a, 'a> Deserialize<'de> for Models<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ModelsVisitor(PhantomData))
    }
}

struct ModelsVisitor<'a>(PhantomData<&'a ()>);

impl<'de: 'a, 'a> Visitor<'de> for ModelsVisitor<'a> {
    type Value = Models<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of models, or an object of models by id")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Models<'a>, A::Error> {
        let mut models = Vec::new();
        while let Some(mut model) = seq.next_element::<Model<'a>>()? {
            let id = model.id.take().ok_or_else(|| A::Error::missing_field("id"))?;
            models.push((id, model));
        }
        Ok(Models(models))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Models<'a>, A::Error> {
        PairsVisitor(PhantomData).visit_map(map).map(|pairs| Models(pairs.0))
    }
}
