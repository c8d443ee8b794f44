//! How results are written for people and programs: standard output, tables, money and counts, progress, and the
//! events of the wire. The screen of a run is in `run`.

pub(crate) mod money;
pub(crate) mod out;
pub(crate) mod progress;
pub(crate) mod table;
pub(crate) mod tally;
pub(crate) mod to_wire;
