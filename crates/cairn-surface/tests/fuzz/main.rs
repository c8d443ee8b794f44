//! Fuzzing of the four readers, each for `CAIRN_FUZZ_SECONDS` (one, or a minute in `make prove`): texts made of the tables, of
//! examples and of printed ops by chance. Of whatever comes in, what is read is whole, the same twice, and costs
//! memory and time in proportion. Its own program, since it counts what is allocated.
//!
//! A text that fails is made smaller and printed, so that it can become a case of a table.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "the helpers here are part of the tests, and tell what they counted"
)]

#[path = "../surface/actions.rs"]
#[allow(dead_code, reason = "another program uses the rest")]
mod actions;
mod corpus;
mod dice;
mod memory;
mod mutate;
mod target;

use dice::Dice;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};
use target::{Heard, Target};

/// Bytes that may be held for each byte of a text. A compiled regular expression takes some kilobytes and can be written in
/// twenty letters.
const TIMES: usize = 256;
/// Bytes that may be held for any text. Compiling a short regular expression with a Unicode class takes 320 KiB.
const BESIDES: usize = 512 << 10;
/// From this length on it is told how many times its length a text took.
const MEASURED: usize = 4 << 10;
/// No text takes longer. A quarter of a MiB takes some milliseconds; were it quadratic, it would take minutes.
const LONGEST: Duration = Duration::from_secs(20);
/// So many texts are kept to make others of.
const KEPT: usize = 4_000;
/// Longer ones are not kept: they make others slow.
const KEPT_BYTES: usize = 4 << 10;
/// So many times a failing text is made smaller at most.
const SHRINKS: usize = 3_000;

/// What is wrong with how a text was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Panics,
    TakesTooMuchMemory,
    TakesTooLong,
    ReadsOtherwiseTheSecondTime,
    NamesAPlaceOutsideTheText,
    Says(&'static str),
}

/// Reads a text, and gives what was heard and the most bytes that were held meanwhile.
fn check(target: &Target, text: &str, setting: u64) -> Result<(Heard, usize), Fault> {
    let began = Instant::now();
    let read = || catch_unwind(AssertUnwindSafe(|| (target.read)(text, setting)));
    let (heard, most) = memory::measured(read);
    let took = began.elapsed();
    let heard = heard.map_err(|_| Fault::Panics)?;
    if most > text.len() * TIMES + BESIDES {
        return Err(Fault::TakesTooMuchMemory);
    }
    if took > LONGEST {
        return Err(Fault::TakesTooLong);
    }
    if (target.read)(text, setting) != heard {
        return Err(Fault::ReadsOtherwiseTheSecondTime);
    }
    if let Some(says) = heard.fault() {
        return Err(Fault::Says(says));
    }
    match are_within(text, &heard) {
        true => Ok((heard, most)),
        false => Err(Fault::NamesAPlaceOutsideTheText),
    }
}

/// Whether every place that is named is one of the text, or right behind a line of it.
fn are_within(text: &str, heard: &Heard) -> bool {
    let places = heard.places();
    if places.is_empty() {
        return true;
    }
    let lines: Vec<usize> = text.split('\n').map(|line| line.chars().count()).collect();
    places.iter().all(|at| {
        let line = at.line.checked_sub(1).and_then(|line| lines.get(line));
        line.is_some_and(|length| (1..=length + 1).contains(&at.column))
    })
}

/// The smallest text to be had by leaving parts out that fails in the same way.
fn shrunk(target: &Target, text: &str, setting: u64, fault: Fault) -> String {
    let mut text = text.to_owned();
    let (mut size, mut tries) = (text.len() / 2, 0);
    while size > 0 && tries < SHRINKS && fault != Fault::TakesTooLong {
        let mut at = 0;
        while at + size <= text.len() && tries < SHRINKS {
            let mut less = text.clone();
            let fits = text.is_char_boundary(at) && text.is_char_boundary(at + size);
            if fits {
                tries += 1;
                less.replace_range(at..at + size, "");
            }
            match fits && check(target, &less, setting).err() == Some(fault) {
                true => text = less,
                false => at += size,
            }
        }
        size /= 2;
    }
    text
}

/// A number that whoever runs the test may set.
#[allow(clippy::disallowed_methods, reason = "a test asks how long it shall run")]
fn told(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Reads one text after the other until the time is up.
fn fuzz(target: &Target) {
    let (seed, seconds) = (told("CAIRN_SEED", 0), told("CAIRN_FUZZ_SECONDS", 1));
    println!("{}: seed {seed}, from {} texts", target.name, target.corpus.len());
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut dice = Dice::new(seed);
    let mut pool = target.corpus.clone();
    let (mut sorts, mut inputs, mut worst) = (HashSet::new(), 0_usize, 0);
    while inputs < target.corpus.len() || Instant::now() < until {
        let setting = dice.next();
        let text = match target.corpus.get(inputs) {
            Some(text) => text.clone(),
            None => {
                let base = dice.below(pool.len());
                mutate::mutated(&pool[base], &pool, &target.words, &mut dice)
            }
        };
        inputs += 1;
        let (heard, most) = check(target, &text, setting).unwrap_or_else(|fault| {
            let small = shrunk(target, &text, setting, fault);
            panic!(
                "{}: {fault:?} (seed {seed}, setting {setting}, text {inputs}):\n{small:?}",
                target.name
            )
        });
        let times = most.div_ceil(text.len().max(1));
        // What little texts cost is not in proportion to them.
        if text.len() >= MEASURED {
            worst = worst.max(times);
        }
        // A text that is read in a new way is worth going on from.
        let is_new = sorts.insert((heard.sort().join(" "), times.checked_ilog2()));
        if is_new && text.len() <= KEPT_BYTES && pool.len() < KEPT {
            pool.push(text);
        }
    }
    println!("{}: {inputs} inputs, 0 crashes, worst {worst}x memory", target.name);
}

// keeps: fuzzed
#[test]
fn no_text_breaks_the_reader_of_tags() {
    fuzz(&target::tags());
}

// keeps: fuzzed
#[test]
fn no_text_breaks_the_reader_of_heredocs() {
    fuzz(&target::heredoc());
}

// keeps: fuzzed
#[test]
fn no_text_breaks_the_reader_of_envelopes() {
    fuzz(&target::envelope());
}

// keeps: fuzzed
#[test]
fn no_text_breaks_the_reader_of_messages() {
    fuzz(&target::native_message());
}
