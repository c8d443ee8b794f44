//! Writes what was asked and what came back to a folder, for people who look into a provider's
//! behaviour. Bodies only: headers, and with them keys, never get here.

use crate::{Fault, FaultClass};
use cairn_text::scrub::Scrubber;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A folder of `NNNN-request.json` and `NNNN-response.txt`.
#[derive(Debug)]
pub(crate) struct Recorder {
    folder: PathBuf,
    finder: Scrubber,
}

impl Recorder {
    /// Makes the folder, so that a wrong path is told before anything is asked.
    pub(crate) fn new(folder: PathBuf, finder: Scrubber) -> Result<Self, Fault> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
        made.map_err(|e| refused(&folder, e))?;
        Ok(Self { folder, finder })
    }

    /// Records a request and opens the tape for its response.
    pub(crate) fn begin(&self, request: &[u8]) -> Result<Tape, Fault> {
        self.open(request).map_err(|e| refused(&self.folder, e))
    }

    fn open(&self, request: &[u8]) -> io::Result<Tape> {
        let mut number = last_number(&self.folder)? + 1;
        let mut file = loop {
            let path = self.folder.join(format!("{number:04}-request.json"));
            match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => number += 1,
                other => break other?,
            }
        };
        file.write_all(&self.finder.bytes(request))?;
        let path = self.folder.join(format!("{number:04}-response.txt"));
        let mut options = OpenOptions::new();
        let out = options.write(true).create(true).truncate(true).mode(0o600).open(path)?;
        Ok(Tape { out, finder: self.finder.clone(), held: Vec::new() })
    }
}

fn refused(folder: &Path, error: io::Error) -> Fault {
    let message = format!(
        "cannot record the model's traffic in {}: {error}; name a folder that can be written, or record nothing",
        folder.display()
    );
    Fault::new(FaultClass::BadRequest, message).caused_by(error)
}

fn last_number(folder: &Path) -> io::Result<u64> {
    let mut last = 0;
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|n| n.split('-').next()).and_then(|n| n.parse().ok());
        last = last.max(number.unwrap_or(0));
    }
    Ok(last)
}

/// One response on its way to disk. Written when dropped, so a cancelled one is kept as well; held
/// until then because a key may straddle two pieces. The reply's size limit bounds it.
#[derive(Debug)]
pub(crate) struct Tape {
    out: File,
    finder: Scrubber,
    held: Vec<u8>,
}

impl Tape {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.held.extend_from_slice(bytes);
    }
}

impl Drop for Tape {
    fn drop(&mut self) {
        // A full disk costs the recording, not the answer that was already paid for.
        let _ = self.out.write_all(&self.finder.bytes(&self.held));
    }
}
