//! JSONPath (RFC 9535): queries read from text, and the nodes of a tree that they select. Reads no
//! documents; `tree` does.
//!
//! One thing is stricter than the RFC: a pattern written in the query that is no I-Regexp (RFC 9485) is
//! an error, where the RFC lets it quietly match nothing.

mod ast;
mod compare;
mod cursor;
mod filter;
mod logic;
mod paths;
mod pattern;
mod read;
mod select;
mod steps;
mod strings;

#[cfg(test)]
mod tests;

pub use steps::TooMuch;

use crate::tree::Node;

/// A query that was understood.
#[derive(Debug, Clone)]
pub struct JsonPath {
    query: ast::Query,
}

/// Why a text is no query.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("at character {at}: {why}")]
pub struct BadPath {
    /// The character at which it stops being one, from 1.
    pub at: usize,
    /// What is wrong there.
    pub why: String,
}

impl JsonPath {
    /// Reads a query.
    pub fn parse(text: &str) -> Result<JsonPath, BadPath> {
        let mut cursor = cursor::Cursor::new(text);
        let query = read::whole(&mut cursor)?;
        Ok(JsonPath { query })
    }

    /// The nodes that it selects, in the order of the RFC; a node that is selected twice is there twice.
    pub fn select<'n>(&self, root: &'n Node) -> Result<Vec<&'n Node>, TooMuch> {
        select::Run::over(root).query(&self.query, root)
    }

    /// The nodes that it selects, each with its normalized path, such as `$['a'][0]`.
    pub fn locate<'n>(&self, root: &'n Node) -> Result<Vec<(String, &'n Node)>, TooMuch> {
        let nodes = self.select(root)?;
        let paths = paths::of(root, &nodes)?;
        let located = nodes.into_iter().map(|node| {
            let path = paths.get(&std::ptr::from_ref(node)).cloned();
            (path.unwrap_or_default(), node)
        });
        Ok(located.collect())
    }
}
