//! Paths that rules keep from being read, by whatever way they are reached: through a link, in a search,
//! in a directory that is copied. Which rules there are is not known here.

use crate::folders::workspace::Workspace;
use crate::settled::Refusal;
use cairn_text::glob::{PathGlob, plain};
use cairn_types::Status;
use std::sync::Arc;

/// By what a path may come to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    /// It is asked for.
    Read,
    /// A search comes upon it.
    Search,
    /// It is edited, and shown where that fails.
    Edit,
    /// It is carried to where it can be read.
    Carry,
    /// It is told without being asked for, as instructions are.
    Tell,
}

impl Door {
    /// All of them.
    pub const ALL: [Door; 5] = [Door::Read, Door::Search, Door::Edit, Door::Carry, Door::Tell];
}

/// Paths that are kept from being read.
#[derive(Debug, Clone)]
pub struct Kept {
    /// Which.
    pub glob: PathGlob,
    /// Not where it is asked for by its own name, since a person is asked about that.
    pub asked: bool,
    /// By which doors.
    pub doors: Vec<Door>,
}

/// All paths that are kept from being read.
#[derive(Debug, Clone, Default)]
pub struct Unread(pub Arc<[Kept]>);

impl Unread {
    /// Refuses to read what is kept from it. `real` is where the path that was given leads, and
    /// `named` is that path as real ones are told.
    fn refuse(&self, door: Door, given: &str, named: &str, real: &str) -> Result<(), Refusal> {
        let by_name = plain(named) == plain(real);
        if self.by(door).any(|kept| !(kept.asked && by_name) && kept.glob.matches(real)) {
            let what =
                if by_name { given.to_owned() } else { format!("{given} leads to {real}, which") };
            let text = format!("{what} is kept from being read by the policy");
            return Err(Refusal::new(Status::REFUSED, text));
        }
        Ok(())
    }

    /// Whether a search passes over this path beneath a folder, whose paths are told with this lead.
    pub(crate) fn passes_over(&self, lead: Option<&str>, path: &[u8]) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let path = String::from_utf8_lossy(path);
        let path = path.trim_end_matches('/');
        let whole = lead.map(|lead| format!("{lead}/{path}"));
        self.matches(Door::Search, path) || whole.is_some_and(|w| self.matches(Door::Search, &w))
    }

    fn by(&self, door: Door) -> impl Iterator<Item = &Kept> {
        self.0.iter().filter(move |kept| kept.doors.contains(&door))
    }

    fn matches(&self, door: Door, path: &str) -> bool {
        self.by(door).any(|kept| kept.glob.matches(path))
    }
}

impl Workspace {
    /// Refuses to read what is kept from it. `real` is where the path that was given leads.
    pub(crate) fn refuse_unread(&self, door: Door, given: &str, real: &str) -> Result<(), Refusal> {
        self.unread.refuse(door, given, &self.named(given)?, real)
    }

    /// Refuses what nobody asked for by its name: what is kept from being read, and what is read only
    /// when a person says so.
    pub(crate) fn refuse_unasked(&self, given: &str, real: &str) -> Result<(), Refusal> {
        let kept = |path: &str| self.unread.matches(Door::Tell, path);
        if kept(real) || kept(&plain(&self.named(given)?)) {
            let text = format!("{given} is kept from being read by the policy");
            return Err(Refusal::new(Status::REFUSED, text));
        }
        Ok(())
    }

    /// A path as real ones are told, however it was given.
    fn named(&self, given: &str) -> Result<String, Refusal> {
        Ok(self.root.op_path(&self.relative(given)?))
    }
}
