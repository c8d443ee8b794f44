//! What ops of a run would do, found out before anything is decided about them: nothing is performed and nothing recorded.

use crate::RunError;
use crate::background::{Streams, settled};
use crate::run_record::{RunRecord, rows};
use crate::schemes::OwnRows;
use cairn_engine::Engine;
use cairn_text::patch;
use cairn_types::{Action, Coord, Edit, EditBody, RunId, Status, Surface};
use cairn_world::{EarlierInReply, Prepared, World};
use std::sync::Arc;

/// The run, the world and the streams as they are now, to find out what an op would do.
pub(crate) struct OpPreview<'a> {
    pub(crate) run: &'a RunRecord,
    pub(crate) world: &'a World,
    pub(crate) streams: &'a Streams,
    pub(crate) own_rows: &'a OwnRows,
}

impl OpPreview<'_> {
    pub(crate) fn engine(&self) -> &Engine {
        self.run.engine()
    }

    /// The op's action, read back from what the model wrote.
    pub(crate) fn action(&self, at: Coord) -> Result<Arc<Action>, RunError> {
        let unreadable =
            |why: String| RunError::Unreadable { run: self.run.journal.run_id().clone(), at, why };
        let op = self.engine().op(at).ok_or_else(|| unreadable("it is not open".to_owned()))?;
        let tool = &op.intent.tool;
        let parse = || {
            let args = self.run.content(&op.input())?;
            let toolbox = &self.run.toolbox;
            toolbox
                .parse(tool, &String::from_utf8_lossy(&args))
                .action
                .map(|action| own_commands(self.run.journal.run_id(), action))
                .map_err(|misread| unreadable(misread.message))
        };
        let action = self.run.open_ops.actions.get_or_parse(at, tool, op.input(), parse)?;
        Ok(self.as_body(op.intent.surface, action))
    }

    /// On the surface of tags a body that looks like an edit is one only of what is there, or where it makes
    /// the file itself; else it is the content.
    fn as_body(&self, surface: Surface, action: Arc<Action>) -> Arc<Action> {
        match &*action {
            Action::Edit(edit @ Edit { path: Some(path), body: EditBody::Patch(text), .. })
                if surface == Surface::Tags
                    && !patch::creates(text)
                    && !self.world.locations().is_there(path) =>
            {
                let body = EditBody::Whole { content: text.clone() };
                Arc::new(Action::Edit(Edit { body, ..edit.clone() }))
            }
            _ => action,
        }
    }

    /// What an action would do, without doing anything. What is shown of it has no secrets in it, so
    /// that its hash is the one that a decision names.
    pub(crate) async fn would(&self, action: &Action) -> Result<Prepared, RunError> {
        self.would_in_reply(action, EarlierInReply::default()).await
    }

    /// What an op would do after the earlier ops of its reply.
    pub(crate) async fn would_as_op(
        &self,
        at: Coord,
        action: &Action,
    ) -> Result<Prepared, RunError> {
        self.would_in_reply(action, self.earlier_in_reply(at, action)?).await
    }

    async fn would_in_reply(
        &self,
        action: &Action,
        earlier: EarlierInReply,
    ) -> Result<Prepared, RunError> {
        let mut prepared = self.would_exactly(action, earlier).await?;
        self.run.scrub_shown(&mut prepared);
        Ok(prepared)
    }

    async fn would_exactly(
        &self,
        action: &Action,
        earlier: EarlierInReply,
    ) -> Result<Prepared, RunError> {
        let _shown = self.own_rows.show_durable(self.run, self.streams, &[action])?;
        match action {
            Action::Kill { path } if rows::is_row(path) => self.streams.would_end(self.run, path),
            Action::Send(post) => match self.would_say(post)? {
                Some(prepared) => Ok(prepared),
                None => Ok(self.world.prepare_beside(action).await),
            },
            Action::Exec(exec) if exec.background => match self.streams.full() {
                Some(text) => Ok(settled(Status::LIMIT, text)),
                None => Ok(self.world.prepare_beside(action).await),
            },
            _ => Ok(self.world.prepare_in_reply_beside(action, earlier).await),
        }
    }
}

/// The same, with what commands of this run printed as its rows have it.
pub(crate) fn own_commands(own: &RunId, mut action: Action) -> Action {
    let (path, channel) = match &mut action {
        Action::Read(read) => (&mut read.path, "#output"),
        Action::Copy(carry) => (&mut carry.from, "#output"),
        Action::Kill { path } => (path, ""),
        _ => return action,
    };
    *path = rows::of_command(own, path, channel);
    action
}
