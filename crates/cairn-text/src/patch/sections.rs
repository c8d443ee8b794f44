//! Sections between `*** Begin Patch` and `*** End Patch`: files to add, delete, update and move. A
//! hunk may be led to by lines above it, each after `@@`. Reads them; `hunks` applies them.

use super::detect::{is_fence, refuse_foreign};
use super::hunks::{Hunk, Side};
use super::{Change, FilePatch, Format, PatchProblem};

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const END_OF_FILE: &str = "*** End of File";

pub(super) fn parse(text: &str) -> Result<Vec<FilePatch>, PatchProblem> {
    let lines: Vec<&str> = text.lines().collect();
    let mut files = Vec::new();
    let (mut at, mut ended) = (0, false);
    while at < lines.len() {
        let line = lines[at].trim_end();
        let named = |mark: &str| line.strip_prefix(mark).map(|path| path.trim().to_owned());
        if let Some(path) = named("*** Add File:") {
            let (content, next) = added(&lines, at + 1)?;
            files.push(FilePatch::of(Format::Sections, Some(path), Change::Create(content)));
            at = next;
        } else if let Some(path) = named("*** Delete File:") {
            files.push(FilePatch::of(Format::Sections, Some(path), Change::Delete));
            at += 1;
        } else if let Some(path) = named("*** Update File:") {
            let (patch, next) = updated(&lines, at + 1, path)?;
            files.push(patch);
            at = next;
        } else {
            if line.starts_with("*** ") && line != BEGIN && line != END {
                let why =
                    format!("{line:?} is no section; use Add File, Update File or Delete File");
                return Err(PatchProblem::malformed(at, why));
            }
            refuse_foreign(Format::Sections, &lines, at)?;
            ended = line == END || ended && line != BEGIN;
            at += 1;
        }
    }
    match ended {
        true => Ok(files),
        false => Err(PatchProblem::malformed(lines.len().max(1) - 1, "there is no *** End Patch")),
    }
}

fn begins_a_section(line: &str) -> bool {
    line.starts_with("*** ") && line.trim_end() != END_OF_FILE
}

/// The lines of a new file, and the line after them.
fn added(lines: &[&str], from: usize) -> Result<(String, usize), PatchProblem> {
    let mut content = String::new();
    let mut at = from;
    while at < lines.len() && !begins_a_section(lines[at]) {
        match lines[at].strip_prefix('+') {
            Some(line) => {
                content.push_str(line);
                content.push('\n');
            }
            None if lines[at].trim().is_empty() || is_fence(lines[at]) => {}
            None => {
                return Err(PatchProblem::malformed(at, "a line of a new file must begin with +"));
            }
        }
        at += 1;
    }
    Ok((content, at))
}

/// The hunks of a file, and the line after them.
fn updated(lines: &[&str], from: usize, path: String) -> Result<(FilePatch, usize), PatchProblem> {
    let mut patch = FilePatch::of(Format::Sections, Some(path), Change::Hunks(Vec::new()));
    let mut hunks: Vec<Hunk> = Vec::new();
    let fresh = || Hunk { may_append: true, ..Hunk::default() };
    let mut at = from;
    if let Some(path) = lines.get(at).and_then(|line| line.strip_prefix("*** Move to:")) {
        patch.moved_to = Some(path.trim().to_owned());
        at += 1;
    }
    while at < lines.len() && !begins_a_section(lines[at]) {
        let line = lines[at];
        if line.trim_end() == END_OF_FILE {
            if let Some(hunk) = hunks.last_mut() {
                hunk.at_the_end = true;
            }
        } else if let Some(anchor) = line.strip_prefix("@@") {
            if hunks.last().is_none_or(|hunk| !hunk.lines.is_empty()) {
                hunks.push(fresh());
            }
            let anchor = anchor.trim().trim_end_matches("@@").trim();
            let numbered = anchor.starts_with('-') && anchor.contains('+');
            if let Some(hunk) = hunks.last_mut().filter(|_| !anchor.is_empty() && !numbered) {
                hunk.anchors.push(anchor.to_owned());
            }
        } else {
            let (side, text) = side(line).ok_or_else(|| {
                PatchProblem::malformed(at, "a line of a hunk must begin with a blank, + or -")
            })?;
            if hunks.last().is_none_or(|hunk| hunk.at_the_end) {
                hunks.push(fresh());
            }
            if let Some(hunk) = hunks.last_mut() {
                hunk.lines.push((side, text.to_owned()));
            }
        }
        at += 1;
    }
    for hunk in &mut hunks {
        trim_empty_end(hunk);
    }
    hunks.retain(|hunk| !hunk.lines.is_empty());
    patch.change = Change::Hunks(hunks);
    Ok((patch, at))
}

fn side(line: &str) -> Option<(Side, &str)> {
    match line.chars().next() {
        None => Some((Side::Both, "")),
        Some(' ') => Some((Side::Both, &line[1..])),
        Some('-') => Some((Side::Old, &line[1..])),
        Some('+') => Some((Side::New, &line[1..])),
        Some(_) => None,
    }
}

/// Empty lines after a hunk are not a part of it, or context that it can do without.
fn trim_empty_end(hunk: &mut Hunk) {
    while hunk.lines.last().is_some_and(|(side, line)| *side == Side::Both && line.is_empty()) {
        hunk.lines.pop();
    }
}
