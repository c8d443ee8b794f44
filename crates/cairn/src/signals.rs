//! Listening to signals, except those that whoever started this process wanted ignored.

use cairn_sandbox::is_signal_ignored;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens to a signal from now on. `None` if the process was started with this signal ignored (`nohup`, a
/// background job of a script), which it then stays, or if the system does not allow it.
pub fn listen_unless_ignored(kind: SignalKind) -> Option<Signal> {
    if is_signal_ignored(kind.as_raw_value()) {
        return None;
    }
    signal(kind).ok()
}

/// Waits for the next signal; for ever where it is not listened to.
pub async fn next(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}
