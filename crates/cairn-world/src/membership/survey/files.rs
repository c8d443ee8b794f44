//! Files in order of path. Their paths are one text, so that many of them are read and left at once.

use super::Surveyed;

/// Files in order of path.
#[derive(Debug, Clone, Default)]
pub(super) struct Files {
    text: String,
    all: Vec<(usize, Surveyed)>,
}

impl Files {
    /// Room for so many, with paths of so many bytes.
    pub(super) fn with_room(files: usize, text: usize) -> Files {
        Files { text: String::with_capacity(text), all: Vec::with_capacity(files) }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// All paths, one after another.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Adds one that comes after all others.
    pub(super) fn push(&mut self, path: &str, known: Surveyed) {
        self.text.push_str(path);
        self.all.push((self.text.len(), known));
    }

    /// The path of one.
    pub(super) fn path(&self, nth: usize) -> &str {
        let start = nth.checked_sub(1).map_or(0, |before| self.all[before].0);
        &self.text[start..self.all[nth].0]
    }

    /// What is known of one.
    pub(super) fn known(&self, nth: usize) -> &Surveyed {
        &self.all[nth].1
    }

    /// Each with its path.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Surveyed)> {
        (0..self.len()).map(|nth| (self.path(nth), self.known(nth)))
    }
}
