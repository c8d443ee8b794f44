//! Private places of a folder: what no op on files sees there, whatever its name. Where they are is handed in;
//! here they are matched with the paths of one folder.

use crate::folders::spelled;
use crate::settled::Refusal;
use cairn_types::{PrivatePlaces, Status};
use std::ffi::OsStr;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The private places that have something to do with one folder.
#[derive(Debug, Clone, Default)]
pub(crate) struct FolderPrivacy {
    root: PathBuf,
    /// All of the machine, for folders that are opened from this one.
    pub(crate) all: Arc<PrivatePlaces>,
    /// Those in the folder, and those that it lies in.
    near: Arc<PrivatePlaces>,
}

impl FolderPrivacy {
    /// Of the folder at `root`, which is its path without links.
    pub(crate) fn new(all: &Arc<PrivatePlaces>, handle: BorrowedFd<'_>, root: &Path) -> Self {
        let mut near = all.within(root);
        // Where a file system takes several spellings, the path that a link tells is as it was asked for.
        let spelled: Vec<PathBuf> = near
            .hidden()
            .filter_map(|place| place.strip_prefix(root).ok()?.to_str())
            .filter_map(|inner| spelled::as_written(handle, inner).ok())
            .map(|inner| root.join(inner))
            .collect();
        spelled.iter().for_each(|place| near.hide(place));
        FolderPrivacy { root: root.to_owned(), all: Arc::clone(all), near: Arc::new(near) }
    }

    /// The private place that a path beneath the root is or lies in.
    pub(crate) fn covering(&self, inner: &[u8]) -> Option<&Path> {
        // In nearly every project there is none.
        if self.near.is_empty() {
            return None;
        }
        self.near.covering(&self.absolute(inner))
    }

    /// Whether a path beneath the root is in a private place.
    pub(crate) fn hides(&self, inner: &[u8]) -> bool {
        self.covering(inner).is_some()
    }

    /// Whether something in a private directory was opened by a person.
    pub(crate) fn leads_to_opened(&self, inner: &[u8]) -> bool {
        self.near.leads_to_opened(&self.absolute(inner))
    }

    /// Refuses what lies in a private place. `inner` is where the path that was given leads beneath the root.
    /// A directory on the way to something that a person opened may be passed.
    pub(crate) fn refuse(&self, given: &str, inner: &str) -> Result<(), Refusal> {
        let bytes = inner.as_bytes();
        match self.covering(bytes) {
            Some(place) if !self.leads_to_opened(bytes) => {
                let place = place.display();
                let text = format!("{given} is private ({place}) and no part of any project");
                Err(Refusal::new(Status::REFUSED, text))
            }
            _ => Ok(()),
        }
    }

    fn absolute(&self, inner: &[u8]) -> PathBuf {
        match inner {
            b"" | b"." => self.root.clone(),
            inner => self.root.join(OsStr::from_bytes(inner)),
        }
    }
}
