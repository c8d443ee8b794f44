//! The names under which things stand beside their place while they are changed. A name says which
//! change it is of and which process made it, so that no two processes ever use the same one, and
//! so that what a crash or a panic left is found again. Touches no workspace file.

use cairn_types::{Change, FileState, Hash};
use std::collections::HashSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// How all these names begin.
const START: &str = ".cairn-";
/// How the name of something that is still being made ends. It is ours whatever it holds.
const MAKING: &str = ".tmp";
/// How the name of something ends that is whole, or that was taken out of its place.
const ASIDE: &str = ".old";

/// Counts the changes of this process.
static COUNT: AtomicU32 = AtomicU32::new(0);

/// The changes of this process, by their counts, whose names are still in use.
static IN_USE: Mutex<Option<HashSet<u32>>> = Mutex::new(None);

fn in_use() -> MutexGuard<'static, Option<HashSet<u32>>> {
    IN_USE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The two names of one change. They are in use until this is dropped, also by a panic.
#[derive(Debug)]
pub(crate) struct Names {
    count: u32,
    /// What is being made.
    pub(crate) making: String,
    /// What is made and waits to be exchanged, and then what was there before.
    pub(crate) aside: String,
}

impl Names {
    /// New names for a change.
    pub(crate) fn new(change: &Change) -> Names {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        in_use().get_or_insert_default().insert(count);
        let stem = format!("{}{}-{count}", lead(change), me());
        Names { count, making: format!("{stem}{MAKING}"), aside: format!("{stem}{ASIDE}") }
    }
}

impl Drop for Names {
    fn drop(&mut self) {
        if let Some(counts) = in_use().as_mut() {
            counts.remove(&self.count);
        }
    }
}

/// Something that stands beside its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leftover {
    /// It was being made, and may be half.
    Making,
    /// It is whole: ours, or what was there before.
    Aside,
}

/// What a name in the directory of a change is, if it was left by a process that is gone, or by a panic in this one.
pub(crate) fn leftover(change: &Change, name: &str) -> Option<Leftover> {
    let rest = name.strip_prefix(&lead(change))?;
    let (stem, kind) = match (rest.strip_suffix(MAKING), rest.strip_suffix(ASIDE)) {
        (Some(stem), _) => (stem, Leftover::Making),
        (None, Some(stem)) => (stem, Leftover::Aside),
        (None, None) => return None,
    };
    let (process, count) = stem.rsplit_once('-')?;
    let is_used = if process == me() {
        let count = count.parse::<u32>().ok()?;
        in_use().as_ref().is_some_and(|counts| counts.contains(&count))
    } else {
        let (pid, began) = process.split_once('-')?;
        pid.parse().ok().and_then(start_of).is_some_and(|start| start.to_string() == began)
    };
    (!is_used).then_some(kind)
}

/// Whether a name may be one of these at all.
pub(crate) fn is_ours(name: &[u8]) -> bool {
    name.starts_with(START.as_bytes())
}

/// What all names of a change begin with.
pub(crate) fn lead(change: &Change) -> String {
    let hash = |state: &Option<FileState>| {
        state.as_ref().and_then(|s| s.hash).map(|hash| hash.to_string()).unwrap_or_default()
    };
    let key = format!("{}\0{}\0{}", change.path, hash(&change.before), hash(&change.after));
    format!("{START}{}-", Hash::of(key.as_bytes()).short())
}

/// What a name begins with that is one of these: the lead of its change.
pub(crate) fn lead_of(name: &str) -> Option<&str> {
    let rest = name.strip_prefix(START)?;
    Some(&name[..START.len() + rest.find('-')? + 1])
}

/// This process: its id, and when it began, since ids are given again.
fn me() -> &'static str {
    static ME: OnceLock<String> = OnceLock::new();
    ME.get_or_init(|| {
        let pid = std::process::id();
        format!("{pid}-{}", start_of(pid).unwrap_or(0))
    })
}

/// When a process that lives began, in the kernel's own count.
fn start_of(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The program's name stands in parentheses and may hold anything.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    (!matches!(state, "Z" | "X" | "x")).then(|| fields.nth(18)?.parse().ok()).flatten()
}

#[cfg(test)]
impl Names {
    /// The names that a process which is gone gave.
    pub(crate) fn of_the_dead(change: &Change) -> Names {
        // Above what any process has for an id.
        let (count, stem) = (u32::MAX, format!("{}4194305-1-0", lead(change)));
        Names { count, making: format!("{stem}{MAKING}"), aside: format!("{stem}{ASIDE}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_dead_process_or_a_panic_left_of_the_same_change_is_a_leftover() {
        let change = Change::between("d/f".to_owned(), None, None);
        let other = Change::between("d/g".to_owned(), None, None);
        let mine = Names::new(&change);
        assert_ne!(mine.making, Names::new(&change).making);
        let check = |name: &str, expected: Option<Leftover>| {
            assert_eq!(leftover(&change, name), expected, "{name}");
        };
        check(&mine.making, None);
        check(&mine.aside, None);
        let (making, aside) = (mine.making.clone(), mine.aside.clone());
        assert!(
            std::panic::catch_unwind(move || std::panic::panic_any(mine.making.len())).is_err()
        );
        check(&making, Some(Leftover::Making));
        check(&aside, Some(Leftover::Aside));
        let dead = format!("{}{}-1-0", lead(&change), std::process::id());
        check(&format!("{dead}.tmp"), Some(Leftover::Making));
        check(&format!("{dead}.old"), Some(Leftover::Aside));
        check(&format!("{dead}.txt"), None);
        check(&format!("{}4194305-1-0.tmp", lead(&change)), Some(Leftover::Making));
        check(&format!("{}4194305-1-0.tmp", lead(&other)), None);
        check("f", None);
    }
}
