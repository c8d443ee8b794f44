//! Lists a directory, some levels deep, without what is ignored. Follows no link, and never shows
//! `.git` or what is kept aside.

use crate::find::rules::{self, Rules};
use crate::path;
use crate::settled::{Performed, Refusal};
use crate::walk::{Name, names};
use crate::workspace::{Workspace, entry, refusal};
use cairn_types::Status;
use rustix::fs::OFlags;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The most names told at once.
const MAX_NAMES: usize = 1000;
/// The most levels.
const MAX_DEPTH: u64 = 32;

/// How a directory is listed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct How {
    /// How many levels of it.
    pub(crate) depth: u64,
    /// Also what is ignored.
    pub(crate) ignored: bool,
}

/// Lists what is in a directory.
pub(crate) fn perform(
    workspace: &Workspace,
    path: &str,
    how: How,
    cancel: &CancellationToken,
) -> Result<Performed, Refusal> {
    let opened = workspace.open_existing(path)?;
    if !opened.is_directory() {
        let text = format!("{path} is a file, {} bytes", opened.bytes());
        return Ok(Performed::told(Status::OK, text));
    }
    let how = How { depth: how.depth.clamp(1, MAX_DEPTH), ..how };
    let rows = Vec::new();
    let mut listing = Listing { root: String::new(), rows, more: 0, hidden: 0, how, cancel };
    let (rules, full) = match how.ignored {
        true => (None, Vec::new()),
        false => rules_above(workspace, &opened.path)?,
    };
    listing.root = opened.path;
    listing.add(&opened.fd, String::new(), &full, rules.as_ref())?;
    Ok(listing.told())
}

/// The rules that hold in a directory before its own are read, and its path from where they begin.
pub(crate) fn rules_above(
    workspace: &Workspace,
    real: &str,
) -> Result<(Option<Arc<Rules>>, Vec<u8>), Refusal> {
    let above = rules::above(workspace.root(), workspace.path());
    let (mut rules, mut full) = (above.rules, above.lead);
    let mut here = String::new();
    for part in workspace.inner(real).split('/').filter(|part| *part != ".") {
        let at = if here.is_empty() { "." } else { &here };
        let dir = workspace.directory(at).map_err(|e| refusal(at, e))?;
        let found = names(&dir).map_err(|e| refusal(at, e))?;
        rules = Rules::inside(rules.as_ref(), dir.as_fd(), &found, full.len());
        here = if here.is_empty() { part.to_owned() } else { format!("{here}/{part}") };
        full.extend_from_slice(part.as_bytes());
        full.push(b'/');
    }
    Ok((rules, full))
}

struct Listing<'a> {
    /// Where the directory that is listed really is.
    root: String,
    rows: Vec<String>,
    more: usize,
    hidden: usize,
    how: How,
    cancel: &'a CancellationToken,
}

impl Listing<'_> {
    /// Adds a directory's names; `full` is its path from where rules begin.
    fn add(
        &mut self,
        dir: &OwnedFd,
        prefix: String,
        full: &[u8],
        above: Option<&Arc<Rules>>,
    ) -> Result<(), Refusal> {
        if self.cancel.is_cancelled() {
            return Err(Refusal::new(Status::CANCELLED, "cancelled"));
        }
        let shown = if prefix.is_empty() { "the directory" } else { &prefix };
        let mut found = names(dir).map_err(|e| refusal(shown, e))?;
        found.sort();
        let rules = match self.how.ignored {
            true => None,
            false => Rules::inside(above, dir.as_fd(), &found, full.len()),
        };
        let within = if prefix.is_empty() { self.root.clone() } else { prefix.clone() };
        let level = prefix.matches('/').count() as u64 + 1;
        let is_shown = |name: &&Name| !path::is_hidden(within.as_bytes(), name.bare());
        for name in found.iter().filter(is_shown) {
            let path = [full, &name.sort_key].concat();
            let bare = path.strip_suffix(b"/").unwrap_or(&path);
            if rules.as_ref().is_some_and(|r| r.leave_out(bare, name.directory().is_some())) {
                self.hidden += 1;
                continue;
            }
            let row = format!("{prefix}{}", path::shown(&name.sort_key));
            if self.rows.len() < MAX_NAMES {
                self.rows.push(row.clone());
            } else {
                self.more += 1;
            }
            let Some(inner) = name.directory().filter(|_| level < self.how.depth) else { continue };
            let flags = OFlags::RDONLY | OFlags::DIRECTORY;
            if let Ok(inner) = entry(dir.as_fd(), inner, flags) {
                self.add(&inner, row, &path, rules.as_ref())?;
            }
        }
        Ok(())
    }

    fn told(mut self) -> Performed {
        if self.rows.is_empty() {
            self.rows.push("(empty)".to_owned());
        }
        if self.more > 0 {
            self.rows.push(format!("… {} more names", self.more));
        }
        if self.hidden > 0 {
            self.rows.push(format!("not listed: {} ignored", self.hidden));
        }
        Performed::told(Status::OK, self.rows.join("\n"))
    }
}
