//! A host and a port, read from text into what they mean, so that two ways of writing the same host are
//! equal and a text that programs read differently is no host at all. Resolves nothing.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// The most characters a name may have.
const NAME: usize = 253;
/// The most characters a label of a name may have.
const LABEL: usize = 63;

/// A host: a name in lower case without its last dot, or an address.
///
/// IPv4 is read in every form that programs understand (`127.1`, `0x7f000001`, `0177.0.0.1`), and an
/// IPv4 address within IPv6 (`[::ffff:127.0.0.1]`) is that IPv4 address.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Host(Kind);

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Kind {
    Name(String),
    Address(IpAddr),
}

impl Host {
    /// The name, unless it is an address.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match &self.0 {
            Kind::Name(name) => Some(name),
            Kind::Address(_) => None,
        }
    }

    /// The address, unless it is a name.
    #[must_use]
    pub fn address(&self) -> Option<IpAddr> {
        match self.0 {
            Kind::Name(_) => None,
            Kind::Address(address) => Some(address),
        }
    }
}

impl From<IpAddr> for Host {
    fn from(address: IpAddr) -> Host {
        Host(Kind::Address(address.to_canonical()))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Name(name) => f.write_str(name),
            Kind::Address(IpAddr::V4(address)) => address.fmt(f),
            Kind::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

impl FromStr for Host {
    type Err = HostError;

    fn from_str(text: &str) -> Result<Host, HostError> {
        if let Some(rest) = text.strip_prefix('[') {
            let inner = rest.strip_suffix(']').ok_or(HostError::Address)?;
            let address: Ipv6Addr = inner.parse().map_err(|_| HostError::Address)?;
            return Ok(IpAddr::V6(address).into());
        }
        if let Some(found) =
            text.chars().find(|c| !(c.is_ascii_alphanumeric() || "-_.".contains(*c)))
        {
            return Err(HostError::Character { found });
        }
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        if name.is_empty() {
            return Err(HostError::Empty);
        }
        if name.len() > NAME || name.split('.').any(|label| label.is_empty() || label.len() > LABEL)
        {
            return Err(HostError::Label);
        }
        if name.rsplit('.').next().is_some_and(is_number) {
            return Ok(IpAddr::V4(legacy(&name).ok_or(HostError::Address)?).into());
        }
        Ok(Host(Kind::Name(name)))
    }
}

/// Whether a last label makes the whole host an address: no top-level name is a number.
fn is_number(label: &str) -> bool {
    match label.strip_prefix("0x") {
        Some(digits) => digits.bytes().all(|b| b.is_ascii_hexdigit()),
        None => label.bytes().all(|b| b.is_ascii_digit()),
    }
}

/// IPv4 of one to four parts, each decimal, octal or hexadecimal; the last fills what the others leave.
fn legacy(text: &str) -> Option<Ipv4Addr> {
    let parts: Vec<u32> = text.split('.').map(part).collect::<Option<_>>()?;
    let (last, first) = parts.split_last()?;
    if first.len() > 3 || first.iter().any(|part| *part > 0xff) {
        return None;
    }
    let free = 32 - 8 * u32::try_from(first.len()).ok()?;
    if u64::from(*last) >= 1_u64 << free {
        return None;
    }
    let high = first.iter().zip([24, 16, 8]).map(|(part, by)| part << by).sum::<u32>();
    Some(Ipv4Addr::from(high + last))
}

fn part(text: &str) -> Option<u32> {
    match text.as_bytes() {
        [b'0', b'x', ..] => u32::from_str_radix(&text[2..], 16).ok(),
        [b'0', _, ..] => u32::from_str_radix(&text[1..], 8).ok(),
        _ => text.parse().ok(),
    }
}

/// A host and a port on it. Shown and read as `example.org:443` or `[2001:db8::1]:443`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostPort {
    /// The host.
    pub host: Host,
    /// The port.
    pub port: u16,
}

impl HostPort {
    /// Reads a host that may come without a port.
    pub(super) fn with_default(text: &str, port: u16) -> Result<HostPort, HostError> {
        let (host, written) = split(text)?;
        Ok(HostPort { host: host.parse()?, port: written.unwrap_or(port) })
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl FromStr for HostPort {
    type Err = HostError;

    fn from_str(text: &str) -> Result<HostPort, HostError> {
        let (host, port) = split(text)?;
        Ok(HostPort { host: host.parse()?, port: port.ok_or(HostError::Port)? })
    }
}

/// Takes a text apart into the host's and the port, if it has one. A colon in brackets is the host's.
pub(super) fn split(text: &str) -> Result<(&str, Option<u16>), HostError> {
    let after = text.rfind(']').map_or(0, |end| end + 1);
    match text[after..].find(':') {
        Some(colon) => Ok((&text[..after + colon], Some(port(&text[after + colon + 1..])?))),
        None => Ok((text, None)),
    }
}

fn port(text: &str) -> Result<u16, HostError> {
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    let port: u16 = if digits { text.parse().ok() } else { None }.ok_or(HostError::Port)?;
    if port == 0 { Err(HostError::Port) } else { Ok(port) }
}

/// Why a text is not a host, or not a pattern of hosts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// There is nothing.
    #[error("a host is missing; write it as example.org")]
    Empty,
    /// A character that no host has, such as a space, `@` or `%`.
    #[error("a host cannot hold {found:?}; write it alone, and beyond ASCII in its xn-- form")]
    Character {
        /// The first such character.
        found: char,
    },
    /// Two dots in a row, or a name or a label that is too long.
    #[error("a host is made of labels of 1 to {LABEL} characters, {NAME} in all")]
    Label,
    /// A number that is no address, or brackets around something else than IPv6.
    #[error("the host is not an address; write IPv4 as 192.0.2.1 and IPv6 as [2001:db8::1]")]
    Address,
    /// No port, or none from 1 to 65535.
    #[error("a port is a number from 1 to 65535, after a colon")]
    Port,
    /// A `*` that does not stand for everything beneath a name.
    #[error("write a pattern as example.org, or as *.example.org for what is beneath it")]
    Wildcard,
    /// An address in a pattern, not written in full.
    #[error("the address is {meant}; write it so")]
    Form {
        /// The address that was meant.
        meant: Ipv4Addr,
    },
}
