//! The subcommands: a file or folder for each, or for a few that belong together. `cairn run` is in `run`, `cairn
//! config` in `config`; what their command lines look like is in `cli`.

pub(crate) mod decide;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod fork;
pub(crate) mod gc;
pub(crate) mod log;
pub(crate) mod login;
pub(crate) mod manual;
pub(crate) mod models;
pub(crate) mod op;
pub(crate) mod parse;
pub(crate) mod policy;
pub(crate) mod ps;
pub(crate) mod sessions;
pub(crate) mod show;
pub(crate) mod trust;
pub(crate) mod undo;
pub(crate) mod usage;
pub(crate) mod verify;
pub(crate) mod world;
