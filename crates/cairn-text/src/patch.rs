//! The edit language: texts that say how files change, in four formats told apart by their own
//! marks. Parses them and applies them to contents, all or nothing. Knows nothing of files.
//!
//! | format | looks like |
//! |---|---|
//! | blocks | `<<<<<<< SEARCH`, `=======`, `>>>>>>> REPLACE`, each on a line of its own, a file name above |
//! | labels | `<<SEARCH` … `SEARCH<<REPLACE` … `REPLACE`; `<<NEW`, `<<APPEND`, `<<PREPEND`, `<<DELETE` |
//! | unified diff | `--- a/x`, `+++ b/x`, `@@ -1,3 +1,4 @@`, lines that begin with a blank, `+` or `-` |
//! | sections | `*** Begin Patch`, `*** Update File: x`, `@@ where`, `*** End Patch` |
//! | sed | `s/a/b/g`, `/re/d`, `3,5d`, `2i\` and its text |
//!
//! Hunks and blocks find their place by the tolerant matching of [`crate::edit`], as whole lines.

mod blocks;
mod detect;
mod hunks;
mod labels;
mod problem;
mod sections;
mod sed;
mod steps;
mod unified;

use crate::diff;
use crate::edit::Edited;
use crate::moves::{Moves, ScopeProblem};
use crate::scope::Scope;
use hunks::Hunk;
pub use problem::PatchProblem;
use std::borrow::Cow;
use std::fmt;
use steps::Step;

/// A content may not grow beyond this by a patch.
pub(crate) const MAX_BYTES: usize = 64 << 20;

/// How many bytes may be searched for the parts of one file.
const MAX_SEARCHED: usize = 256 << 20;

/// Refuses a patch whose parts could not all be looked for in good time.
fn refuse_too_much(parts: usize, bytes: usize) -> Result<(), PatchProblem> {
    match parts.saturating_mul(bytes) > MAX_SEARCHED {
        true => Err(PatchProblem::TooMuch { parts, bytes }),
        false => Ok(()),
    }
}

/// A way to write a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// SEARCH and REPLACE between lines of brackets.
    Blocks,
    /// SEARCH, REPLACE, NEW, APPEND, PREPEND and DELETE as labels of heredocs.
    Labels,
    /// A unified diff.
    Unified,
    /// Sections of files between `*** Begin Patch` and `*** End Patch`.
    Sections,
    /// A script of sed commands.
    Sed,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Blocks => "SEARCH/REPLACE blocks",
            Format::Labels => "<<SEARCH labels",
            Format::Unified => "a unified diff",
            Format::Sections => "*** Begin Patch",
            Format::Sed => "sed commands",
        })
    }
}

/// What one patch says about one file.
#[derive(Debug, Clone)]
pub struct FilePatch {
    /// The file, where the patch names it.
    pub path: Option<String>,
    /// Where the file goes, where the patch moves it.
    pub moved_to: Option<String>,
    /// How the patch was written.
    pub format: Format,
    change: Change,
}

#[derive(Debug, Clone)]
enum Change {
    /// A file that is not there yet.
    Create(String),
    Delete,
    /// Deletes a file whose lines these hunks all remove.
    DeleteLines(Vec<Hunk>),
    Steps(Vec<Step>),
    Hunks(Vec<Hunk>),
    Script(sed::Script),
}

/// What a patch makes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Patched {
    /// It has this content now. The spans are the lines that are new.
    Edited(Edited),
    /// It is gone.
    Deleted,
}

/// The files a patch speaks of, in its order.
pub fn parse(text: &str) -> Result<Vec<FilePatch>, PatchProblem> {
    let text = match text.contains("\r\n") {
        true => Cow::Owned(text.replace("\r\n", "\n")),
        false => Cow::Borrowed(text),
    };
    let text = detect::unfenced(&text);
    let patches = match detect::format(text)? {
        Format::Blocks => blocks::parse(text)?,
        Format::Labels => labels::parse(text)?,
        Format::Unified => unified::parse(text)?,
        Format::Sections => sections::parse(text)?,
        Format::Sed => vec![FilePatch::of(Format::Sed, None, Change::Script(sed::parse(text)?))],
    };
    if patches.is_empty() {
        return Err(PatchProblem::Empty);
    }
    Ok(patches)
}

