//! `move` moves a file, a directory or an entry.

use super::BuiltInTool;
use crate::native::declare::fields;
use crate::skin::{Body, Example, Fits, Skin};
use cairn_types::{Action, Carry, Effect};

fields! {
    /// Give a file, directory or entry another path or address. Nothing may be there.
    Move {
        /// What to move.
        from: String, or "source" "src" "old_path";
        /// Where to.
        to: String, or "destination" "dest" "dst" "new_path";
        /// Tags for the entry there, instead of those it has.
        tags: Vec<String>, or "labels";
    }
}

impl BuiltInTool for Move {
    const NAME: &'static str = "move";
    const ALIASES: &'static [&'static str] = &["mv", "rename", "move_file", "rename_file"];
    const EFFECT: Effect = Effect::World;
    const STATEMENT_PLACE: u32 = 90;
    const TARGETS: &'static [&'static str] = &["from", "to"];
    const EXAMPLE: &'static str = r#"{"from":"a.txt","to":"b.txt"}"#;

    fn skin(skin: Skin) -> Skin {
        Skin {
            tags: &["mv"],
            words: &["MOVE"],
            target: &[("from", Fits::Any)],
            signal: Some("tags"),
            body: Some(("to", Body::Target)),
            examples: &[Example {
                tag: r#"<mv path="a.txt" to="b.txt"/>"#,
                heredoc: "<<MOVE(a.txt):b.txt:MOVE",
                why: "Where from and where to.",
            }],
            ..skin
        }
    }

    fn into_action(self) -> Result<Action, String> {
        Ok(Action::Move(Carry { from: self.from, to: self.to, tags: self.tags }))
    }

    fn from_action(action: &Action) -> Option<Self> {
        let Action::Move(Carry { from, to, tags }) = action else { return None };
        Some(Move { from: from.clone(), to: to.clone(), tags: tags.clone() })
    }
}
