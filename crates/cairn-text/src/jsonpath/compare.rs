//! Comparisons, as RFC 9535 has them (2.3.5.2.2).

use super::ast::Comparison;
use super::steps::{Steps, TooMuch};
use crate::tree::{Node, Quantity, Value};
use std::cmp::Ordering;

/// What is compared.
#[derive(Debug, Clone, Copy)]
pub(super) enum Item<'i> {
    /// No value: a query that selected nothing.
    Nothing,
    Null,
    Bool(bool),
    Number(Quantity),
    Text(&'i str),
    /// A list or an object.
    Several(&'i Node),
}

impl<'i> Item<'i> {
    pub(super) fn of(node: &'i Node) -> Self {
        match node.value() {
            Value::Null => Self::Null,
            Value::Bool(truth) => Self::Bool(*truth),
            Value::Number(number) => Self::Number(number.quantity()),
            Value::Text(text) => Self::Text(text),
            Value::List(_) | Value::Object(_) => Self::Several(node),
        }
    }
}

impl Comparison {
    pub(super) fn holds(
        self,
        left: Item<'_>,
        right: Item<'_>,
        steps: &Steps,
    ) -> Result<bool, TooMuch> {
        match self {
            Self::Equal => equal(left, right, steps),
            Self::NotEqual => Ok(!equal(left, right, steps)?),
            Self::Less => less(left, right, steps),
            Self::Greater => less(right, left, steps),
            Self::LessOrEqual => Ok(less(left, right, steps)? || equal(left, right, steps)?),
            Self::GreaterOrEqual => Ok(less(right, left, steps)? || equal(left, right, steps)?),
        }
    }
}

/// Only numbers and texts have an order; UTF-8 sorts as its characters do.
fn less(left: Item<'_>, right: Item<'_>, steps: &Steps) -> Result<bool, TooMuch> {
    match (left, right) {
        (Item::Number(one), Item::Number(two)) => Ok(one.compare(two) == Some(Ordering::Less)),
        (Item::Text(one), Item::Text(two)) => {
            steps.look_through(one.len().min(two.len()))?;
            Ok(one < two)
        }
        _ => Ok(false),
    }
}

fn equal(left: Item<'_>, right: Item<'_>, steps: &Steps) -> Result<bool, TooMuch> {
    match (left, right) {
        (Item::Nothing, Item::Nothing) | (Item::Null, Item::Null) => Ok(true),
        (Item::Bool(one), Item::Bool(two)) => Ok(one == two),
        (Item::Number(one), Item::Number(two)) => Ok(one.compare(two) == Some(Ordering::Equal)),
        (Item::Text(one), Item::Text(two)) => {
            steps.look_through(one.len().min(two.len()))?;
            Ok(one == two)
        }
        (Item::Several(one), Item::Several(two)) => alike(one, two, steps),
        _ => Ok(false),
    }
}

/// Whether two lists, or two objects in any order, have equal values.
fn alike(one: &Node, two: &Node, steps: &Steps) -> Result<bool, TooMuch> {
    let pair = |one, two| {
        steps.take(1)?;
        equal(Item::of(one), Item::of(two), steps)
    };
    match (one.value(), two.value()) {
        (Value::List(ones), Value::List(twos)) if ones.len() == twos.len() => {
            for (one, two) in ones.iter().zip(twos) {
                if !pair(one, two)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Value::Object(ones), Value::Object(twos)) if ones.len() == twos.len() => {
            for (name, one) in ones {
                steps.look_through(twos.len())?;
                match twos.iter().find(|(known, _)| known == name) {
                    Some((_, two)) if pair(one, two)? => {}
                    _ => return Ok(false),
                }
            }
            Ok(true)
        }
        _ => Ok(false),
    }
}
