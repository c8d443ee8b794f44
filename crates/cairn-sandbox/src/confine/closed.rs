//! What others than root cannot read in the directories of the machine that commands see. A command that runs
//! as root would read it, and is not shown it.

use std::collections::VecDeque;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Where it is looked for.
const PLACES: &[&str] = &["/etc", "/opt", "/usr/local"];
/// The most files and directories that one walk looks at, the upper ones first.
const MOST: usize = 50_000;

/// Where it is, looked for once in a process.
pub(super) fn to_others() -> &'static [PathBuf] {
    static FOUND: OnceLock<Vec<PathBuf>> = OnceLock::new();
    FOUND.get_or_init(|| PLACES.iter().flat_map(|place| within(Path::new(place))).collect())
}

/// What others cannot read beneath a directory.
fn within(place: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo = VecDeque::from([place.to_owned()]);
    let mut seen = 0;
    while let Some(directory) = todo.pop_front() {
        for entry in std::fs::read_dir(&directory).into_iter().flatten().flatten() {
            seen += 1;
            if seen > MOST {
                return found;
            }
            let Ok(meta) = entry.metadata() else { continue };
            let kind = meta.file_type();
            if kind.is_symlink() || kind.is_socket() || kind.is_fifo() {
                continue;
            }
            let mode = meta.mode();
            match kind.is_dir() {
                // What may be passed but not listed is judged by what is in it.
                true if mode & 0o001 == 0 => found.push(entry.path()),
                true => todo.push_back(entry.path()),
                // A program that others may run is no secret.
                false if mode & 0o005 == 0 => found.push(entry.path()),
                false => {}
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{Permissions, create_dir_all, set_permissions, write};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn what_others_cannot_read_is_found_and_nothing_else() {
        let holder = tempfile::tempdir().unwrap();
        let at = |name: &str| holder.path().join(name);
        create_dir_all(at("open/inner")).unwrap();
        create_dir_all(at("closed")).unwrap();
        for (name, mode) in
            [("open/inner/key", 0o640), ("open/plain", 0o644), ("closed/x", 0o644), ("tool", 0o711)]
        {
            write(at(name), "").unwrap();
            set_permissions(at(name), Permissions::from_mode(mode)).unwrap();
        }
        set_permissions(at("closed"), Permissions::from_mode(0o750)).unwrap();
        std::os::unix::fs::symlink("nowhere", at("link")).unwrap();
        let mut found = within(holder.path());
        found.sort();
        assert_eq!(found, [at("closed"), at("open/inner/key")]);
    }
}
