//! `copy` copies a file, a directory or an entry.

use super::BuiltInTool;
use crate::native::declare::fields;
use crate::skin::{Body, Example, Fits, Skin};
use cairn_types::{Action, Carry, Effect};

fields! {
    /// Copy a file, directory or entry. Nothing may be at the new path or address.
    Copy {
        /// What to copy.
        from: String, or "source" "src";
        /// Where to.
        to: String, or "destination" "dest" "dst";
        /// Tags for the entry there, instead of those it has.
        tags: Vec<String>, or "labels";
    }
}

impl BuiltInTool for Copy {
    const NAME: &'static str = "copy";
    const ALIASES: &'static [&'static str] = &["cp", "copy_file"];
    const EFFECT: Effect = Effect::World;
    const STATEMENT_PLACE: u32 = 100;
    const TARGETS: &'static [&'static str] = &["from", "to"];
    const EXAMPLE: &'static str = r#"{"from":"a.txt","to":"b.txt"}"#;

    fn skin(skin: Skin) -> Skin {
        Skin {
            tags: &["cp"],
            words: &["COPY"],
            target: &[("from", Fits::Any)],
            signal: Some("tags"),
            body: Some(("to", Body::Target)),
            examples: &[Example {
                tag: r#"<cp path="a.txt" to="b.txt"/>"#,
                heredoc: "<<COPY(a.txt):b.txt:COPY",
                why: "As moving, and the first stays.",
            }],
            ..skin
        }
    }

    fn into_action(self) -> Result<Action, String> {
        Ok(Action::Copy(Carry { from: self.from, to: self.to, tags: self.tags }))
    }

    fn from_action(action: &Action) -> Option<Self> {
        let Action::Copy(Carry { from, to, tags }) = action else { return None };
        Some(Copy { from: from.clone(), to: to.clone(), tags: tags.clone() })
    }
}
