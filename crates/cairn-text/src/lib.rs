//! Total functions over text: edits, patches, diffs, scopes and what they select, matchers, structured documents,
//! types, shell words, secrets found, and text made safe for a screen. No I/O.

pub mod diff;
pub mod edit;
pub mod effort;
mod form;
pub mod git_config;
pub mod git_todo;
pub mod glob;
pub mod hunks;
pub mod items;
pub mod jsonpath;
pub mod lines;
pub mod matcher;
pub mod mime;
pub mod moves;
pub mod near;
pub mod patch;
pub mod render;
pub mod scope;
pub mod scrub;
pub mod settings_file;
pub mod shell;
pub mod shown;
pub mod slice;
pub mod tree;
