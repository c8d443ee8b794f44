//! What a person chose of an edit: the texts they are given to change, and what is done of it at last.
//! Whether a choice fits is the engine's to say, what it comes to the world's.

use crate::RunError;
use crate::ops::preview::OpPreview;
use cairn_engine::NewText;
use cairn_types::{Coord, FileKind, ProposalId};
use cairn_world::{Choice, Prepared};

impl OpPreview<'_> {
    /// What is to be done of what was prepared, by the decision on it, and whether a person chose that.
    pub(crate) fn as_decided(
        &self,
        at: Coord,
        prepared: Prepared,
    ) -> Result<(Prepared, bool), RunError> {
        let decided = self.engine().op(at).and_then(|op| op.decision());
        let Some(decision) = decided.filter(|decision| decision.is_choice()) else {
            return Ok((prepared, false));
        };
        let left = decision.items.iter().filter(|choice| !choice.accepted);
        let mut choice =
            Choice { left: left.map(|choice| choice.item).collect(), texts: Vec::new() };
        for edited in &decision.texts {
            let text =
                String::from_utf8_lossy(&self.run.content(&edited.content.hash)?).into_owned();
            choice.texts.push((edited.path.clone(), text));
        }
        Ok((self.world.chosen(&prepared, &choice), true))
    }

    /// The texts that an open question would write, whole and exact; none when it is not open, or
    /// shows something else by now.
    pub(crate) async fn proposed_texts(&self, id: &ProposalId) -> Result<Vec<NewText>, RunError> {
        let open = self.engine().open_question().filter(|open| open.id == *id && open.by_item);
        let Some(at) = open.map(|open| open.at) else { return Ok(Vec::new()) };
        let action = self.action(at)?;
        let prepared = self.would_as_op(at, &action).await?;
        if !self.engine().op_in_run(at)?.is_as_shown(&prepared.shown) {
            return Ok(Vec::new());
        }
        let written = prepared.changes.iter().filter_map(|change| {
            let after = change.after.as_ref().filter(|state| state.kind == FileKind::File)?;
            let is_it = |bytes: &&Vec<u8>| Some(cairn_types::Hash::of(bytes)) == after.hash;
            let bytes = prepared.contents.iter().find(is_it)?;
            let text = String::from_utf8(bytes.clone()).ok()?;
            Some(NewText { path: change.path.clone(), text })
        });
        Ok(written.collect())
    }
}
