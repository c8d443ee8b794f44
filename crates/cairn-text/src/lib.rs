//! Total functions over text: edits, diffs, line slices, and text made safe for a screen. No I/O.

pub mod diff;
pub mod edit;
pub mod lines;
pub mod shown;
