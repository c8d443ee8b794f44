//! A search under way: directories are entered and files looked into by several threads, and what
//! they find comes together in the order of paths. Follows no link, and never enters `.git`.

use super::look::{Looker, Seen, Window};
use super::order::{Order, Piece};
use super::page::{PAGE_ROWS, Page, Unseen};
use super::pattern::Paths;
use super::rules::{Above, Rules};
use crate::walk::{Name, names};
use crate::workspace::entry;
use grep_regex::RegexMatcher;
use rustix::fs::OFlags;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio_util::sync::CancellationToken;

/// How deep directories are entered.
const MAX_DEPTH: usize = 128;
/// The most threads that look.
const MAX_THREADS: usize = 8;
/// How many files are looked into between two looks at the common state.
const BATCH: usize = 16;

/// What is looked for, and where.
pub(crate) struct Plan<'a> {
    pub(crate) paths: Option<Paths>,
    pub(crate) lines: Option<RegexMatcher>,
    /// The path, beneath the root, of the only thing looked at; empty for all.
    pub(crate) under: Vec<u8>,
    /// Rules above the root; none when no rules count.
    pub(crate) above: Option<Above>,
    pub(crate) context: usize,
    pub(crate) cancel: &'a CancellationToken,
}

/// A directory that was entered.
struct Folder {
    fd: OwnedFd,
    /// What leads to it from the repository's directory, with a slash at its end.
    path: Vec<u8>,
    rules: Option<Arc<Rules>>,
    depth: usize,
}

enum Task {
    Enter { parent: Arc<Folder>, name: Name },
    Look { folder: Arc<Folder>, files: Vec<Name> },
}

enum Found {
    Closed,
    Paths { folder: Arc<Folder>, files: Vec<Name> },
    Lines { folder: Arc<Folder>, files: Vec<(Name, Seen)> },
}

type Pieces = Vec<Piece<Task, Found>>;

/// What the threads share.
struct State {
    order: Order<Task, Found>,
    page: Page,
    is_over: bool,
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
    let path = plan.above.as_ref().map(|above| above.lead.clone()).unwrap_or_default();
    let rules = plan.above.as_ref().and_then(|above| above.rules.clone());
    let order = Order::new(plan.list(root, path, rules.as_ref(), 0));
    let search = Search {
        plan,
        count_to: page.count_to(),
        state: Mutex::new(State { order, page, is_over: false }),
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
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(state);
            let pieces = self.perform(task, looker.as_mut());
            state = self.lock();
            state.order.finish(place, pieces);
            self.settle(&mut state, looker.as_mut());
            self.changed.notify_all();
        }
    }

    fn perform(&self, task: Task, looker: Option<&mut Looker<'_>>) -> Pieces {
        match (task, looker) {
            (Task::Enter { parent, name }, _) => self.plan.enter(&parent, name.bare()),
            (Task::Look { folder, files }, Some(looker)) => {
                let files = self.look(&folder, files, looker);
                vec![Piece::Done(Found::Lines { folder, files })]
            }
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
            if self.plan.cancel.is_cancelled() {
                break;
            }
            // What fills a page alone leaves no room on it for what comes after.
            let is_wanted = kept < PAGE_ROWS && !self.is_page_full.load(Ordering::Relaxed);
            let window = Window { keep_from: is_wanted.then_some(0), count_to };
            match look_into(folder, &name, window, looker) {
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
            Found::Paths { folder, files } => {
                for name in files {
                    page.add_path(&self.plan.shown(&folder, &name));
                    if page.is_over() {
                        return;
                    }
                }
            }
            Found::Lines { folder, files } => {
                for (name, seen) in files {
                    self.take_file(page, (&folder, &name), seen, looker.as_deref_mut());
                    if page.is_over() {
                        return;
                    }
                }
            }
        }
    }

    fn take_file(
        &self,
        page: &mut Page,
        (folder, name): (&Folder, &Name),
        seen: Seen,
        looker: Option<&mut Looker<'_>>,
    ) {
        match seen {
            Seen::Binary => page.pass_over(Unseen::Binary),
            Seen::Large => page.pass_over(Unseen::Large),
            Seen::Unreadable => page.pass_over(Unseen::Unreadable),
            Seen::Lines(lines) => {
                let path = self.plan.shown(folder, name);
                let Some(from) = page.lacks(&lines) else {
                    return page.add_lines(&path, &lines);
                };
                // The page begins amid the results of this file, beyond what was kept of them.
                let window = Window { keep_from: Some(from), count_to: self.count_to };
                let again = looker.map(|looker| look_into(folder, name, window, looker));
                match again {
                    Some(Seen::Lines(lines)) => page.add_lines(&path, &lines),
                    _ => page.pass_over(Unseen::Unreadable),
                }
            }
        }
    }
}

