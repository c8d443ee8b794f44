//! The two signals by which a system says that a file could not become larger. SIGBUS comes when a page of a mapped
//! file finds no room on the disk, as the database's index does where blocks are smaller than pages; nothing can go on
//! from there, so the process says so and ends. SIGXFSZ comes at the limit for files (`ulimit -f`); the call that wanted
//! more then fails like any other, and whoever made it says what could not be written.

#![expect(unsafe_code, reason = "signal handlers are installed by sigaction")]

use libc::{SA_ONSTACK, SIGBUS, SIGXFSZ, c_int, sigaction};

/// What is said on stderr before a process that got SIGBUS ends.
const NO_ROOM: &[u8] =
    b"cairn: there is no space left for a file in memory, or its disk is damaged; free some and \
try again. All that was recorded is kept\n";

/// From here on, a disk without room and a limit for files end this process with a sentence and exit code 1, and not by
/// a signal. Programs that it starts are not affected.
pub fn handle_disk_signals() {
    install(SIGBUS, end_without_room);
    install(SIGXFSZ, let_the_call_fail);
}

fn install(signal: c_int, handler: extern "C" fn(c_int)) {
    // SAFETY: all zeros are a valid sigaction, and the handler makes only calls that are allowed in handlers.
    unsafe {
        let mut action: sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as libc::sighandler_t;
        action.sa_flags = SA_ONSTACK;
        libc::sigaction(signal, &raw const action, std::ptr::null_mut());
    }
}

extern "C" fn end_without_room(_: c_int) {
    // SAFETY: both calls are allowed in handlers; the bytes are static.
    unsafe {
        libc::write(libc::STDERR_FILENO, NO_ROOM.as_ptr().cast(), NO_ROOM.len());
        libc::_exit(1);
    }
}

extern "C" fn let_the_call_fail(_: c_int) {}
