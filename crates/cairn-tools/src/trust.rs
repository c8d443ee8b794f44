//! What of a project's configuration would run, and whether it is what somebody trusted. Reads files
//! beneath the project's handle and runs nothing. Who trusts, and where that is kept, is elsewhere.

use crate::hooks::{Declared, DeclaredError, Listed, parse_toml};
use cairn_types::Hash;
use cairn_world::Workspace;
use std::collections::BTreeMap;

/// Where a project declares hooks.
pub const HOOKS_FILE: &str = ".cairn/hooks.toml";
/// Where a project names hashes of what may run in it, for those who told Cairn to believe it.
pub const COMMITTED_FILE: &str = ".cairn/trusted";
/// The longest file that may be part of what runs.
const LONGEST: u64 = 1 << 20;
/// How many files may be part of it.
const MOST_FILES: usize = 256;
/// How a command may write the project's root.
const ROOTS: [&str; 4] =
    ["$CAIRN_PROJECT_DIR", "${CAIRN_PROJECT_DIR}", "$CLAUDE_PROJECT_DIR", "${CLAUDE_PROJECT_DIR}"];
/// What the hash is of.
const DOMAIN: &[u8] = b"cairn executable configuration 1\n";

/// What of a project would run.
#[derive(Debug, Clone)]
pub struct Executable {
    /// The files it consists of, by path, with their lengths.
    pub files: Vec<(String, u64)>,
    /// BLAKE3 over all paths and bytes.
    pub hash: Hash,
    /// The hooks it declares.
    pub hooks: Vec<Declared>,
    /// What of its hooks is not used, each with a reason.
    pub left_out: Vec<String>,
}

/// Why a project's configuration cannot be looked at. Nothing of it runs.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// A file of it is refused: a link that leads outside, no regular file, too long.
    #[error("{path} cannot be trusted: {why}")]
    Refused {
        /// The file.
        path: String,
        /// Why.
        why: String,
    },
    /// It does not say what it should.
    #[error("{path}: {source}")]
    Malformed {
        /// The file.
        path: String,
        /// Why.
        #[source]
        source: DeclaredError,
    },
    /// There are too many files.
    #[error("{HOOKS_FILE} names more than {MOST_FILES} files of the project")]
    TooMany,
}

/// Looks at what of a project would run; absent when nothing would.
pub fn read(workspace: &Workspace) -> Result<Option<Executable>, TrustError> {
    let Some(bytes) = file(workspace, HOOKS_FILE)? else { return Ok(None) };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let malformed = |source| TrustError::Malformed { path: HOOKS_FILE.to_owned(), source };
    let Listed { hooks, left_out } = parse_toml(&text).map_err(malformed)?;
    let mut files = BTreeMap::from([(HOOKS_FILE.to_owned(), bytes)]);
    let root = workspace.path().to_string_lossy();
    for path in hooks.iter().flat_map(|hook| named(&hook.command, &root)) {
        if files.contains_key(&path) {
            continue;
        }
        if let Some(bytes) = file(workspace, &path)? {
            files.insert(path, bytes);
        }
        if files.len() > MOST_FILES {
            return Err(TrustError::TooMany);
        }
    }
    let hash = hash(&files);
    let files = files.into_iter().map(|(path, bytes)| (path, bytes.len() as u64)).collect();
    Ok(Some(Executable { files, hash, hooks, left_out }))
}

/// The hashes that a project commits, for those who told Cairn to believe it.
pub fn committed(workspace: &Workspace) -> Result<Vec<Hash>, TrustError> {
    let bytes = file(workspace, COMMITTED_FILE)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.lines().filter_map(|line| line.trim().parse().ok()).collect())
}

fn file(workspace: &Workspace, path: &str) -> Result<Option<Vec<u8>>, TrustError> {
    let read = workspace.small_file(path, LONGEST);
    read.map_err(|refusal| TrustError::Refused { path: path.to_owned(), why: refusal.text })
}

/// Words of a command that may name a file of the project. Too many is harmless: those that name none
/// are left out.
fn named(command: &str, root: &str) -> Vec<String> {
    let is_between = |c: char| c.is_whitespace() || "`;|&()<>=,".contains(c);
    let bare = command.replace(['"', '\''], "");
    // A quoted name may have blanks in it.
    let words = bare.split(is_between).chain(command.split(['"', '\'']));
    let inner = words.map(|word| {
        let mut roots = ROOTS.iter().copied().chain([root]);
        let beneath =
            roots.find_map(|root| word.strip_prefix(root).filter(|rest| rest.starts_with('/')));
        beneath.map_or(word, |rest| rest.trim_start_matches('/')).trim_start_matches("./")
    });
    inner.filter(|word| may_be_path(word)).map(str::to_owned).collect()
}

fn may_be_path(word: &str) -> bool {
    !word.is_empty()
        && word.len() < 4096
        && word.split('/').all(|part| part.len() <= 255)
        && !word.chars().any(char::is_control)
        && !word.starts_with(['-', '$', '~', '/'])
}

/// Every path and every byte, with their lengths, so that nothing can be moved from one to another.
fn hash(files: &BTreeMap<String, Vec<u8>>) -> Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(DOMAIN);
    for (path, bytes) in files {
        for part in [path.as_bytes(), bytes] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
    }
    Hash(*hasher.finalize().as_bytes())
}

/// That what a project would run was trusted, as it was then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trusted(Hash);

impl Trusted {
    /// Somebody trusts this.
    #[must_use]
    pub fn new(executable: &Executable) -> Trusted {
        Trusted(executable.hash)
    }

