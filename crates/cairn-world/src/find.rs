//! Finds paths by glob, and lines by literal text or regular expression. Results come in the order
//! of paths, a page at a time.

use crate::path;
use crate::read::{SNIFF, is_binary};
use crate::settled::{Performed, Refusal};
use crate::walk::{Met, walk};
use crate::workspace::Workspace;
use cairn_types::{Find, Status};
use globset::{GlobBuilder, GlobMatcher};
use memchr::memchr_iter;
use regex::bytes::{Regex, RegexBuilder};
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use tokio_util::sync::CancellationToken;

/// Results told at once.
const PAGE: u64 = 100;
/// Results counted beyond those told.
const COUNTED: u64 = 10_000;
/// The largest file looked into.
const MAX_FILE: u64 = 16 << 20;
/// Where a found line is cut, in characters.
const MAX_CHARS: usize = 200;

/// Looks, and tells one page of what it found.
pub(crate) fn perform(
    workspace: &Workspace,
    query: &Find,
    cancel: &CancellationToken,
) -> Result<Performed, Refusal> {
    if query.glob.is_none() && query.text.is_none() {
        return Err(Refusal::new(Status::BAD_REQUEST, "neither a glob nor a text was given"));
    }
    let glob = query.glob.as_deref().map(|glob| path_matcher(workspace, glob)).transpose()?;
    let text = query.text.as_deref().map(text_matcher).transpose()?;
    let mut search = Search { page: Page::new(query.skip), binary: 0, large: 0, unread: 0 };
    let closed = walk(workspace, &mut |met| {
        if cancel.is_cancelled() {
            return ControlFlow::Break(());
        }
        let file = Path::new(OsStr::from_bytes(met.path));
        if glob.as_ref().is_some_and(|glob| !glob.is_match(file)) {
            return ControlFlow::Continue(());
        }
        match &text {
            Some(text) => search.look_into(met, text),
            None => search.page.add(|| path::shown(met.path)),
        }
    })
    .map_err(|e| Refusal::new(Status::FAILED, format!("the workspace could not be read: {e}")))?;
    if cancel.is_cancelled() {
        return Err(Refusal::new(Status::CANCELLED, "cancelled"));
    }
    search.unread += closed;
    search.told()
}

/// A matcher over whole paths; a glob without a slash matches at any depth.
fn path_matcher(workspace: &Workspace, glob: &str) -> Result<GlobMatcher, Refusal> {
    let root = format!("{}/", workspace.path().display());
    let inner = glob.strip_prefix(&root).unwrap_or(glob);
    let inner = inner.strip_prefix("./").unwrap_or(inner);
    let mut pattern = if inner.trim_end_matches('/').contains('/') {
        inner.to_owned()
    } else {
        format!("**/{inner}")
    };
    if pattern.ends_with('/') {
        pattern.push_str("**");
    }
    GlobBuilder::new(&pattern)
        .literal_separator(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|e| Refusal::new(Status::BAD_REQUEST, format!("the glob {glob}: {}", e.kind())))
}

/// A matcher over lines: `/regex/flags`, or the text itself.
fn text_matcher(text: &str) -> Result<Regex, Refusal> {
    let bad = |why: String| Refusal::new(Status::BAD_REQUEST, format!("{text}: {why}"));
    if text.is_empty() || text.contains('\n') {
        return Err(bad("text is looked for within one line, and must not be empty".to_owned()));
    }
    let Some(rest) = text.strip_prefix('/') else {
        let literal = regex::escape(text);
        return RegexBuilder::new(&literal).build().map_err(|e| bad(e.to_string()));
    };
    let (expression, flags) = rest
        .rsplit_once('/')
        .filter(|(expression, _)| !expression.is_empty())
        .ok_or_else(|| bad("a text that begins with / is read as /regex/flags".to_owned()))?;
    let mut builder = RegexBuilder::new(expression);
    for flag in flags.chars() {
        match flag {
            'i' => builder.case_insensitive(true),
            'x' => builder.ignore_whitespace(true),
            // Lines are matched one by one, so these change nothing.
            'g' | 'm' | 's' | 'u' => &mut builder,
            other => return Err(bad(format!("read as /regex/flags, and {other} is not a flag"))),
        };
    }
    builder.build().map_err(|e| bad(e.to_string()))
}

