//! Line numbers pasted together with the lines, as a numbered reading prints them: number, tab, line.

use super::problem::Doubt;
use super::rows::{TextLines, meant_lines};

/// A line number longer than this is not one.
const MAX_DIGITS: usize = 7;

/// The number before a line's tab, and what follows it. A number alone is an empty line's.
fn numbered(line: &str) -> Option<(usize, &str)> {
    let text = line.trim_start_matches(' ');
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 || digits > MAX_DIGITS {
        return None;
    }
    let number = text[..digits].parse().ok()?;
    let rest = &text[digits..];
    match rest.strip_prefix('\t') {
        Some(rest) => Some((number, rest)),
        None => rest.trim().is_empty().then_some((number, "")),
    }
}

fn has_a_tab(line: &str) -> bool {
    numbered(line).is_some() && line.contains('\t')
}

/// A text without the line numbers that all its lines carry, if they ascend by one. Empty lines may
/// lack theirs.
pub(super) fn stripped(old: &str) -> Option<String> {
    let lines = meant_lines(old);
    let mut bare = Vec::with_capacity(lines.len());
    let (mut last, mut empty, mut tabs) = (None::<usize>, 0, 0);
    for line in lines {
        if line.trim().is_empty() {
            empty += 1;
            bare.push("");
            continue;
        }
        let (number, rest) = numbered(line)?;
        if last.is_some_and(|last| number != last + 1 && number != last + 1 + empty) {
            return None;
        }
        (last, empty) = (Some(number), 0);
        tabs += usize::from(has_a_tab(line));
        bare.push(rest);
    }
    (tabs > 0).then(|| ended_like(bare.join("\n"), old))
}

/// The new text without line numbers. A file whose own lines begin so leaves it uncertain.
pub(super) fn stripped_new(new: &str, rows: &TextLines<'_>) -> Result<String, Doubt> {
    let lines = meant_lines(new);
    if !lines.iter().any(|line| has_a_tab(line)) {
        return Ok(new.to_owned());
    }
    if (0..rows.len()).any(|at| has_a_tab(rows.line(at))) {
        return Err(Doubt::LineNumbers);
    }
    let all = lines.iter().all(|line| line.trim().is_empty() || numbered(line).is_some());
    let bare = |line: &&'_ str| match numbered(line) {
        Some((_, rest)) if all || has_a_tab(line) => line.len() - rest.len(),
        _ => 0,
    };
    let kept: Vec<&str> = lines.iter().map(|line| &line[bare(line).min(line.len())..]).collect();
    Ok(ended_like(kept.join("\n"), new))
}

fn ended_like(mut text: String, model: &str) -> String {
    if model.ends_with('\n') {
        text.push('\n');
    }
    text
}
