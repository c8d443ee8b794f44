//! The person's global git excludes: what they say, and which changes of files change them. Finds out which file
//! is in force for nobody: whoever starts Cairn says where it is.

use super::rules;
use super::start::Placed;
use cairn_types::Hash;
use ignore::gitignore::Gitignore;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How much of the excludes is read.
const MOST_BYTES: u64 = 1 << 20;
/// How many links may lead to them, one after the other.
const MOST_LINKS: usize = 40;

/// The person's global git excludes, which git reads in every repository.
#[derive(Debug, Clone, Default)]
pub struct GlobalExcludes {
    /// Absolute paths whose change changes the excludes: the links that lead to the file, and the file itself, last.
    paths: Vec<PathBuf>,
    text: String,
}

impl GlobalExcludes {
    /// Reads the excludes at this absolute path. A file that is not there, or cannot be read, says nothing.
    #[must_use]
    pub fn read(path: &Path) -> GlobalExcludes {
        let paths = links_to(path);
        let text = read_text(path).unwrap_or_default();
        GlobalExcludes { paths, text }
    }

    /// Excludes with this text that no change of a file changes.
    #[must_use]
    pub fn from_text(text: String) -> GlobalExcludes {
        GlobalExcludes { paths: Vec::new(), text }
    }

    /// What the excludes said when this process began.
    pub(super) fn rules(&self) -> Gitignore {
        rules::parse(self.text.as_bytes())
    }

    /// Whether a change of this path changes the excludes: it is their file, a link to it, or holds one of those.
    pub(super) fn is_changed_by(&self, path: &Path) -> bool {
        self.paths.iter().any(|own| own.starts_with(path))
    }

    /// The rules that the excludes had before a change of them. What is not known of them is what this process
    /// found when it began.
    pub(super) fn before(
        &self,
        Placed { path, change }: &Placed<'_>,
        contents: &dyn Fn(&Hash) -> Option<Vec<u8>>,
    ) -> Gitignore {
        let Some(before) = &change.before else { return Gitignore::empty() };
        if let Some(target) = &before.link {
            let target = path.parent().unwrap_or(path).join(target);
            return read_text(&target).map_or_else(|| self.rules(), |t| rules::parse(t.as_bytes()));
        }
        let bytes = before.hash.as_ref().and_then(contents);
        bytes.map_or_else(|| self.rules(), |bytes| rules::parse(&bytes))
    }

    /// The rules that changes leave in the excludes; `None` if they do not change them. A text that is not known
    /// says nothing.
    pub(super) fn after(
        &self,
        changes: &[Placed<'_>],
        contents: &dyn Fn(&Hash) -> Option<Vec<u8>>,
    ) -> Option<Arc<Gitignore>> {
        let of_excludes = |placed: &&Placed<'_>| self.is_changed_by(&placed.path);
        let Placed { change, .. } = changes.iter().rev().find(of_excludes)?;
        let bytes = change.after.as_ref().and_then(|state| state.hash.as_ref().and_then(contents));
        Some(Arc::new(rules::parse(&bytes.unwrap_or_default())))
    }
}

/// The paths of the links that lead to a file, each with the real path of its folder, and of the file itself.
fn links_to(path: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut next = Some(path.to_owned());
    while let Some(path) = next.take().filter(|_| found.len() < MOST_LINKS) {
        let folder = path.parent().map(|folder| folder.canonicalize().unwrap_or(folder.to_owned()));
        let real = folder.zip(path.file_name()).map(|(folder, name)| folder.join(name));
        let Some(real) = real else { break };
        next = std::fs::read_link(&real).ok().and_then(|to| Some(real.parent()?.join(to)));
        found.push(real);
    }
    found
}

fn read_text(path: &Path) -> Option<String> {
    let file = File::open(path).ok().filter(|file| file.metadata().is_ok_and(|m| m.is_file()))?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
