//! `remove` removes a file, a directory or an entry.

use super::BuiltInTool;
use crate::native::declare::fields;
use crate::skin::{Example, Fits, Skin};
use cairn_types::{Action, Effect};

fields! {
    /// Remove a file, a link, an entry, or a directory with everything in it, which can be undone; or
    /// end a command in the background.
    Remove {
        /// Path relative to the project root, or the address of an entry or of the command's row.
        path: String, or "file_path" "file" "target";
    }
}

impl BuiltInTool for Remove {
    const NAME: &'static str = "remove";
    const ALIASES: &'static [&'static str] = &["rm", "delete", "delete_file", "remove_file"];
    const EFFECT: Effect = Effect::World;
    const STATEMENT_PLACE: u32 = 80;
    const TARGETS: &'static [&'static str] = &["path"];
    const EXAMPLE: &'static str = r#"{"path":"old.txt"}"#;

    fn skin(skin: Skin) -> Skin {
        Skin {
            tags: &["rm"],
            words: &["KILL"],
            target: &[("path", Fits::Any)],
            bare: Some("path"),
            examples: &[Example {
                tag: r#"<rm path="old.txt"/>"#,
                heredoc: "<<KILL(old.txt)::KILL",
                why: "There is a statement for it, so that no command is used.",
            }],
            ..skin
        }
    }

    fn into_action(self) -> Result<Action, String> {
        Ok(Action::Kill { path: self.path })
    }

    fn from_action(action: &Action) -> Option<Self> {
        let Action::Kill { path } = action else { return None };
        Some(Remove { path: path.clone() })
    }
}
