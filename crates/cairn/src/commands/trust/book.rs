//! Which projects a person trusts, and what each would run then. A file in the home that is its
//! owner's alone; no project can write it.

use crate::home::private::{self, Seen};
use anyhow::{Context, Result};
use cairn_types::Hash;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The longest such file.
const LONGEST: u64 = 16 << 20;

/// What a person trusts.
pub struct Book {
    path: PathBuf,
    kept: Kept,
}

#[derive(Default, Serialize, Deserialize)]
struct Kept {
    projects: BTreeMap<String, Trusted>,
}

/// What was trusted of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trusted {
    /// The hash of what would run.
    pub hash: Hash,
    /// When, milliseconds since 1970.
    pub at: u64,
}

impl Book {
    /// Reads what is kept in a home; nothing when nobody trusted anything.
    pub fn open(home: &Path) -> Result<Book> {
        let path = home.join("trust.json");
        let shown = path.display().to_string();
        let text = private::read(&path, LONGEST, Seen::ByOwner)
            .with_context(|| format!("{shown} cannot be read"))?;
        let kept = match text {
            Some(text) => serde_json::from_str(&text)
                .with_context(|| format!("{shown} is damaged; move it away and trust anew"))?,
            None => Kept::default(),
        };
        Ok(Book { path, kept })
    }

    /// Whether just this was trusted there.
    #[must_use]
    pub fn trusts(&self, root: &Path, hash: &Hash) -> bool {
        let kept = self.kept.projects.get(&*root.to_string_lossy());
        kept.is_some_and(|trusted| trusted.hash == *hash)
    }

    /// Whether something was trusted there.
    #[must_use]
    pub fn knows(&self, root: &Path) -> bool {
        self.kept.projects.contains_key(&*root.to_string_lossy())
    }

    /// All projects, by root.
    pub fn all(&self) -> impl Iterator<Item = (&str, &Trusted)> {
        self.kept.projects.iter().map(|(root, trusted)| (root.as_str(), trusted))
    }

    /// Trusts this there, and nothing else any longer.
    pub fn trust(&mut self, root: &Path, hash: &Hash, at: u64) -> Result<()> {
        let trusted = Trusted { hash: *hash, at };
        self.kept.projects.insert(root.to_string_lossy().into_owned(), trusted);
        self.write()
    }

    /// Trusts nothing there. Whether something was.
    pub fn revoke(&mut self, root: &Path) -> Result<bool> {
        let was = self.kept.projects.remove(&*root.to_string_lossy()).is_some();
        if was {
            self.write()?;
        }
        Ok(was)
    }

    fn write(&self) -> Result<()> {
        let text = serde_json::to_string_pretty(&self.kept)?;
        let shown = self.path.display();
        private::replace(&self.path, &text, Seen::ByOwner)
            .with_context(|| format!("{shown} cannot be written"))
    }
}
