//! `list` lists a directory.

use super::BuiltInTool;
use crate::native::declare::fields;
use crate::skin::{Example, Fits, Skin};
use cairn_types::{Action, Effect};

fields! {
    /// List a directory. What git ignores is left out.
    List {
        /// Directory relative to the project root. Default the root.
        path: Option<String>, or "dir" "directory";
        /// How many levels. Default 1.
        depth: Option<u64>, or "levels";
    }
}

impl BuiltInTool for List {
    const NAME: &'static str = "list";
    const ALIASES: &'static [&'static str] = &["ls", "list_dir", "list_directory", "list_files"];
    const EFFECT: Effect = Effect::Read;
    const STATEMENT_PLACE: u32 = 40;
    const TARGETS: &'static [&'static str] = &["path"];
    const EXAMPLE: &'static str = r#"{"path":"src","depth":2}"#;

    fn skin(skin: Skin) -> Skin {
        Skin {
            tags: &["list"],
            words: &["LIST"],
            target: &[("path", Fits::Any)],
            bare: Some("path"),
            examples: &[Example {
                tag: r#"<list path="src"/>"#,
                heredoc: "<<LIST(src)::LIST",
                why: "Where to begin in a project that is not known.",
            }],
            ..skin
        }
    }

    fn into_action(self) -> Result<Action, String> {
        let path = self.path.unwrap_or_else(|| ".".to_owned());
        Ok(Action::List { path, depth: self.depth.unwrap_or(1).max(1) })
    }

    fn from_action(action: &Action) -> Option<Self> {
        let Action::List { path, depth } = action else { return None };
        let (path, depth) = ((path != ".").then(|| path.clone()), (*depth != 1).then_some(*depth));
        Some(List { path, depth })
    }
}
