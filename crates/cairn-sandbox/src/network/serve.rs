//! Serves one connection of a client: one request, and whatever comes of it.

use super::account::Refusal;
use super::answer::Answer;
use super::dial::{dial, refuse};
use super::fetch::fetch;
use super::head::{self, HEAD, Unread};
use super::proxy::Shared;
use super::request::Request;
use super::tunnel::tunnel;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// How long a client may take for the proxy's own answer, and for closing after an answer.
const FAREWELL: Duration = Duration::from_secs(2);
/// How much of what a client still says is thrown away before its connection is closed.
const THROWN: u64 = 256 * 1024;

/// Serves a connection to its end.
pub(super) async fn serve(mut client: TcpStream, shared: Arc<Shared>) {
    client.set_nodelay(true).ok();
    let answer = attend(&mut client, &shared).await.err();
    let farewell = async {
        if let Some(answer) = answer {
            client.write_all(&answer.bytes()).await?;
        }
        client.shutdown().await?;
        // Closing with something unread would reset the connection, and the answer might be lost.
        tokio::io::copy(&mut client.take(THROWN), &mut tokio::io::sink()).await
    };
    timeout(FAREWELL, farewell).await.ok();
}

async fn attend(client: &mut TcpStream, shared: &Shared) -> Result<(), Answer> {
    let mut read = Vec::new();
    let head = timeout(shared.options.header, head::read(client, &mut read)).await;
    let end = head.map_err(|_| Answer::slow())?.map_err(|unread| match unread {
        Unread::Ended => Answer::malformed("its head has no end"),
        Unread::TooLarge => Answer::too_large(HEAD),
    })?;
    let request = Request::parse(&read[..end])?;
    if let Request::Untaken(to) = &request {
        return Err(refuse(to, Refusal::Method, shared));
    }
    let origin = dial(request.to(), shared).await?;
    origin.set_nodelay(true).ok();
    let flow = shared.account.reach(request.to());
    match &request {
        // Both sides know how a tunnel ends; there is nobody else to tell.
        Request::Tunnel(_) => tunnel(client, origin, &read[end..], &flow).await.ok(),
        Request::Fetch(to, plain) => Some(fetch(client, origin, (to, plain), &flow).await?),
        Request::Untaken(_) => None,
    };
    Ok(())
}
