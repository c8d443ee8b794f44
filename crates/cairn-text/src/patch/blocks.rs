//! SEARCH/REPLACE blocks: old lines and new lines between lines of brackets, with the file's name on
//! a line above the first. Reads them; `steps` applies them.

use super::detect::{is_bracketed, is_fence, refuse_foreign};
use super::steps::{Step, Where};
use super::{Change, FilePatch, Format, PatchProblem};
use std::collections::HashMap;

pub(super) fn parse(text: &str) -> Result<Vec<FilePatch>, PatchProblem> {
    let lines: Vec<&str> = text.lines().collect();
    let mut files: Vec<(Option<String>, Vec<Step>)> = Vec::new();
    let mut known: HashMap<Option<String>, usize> = HashMap::new();
    let (mut path, mut above): (Option<String>, &str) = (None, "");
    let mut at = 0;
    while at < lines.len() {
        if !is_bracketed(lines[at], '<', "SEARCH") {
            refuse_foreign(Format::Blocks, &lines, at)?;
            refuse_stray(&lines, at)?;
            if !is_fence(lines[at]) && !lines[at].trim().is_empty() {
                above = lines[at];
            }
            at += 1;
            continue;
        }
        path = file_name(above).or(path);
        above = "";
        let (step, next) = block(&lines, at)?;
        let index = *known.entry(path.clone()).or_insert(files.len());
        if index == files.len() {
            files.push((path.clone(), Vec::new()));
        }
        files[index].1.push(step);
        at = next;
    }
    let patch = |(path, steps)| FilePatch::of(Format::Blocks, path, Change::Steps(steps));
    Ok(files.into_iter().map(patch).collect())
}

/// One block from its first line on, and the line after it.
fn block(lines: &[&str], from: usize) -> Result<(Step, usize), PatchProblem> {
    let mut middle = None;
    for at in from + 1..lines.len() {
        let line = lines[at];
        if is_bracketed(line, '<', "SEARCH") {
            return Err(PatchProblem::malformed(at, "a block begins before the one above it ends"));
        }
        match (is_bracketed(line, '=', ""), is_bracketed(line, '>', "REPLACE"), middle) {
            (true, _, None) => middle = Some(at),
            (true, _, Some(_)) => {
                let why = "a second ======= in one block; which of them divides it is not certain";
                return Err(PatchProblem::malformed(at, why));
            }
            (_, true, Some(middle)) => {
                let text = |part: &[&str]| part.iter().map(|l| format!("{l}\n")).collect();
                let (old, new) = (text(&lines[from + 1..middle]), text(&lines[middle + 1..at]));
                return Ok((Step::Swap { old, new, place: Where::Lines(None) }, at + 1));
            }
            (_, true, None) => {
                return Err(PatchProblem::malformed(at, "a block ends without its ======= line"));
            }
            _ => {}
        }
    }
    Err(PatchProblem::malformed(from, "the block is not closed with >>>>>>> REPLACE"))
}

fn refuse_stray(lines: &[&str], at: usize) -> Result<(), PatchProblem> {
    let stray = is_bracketed(lines[at], '>', "REPLACE") && at > 0;
    match stray {
        true => Err(PatchProblem::malformed(at, "a block ends that did not begin")),
        false => Ok(()),
    }
}

/// A line that can only be a file's name.
fn file_name(line: &str) -> Option<String> {
    let name = line.trim().trim_start_matches('#').trim();
    let name = name.trim_matches(['`', '*']).trim_end_matches(':').trim_matches(['`', '*']);
    let plain = !name.is_empty() && !name.contains(char::is_whitespace);
    (plain && (name.contains(['.', '/']) || line.trim().starts_with('`'))).then(|| name.to_owned())
}
