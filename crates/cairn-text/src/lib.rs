//! Total functions over text: edits, patches, diffs, line slices, matchers, structured documents, shell words,
//! secrets found, and text made safe for a screen. No I/O.

pub mod diff;
pub mod edit;
mod effort;
pub mod glob;
pub mod hunks;
pub mod jsonpath;
pub mod lines;
pub mod matcher;
pub mod patch;
pub mod scrub;
pub mod shell;
pub mod shown;
pub mod tree;
