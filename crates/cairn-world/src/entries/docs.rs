//! Documents that an operator names: entries of every run, read anew each time, written by nobody. Which there
//! are is the configuration's; here they are opened, bounded.

use crate::World;
use crate::edits::edit::{not_text, read_all};
use crate::folders::workspace::Workspace;
use crate::look::read::refuse_binary;
use crate::settled::Refusal;
use cairn_types::Status;
use std::fs::OpenOptions;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The longest document.
const LONGEST: u64 = 1 << 20;

/// A document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doc {
    /// Its name, which its entry's address ends with.
    pub name: String,
    /// Where it is.
    pub source: DocSource,
}

/// Where a document is, and so whose words it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocSource {
    /// A file that the person or whoever runs the machine names, wherever it is.
    Own(PathBuf),
    /// A member of the project, by its path beneath the root.
    Member(String),
}

impl Doc {
    /// Whether its words are those of the project's authors.
    #[must_use]
    pub fn is_projects(&self) -> bool {
        matches!(self.source, DocSource::Member(_))
    }
}

impl World {
    /// The same world with these documents.
    #[must_use]
    pub fn with_docs(self, docs: Vec<Doc>) -> World {
        World { docs: Arc::new(docs), ..self }
    }

    /// Its documents.
    #[must_use]
    pub fn docs(&self) -> &[Doc] {
        &self.docs
    }

    /// A document's text as it is now. One of the project is told only if it is a member and nothing keeps it
    /// from being read unasked.
    pub fn doc(&self, doc: &Doc) -> Result<String, Refusal> {
        match &doc.source {
            DocSource::Own(path) => own(path),
            DocSource::Member(path) => member(self.workspace(), path),
        }
    }
}

fn own(path: &Path) -> Result<String, Refusal> {
    let name = path.to_string_lossy();
    let refuse = |e: std::io::Error| {
        let status = match e.kind() {
            std::io::ErrorKind::NotFound => Status::NOT_FOUND,
            _ => Status::FAILED,
        };
        Refusal::new(status, format!("{name} cannot be read ({e})"))
    };
    // What is no file is not waited for.
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(refuse)?;
    match file.metadata().map_err(refuse)?.is_file() {
        true => text(&name, file.into()),
        false => Err(Refusal::new(Status::BAD_REQUEST, format!("{name} is not a file"))),
    }
}

fn member(workspace: &Workspace, path: &str) -> Result<String, Refusal> {
    let opened = workspace.open_existing(path)?;
    workspace.refuse_unasked(path, &opened.path)?;
    workspace.refuse_stranger(path, &opened.path, opened.is_directory())?;
    match opened.is_directory() {
        true => Err(Refusal::new(Status::BAD_REQUEST, format!("{path} is not a file"))),
        false => text(path, opened.fd),
    }
}

fn text(name: &str, fd: OwnedFd) -> Result<String, Refusal> {
    let bytes = read_all(name, fd, LONGEST)?;
    refuse_binary(name, &bytes)?;
    String::from_utf8(bytes).map_err(|_| not_text(name))
}
