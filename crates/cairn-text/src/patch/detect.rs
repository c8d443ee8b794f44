//! Which format a patch is in, by its first mark, and whether a line between its parts bears the
//! mark of another one.

use super::{BodyForm, Format, PatchProblem, labels, sed};

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

/// What a body is, by its first line that is not blank; of blocks a file's name may stand above.
pub(super) fn body_form(text: &str) -> BodyForm {
    let text = unfenced(text).trim_start();
    let lines: Vec<&str> = text.lines().take(3).collect();
    let Some(first) = lines.first().copied() else { return BodyForm::Content };
    let is_block = |line: Option<&&str>| line.is_some_and(|line| is_bracketed(line, '<', "SEARCH"));
    let is_named_block = is_block(lines.get(1)) && !first.trim().contains(char::is_whitespace);
    let is_marked = match mark(&lines, 0) {
        // A line of two signs, or of a word behind them, is no hunk of a diff.
        Some(Format::Unified) => !first.starts_with("@@") || first.starts_with("@@ -"),
        Some(_) => true,
        None => is_named_block,
    };
    if is_marked || is_hunks(text) {
        return BodyForm::Edit;
    }
    if !sed::looks_like_one(first) {
        return BodyForm::Content;
    }
    match sed::parse(text) {
        Err(_) if text.lines().all(is_substituting) => BodyForm::Edit,
        Err(_) => BodyForm::Content,
        Ok(script) if script.only_substitutes() => BodyForm::Edit,
        Ok(_) => BodyForm::OtherSed,
    }
}

/// Whether a text is nothing but hunks without numbers: lines after `@@`, some of them removed or added.
fn is_hunks(text: &str) -> bool {
    let mut rest = text.lines().skip(1).filter(|line| !line.starts_with("@@"));
    let is_line = |line: &str| line.starts_with([' ', '+', '-']);
    text.starts_with("@@")
        && text.lines().any(|line| line.starts_with(['+', '-']))
        && rest.all(is_line)
}

/// Whether a line has the shape of `s/a/b/` commands, whether or not its pattern can be read.
fn is_substituting(line: &str) -> bool {
    let line = line.trim();
    let Some(delimiter) = line.strip_prefix('s').and_then(|rest| rest.chars().next()) else {
        return line.is_empty();
    };
    let flags = line.rsplit(delimiter).next().unwrap_or_default();
    sed::looks_like_one(line)
        && line.matches(delimiter).count() >= 3
        && flags.chars().all(|c| "giI; ".contains(c) || c.is_ascii_digit())
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
