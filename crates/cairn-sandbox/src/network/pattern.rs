//! A pattern of hosts that a person allows. Covers by whole labels of a parsed name, never by pieces
//! of text; an address is covered only by that address.

use super::host::{Host, HostError, HostPort, split};
use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

/// The ports of a pattern that names none.
const USUAL: [u16; 2] = [443, 80];

/// Hosts that may be reached: `example.org`, `*.example.org` (what is beneath it, not itself),
/// `192.0.2.1`, `[2001:db8::1]`, each with `:port`, or else on the ports 443 and 80.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HostPattern {
    who: Who,
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Who {
    Exactly(Host),
    Beneath(String),
}

impl HostPattern {
    /// Whether it covers this host and port.
    #[must_use]
    pub fn covers(&self, to: &HostPort) -> bool {
        (self.port.is_some() || USUAL.contains(&to.port)) && self.names(to)
    }

    /// Whether it is about this host, on any port if it names none.
    #[must_use]
    pub fn names(&self, to: &HostPort) -> bool {
        let who = match &self.who {
            Who::Exactly(host) => *host == to.host,
            Who::Beneath(above) => to.host.name().is_some_and(|name| is_beneath(name, above)),
        };
        who && self.port.is_none_or(|port| port == to.port)
    }
}

/// Whether a name has all labels of `above` at its end, and at least one before them.
fn is_beneath(name: &str, above: &str) -> bool {
    let mut labels = name.rsplit('.');
    above.rsplit('.').all(|label| labels.next() == Some(label)) && labels.next().is_some()
}

impl FromStr for HostPattern {
    type Err = HostError;

    fn from_str(text: &str) -> Result<HostPattern, HostError> {
        if let Ok(address) = text.parse::<Ipv6Addr>() {
            return exactly(&format!("[{address}]"), None);
        }
        if text.contains('/') {
            return Err(HostError::Character { found: '/' });
        }
        let (text, port) = split(text)?;
        let Some(above) = text.strip_prefix("*.") else {
            return if text.contains('*') { Err(HostError::Wildcard) } else { exactly(text, port) };
        };
        match above.parse::<Host>() {
            Ok(host) => {
                let above = host.name().ok_or(HostError::Wildcard)?.to_owned();
                Ok(HostPattern { who: Who::Beneath(above), port })
            }
            Err(HostError::Character { found: '*' }) => Err(HostError::Wildcard),
            Err(error) => Err(error),
        }
    }
}

/// A person who allows an address must have seen which: other forms of IPv4 are for reading only.
fn exactly(text: &str, port: Option<u16>) -> Result<HostPattern, HostError> {
    let host: Host = text.parse()?;
    match host.address() {
        Some(IpAddr::V4(meant)) if meant.to_string() != text => Err(HostError::Form { meant }),
        _ => Ok(HostPattern { who: Who::Exactly(host), port }),
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.who {
            Who::Exactly(host) => host.fmt(f)?,
            Who::Beneath(above) => write!(f, "*.{above}")?,
        }
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}
