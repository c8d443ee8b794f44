//! Real shells, made to tell which commands with which words they would run.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A folder of its own for one test, gone after it.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str) -> Folder {
        let name = format!("shell-{name}-{}", std::process::id());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A command as a shell ran it: its words.
pub type Ran = Vec<String>;

/// The names that dash, which has no handler for missing commands, can tell of.
pub const NAMES: [&str; 12] = ["a", "b", "c", "aa", "ab", "ac", "ba", "bb", "bc", "ca", "cb", "cc"];

#[allow(clippy::disallowed_methods, reason = "the shells are what is compared with")]
pub fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Whether there is such a program.
pub fn has(program: &str) -> bool {
    command(program).args(["-c", ":"]).status().is_ok()
}

/// What `shell` runs for each of many lines, every command ending with the line's code. Globs stay as
/// they are; no program can be found; the files `f` and `g` exist.
pub fn ran(shell: &str, folder: &Path, lines: &[(String, u8)]) -> Vec<Vec<Ran>> {
    let out = folder.join("out");
    let _ = std::fs::remove_file(&out);
    let (inner, script) = (folder.join("in"), folder.join("script"));
    let _ = std::fs::remove_dir_all(&inner);
    std::fs::create_dir_all(&inner).unwrap();
    for name in ["f", "g"] {
        std::fs::write(inner.join(name), "").unwrap();
    }
    let mut text = format!("set -f; exec 9>>'{}'; PATH=/nowhere\n", out.display());
    let tell = |name: &str, words: &str| {
        format!("{name}() {{ printf '%s\\0' '\x01' {words} '\x02' >&9; return $R; }}\n")
    };
    match shell {
        // bash writes what it prints line by line; two commands of a pipe would mix theirs.
        "bash" => text += &tell("command_not_found_handle", "\"${@//$'\\n'/$'\\x1f'}\""),
        _ => NAMES.iter().for_each(|name| text += &tell(name, &format!("{name} \"$@\""))),
    }
    for (line, code) in lines {
        let line = line.replace('\'', "'\\''");
        text += &format!("R={code}\nt='{line}'\n( eval \"\n$t\" )\nprintf '%s\\0' '\x03' >&9\n");
    }
    std::fs::write(&script, text).unwrap();
    command(shell).arg(&script).current_dir(&inner).status().unwrap();
    let out = String::from_utf8(std::fs::read(out).unwrap()).unwrap();
    let told: Vec<Vec<Ran>> = read_out(&out);
    assert_eq!(told.len(), lines.len(), "{shell} did not tell of every line");
    told
}

fn read_out(out: &str) -> Vec<Vec<Ran>> {
    let (mut all, mut line, mut words) = (Vec::new(), Vec::new(), Vec::new());
    for text in out.split_terminator('\0') {
        match text {
            "\x03" => all.push(std::mem::take(&mut line)),
            "\x01" => words.clear(),
            "\x02" => line.push(std::mem::take(&mut words)),
            word => words.push(word.replace('\x1f', "\n")),
        }
    }
    all
}
