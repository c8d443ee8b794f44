//! The heredoc surface: `<<OPsuffix[signal](target)<scope>:body:OPsuffix`. Reads it, prints it and teaches it. Which
//! words there are and what they mean is the skins'; only the word for what no slots can say is the grammar's own.

mod foreign;
mod gather;
mod index;
mod meant;
mod named;
mod print;
mod read;
mod recover;
mod slots;
mod teach;

pub use print::print;
pub use read::parse;
pub use teach::{instructions, requirements};

use crate::native;

/// The word that calls any tool by its name, with its arguments as JSON.
const CALL: &str = "CALL";

/// What is wrong with a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Fault {
    /// A stable word.
    kind: &'static str,
    /// The byte where.
    at: usize,
    /// A fact in a short phrase.
    note: String,
}

impl Fault {
    fn new(kind: &'static str, at: usize, note: impl Into<String>) -> Fault {
        Fault { kind, at, note: note.into() }
    }
}

/// The letters, digits and underscores that stand at this byte.
fn name_at(text: &str, at: usize) -> &str {
    let rest = text.get(at..).unwrap_or_default();
    let is_in_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    &rest[..rest.bytes().take_while(|byte| is_in_name(byte)).count()]
}

/// The word that a name begins with: the longest there is. What follows it is the suffix.
fn word_of(name: &str) -> Option<&str> {
    const LONGEST: usize = 12;
    if !name.starts_with(|c: char| c.is_ascii_uppercase()) {
        return None;
    }
    let starts = (1..=name.len().min(LONGEST)).rev().map(|end| &name[..end]);
    starts.into_iter().find(|start| *start == CALL || native::is_word(start))
}

/// Whether a slot or a body begins with this.
fn opens_slot(text: &str) -> bool {
    match text.as_bytes() {
        [b'<', b'<', ..] => false,
        [first, ..] => matches!(first, b'[' | b'(' | b'<' | b':'),
        [] => false,
    }
}

/// A text as it is quoted in a note: the beginning of its first line.
fn shown(text: &str) -> String {
    const SHOWN: usize = 60;
    let mut cut: String = text.chars().take(SHOWN).take_while(|c| *c != '\n').collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    cut
}
