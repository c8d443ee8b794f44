//! The folders that a world works in: how a path in one is written and opened, and what nobody sees there.
//! Everything else of this crate opens files through `workspace` or `root_directory`.

pub(crate) mod path;
pub(crate) mod private;
pub(crate) mod root_directory;
pub(crate) mod roots;
pub(crate) mod ruled;
mod small;
mod spelled;
pub(crate) mod unread;
pub(crate) mod walk;
pub(crate) mod workspace;
