//! Addresses beyond this machine: which ones are read as what they seem to be, which hosts they name, and which
//! machines a host may be. Reaches nothing but the resolver of names.

use super::{Web, refusal};
use cairn_engine::policy::subject_of;
use cairn_sandbox::network::{Host, HostPort, is_public};
use cairn_types::{Action, Read, Status, Uri};
use cairn_world::Refusal;
use reqwest::Url;
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

/// How long a name may take to be resolved.
const RESOLVE: Duration = Duration::from_secs(10);

/// What is read at an address. All of it is asked for by HTTP; its scheme is written by this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A page: `http`, `https`.
    Page,
    /// Events as they come: `sse`, `sses`.
    Events,
    /// Messages as they come: `ws`, `wss`.
    Socket,
}

impl Kind {
    /// Every kind, with its schemes: the plain one and the one over TLS.
    const ALL: [(Kind, &str, &str); 3] =
        [(Kind::Page, "http", "https"), (Kind::Events, "sse", "sses"), (Kind::Socket, "ws", "wss")];
}

/// An address, and where it is connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    kind: Kind,
    url: Url,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let schemes = Kind::ALL.iter().find(|(kind, ..)| *kind == self.kind);
        let (_, plain, secure) = schemes.unwrap_or(&Kind::ALL[0]);
        let scheme = if self.is_secure() { secure } else { plain };
        let rest = self.url.as_str().split_once(':').map_or("", |(_, rest)| rest);
        write!(f, "{scheme}:{rest}")
    }
}

impl Address {
    /// The address that a text is. Its host is the one that rules and people were told of, or it is refused: a text
    /// that is read otherwise here than there could name one host to them and lead to another.
    pub(crate) fn of(text: &str) -> Result<Address, Refusal> {
        let bad = |why: String| refusal(Status::BAD_REQUEST, format!("{text} is not read: {why}"));
        let address = Address::parse(text).map_err(&bad)?;
        let url = plain(address.url).map_err(|why| bad(why.to_owned()))?;
        let address = Address { url, ..address };
        match named_by(text) == named_in(&address.url) {
            true => Ok(address),
            false => Err(bad(format!("written in full it is {address}"))),
        }
    }

    /// The same, of which is looked first whether it leads inside: how it should have been written is no help then.
    pub(crate) fn admitted(uri: &Uri, web: &Web) -> Result<Address, Refusal> {
        let text = uri.entry().to_string();
        if let Some(address) = Address::parse(&text).ok().filter(|one| one.url.has_host()) {
            refuse_inside(&address, web)?;
        }
        Address::of(&text)
    }

    fn parse(text: &str) -> Result<Address, String> {
        let (scheme, rest) = text.split_once(':').unwrap_or((text, ""));
        let known =
            Kind::ALL.iter().find(|(_, plain, secure)| *plain == scheme || *secure == scheme);
        let Some((kind, plain, _)) = known else {
            return Err(format!("{scheme} is not asked for by HTTP"));
        };
        let scheme = if scheme == *plain { "http" } else { "https" };
        let url = Url::parse(&format!("{scheme}:{rest}")).map_err(|why| why.to_string())?;
        Ok(Address { kind: *kind, url })
    }

    /// Where this one leads by a text that its server gave; or why that is no address.
    pub(crate) fn join(&self, text: &str) -> Result<Address, String> {
        let url = self.url.join(text).map_err(|why| why.to_string())?;
        Ok(Address { kind: self.kind, url: plain(url)? })
    }

    /// What it is connected to by.
    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// Whether what passes is kept from others.
    pub(crate) fn is_secure(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// What is read there.
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }
}

/// An address without what is not sent; or why it is not read.
fn plain(mut url: Url) -> Result<Url, &'static str> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err("it is neither http nor https");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it holds a user or a password, and none is sent");
    }
    url.set_fragment(None);
    Ok(url)
}

/// The hosts that rules and people are told of.
fn named_by(text: &str) -> Vec<String> {
    subject_of(&Action::Read(Read { path: text.to_owned(), ..Read::default() })).hosts
}

