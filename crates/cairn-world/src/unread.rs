//! Paths that rules keep from being read, by whatever way they are reached: through a link, in a search,
//! in a directory that is copied. Which rules there are is not known here.

use crate::settled::Refusal;
use crate::workspace::Workspace;
use cairn_text::glob::{PathGlob, plain};
use cairn_types::Status;
use std::sync::Arc;

/// Paths that are not read, and paths that are read only by their own name, since a person is asked.
#[derive(Debug, Clone, Default)]
pub struct Unread {
    /// Never.
    pub never: Arc<[PathGlob]>,
    /// Only where it is asked for by name.
    pub asked: Arc<[PathGlob]>,
}

impl Unread {
    /// Refuses to read what is kept from it. `real` is where the path that was given leads, and
    /// `named` is that path as real ones are told.
    fn refuse(&self, given: &str, named: &str, real: &str) -> Result<(), Refusal> {
        let by_name = plain(named) == plain(real);
        let never = self.never.iter().any(|glob| glob.matches(real));
        if never || !by_name && self.asked.iter().any(|glob| glob.matches(real)) {
            let what =
                if by_name { given.to_owned() } else { format!("{given} leads to {real}, which") };
            let text = format!("{what} is kept from being read by the policy");
            return Err(Refusal::new(Status::REFUSED, text));
        }
        Ok(())
    }

    /// Whether a search passes over this path beneath a folder, whose paths are told with this lead.
    pub(crate) fn passes_over(&self, lead: Option<&str>, path: &[u8]) -> bool {
        if self.never.is_empty() && self.asked.is_empty() {
            return false;
        }
        let path = String::from_utf8_lossy(path);
        let path = path.trim_end_matches('/');
        self.matches(path) || lead.is_some_and(|lead| self.matches(&format!("{lead}/{path}")))
    }

    fn matches(&self, path: &str) -> bool {
        self.never.iter().chain(self.asked.iter()).any(|glob| glob.matches(path))
    }
}

impl Workspace {
    /// Refuses to read what is kept from it. `real` is where the path that was given leads.
    pub(crate) fn refuse_unread(&self, given: &str, real: &str) -> Result<(), Refusal> {
        self.unread.refuse(given, &self.named(given)?, real)
    }

    /// Refuses what nobody asked for by its name: what is kept from being read, and what is read only
    /// when a person says so.
    pub(crate) fn refuse_unasked(&self, given: &str, real: &str) -> Result<(), Refusal> {
        if self.unread.matches(real) || self.unread.matches(&plain(&self.named(given)?)) {
            let text = format!("{given} is kept from being read by the policy");
            return Err(Refusal::new(Status::REFUSED, text));
        }
        Ok(())
    }

    /// A path as real ones are told, however it was given.
    fn named(&self, given: &str) -> Result<String, Refusal> {
        Ok(self.told(&self.relative(given)?))
    }
}
