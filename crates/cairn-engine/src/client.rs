//! Ops that a person or program at a client asks for itself: the same intents and the same gates. Nobody
//! else is asked, since whoever would be is the one who asks.

use crate::admit::{Prepared, Recording};
use crate::gates::{Leave, Refusal};
use crate::op_in_run::OpInRun;
use crate::reach::Reach;
use crate::requested_call::RequestedCall;
use crate::state::Engine;
use cairn_surface::Toolbox;
use cairn_types::{Body, By, Call, Coord, Surface, Writer};

impl Engine {
    /// A client asks for an op: a loop of its own, with one turn and one row.
    #[must_use]
    pub fn spoken(&self, tool: &str, args: &str) -> (Recording, Coord) {
        let lap = self.next_lap();
        let at = Coord { lap, turn: 1, seq: 1 };
        let mut recording = Recording::default();
        let input = recording.keep(args);
        let call = Call { id: String::new(), name: tool.to_owned(), args: input };
        // A client has the built-in tools.
        let tools = &Toolbox::default();
        let schemes = self.driving.schemes();
        let requested = RequestedCall { at, call: &call, args, schemes, tools };
        let mut spoken = requested.record(&mut recording);
        (spoken.writer, spoken.surface) = (Writer::Client, Surface::Client);
        let asked = self.prompted(&format!("{tool} {}", spoken.target), Writer::Client);
        recording.facts = asked.facts;
        recording.contents.extend(asked.contents);
        recording.facts.push(Body::Intent(spoken));
        (recording, at)
    }
}

impl OpInRun<'_> {
    /// What the gates say of an op that a client asked for, before it changes anything: who let it, or why it is
    /// refused.
    pub fn judge_for_client(&self, prepared: &Prepared, by: By) -> Result<Recording, Recording> {
        if let Some(problem) = &self.intent.problem {
            return Err(Recording::outcome_by_ref(self.op, problem.status, problem.message));
        }
        let reach = Reach::from(prepared);
        match self.leave(&reach) {
            // There is nobody else to ask, and that is no reason not to do it.
            Leave::Granted(gates, _)
            | Leave::Ask(gates)
            | Leave::Refused(gates, Refusal { is_final: false, .. }) => {
                Ok(self.grant(gates, by).naming_paths(&reach).record())
            }
            Leave::Refused(gates, refusal) => Err(self.refuse(gates, refusal).record()),
            Leave::Hook(_) | Leave::Answered(..) => Err(Recording::default()),
        }
    }
}
