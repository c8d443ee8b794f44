//! What a scope selects among the items of a JSON document, and the document with that replaced: the
//! items of an array or the pairs of an object, in the order of the text. Lines are [`crate::slice`].
//!
//! Whatever is not replaced stays byte for byte, and so does an item that is replaced by itself. A
//! result always parses.

mod json;
mod layout;
mod problem;

use crate::moves::Moves;
use crate::scope::{Scope, within};
pub use json::JsonError;
use json::{Kind, Outline};
use layout::Layout;
pub use problem::{Holds, ItemsProblem};
use std::collections::HashSet;
use std::ops::Range;

/// A part of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selected {
    /// The first item that belongs to it, from 1.
    pub first: usize,
    /// The last one; one less than the first where there is none.
    pub last: usize,
    /// The items as they stand, as a document of the same kind: an array, an object, or the one value.
    /// `[]` or `{}` where there are none.
    pub text: String,
}

/// A document with a part of it replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spliced {
    /// The new document.
    pub text: String,
    /// The first of the new items, from 1, as counted in the new document.
    pub first: usize,
    /// The last one; one less than the first when there are none.
    pub last: usize,
    /// Where the items that stayed were moved.
    pub moves: Moves,
}

/// Whether a text is a JSON document.
#[must_use]
pub fn is_document(text: &str) -> bool {
    Outline::of(text).is_ok()
}

/// Which items of a document a scope selects, counted from 0.
pub(crate) fn place(text: &str, scope: &Scope) -> Result<Range<usize>, ItemsProblem> {
    resolved(&Outline::of(text).map_err(ItemsProblem::Source)?, scope)
}

/// The items of a document that a scope selects. None for the places before the first and after the
/// last one.
///
/// # Errors
///
/// When the text is not JSON, or the scope names items that are not there or something else than items.
pub fn select(text: &str, scope: &Scope) -> Result<Selected, ItemsProblem> {
    let outline = Outline::of(text).map_err(ItemsProblem::Source)?;
    let range = resolved(&outline, scope)?;
    let (first, last) = (range.start + 1, range.end);
    let selected = match (outline.kind, outline.items.get(range)) {
        (Kind::Scalar, Some([_, ..])) => text[outline.at].to_owned(),
        (kind, Some([from, .., to])) => framed(text, &outline, kind, from.start..to.value.end),
        (kind, Some([only])) => framed(text, &outline, kind, only.start..only.value.end),
        (Kind::Object, _) => "{}".to_owned(),
        (Kind::Array | Kind::Scalar, _) => "[]".to_owned(),
    };
    Ok(Selected { first, last, text: selected })
}

/// Some items within the brackets of their document, laid out like all of them.
fn framed(text: &str, outline: &Outline, kind: Kind, items: Range<usize>) -> String {
    let (open, close) = if kind == Kind::Object { ('{', '}') } else { ('[', ']') };
    let first = outline.items.first().map_or(items.start, |item| item.start);
    let last = outline.items.last().map_or(items.end, |item| item.value.end);
    let lead = &text[outline.at.start + 1..first];
    let trail = &text[last..outline.at.end - 1];
    format!("{open}{lead}{}{trail}{close}", &text[items])
}

/// Replaces the items of a document that a scope selects. Before the first and after the last one the
/// body's are inserted; without a body, or with a blank one, the items are deleted.
///
/// In an array the body is an array of new items, or one item that is no array. In an object it is an
/// object of new pairs; a single pair's value is also replaced by a body that is no object. A document
/// that is neither is replaced by one value.
///
/// # Errors
///
/// When text or body are not JSON or do not fit together, the scope names items that are not there or
/// something else than items, or a key would stand there twice.
pub fn splice(text: &str, scope: &Scope, body: Option<&str>) -> Result<Spliced, ItemsProblem> {
    let outline = Outline::of(text).map_err(ItemsProblem::Source)?;
    let range = resolved(&outline, scope)?;
    let body = body.filter(|body| !body.trim().is_empty()).unwrap_or_default();
    let new = match (outline.kind, body) {
        (Kind::Scalar, "") => return Err(ItemsProblem::OneValue),
        (_, "") => New::Items(Vec::new()),
        (kind, body) => new_of(body, kind, &range)?,
    };
    let (first, count) = (range.start + 1, new.len());
    let moves = Moves::of_items(range.clone(), count);
    let text = match new {
        New::Value(value) => with_value(text, &outline, range.start, value),
        New::Items(items) => with_items(text, &outline, range, items)?,
    };
    Ok(Spliced { text, first, last: (first + count).saturating_sub(1), moves })
}

