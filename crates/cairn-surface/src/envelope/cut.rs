//! What a model is shown of an output that is too long: its beginning, and what the whole is. Keeps nothing.

use cairn_types::Hash;

/// So much of one output is shown, in bytes.
pub const STEP_BYTES: usize = 8_000;
/// So much of all outputs of a turn is shown, in bytes.
pub const TURN_BYTES: usize = 16_000;

/// An output as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// What is shown: the whole, or its beginning and a line that says what is missing.
    pub text: String,
    /// The hash of the whole.
    pub hash: Hash,
    /// The size of the whole.
    pub bytes: usize,
}

/// How much of the next output may be shown, when so much of the turn's was.
#[must_use]
pub fn budget(shown: usize) -> usize {
    STEP_BYTES.min(TURN_BYTES.saturating_sub(shown))
}

/// An output within a budget. Only where the line that says what is missing does not fit is it longer.
#[must_use]
pub fn cut(output: &str, budget: usize) -> Cut {
    let (hash, bytes) = (Hash::of(output.as_bytes()), output.len());
    if bytes <= budget {
        return Cut { text: output.to_owned(), hash, bytes };
    }
    let line = |shown: usize| {
        format!("[cut: {shown} of {bytes} bytes are shown; blake3 {}]", hash.short())
    };
    // The line is longest when all is shown, and a line end stands before it.
    let room = budget.saturating_sub(line(bytes).len() + 1);
    let shown = boundary(output, room);
    let text = match shown {
        0 => line(0),
        _ => format!("{}\n{}", &output[..shown], line(shown)),
    };
    Cut { text, hash, bytes }
}

/// The last place up to this byte where a character begins.
pub(super) fn boundary(text: &str, byte: usize) -> usize {
    (0..=byte.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
