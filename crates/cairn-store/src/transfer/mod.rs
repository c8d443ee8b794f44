//! Sessions as files: writing one as a bundle, exporting it with its contents, and importing one from elsewhere.

pub(crate) mod bundle;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod origins;
