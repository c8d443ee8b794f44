//! Whether a filter holds for a node.

use super::ast::{Extent, Logic, Matches, Operand, PatternOf, Singular, Step};
use super::compare::Item;
use super::pattern::Pattern;
use super::select::Run;
use super::steps::TooMuch;
use crate::tree::{Node, Quantity};
use std::cell::RefCell;
use std::collections::HashMap;

/// The steps that reading a pattern takes, which is more than looking at a node.
const READING: usize = 10_000;
/// How many patterns of the document are kept.
const KEPT: usize = 16;

/// The patterns that the document gave, as they were read; absent where they are none.
#[derive(Debug, Default)]
pub(super) struct Patterns(RefCell<HashMap<(String, Extent), Option<Pattern>>>);

impl<'n> Run<'n> {
    pub(super) fn holds(&self, logic: &Logic, current: &'n Node) -> Result<bool, TooMuch> {
        self.steps.take(1)?;
        match logic {
            Logic::Any(several) => self.first_that_is(true, several, current),
            Logic::All(several) => Ok(!self.first_that_is(false, several, current)?),
            Logic::Not(inner) => Ok(!self.holds(inner, current)?),
            Logic::Exists(query) => Ok(!self.query(query, current)?.is_empty()),
            Logic::Matches(matches) => self.matches(matches, current),
            Logic::Compared(left, sign, right) => {
                let (left, right) = (self.item(left, current)?, self.item(right, current)?);
                sign.holds(left, right, &self.steps)
            }
        }
    }

    /// Whether one of these is so; those after it are not asked.
    fn first_that_is(
        &self,
        wanted: bool,
        several: &[Logic],
        current: &'n Node,
    ) -> Result<bool, TooMuch> {
        for logic in several {
            if self.holds(logic, current)? == wanted {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What an operand is for this node.
    fn item<'i>(&self, operand: &'i Operand, current: &'n Node) -> Result<Item<'i>, TooMuch>
    where
        'n: 'i,
    {
        Ok(match operand {
            Operand::Null => Item::Null,
            Operand::Bool(truth) => Item::Bool(*truth),
            Operand::Number(number) => Item::Number(*number),
            Operand::Text(text) => Item::Text(text),
            Operand::Node(singular) => {
                self.singular(singular, current)?.map_or(Item::Nothing, Item::of)
            }
            Operand::Length(of) => self.length(self.item(of, current)?)?,
            Operand::Count(query) => number(self.query(query, current)?.len()),
            Operand::Value(query) => match self.query(query, current)?.as_slice() {
                [only] => Item::of(only),
                _ => Item::Nothing,
            },
        })
    }

    fn singular(
        &self,
        singular: &Singular,
        current: &'n Node,
    ) -> Result<Option<&'n Node>, TooMuch> {
        let mut node = self.start(singular.from, current);
        for step in &singular.steps {
            let next = match step {
                Step::Name(name) => self.named(node, name)?,
                Step::Index(index) => self.at(node, *index)?,
            };
            match next {
                Some(next) => node = next,
                None => return Ok(None),
            }
        }
        Ok(Some(node))
    }

    fn length(&self, item: Item<'_>) -> Result<Item<'static>, TooMuch> {
        Ok(match item {
            Item::Text(text) => {
                self.steps.look_through(text.len())?;
                number(text.chars().count())
            }
            Item::Several(node) => number(node.len()),
            _ => Item::Nothing,
        })
    }

    fn matches(&self, matches: &Matches, current: &'n Node) -> Result<bool, TooMuch> {
        let Item::Text(text) = self.item(&matches.text, current)? else { return Ok(false) };
        match &matches.pattern {
            PatternOf::Query(pattern) => self.is_in(pattern, text),
            PatternOf::Value(operand) => match self.item(operand, current)? {
                Item::Text(pattern) => self.document_pattern(pattern, matches.extent, text),
                _ => Ok(false),
            },
        }
    }

    /// Whether a pattern that stands in the document describes a text. One that is no I-Regexp
    /// describes none.
    fn document_pattern(&self, given: &str, extent: Extent, text: &str) -> Result<bool, TooMuch> {
        let mut kept = self.patterns.0.borrow_mut();
        self.steps.look_through(given.len())?;
        let key = (given.to_owned(), extent);
        if !kept.contains_key(&key) {
            self.steps.take(READING.saturating_add(given.len()))?;
            if kept.len() == KEPT {
                kept.clear();
            }
            kept.insert(key.clone(), Pattern::new(given, extent).ok());
        }
        kept.get(&key).and_then(Option::as_ref).map_or(Ok(false), |known| self.is_in(known, text))
    }

    fn is_in(&self, pattern: &Pattern, text: &str) -> Result<bool, TooMuch> {
        self.steps.look_through(pattern.cost(text))?;
        Ok(pattern.is_in(text))
    }
}

fn number(count: usize) -> Item<'static> {
    Item::Number(Quantity::Whole(i64::try_from(count).unwrap_or(i64::MAX)))
}
