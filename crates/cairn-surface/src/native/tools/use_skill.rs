//! `use_skill` is not there yet: models ask for it, and are told so.

use super::BuiltInTool;
use crate::native::declare::fields;
use crate::skin::{Fits, Skin};
use cairn_types::{Action, Effect};

fields! {
    /// Take up a skill.
    UseSkill {
        /// Which one.
        name: String, or "path" "skill";
    }
}

impl BuiltInTool for UseSkill {
    const NAME: &'static str = "use_skill";
    const ALIASES: &'static [&'static str] = &[];
    const EFFECT: Effect = Effect::Read;
    const STATEMENT_PLACE: u32 = 140;
    const EXAMPLE: &'static str = r#"{"name":"review"}"#;

    fn skin(skin: Skin) -> Skin {
        Skin { tags: &["skill"], target: &[("name", Fits::Any)], bare: Some("name"), ..skin }
    }

    fn into_action(self) -> Result<Action, String> {
        Err(format!("there are no skills here, and so not {:?}", self.name))
    }

    fn from_action(_: &Action) -> Option<Self> {
        None
    }
}
