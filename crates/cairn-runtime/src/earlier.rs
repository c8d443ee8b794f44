//! What earlier ops of a reply did, for an edit of the same reply that names lines.

use crate::{Driver, RunError};
use cairn_engine::ChangedSinceReply;
use cairn_types::{Action, Coord, Edit, EditBody};
use cairn_world::{EarlierChange, EarlierEdit, EarlierInReply};

impl Driver {
    /// What ops of the same reply did before this one. Nothing where the action does not name lines.
    pub(crate) fn earlier_in_reply(
        &self,
        at: Coord,
        action: &Action,
    ) -> Result<EarlierInReply, RunError> {
        let names_lines = matches!(
            action,
            Action::Edit(Edit { scope: Some(_), .. } | Edit { body: EditBody::Patch(_), .. })
        );
        let (true, Some(since)) = (names_lines, self.engine.since_reply()) else {
            return Ok(EarlierInReply::default());
        };
        let earlier = since.changed.iter().filter(|changed| changed.at != at);
        let changes = earlier.map(|changed| self.earlier_change(changed));
        let changes = changes.collect::<Result<_, _>>()?;
        Ok(EarlierInReply { seen_before: since.seen_before.clone(), changes })
    }

    fn earlier_change(&self, changed: &ChangedSinceReply) -> Result<EarlierChange, RunError> {
        let is_of_reply = self.engine.op(changed.at).is_some();
        let edit = match (is_of_reply.then(|| self.action(changed.at)).transpose()?, changed.after)
        {
            (Some(Action::Edit(edit)), Some(after)) => {
                let before = changed.before.map(|hash| self.content(&hash)).transpose()?;
                Some(EarlierEdit { edit, before, after: self.content(&after)? })
            }
            _ => None,
        };
        let ChangedSinceReply { path, before, after, .. } = changed.clone();
        Ok(EarlierChange { path, before, after, edit })
    }
}
