//! Lists the members in a directory, some levels deep. Follows no link, and never shows `.git` or what is
//! kept aside.

use crate::folders::path;
use crate::folders::root_directory::entry;
use crate::folders::walk::{Name, names};
use crate::folders::workspace::{Workspace, refusal};
use crate::membership::{Ground, Judge, Judged, Stands, counted};
use crate::settled::{Performed, Refusal};
use cairn_types::Status;
use rustix::fs::OFlags;
use std::os::fd::{AsFd, OwnedFd};
use tokio_util::sync::CancellationToken;

/// The most names told at once.
const MAX_NAMES: usize = 1000;
/// The most levels.
const MAX_DEPTH: u64 = 32;

/// Lists what is in a directory, so many levels of it.
pub(crate) fn perform(
    workspace: &Workspace,
    path: &str,
    depth: u64,
    cancel: &CancellationToken,
) -> Result<Performed, Refusal> {
    let opened = workspace.open_existing(path)?;
    workspace.refuse_stranger(path, &opened.path, opened.is_directory())?;
    if !opened.is_directory() {
        let text = format!("{path} is a file, {} bytes", opened.bytes());
        return Ok(Performed::told(Status::OK, text));
    }
    let judge = Judge::new(workspace);
    let found = judge.find(&opened.path, true)?;
    let mut full = found.full;
    if full.len() > judge.lead.len() {
        full.push(b'/');
    }
    let depth = depth.clamp(1, MAX_DEPTH);
    let (rows, root) = (Vec::new(), opened.path);
    let mut listing = Listing { judge, root, rows, more: 0, strangers: 0, depth, cancel };
    listing.add(&opened.fd, String::new(), &full, (&found.around, &found.judged))?;
    Ok(listing.told())
}

struct Listing<'a> {
    judge: Judge<'a>,
    /// Where the directory that is listed really is.
    root: String,
    rows: Vec<String>,
    more: usize,
    strangers: usize,
    depth: u64,
    cancel: &'a CancellationToken,
}

impl Listing<'_> {
    /// Adds a directory's names; `full` is its path from where rules begin, with a slash at its end.
    fn add(
        &mut self,
        dir: &OwnedFd,
        prefix: String,
        full: &[u8],
        (around, judged): (&Ground, &Judged),
    ) -> Result<(), Refusal> {
        if self.cancel.is_cancelled() {
            return Err(Refusal::new(Status::CANCELLED, "cancelled"));
        }
        let shown = if prefix.is_empty() { "the directory" } else { &prefix };
        let mut found = names(dir).map_err(|e| refusal(shown, e))?;
        found.sort();
        let ground = self.judge.inside(around, judged, (dir.as_fd(), &found), full.len());
        let within = if prefix.is_empty() { self.root.clone() } else { prefix.clone() };
        let level = prefix.matches('/').count() as u64 + 1;
        let is_shown = |name: &&Name| !path::is_hidden(within.as_bytes(), name.bare());
        for name in found.iter().filter(is_shown) {
            let path = [full, &name.sort_key].concat();
            let bare = path.strip_suffix(b"/").unwrap_or(&path);
            let judged = self.judge.judge(&ground, bare, name.directory().is_some());
            if judged.stands == Stands::Not {
                self.strangers += 1;
                continue;
            }
            let row = format!("{prefix}{}", path::shown(&name.sort_key));
            if self.rows.len() < MAX_NAMES {
                self.rows.push(row.clone());
            } else {
                self.more += 1;
            }
            let Some(inner) = name.directory().filter(|_| level < self.depth) else { continue };
            let flags = OFlags::RDONLY | OFlags::DIRECTORY;
            if let Ok(inner) = entry(dir.as_fd(), inner, flags) {
                self.add(&inner, row, &path, (&ground, &judged))?;
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
        if let Some(strangers) = counted(self.strangers) {
            self.rows.push(format!("not listed: {strangers}"));
        }
        Performed::told(Status::OK, self.rows.join("\n"))
    }
}
