//! Carries bytes between a client and a host, both ways, through bounded buffers, and counts them. Looks
//! at none of them.

use super::account::Flow;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

/// How many bytes are held on their way, in each direction.
const PIECE: usize = 16 * 1024;

/// What a client is told when its tunnel stands.
const ESTABLISHED: &[u8] = b"HTTP/1.1 200 Connection established\r\n\r\n";

/// Serves a tunnel until both sides have said all they had to say. `early` is what the client sent
/// without waiting for it.
pub(super) async fn tunnel(
    client: &mut TcpStream,
    mut origin: TcpStream,
    early: &[u8],
    flow: &Flow,
) -> io::Result<()> {
    client.write_all(ESTABLISHED).await?;
    origin.write_all(early).await?;
    flow.sent.fetch_add(early.len() as u64, Relaxed);
    let (mut from_client, mut to_client) = client.split();
    let (mut from_origin, mut to_origin) = origin.split();
    tokio::try_join!(
        pump(&mut from_client, &mut to_origin, &flow.sent),
        pump(&mut from_origin, &mut to_client, &flow.received),
    )?;
    Ok(())
}

/// Copies until there is no more, and then says so to the other side. An error is one of reading: a
/// side that cannot be read is gone. One that takes nothing more may still have something to say, so
/// that only ends this direction.
pub(super) async fn pump(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    count: &AtomicU64,
) -> io::Result<()> {
    let mut buffer = vec![0; PIECE];
    loop {
        let n = from.read(&mut buffer).await?;
        if n == 0 || to.write_all(&buffer[..n]).await.is_err() {
            break;
        }
        count.fetch_add(n as u64, Relaxed);
    }
    to.shutdown().await.ok();
    Ok(())
}
