//! A call that was asked for, by a model, a hook or a client: what it is parsed to, and the fact that asks for it.

use crate::admit::Recording;
use crate::policy::subject_of;
use crate::schemes;
use cairn_surface::Toolbox;
use cairn_types::{Action, Call, Coord, Intent, Manifest, Post, Problem, Status, Surface, Writer};

/// A call that is about to be recorded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestedCall<'a> {
    /// The op that it becomes.
    pub(crate) at: Coord,
    pub(crate) call: &'a Call,
    /// Its arguments, as written.
    pub(crate) args: &'a str,
    /// The schemes that the driver adds.
    pub(crate) schemes: &'a [Manifest],
    /// The tools of the run.
    pub(crate) tools: &'a Toolbox,
}

/// A call as it was parsed when it was recorded, so that nobody parses it again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedCall {
    /// The op.
    pub at: Coord,
    /// What it does.
    pub action: Action,
}

impl RequestedCall<'_> {
    /// Parses it. Returns the fact that asks for it; what that names, and the parsed call, are kept with the recording.
    pub(crate) fn record(self, recording: &mut Recording) -> Intent {
        self.record_with(recording, |misread| misread.to_owned())
    }

    /// Does the same. If the call makes no sense, the model reads the words that `told_misread` makes of the reason.
    pub(crate) fn record_with(
        self,
        recording: &mut Recording,
        told_misread: impl FnOnce(&str) -> String,
    ) -> Intent {
        let RequestedCall { at, call, args, schemes, tools } = self;
        let parsed = tools.parse(&call.name, args);
        let effect = parsed
            .action
            .as_ref()
            .map_or(parsed.effect, |action| schemes::effect(action, parsed.effect, schemes));
        let says = match &parsed.action {
            Ok(Action::Send(Post { to: None, status, .. })) => Some(Status(*status)),
            _ => None,
        };
        let tool = match &parsed.action {
            // A provider may be told another name.
            Ok(Action::Call(call)) => call.tool.clone(),
            _ => call.name.clone(),
        };
        let (op, target, subject, problem) = match parsed.action {
            Ok(action) => {
                let (op, target) = (action.op(), one_line(&action.target()));
                let subject = tools.subject(&action).unwrap_or_else(|| subject_of(&action));
                recording.parsed_calls.push(ParsedCall { at, action });
                (Some(op), target, Some(subject), None)
            }
            Err(misread) => {
                let message = recording.keep(told_misread(&misread.message));
                (None, String::new(), None, Some(Problem { status: misread.status, message }))
            }
        };
        Intent {
            at,
            call: call.id.clone(),
            writer: Writer::Model,
            surface: Surface::Native,
            tool,
            input: call.args,
            op,
            target,
            subject,
            effect,
            repeatable: parsed.repeatable,
            of: None,
            repairs: parsed.repairs,
            unclosed: false,
            says,
            problem,
        }
    }
}

fn one_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let mut cut: String = line.chars().take(200).collect();
    if cut.len() < text.trim_end().len() {
        cut.push('…');
    }
    cut
}
