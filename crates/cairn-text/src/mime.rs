//! Types of texts and files: by the name, by the first bytes, and what a type means for scopes and
//! rendering. Reads no file.
//!
//! A name's extension declares what a text is; the bytes decide whether it is text at all. A text that
//! nothing else is known of is `text/markdown`: `text/plain` is never derived.

mod bytes;
mod table;

pub use bytes::{is_binary_start, media};
use std::fmt;

/// What is known of bytes that are no text.
const UNKNOWN: &str = "application/octet-stream";
/// What is known of a text by itself.
const DERIVED: &str = "text/markdown";

/// The type of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mime(&'static str);

impl Mime {
    /// Its name, in lower case and without parameters.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for Mime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// The type that a path declares, by the name of its file or the name's extension.
#[must_use]
pub fn of_path(path: &str) -> Option<&'static str> {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    if let Some(mime) = table::of_name(name) {
        return Some(mime);
    }
    // A name that begins with its only dot has no extension.
    let (stem, extension) = name.rsplit_once('.')?;
    if stem.is_empty() { None } else { table::of_extension(extension) }
}

/// The type of a file with this path that begins so. Without any bytes the path alone decides.
///
/// Bytes that a read takes for a picture, a document or something else than text are never called text,
/// whatever the name says. A text is not called binary: a pointer in the place of a picture is text.
/// UTF-16 is not text, since reads and edits know UTF-8 alone.
#[must_use]
pub fn of(path: &str, head: &[u8]) -> Mime {
    let declared = of_path(path);
    if let Some(mime) = media(head) {
        return Mime(mime);
    }
    if is_binary_start(head) {
        let named = declared.filter(|mime| is_binary(mime));
        return Mime(named.or_else(|| bytes::binary(head)).unwrap_or(UNKNOWN));
    }
    let declared = declared.filter(|mime| head.is_empty() || !is_binary(mime));
    Mime(declared.or_else(|| bytes::text(head)).unwrap_or(DERIVED))
}

