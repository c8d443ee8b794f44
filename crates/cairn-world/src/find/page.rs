//! One page of what was found, and the count of the rest. Takes results in the order of paths; the
//! same results give the same text.

use super::look::{Kept, Lines};
use crate::folders::path;
use crate::settled::{Performed, Refusal};
use cairn_types::Status;

/// The most rows of a page.
pub(crate) const PAGE_ROWS: usize = 100;
/// The most bytes of a page's rows, unless the first result alone is longer.
pub(crate) const PAGE_BYTES: usize = 16 * 1024;
/// How many directories are named that were not searched.
const UNSEARCHED_NAMED: usize = 10;
/// Results counted beyond a full page.
const COUNTED: u64 = 10_000;

/// Why a file was not looked into.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Unseen {
    Binary,
    Large,
    Unreadable,
    /// What is looked for takes too long to be found in it.
    Long,
    /// It must not be read.
    Kept,
}

/// A page, as far as it is known.
#[derive(Debug, Default)]
pub(crate) struct Page {
    skip: u64,
    /// The most results on it.
    limit: Option<u64>,
    text: String,
    rows: usize,
    /// Results on the page.
    told: u64,
    /// Results so far, those skipped and those beyond the page among them.
    found: u64,
    /// Files with results beyond the page.
    files_beyond: u64,
    is_full: bool,
    is_of_lines: bool,
    unseen: [u64; 5],
    /// The paths themselves, where they are wanted rather than told.
    paths: Option<Vec<String>>,
    /// Directories that were not searched, since the time was up: the first of them, and how many there are.
    unsearched: (Vec<String>, u64),
}

impl Page {
    /// The page after the first `skip` results, with at most `limit` of them.
    pub(crate) fn new(skip: u64, limit: Option<u64>) -> Self {
        Self { skip, limit, ..Self::default() }
    }

    /// One that keeps the paths themselves.
    pub(crate) fn of_paths() -> Self {
        Self { paths: Some(Vec::new()), ..Self::default() }
    }

    /// The paths that were kept; refused where not all were found.
    pub(crate) fn into_paths(self) -> Result<Vec<String>, Refusal> {
        match self.unsearched_note() {
            Some(note) => Err(Refusal::new(Status::UNPROCESSABLE, note)),
            None => Ok(self.paths.unwrap_or_default()),
        }
    }

    /// How many results are counted at most.
    pub(crate) fn count_to(&self) -> u64 {
        self.skip.saturating_add(PAGE_ROWS as u64 + COUNTED + 1)
    }

    /// Whether it can take no more rows.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Whether nothing that follows would change it.
    pub(crate) fn is_over(&self) -> bool {
        self.found >= self.count_to()
    }

    /// Which of the next file's `count` results is the first the page wants; none if none.
    fn wanted_of(&self, count: u64) -> Option<u64> {
        let first = self.skip.saturating_sub(self.found);
        (!self.is_full && first < count).then_some(first)
    }

    /// A path is a result.
    pub(crate) fn add_path(&mut self, path: &[u8]) {
        if let (Some(paths), Ok(path)) = (&mut self.paths, std::str::from_utf8(path)) {
            paths.push(path.to_owned());
        }
        if self.wanted_of(1).is_some() {
            self.put("\n", &path::shown(path), 1);
        }
        self.found += 1;
    }

    /// From which of a file's results on more must be kept, when those kept neither fill the page
    /// nor are all it wants.
    pub(crate) fn lacks(&self, lines: &Lines) -> Option<u64> {
        let count = self.counted(lines);
        let first = self.wanted_of(count)?;
        let kept = from(lines, first);
        (first + (kept.len() as u64) < count && !self.would_fill(kept)).then_some(first)
    }

    /// A file's lines are results.
    pub(crate) fn add_lines(&mut self, path: &[u8], lines: &Lines) {
        self.is_of_lines = true;
        let count = self.counted(lines);
        if let Some(first) = self.wanted_of(count) {
            let most = usize::try_from(count - first).unwrap_or(usize::MAX);
            self.put_lines(path, from(lines, first).iter().take(most));
        }
        self.found += count;
        if self.is_full && count > 0 && self.found > self.next() {
            self.files_beyond += 1;
        }
    }

    /// How many of a file's results still count.
    fn counted(&self, lines: &Lines) -> u64 {
        lines.count.min(self.count_to() - self.found)
    }

