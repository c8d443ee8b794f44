//! `edit` changes a part of a file.

use super::{BuiltInTool, is_edit};
use crate::native::declare::{Way, fields};
use crate::skin::{Body, Example, Fits, Skin};
use cairn_types::{Action, EditBody, Effect, Exchange};

fields! {
    /// Change a file that was read before: replace old by new, where old must occur exactly once
    /// unless all is true; or give a patch instead: SEARCH/REPLACE blocks, s/a/b/ lines, a unified
    /// diff or *** Begin Patch, of which the last two may name several files without path. The
    /// result shows the lines as they now are.
    Edit {
        /// Path relative to the project root.
        path: Option<String>, or "file_path" "filename" "file" "target_file";
        /// The text that stands there now, exactly.
        old: Option<String>, or "old_string" "old_text" "old_str" "search";
        /// The text that shall stand there.
        new: Option<String>, or "new_string" "new_text" "new_str" "replace";
        /// Replace every occurrence. Default false.
        all: bool, or "replace_all";
        /// A patch, instead of old and new.
        patch: Option<String>, or "diff" "input";
    }
}

impl BuiltInTool for Edit {
    const NAME: &'static str = "edit";
    const ALIASES: &'static [&'static str] =
        &["edit_file", "str_replace", "str_replace_editor", "apply_patch"];
    const EFFECT: Effect = Effect::World;
    const STATEMENT_PLACE: u32 = 50;
    const TARGETS: &'static [&'static str] = &["path"];
    const WAYS: &'static [Way] = &[
        Way { needs: &["path", "old", "new"], leaves: &["patch"] },
        Way { needs: &["patch"], leaves: &["old", "new", "all"] },
    ];
    const EXAMPLE: &'static str = r#"{"path":"src/main.rs","old":"let n = 1;","new":"let n = 2;"}"#;

    fn skin(skin: Skin) -> Skin {
        Skin {
            tags: &["set"],
            words: &["PATCH"],
            target: &[("path", Fits::Any)],
            body: Some(("patch", Body::Exact)),
            meant: |said| {
                let is_given = ["old", "new", "patch"].iter().any(|name| said.has(name));
                said.name == "PATCH" || is_given || is_edit(said)
            },
            examples: &[Example {
                tag: "<set path=\"src/main.rs\"><<SEARCH\nold line\nSEARCH\n<<REPLACE\nnew line\nREPLACE\n</set>",
                heredoc: "<<PATCH(src/main.rs):<<SEARCH\nold line\nSEARCH\n<<REPLACE\nnew line\nREPLACE\n:PATCH",
                why: "A change names what stands there now, so that nothing else is hit.",
            }],
            ..skin
        }
    }

    fn into_action(self) -> Result<Action, String> {
        let Edit { path, old, new, all, patch } = self;
        let body = match (old, new, patch) {
            (None, None, Some(patch)) => {
                return Ok(Action::Edit(cairn_types::Edit::of(path, EditBody::Patch(patch))));
            }
            (Some(old), Some(new), None) => EditBody::Replace(vec![Exchange { old, new, all }]),
            (Some(_), None, None) => return Err("new is missing".to_owned()),
            (None, Some(_), None) => return Err("old is missing".to_owned()),
            (_, _, Some(_)) => return Err("old and new, or patch, but not both".to_owned()),
            (None, None, None) => return Err("neither old and new nor patch is given".to_owned()),
        };
        match path {
            Some(path) => Ok(Action::Edit(cairn_types::Edit::of(Some(path), body))),
            None => Err("path is missing".to_owned()),
        }
    }

    fn from_action(action: &Action) -> Option<Self> {
        let Action::Edit(edit) = action else { return None };
        let path = edit.path.clone();
        let none = Edit { path, old: None, new: None, all: false, patch: None };
        match &edit.body {
            EditBody::Patch(patch) => Some(Edit { patch: Some(patch.clone()), ..none }),
            EditBody::Replace(edits) => match &edits[..] {
                [Exchange { old, new, all }] => {
                    let (old, new) = (Some(old.clone()), Some(new.clone()));
                    Some(Edit { old, new, all: *all, ..none })
                }
                _ => None,
            },
            EditBody::Whole { .. } => None,
        }
    }
}
