//! What earlier ops of a reply did, for an edit of the same reply that names lines.

use crate::RunError;
use crate::ops::preview::OpPreview;
use cairn_engine::{ChangedSinceReply, Lap};
use cairn_types::{Action, Coord, Edit, Hash};
use cairn_world::{EarlierChange, EarlierEdit, EarlierInReply, names_lines};

impl OpPreview<'_> {
    /// What ops of the same reply did before this one. Nothing where the action does not name lines.
    pub(crate) fn earlier_in_reply(
        &self,
        at: Coord,
        action: &Action,
    ) -> Result<EarlierInReply, RunError> {
        let does_name_lines = matches!(action, Action::Edit(edit) if names_lines(edit));
        let (true, Some(since)) = (does_name_lines, self.engine().lap().map(Lap::since_reply))
        else {
            return Ok(EarlierInReply::default());
        };
        let earlier = since.changed.iter().filter(|changed| changed.at != at);
        let changes = earlier.map(|changed| self.earlier_change(changed));
        let changes = changes.collect::<Result<_, _>>()?;
        Ok(EarlierInReply { seen_before: since.seen_before.clone(), changes })
    }

    fn earlier_change(&self, changed: &ChangedSinceReply) -> Result<EarlierChange, RunError> {
        let is_of_reply = self.engine().op(changed.at).is_some();
        let action = is_of_reply.then(|| self.action(changed.at)).transpose()?;
        let edit = match (action.as_deref(), changed.after) {
            (Some(Action::Edit(edit)), Some(after)) => self.earlier_edit(edit, changed, after),
            _ => None,
        };
        let ChangedSinceReply { path, before, after, .. } = changed.clone();
        Ok(EarlierChange { path, before, after, edit })
    }

    /// The contents around an earlier edit. Without them, as after damage, nobody can say which lines it moved, and the
    /// later edit is refused.
    fn earlier_edit(
        &self,
        edit: &Edit,
        changed: &ChangedSinceReply,
        after: Hash,
    ) -> Option<EarlierEdit> {
        let before = changed.before.map(|hash| self.run.content(&hash)).transpose().ok()?;
        Some(EarlierEdit { edit: edit.clone(), before, after: self.run.content(&after).ok()? })
    }
}
