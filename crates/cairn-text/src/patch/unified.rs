//! Unified diffs, as git writes them and as they are written by hand: numbers and counts may be
//! wrong or missing. Reads them; `hunks` applies them.

use super::detect::{is_fence, refuse_foreign};
use super::hunks::{Hunk, Numbers, Side};
use super::{Change, FilePatch, Format, PatchProblem};

/// What the headers say about one file.
#[derive(Default)]
struct File {
    old: Option<String>,
    new: Option<String>,
    renamed: Option<String>,
    deleted: bool,
    created: bool,
    hunks: Vec<Hunk>,
    /// Whether its `---` and `+++` lines were read.
    named: bool,
}

pub(super) fn parse(text: &str) -> Result<Vec<FilePatch>, PatchProblem> {
    let lines: Vec<&str> = text.lines().collect();
    let mut files: Vec<File> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        if let Some(rest) = line.strip_prefix("diff --git ") {
            files.push(from_git(rest));
        } else if begins_a_file(&lines, at) {
            let open = files.last().is_none_or(|file| file.named || !file.hunks.is_empty());
            if open {
                files.push(File::default());
            }
            if let Some(file) = files.last_mut() {
                file.name(&lines[at][4..], &lines[at + 1][4..]);
            }
            at += 1;
        } else if line.starts_with("@@") {
            if files.is_empty() {
                files.push(File::default());
            }
            let (hunk, next) = hunk(&lines, at)?;
            if let Some(file) = files.last_mut() {
                file.hunks.push(hunk);
            }
            at = next;
            continue;
        } else {
            refuse_foreign(Format::Unified, &lines, at)?;
            let file = files.last_mut().filter(|file| file.hunks.is_empty());
            between(&lines, at, file)?;
        }
        at += 1;
    }
    Ok(files.into_iter().map(File::patch).collect())
}

fn begins_a_file(lines: &[&str], at: usize) -> bool {
    let next = lines.get(at + 1).copied().unwrap_or_default();
    lines[at].starts_with("--- ") && next.starts_with("+++ ")
}

/// `a/x b/x`, as long as both are the same; the lines below say more.
fn from_git(names: &str) -> File {
    let half = names.len() / 2;
    let same = names.get(..half).zip(names.get(half + 1..)).filter(|(old, new)| {
        let bare = |name: &'_ str| name.split_once('/').map(|(_, rest)| rest.to_owned());
        bare(old).is_some() && bare(old) == bare(new)
    });
    let path = same.and_then(|(old, _)| old.split_once('/')).map(|(_, path)| path.to_owned());
    File { old: path.clone(), new: path, ..File::default() }
}

/// A line of a file's headers, or of prose.
fn between(lines: &[&str], at: usize, file: Option<&mut File>) -> Result<(), PatchProblem> {
    let line = lines[at];
    if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
        return Err(PatchProblem::malformed(at, "binary changes cannot be applied to text"));
    }
    if let Some(file) = file {
        if let Some(path) = line.strip_prefix("rename from ") {
            file.old = Some(path.to_owned());
        } else if let Some(path) = line.strip_prefix("rename to ") {
            file.renamed = Some(path.to_owned());
        }
        file.deleted |= line.starts_with("deleted file mode");
        file.created |= line.starts_with("new file mode");
    }
    Ok(())
}

impl File {
    fn name(&mut self, old: &str, new: &str) {
        let bare = |name: &str| name.split('\t').next().unwrap_or_default().trim().to_owned();
        let (old, new) = (bare(old), bare(new));
        self.created |= old == "/dev/null";
        self.deleted |= new == "/dev/null";
        let prefixed =
            (old.starts_with("a/") || self.created) && (new.starts_with("b/") || self.deleted);
        let path = |name: &str| match name {
            "/dev/null" => None,
            name if prefixed => Some(name[2..].to_owned()),
            name => Some(name.to_owned()),
        };
        (self.old, self.new) = (path(&old), path(&new));
        self.named = true;
    }

    fn patch(self) -> FilePatch {
        let path =
            if self.created { self.new.clone() } else { self.old.clone().or(self.new.clone()) };
        let moved = self.renamed.or(self.new.filter(|new| Some(new) != path.as_ref()));
        let change = match (self.created, self.deleted) {
            (true, _) => Change::Create(created(&self.hunks)),
            (_, true) if self.hunks.is_empty() => Change::Delete,
            (_, true) => Change::DeleteLines(self.hunks),
            _ => Change::Hunks(self.hunks),
        };
        FilePatch { path, moved_to: moved, format: Format::Unified, change }
    }
}

/// The content of a new file: all lines that are added.
fn created(hunks: &[Hunk]) -> String {
    let lines = hunks.iter().flat_map(|hunk| &hunk.lines).filter(|(side, _)| *side != Side::Old);
    let mut text: String = lines.map(|(_, line)| format!("{line}\n")).collect();
    if hunks.last().is_some_and(|hunk| hunk.open.1) {
        text.pop();
    }
    text
}

/// One hunk from its header on, and the line after it.
fn hunk(lines: &[&str], from: usize) -> Result<(Hunk, usize), PatchProblem> {
    let mut hunk = Hunk { numbers: numbers(lines[from]), ..Hunk::default() };
    let mut left = hunk.numbers.map_or((0, 0), |n| (n.old, n.new));
    let (mut at, mut empty) = (from + 1, 0);
    while at < lines.len() {
        let line = lines[at];
        let over = left == (0, 0) || hunk.numbers.is_none();
        let header = begins_a_file(lines, at)
            && lines.get(at + 2).is_none_or(|l| l.starts_with("@@") || l.is_empty());
        if line.starts_with("@@")
            || line.starts_with("diff --git ")
            || over && header
            || is_fence(line)
        {
            break;
        }
        let (side, text) = match line.chars().next() {
            None => (Side::Both, ""),
            Some(' ') => (Side::Both, &line[1..]),
            Some('-') => (Side::Old, &line[1..]),
            Some('+') => (Side::New, &line[1..]),
            Some('\\') => {
                let side = hunk.lines.last().map(|(side, _)| *side);
                hunk.open.0 |= side != Some(Side::New);
                hunk.open.1 |= side != Some(Side::Old);
                at += 1;
                continue;
            }
            Some(_) if left == (0, 0) && hunk.numbers.is_some() => break,
            Some(_) => {
                let why = "a line of a hunk must begin with a blank, + or -";
                return Err(PatchProblem::malformed(at, why));
            }
        };
        left.0 = left.0.saturating_sub(usize::from(side != Side::New));
        left.1 = left.1.saturating_sub(usize::from(side != Side::Old));
        empty = if line.is_empty() { empty + 1 } else { 0 };
        hunk.lines.push((side, text.to_owned()));
        at += 1;
    }
    // Empty lines after a hunk are not a part of it, or context that it can do without.
    if !hunk.is_counted() {
        hunk.lines.truncate(hunk.lines.len() - empty);
    }
    Ok((hunk, at))
}

/// `@@ -1,3 +1,4 @@`; none where the header has no numbers.
fn numbers(header: &str) -> Option<Numbers> {
    let mut words = header.strip_prefix("@@ -")?.split_whitespace();
    let pair = |text: &str| {
        let (first, count) = text.split_once(',').unwrap_or((text, "1"));
        Some((first.parse::<usize>().ok()?, count.parse::<usize>().ok()?))
    };
    let (first, old) = pair(words.next()?)?;
    let (_, new) = pair(words.next()?.strip_prefix('+')?)?;
    Some(Numbers { first, old, new })
}
