//! A thread that stays in a group, so that the processes it starts begin there: to move a process once it runs
//! is slow where groups are of the old kind.
#![expect(unsafe_code, reason = "work is lent to a thread for as long as its lender waits")]

use libc::c_long;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

/// Something to do, and where to say what came of it.
struct Work {
    make: *const (dyn Fn() -> io::Result<c_long> + Sync),
    done: Sender<io::Result<c_long>>,
}

// SAFETY: what is pointed to may be used by other threads, and its owner waits until it is done.
unsafe impl Send for Work {}

/// A thread in a group. It ends when this is dropped.
#[derive(Debug)]
pub(super) struct Thread {
    work: Mutex<Option<Sender<Work>>>,
    thread: Option<JoinHandle<()>>,
}

impl Thread {
    /// Starts one in the groups with these lists of threads.
    pub(super) fn start(lists: Vec<PathBuf>) -> io::Result<Thread> {
        let (work, works) = channel::<Work>();
        let (entered, has_entered) = channel();
        let thread = std::thread::Builder::new().name("commands".to_owned()).spawn(move || {
            // Whoever writes this is meant.
            let joined = lists.iter().try_for_each(|list| std::fs::write(list, "0"));
            let is_in = joined.is_ok();
            let _ = entered.send(joined);
            if is_in {
                serve(&works);
            }
        })?;
        let this = Thread { work: Mutex::new(Some(work)), thread: Some(thread) };
        has_entered.recv().unwrap_or_else(|_| Err(gone())).map(|()| this)
    }

    /// Has it make a process.
    pub(super) fn make(
        &self,
        make: &(dyn Fn() -> io::Result<c_long> + Sync),
    ) -> io::Result<c_long> {
        let (done, is_done) = channel();
        // SAFETY: only the lifetime is another one; we wait below until it is no longer used.
        let make: *const (dyn Fn() -> io::Result<c_long> + Sync + 'static) =
            unsafe { std::mem::transmute(std::ptr::from_ref(make)) };
        let work = self.work.lock().unwrap_or_else(PoisonError::into_inner).clone();
        work.and_then(|work| work.send(Work { make, done }).ok()).ok_or_else(gone)?;
        is_done.recv().unwrap_or_else(|_| Err(gone()))
    }
}

fn gone() -> io::Error {
    io::Error::from_raw_os_error(libc::ESRCH)
}

fn serve(works: &Receiver<Work>) {
    while let Ok(Work { make, done }) = works.recv() {
        // SAFETY: its lender waits for what is sent next.
        let made = unsafe { (*make)() };
        let _ = done.send(made);
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        *self.work.lock().unwrap_or_else(PoisonError::into_inner) = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
