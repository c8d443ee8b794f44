//! Pins every name that is written into a log, a receipt or a bundle: what older versions wrote is read by them. A field
//! or a variant may be added, none may be renamed or go. The names are those that reading asks for.

use crate::fact::names_by_kind;
use crate::{CheckpointPayload, ReceiptPayload, StoredFact};
use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, Visitor};
use serde::de::{MapAccess, SeqAccess, VariantAccess};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::fmt::{self, Display};
use std::path::Path;

/// Texts of which one is right for every type that is read from text.
const TEXTS: [&str; 5] = [
    "x",
    "r00000000000000",
    "s00000000000000",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "1/1/1",
];
/// So many readings that bring no new name end the search.
const IDLE_READINGS: usize = 100;
/// So deep is what is read: some types hold themselves.
const DEEPEST: usize = 24;

/// The names that reading a type asks for: `path.field` and `path=variant`.
pub(crate) fn names_of<T: for<'de> Deserialize<'de>>(path: &str) -> BTreeSet<String> {
    let search = RefCell::new(Search::default());
    let (mut idle, mut known, mut was_read) = (0, 0, false);
    while idle < IDLE_READINGS {
        was_read |= read::<T>(&search, path).is_some();
        let names = search.borrow().names.len();
        idle = if names == known { idle + 1 } else { 0 };
        known = names;
    }
    assert!(was_read, "{path} could not be read");
    search.into_inner().names
}

/// A value with all its fields, one entry in each of its lists.
pub(crate) fn filled<T: for<'de> Deserialize<'de>>(path: &str) -> T {
    let search = RefCell::new(Search::default());
    let mut readings = (0..IDLE_READINGS).filter_map(|_| read(&search, path));
    readings.next().unwrap_or_else(|| panic!("{path} could not be read"))
}

/// Reads a value; `None` if a text did not fit, of which the next reading tries another.
fn read<T: for<'de> Deserialize<'de>>(search: &RefCell<Search>, path: &str) -> Option<T> {
    let read = T::deserialize(Asked { search, path: path.to_owned(), depth: 0 });
    let mut search = search.borrow_mut();
    search.readings += 1;
    read.map_err(|Problem(why)| search.take_next_text(&why)).ok()
}

#[derive(Default)]
struct Search {
    names: BTreeSet<String>,
    readings: usize,
    /// The place of the text that was asked for last.
    last_text: String,
    /// Per place, which texts are tried there, and which of them is next.
    texts: HashMap<String, Texts>,
}

struct Texts {
    all: Vec<String>,
    next: usize,
}

impl Search {
    fn text(&mut self, path: &str) -> String {
        path.clone_into(&mut self.last_text);
        let all = || TEXTS.map(str::to_owned).to_vec();
        let texts =
            self.texts.entry(path.to_owned()).or_insert_with(|| Texts { all: all(), next: 0 });
        texts.all[texts.next % texts.all.len()].clone()
    }

    /// The text that was asked for last was not right: the next time it is another. A tag says which it may be.
    fn take_next_text(&mut self, why: &str) {
        let Some(texts) = self.texts.get_mut(&self.last_text) else { return };
        let Some((_, expected)) = why.split_once("expected one of ") else {
            texts.next += 1;
            return;
        };
        let tags = expected.split('`').skip(1).step_by(2);
        texts.all = tags.map(str::to_owned).collect();
        self.names.extend(texts.all.iter().map(|tag| format!("{}={tag}", self.last_text)));
    }
}

/// Something that is read, by the names that lead to it.
struct Asked<'a> {
    search: &'a RefCell<Search>,
    path: String,
    depth: usize,
}

impl Asked<'_> {
    fn inner(&self, more: &str) -> Self {
        Asked { path: format!("{}{more}", self.path), depth: self.depth + 1, ..*self }
    }

    fn note(&self, more: &str) {
        self.search.borrow_mut().names.insert(format!("{}{more}", self.path));
    }

    fn is_deepest(&self) -> bool {
        self.depth >= DEEPEST
    }
}

#[derive(Debug)]
struct Problem(String);

impl Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Problem {}

impl de::Error for Problem {
    fn custom<T: Display>(message: T) -> Problem {
        Problem(message.to_string())
    }
}

macro_rules! numbers {
    ($($read:ident => $visit:ident),* $(,)?) => {
        $(fn $read<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
            visitor.$visit(1u8.into())
        })*
    };
}

macro_rules! texts {
    ($($read:ident),* $(,)?) => {
        $(fn $read<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
            let text = self.search.borrow_mut().text(&self.path);
            visitor.visit_string(text)
        })*
    };
}

