//! The gates that an op passes, by name, and what each may say.

use crate::open_name::open_names;
use serde::{Deserialize, Serialize};

open_names! {
    /// A gate.
    Gate {
        /// Who asks: the model, a client, a plugin.
        Writer = "writer",
        /// What the run may do at all.
        Mode = "mode",
        /// What hooks say.
        Hooks = "hooks",
        /// What the rules say.
        Policy = "policy",
        /// Whether calls of the tool are left.
        Budget = "budget",
        /// Whether the same call was made before.
        Duplicate = "duplicate",
        /// Whether a person is asked.
        Proposal = "proposal",
        /// The runtime itself, for what nobody asked for.
        System = "system",
    }
}

open_names! {
    /// What a gate said.
    GateWord {
        /// Nothing against it.
        Pass = "pass",
        /// A person decides, if the last gate finds one.
        Ask = "ask",
        /// A person is asked.
        Hold = "hold",
        /// It may not.
        Refuse = "refuse",
        /// The gate gave the result itself.
        Answer = "answer",
    }
}

/// What one gate said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateVerdict {
    /// The gate.
    pub gate: Gate,
    /// Its word.
    pub verdict: GateWord,
    /// Why, in a few words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}
