//! Commands: running one, over an overlay or in the background, and what is kept and told of its output. Whether
//! one may run is not decided here.

pub(crate) mod background;
pub(crate) mod exec;
pub(crate) mod growing;
pub(crate) mod output;
pub mod overlay;
pub(crate) mod rehearse;
pub(crate) mod rehearsing;
pub(crate) mod runtimes;
mod unreadable;
