//! The parsed calls of the ops that a run's engine holds, so that the runtime parses a call once, however often the op
//! is prepared, shown and performed.

use cairn_types::{Action, Coord, Hash, Intent};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Parsed calls by op.
#[derive(Debug, Default)]
pub(crate) struct OpenActions {
    parsed: Mutex<HashMap<Coord, OpenAction>>,
}

#[derive(Debug)]
struct OpenAction {
    tool: String,
    input: Hash,
    action: Arc<Action>,
}

impl OpenActions {
    /// Keeps what the call of an op was parsed to when it was recorded.
    pub(crate) fn keep(&mut self, intent: &Intent, action: Action) {
        let (tool, input) = (intent.tool.clone(), intent.input.hash);
        self.lock().insert(intent.at, OpenAction { tool, input, action: Arc::new(action) });
    }

    /// The action of an op that calls this tool with this input. It is parsed where it was not kept, or a hook
    /// changed tool or input since; what cannot be parsed is not kept.
    pub(crate) fn get_or_parse<E>(
        &self,
        at: Coord,
        tool: &str,
        input: Hash,
        parse: impl FnOnce() -> Result<Action, E>,
    ) -> Result<Arc<Action>, E> {
        let is_same = |call: &&OpenAction| call.tool == tool && call.input == input;
        if let Some(call) = self.lock().get(&at).filter(is_same) {
            return Ok(call.action.clone());
        }
        let action = Arc::new(parse()?);
        let call = OpenAction { tool: tool.to_owned(), input, action: action.clone() };
        self.lock().insert(at, call);
        Ok(action)
    }

    /// Drops the calls of ops that are no longer held. A settled op of the newest reply is: later edits of that reply
    /// count its lines.
    pub(crate) fn keep_only(&mut self, is_held: impl Fn(Coord) -> bool) {
        self.lock().retain(|at, _| is_held(*at));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Coord, OpenAction>> {
        self.parsed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::convert::Infallible;

    #[test]
    fn a_call_is_parsed_once_until_it_changes_or_its_op_is_gone() {
        let mut actions = OpenActions::default();
        let parses = Cell::new(0);
        let at = |seq| Coord { lap: 1, turn: 1, seq };
        let get = |actions: &OpenActions, seq, tool: &str, input: &str| {
            let parse = || {
                parses.set(parses.get() + 1);
                Ok::<_, Infallible>(Action::Kill { path: format!("{tool} {input}") })
            };
            let input = Hash::of(input.as_bytes());
            let Ok(action) = actions.get_or_parse(at(seq), tool, input, parse);
            (action.target(), parses.get())
        };
        let expected = |target: &str, parses| (target.to_owned(), parses);
        assert_eq!(get(&actions, 1, "rm", "a"), expected("rm a", 1));
        assert_eq!(get(&actions, 1, "rm", "a"), expected("rm a", 1));
        assert_eq!(get(&actions, 2, "rm", "a"), expected("rm a", 2));
        assert_eq!(get(&actions, 1, "rm", "b"), expected("rm b", 3));
        assert_eq!(get(&actions, 1, "ls", "b"), expected("ls b", 4));
        actions.keep_only(|one| one == at(2));
        assert_eq!(get(&actions, 2, "rm", "a"), expected("rm a", 4));
        assert_eq!(get(&actions, 1, "ls", "b"), expected("ls b", 5));
        let refused = actions.get_or_parse(at(3), "rm", Hash::of(b"c"), || Err("misread"));
        assert_eq!(refused.err(), Some("misread"));
        assert_eq!(get(&actions, 3, "rm", "c"), expected("rm c", 6));
    }
}
