//! What ends a probe from outside, so that it can clear away what it made: Ctrl-C, and being told to end. A terminal
//! that closes is not heard: whoever starts a probe of hours with `nohup` wants it to go on.

use crate::signals::{listen_unless_ignored, next};
use tokio::signal::unix::{Signal, SignalKind};

/// The signals that end a probe.
pub struct Signals {
    interrupt: Option<Signal>,
    terminate: Option<Signal>,
}

impl Signals {
    /// Listens from now on.
    pub fn new() -> Signals {
        Signals {
            interrupt: listen_unless_ignored(SignalKind::interrupt()),
            terminate: listen_unless_ignored(SignalKind::terminate()),
        }
    }

    /// Waits for one of them.
    pub async fn one(&mut self) {
        tokio::select! {
            () = next(&mut self.interrupt) => {}
            () = next(&mut self.terminate) => {}
        }
    }
}
