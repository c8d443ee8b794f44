//! Reads a file's lines. Memory is bounded whatever the file is like.

use crate::edits::edit::{MAX_FILE, not_text, read_all};
use crate::entries::text;
use crate::folders::unread::Door;
use crate::folders::workspace::{Opened, Workspace};
use crate::look::media::{self, Kind};
use crate::look::{list, notebook};
use crate::settled::{Performed, Refusal, Shown};
use cairn_text::mime;
use cairn_text::scope::line_hash;
use cairn_types::{Hash, Read, Seen, Status};
use memchr::{memchr, memchr_iter};
use std::fmt::Write as _;
use std::fs::File;
use std::io::Read as _;
use tokio_util::sync::CancellationToken;

/// The most lines told at once.
const MAX_LINES: u64 = 2000;
/// The most bytes told at once.
const MAX_BYTES: usize = 64 * 1024;
/// Where a line is cut, in characters.
const MAX_CHARS: usize = 2000;
/// The most bytes of a line that are looked at: as many characters of the longest kind.
const LINE_BYTES: usize = MAX_CHARS * 4;
/// How much of a file decides whether it is text.
pub(crate) const SNIFF: usize = 8192;

/// Reads the lines asked for; a limit of 0 stands for the most allowed.
pub(crate) fn perform(
    workspace: &Workspace,
    read: &Read,
    cancel: &CancellationToken,
) -> Result<Performed, Refusal> {
    let opened = workspace.open_existing(&read.path)?;
    workspace.refuse_unread(Door::Read, &read.path, &opened.path)?;
    if opened.is_directory() {
        return list::perform(workspace, &read.path, 1, cancel);
    }
    workspace.refuse_stranger(&read.path, &opened.path, false)?;
    if opened.path.ends_with(".ipynb") && opened.bytes() <= MAX_FILE {
        return notebook(opened, read);
    }
    if read.scope.is_some() || read.matcher.is_some() {
        return part(opened, read);
    }
    let (path, bytes) = (opened.path.clone(), opened.bytes());
    let mut slice = Slice::new(read);
    let mut hasher = blake3::Hasher::new();
    let mut file = File::from(opened.fd).take(bytes);
    let mut buffer = vec![0; SNIFF * 8];
    let mut is_start = true;
    loop {
        let n = fill(&mut file, &mut buffer)
            .map_err(|e| Refusal::new(Status::FAILED, format!("{path} could not be read: {e}")))?;
        if n == 0 {
            break;
        }
        if cancel.is_cancelled() {
            return Err(Refusal::new(Status::CANCELLED, "cancelled"));
        }
        if let Some(kind) = media::kind(&buffer[..n]).filter(|_| is_start) {
            return picture(workspace, (&path, bytes), kind);
        }
        if is_start && is_binary(&buffer[..n.min(SNIFF)]) {
            return Err(binary(&path, bytes));
        }
        is_start = false;
        hasher.update(&buffer[..n]);
        slice.take(&buffer[..n]);
    }
    slice.end();
    if slice.has_nul {
        return Err(binary(&path, bytes));
    }
    let part = slice.is_part();
    let mut performed = told(&path, slice)?;
    let hash = Hash(*hasher.finalize().as_bytes());
    performed.seen.push(Seen { path, hash, part });
    Ok(performed)
}

/// What a scope or a matcher picks of a file.
fn part(opened: Opened, read: &Read) -> Result<Performed, Refusal> {
    let Opened { path, fd, .. } = opened;
    let bytes = read_all(&path, fd, MAX_FILE)?;
    refuse_binary(&path, &bytes)?;
    let text = std::str::from_utf8(&bytes).map_err(|_| not_text(&path))?;
    let mut performed = text::read(&path, text, mime::of(&path, &bytes).name(), read)?;
    performed.seen.push(Seen { path, hash: Hash::of(&bytes), part: true });
    Ok(performed)
}

/// A picture or document, shown whole.
fn picture(
    workspace: &Workspace,
    (path, bytes): (&str, u64),
    kind: Kind,
) -> Result<Performed, Refusal> {
    refuse_larger(path, bytes, kind)?;
    let content = read_all(path, workspace.open_existing(path)?.fd, kind.most)?;
    Ok(shown(path, content, kind))
}

fn refuse_larger(path: &str, bytes: u64, Kind { mime, most }: Kind) -> Result<(), Refusal> {
    if bytes <= most {
        return Ok(());
    }
    let text = format!("{path} is {mime}, {bytes} bytes: more than {most}, so it is not shown");
    Err(Refusal::new(Status::TOO_LARGE, text))
}

