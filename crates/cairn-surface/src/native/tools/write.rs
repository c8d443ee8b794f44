//! `write` makes a file, or replaces all of one.

use super::{BuiltInTool, non_empty};
use crate::native::declare::fields;
use crate::skin::{Body, Example, Fits, Ranged, Skin};
use cairn_types::{Action, EditBody, Effect};

fields! {
    /// Create a file, or replace the whole content of one that was read before. Missing directories
    /// are made. An address such as known:///topic writes an entry that all runs here share.
    Write {
        /// Path relative to the project root, or an entry's address.
        path: String, or "file_path" "filename" "file" "target_file";
        /// The whole content, or that of the scope.
        content: String, or "contents" "text" "file_text";
        /// Write only these lines, or items of JSON: 3-7, 0 before the first, -1 after the last.
        scope: Option<String>, or "range";
        /// Tags for an entry.
        tags: Vec<String>, or "labels";
    }
}

impl BuiltInTool for Write {
    const NAME: &'static str = "write";
    const ALIASES: &'static [&'static str] = &["write_file", "create_file", "create"];
    const EFFECT: Effect = Effect::World;
    const STATEMENT_PLACE: u32 = 60;
    const TARGETS: &'static [&'static str] = &["path"];
    const EXAMPLE: &'static str = r#"{"path":"notes.md","content":"Milk\nBread\n"}"#;

    fn skin(skin: Skin) -> Skin {
        Skin {
            tags: &["set"],
            words: &["EDIT"],
            target: &[("path", Fits::Any)],
            signal: Some("tags"),
            scope: Some(Ranged::Argument("scope")),
            body: Some(("content", Body::Exact)),
            examples: &[
                Example {
                    tag: "<set path=\"notes.md\">\n# Notes\n</set>",
                    heredoc: "<<EDIT(notes.md):# Notes\n:EDIT",
                    why: "A file made or replaced whole.",
                },
                Example {
                    tag: "<set path=\"notes.md\" scope=\"3-4\">\nnew lines\n</set>",
                    heredoc: "<<EDIT(notes.md)<3-4>:new lines\n:EDIT",
                    why: "Lines of a file by their numbers.",
                },
            ],
            ..skin
        }
    }

    fn into_action(self) -> Result<Action, String> {
        let Write { path, content, scope, tags } = self;
        let (path, body) = (Some(path), EditBody::Whole { content });
        Ok(Action::Edit(cairn_types::Edit { path, body, scope: non_empty(scope), tags }))
    }

    fn from_action(action: &Action) -> Option<Self> {
        let Action::Edit(cairn_types::Edit { path, body, scope, tags }) = action else {
            return None;
        };
        let EditBody::Whole { content } = body else { return None };
        let (content, scope, tags) = (content.clone(), scope.clone(), tags.clone());
        Some(Write { path: path.clone()?, content, scope, tags })
    }
}
