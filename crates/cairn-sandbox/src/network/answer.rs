//! What the proxy itself answers when a request goes nowhere: a status and one line that names the host
//! and says why. Never repeats more of a request than the
//! parsed host, or the one character that kept it from being parsed.

use super::account::Refusal;
use super::host::HostPort;

/// An answer of the proxy's own, after which the connection is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    status: &'static str,
    line: String,
}

impl Answer {
    /// The request cannot be read in one way only.
    pub(super) fn malformed(why: &str) -> Answer {
        Answer { status: "400 Bad Request", line: format!("The request was not passed on: {why}.") }
    }

    /// The method is none that is passed on.
    pub(super) fn method() -> Answer {
        let line = "Only CONNECT, GET and HEAD are passed on; use https for anything else.";
        Answer { status: "405 Method Not Allowed", line: line.to_owned() }
    }

    /// The head took too long.
    pub(super) fn slow() -> Answer {
        let line = "The request was not passed on: its head did not arrive in time.";
        Answer { status: "408 Request Timeout", line: line.to_owned() }
    }

    /// The head has no end within the bound.
    pub(super) fn too_large(most: usize) -> Answer {
        let status = "431 Request Header Fields Too Large";
        let line =
            format!("The request was not passed on: its head is larger than {} KiB.", most / 1024);
        Answer { status, line }
    }

    /// The command may not reach the host, or not so.
    pub(super) fn refused(to: &HostPort, why: Refusal) -> Answer {
        let line = match why {
            Refusal::Unresolved => {
                return Answer::unreachable(to, "its name could not be resolved");
            }
            Refusal::Method => return Answer::method(),
            Refusal::NotCovered => format!("{to} is not among the hosts this command may reach."),
            Refusal::Inside(_) => {
                format!("{to} leads to an address inside, which this command may not reach.")
            }
        };
        Answer { status: "403 Forbidden", line }
    }

    /// The host may be reached, but could not be.
    pub(super) fn unreachable(to: &HostPort, why: &str) -> Answer {
        Answer { status: "502 Bad Gateway", line: format!("{to} could not be reached: {why}.") }
    }

    /// The host did not take the connection in time.
    pub(super) fn late(to: &HostPort) -> Answer {
        let line = format!("{to} could not be reached in time.");
        Answer { status: "504 Gateway Timeout", line }
    }

    /// As it is sent.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let Answer { status, line } = self;
        let allow = if status.starts_with("405") { "Allow: CONNECT, GET, HEAD\r\n" } else { "" };
        format!(
            "HTTP/1.1 {status}\r\n{allow}Content-Type: text/plain\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n{line}\n",
            line.len() + 1
        )
        .into_bytes()
    }
}