fn look_into(folder: &Folder, name: &Name, window: Window, looker: &mut Looker<'_>) -> Seen {
    match entry(folder.fd.as_fd(), &name.sort_key, OFlags::RDONLY) {
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

impl Plan<'_> {
    fn enter(&self, parent: &Folder, name: &[u8]) -> Pieces {
        let opened = entry(parent.fd.as_fd(), name, OFlags::RDONLY | OFlags::DIRECTORY);
        match opened {
            Ok(fd) if parent.depth < MAX_DEPTH => {
                let path = [&parent.path, name, b"/"].concat();
                self.list(fd, path, parent.rules.as_ref(), parent.depth + 1)
            }
            _ => vec![Piece::Done(Found::Closed)],
        }
    }

    /// What there is to do in a directory, in order.
    fn list(&self, fd: OwnedFd, path: Vec<u8>, above: Option<&Arc<Rules>>, depth: usize) -> Pieces {
        let Ok(mut names) = names(&fd) else { return vec![Piece::Done(Found::Closed)] };
        let rules = match self.above {
            Some(_) => Rules::inside(above, fd.as_fd(), &names, path.len()),
            None => None,
        };
        let folder = Arc::new(Folder { fd, path, rules, depth });
        let mut scratch = folder.path.clone();
        names.retain(|name| {
            scratch.truncate(folder.path.len());
            scratch.extend_from_slice(&name.sort_key);
            self.wants(&scratch, name, folder.rules.as_deref())
        });
        names.sort_unstable();
        let mut pieces = Vec::new();
        let mut files = Vec::new();
        for name in names {
            if name.is_file() {
                files.push(name);
                continue;
            }
            self.add_files(&mut pieces, &folder, &mut files);
            pieces.push(Piece::Open(Task::Enter { parent: Arc::clone(&folder), name }));
        }
        self.add_files(&mut pieces, &folder, &mut files);
        pieces
    }

    /// The files are results, or are to be looked into.
    fn add_files(&self, pieces: &mut Pieces, folder: &Arc<Folder>, files: &mut Vec<Name>) {
        if files.is_empty() {
            return;
        }
        if self.lines.is_none() {
            let (folder, files) = (Arc::clone(folder), std::mem::take(files));
            return pieces.push(Piece::Done(Found::Paths { folder, files }));
        }
        while !files.is_empty() {
            let rest = files.split_off(files.len().min(BATCH));
            let (folder, files) = (Arc::clone(folder), std::mem::replace(files, rest));
            pieces.push(Piece::Open(Task::Look { folder, files }));
        }
    }

    /// Whether a name is a file that is looked for, or a directory in which one could be.
    fn wants(&self, full: &[u8], name: &Name, rules: Option<&Rules>) -> bool {
        let is_directory = name.directory().is_some();
        if name.bare().eq_ignore_ascii_case(b".git") || !(is_directory || name.is_file()) {
            return false;
        }
        let path = &full[self.lead()..];
        let place = self.place_of(path, is_directory);
        if place == Place::Beside || !self.is_asked_for(path, is_directory) {
            return false;
        }
        // What was named is looked at even where rules leave it out.
        let judged = full.strip_suffix(b"/").unwrap_or(full);
        place == Place::OnTheWay || !rules.is_some_and(|r| r.leave_out(judged, is_directory))
    }

    fn is_asked_for(&self, path: &[u8], is_directory: bool) -> bool {
        self.paths.as_ref().is_none_or(|paths| {
            if is_directory { paths.may_be_in(path) } else { paths.matches(path) }
        })
    }

    fn place_of(&self, path: &[u8], is_directory: bool) -> Place {
        let under = self.under.as_slice();
        let is_at = |longer: &[u8], shorter: &[u8]| {
            longer.strip_prefix(shorter).is_some_and(|rest| matches!(rest, [] | [b'/', ..]))
        };
        let bare = if is_directory { path.strip_suffix(b"/").unwrap_or(path) } else { path };
        if is_at(under, bare) && (is_directory || bare == under) {
            Place::OnTheWay
        } else if under.is_empty() || is_at(bare, under) {
            Place::Within
        } else {
            Place::Beside
        }
    }

    /// A file's path beneath the root.
    fn shown(&self, folder: &Folder, name: &Name) -> Vec<u8> {
        [&folder.path[self.lead()..], &name.sort_key].concat()
    }

    fn lead(&self) -> usize {
        self.above.as_ref().map_or(0, |above| above.lead.len())
    }
}

/// Where something lies, seen from the only thing looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// It is that thing, or leads to it.
    OnTheWay,
    Within,
    Beside,
}
