//! `todo` keeps the list of what is to be done.

use super::BuiltInTool;
use crate::native::declare::{Argument, Kind, fields};
use crate::skin::{Body, Example, Skin};
use cairn_types::{Action, Effect, TodoItem, TodoState};
use serde_json::Value;

fields! {
    /// Keep the list of what is to be done. Each call gives the whole list.
    Todo {
        /// The list.
        items: Vec<Item>, or "todos" "plan" "tasks";
    }
}

fields! {
    /// One thing to be done.
    Item {
        /// What, in one line.
        text: String, or "content" "step" "task" "title";
        /// How far it has come.
        state: TodoState, or "status";
    }
}

const STATES: [(&str, TodoState); 3] =
    [("pending", TodoState::Pending), ("active", TodoState::Active), ("done", TodoState::Done)];

impl Argument for TodoState {
    const KIND: Kind = Kind::Word(&[STATES[0].0, STATES[1].0, STATES[2].0]);
    fn read(value: Option<Value>) -> Result<Self, String> {
        let word = value.as_ref().and_then(Value::as_str).unwrap_or_default();
        let state = STATES.iter().find(|(name, _)| *name == word).map(|(_, state)| *state);
        state.ok_or_else(|| "is missing".to_owned())
    }
    fn write(self) -> Option<Value> {
        STATES.iter().find(|(_, state)| *state == self).map(|(name, _)| Value::from(*name))
    }
}

impl BuiltInTool for Todo {
    const NAME: &'static str = "todo";
    const ALIASES: &'static [&'static str] = &["todo_write", "todowrite", "update_plan", "todos"];
    const EFFECT: Effect = Effect::Pure;
    const STATEMENT_PLACE: u32 = 150;
    const EXAMPLE: &'static str = r#"{"items":[{"text":"read the tests","state":"done"},{"text":"mend them","state":"active"}]}"#;

    fn skin(skin: Skin) -> Skin {
        Skin {
            tags: &["todo"],
            words: &["TASKS"],
            body: Some(("items", Body::Trimmed)),
            examples: &[Example {
                tag: r#"<todo>[{"text": "find the bug", "state": "active"}]</todo>"#,
                heredoc: r#"<<TASKS:[{"text": "find the bug", "state": "active"}]:TASKS"#,
                why: "The whole list each time; a list of objects is JSON.",
            }],
            ..skin
        }
    }

    fn into_action(self) -> Result<Action, String> {
        let item = |Item { text, state }| TodoItem { text, state };
        Ok(Action::Todo { items: self.items.into_iter().map(item).collect() })
    }

    fn from_action(action: &Action) -> Option<Self> {
        let Action::Todo { items } = action else { return None };
        let item = |item: &TodoItem| Item { text: item.text.clone(), state: item.state };
        Some(Todo { items: items.iter().map(item).collect() })
    }
}
