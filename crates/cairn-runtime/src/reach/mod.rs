//! What is beyond this machine: which addresses may be connected to, where one may lead, and how one is asked. Pages
//! and feeds are read through this alone. What is made of an answer is theirs.

mod address;
mod asking;
mod leads;

pub(crate) use address::{Address, Kind};
pub(crate) use asking::{Answer, Asked, Asking, Head, MOST, Said, cause, unpacked};
pub(crate) use leads::Leads;

use cairn_sandbox::network::{Host, HostPort};
use cairn_types::Status;
use cairn_world::Refusal;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// What the user's own configuration says of reading what is beyond this machine.
#[derive(Debug, Clone)]
pub struct Web {
    /// Hosts that may be read though they are inside: this machine, its networks. Each on one port.
    pub private: Vec<HostPort>,
    /// Certificates to trust besides the system's, as PEM.
    pub ca_pem: Option<Arc<[u8]>>,
    /// Names that are answered from here, before the system is asked.
    pub names: Vec<(Host, Vec<IpAddr>)>,
    /// How long one read of a page may take, with all that it is led to.
    pub within: Duration,
}

impl Default for Web {
    fn default() -> Web {
        let (private, names, within) = (Vec::new(), Vec::new(), Duration::from_secs(30));
        Web { private, ca_pem: None, names, within }
    }
}

pub(crate) fn refusal(status: Status, text: String) -> Refusal {
    Refusal { status, text }
}
