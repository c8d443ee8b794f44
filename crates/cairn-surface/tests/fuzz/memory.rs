//! Counts the memory that a thread holds, and the most it held. Sees every allocation of this test program.

#![allow(unsafe_code, reason = "an allocator is told of allocations in no other way")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

#[global_allocator]
static COUNTING: Counting = Counting;

thread_local! {
    /// What is held, and the most that was. Per thread, since other tests run at the same time.
    static HELD: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

struct Counting;

fn held(more: isize) {
    // A thread that is ending has no counter any more.
    let _ = HELD.try_with(|held| {
        let (now, most) = held.get();
        held.set((now + more, most.max(now + more)));
    });
}

// SAFETY: everything is handed to the system's allocator as it came; only numbers are kept.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        held(layout.size() as isize);
        // SAFETY: the caller keeps what `GlobalAlloc::alloc` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        held(-(layout.size() as isize));
        // SAFETY: the caller keeps what `GlobalAlloc::dealloc` asks for.
        unsafe { System.dealloc(place, layout) }
    }

    /// What grows may have to move: for a moment both places are held.
    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        held(size as isize);
        held(-(layout.size() as isize));
        // SAFETY: the caller keeps what `GlobalAlloc::realloc` asks for.
        unsafe { System.realloc(place, layout, size) }
    }
}

/// What a piece of work gives, and the most bytes it held beyond those that were held before.
pub fn measured<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.with(|held| {
        let (now, _) = held.get();
        held.set((now, now));
        now
    });
    let done = work();
    let (_, most) = HELD.with(Cell::get);
    (done, usize::try_from(most - before).unwrap_or(0))
}

#[test]
fn what_is_held_for_a_moment_is_counted() {
    let (kept, most) = measured(|| {
        drop(std::hint::black_box(vec![0_u8; 1 << 20]));
        vec![0_u8; 10]
    });
    assert_eq!((kept.len(), most), (10, 1 << 20));
    let (mut grown, most) = measured(|| vec![1_u8; 1000]);
    assert_eq!(most, 1000);
    let ((), most) = measured(|| grown.reserve_exact(5000));
    assert_eq!((grown.len(), most), (1000, 6000));
}
