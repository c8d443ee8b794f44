//! Standard output. Someone who stops reading, such as a pipe into `head`, is no error.

use std::fmt::Display;
use std::io::Write;

/// Prints one line.
pub fn line(text: impl Display) {
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}

/// Prints a line to standard output, like `println!`, but survives a reader that went away.
macro_rules! say {
    ($($arg:tt)*) => { $crate::out::line(format_args!($($arg)*)) };
}

pub(crate) use say;
