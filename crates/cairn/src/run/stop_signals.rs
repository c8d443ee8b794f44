//! The signals that stop a run: Ctrl-C, SIGTERM and SIGHUP. The first one stops the running loop, which is then
//! recorded as cancelled; a later one ends the process.

use super::editor;
use crate::signals;
use cairn_runtime::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::signal::unix::{Signal, SignalKind};
use tokio::sync::mpsc::UnboundedSender;

/// A closing terminal sends SIGHUP more than once, and so may a service manager SIGTERM: one that follows the
/// first signal within this time means the same thing.
const SAME_MEANING: Duration = Duration::from_secs(2);

/// The signals that are listened to.
struct StopSignals {
    interrupt: Option<Signal>,
    terminate: Option<Signal>,
    hang_up: Option<Signal>,
}

/// One of the signals that stop a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StopSignal {
    Interrupt,
    Terminate,
    HangUp,
}

impl StopSignals {
    fn listen() -> StopSignals {
        StopSignals {
            interrupt: signals::listen_unless_ignored(SignalKind::interrupt()),
            terminate: signals::listen_unless_ignored(SignalKind::terminate()),
            hang_up: signals::listen_unless_ignored(SignalKind::hangup()),
        }
    }

    async fn next(&mut self) -> StopSignal {
        tokio::select! {
            () = signals::next(&mut self.interrupt) => StopSignal::Interrupt,
            () = signals::next(&mut self.terminate) => StopSignal::Terminate,
            () = signals::next(&mut self.hang_up) => StopSignal::HangUp,
        }
    }
}

impl StopSignal {
    /// Why the loop ended, for the log.
    fn reason(self) -> &'static str {
        match self {
            StopSignal::Interrupt => "interrupted",
            StopSignal::Terminate => "terminated by SIGTERM",
            StopSignal::HangUp => "hung up (SIGHUP)",
        }
    }

    /// Whether this signal ends the process, when the loop was already told to stop at `first`.
    fn ends_process(self, first: Option<Instant>) -> bool {
        self == StopSignal::Interrupt || first.is_some_and(|first| first.elapsed() > SAME_MEANING)
    }
}

/// Listens from now on. The thread is its own, so that a driver that is held up, for example by a reader that does
/// not read, can still be ended.
pub fn watch(commands: UnboundedSender<Command>, stopping: Arc<AtomicBool>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
    let Ok(runtime) = runtime else { return };
    let mut signals = {
        let _entered = runtime.enter();
        StopSignals::listen()
    };
    std::thread::spawn(move || {
        runtime.block_on(async {
            let mut first = None;
            loop {
                let signal = signals.next().await;
                if signal == StopSignal::Interrupt && editor::is_open() {
                    continue;
                }
                let again = stopping.swap(true, Ordering::Relaxed);
                if !again {
                    first = Some(Instant::now());
                } else if signal.ends_process(first) {
                    std::process::exit(3);
                }
                // Where nobody takes it any more, the process is about to end by itself.
                let _ = commands.send(Command::Abort(signal.reason().to_owned()));
            }
        });
    });
}
