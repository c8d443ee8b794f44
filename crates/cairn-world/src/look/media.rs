//! How much of a picture or document is shown. Told by the first bytes; never looks at a name.

use cairn_text::mime;

/// What a file's first bytes say it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// Its type.
    pub mime: &'static str,
    /// The most bytes of such a file that a model is shown.
    pub most: u64,
}

const IMAGE: u64 = 5 << 20;
const DOCUMENT: u64 = 16 << 20;

/// The kind of picture or document that begins so; `None` for anything else.
#[must_use]
pub fn kind(start: &[u8]) -> Option<Kind> {
    let mime = mime::media(start)?;
    let most = if mime == "application/pdf" { DOCUMENT } else { IMAGE };
    Some(Kind { mime, most })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_told_by_the_first_bytes_alone() {
        let check = |start: &[u8], mime: Option<&str>| {
            assert_eq!(kind(start).map(|kind| kind.mime), mime, "{start:?}");
        };
        check(b"\x89PNG\r\n\x1a\nrest", Some("image/png"));
        check(b"\xff\xd8\xff\xe0", Some("image/jpeg"));
        check(b"GIF89a", Some("image/gif"));
        check(b"RIFF\0\0\0\0WEBPVP8 ", Some("image/webp"));
        check(b"RIFF\0\0\0\0WAVE", None);
        check(b"%PDF-1.7", Some("application/pdf"));
        check(b"PNG", None);
        check(b"", None);
    }
}
