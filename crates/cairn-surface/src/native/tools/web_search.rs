//! `web_search` is not there yet: models ask for it, and are told so.

use super::BuiltInTool;
use crate::native::declare::fields;
use crate::skin::{Fits, Skin};
use cairn_types::{Action, Effect};

fields! {
    /// Search the web.
    WebSearch {
        /// What for.
        query: String, or "path" "text";
        /// How many results at most.
        results: Option<u64>, or "limit";
    }
}

impl BuiltInTool for WebSearch {
    const NAME: &'static str = "web_search";
    const ALIASES: &'static [&'static str] = &[];
    const EFFECT: Effect = Effect::Network;
    const STATEMENT_PLACE: u32 = 130;
    const EXAMPLE: &'static str = r#"{"query":"release notes"}"#;

    fn skin(skin: Skin) -> Skin {
        Skin { tags: &["search"], target: &[("query", Fits::Any)], bare: Some("query"), ..skin }
    }

    fn into_action(self) -> Result<Action, String> {
        Err(format!("nothing here searches the web for {:?}", self.query))
    }

    fn from_action(_: &Action) -> Option<Self> {
        None
    }
}
