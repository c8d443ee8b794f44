//! What a client asks the proxy for: a tunnel to a host, or a plain page from it. Decides nothing about
//! whether the host may be reached.

use super::answer::Answer;
use super::head::{Head, is_token, write_field};
use super::host::HostPort;

/// Where http is served when an address says nothing else.
const HTTP: u16 = 80;

/// A request, with what is sent on in its place. Has no `Debug`: a head holds credentials.
pub(super) enum Request {
    /// `CONNECT host:port`: bytes pass both ways.
    Tunnel(HostPort),
    /// `GET http://host/…` or `HEAD`: one message each way.
    Fetch(HostPort, Fetch),
    /// Something else than these, of an `http://host/…`: not passed on.
    Untaken(HostPort),
}

/// A plain request as its host gets it.
pub(super) struct Fetch {
    /// The whole head, with its target in origin form.
    pub(super) head: Vec<u8>,
    /// Whether the answer has no body whatever its head says.
    pub(super) bodiless: bool,
}

impl Request {
    /// Reads the head of a request.
    pub(super) fn parse(bytes: &[u8]) -> Result<Request, Answer> {
        let head = Head::parse(bytes).map_err(Answer::malformed)?;
        let parts: Vec<&str> = head.first.split(' ').collect();
        let [method, target, version @ ("HTTP/1.1" | "HTTP/1.0")] = parts[..] else {
            return Err(Answer::malformed("its first line is not one of HTTP/1.1"));
        };
        if !is_token(method) || !target.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Answer::malformed("its first line is not clean"));
        }
        match method {
            "CONNECT" => Ok(Request::Tunnel(host(target.parse())?)),
            "GET" | "HEAD" => fetch(&head, method, target, version),
            _ => match authority(target) {
                Ok((to, _)) => Ok(Request::Untaken(to)),
                Err(_) => Err(Answer::method()),
            },
        }
    }

    /// Where it wants to go.
    pub(super) fn to(&self) -> &HostPort {
        match self {
            Request::Tunnel(to) | Request::Fetch(to, _) | Request::Untaken(to) => to,
        }
    }
}

/// The host of a whole address, and what of it follows.
fn authority(target: &str) -> Result<(HostPort, &str), Answer> {
    let rest = match target.get(..7) {
        Some(scheme) if scheme.eq_ignore_ascii_case("http://") => &target[7..],
        _ => return Err(Answer::malformed("its target is not a whole http:// address")),
    };
    if rest.contains('#') {
        return Err(Answer::malformed("its target holds a fragment"));
    }
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    Ok((host(HostPort::with_default(authority, HTTP))?, path))
}

fn fetch(head: &Head<'_>, method: &str, target: &str, version: &str) -> Result<Request, Answer> {
    let (to, path) = authority(target)?;
    check_host(head, &to, version)?;
    if head.all("transfer-encoding").next().is_some()
        || head.all("content-length").any(|n| n != b"0")
    {
        return Err(Answer::malformed("a GET or HEAD with a body is not passed on"));
    }
    let slash = if path.starts_with('/') { "" } else { "/" };
    let mut out = format!("{method} {slash}{path} {version}\r\n").into_bytes();
    let shown = if to.port == HTTP { to.host.to_string() } else { to.to_string() };
    write_field("Host", shown.as_bytes(), &mut out);
    head.pass_on(&["host"], &mut out);
    out.extend_from_slice(b"Connection: close\r\n\r\n");
    Ok(Request::Fetch(to, Fetch { head: out, bodiless: method == "HEAD" }))
}

/// A server may go by the `Host` field alone, so it must name what the target names.
fn check_host(head: &Head<'_>, to: &HostPort, version: &str) -> Result<(), Answer> {
    let mut named = head.all("host");
    let first = named.next();
    if named.next().is_some() || (first.is_none() && version == "HTTP/1.1") {
        return Err(Answer::malformed("it does not have exactly one Host field"));
    }
    let Some(value) = first else { return Ok(()) };
    let value = std::str::from_utf8(value).unwrap_or_default();
    if host(HostPort::with_default(value, HTTP))? != *to {
        return Err(Answer::malformed("its Host field and its target name different hosts"));
    }
    Ok(())
}

fn host(read: Result<HostPort, super::HostError>) -> Result<HostPort, Answer> {
    read.map_err(|error| Answer::malformed(&error.to_string()))
}
