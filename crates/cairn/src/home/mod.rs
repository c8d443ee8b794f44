//! Where things are on this machine and how a person names them: the home, the user's own files, runs and sessions.

pub(crate) mod name;
pub(crate) mod named;
pub(crate) mod place;
pub(crate) mod private;
