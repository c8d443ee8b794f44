//! Goes through the segments of a query, from nodes to nodes.

use super::ast::{From, Query, Reach, Segment, Selector};
use super::filter::Patterns;
use super::steps::{Steps, TooMuch};
use crate::tree::{Node, Value};

/// One query over one document.
#[derive(Debug)]
pub(super) struct Run<'n> {
    root: &'n Node,
    pub(super) steps: Steps,
    pub(super) patterns: Patterns,
}

impl<'n> Run<'n> {
    pub(super) fn over(root: &'n Node) -> Self {
        Self { root, steps: Steps::new(), patterns: Patterns::default() }
    }

    /// The node where a query begins.
    pub(super) fn start(&self, from: From, current: &'n Node) -> &'n Node {
        match from {
            From::Root => self.root,
            From::Current => current,
        }
    }

    /// The nodes that a query selects.
    pub(super) fn query(&self, query: &Query, current: &'n Node) -> Result<Vec<&'n Node>, TooMuch> {
        self.steps.take(1)?;
        let mut nodes = vec![self.start(query.from, current)];
        for segment in &query.segments {
            let mut next = Vec::new();
            for node in nodes {
                self.segment(segment, node, &mut next)?;
            }
            nodes = next;
        }
        Ok(nodes)
    }

    fn segment(
        &self,
        segment: &Segment,
        node: &'n Node,
        found: &mut Vec<&'n Node>,
    ) -> Result<(), TooMuch> {
        if segment.reach == Reach::Child {
            return self.children(segment, node, found);
        }
        // A node comes before what lies in it, and that in order.
        let mut waiting = vec![node];
        while let Some(node) = waiting.pop() {
            self.steps.take(1)?;
            self.children(segment, node, found)?;
            waiting.extend(node.children().rev());
        }
        Ok(())
    }

    fn children(
        &self,
        segment: &Segment,
        node: &'n Node,
        found: &mut Vec<&'n Node>,
    ) -> Result<(), TooMuch> {
        for selector in &segment.selectors {
            match selector {
                Selector::Name(name) => found.extend(self.named(node, name)?),
                Selector::Index(index) => found.extend(self.at(node, *index)?),
                Selector::All => {
                    self.steps.take(node.len())?;
                    found.extend(node.children());
                }
                Selector::Slice { start, end, step } => {
                    self.slice(node, (*start, *end, *step), found)?;
                }
                Selector::Filter(logic) => {
                    for child in node.children() {
                        self.steps.take(1)?;
                        if self.holds(logic, child)? {
                            found.push(child);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// The child of this name.
    pub(super) fn named(&self, node: &'n Node, name: &str) -> Result<Option<&'n Node>, TooMuch> {
        let Value::Object(fields) = node.value() else { return Ok(None) };
        self.steps.look_through(fields.len())?;
        Ok(fields.iter().find(|(known, _)| known == name).map(|(_, node)| node))
    }

    /// The child at this place of a list, from its end if the place is negative.
    pub(super) fn at(&self, node: &'n Node, index: i64) -> Result<Option<&'n Node>, TooMuch> {
        let Value::List(items) = node.value() else { return Ok(None) };
        self.steps.take(1)?;
        let place = if index < 0 { from_end(index, items.len()) } else { index };
        Ok(usize::try_from(place).ok().and_then(|place| items.get(place)))
    }

    fn slice(
        &self,
        node: &'n Node,
        (start, end, step): (Option<i64>, Option<i64>, i64),
        found: &mut Vec<&'n Node>,
    ) -> Result<(), TooMuch> {
        let Value::List(items) = node.value() else { return Ok(()) };
        let length = signed(items.len());
        let placed = |place: i64| if place < 0 { from_end(place, items.len()) } else { place };
        // The bounds of RFC 9535, 2.3.4.2.2.
        let (mut at, bound) = match step {
            0 => return Ok(()),
            1.. => {
                let lower = placed(start.unwrap_or(0)).clamp(0, length);
                (lower, placed(end.unwrap_or(length)).clamp(0, length))
            }
            _ => {
                let upper = start.map_or(length - 1, placed).clamp(-1, length - 1);
                (upper, end.map_or(-1, placed).clamp(-1, length - 1))
            }
        };
        while (step > 0 && at < bound) || (step < 0 && at > bound) {
            self.steps.take(1)?;
            found.extend(usize::try_from(at).ok().and_then(|at| items.get(at)));
            at = at.saturating_add(step);
        }
        Ok(())
    }
}

/// A place counted from the end of a list.
fn from_end(place: i64, length: usize) -> i64 {
    place.saturating_add(signed(length))
}

fn signed(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}
