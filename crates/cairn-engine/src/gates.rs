//! The gates an op passes before it acts, in order. One function: the live path and any explanation
//! of it ask the same question.

use cairn_types::{Approval, Effect, GateVerdict, Mode, OpName};

/// What the chain says about an op, with every gate's word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leave {
    /// It may run at once; the last gate that spoke says by whose word.
    Granted(Vec<GateVerdict>, Granted),
    /// A person must be asked.
    Ask(Vec<GateVerdict>),
    /// It may not.
    Refused(Vec<GateVerdict>, Refusal),
}

/// By whose word an op may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Granted {
    /// It changes nothing.
    NoEffect,
    /// `--yolo`.
    Yolo,
    /// An answer remembered for this run.
    Remembered,
}

/// Why an op may not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The run is read-only.
    Mode,
    /// It needs leave and nobody can give it.
    Nobody,
}

/// Asks every gate in order, `mode` then `proposal`.
#[must_use]
pub fn leave(
    op: OpName,
    effect: Effect,
    mode: Mode,
    approval: Approval,
    remembered: bool,
) -> Leave {
    let mut said = Vec::new();
    if effect.is_read_only() {
        said.push(verdict("mode", "pass", "changes nothing"));
        return Leave::Granted(said, Granted::NoEffect);
    }
    if mode == Mode::ReadOnly {
        said.push(verdict("mode", "refuse", "the run is read-only"));
        return Leave::Refused(said, Refusal::Mode);
    }
    said.push(verdict("mode", "pass", "act"));
    match (approval, remembered) {
        (Approval::Yolo, _) => {
            said.push(verdict("proposal", "pass", "yolo"));
            Leave::Granted(said, Granted::Yolo)
        }
        (Approval::Ask | Approval::Nobody, true) => {
            said.push(verdict("proposal", "pass", &format!("every {op} was allowed in this run")));
            Leave::Granted(said, Granted::Remembered)
        }
        (Approval::Ask, false) => {
            said.push(verdict("proposal", "hold", "a person is asked"));
            Leave::Ask(said)
        }
        (Approval::Nobody, false) => {
            said.push(verdict("proposal", "refuse", "nobody is there to ask"));
            Leave::Refused(said, Refusal::Nobody)
        }
    }
}

fn verdict(gate: &str, verdict: &str, why: &str) -> GateVerdict {
    GateVerdict { gate: gate.to_owned(), verdict: verdict.to_owned(), why: why.to_owned() }
}
