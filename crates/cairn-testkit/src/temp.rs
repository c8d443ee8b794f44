//! Temporary folders for tests, in memory where the system has such a place. Removed when dropped.

use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A folder that holds a home and a workspace for one test.
#[derive(Debug)]
pub struct TempHome {
    folder: TempDir,
}

impl TempHome {
    /// Makes one, with an empty home and an empty workspace.
    #[must_use]
    #[expect(clippy::expect_used, reason = "a test without a folder cannot go on")]
    pub fn new() -> TempHome {
        let memory = Path::new("/dev/shm");
        let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let folder = tempfile::Builder::new().prefix("cairn-").tempdir_in(place);
        let home = TempHome { folder: folder.expect("a temporary folder") };
        fs::create_dir(home.home()).expect("a home in it");
        fs::create_dir(home.workspace()).expect("a workspace in it");
        home
    }

    /// The folder that holds both.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The home.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.path().join("home")
    }

    /// The workspace.
    #[must_use]
    pub fn workspace(&self) -> PathBuf {
        self.path().join("workspace")
    }

    /// Writes a file of the workspace, with the folders above it.
    #[expect(clippy::expect_used, reason = "a test without its files cannot go on")]
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.workspace().join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).expect("the folders above the file");
        }
        fs::write(path, content).expect("the file written");
    }

    /// The text of a file of the workspace.
    #[must_use]
    #[expect(clippy::expect_used, reason = "a test without its files cannot go on")]
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.workspace().join(path)).expect("a text file in the workspace")
    }
}

impl Default for TempHome {
    fn default() -> Self {
        Self::new()
    }
}
