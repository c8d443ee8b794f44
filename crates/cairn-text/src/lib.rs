//! Total functions over text: edits, patches, diffs, line slices, shell words, secrets found, and text made safe
//! for a screen. No I/O.

pub mod diff;
pub mod edit;
pub mod glob;
pub mod hunks;
pub mod lines;
pub mod patch;
pub mod scrub;
pub mod shell;
pub mod shown;