    /// Whether the project would still run just that; otherwise why not.
    pub fn still_holds(&self, workspace: &Workspace) -> Result<(), String> {
        let changed =
            || "the project's hooks are not what was trusted; to look at them: cairn trust";
        match read(workspace) {
            Ok(Some(now)) if now.hash == self.0 => Ok(()),
            Ok(_) => Err(changed().to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn put(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn hook(command: &str) -> String {
        format!("[[PreToolUse]]\nmatcher = \"Bash\"\ncommand = '''{command}'''\n")
    }

    fn project(command: &str) -> (tempfile::TempDir, Workspace) {
        let folder = tempfile::tempdir().unwrap();
        put(folder.path(), HOOKS_FILE, &hook(command));
        put(folder.path(), "tools/a.sh", "exit 0");
        put(folder.path(), "tools/b.py", "pass");
        put(folder.path(), "with space", "x");
        put(folder.path(), "other", "x");
        let workspace = Workspace::open(folder.path()).unwrap();
        (folder, workspace)
    }

    // keeps: trust-hash
    #[test]
    fn scripts_that_hooks_name_are_part_of_what_is_trusted() {
        for (command, expected) in [
            ("true", ".cairn/hooks.toml"),
            ("tools/a.sh", ".cairn/hooks.toml tools/a.sh"),
            ("./tools/a.sh --x=other", ".cairn/hooks.toml other tools/a.sh"),
            ("\"$CLAUDE_PROJECT_DIR\"/tools/a.sh", ".cairn/hooks.toml tools/a.sh"),
            ("\"$CLAUDE_PROJECT_DIR/tools/a.sh\"", ".cairn/hooks.toml tools/a.sh"),
            ("python3 ${CAIRN_PROJECT_DIR}/tools/b.py", ".cairn/hooks.toml tools/b.py"),
            ("sh \"with space\"", ".cairn/hooks.toml with space"),
            ("(cd tools;a.sh)&&tools/b.py<other", ".cairn/hooks.toml other tools/b.py"),
            ("missing.sh -x tools /etc/passwd", ".cairn/hooks.toml"),
        ] {
            let (_folder, workspace) = project(command);
            let files = read(&workspace).unwrap().unwrap().files;
            let paths: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
            assert_eq!(paths.join(" "), expected, "{command}");
        }
        let (folder, workspace) = project("true");
        let whole = folder.path().canonicalize().unwrap().join("tools/a.sh");
        put(folder.path(), HOOKS_FILE, &hook(whole.to_str().unwrap()));
        assert_eq!(read(&workspace).unwrap().unwrap().files.len(), 2);
    }

    // keeps: trust-hash
    #[test]
    fn a_change_of_any_byte_or_path_is_no_longer_what_was_trusted() {
        let (folder, workspace) = project("tools/a.sh; tools/c.sh");
        let trusted = Trusted::new(&read(&workspace).unwrap().unwrap());
        assert_eq!(trusted.still_holds(&workspace), Ok(()));
        put(folder.path(), "other", "y");
        assert_eq!(trusted.still_holds(&workspace), Ok(()));
        let change = |path: &str, text: &str| {
            let whole = folder.path().join(path);
            let before = std::fs::read(&whole).ok();
            put(folder.path(), path, text);
            assert!(trusted.still_holds(&workspace).is_err(), "{path}");
            match before {
                Some(bytes) => std::fs::write(&whole, bytes).unwrap(),
                None => std::fs::remove_file(&whole).unwrap(),
            }
            assert_eq!(trusted.still_holds(&workspace), Ok(()));
        };
        change("tools/a.sh", "exit 1");
        change("tools/a.sh", "exit 0 ");
        change("tools/c.sh", "");
        change(HOOKS_FILE, &hook("tools/a.sh; tools/c.sh "));
        std::fs::remove_file(folder.path().join("tools/a.sh")).unwrap();
        assert!(trusted.still_holds(&workspace).is_err());
    }

    type Case<'a> = (&'static str, &'a dyn Fn(&Path));

    // keeps: trust-hash
    #[test]
    fn links_that_leave_pipes_and_long_files_are_refused() {
        let outside = tempfile::NamedTempFile::new().unwrap();
        let cases: [Case<'_>; 5] = [
            ("leads outside", &|at| std::os::unix::fs::symlink(outside.path(), at).unwrap()),
            ("is a pipe", &|at| {
                let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
                rustix::fs::mknodat(rustix::fs::CWD, at, kind, mode, 0).unwrap();
            }),
            ("is long", &|at| std::fs::write(at, vec![b'#'; (1 << 20) + 1]).unwrap()),
            ("is a loop", &|at| std::os::unix::fs::symlink(at, at).unwrap()),
            ("is a device", &|at| std::os::unix::fs::symlink("/dev/zero", at).unwrap()),
        ];
        for path in [HOOKS_FILE, "tools/a.sh"] {
            for (what, make) in &cases {
                let (folder, workspace) = project("tools/a.sh");
                let at = folder.path().join(path);
                std::fs::remove_file(&at).unwrap();
                make(&at);
                assert!(read(&workspace).is_err(), "{path} {what}");
            }
        }
        // A link within the project is what it leads to.
        let (folder, workspace) = project("tools/a.sh");
        std::fs::remove_file(folder.path().join("tools/a.sh")).unwrap();
        std::os::unix::fs::symlink("b.py", folder.path().join("tools/a.sh")).unwrap();
        let trusted = Trusted::new(&read(&workspace).unwrap().unwrap());
        put(folder.path(), "tools/b.py", "import os");
        assert!(trusted.still_holds(&workspace).is_err());
    }
}
