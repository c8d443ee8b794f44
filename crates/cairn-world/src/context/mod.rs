//! What a run is told about where it works: instruction files and facts of a repository. Read by
//! handle and within bounds; nothing here starts a process, and nothing here is trusted.

mod above;
mod git;
mod imports;
mod index;
mod instructions;

pub use above::Above;
pub use git::{Head, Repository};
pub use imports::with_imports;
pub use index::Index;
pub use instructions::Instructions;