impl<'de> Deserializer<'de> for Asked<'_> {
    type Error = Problem;

    numbers!(
        deserialize_u8 => visit_u8, deserialize_u16 => visit_u16, deserialize_u32 => visit_u32,
        deserialize_u64 => visit_u64, deserialize_u128 => visit_u128, deserialize_i16 => visit_i16,
        deserialize_i32 => visit_i32, deserialize_i64 => visit_i64, deserialize_i128 => visit_i128,
        deserialize_f32 => visit_f32, deserialize_f64 => visit_f64, deserialize_char => visit_char,
    );

    texts!(
        deserialize_str,
        deserialize_string,
        deserialize_identifier,
        deserialize_bytes,
        deserialize_byte_buf,
    );

    fn deserialize_i8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_i8(1)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_bool(true)
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_unit()
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_unit()
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Problem> {
        visitor.visit_unit()
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        if self.is_deepest() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Problem> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        let left = usize::from(!self.is_deepest());
        visitor.visit_seq(Items { asked: self, left })
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        left: usize,
        visitor: V,
    ) -> Result<V::Value, Problem> {
        visitor.visit_seq(Items { asked: self, left })
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        left: usize,
        visitor: V,
    ) -> Result<V::Value, Problem> {
        visitor.visit_seq(Items { asked: self, left })
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        let left = usize::from(!self.is_deepest());
        visitor.visit_map(Entries { asked: self, left })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        fields.iter().for_each(|field| self.note(&format!(".{field}")));
        visitor.visit_map(Fields { asked: self, fields, now: "" })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        variants.iter().for_each(|variant| self.note(&format!("={variant}")));
        // Places that come often would else all take the same one at once.
        let nth = self.search.borrow().readings + self.path.len();
        let variant = variants[nth % variants.len()];
        visitor.visit_enum(Chosen { asked: self.inner(&format!("={variant}")), variant })
    }
}

/// The entries of a list, which are all alike.
struct Items<'a> {
    asked: Asked<'a>,
    left: usize,
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Problem;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Problem> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        self.left = left;
        seed.deserialize(self.asked.inner("[]")).map(Some)
    }
}

/// The entries of a map whose keys are no names of ours.
struct Entries<'a> {
    asked: Asked<'a>,
    left: usize,
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Problem;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Problem> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        self.left = left;
        seed.deserialize(self.asked.inner("{key}")).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Problem> {
        seed.deserialize(self.asked.inner("{}"))
    }
}

struct Fields<'a> {
    asked: Asked<'a>,
    fields: &'static [&'static str],
    now: &'static str,
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = Problem;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Problem> {
        let Some((first, rest)) = self.fields.split_first() else { return Ok(None) };
        (self.now, self.fields) = (first, rest);
        seed.deserialize((*first).into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Problem> {
        seed.deserialize(self.asked.inner(&format!(".{}", self.now)))
    }
}

struct Chosen<'a> {
    asked: Asked<'a>,
    variant: &'static str,
}

impl<'de, 'a> EnumAccess<'de> for Chosen<'a> {
    type Error = Problem;
    type Variant = Asked<'a>;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Asked<'a>), Problem> {
        Ok((seed.deserialize(self.variant.into_deserializer())?, self.asked))
    }
}

impl<'de> VariantAccess<'de> for Asked<'_> {
    type Error = Problem;

    fn unit_variant(self) -> Result<(), Problem> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Problem> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, left: usize, visitor: V) -> Result<V::Value, Problem> {
        self.deserialize_tuple(left, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        self.deserialize_struct("", fields, visitor)
    }
}

#[test]
#[allow(clippy::disallowed_methods, reason = "new names are taken when the environment says so")]
fn no_serialised_name_is_renamed_or_goes() {
    let mut names = names_by_kind();
    names.extend(names_of::<StoredFact>("stored"));
    names.extend(names_of::<ReceiptPayload>("receipt"));
    names.extend(names_of::<CheckpointPayload>("checkpoint"));
    let now: String = names.iter().map(|name| format!("{name}\n")).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/serialised_names.txt");
    if std::env::var_os("CAIRN_ACCEPT_NAMES").is_some() {
        std::fs::write(&path, &now).unwrap();
    }
    let pinned = std::fs::read_to_string(&path).unwrap();
    let pinned: BTreeSet<String> = pinned.lines().map(str::to_owned).collect();
    let gone: Vec<_> = pinned.difference(&names).collect();
    let new: Vec<_> = names.difference(&pinned).collect();
    assert!(gone.is_empty(), "older logs have these names: {gone:?}");
    assert!(new.is_empty(), "pin them with CAIRN_ACCEPT_NAMES=1: {new:?}");
}

#[test]
fn every_way_to_write_a_name_is_asked_for() {
    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case")]
    #[expect(dead_code, reason = "only read")]
    struct Sample {
        plain_field: Option<Box<Sample>>,
        many: Vec<Choice>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case", tag = "kind", content = "name")]
    #[expect(dead_code, reason = "only read")]
    enum Choice {
        FirstOne,
        Second(Hash),
    }
    use crate::Hash;
    let names = names_of::<Sample>("s");
    for name in [
        "s.plain-field",
        "s.plain-field.many",
        "s.many[].kind",
        "s.many[].name",
        "s.many[].kind=first-one",
        "s.many[].kind=second",
    ] {
        assert!(names.contains(name), "{name} in {names:?}");
    }
}