/// The same by the address as it is connected to.
fn named_in(url: &Url) -> Vec<String> {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_matches(['[', ']']).trim_end_matches('.').to_owned();
    let port = url.port().filter(|port| ![80, 443].contains(port));
    let whole = port.map(|port| format!("{}:{port}", host.trim_end_matches('.')));
    std::iter::once(bare).chain(whole).collect()
}

/// The host and port of an address.
fn host_of(address: &Address) -> Result<HostPort, Refusal> {
    let bad = |why: String| refusal(Status::BAD_REQUEST, format!("{address} is not read: {why}"));
    let url = &address.url;
    let host = url.host_str().unwrap_or_default().parse::<Host>();
    let host = host.map_err(|why| bad(why.to_string()))?;
    let port = url.port_or_known_default().unwrap_or_default();
    Ok(HostPort { host, port })
}

/// Refuses what is known to be inside without resolving its name, unless the user's configuration names it.
pub(crate) fn refuse_inside(address: &Address, web: &Web) -> Result<HostPort, Refusal> {
    let to = host_of(address)?;
    let is_inside = match (to.host.address(), to.host.name()) {
        (Some(ip), _) => !is_public(ip),
        (None, name) => name.is_some_and(is_this_machine),
    };
    match is_inside && !web.private.contains(&to) {
        true => Err(inside(address, &to)),
        false => Ok(to),
    }
}

/// Names that never leave the machine, whatever a resolver says.
fn is_this_machine(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or_default();
    last == "localhost" || name == "localhost.localdomain"
}

fn inside(address: &Address, to: &HostPort) -> Refusal {
    let text = format!(
        "{address} is not read: {to} is inside this machine's networks; web.private of the user's configuration can name it"
    );
    refusal(Status::REFUSED, text)
}

/// The addresses to connect to. All of them were looked at: if one is inside, none is used.
pub(crate) async fn resolved(address: &Address, web: &Web) -> Result<Vec<SocketAddr>, Refusal> {
    let to = refuse_inside(address, web)?;
    let addresses = found(address, &to, web).await?;
    let is_inside = addresses.iter().any(|one| !is_public(one.ip()));
    match is_inside && !web.private.contains(&to) {
        true => Err(inside(address, &to)),
        false => Ok(addresses),
    }
}

