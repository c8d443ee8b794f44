//! A confined command's way out: a socket that its guardian makes inside, on the loopback of its own network,
//! and hands to us, who serve it. What may be reached is the proxy's.

use crate::SandboxError;
use crate::network::{HostPort, Options, Proxy, Reach, Reached, Refusal};
use crate::run::watched;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SocketFlags, SocketType,
    recvmsg, socketpair,
};
use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use tokio::io::unix::AsyncFd;

/// Where the proxy is, as the command sees it. Nothing else is in its network, so the number is free.
pub(crate) const PORT: u16 = 3128;

/// What the command is told of it. What it serves itself is reached without.
pub(crate) const VARIABLES: [(&str, &str); 9] = [
    ("http_proxy", "http://127.0.0.1:3128"),
    ("https_proxy", "http://127.0.0.1:3128"),
    ("HTTP_PROXY", "http://127.0.0.1:3128"),
    ("HTTPS_PROXY", "http://127.0.0.1:3128"),
    ("no_proxy", "127.0.0.1,localhost,::1"),
    ("NO_PROXY", "127.0.0.1,localhost,::1"),
    ("NODE_USE_ENV_PROXY", "1"),
    ("NO_UPDATE_NOTIFIER", "1"),
    ("npm_config_update_notifier", "false"),
];

/// Both ends of what the socket is handed over by: ours, and the guardian's.
pub(crate) fn ends() -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?)
}

/// The way out of one command.
#[derive(Debug)]
pub(crate) enum WayOut {
    /// There is none.
    None,
    /// The socket has not come yet.
    Awaited(AsyncFd<OwnedFd>, Reach),
    /// It is served.
    Served(Proxy),
}

/// What a command wanted to reach.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// What was refused, because it may not be reached, each once, in order.
    pub refused: Vec<HostPort>,
    /// What was not reached for another reason.
    pub unreached: Vec<(HostPort, Refusal)>,
    /// What was reached.
    pub reached: Vec<Reached>,
}

impl WayOut {
    pub(crate) fn new(end: Option<OwnedFd>, reach: Option<&Reach>) -> Result<WayOut, SandboxError> {
        match (end, reach) {
            (Some(end), Some(reach)) => Ok(WayOut::Awaited(watched(end)?, reach.clone())),
            _ => Ok(WayOut::None),
        }
    }

    /// Takes the socket when it comes, and serves it; waits for ever once that is done.
    pub(crate) async fn open(&mut self) -> io::Result<()> {
        let WayOut::Awaited(end, reach) = self else { return std::future::pending().await };
        let socket = loop {
            let mut ready = end.readable().await?;
            match ready.try_io(|end| taken(end.get_ref())) {
                Ok(taken) => break taken?,
                Err(_would_block) => {}
            }
        };
        *self = match socket {
            Some(socket) => {
                let listener = TcpListener::from(socket);
                WayOut::Served(Proxy::start(listener, reach.clone(), Options::default())?)
            }
            // The guardian ended before it came to it.
            None => WayOut::None,
        };
        Ok(())
    }

    /// What was wanted.
    pub(crate) fn wanted(&self) -> Wanted {
        match self {
            WayOut::Served(proxy) => {
                let (refused, unreached): (Vec<_>, Vec<_>) =
                    proxy.unreached().into_iter().partition(|(_, why)| *why == Refusal::NotCovered);
                let refused = refused.into_iter().map(|(to, _)| to).collect();
                Wanted { refused, unreached, reached: proxy.reached() }
            }
            WayOut::None | WayOut::Awaited(..) => Wanted::default(),
        }
    }
}

/// The handle that was sent, if one was.
fn taken(end: &OwnedFd) -> io::Result<Option<OwnedFd>> {
    let mut byte = [0u8];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    recvmsg(end, &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let mut sent = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut handles) => handles.next(),
        _ => None,
    });
    Ok(sent.next())
}
