//! The way out of a command that has only a loopback: an HTTP proxy that reaches the hosts it was given
//! and no others. It does not make the listening socket, does not look into what is encrypted, and keeps
//! nothing of a request but where it wanted to go.
//!
//! A name is compared parsed, is resolved here, and the connection goes to the very address that was
//! looked at. Connections are made from this process: its loopback and its private networks are
//! *inside*, and are reached only where the caller says so.

mod account;
mod answer;
mod dial;
mod fetch;
mod head;
mod host;
mod pattern;
mod proxy;
mod ranges;
mod request;
mod serve;
mod tunnel;

pub use account::{Reached, Refusal};
pub use host::{Host, HostError, HostPort};
pub use pattern::HostPattern;
pub use proxy::Proxy;
pub use ranges::is_public;

use std::net::IpAddr;
use std::time::Duration;

/// What a command may reach.
#[derive(Debug, Clone, Default)]
pub struct Reach {
    /// The hosts. None: every request is refused, and remembered.
    pub allow: Vec<HostPattern>,
    /// Those among them that it may not.
    pub deny: Vec<HostPattern>,
    /// Those among them that it may only if they are `named`.
    pub ask: Vec<HostPattern>,
    /// Those that somebody was asked about.
    pub named: Vec<HostPattern>,
    /// Whether a name among them may lead inside: to loopback, private, link-local or other addresses
    /// that are not on the public network. An address that is allowed as such is reached either way.
    pub private: bool,
}

impl Reach {
    /// Whether this host and port may be reached.
    #[must_use]
    pub fn covers(&self, to: &HostPort) -> bool {
        let covers = |patterns: &[HostPattern]| patterns.iter().any(|pattern| pattern.covers(to));
        let names = |patterns: &[HostPattern]| patterns.iter().any(|pattern| pattern.names(to));
        covers(&self.allow) && !names(&self.deny) && (!names(&self.ask) || covers(&self.named))
    }
}

/// How a proxy serves.
#[derive(Debug, Clone)]
pub struct Options {
    /// How long a client may take for the head of its request.
    pub header: Duration,
    /// How long resolving a name and connecting may take, each.
    pub connect: Duration,
    /// How many connections are served at a time; others wait to be accepted.
    pub connections: usize,
    /// Names that are answered from here, as given, before the system is asked.
    pub names: Vec<(Host, Vec<IpAddr>)>,
}

impl Default for Options {
    fn default() -> Options {
        let (header, connect) = (Duration::from_secs(10), Duration::from_secs(20));
        Options { header, connect, connections: 128, names: Vec::new() }
    }
}