/// The same of bytes that are there already; none where they are neither.
pub(crate) fn picture_of(path: &str, content: &[u8]) -> Result<Option<Performed>, Refusal> {
    let Some(kind) = media::kind(content) else { return Ok(None) };
    refuse_larger(path, content.len() as u64, kind)?;
    Ok(Some(shown(path, content.to_vec(), kind)))
}

fn shown(path: &str, content: Vec<u8>, Kind { mime, .. }: Kind) -> Performed {
    let text = format!("{path}: {mime}, {} bytes", content.len());
    let seen = Seen { path: path.to_owned(), hash: Hash::of(&content), part: false };
    let shown = Shown { mime, name: path.to_owned(), bytes: content };
    Performed { media: vec![shown], seen: vec![seen], ..Performed::told(Status::OK, text) }
}

/// A notebook's cells; the file as it is, when it is none.
fn notebook(opened: Opened, read: &Read) -> Result<Performed, Refusal> {
    let Opened { path, fd, .. } = opened;
    let bytes = read_all(&path, fd, MAX_FILE)?;
    refuse_binary(&path, &bytes)?;
    let mut performed = match notebook::cells(&bytes) {
        None => of_bytes(&path, &bytes, read, true)?,
        Some(cells) => {
            let mut told = of_bytes(&path, cells.as_bytes(), read, true)?;
            told.text.push_str("\nthe cells of a notebook; the file itself is JSON");
            told
        }
    };
    performed.seen.push(Seen { path, hash: Hash::of(&bytes), part: true });
    Ok(performed)
}

/// The lines asked for of a text that is in memory, with their numbers or without.
pub(crate) fn of_bytes(
    name: &str,
    bytes: &[u8],
    read: &Read,
    numbered: bool,
) -> Result<Performed, Refusal> {
    let mut slice = Slice { numbered, ..Slice::new(read) };
    slice.take(bytes);
    slice.end();
    told(name, slice)
}

/// The lines asked for of a text that is no file and comes piece by piece.
pub struct Lines(Slice);

impl Lines {
    /// Nothing of the text came yet.
    #[must_use]
    pub fn new(read: &Read) -> Lines {
        Lines(Slice::new(read))
    }

    /// Takes the text's next piece.
    pub fn take(&mut self, piece: &[u8]) {
        self.0.take(piece);
    }

    /// What is told of the text under this name, now that all of it came.
    #[must_use]
    pub fn told(mut self, name: &str) -> Performed {
        self.0.end();
        told(name, self.0).unwrap_or_else(Into::into)
    }
}

/// Fills the buffer as far as the file goes.
fn fill(file: &mut impl std::io::Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..])? {
            0 => break,
            n => filled += n,
        }
    }
    Ok(filled)
}

fn binary(path: &str, bytes: u64) -> Refusal {
    Refusal::new(Status::NOT_TEXT, format!("{path} is a binary file, {bytes} bytes"))
}

/// Refuses bytes that are kept from models because they are not text: with a NUL anywhere, or a beginning much of
/// which is not UTF-8. What people are shown is decided elsewhere.
pub(crate) fn refuse_binary(path: &str, bytes: &[u8]) -> Result<(), Refusal> {
    match memchr(0, bytes).is_some() || is_binary(&bytes[..bytes.len().min(SNIFF)]) {
        true => Err(binary(path, bytes.len() as u64)),
        false => Ok(()),
    }
}

/// Whether a file's beginning is not text: it has a NUL, or much of it is not UTF-8.
pub(crate) fn is_binary(start: &[u8]) -> bool {
    if memchr(0, start).is_some() {
        return true;
    }
    // Nearly every file is, and knowing that is much cheaper than looking for what is not.
    if std::str::from_utf8(start).is_ok() {
        return false;
    }
    let bad = start.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty()).count();
    bad * 10 > start.len()
}

fn told(path: &str, slice: Slice) -> Result<Performed, Refusal> {
    let total = slice.total();
    if total == 0 {
        return Ok(Performed::told(Status::OK, "(empty)"));
    }
    if slice.first > total {
        let lines = if total == 1 { "1 line".to_owned() } else { format!("{total} lines") };
        return Err(Refusal::new(Status::OUT_OF_RANGE, format!("{path} has {lines}")));
    }
    let mut text = slice.out;
    if slice.is_lossy {
        text.push_str("\nnot UTF-8 everywhere: U+FFFD stands for what is not");
    }
    let (first, last) = (slice.first, slice.last);
    if last < total {
        let _ = write!(text, "\nlines {first}-{last} of {total}; next: first={}", last + 1);
    } else if first > 1 {
        let _ = write!(text, "\nlines {first}-{last} of {total}");
    }
    Ok(Performed::told(Status::OK, text))
}

