//! For tests only: a scripted model over real HTTP that can fail on demand, and temporary folders.
//! No part of the program depends on it.

mod asked;
mod cases;
mod fault;
mod origin;
mod server;
mod site;
mod temp;
mod wire;

pub use cases::cases;
pub use fault::Fault;
pub use origin::Origin;
pub use server::{ModelServer, Options};
pub use site::{Says, Site};
pub use temp::TempHome;
