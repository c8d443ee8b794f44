//! `fold` puts rows away.

use super::{BuiltInTool, VISIBILITY, only_shows};
use crate::native::declare::fields;
use crate::skin::{Example, Fits, Skin};
use cairn_types::{Action, Effect};

fields! {
    /// Put away results that are no longer needed: of each only its address is shown. They can be opened
    /// again, and read by that address.
    Fold {
        /// A row such as log:///1/2/3, the rows of a turn such as log:///1/2, or a glob such as log:///1/**.
        path: String, or "row" "rows" "target";
    }
}

impl BuiltInTool for Fold {
    const NAME: &'static str = "fold";
    const ALIASES: &'static [&'static str] = &["hide", "close"];
    const EFFECT: Effect = Effect::Read;
    const STATEMENT_PLACE: u32 = 0;
    const TARGETS: &'static [&'static str] = &["path"];
    const EXAMPLE: &'static str = r#"{"path":"log:///1/2"}"#;

    fn skin(skin: Skin) -> Skin {
        Skin {
            tags: &["set", "mv", "cp"],
            words: &["FOLD"],
            target: &[("path", Fits::Any)],
            choosing: &[VISIBILITY],
            meant: |said| said.name == "FOLD" || only_shows(said, &["archived", "summarized"]),
            examples: &[Example {
                tag: r#"<set path="log:///1/2/*" visibility="archived"/>"#,
                heredoc: "<<FOLD(log:///1/2/*)::FOLD",
                why: "Putting rows away is one statement, over a pattern.",
            }],
            ..skin
        }
    }

    fn into_action(self) -> Result<Action, String> {
        Ok(Action::Fold { path: self.path })
    }

    fn from_action(action: &Action) -> Option<Self> {
        let Action::Fold { path } = action else { return None };
        Some(Fold { path: path.clone() })
    }
}
