//! The paths that are asked about even where edits are accepted, by the names that policies use for them.

pub(super) use cairn_types::{is_guarded, is_protected as is};
