//! Standard output. Someone who stops reading, such as a pipe into `head`, is no error; a disk that is
//! full is, and the program ends with a code that says so.

use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, StdoutLock, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Something could not be written, although somebody may still be reading.
static LOST: AtomicBool = AtomicBool::new(false);

/// Standard output, held. It remembers what it could not write.
pub struct Out(StdoutLock<'static>);

/// Holds standard output.
#[must_use]
pub fn stdout() -> Out {
    Out(io::stdout().lock())
}

impl Out {
    /// Whether a person reads it.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        self.0.is_terminal()
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).inspect_err(note)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().inspect_err(note)
    }
}

fn note(error: &io::Error) {
    if !matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::Interrupted) {
        LOST.store(true, Ordering::Relaxed);
    }
}

/// Writes what is still held back, and says whether everything was written.
#[must_use]
pub fn is_whole() -> bool {
    let _ = stdout().flush();
    !LOST.load(Ordering::Relaxed)
}

/// Prints one line.
pub fn line(text: impl Display) {
    let _ = writeln!(stdout(), "{text}");
}

/// Prints a line to standard output, like `println!`, but survives a reader that went away.
macro_rules! say {
    ($($arg:tt)*) => { $crate::output::out::line(format_args!($($arg)*)) };
}

pub(crate) use say;
