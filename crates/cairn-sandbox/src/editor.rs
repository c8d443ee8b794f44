//! A person's own editor, at their own terminal. It is theirs and not a model's: nothing bounds it, and it
//! is waited for. What it is given to edit is the caller's.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

/// Where a person types and reads, whatever input and output of this process are.
const TERMINAL: &str = "/dev/tty";

/// Opens a file in an editor, given as people write it into `EDITOR`: a command line to which the file
/// is added. Waits until it ends.
pub fn edit(editor: &str, file: &Path, env: &[(String, String)]) -> io::Result<ExitStatus> {
    #[allow(clippy::disallowed_methods, reason = "this crate starts processes")]
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &format!("{editor} \"$@\""), "editor"]).arg(file);
    command.env_clear().envs(env.iter().map(|(name, value)| (name, value)));
    if let Ok(terminal) = OpenOptions::new().read(true).write(true).open(TERMINAL) {
        let (output, errors) = (terminal.try_clone()?, terminal.try_clone()?);
        command.stdin(Stdio::from(terminal)).stdout(output).stderr(errors);
    }
    command.status()
}
