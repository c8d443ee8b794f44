//! Connects to a host that may be reached: asks who covers it, resolves it, looks at every address, and
//! connects to one of those and nowhere else. The only file here that connects.

use super::account::Refusal;
use super::answer::Answer;
use super::host::HostPort;
use super::proxy::Shared;
use super::ranges::is_public;
use std::net::{IpAddr, SocketAddr};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

/// How many of a name's addresses are tried.
const TRIED: usize = 8;

/// Addresses that were looked at and may be connected to. Made by `check` alone.
struct Checked(Vec<SocketAddr>);

/// Connects, or says why not. What is refused is remembered, and nothing was resolved or connected for
/// a host that no pattern covers.
pub(super) async fn dial(to: &HostPort, shared: &Shared) -> Result<TcpStream, Answer> {
    if !shared.reach.covers(to) {
        return Err(refuse(to, Refusal::NotCovered, shared));
    }
    let checked = check(to, shared).await?;
    connect(to, &checked, shared).await
}

async fn check(to: &HostPort, shared: &Shared) -> Result<Checked, Answer> {
    let Some(name) = to.host.name() else {
        // Covered, and only a pattern of this very address covers an address.
        let address = to.host.address().map(|address| SocketAddr::new(address, to.port));
        return Ok(Checked(address.into_iter().collect()));
    };
    let mut found = resolve(name, to, shared).await?;
    let Some(first) = found.first().map(IpAddr::to_canonical) else {
        return Err(refuse(to, Refusal::Unresolved, shared));
    };
    found.retain(|address| shared.reach.private || is_public(*address));
    if found.is_empty() {
        return Err(refuse(to, Refusal::Inside(first), shared));
    }
    Ok(Checked(found.into_iter().take(TRIED).map(|ip| SocketAddr::new(ip, to.port)).collect()))
}

async fn resolve(name: &str, to: &HostPort, shared: &Shared) -> Result<Vec<IpAddr>, Answer> {
    if let Some((_, known)) = shared.options.names.iter().find(|(host, _)| *host == to.host) {
        return Ok(known.clone());
    }
    match timeout(shared.options.connect, lookup_host((name, to.port))).await {
        Ok(Ok(found)) => Ok(found.map(|address| address.ip()).collect()),
        Ok(Err(_)) => Err(refuse(to, Refusal::Unresolved, shared)),
        Err(_) => Err(Answer::late(to)),
    }
}

/// Tries one address after the other, each for its share of the time.
async fn connect(to: &HostPort, checked: &Checked, shared: &Shared) -> Result<TcpStream, Answer> {
    let count = u32::try_from(checked.0.len()).unwrap_or(1).max(1);
    let share = shared.options.connect / count;
    let mut answer = Answer::late(to);
    for address in &checked.0 {
        match timeout(share, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(_)) => answer = Answer::unreachable(to, "the connection was not taken"),
            Err(_) => {}
        }
    }
    Err(answer)
}

/// Remembers that a host is not reached, and says so.
pub(super) fn refuse(to: &HostPort, why: Refusal, shared: &Shared) -> Answer {
    shared.account.refuse(to, why);
    Answer::refused(to, why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{Options, Reach};

    #[tokio::test]
    async fn of_a_names_addresses_only_the_public_ones_are_connected_to() {
        for (private, expected) in
            [(false, "8.8.8.8:443"), (true, "10.0.0.1:443 8.8.8.8:443 [::1]:443")]
        {
            let found = ["10.0.0.1", "8.8.8.8", "::1"].map(|text| text.parse().unwrap()).to_vec();
            let names = vec![("mixed.test".parse().unwrap(), found)];
            let reach =
                Reach { allow: vec!["mixed.test".parse().unwrap()], private, ..Reach::default() };
            let options = Options { names, ..Options::default() };
            let shared = Shared { reach, options, account: Default::default() };
            let to = "mixed.test:443".parse().unwrap();
            let checked = check(&to, &shared).await.unwrap_or(Checked(vec![]));
            let shown: Vec<String> = checked.0.iter().map(ToString::to_string).collect();
            assert_eq!(shown.join(" "), expected);
        }
    }
}