/// What replaces items.
enum New<'a> {
    Items(Vec<NewItem<'a>>),
    /// The value of the one item that is replaced; its key, if any, stays.
    Value(&'a str),
}

/// A new item or pair.
#[derive(Clone, Copy)]
struct NewItem<'a> {
    text: &'a str,
    key: Option<&'a str>,
}

impl New<'_> {
    fn len(&self) -> usize {
        match self {
            New::Items(items) => items.len(),
            New::Value(_) => 1,
        }
    }
}

/// What a body puts in place of these items of a document.
fn new_of<'a>(body: &'a str, kind: Kind, range: &Range<usize>) -> Result<New<'a>, ItemsProblem> {
    let outline = Outline::of(body).map_err(ItemsProblem::Body)?;
    let items = || {
        let items = outline.items.iter();
        let new = |item: &json::Item| NewItem {
            text: &body[item.start..item.value.end],
            key: item.key.clone().map(|key| &body[key]),
        };
        items.map(new).collect::<Vec<_>>()
    };
    let whole = || {
        let fits = outline.depth < json::DEPTH;
        let value = &body[outline.at.clone()];
        fits.then_some(value).ok_or(ItemsProblem::Body(JsonError::too_deep(body, outline.at.start)))
    };
    match (kind, outline.kind) {
        (Kind::Array, Kind::Array) | (Kind::Object, Kind::Object) => Ok(New::Items(items())),
        (Kind::Array, _) => Ok(New::Items(vec![NewItem { text: whole()?, key: None }])),
        (Kind::Object, _) if range.len() == 1 => Ok(New::Value(whole()?)),
        (Kind::Object, _) => Err(ItemsProblem::NotPairs),
        (Kind::Scalar, of) => {
            let new = items();
            match (of, new.as_slice()) {
                _ if range.is_empty() => Err(ItemsProblem::OneValue),
                (Kind::Array, [one]) => Ok(New::Value(one.text)),
                (Kind::Array, _) => Err(ItemsProblem::OneValue),
                _ => Ok(New::Value(&body[outline.at.clone()])),
            }
        }
    }
}

fn resolved(outline: &Outline, scope: &Scope) -> Result<Range<usize>, ItemsProblem> {
    let (first, last) = match scope {
        Scope::At(at) => (*at, None),
        Scope::Range(first, last) => (*first, Some(*last)),
        Scope::Span(..) => return Err(ItemsProblem::Columns),
        Scope::Anchor(_) | Scope::Anchors(..) => return Err(ItemsProblem::Anchors),
    };
    let count = outline.items.len();
    let holds = match outline.kind {
        Kind::Array => Holds::Items(count),
        Kind::Object => Holds::Pairs(count),
        Kind::Scalar => Holds::OneValue,
    };
    within(first, last, count).ok_or(ItemsProblem::OutOfRange { scope: *scope, holds })
}

fn with_value(text: &str, outline: &Outline, index: usize, value: &str) -> String {
    let Some(item) = outline.items.get(index) else { return text.to_owned() };
    let layout = Layout::of(text, outline, index);
    let is_same = text[item.value.clone()] == *value;
    let value = if is_same { value.to_owned() } else { layout.item(value) };
    format!("{}{value}{}", &text[..item.value.start], &text[item.value.end..])
}

fn with_items(
    text: &str,
    outline: &Outline,
    mut range: Range<usize>,
    new: Vec<NewItem<'_>>,
) -> Result<String, ItemsProblem> {
    let items = &outline.items;
    let same = |index: usize, new: &NewItem<'_>| {
        text[items[index].start..items[index].value.end] == *new.text
    };
    let mut new = new.as_slice();
    while let [first, rest @ ..] = new
        && !range.is_empty()
        && same(range.start, first)
    {
        (new, range.start) = (rest, range.start + 1);
    }
    while let [rest @ .., last] = new
        && !range.is_empty()
        && same(range.end - 1, last)
    {
        (new, range.end) = (rest, range.end - 1);
    }
    unique_keys(text, outline, &range, new)?;
    Ok(layout::put(text, outline, range, new.iter().map(|item| item.text)))
}

/// No new key may stand in the document already, nor twice among the new ones.
fn unique_keys(
    text: &str,
    outline: &Outline,
    range: &Range<usize>,
    new: &[NewItem<'_>],
) -> Result<(), ItemsProblem> {
    let (before, after) = (&outline.items[..range.start], &outline.items[range.end..]);
    let kept = before.iter().chain(after).filter_map(|item| item.key.clone());
    let mut keys: HashSet<&str> = kept.map(|key| &text[key]).collect();
    match new.iter().filter_map(|item| item.key).find(|key| !keys.insert(key)) {
        Some(key) => Err(ItemsProblem::Twice(key.to_owned())),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
