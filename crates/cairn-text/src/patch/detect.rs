//! Which format a patch is in, by its first mark, and whether a line between its parts bears the
//! mark of another one.

use super::{Format, PatchProblem, labels, sed};

/// A text without the code fence around all of it.
pub(super) fn unfenced(text: &str) -> &str {
    let inner = text.trim();
    let Some((first, rest)) = inner.split_once('\n') else { return text };
    let ticks = first.len() - first.trim_start_matches('`').len();
    let Some(body) = rest.strip_suffix(&first[..ticks]) else { return text };
    let one = body.is_empty() || body.ends_with('\n');
    if ticks >= 3 && one && !first[ticks..].contains('`') { body } else { text }
}

/// Whether a line opens or closes a code fence.
pub(super) fn is_fence(line: &str) -> bool {
    line.trim_start().starts_with("```")
}

/// The format a text is in.
pub(super) fn format(text: &str) -> Result<Format, PatchProblem> {
    if text.trim().is_empty() {
        return Err(PatchProblem::Empty);
    }
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let script = sed::looks_like_one(first);
    if script && sed::parse(text).is_ok() {
        return Ok(Format::Sed);
    }
    let lines: Vec<&str> = text.lines().collect();
    match (0..lines.len()).find_map(|at| mark(&lines, at)) {
        Some(format) => Ok(format),
        None if script => Ok(Format::Sed),
        None => Err(PatchProblem::Unknown),
    }
}

/// The format whose mark this line is.
fn mark(lines: &[&str], at: usize) -> Option<Format> {
    let line = lines[at].trim_end();
    let next = lines.get(at + 1).copied().unwrap_or_default();
    let sections = ["*** Begin Patch", "*** Update File:", "*** Add File:", "*** Delete File:"];
    if sections.iter().any(|mark| line.starts_with(mark)) {
        Some(Format::Sections)
    } else if is_bracketed(line, '<', "SEARCH") {
        Some(Format::Blocks)
    } else if labels::opens(line) {
        Some(Format::Labels)
    } else if line.starts_with("diff --git ")
        || (line.starts_with("--- ") && next.starts_with("+++ "))
        || line == "@@"
        || line.starts_with("@@ ")
    {
        Some(Format::Unified)
    } else {
        None
    }
}

/// Five to nine brackets, and a word unless it is empty.
pub(super) fn is_bracketed(line: &str, bracket: char, word: &str) -> bool {
    let line = line.trim_end();
    let rest = line.trim_start_matches(bracket);
    (5..=9).contains(&(line.len() - rest.len())) && rest.trim() == word
}

/// Refuses a line between the parts of a patch that bears the mark of another format.
pub(super) fn refuse_foreign(own: Format, lines: &[&str], at: usize) -> Result<(), PatchProblem> {
    let script = || {
        let line = lines[at].trim();
        let whole = sed::looks_like_one(line) && sed::parse(line).is_ok();
        whole.then_some(Format::Sed)
    };
    match mark(lines, at).or_else(script) {
        Some(second) if second != own => {
            Err(PatchProblem::Mixed { first: own, second, line: at + 1 })
        }
        _ => Ok(()),
    }
}
