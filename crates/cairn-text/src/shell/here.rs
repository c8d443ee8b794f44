//! Here-documents: which word may end one, and where its text ends. The text itself is not kept: it is
//! data to the command, and the same in every shell.

use super::Why;
use super::word::Raw;

/// A here-document that was announced and whose text has not begun.
#[derive(Debug)]
pub(super) struct Doc {
    /// The line that ends it.
    pub mark: String,
    /// Whether the mark was quoted, so that nothing in the text is special.
    quoted: bool,
    /// Whether tabs at the beginning of its lines do not count (`<<-`).
    tabs: bool,
}

impl Doc {
    /// The document that ends at a word, which stood in the line as `source`.
    pub fn new(raw: &Raw, source: &str, tabs: bool) -> Result<Doc, Why> {
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
        let mark = &raw.text;
        let whole = source == mark
            || ["'", "\""].iter().any(|q| {
                source.strip_prefix(q).and_then(|s| s.strip_suffix(q)) == Some(mark.as_str())
            })
            || source.strip_prefix('\\') == Some(mark.as_str());
        match whole && !mark.is_empty() && mark.bytes().all(plain) {
            true => Ok(Doc { mark: mark.clone(), quoted: raw.quoted, tabs }),
            false => Err("an odd end mark of a here-document"),
        }
    }

    /// How many bytes of `text` belong to it, its end mark's line included.
    pub fn length(&self, text: &str) -> Result<usize, Why> {
        let mut length = 0;
        for line in text.split_inclusive('\n') {
            length += line.len();
            let line = line.strip_suffix('\n').unwrap_or(line);
            let bare = if self.tabs { line.trim_start_matches('\t') } else { line };
            if bare == self.mark {
                return Ok(length);
            }
            if !self.quoted && line.contains(['$', '`', '\\']) {
                return Err("an expansion in a here-document");
            }
        }
        Err("a here-document without end")
    }
}