/// Collects some lines of a stream of bytes and counts all of them.
struct Slice {
    first: u64,
    limit: u64,
    out: String,
    /// Lines that ended so far.
    ended: u64,
    /// The last line told.
    last: u64,
    /// The beginning of the line being read, and how many bytes of it were passed over.
    line: Vec<u8>,
    passed: u64,
    /// Whether anything of an unended line was seen.
    is_inside: bool,
    is_full: bool,
    is_lossy: bool,
    has_nul: bool,
    /// A line was cut.
    is_cut: bool,
    /// Each line is told with a short hash.
    hashes: bool,
    /// Each line is told with its number.
    numbered: bool,
}

impl Slice {
    fn new(read: &Read) -> Self {
        let first = read.first.max(1);
        let limit = if read.limit == 0 { MAX_LINES } else { read.limit.min(MAX_LINES) };
        Self {
            first,
            limit,
            hashes: read.hashes,
            numbered: true,
            is_cut: false,
            out: String::new(),
            ended: 0,
            last: first.saturating_sub(1),
            line: Vec::new(),
            passed: 0,
            is_inside: false,
            is_full: false,
            is_lossy: false,
            has_nul: false,
        }
    }

    fn take(&mut self, mut chunk: &[u8]) {
        while !chunk.is_empty() {
            if self.is_full {
                self.ended += memchr_iter(b'\n', chunk).count() as u64;
                self.is_inside = chunk.last() != Some(&b'\n');
                return;
            }
            match memchr(b'\n', chunk) {
                Some(at) => {
                    self.add(&chunk[..at]);
                    self.end_line();
                    chunk = &chunk[at + 1..];
                }
                None => {
                    self.add(chunk);
                    self.is_inside = true;
                    return;
                }
            }
        }
    }

    fn add(&mut self, bytes: &[u8]) {
        if self.ended + 1 < self.first {
            return;
        }
        let room = LINE_BYTES - self.line.len();
        let (kept, passed) = bytes.split_at(bytes.len().min(room));
        self.line.extend_from_slice(kept);
        self.passed += passed.len() as u64;
    }

    fn end_line(&mut self) {
        self.ended += 1;
        self.is_inside = false;
        if self.ended >= self.first && !self.is_full {
            self.tell_line();
        }
        self.line.clear();
        self.passed = 0;
    }

    fn tell_line(&mut self) {
        let row = self.row();
        if !self.out.is_empty() && self.out.len() + row.len() > MAX_BYTES {
            self.is_full = true;
            return;
        }
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out.push_str(&row);
        self.last = self.ended;
        self.is_full = self.last + 1 - self.first >= self.limit;
    }

    /// The line as it is told: numbered, cut, and without what is not text.
    fn row(&mut self) -> String {
        let mut line = self.line.as_slice();
        if self.passed == 0 {
            line = line.strip_suffix(b"\r").unwrap_or(line);
        } else {
            line = &line[..whole(line)];
        }
        self.has_nul |= memchr(0, line).is_some();
        let text = String::from_utf8_lossy(line);
        self.is_lossy |= matches!(text, std::borrow::Cow::Owned(_));
        let cut = text.char_indices().nth(MAX_CHARS).map_or(text.len(), |(at, _)| at);
        let more = if matches!(text, std::borrow::Cow::Borrowed(_)) {
            self.line.len() as u64 + self.passed - cut as u64
        } else {
            text[cut..].len() as u64 + self.passed
        };
        let number = match (self.numbered, self.hashes) {
            (false, _) => String::new(),
            (true, false) => format!("{}\t", self.ended),
            (true, true) => format!("{}:{}\t", self.ended, line_hash(line)),
        };
        if cut == text.len() && self.passed == 0 {
            return format!("{number}{text}");
        }
        self.is_cut = true;
        format!("{number}{}… ({more} more bytes in this line)", &text[..cut])
    }

    fn end(&mut self) {
        if self.is_inside {
            if self.is_full {
                self.ended += 1;
                self.is_inside = false;
            } else {
                self.end_line();
            }
        }
    }

    /// Whether some of the text was not told.
    fn is_part(&self) -> bool {
        self.first > 1 || self.last < self.ended || self.is_cut
    }

