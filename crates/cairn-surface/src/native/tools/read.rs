//! `read` reads a file, an entry or a page.

use super::{BuiltInTool, non_empty};
use crate::native::declare::fields;
use crate::skin::{Body, Example, Fits, Ranged, Skin};
use cairn_types::{Action, Effect, Read};

fields! {
    /// Read a text file with line numbers, or an entry. An image is shown, a notebook's cells are listed, a web page
    /// is fetched by its URL and told as Markdown.
    ReadFile {
        /// Path relative to the project root, or an address such as log:///1/2/3#output or known:///topic.
        path: String, or "file_path" "filename" "file" "target_file" "url" "uri";
        /// First line to show, from 1. Default 1.
        first: Option<u64>, or "offset" "start_line" "line";
        /// How many lines at most. Default 2000.
        limit: Option<u64>, or "lines" "num_lines";
        /// Put a short hash before each line. Default false.
        hashes: bool, or "line_hashes";
        /// Lines such as 3-7, -5--1 or 2,1,2,9 with columns; of JSON items. Instead of first and limit.
        scope: Option<String>, or "range";
        /// Show only what matches: text, /regex/, or of JSON, YAML, TOML and CSV a JSONPath such as $.a[*].
        matching: Option<String>, or "match" "query" "pattern";
    }
}

impl BuiltInTool for ReadFile {
    const NAME: &'static str = "read";
    const ALIASES: &'static [&'static str] =
        &["read_file", "view", "view_file", "open_file", "cat", "web_fetch", "webfetch", "fetch"];
    const EFFECT: Effect = Effect::Read;
    const STATEMENT_PLACE: u32 = 30;
    const TARGETS: &'static [&'static str] = &["path"];
    const EXAMPLE: &'static str = r#"{"path":"src/main.rs","first":10,"limit":40}"#;

    fn skin(skin: Skin) -> Skin {
        Skin {
            tags: &["get"],
            words: &["READ"],
            target: &[("path", Fits::Any)],
            scope: Some(Ranged::Argument("scope")),
            body: Some(("matching", Body::Matcher)),
            bare: Some("path"),
            examples: &[
                Example {
                    tag: r#"<get path="notes.md"/>"#,
                    heredoc: "<<READ(notes.md)::READ",
                    why: "The simplest statement there is.",
                },
                Example {
                    tag: r#"<get path="src/main.rs" scope="10-20"/>"#,
                    heredoc: "<<READ(src/main.rs)<10-20>::READ",
                    why: "A part of a long file.",
                },
            ],
            ..skin
        }
    }

    fn into_action(self) -> Result<Action, String> {
        Ok(Action::Read(Read {
            path: self.path,
            first: self.first.unwrap_or(1).max(1),
            limit: self.limit.filter(|n| *n > 0).unwrap_or(2000),
            hashes: self.hashes,
            scope: non_empty(self.scope),
            matcher: non_empty(self.matching),
        }))
    }

    fn from_action(action: &Action) -> Option<Self> {
        let Action::Read(Read { path, first, limit, hashes, scope, matcher }) = action else {
            return None;
        };
        Some(ReadFile {
            path: path.clone(),
            first: (*first != 1).then_some(*first),
            limit: (*limit != 2000).then_some(*limit),
            hashes: *hashes,
            scope: scope.clone(),
            matching: matcher.clone(),
        })
    }
}
