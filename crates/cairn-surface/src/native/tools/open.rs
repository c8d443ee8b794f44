//! `open` shows rows again that were folded.

use super::{BuiltInTool, VISIBILITY, only_shows};
use crate::native::declare::fields;
use crate::skin::{Example, Fits, Skin};
use cairn_types::{Action, Effect};

fields! {
    /// Show rows of your own log again that were folded.
    Open {
        /// A row such as log:///1/2/3, the rows of a turn such as log:///1/2, or a glob such as log:///1/**.
        path: String, or "row" "rows" "target";
    }
}

impl BuiltInTool for Open {
    const NAME: &'static str = "open";
    const ALIASES: &'static [&'static str] = &["unfold", "show"];
    const EFFECT: Effect = Effect::Read;
    const STATEMENT_PLACE: u32 = 10;
    const TARGETS: &'static [&'static str] = &["path"];
    const EXAMPLE: &'static str = r#"{"path":"log:///1/2/3"}"#;

    fn skin(skin: Skin) -> Skin {
        Skin {
            tags: &["set", "mv", "cp"],
            words: &["OPEN"],
            target: &[("path", Fits::Any)],
            choosing: &[VISIBILITY],
            meant: |said| said.name == "OPEN" || only_shows(said, &["visible"]),
            examples: &[Example {
                tag: r#"<set path="log:///1/2/3" visibility="visible"/>"#,
                heredoc: "<<OPEN(log:///1/2/3)::OPEN",
                why: "What was put away comes back whole.",
            }],
            ..skin
        }
    }

    fn into_action(self) -> Result<Action, String> {
        Ok(Action::Open { path: self.path })
    }

    fn from_action(action: &Action) -> Option<Self> {
        let Action::Open { path } = action else { return None };
        Some(Open { path: path.clone() })
    }
}