    fn total(&self) -> u64 {
        self.ended
    }
}

/// How much of these bytes is left when a character cut at their end is taken away.
pub(crate) fn whole(bytes: &[u8]) -> usize {
    match bytes.utf8_chunks().last() {
        Some(chunk) if !chunk.invalid().is_empty() && bytes.ends_with(chunk.invalid()) => {
            let bad = chunk.invalid();
            let is_cut = std::str::from_utf8(bad).is_err_and(|e| e.error_len().is_none());
            if is_cut { bytes.len() - bad.len() } else { bytes.len() }
        }
        _ => bytes.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(bytes: &[u8], (first, limit): (u64, u64), chunk: usize) -> String {
        let mut slice = Slice::new(&Read { path: String::new(), first, limit, ..Read::default() });
        bytes.chunks(chunk).for_each(|c| slice.take(c));
        slice.end();
        match told("f", slice) {
            Ok(done) => done.text,
            Err(refusal) => format!("{} {}", refusal.status, refusal.text),
        }
    }

    #[test]
    fn lines_are_numbered_and_the_rest_is_counted() {
        let check = |text: &str, window, expected: &str| {
            for chunk in [1, 2, 3, 100] {
                assert_eq!(read(text.as_bytes(), window, chunk), expected, "{text:?} {chunk}");
            }
        };
        check("a\nb\n", (1, 9), "1\ta\n2\tb");
        check("a\nb", (1, 9), "1\ta\n2\tb");
        check("a\r\nb\r\n", (1, 9), "1\ta\n2\tb");
        check("a\nb\nc\nd", (2, 2), "2\tb\n3\tc\nlines 2-3 of 4; next: first=4");
        check("a\nb\nc\nd", (3, 9), "3\tc\n4\td\nlines 3-4 of 4");
        check("a\nb\n", (3, 9), "416 f has 2 lines");
        check("", (1, 9), "(empty)");
        check("\n\n", (1, 9), "1\t\n2\t");
    }

    #[test]
    fn a_long_line_is_cut_between_characters_and_says_how_much_is_missing() {
        let line = "é".repeat(5000);
        let expected = format!("1\t{}… (6000 more bytes in this line)", "é".repeat(MAX_CHARS));
        for chunk in [1, 7, 4096, 20_000] {
            assert_eq!(read(line.as_bytes(), (1, 9), chunk), expected);
        }
    }

    #[test]
    fn the_hash_told_with_a_line_anchors_a_scope_to_it() {
        let text = format!("a\r\n{}\n\nb\r\r\nc\r", "xé".repeat(5000));
        let mut slice =
            Slice::new(&Read { path: String::new(), first: 1, hashes: true, ..Read::default() });
        slice.take(text.as_bytes());
        slice.end();
        let told = told("f", slice).expect("lines").text;
        let found: Vec<usize> = told
            .lines()
            .map(|row| row.split('\t').next().unwrap_or(row))
            .map(|label| cairn_text::scope::Scope::parse(label).expect(label))
            .map(|scope| cairn_text::slice::select(&text, &scope).expect("a line").first)
            .collect();
        assert_eq!(found, [1, 2, 3, 4, 5]);
    }

    #[test]
    fn what_is_told_at_once_is_bounded() {
        let text: String = (0..9000).map(|n| format!("line {n} {}\n", "x".repeat(90))).collect();
        let told = read(text.as_bytes(), (1, MAX_LINES), 4096);
        assert!(told.len() < MAX_BYTES + 100);
        assert!(told.contains("of 9000; next: first="));
    }

    proptest! {
        #[test]
        fn chunks_never_change_what_is_read(
            bytes in proptest::collection::vec(
                prop_oneof![Just(b'\n'), Just(b'a'), Just(0xc3), Just(0xa9), any::<u8>()], 0..200
            ),
            first in 1u64..6, limit in 1u64..6, chunk in 1usize..50,
        ) {
            let whole = read(&bytes, (first, limit), 1000);
            prop_assert_eq!(read(&bytes, (first, limit), chunk), whole);
        }

        #[test]
        fn a_cut_character_is_taken_away_and_nothing_else(text in "(é|日|😀|\\PC){0,20}", cut in 0usize..80) {
            let bytes = &text.as_bytes()[..cut.min(text.len())];
            let kept = whole(bytes);
            prop_assert!(std::str::from_utf8(&bytes[..kept]).is_ok());
            prop_assert!(bytes.len() - kept < 4);
        }
    }
}
