//! Shell command lines, read as the shell would read them or not at all, and the patterns of rules on
//! commands. Runs nothing, looks at no file.
//!
//! A command runs by `bash -c`, or by `sh -c` where there is no bash. What [`parse`] calls known means
//! the same in both; whatever differs between them, or depends on anything but the text, is unsure, and
//! a person is asked. The locale is taken to be UTF-8 or C, and the environment to define no functions.

mod allow;
mod behind;
mod builtins;
mod deny;
mod here;
mod lex;
mod options;
mod parse;
mod paths;
mod pattern;
mod raw;
mod readers;
mod word;
mod wrappers;

pub use allow::allows_line;
pub use behind::{run_words, runs_words};
pub use deny::{Denies, denies, denies_text};
pub use parse::parse;
pub use paths::{Opened, Paths, paths};
pub use pattern::{Pattern, PatternError};
pub use readers::{Beneath, Use};

/// Why a line is unsure, in a few words.
type Why = &'static str;
