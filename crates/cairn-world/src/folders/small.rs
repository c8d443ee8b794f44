//! Small files of a workspace, whole, for those who read a project's configuration. What they mean is
//! not known here.

use crate::folders::workspace::Workspace;
use crate::settled::Refusal;
use cairn_types::Status;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;

impl Workspace {
    /// The bytes of a file beneath the root; absent when there is no file of that name, or a
    /// directory. A link that leads outside, what is no file, and what is longer than `most` is
    /// refused.
    pub fn small_file(&self, path: &str, most: u64) -> Result<Option<Vec<u8>>, Refusal> {
        let opened = match self.open_existing(path) {
            Ok(opened) if opened.is_directory() => return Ok(None),
            Ok(opened) => opened,
            Err(refusal) if refusal.status == Status::NOT_FOUND => return Ok(None),
            Err(refusal) => return Err(refusal),
        };
        let too_long =
            || Refusal::new(Status::TOO_LARGE, format!("{path} is longer than {most} bytes"));
        if opened.bytes() > most {
            return Err(too_long());
        }
        let mut bytes = Vec::new();
        let read = File::from(opened.fd).take(most + 1).read_to_end(&mut bytes);
        read.map_err(|e| Refusal::new(Status::FAILED, format!("{path} cannot be read: {e}")))?;
        if bytes.len() as u64 > most {
            return Err(too_long());
        }
        Ok(Some(bytes))
    }

    /// The root as a handle of one's own, to run something in.
    pub fn handle(&self) -> io::Result<OwnedFd> {
        self.root.handle().try_clone_to_owned()
    }
}