/// One page of results, and the count of all.
struct Page {
    skip: u64,
    found: u64,
    rows: Vec<String>,
}

impl Page {
    fn new(skip: u64) -> Self {
        Self { skip, found: 0, rows: Vec::new() }
    }

    fn add(&mut self, row: impl FnOnce() -> String) -> ControlFlow<()> {
        if self.found >= self.skip && (self.rows.len() as u64) < PAGE {
            self.rows.push(row());
        }
        self.found += 1;
        if self.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn is_over(&self) -> bool {
        self.found > self.skip.saturating_add(PAGE + COUNTED)
    }
}

/// A search under way.
struct Search {
    page: Page,
    binary: u64,
    large: u64,
    unread: u64,
}

impl Search {
    fn look_into(&mut self, met: &Met<'_>, text: &Regex) -> ControlFlow<()> {
        let mut content = Vec::new();
        let read = met.open().map(|fd| File::from(fd).take(MAX_FILE + 1).read_to_end(&mut content));
        if !matches!(read, Ok(Ok(_))) {
            self.unread += 1;
        } else if is_binary(&content[..content.len().min(SNIFF)]) {
            self.binary += 1;
        } else if content.len() as u64 > MAX_FILE {
            self.large += 1;
        } else {
            return self.lines(met, &content, text);
        }
        ControlFlow::Continue(())
    }

    fn lines(&mut self, met: &Met<'_>, content: &[u8], text: &Regex) -> ControlFlow<()> {
        if !text.is_match(content) && is_line_free(text) {
            return ControlFlow::Continue(());
        }
        let mut from = 0;
        let ends = memchr_iter(b'\n', content).chain([content.len()]);
        for (number, end) in (1u64..).zip(ends) {
            let line = &content[from..end];
            let is_last_and_empty = end == content.len() && line.is_empty();
            from = (end + 1).min(content.len());
            if !is_last_and_empty && text.is_match(line) {
                self.page.add(|| row(met.path, number, line))?;
            }
        }
        ControlFlow::Continue(())
    }

    fn told(self) -> Result<Performed, Refusal> {
        let page = self.page;
        let mut rows = page.rows;
        if page.found > 0 && rows.is_empty() {
            let text = format!("{} results, none after skip={}", page.found, page.skip);
            return Err(Refusal::new(Status::OUT_OF_RANGE, text));
        }
        let status = if rows.is_empty() { Status::NOTHING_FOUND } else { Status::OK };
        let next = page.skip + rows.len() as u64;
        if rows.is_empty() {
            rows.push("nothing found".to_owned());
        } else if page.found > next {
            let more = (page.found - next).min(COUNTED);
            let over = if page.found - next > COUNTED { "more than " } else { "" };
            rows.push(format!("{over}{more} more; next: skip={next}"));
        }
        let skipped = [
            (self.binary, "binary"),
            (self.large, "larger than 16 MiB"),
            (self.unread, "not readable"),
        ];
        let notes: Vec<String> =
            skipped.iter().filter(|(n, _)| *n > 0).map(|(n, why)| format!("{n} {why}")).collect();
        if !notes.is_empty() {
            rows.push(format!("not looked into: {}", notes.join(", ")));
        }
        Ok(Performed::told(status, rows.join("\n")))
    }
}

/// Whether an expression without a match in a text has none in any single line of it. Anchors are
/// the exception: they hold at a line's ends, not only at the text's.
fn is_line_free(text: &Regex) -> bool {
    !text.as_str().contains(['^', '$', '\\'])
}

fn row(path: &[u8], number: u64, line: &[u8]) -> String {
    let line = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line));
    let cut = line.char_indices().nth(MAX_CHARS).map_or(line.len(), |(at, _)| at);
    let more = if cut < line.len() { "…" } else { "" };
    format!("{}:{number}: {}{more}", path::shown(path), &line[..cut])
}
