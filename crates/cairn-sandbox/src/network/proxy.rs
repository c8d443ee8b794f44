//! The proxy as its owner holds it: started on a socket, asked what it did, ended with its command.

use super::account::{Account, Reached, Refusal};
use super::host::HostPort;
use super::serve::serve;
use super::{Options, Reach};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::{CancellationToken, DropGuard};

/// How long to wait when the system grants no more handles.
const BREATH: Duration = Duration::from_millis(50);

/// What all connections of a proxy share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) reach: Reach,
    pub(super) options: Options,
    pub(super) account: Account,
}

/// A proxy that serves. Dropping it closes its socket and every connection.
#[derive(Debug)]
pub struct Proxy {
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
    guard: Option<DropGuard>,
}

impl Proxy {
    /// Serves a listening socket on the runtime it is called in, until it is ended or dropped.
    ///
    /// # Errors
    ///
    /// There is no runtime, or the socket cannot be waited on.
    pub fn start(
        listener: std::net::TcpListener,
        reach: Reach,
        options: Options,
    ) -> io::Result<Proxy> {
        let runtime = Handle::try_current().map_err(io::Error::other)?;
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        let shared = Arc::new(Shared { reach, options, account: Account::default() });
        let ended = CancellationToken::new();
        let accepting = runtime.spawn(accept(listener, shared.clone(), ended.clone()));
        Ok(Proxy { shared, accepting: Some(accepting), guard: Some(ended.drop_guard()) })
    }

    /// The hosts that were refused, each once, in the order of their first request, at most 64.
    #[must_use]
    pub fn refused(&self) -> Vec<HostPort> {
        self.unreached_for(|why| matches!(why, Refusal::NotCovered | Refusal::Inside(_)))
    }

    /// Those of the refused that a pattern covers but that lead inside: allowing them once more changes
    /// nothing, allowing private addresses does.
    #[must_use]
    pub fn inside(&self) -> Vec<HostPort> {
        self.unreached_for(|why| matches!(why, Refusal::Inside(_)))
    }

    /// The hosts that were not reached, each once for each reason, at most 64.
    #[must_use]
    pub fn unreached(&self) -> Vec<(HostPort, Refusal)> {
        self.shared.account.refused()
    }

    fn unreached_for(&self, is: impl Fn(&Refusal) -> bool) -> Vec<HostPort> {
        self.unreached().into_iter().filter(|(_, why)| is(why)).map(|(to, _)| to).collect()
    }

    /// The hosts that were reached, each once, in the order of their first connection, at most 1024,
    /// with what has passed so far.
    #[must_use]
    pub fn reached(&self) -> Vec<Reached> {
        self.shared.account.reached()
    }

    /// Closes the socket and every connection, and waits until they are closed. What was refused and
    /// reached stays to be asked for.
    pub async fn end(&mut self) {
        self.guard.take();
        if let Some(accepting) = self.accepting.take() {
            accepting.await.ok();
        }
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>, ended: CancellationToken) {
    let most = shared.options.connections.max(1);
    let mut served = JoinSet::new();
    loop {
        tokio::select! {
            () = ended.cancelled() => break,
            Some(_) = served.join_next() => {}
            accepted = listener.accept(), if served.len() < most => match accepted {
                Ok((client, _)) => { served.spawn(serve(client, shared.clone())); }
                Err(_) => tokio::time::sleep(BREATH).await,
            },
        }
    }
    served.shutdown().await;
}
