//! What ends a probe from outside, so that it can clear away what it made: Ctrl-C, and being told to end. A terminal
//! that closes is not heard: whoever starts a probe of hours with `nohup` wants it to go on.

use std::io;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that end a probe.
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// Listens from now on.
    pub fn new() -> io::Result<Signals> {
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Waits for one of them.
    pub async fn one(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
