//! `multi_edit` changes several parts of one file.

use super::BuiltInTool;
use crate::native::declare::{Way, fields};
use crate::skin::{Fits, Skin};
use cairn_types::{Action, EditBody, Effect, Exchange};

fields! {
    /// Make several replacements in one file, in order: all of them or none.
    MultiEdit {
        /// Path relative to the project root.
        path: String, or "file_path" "filename" "file" "target_file";
        /// The replacements.
        edits: Vec<OneEdit>, or "changes" "replacements";
    }
}

fields! {
    /// One replacement.
    OneEdit {
        /// The text that stands there now, exactly.
        old: String, or "old_string" "old_text" "old_str" "search";
        /// The text that shall stand there.
        new: String, or "new_string" "new_text" "new_str" "replace";
        /// Replace every occurrence. Default false.
        all: bool, or "replace_all";
    }
}

impl BuiltInTool for MultiEdit {
    const NAME: &'static str = "multi_edit";
    const ALIASES: &'static [&'static str] = &["multiedit"];
    const EFFECT: Effect = Effect::World;
    const STATEMENT_PLACE: u32 = 70;
    const TARGETS: &'static [&'static str] = &["path"];
    const WAYS: &'static [Way] = &[Way { needs: &["edits"], leaves: &[] }];
    const EXAMPLE: &'static str = r#"{"path":"a.txt","edits":[{"old":"one","new":"two"},{"old":"three","new":"four","all":true}]}"#;

    fn skin(skin: Skin) -> Skin {
        Skin { target: &[("path", Fits::Any)], ..skin }
    }

    fn into_action(self) -> Result<Action, String> {
        if self.edits.is_empty() {
            return Err("edits is empty".to_owned());
        }
        let exchange = |OneEdit { old, new, all }| Exchange { old, new, all };
        let body = EditBody::Replace(self.edits.into_iter().map(exchange).collect());
        Ok(Action::Edit(cairn_types::Edit::of(Some(self.path), body)))
    }

    fn from_action(action: &Action) -> Option<Self> {
        let Action::Edit(cairn_types::Edit { path, body: EditBody::Replace(edits), .. }) = action
        else {
            return None;
        };
        let one = |edit: &Exchange| {
            let Exchange { old, new, all } = edit.clone();
            OneEdit { old, new, all }
        };
        Some(MultiEdit { path: path.clone()?, edits: edits.iter().map(one).collect() })
    }
}
