//! The file that is shown in place of files which a command finds and cannot read: permission denied, also for
//! root with its capabilities over files.

use crate::ids;
use std::fs::{OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Its name in a directory of our own.
const NAME: &str = "no-reading";

/// Makes it. Root reads everything that belongs to an id of its namespace, so the file is given to the one id
/// that commands' namespaces leave out; none where that cannot be done.
pub(super) fn make(own: &Path, has_capabilities: bool) -> io::Result<Option<PathBuf>> {
    let path = own.join(NAME);
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    std::fs::set_permissions(&path, Permissions::from_mode(0o000))?;
    if !has_capabilities {
        return Ok(Some(path));
    }
    let Some(id) = ids::left_out() else { return Ok(None) };
    let given = std::os::unix::fs::chown(&path, Some(id), Some(id));
    Ok(given.is_ok().then_some(path))
}
