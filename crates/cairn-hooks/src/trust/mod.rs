//! What of a project's configuration would run, and whether it is what somebody trusted. Reads files
//! beneath the project's handle and runs nothing. Who trusts, and where that is kept, is elsewhere.

mod named;
mod words;

use crate::{Declared, DeclaredError, Listed, parse_toml};
use cairn_types::Hash;
use cairn_world::Workspace;
use named::{Name, Open};
use std::collections::BTreeMap;

/// Where a project declares hooks.
pub const HOOKS_FILE: &str = ".cairn/hooks.toml";
/// Where a project names hashes of what may run in it, for those who told Cairn to believe it.
pub const COMMITTED_FILE: &str = ".cairn/trusted";
/// The longest file that may be part of what runs.
const LONGEST: u64 = 1 << 20;
/// How many files may be part of it.
const MOST_FILES: usize = 256;
/// The longest command that is read.
const LONGEST_COMMAND: usize = 16 << 10;
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
    /// A word of a command may name any file of the project.
    #[error(
        "{HOOKS_FILE} cannot be trusted: what {word:?} in a command of it names is known only when it \
         runs; name scripts by their path from the root, or put the command into a script and name that"
    )]
    Open {
        /// The word, with `…` for what only the shell knows.
        word: String,
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
    for hook in &hooks {
        for Name { path, is_sure } in named(&hook.command, &root)? {
            if files.contains_key(&path) {
                continue;
            }
            match file(workspace, &path) {
                Ok(Some(bytes)) => drop(files.insert(path, bytes)),
                Err(refused) if is_sure => return Err(refused),
                Ok(None) | Err(_) => {}
            }
            if files.len() > MOST_FILES {
                return Err(TrustError::TooMany);
            }
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

/// The files that a command may name.
fn named(command: &str, root: &str) -> Result<Vec<Name>, TrustError> {
    if command.len() > LONGEST_COMMAND {
        let why = format!(
            "a command in it is longer than {LONGEST_COMMAND} bytes; put it into a script and name that"
        );
        return Err(TrustError::Refused { path: HOOKS_FILE.to_owned(), why });
    }
    named::named(command, root).map_err(|Open(word)| TrustError::Open { word })
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
            ("sh .//tools/a.sh", ".cairn/hooks.toml tools/a.sh"),
            ("sh ././/tools/./a.sh", ".cairn/hooks.toml tools/a.sh"),
            ("sh $PWD/tools/a.sh", ".cairn/hooks.toml tools/a.sh"),
            ("sh \"$(pwd)\"/tools/a.sh", ".cairn/hooks.toml tools/a.sh"),
            ("sh `pwd`/tools/a.sh", ".cairn/hooks.toml tools/a.sh"),
            ("${CAIRN_PROJECT_DIR:-.}/tools/a.sh", ".cairn/hooks.toml tools/a.sh"),
            ("sh ~+/tools/a.sh", ".cairn/hooks.toml tools/a.sh"),
            ("~/work/project/tools/a.sh", ".cairn/hooks.toml tools/a.sh"),
            ("$(git rev-parse --show-toplevel)/tools/a.sh", ".cairn/hooks.toml tools/a.sh"),
            ("sh tools\\/a.sh", ".cairn/hooks.toml tools/a.sh"),
            ("sh to'ol's/\"a.s\"h", ".cairn/hooks.toml tools/a.sh"),
            ("bash -ctools/a.sh", ".cairn/hooks.toml tools/a.sh"),
            ("bash -c 'if true; then tools/a.sh; fi'", ".cairn/hooks.toml tools/a.sh"),
            ("sh -c '\"$CLAUDE_PROJECT_DIR\"/tools/a.sh'", ".cairn/hooks.toml tools/a.sh"),
            ("D=tools; cd tools && sh a.sh", ".cairn/hooks.toml tools/a.sh"),
            ("cd tools; sh $PWD/a.sh", ".cairn/hooks.toml tools/a.sh"),
            ("if test -n \"$X\"; then tools/a.sh \"$X\" >$X/y; fi", ".cairn/hooks.toml tools/a.sh"),
            ("echo \"$(sh tools/a.sh)\"", ".cairn/hooks.toml tools/a.sh"),
            ("python3 -c 'exec(open(\"tools/b.py\").read())'", ".cairn/hooks.toml tools/b.py"),
            (
                "for f in tools/a.sh; do cat tools/b.py; done",
                ".cairn/hooks.toml tools/a.sh tools/b.py",
            ),
            ("sh /elsewhere/tools/a.sh", ".cairn/hooks.toml tools/a.sh"),
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
    fn a_command_that_may_name_any_script_is_refused_with_the_word() {
        for (command, word) in [
            ("sh {tools/a.sh,}", "…tools/a.sh,}"),
            ("sh tools/?.sh", "tools/….sh"),
            ("sh [t]ools/a.sh", "…t]ools/a.sh"),
            ("sh ?.sh", "….sh"),
            ("*/a.sh", "…/a.sh"),
            ("D=tools; sh $D/a.sh", "…/a.sh"),
            ("D=tools; cd $D; sh a.sh", "a.sh"),
            ("D=tools; cd \"$D\" && ./a.sh", "./a.sh"),
            ("S=tools/a; sh $S.sh", "….sh"),
            ("S=tools/a.sh; $S", "…"),
            ("bash -c \"$X\"", "…"),
            ("bash -c 'sh $D/a.sh'", "…/a.sh"),
            ("eval 'sh $D/a.sh'", "…/a.sh"),
            ("timeout 5 sh $D/a.sh", "…/a.sh"),
            (". $D/a.sh", "…/a.sh"),
            ("find . -name a.sh -exec sh {} \\;", "…"),
            ("echo tools | xargs -I{} sh {}/a.sh", "…/a.sh"),
            ("cd /; cd -; cd tools; sh a.sh", "a.sh"),
            ("HOME=$PWD/tools; sh ~/a.sh", "…/a.sh"),
            ("HOME=$PWD/tools; cd; ./a.sh", "./a.sh"),
            ("echo \"$(sh $D/a.sh)\"", "…/a.sh"),
            ("echo tools/$X.sh | xargs sh", "tools/….sh"),
            ("sh < $D/a.sh", "…/a.sh"),
            ("node --require=$D/x.js", "--require=…/x.js"),
            ("sh $'tools\\x2fa.sh'", "tools…2fa.sh"),
            ("PWD=tools; sh $PWD/a.sh", "…/a.sh"),
            ("CAIRN_PROJECT_DIR=tools sh -c '$CAIRN_PROJECT_DIR/a.sh'", "…/a.sh"),
            ("PATH=tools:$PATH; a.sh", "PATH=tools:…"),
            ("PATH=$PWD/tools:$PATH a.sh", "PATH=./tools:…"),
            ("sh $CAIRN_PROJECT_DIR/$X.sh", "$CAIRN_PROJECT_DIR/….sh"),
            ("(case x in x) :;; esac; sh tools/?.sh)", "tools/….sh"),
            ("case x in x) :;; esac | sh ?.sh", "….sh"),
            ("case x in x|y) sh ?.sh;; esac", "….sh"),
            ("sh tools/?.sh # )", "tools/….sh"),
            ("sh <<E\ntools/a.sh\nE", "<<"),
            ("echo 'x", "'"),
        ] {
            let (_folder, workspace) = project(command);
            let error = read(&workspace).map(|found| found.unwrap().files).unwrap_err();
            assert!(
                matches!(&error, TrustError::Open { word: w } if w == word),
                "{command} {error}"
            );
            assert!(error.to_string().contains("name scripts by their path from the root"));
        }
        let (_folder, workspace) = project(&format!("true {}", "x".repeat(20 << 10)));
        assert!(read(&workspace).unwrap_err().to_string().contains("longer than 16384 bytes"));
    }

    // keeps: trust-hash
    #[test]
    fn what_is_plainly_no_path_of_the_project_is_not_refused() {
        for command in [
            "jq '.a | .b'",
            "jq -r '.tool_input.file_path' | grep -q '/x$'",
            "echo \"$X\"",
            "echo \"$X/y\"",
            "echo \"{\\\"decision\\\":\\\"block\\\",\\\"reason\\\":\\\"$X\\\"}\"",
            "notify-send \"built $A / $B\"",
            "cargo test -q >&2 || exit 2",
            "cargo test 2>&1 | tail -n 5; exit $?",
            "sed \"s/$X/y/\"",
            "awk '{print $1/$2}'",
            "case \"$X\" in *.rs) cargo fmt;; src/*|*.py)\n true;;\n esac",
            "[[ \"$X\" == src/* ]] && cargo fmt",
            "cd \"$X\" && cargo test",
            "cd $(git rev-parse --show-toplevel) && cargo test",
            "curl -s https://example.org/$X",
            "date > /tmp/$USER/log",
            "git ls-files | xargs wc -l",
            "find . -name '*.orig' -exec rm {} +",
            "cat /proc/$$/status",
            "f() { true; }; f &",
            "while read -r x; do echo $x; done",
            "PATH=$HOME/bin:/usr/bin:$PATH cargo test",
            "test $((1 + 2)) -gt 2 # it's late",
        ] {
            let (_folder, workspace) = project(command);
            let files = read(&workspace).unwrap_or_else(|e| panic!("{command}: {e}"));
            assert_eq!(files.unwrap().files.len(), 1, "{command}");
        }
    }

    proptest::proptest! {
        #[test]
        fn whatever_a_command_is_it_is_read(
            any in "(é|日|😀|\\PC){0,60}", shell in "[a.$(){}'\"`\\\\;|&<>~*?\\[\\]#= \n/é日😀]{0,60}",
        ) {
            for command in [any, shell] {
                let _ = named(&command, "/p");
            }
        }
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