/// A type without its parameters, in lower case.
fn essence(mime: &str) -> String {
    mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Whether a scope on such a text means items, not lines.
#[must_use]
pub fn is_json(mime: &str) -> bool {
    let mime = essence(mime);
    matches!(mime.as_str(), "application/json" | "text/json") || mime.ends_with("+json")
}

/// Whether such a text is a tree, which is shown as it stands: JSON, XML, HTML.
#[must_use]
pub fn is_tree(mime: &str) -> bool {
    let name = essence(mime);
    matches!(name.as_str(), "application/xml" | "text/xml" | "text/html")
        || name.ends_with("+xml")
        || is_json(&name)
}

/// Whether such a text is lines, which are shown with their numbers.
#[must_use]
pub fn is_line_navigable(mime: &str) -> bool {
    let name = essence(mime);
    let is_text = name.starts_with("text/") || name.ends_with("+yaml");
    !is_tree(&name) && (is_text || table::TEXTS.contains(&name.as_str()))
}

/// Whether such a thing is no text.
#[must_use]
pub fn is_binary(mime: &str) -> bool {
    !is_tree(mime) && !is_line_navigable(mime)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_path_declares_its_type() {
        let check =
            |path: &str, expected: Option<&str>| assert_eq!(of_path(path), expected, "{path}");
        check("known://users.json", Some("application/json"));
        check("notes.md", Some("text/markdown"));
        check("config.yaml", Some("application/yaml"));
        check("users", None);
        check("src/main.rs", Some("text/x-rust"));
        check("SRC/MAIN.RS", Some("text/x-rust"));
        check("a.d.ts", Some("text/x-typescript"));
        check("a.tar.gz", Some("application/gzip"));
        check("a.b/users", None);
        check("a.txt", Some("text/markdown"));
        check("a.unknown", None);
        check("a.", None);
        check(".gitignore", Some("text/x-ignore"));
        check(".json", None);
        check(".eslintrc.json", Some("application/json"));
        check("Makefile", Some("text/x-makefile"));
        check("dir\\Dockerfile", Some("text/x-dockerfile"));
        check("Cargo.lock", Some("application/toml"));
        check("CMakeLists.txt", Some("text/x-cmake"));
        check("logo.svg", Some("image/svg+xml"));
        check("a.ipynb", Some("application/x-ipynb+json"));
        check("a.png", Some("image/png"));
        check("", None);
        check("/", None);
        check("é.é", None);
    }

    #[test]
    fn bytes_decide_whether_it_is_text_and_the_name_which() {
        let check = |path: &str, head: &[u8], expected: &str| {
            assert_eq!(of(path, head).name(), expected, "{path} {head:?}");
        };
        check("a.rs", b"fn main() {}", "text/x-rust");
        check("a.rs", b"", "text/x-rust");
        check("a.rs", b"fn\0", "application/octet-stream");
        check("a.txt", b"\x89PNG\r\n\x1a\n", "image/png");
        check("a.png", b"\xff\xd8\xff\xe0", "image/jpeg");
        check("a.png", b"", "image/png");
        check("a.png", b"version https://git-lfs.github.com/spec/v1\n", "text/markdown");
        check("a.png", b"<svg xmlns=\"\"/>", "image/svg+xml");
        check("a.docx", b"PK\x03\x04\x14\0\0\0", OFFICE);
        check("a", b"PK\x03\x04\x14\0\0\0", "application/zip");
        check("a", b"\x7fELF\x02\x01\x01\0", "application/x-elf");
        check("a", b"SQLite format 3\0", "application/vnd.sqlite3");
        check("a", b"PK is a name", "text/markdown");
        check("users", b"plain words", "text/markdown");
        check("a.unknown", b"plain words", "text/markdown");
        check("a", b"", "text/markdown");
        check("a", b"  {\"a\": [1]}\n", "application/json");
        check("a", b"[1, 2", "text/markdown");
        check("a", b"5", "text/markdown");
        check("a", b"#!/bin/sh\n", "text/x-shellscript");
        check("a", b"#!/usr/bin/env -S python3 -u\r\n", "text/x-python");
        check("a", b"#!/usr/local/bin/python3.12", "text/x-python");
        check("a", b"#!/usr/bin/env node\n", "text/javascript");
        check("a", b"#!/opt/other\n", "text/markdown");
        check("a", b"#!", "text/markdown");
        check("a", b"\xef\xbb\xbf<?xml version=\"1.0\"?>", "application/xml");
        check("a", b"\n<!DOCTYPE html>\n", "text/html");
        check("a", b"<HTML lang=en>", "text/html");
        check("a", b"<htmlish>", "text/markdown");
        check("a", b"diff --git a/x b/x\n", "text/x-diff");
        // UTF-16, with NULs and without, and with a name that says text.
        check("a.txt", b"\xff\xfea\0b\0", "application/octet-stream");
        check("a.txt", b"\xff\xfe\x2d\x4e\x87\x65", "application/octet-stream");
        check("a.txt", b"\xfe\xff\x4e\x2d", "application/octet-stream");
        // A few bytes of another encoding are shown as such; many are no text.
        check("a", b"the caf\xe9 at the corner of the street", "text/markdown");
        check("a", b"\x80\x81\x82\x83abc", "application/octet-stream");
        // A character may be cut at the end of what was read.
        check("a", b"a\xc3", "text/markdown");
    }

    const OFFICE: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

    #[test]
    fn a_type_is_a_tree_or_lines_or_binary() {
        let check = |mime: &str, expected: &str| {
            let found = match (is_tree(mime), is_line_navigable(mime), is_binary(mime)) {
                (true, false, false) => "tree",
                (false, true, false) => "lines",
                (false, false, true) => "binary",
                other => panic!("{mime}: {other:?}"),
            };
            assert_eq!(found, expected, "{mime}");
        };
        check("application/json", "tree");
        check("Application/JSON; charset=utf-8", "tree");
        check("application/geo+json", "tree");
        check("application/xml", "tree");
        check("image/svg+xml", "tree");
        check("text/html", "tree");
        check("text/markdown", "lines");
        check("text/plain", "lines");
        check("text/csv", "lines");
        check("text/x-rust", "lines");
        check("application/yaml", "lines");
        check("application/toml", "lines");
        check("application/x-ndjson", "lines");
        check("image/png", "binary");
        check("application/pdf", "binary");
        check("application/octet-stream", "binary");
        check("", "binary");
        assert!(is_json("application/geo+json") && !is_json("text/html"));
        for (mime, _) in table::EXTENSIONS.iter().chain(table::NAMES) {
            assert_eq!(*mime, essence(mime));
            assert_ne!(*mime, "text/plain");
            let kinds = [is_tree(mime), is_line_navigable(mime), is_binary(mime)];
            assert_eq!(kinds.iter().filter(|is| **is).count(), 1, "{mime}");
        }
    }

    #[test]
    fn each_extension_stands_in_the_table_once() {
        for table in [table::EXTENSIONS, table::NAMES] {
            let mut all: Vec<&str> = table.iter().flat_map(|(_, of)| of.split(' ')).collect();
            let count = all.len();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), count);
            assert!(all.iter().all(|one| !one.is_empty() && *one == one.to_ascii_lowercase()));
        }
    }

    proptest! {
        #[test]
        fn any_path_and_bytes_have_a_type(
            path in "(\\PC|é|日|😀|/|\\.|json|png|rs){0,6}",
            head in proptest::collection::vec(
                prop_oneof![Just(b'a'), Just(b'#'), Just(b'!'), Just(b'['), any::<u8>()], 0..12
            ),
        ) {
            let mime = of(&path, &head);
            let is_media = media(&head).is_some();
            let expected = if head.is_empty() {
                of_path(&path).is_some_and(is_binary)
            } else {
                is_media || is_binary_start(&head)
            };
            prop_assert_eq!(is_binary(mime.name()), expected, "{}", mime);
        }
    }
}