async fn found(address: &Address, to: &HostPort, web: &Web) -> Result<Vec<SocketAddr>, Refusal> {
    let Some(name) = to.host.name() else {
        return Ok(to.host.address().map(|ip| SocketAddr::new(ip, to.port)).into_iter().collect());
    };
    if let Some((_, known)) = web.names.iter().find(|(host, _)| *host == to.host) {
        return Ok(known.iter().map(|ip| SocketAddr::new(*ip, to.port)).collect());
    }
    let unknown = |why: String| {
        refusal(
            Status::FAILED,
            format!("{address} could not be reached: {name} is not resolved: {why}"),
        )
    };
    match tokio::time::timeout(RESOLVE, tokio::net::lookup_host((name, to.port))).await {
        Err(_) => {
            let text = format!("{address} could not be reached: {name} was not resolved in time");
            Err(refusal(Status::TIMED_OUT, text))
        }
        Ok(Err(why)) => Err(unknown(why.to_string())),
        Ok(Ok(found)) => {
            let found: Vec<SocketAddr> = found.collect();
            let is_empty = found.is_empty();
            if is_empty { Err(unknown("it has no address".to_owned())) } else { Ok(found) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // keeps: web-inside
    #[test]
    fn an_address_is_read_as_it_is_written_or_not_at_all() {
        let check = |text: &str, expected: &str| {
            let said = match Address::of(text) {
                Ok(address) => address.to_string(),
                Err(refusal) => format!("{} {}", refusal.status, refusal.text),
            };
            assert_eq!(said, expected, "{text}");
        };
        check("https://docs.rs", "https://docs.rs/");
        check("https://docs.rs./a", "https://docs.rs./a");
        check("https://docs.rs:443/a#b", "https://docs.rs/a");
        check("http://docs.rs:8080/a?b", "http://docs.rs:8080/a?b");
        check("http://[2606:2800::1]:81/", "http://[2606:2800::1]:81/");
        check("sse://docs.rs:443/a#b", "sse://docs.rs:443/a");
        check("sses://docs.rs:443", "sses://docs.rs/");
        check("ws://docs.rs:80/a?b", "ws://docs.rs/a?b");
        check("wss://[2606:2800::1]:81/", "wss://[2606:2800::1]:81/");
        check("ftp://docs.rs/", "400 ftp://docs.rs/ is not read: ftp is not asked for by HTTP");
        check(
            "http://me:pw@docs.rs/",
            "400 http://me:pw@docs.rs/ is not read: it holds a user or a password, and none is sent",
        );
        for (text, whole) in [
            ("http://134744072/", "http://8.8.8.8/"),
            ("http://0x8.8.2056/", "http://8.8.8.8/"),
            ("http://[2606:2800:0::1]/", "http://[2606:2800::1]/"),
            ("http://b\u{fc}cher.example/", "http://xn--bcher-kva.example/"),
            ("http://docs%2ers/", "http://docs.rs/"),
            ("http://docs.rs:080/", "http://docs.rs/"),
            ("sse://134744072/", "sse://8.8.8.8/"),
            ("wss://docs%2ers/", "wss://docs.rs/"),
            ("http://\\evil.org/", "http://evil.org/"),
        ] {
            check(text, &format!("400 {text} is not read: written in full it is {whole}"));
        }
        check("http://a b/", "400 http://a b/ is not read: invalid international domain name");
        check(
            "http://docs.rs:99999/",
            "400 http://docs.rs:99999/ is not read: invalid port number",
        );
    }

    // keeps: web-inside
    #[test]
    fn what_is_inside_is_known_without_asking_anybody() {
        let web = Web { private: vec!["localhost:8080".parse().unwrap()], ..Web::default() };
        let check = |text: &str, inside: bool| {
            let said = refuse_inside(&Address::parse(text).unwrap(), &web);
            let expected = inside.then_some(Status::REFUSED);
            assert_eq!(said.err().map(|refusal| refusal.status), expected, "{text}");
        };
        for text in [
            "http://localhost/",
            "http://LOCALHOST./",
            "http://a.localhost/",
            "http://localhost.localdomain/",
            "http://127.0.0.1/",
            "http://127.1/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://0177.0.0.1/",
            "http://0/",
            "http://[::]/",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::127.0.0.1]/",
            "http://10.0.0.1/",
            "http://172.16.0.1/",
            "http://192.168.1.1/",
            "http://169.254.169.254/",
            "http://100.64.0.1/",
            "http://[fd00::1]/",
            "http://[fe80::1]/",
            "http://[ff02::1]/",
            "http://224.0.0.1/",
            "http://[64:ff9b::10.0.0.1]/",
            "http://[2002:7f00:1::]/",
            "http://localhost:8081/",
            "https://localhost/",
            "http://127.0.0.1:8080/",
        ] {
            check(text, true);
        }
        for text in [
            "http://localhost:8080/",
            "http://8.8.8.8/",
            "https://docs.rs/",
            "http://[2606:2800::1]/",
        ] {
            check(text, false);
        }
    }

    // keeps: web-inside
    #[test]
    fn a_name_that_also_leads_inside_leads_nowhere() {
        let mut web = Web::default();
        let addresses = ["8.8.8.8", "10.0.0.1"].map(|address| address.parse().unwrap());
        for (name, known) in
            [("mixed.example", &addresses[..]), ("public.example", &addresses[..1])]
        {
            web.names.push((name.parse().unwrap(), known.to_vec()));
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let check = |web: &Web, url: &str| {
            let found = runtime.block_on(resolved(&Address::parse(url).unwrap(), web));
            found.map_or_else(|refusal| refusal.status.to_string(), |found| format!("{found:?}"))
        };
        assert_eq!(check(&web, "http://mixed.example/"), "403");
        assert_eq!(check(&web, "https://public.example/"), "[8.8.8.8:443]");
        assert_eq!(check(&web, "http://[::ffff:10.0.0.1]/"), "403");
        web.private.push("mixed.example:80".parse().unwrap());
        assert_eq!(check(&web, "http://mixed.example/"), "[8.8.8.8:80, 10.0.0.1:80]");
        assert_eq!(check(&web, "https://mixed.example/"), "403");
    }
}
