//! From a byte of a text to its line.

/// Where the lines of a text begin.
#[derive(Debug)]
pub(super) struct Starts(Vec<usize>);

impl Starts {
    pub(super) fn of(text: &str) -> Self {
        let after = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self(std::iter::once(0).chain(after.map(|(at, _)| at + 1)).collect())
    }

    /// The line of this byte, from 1.
    pub(super) fn line(&self, at: usize) -> usize {
        self.0.partition_point(|start| *start <= at)
    }
}
