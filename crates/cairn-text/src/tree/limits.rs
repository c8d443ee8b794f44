//! How much of a document is read into a tree, so that no document takes more memory or stack than a
//! large honest one.

use super::{Node, Unreadable, Value};

/// How deep values lie in each other.
pub(super) const DEPTH: usize = 128;
/// The longest document, in bytes.
pub(super) const BYTES: usize = 32 << 20;
/// How many values a tree has.
const VALUES: usize = 1_000_000;
/// How many bytes of text aliases repeat.
const COPIED: usize = 16 << 20;

/// What one document may still have.
#[derive(Debug)]
pub(super) struct Budget {
    values: usize,
    copied: usize,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self { values: VALUES, copied: COPIED }
    }

    /// Takes one more value.
    pub(super) fn value(&mut self) -> Result<(), Unreadable> {
        let left = self.values.checked_sub(1);
        self.values = left.ok_or(Unreadable::TooMany { limit: VALUES })?;
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), Unreadable> {
        let left = self.copied.checked_sub(text.len());
        self.copied = left.ok_or(Unreadable::TooMuchCopied { limit: COPIED })?;
        Ok(())
    }

    /// A copy of a node that will stand this deep.
    pub(super) fn copy(&mut self, node: &Node, depth: usize) -> Result<Node, Unreadable> {
        within(depth, node.line)?;
        self.value()?;
        let value = match &node.value {
            Value::Text(text) => {
                self.text(text)?;
                Value::Text(text.clone())
            }
            Value::List(items) => Value::List(
                items.iter().map(|item| self.copy(item, depth + 1)).collect::<Result<_, _>>()?,
            ),
            Value::Object(fields) => {
                let mut copied = Vec::with_capacity(fields.len());
                for (name, field) in fields {
                    self.text(name)?;
                    copied.push((name.clone(), self.copy(field, depth + 1)?));
                }
                Value::Object(copied)
            }
            plain => plain.clone(),
        };
        Ok(Node::new(node.line, value))
    }
}

/// Whether a value on this line may stand this deep, the outermost at 0.
pub(super) fn within(depth: usize, line: usize) -> Result<(), Unreadable> {
    match depth < DEPTH {
        true => Ok(()),
        false => Err(Unreadable::TooDeep { line, limit: DEPTH }),
    }
}
