//! Imports: a line `@path/to/file.md` of an instruction file stands for that file's text. Only
//! beneath the same workspace, only so deep, each file once.

use super::instructions::{is_markdown, markdown};
use crate::folders::path;
use crate::folders::workspace::Workspace;

/// How deep imports may import.
const DEEPEST: usize = 5;
/// How many imports of one instruction file are looked for.
const MOST_IMPORTS: u32 = 64;

/// The text of the instruction file at `path` with the files it imports in place, up to `most`
/// bytes, and whether there was more. An import that is missing, leads outside, or is there
/// already stays the line it is.
#[must_use]
pub fn with_imports(workspace: &Workspace, path: &str, text: &str, most: usize) -> (String, bool) {
    let told = vec![path.to_owned()];
    let mut out = Expansion { workspace, text: String::new(), most, told, left: MOST_IMPORTS };
    out.add(path, text, 0);
    let mut text = out.text;
    let is_cut = text.len() > most;
    if is_cut {
        let end = (0..=most).rev().find(|end| text.is_char_boundary(*end));
        text.truncate(end.unwrap_or_default());
    }
    (text, is_cut)
}

struct Expansion<'w> {
    workspace: &'w Workspace,
    text: String,
    most: usize,
    /// The files whose text is here, by where they really are.
    told: Vec<String>,
    /// How many more imports are looked for.
    left: u32,
}

impl Expansion<'_> {
    fn add(&mut self, of: &str, text: &str, depth: usize) {
        let mut fence = None;
        for line in text.split_inclusive('\n') {
            if self.text.len() > self.most {
                return;
            }
            let import = target(line).filter(|_| fence.is_none() && depth < DEEPEST);
            fence = after(fence, line);
            if !import.is_some_and(|import| self.import(of, import, depth)) {
                self.text.push_str(line);
            }
        }
    }

    /// Puts the imported file here; false when it is not to be had.
    fn import(&mut self, of: &str, import: &str, depth: usize) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        let at = match (path::split(of).0, import.starts_with('/')) {
            (".", _) | (_, true) => import.to_owned(),
            (directory, false) => format!("{directory}/{import}"),
        };
        let Ok(file) = markdown(self.workspace, &at) else { return false };
        if self.told.contains(&file.path) {
            return false;
        }
        self.told.push(file.path.clone());
        self.add(&file.path, &file.text, depth + 1);
        if !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        true
    }
}

/// What a line imports, if it is nothing but an import.
fn target(line: &str) -> Option<&str> {
    let path = line.trim_end().strip_prefix('@')?;
    (is_markdown(path) && !path.contains(char::is_whitespace)).then_some(path)
}

/// The code fence that is open after a line: its character and its length.
fn after(open: Option<(char, usize)>, line: &str) -> Option<(char, usize)> {
    let line = line.trim();
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'));
    let length = mark.map_or(0, |mark| line.chars().take_while(|c| *c == mark).count());
    match (open, mark) {
        (None, Some(mark)) if length >= 3 => Some((mark, length)),
        (Some((with, least)), Some(mark)) => {
            let closes = mark == with && length >= least && line.len() == length;
            (!closes).then_some((with, least))
        }
        (open, _) => open,
    }
}
