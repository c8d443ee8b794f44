//! `ask_user` asks the person a question.

use super::BuiltInTool;
use crate::native::declare::fields;
use crate::skin::{Body, Example, Skin};
use cairn_types::{Action, Consult, Effect};

fields! {
    /// Ask the person a question and wait for the answer. Only for what they alone can decide and
    /// nothing here tells.
    AskUser {
        /// The question, whole: they may see nothing else.
        question: String, or "text" "prompt" "message";
        /// Answers to choose from, the best first. They may always answer in their own words.
        options: Vec<String>, or "choices" "answers" "follow_up";
    }
}

/// A person chooses among no more answers than this.
const MOST_OPTIONS: usize = 20;

impl BuiltInTool for AskUser {
    const NAME: &'static str = "ask_user";
    const ALIASES: &'static [&'static str] =
        &["ask", "question", "ask_followup_question", "ask_user_question", "request_user_input"];
    const EFFECT: Effect = Effect::Pure;
    const STATEMENT_PLACE: u32 = 160;
    const EXAMPLE: &'static str =
        r#"{"question":"Which database?","options":["SQLite","PostgreSQL"]}"#;

    fn skin(skin: Skin) -> Skin {
        Skin {
            tags: &["ask_user"],
            words: &["ASK"],
            body: Some(("options", Body::Trimmed)),
            bare: Some("question"),
            meant: |_| true,
            examples: &[Example {
                tag: r#"<ask_user question="Which database?" options="SQLite; PostgreSQL"/>"#,
                heredoc: "<<ASK:Which database?:ASK",
                why: "Only people know what they want.",
            }],
            ..skin
        }
    }

    fn into_action(self) -> Result<Action, String> {
        let AskUser { question, options } = self;
        if question.trim().is_empty() {
            return Err("question is empty".to_owned());
        }
        let options: Vec<String> = options.into_iter().filter(|o| !o.trim().is_empty()).collect();
        if options.len() > MOST_OPTIONS {
            return Err(format!("there are more than {MOST_OPTIONS} options"));
        }
        Ok(Action::Consult(Consult::Question { text: question, options }))
    }

    fn from_action(action: &Action) -> Option<Self> {
        let Action::Consult(Consult::Question { text, options }) = action else { return None };
        Some(AskUser { question: text.clone(), options: options.clone() })
    }
}
