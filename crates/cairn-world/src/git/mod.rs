//! What the world knows of git, read from files without running it: repositories and their settings, which files
//! git runs or obeys, and what it ignores (`ignored`). Facts of a repository for the model are `context`'s.

mod bare;
pub(crate) mod git_dir;
pub(crate) mod guarded;
pub(crate) mod ignored;
pub(crate) mod linked_names;
pub(crate) mod outer;
mod repositories;
pub(crate) mod settings;
