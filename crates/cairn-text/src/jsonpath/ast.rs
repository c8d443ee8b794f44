//! Queries as data. What the grammar and the types of functions forbid cannot be said here.

use super::pattern::Pattern;
use crate::tree::Quantity;

/// Where a query begins, and the segments that it goes through.
#[derive(Debug, Clone)]
pub(super) struct Query {
    pub(super) from: From,
    pub(super) segments: Vec<Segment>,
}

/// Where a query begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    /// `$`
    Root,
    /// `@`
    Current,
}

/// One step of a query, for every node that it has come to.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    pub(super) reach: Reach,
    pub(super) selectors: Vec<Selector>,
}

/// Of what a segment selects the children.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Of the node itself.
    Child,
    /// Of the node and of everything beneath it.
    Descendant,
}

/// Which children are selected.
#[derive(Debug, Clone)]
pub(super) enum Selector {
    Name(String),
    All,
    Index(i64),
    Slice { start: Option<i64>, end: Option<i64>, step: i64 },
    Filter(Logic),
}

/// What a filter asks of a child.
#[derive(Debug, Clone)]
pub(super) enum Logic {
    Any(Vec<Logic>),
    All(Vec<Logic>),
    Not(Box<Logic>),
    Exists(Query),
    Matches(Matches),
    Compared(Operand, Comparison, Operand),
}

/// How two operands are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// What has one value, or none.
#[derive(Debug, Clone)]
pub(super) enum Operand {
    Null,
    Bool(bool),
    Number(Quantity),
    Text(String),
    Node(Singular),
    /// `length`
    Length(Box<Operand>),
    /// `count`
    Count(Query),
    /// `value`
    Value(Query),
}

/// A query that selects one node at most.
#[derive(Debug, Clone)]
pub(super) struct Singular {
    pub(super) from: From,
    pub(super) steps: Vec<Step>,
}

/// One step of such a query.
#[derive(Debug, Clone)]
pub(super) enum Step {
    Name(String),
    Index(i64),
}

/// `match` and `search`.
#[derive(Debug, Clone)]
pub(super) struct Matches {
    pub(super) text: Operand,
    pub(super) pattern: PatternOf,
    pub(super) extent: Extent,
}

/// Which part of a text a pattern describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Extent {
    /// All of it: `match`.
    Whole,
    /// Some part: `search`.
    Part,
}

/// Where a pattern comes from.
#[derive(Debug, Clone)]
pub(super) enum PatternOf {
    /// It is written in the query.
    Query(Pattern),
    /// It is a value, most often of the document.
    Value(Operand),
}

impl Query {
    /// The same query, if it selects one node at most by its form.
    pub(super) fn singular(self) -> Option<Singular> {
        let steps = self.segments.into_iter().map(|segment| {
            let mut selectors = segment.selectors.into_iter();
            match (segment.reach, selectors.next(), selectors.next()) {
                (Reach::Child, Some(Selector::Name(name)), None) => Some(Step::Name(name)),
                (Reach::Child, Some(Selector::Index(index)), None) => Some(Step::Index(index)),
                _ => None,
            }
        });
        Some(Singular { from: self.from, steps: steps.collect::<Option<_>>()? })
    }
}
