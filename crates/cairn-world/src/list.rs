//! Lists a directory, some levels deep. Follows no link.

use crate::path;
use crate::settled::{Performed, Refusal};
use crate::walk::names;
use crate::workspace::{Workspace, entry, refusal};
use cairn_types::Status;
use rustix::fs::OFlags;
use std::os::fd::{AsFd, OwnedFd};
use tokio_util::sync::CancellationToken;

/// The most names told at once.
const MAX_NAMES: usize = 1000;
/// The most levels.
const MAX_DEPTH: u64 = 32;

/// Lists what is in a directory.
pub(crate) fn perform(
    workspace: &Workspace,
    path: &str,
    (depth, _ignored): (u64, bool),
    cancel: &CancellationToken,
) -> Result<Performed, Refusal> {
    let opened = workspace.open_existing(path)?;
    if !opened.is_directory() {
        let text = format!("{path} is a file, {} bytes", opened.bytes());
        return Ok(Performed::told(Status::OK, text));
    }
    directory(&opened.fd, depth, cancel)
}

/// Lists an open directory.
pub(crate) fn directory(
    fd: &OwnedFd,
    depth: u64,
    cancel: &CancellationToken,
) -> Result<Performed, Refusal> {
    let mut listing =
        Listing { rows: Vec::new(), more: 0, depth: depth.clamp(1, MAX_DEPTH), cancel };
    listing.add(fd, "", 1)?;
    if listing.rows.is_empty() {
        return Ok(Performed::told(Status::OK, "(empty)"));
    }
    if listing.more > 0 {
        listing.rows.push(format!("… {} more names", listing.more));
    }
    Ok(Performed::told(Status::OK, listing.rows.join("\n")))
}

struct Listing<'a> {
    rows: Vec<String>,
    more: usize,
    depth: u64,
    cancel: &'a CancellationToken,
}

impl Listing<'_> {
    fn add(&mut self, dir: &OwnedFd, prefix: &str, level: u64) -> Result<(), Refusal> {
        if self.cancel.is_cancelled() {
            return Err(Refusal::new(Status::CANCELLED, "cancelled"));
        }
        let shown = if prefix.is_empty() { "the directory" } else { prefix };
        let mut found = names(dir).map_err(|e| refusal(shown, e))?;
        found.sort();
        for name in found {
            let row = format!("{prefix}{}", path::shown(&name.sort_key));
            let is_directory = name.sort_key.last() == Some(&b'/');
            if self.rows.len() < MAX_NAMES {
                self.rows.push(row.clone());
            } else {
                self.more += 1;
            }
            let bytes = name.into_bytes();
            if is_directory && level < self.depth && !bytes.eq_ignore_ascii_case(b".git") {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY;
                if let Ok(inner) = entry(dir.as_fd(), &bytes, flags) {
                    self.add(&inner, &row, level + 1)?;
                }
            }
        }
        Ok(())
    }
}