    fn put_lines<'k>(&mut self, path: &[u8], kept: impl Iterator<Item = &'k Kept>) {
        let mut head = format!("{}\n", path::shown(path));
        let mut between = "\n\n";
        for kept in kept {
            if !self.put(between, &format!("{head}{}", kept.text), kept.rows) {
                return;
            }
            between = "\n";
            head.clear();
        }
    }

    /// Whether these rows reach the end of the page.
    fn would_fill(&self, kept: &[Kept]) -> bool {
        let rows: usize = kept.iter().map(|kept| kept.rows).sum();
        let bytes: usize = kept.iter().map(|kept| kept.text.len()).sum();
        self.rows + rows >= PAGE_ROWS
            || self.text.len() + bytes >= PAGE_BYTES
            || self.has_all(self.told + kept.len() as u64)
    }

    /// Whether so many results are as many as were wanted.
    fn has_all(&self, told: u64) -> bool {
        self.limit.is_some_and(|limit| told >= limit)
    }

    /// Puts a result on the page if there is room.
    fn put(&mut self, between: &str, text: &str, rows: usize) -> bool {
        let bytes = self.text.len() + between.len() + text.len();
        let has_room = self.rows + rows <= PAGE_ROWS && bytes <= PAGE_BYTES;
        if self.told > 0 && (self.is_full || !has_room) {
            self.is_full = true;
            return false;
        }
        if self.told > 0 {
            self.text.push_str(between);
        }
        self.text.push_str(text);
        self.rows += rows;
        self.told += 1;
        self.is_full =
            self.rows >= PAGE_ROWS || self.text.len() >= PAGE_BYTES || self.has_all(self.told);
        true
    }

    /// A file or directory was not looked into.
    pub(crate) fn pass_over(&mut self, why: Unseen) {
        self.unseen[why as usize] += 1;
    }

    /// A directory was not searched, since the time was up.
    pub(crate) fn leave_unsearched(&mut self, folder: &[u8]) {
        let (named, count) = &mut self.unsearched;
        *count += 1;
        if named.len() < UNSEARCHED_NAMED {
            named.push(if folder.is_empty() { "./".to_owned() } else { path::shown(folder) });
        }
    }

    fn unsearched_note(&self) -> Option<String> {
        let (named, count) = &self.unsearched;
        let more = count.saturating_sub(named.len() as u64);
        let counted = (more > 0).then(|| format!("{more} more"));
        let all: Vec<String> = named.iter().cloned().chain(counted).collect();
        (*count > 0).then(|| {
            format!(
                "not searched, since it took too long: {}; look in one folder (under)",
                all.join(", ")
            )
        })
    }

    /// The first result after the page.
    fn next(&self) -> u64 {
        self.skip + self.told
    }

    /// What is told.
    pub(crate) fn told(self) -> Result<Performed, Refusal> {
        if self.found > 0 && self.told == 0 {
            let results = if self.found == 1 { "result" } else { "results" };
            let text = format!("{} {results}, none after skip={}", self.found, self.skip);
            return Err(Refusal::new(Status::OUT_OF_RANGE, text));
        }
        // That nothing was found would be taken for an answer.
        if let (0, Some(note)) = (self.found, self.unsearched_note()) {
            return Err(Refusal::new(Status::UNPROCESSABLE, format!("nothing found; {note}")));
        }
        if self.found == 0 && self.unseen[Unseen::Long as usize] > 0 {
            let note = self.unseen_note().unwrap_or_default();
            let text = format!("nothing found; {note}; a simpler one may get through");
            return Err(Refusal::new(Status::UNPROCESSABLE, text));
        }
        let notes = [self.unseen_note(), self.unsearched_note(), self.more_note()];
        let is_empty = self.told == 0;
        let mut text = if is_empty { "nothing found".to_owned() } else { self.text };
        let mut between = if self.is_of_lines && !is_empty { "\n\n" } else { "\n" };
        for note in notes.into_iter().flatten() {
            text.push_str(between);
            text.push_str(&note);
            between = "\n";
        }
        let status = if is_empty { Status::NOTHING_FOUND } else { Status::OK };
        Ok(Performed::told(status, text))
    }

    fn unseen_note(&self) -> Option<String> {
        let whys = [
            "binary",
            "larger than 16 MiB",
            "not readable",
            "too much for this expression",
            "kept from being read by the policy",
        ];
        let notes: Vec<String> = self
            .unseen
            .iter()
            .zip(whys)
            .filter(|(n, _)| **n > 0)
            .map(|(n, why)| format!("{n} {why}"))
            .collect();
        (!notes.is_empty()).then(|| format!("not looked into: {}", notes.join(", ")))
    }

    fn more_note(&self) -> Option<String> {
        let (next, more) = (self.next(), self.found.saturating_sub(self.next()));
        if more == 0 || self.told == 0 {
            return None;
        }
        let is_over = more > COUNTED;
        let mut text =
            if is_over { format!("more than {COUNTED} more") } else { format!("{more} more") };
        if self.is_of_lines {
            let files = if self.files_beyond == 1 { "file" } else { "files" };
            let or_more = if is_over { " or more" } else { "" };
            text.push_str(&format!(" in {} {files}{or_more}", self.files_beyond));
        }
        Some(format!("{text}; next: skip={next}"))
    }
}

/// What was kept from this one of a file's results on.
fn from(lines: &Lines, first: u64) -> &[Kept] {
    let at = first.checked_sub(lines.from).and_then(|at| usize::try_from(at).ok());
    at.and_then(|at| lines.kept.get(at..)).unwrap_or_default()
}
