//! What the first bytes of a file tell: a picture or document, something else that is no text, or a
//! text that says what it is. Never looks at a name.

use crate::items;

/// The type of a picture or document that a model can be shown, by its first bytes.
#[must_use]
pub fn media(head: &[u8]) -> Option<&'static str> {
    match head {
        [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        [b'%', b'P', b'D', b'F', b'-', ..] => Some("application/pdf"),
        _ => None,
    }
}

/// Whether a file that begins so is no text: it has a NUL, is UTF-16, or much of it is not UTF-8. A
/// character that is cut at the end does not count.
#[must_use]
pub fn is_binary_start(head: &[u8]) -> bool {
    if head.contains(&0) || head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
        return true;
    }
    match std::str::from_utf8(head) {
        Ok(_) => false,
        Err(e) if e.error_len().is_none() => false,
        Err(_) => {
            let bad = head.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty()).count();
            bad * 10 > head.len()
        }
    }
}

/// How files begin that are no text. Only asked of those, since some of these are words.
const BINARIES: &[(&[u8], &str)] = &[
    (b"PK\x03\x04", "application/zip"),
    (b"PK\x05\x06", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
    (b"BZh", "application/x-bzip2"),
    (b"\xfd7zXZ\0", "application/x-xz"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", "application/vnd.rar"),
    (b"\x7fELF", "application/x-elf"),
    (b"\0asm", "application/wasm"),
    (b"\xca\xfe\xba\xbe", "application/java-vm"),
    (b"\xcf\xfa\xed\xfe", "application/x-mach-binary"),
    (b"MZ", "application/vnd.microsoft.portable-executable"),
    (b"SQLite format 3\0", "application/vnd.sqlite3"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
    (b"ID3", "audio/mpeg"),
    (b"\x1a\x45\xdf\xa3", "video/x-matroska"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"\0\0\x01\0", "image/x-icon"),
    (b"BM", "image/bmp"),
    (b"wOF2", "font/woff2"),
    (b"wOFF", "font/woff"),
];

/// The type of something that is no text.
pub(super) fn binary(head: &[u8]) -> Option<&'static str> {
    BINARIES.iter().find(|(start, _)| head.starts_with(start)).map(|(_, mime)| *mime)
}

/// How texts begin that say what they are, in lower case.
const TEXTS: &[(&str, &str)] = &[
    ("<?xml", "application/xml"),
    ("<!doctype html", "text/html"),
    ("<html", "text/html"),
    ("<svg", "image/svg+xml"),
    ("diff --git ", "text/x-diff"),
    ("-----begin ", "application/x-pem-file"),
];

/// What runs a script, by its name without a version.
const RUNNERS: &[(&str, &str)] = &[
    ("python", "text/x-python"),
    ("node", "text/javascript"),
    ("deno", "text/x-typescript"),
    ("bash", "text/x-shellscript"),
    ("dash", "text/x-shellscript"),
    ("zsh", "text/x-shellscript"),
    ("ksh", "text/x-shellscript"),
    ("sh", "text/x-shellscript"),
    ("perl", "text/x-perl"),
    ("ruby", "text/x-ruby"),
    ("php", "application/x-httpd-php"),
    ("lua", "text/x-lua"),
];

/// The type of a text that says what it is.
pub(super) fn text(head: &[u8]) -> Option<&'static str> {
    let text = head.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if let Some(line) = text.strip_prefix("#!") {
        return script(line.lines().next().unwrap_or_default());
    }
    let text = text.trim_start();
    let begins = |start: &str| {
        let found = text.get(..start.len()).is_some_and(|found| found.eq_ignore_ascii_case(start));
        let after = text.as_bytes().get(start.len());
        found && (start.ends_with(' ') || !after.is_some_and(u8::is_ascii_alphanumeric))
    };
    let said = TEXTS.iter().find(|(start, _)| begins(start)).map(|(_, mime)| *mime);
    // A number or a word is a document, too, but not one that says so.
    let is_json = || text.starts_with(['{', '[']) && items::is_document(text);
    said.or_else(|| is_json().then_some("application/json"))
}

/// The type of a script with this first line.
fn script(line: &str) -> Option<&'static str> {
    let mut words = line.split_ascii_whitespace();
    let name = |word: &'_ str| word.rsplit('/').next().unwrap_or_default().to_owned();
    let mut runner = name(words.next()?);
    if runner == "env" {
        runner = name(words.find(|word| !word.starts_with('-') && !word.contains('='))?);
    }
    // The name may end with a version.
    let runner = runner.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    RUNNERS.iter().find(|(name, _)| runner == *name).map(|(_, mime)| *mime)
}