/// Whether a text is labels from its first word on: `<<` and one of their names. One that merely has such a word in
/// it is not.
#[must_use]
pub fn is_labelled(text: &str) -> bool {
    labels::opens(text)
}

/// What a body is that was given for a file without saying whether it is the content or an edit of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyForm {
    /// The content.
    Content,
    /// An edit: a patch from its first line on, or nothing but `s/a/b/` commands.
    Edit,
    /// Other sed commands, which are no edit here.
    OtherSed,
}

/// Tells by a body alone what it is. One that is not understood as an edit can still be one.
#[must_use]
pub fn body_form(text: &str) -> BodyForm {
    detect::body_form(text)
}

/// Whether files of this name hold patches or scripts, so that a body which looks like one is their content.
#[must_use]
pub fn is_kept_in(path: &str) -> bool {
    [".patch", ".diff", ".sed"].iter().any(|end| path.ends_with(end))
}

/// Whether a patch makes a file that is not there.
#[must_use]
pub fn creates(text: &str) -> bool {
    let is_new = |patch: &FilePatch| matches!(patch.apply(None), Ok(Patched::Edited(_)));
    parse(text).is_ok_and(|patches| patches.iter().any(is_new))
}

/// Applies a patch of one file to that file's content, which is absent where there is no file.
pub fn apply(before: Option<&str>, text: &str) -> Result<Patched, PatchProblem> {
    let patches = parse(text)?;
    match patches.as_slice() {
        [patch] => patch.apply(before),
        _ => Err(PatchProblem::SeveralFiles { files: patches.len() }),
    }
}

impl FilePatch {
    /// Whether it is limited to lines of the file by their numbers.
    #[must_use]
    pub fn names_lines(&self) -> bool {
        match &self.change {
            Change::Steps(steps) => steps.iter().any(Step::names_lines),
            Change::Script(script) => script.names_lines(),
            _ => false,
        }
    }

    /// The same patch where its line numbers mean a text before the edits that made these moves.
    ///
    /// # Errors
    ///
    /// When those edits replaced some of the lines it means, or the text before had no such lines.
    pub fn after_moves(
        mut self,
        moves: &Moves,
        before: &str,
        now: &str,
    ) -> Result<FilePatch, ScopeProblem> {
        let lines_now = |lines: &Scope| moves.scope_now(lines, before, now, false);
        match &mut self.change {
            Change::Steps(steps) => {
                steps.iter_mut().try_for_each(|step| step.move_lines(lines_now))?;
            }
            Change::Script(script) => script.move_lines(lines_now)?,
            _ => {}
        }
        Ok(self)
    }

    fn of(format: Format, path: Option<String>, change: Change) -> FilePatch {
        FilePatch { path, moved_to: None, format, change }
    }

    /// What this patch makes of a content, which is absent where there is no file.
    pub fn apply(&self, before: Option<&str>) -> Result<Patched, PatchProblem> {
        let there = || before.ok_or(PatchProblem::NoFile);
        let edited = match &self.change {
            Change::Create(content) if before.is_none_or(str::is_empty) => {
                Edited::rewritten(before, content.clone())
            }
            Change::Create(_) => return Err(PatchProblem::Exists),
            Change::Delete => return there().map(|_| Patched::Deleted),
            Change::DeleteLines(hunks) => {
                let left = hunks::apply(there()?, hunks)?.content;
                return match left.is_empty() {
                    true => Ok(Patched::Deleted),
                    false => Err(PatchProblem::Leftover { lines: left.lines().count() }),
                };
            }
            Change::Steps(steps) => steps::apply(before, steps)?,
            Change::Hunks(hunks) => hunks::apply(there()?, hunks)?,
            Change::Script(script) => sed::run(script, there()?)?,
        };
        if before == Some(edited.content.as_str()) && self.moved_to.is_none() {
            return Err(PatchProblem::Unchanged);
        }
        let spans = diff::spans(before.unwrap_or_default(), &edited.content);
        Ok(Patched::Edited(Edited { spans, ..edited }))
    }
}
