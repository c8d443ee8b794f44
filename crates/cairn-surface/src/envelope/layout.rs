//! How a tool's arguments are laid out where decoding is constrained: what must be there first, then what may.
//! Schema, grammar, print and instructions read this, so that they agree.

use crate::native::{Kind, Param, Tool};
use serde_json::{Map, Value};

/// So many items may a list have where decoding is constrained: no tool refuses them, and a small model that has
/// begun to repeat itself comes to an end.
pub(super) const MOST_ITEMS: usize = 20;

/// One way to give a tool's arguments.
pub(super) struct Layout {
    pub(super) needed: Vec<Slot>,
    pub(super) optional: Vec<Slot>,
}

/// An argument in its place.
pub(super) struct Slot {
    pub(super) param: &'static Param,
    /// Whether it says what the tool works on.
    pub(super) is_target: bool,
    /// Whether it must say something: a list that is not empty, a flag that is set.
    pub(super) is_full: bool,
}

impl Layout {
    /// All arguments, in order.
    pub(super) fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.needed.iter().chain(&self.optional)
    }

    /// Whether these arguments are given in this way.
    pub(super) fn fits(&self, args: &Map<String, Value>) -> bool {
        self.needed
            .iter()
            .all(|slot| args.get(slot.param.name).is_some_and(|value| slot.takes(value)))
            && args.keys().all(|key| self.slots().any(|slot| slot.param.name == key))
    }
}

impl Slot {
    fn takes(&self, value: &Value) -> bool {
        match (self.param.kind, value) {
            (Kind::Flag, Value::Bool(set)) => *set || !self.is_full,
            (Kind::Texts | Kind::List(_), Value::Array(items)) => {
                !items.is_empty() || !self.is_full
            }
            _ => true,
        }
    }
}

/// The ways to give a tool's arguments.
pub(super) fn layouts(tool: &Tool) -> Vec<Layout> {
    match tool.ways {
        [] => vec![layout(tool.params, tool.targets, &[], &[])],
        ways => {
            let one =
                |way: &crate::native::Way| layout(tool.params, tool.targets, way.needs, way.leaves);
            ways.iter().map(one).collect()
        }
    }
}

/// The one way to give the fields of an object within arguments.
pub(super) fn fields(params: &'static [Param]) -> Layout {
    layout(params, &[], &[], &[])
}

fn layout(params: &'static [Param], targets: &[&str], needs: &[&str], leaves: &[&str]) -> Layout {
    let slot = |param: &'static Param| Slot {
        param,
        is_target: targets.contains(&param.name),
        is_full: needs.contains(&param.name),
    };
    let given = params.iter().filter(|param| !leaves.contains(&param.name)).map(slot);
    let (needed, optional) = given.partition(|slot| slot.param.required || slot.is_full);
    Layout { needed, optional }
}
