//! A person's own editor, at their own terminal. It is theirs and not a model's: nothing bounds it, it is
//! waited for, and an interrupt is its own. What it is given to edit is the caller's.

#![expect(unsafe_code, reason = "what an interrupt does meanwhile is said by a system call")]

use libc::{SIG_DFL, SIG_IGN, SIGINT, SIGQUIT, c_int, sigaction};
use std::fs::OpenOptions;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

/// Where a person types and reads, whatever input and output of this process are.
const TERMINAL: &str = "/dev/tty";
/// What a person sends to whatever has the terminal.
const THEIRS: [c_int; 2] = [SIGINT, SIGQUIT];

/// Opens a file in an editor, given as people write it into `EDITOR`: a command line to which the file
/// is added. Waits until it ends. Whoever interrupts it meanwhile does not interrupt this process.
pub fn edit(editor: &str, file: &Path, env: &[(String, String)]) -> io::Result<ExitStatus> {
    #[allow(clippy::disallowed_methods, reason = "this crate starts processes")]
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &format!("{editor} \"$@\""), "editor"]).arg(file);
    command.env_clear().envs(env.iter().map(|(name, value)| (name, value)));
    if let Ok(terminal) = OpenOptions::new().read(true).write(true).open(TERMINAL) {
        let (output, errors) = (terminal.try_clone()?, terminal.try_clone()?);
        command.stdin(Stdio::from(terminal)).stdout(output).stderr(errors);
    }
    let deaf = THEIRS.map(Deaf::to);
    let heard = deaf.iter().flatten().filter(|deaf| deaf.before.sa_sigaction != SIG_IGN);
    let heard: Vec<c_int> = heard.map(|deaf| deaf.signal).collect();
    let listen = move || {
        for signal in &heard {
            // SAFETY: may be called between fork and exec, and changes nothing but what a signal does.
            unsafe { libc::signal(*signal, SIG_DFL) };
        }
        Ok(())
    };
    // SAFETY: it only makes system calls that may be made between fork and exec.
    unsafe { command.pre_exec(listen) };
    command.status()
}

/// This process does not hear a signal as long as this lives.
struct Deaf {
    signal: c_int,
    before: sigaction,
}

impl Deaf {
    /// None where the system does not let it.
    fn to(signal: c_int) -> Option<Deaf> {
        // SAFETY: both are plain data for which zeros are valid, and outlive the call.
        unsafe {
            let mut before: sigaction = std::mem::zeroed();
            let mut ignored: sigaction = std::mem::zeroed();
            ignored.sa_sigaction = SIG_IGN;
            let done = libc::sigaction(signal, &raw const ignored, &raw mut before);
            (done == 0).then_some(Deaf { signal, before })
        }
    }
}

impl Drop for Deaf {
    fn drop(&mut self) {
        // SAFETY: it is what the system gave, put back.
        unsafe { libc::sigaction(self.signal, &raw const self.before, std::ptr::null_mut()) };
    }
}
