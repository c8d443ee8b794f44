//! A search under way: directories are entered and files looked into by several threads, and what
//! they find comes together in the order of paths. Follows no link, and never enters `.git`.

use super::look::{Looker, Seen, Window};
use super::order::{Order, Piece};
use super::page::{PAGE_ROWS, Page, Unseen};
use super::plan::{Folder, Found, Pieces, Plan, Task};
use crate::folders::root_directory::entry;
use crate::folders::walk::Name;
use rustix::fs::OFlags;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

/// The most threads that look.
const MAX_THREADS: usize = 8;

/// What the threads share.
struct State {
    order: Order<Task, Found>,
    page: Page,
    is_over: bool,
    /// Threads that wait for a piece of work.
    sleepers: usize,
}

struct Search<'a> {
    plan: &'a Plan<'a>,
    state: Mutex<State>,
    changed: Condvar,
    count_to: u64,
    /// Whether rows are still wanted; a hint that spares work.
    is_page_full: AtomicBool,
}

/// Fills the page, or stops early when cancelled.
pub(crate) fn search(plan: &Plan<'_>, root: OwnedFd, page: Page) -> Page {
    let order = Order::new(plan.begin(root));
    let search = Search {
        plan,
        count_to: page.count_to(),
        state: Mutex::new(State { order, page, is_over: false, sleepers: 0 }),
        changed: Condvar::new(),
        is_page_full: AtomicBool::new(false),
    };
    std::thread::scope(|scope| {
        for _ in 1..threads() {
            // One thread is enough; where no more can be had, it does all the work.
            let _ = std::thread::Builder::new().spawn_scoped(scope, || search.work());
        }
        search.work();
    });
    search.state.into_inner().unwrap_or_else(PoisonError::into_inner).page
}

/// How many threads look.
fn threads() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| {
        std::thread::available_parallelism().map_or(1, |cores| cores.get().min(MAX_THREADS))
    })
}

impl Search<'_> {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does pieces of work until there are none.
    fn work(&self) {
        let _bell = Bell(self);
        let plan = self.plan;
        let mut looker =
            plan.lines.as_ref().map(|lines| Looker::new(lines, plan.context, plan.cancel));
        let mut state = self.lock();
        self.settle(&mut state, looker.as_mut());
        while !state.is_over {
            let Some((place, task)) = state.order.take() else {
                state.sleepers += 1;
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.sleepers -= 1;
                continue;
            };
            drop(state);
            let pieces = self.perform(task, looker.as_mut());
            state = self.lock();
            state.order.finish(place, pieces);
            self.settle(&mut state, looker.as_mut());
            // Waking costs a system call, also where nobody sleeps.
            if state.sleepers > 0 {
                self.changed.notify_all();
            }
        }
    }

    fn perform(&self, task: Task, looker: Option<&mut Looker<'_>>) -> Pieces {
        if self.plan.is_late() {
            let folder = match task {
                Task::Enter { parent, name, .. } => [&parent.path, name.bare(), b"/"].concat(),
                Task::Look { folder, .. } => folder.path.to_vec(),
            };
            return vec![Piece::Done(Found::Late { folder })];
        }
        match (task, looker) {
            (Task::Enter { parent, name, judged }, _) => {
                self.plan.enter(&parent, name.bare(), &judged)
            }
            (Task::Look { folder, files }, Some(looker)) => {
                let files = self.look(&folder, files, looker);
                let found = Found::Lines { folder: Arc::clone(&folder.path), files };
                let late = Found::Late { folder: folder.path.to_vec() };
                let late = self.plan.is_late().then_some(late);
                std::iter::once(found).chain(late).map(Piece::Done).collect()
            }
            // Files are looked into only where there is something to look for in them.
            (Task::Look { .. }, None) => Vec::new(),
        }
    }

    /// Looks into files, as long as somebody waits for it.
    fn look(
        &self,
        folder: &Folder,
        files: Vec<Name>,
        looker: &mut Looker<'_>,
    ) -> Vec<(Name, Seen)> {
        let count_to = self.count_to;
        let mut kept = 0;
        let mut seen = Vec::new();
        for name in files {
            if self.plan.cancel.is_cancelled() || self.plan.is_late() {
                break;
            }
            // What fills a page alone leaves no room on it for what comes after.
            let is_wanted = kept < PAGE_ROWS && !self.is_page_full.load(Ordering::Relaxed);
            let window = Window { keep_from: is_wanted.then_some(0), count_to };
            match look_into(folder.fd.as_fd(), &name.sort_key, window, looker) {
                Seen::Lines(lines) if lines.count == 0 => {}
                saw => {
                    if let Seen::Lines(lines) = &saw {
                        kept += lines.kept.iter().map(|kept| kept.rows).sum::<usize>();
                    }
                    seen.push((name, saw));
                }
            }
        }
        seen
    }

    /// Brings what is finished onto the page, in order.
    fn settle(&self, state: &mut State, mut looker: Option<&mut Looker<'_>>) {
        while let Some(found) = state.order.next_done() {
            self.take(&mut state.page, found, looker.as_deref_mut());
            if state.page.is_over() {
                break;
            }
        }
        self.is_page_full.store(state.page.is_full(), Ordering::Relaxed);
        state.is_over |=
            state.page.is_over() || state.order.is_empty() || self.plan.cancel.is_cancelled();
    }

    fn take(&self, page: &mut Page, found: Found, mut looker: Option<&mut Looker<'_>>) {
        match found {
            Found::Closed => page.pass_over(Unseen::Unreadable),
            Found::Late { folder } => page.leave_unsearched(&folder),
            Found::Paths { folder, files } => {
                for name in files {
                    page.add_path(&[&folder, name.sort_key.as_slice()].concat());
                    if page.is_over() {
                        return;
                    }
                }
            }
            Found::Lines { folder, files } => {
                for (name, seen) in files {
                    let path = [&folder, name.sort_key.as_slice()].concat();
                    self.take_file(page, &path, seen, looker.as_deref_mut());
                    if page.is_over() {
                        return;
                    }
                }
            }
        }
    }

    fn take_file(&self, page: &mut Page, path: &[u8], seen: Seen, looker: Option<&mut Looker<'_>>) {
        match seen {
            Seen::Binary => page.pass_over(Unseen::Binary),
            Seen::Large => page.pass_over(Unseen::Large),
            Seen::Long => page.pass_over(Unseen::Long),
            Seen::Unreadable => page.pass_over(Unseen::Unreadable),
            Seen::Lines(lines) => {
                let Some(from) = page.lacks(&lines) else {
                    return page.add_lines(path, &lines);
                };
                // The page begins amid the results of this file, beyond what was kept of them.
                let window = Window { keep_from: Some(from), count_to: self.count_to };
                let again = looker.map(|looker| {
                    look_into(self.plan.workspace.root.handle(), path, window, looker)
                });
                match again {
                    Some(Seen::Lines(lines)) => page.add_lines(path, &lines),
                    _ => page.pass_over(Unseen::Unreadable),
                }
            }
        }
    }
}

fn look_into(dir: BorrowedFd<'_>, path: &[u8], window: Window, looker: &mut Looker<'_>) -> Seen {
    match entry(dir, path, OFlags::RDONLY) {
        Ok(fd) => looker.look(File::from(fd), window),
        Err(_) => Seen::Unreadable,
    }
}

/// Wakes everybody when a thread ends by a defect, so that none waits for it.
struct Bell<'a>(&'a Search<'a>);

impl Drop for Bell<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.lock().is_over = true;
        }
        self.0.changed.notify_all();
    }
}
