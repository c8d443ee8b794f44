//! Which hosts a command may reach, one by one. Written with a sign before the host, as logs have it.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What holds of one host, or of a pattern of hosts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum HostAccess {
    /// `!host`: not reached, whatever else is said.
    Denied(String),
    /// `+host`: a person let it be reached, by this name.
    AllowedByName(String),
    /// `?host`: reached only where it is allowed by its own name.
    OnlyByName(String),
    /// `host`: may be reached.
    Allowed(String),
}

impl HostAccess {
    /// The host or pattern, to take secrets out of it.
    pub(crate) fn host_mut(&mut self) -> &mut String {
        match self {
            HostAccess::Denied(host)
            | HostAccess::AllowedByName(host)
            | HostAccess::OnlyByName(host)
            | HostAccess::Allowed(host) => host,
        }
    }
}

impl From<String> for HostAccess {
    fn from(text: String) -> HostAccess {
        let host = |text: &str| text.get(1..).unwrap_or_default().to_owned();
        match text.chars().next() {
            Some('!') => HostAccess::Denied(host(&text)),
            Some('+') => HostAccess::AllowedByName(host(&text)),
            Some('?') => HostAccess::OnlyByName(host(&text)),
            _ => HostAccess::Allowed(text),
        }
    }
}

impl From<HostAccess> for String {
    fn from(access: HostAccess) -> String {
        access.to_string()
    }
}

impl fmt::Display for HostAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostAccess::Denied(host) => write!(f, "!{host}"),
            HostAccess::AllowedByName(host) => write!(f, "+{host}"),
            HostAccess::OnlyByName(host) => write!(f, "?{host}"),
            HostAccess::Allowed(host) => f.write_str(host),
        }
    }
}
