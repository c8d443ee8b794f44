//! What the configuration comes to for a run on this machine: its hooks and documents, what is a member, how commands
//! are confined, which places are private and which values are secret.

pub(crate) mod docs;
pub(crate) mod git_excludes;
pub(crate) mod hooks;
pub(crate) mod membership;
pub(crate) mod privacy;
pub(crate) mod sandbox;
pub(crate) mod secrets;
