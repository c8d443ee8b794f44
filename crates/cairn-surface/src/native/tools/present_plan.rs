//! `present_plan` puts a plan to the person.

use super::BuiltInTool;
use crate::native::declare::fields;
use crate::skin::{Body, Example, Skin};
use cairn_types::{Action, Consult, Effect};

fields! {
    /// Put a plan to the person before carrying it out: what would be changed, where, and how it would
    /// be checked. They approve it, want it revised, or reject it.
    PresentPlan {
        /// The plan, in Markdown.
        plan: String, or "text" "content" "steps";
    }
}

impl BuiltInTool for PresentPlan {
    const NAME: &'static str = "present_plan";
    const ALIASES: &'static [&'static str] = &["exit_plan_mode", "propose_plan"];
    const EFFECT: Effect = Effect::Pure;
    const STATEMENT_PLACE: u32 = 170;
    const EXAMPLE: &'static str = r#"{"plan":"1. Read the tests.\n2. Mend them."}"#;

    fn skin(skin: Skin) -> Skin {
        Skin {
            tags: &["plan"],
            words: &["PLAN"],
            body: Some(("plan", Body::Exact)),
            examples: &[Example {
                tag: "<plan>1. read the tests 2. mend parse() 3. run them</plan>",
                heredoc: "<<PLAN:1. read the tests 2. mend parse() 3. run them:PLAN",
                why: "What would be done, where, and how it would be checked.",
            }],
            ..skin
        }
    }

    fn into_action(self) -> Result<Action, String> {
        match self.plan.trim().is_empty() {
            true => Err("plan is empty".to_owned()),
            false => Ok(Action::Consult(Consult::Plan { text: self.plan })),
        }
    }

    fn from_action(action: &Action) -> Option<Self> {
        let Action::Consult(Consult::Plan { text }) = action else { return None };
        Some(PresentPlan { plan: text.clone() })
    }
}
