//! What earlier ops of the same reply did to a file or an entry, so that the line numbers of a later edit mean it as
//! the model saw it before that reply.

use crate::settled::Refusal;
use cairn_text::edit::Edited;
use cairn_text::moves::{Moves, ScopeProblem};
use cairn_text::patch::FilePatch;
use cairn_text::scope::Scope;
use cairn_types::{Edit, EditBody, Hash, Status};
use std::collections::HashMap;

/// What earlier ops of a reply did.
#[derive(Debug, Clone, Default)]
pub struct EarlierInReply {
    /// The files that the model has seen otherwise since the reply, with the hash it saw before; none where it had
    /// not seen it.
    pub seen_before: HashMap<String, Option<Hash>>,
    /// The changes that ops of the reply made, in their order.
    pub changes: Vec<EarlierChange>,
}

/// One change by an earlier op of the same reply.
#[derive(Debug, Clone)]
pub struct EarlierChange {
    /// The path or address.
    pub path: String,
    /// What was there before.
    pub before: Option<Hash>,
    /// What is there since.
    pub after: Option<Hash>,
    /// The edit that made the change; none if it was made by something else, such as a command.
    pub edit: Option<EarlierEdit>,
}

/// An earlier edit of the same reply.
#[derive(Debug, Clone)]
pub struct EarlierEdit {
    /// The edit.
    pub edit: Edit,
    /// The content before it; none where nothing was there.
    pub before: Option<Vec<u8>>,
    /// The content after it.
    pub after: Vec<u8>,
}

/// A text as the model saw it before its reply, and what the edits of that reply moved in it since.
pub(crate) struct SeenText {
    pub(crate) text: String,
    pub(crate) moves: Moves,
}

impl EarlierInReply {
    /// The text of this path as the model saw it before its reply, if edits of the reply changed it since. `redo`
    /// works out again what one of them made of a content.
    ///
    /// # Errors
    ///
    /// When something else than edits of the reply changed it since.
    pub(crate) fn seen_text(
        &self,
        path: &str,
        now: &[u8],
        redo: impl Fn(&Edit, &[u8], Option<&SeenText>) -> Result<Edited, Refusal>,
    ) -> Result<Option<SeenText>, Refusal> {
        let now = Hash::of(now);
        let mut known = self.seen_before.get(path).copied().flatten();
        let mut seen: Option<SeenText> = None;
        // What changed only its mode or tags moved no line.
        let changes_text =
            |change: &&EarlierChange| change.path == path && change.before != change.after;
        for change in self.changes.iter().filter(changes_text) {
            let edit = change.edit.as_ref().ok_or_else(|| changed_meanwhile(path))?;
            if known.is_some() && known != change.before {
                return Err(changed_meanwhile(path));
            }
            known = change.after;
            let Some(before) = &edit.before else {
                // The model knows what it wrote itself.
                seen =
                    Some(SeenText { text: text_of(path, &edit.after)?, moves: Moves::default() });
                continue;
            };
            let moves = match redo(&edit.edit, before, seen.as_ref()) {
                Ok(redone) if redone.content.as_bytes() == edit.after => redone.moves,
                // It did not do what it would do alone: a person chose some of it.
                _ => Moves::everything(),
            };
            match &mut seen {
                Some(seen) => seen.moves.then(moves),
                None => seen = Some(SeenText { text: text_of(path, before)?, moves }),
            }
        }
        if known.is_some_and(|known| known != now) {
            return Err(changed_meanwhile(path));
        }
        Ok(seen)
    }
}

impl SeenText {
    /// The scope that means in the text as it is now what this one meant in the text that the model saw.
    pub(crate) fn scope_now(
        &self,
        path: &str,
        scope: &str,
        now: &str,
        is_json: bool,
    ) -> Result<String, Refusal> {
        let scope = Scope::parse(scope)
            .map_err(|why| Refusal::new(Status::BAD_REQUEST, why.to_string()))?;
        let moved = self.moves.scope_now(&scope, &self.text, now, is_json);
        moved.map(|scope| scope.to_string()).map_err(|problem| misplaced(path, &problem))
    }
}

/// Whether an edit says by their numbers which lines or items it means.
#[must_use]
pub fn names_lines(edit: &Edit) -> bool {
    let patches = match &edit.body {
        EditBody::Patch(text) => cairn_text::patch::parse(text).unwrap_or_default(),
        EditBody::Whole { .. } | EditBody::Replace(_) => Vec::new(),
    };
    edit.scope.is_some() || patches.iter().any(FilePatch::names_lines)
}

/// The refusal of a scope that has no place any more.
pub(crate) fn misplaced(path: &str, problem: &ScopeProblem) -> Refusal {
    Refusal::new(problem.status(), format!("{path}: {problem}"))
}

fn changed_meanwhile(path: &str) -> Refusal {
    let text = format!(
        "{path} was changed while this reply was carried out, so its line numbers may mean other lines; \
         read it and edit it in your next reply"
    );
    Refusal::new(Status::CONFLICT, text)
}

fn text_of(path: &str, bytes: &[u8]) -> Result<String, Refusal> {
    let text = String::from_utf8(bytes.to_vec());
    text.map_err(|_| Refusal::new(Status::NOT_TEXT, format!("{path} is not UTF-8 text")))
}
