//! What a person is shown of a command's changes: diffs, and in one line each what has none. Bounded; what
//! does not fit is named, and beyond that counted. Nothing that is committed is left unmentioned.

use super::gathered::{Count, Gathered, Piece};
use super::git::{self, Groups};
use super::renames::Renames;
use crate::folders::path;
use cairn_text::diff;
use cairn_text::shown::text_for_person;
use cairn_types::{ChangeKind, FileKind, FileState};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::fmt::Write;

/// How much text in all.
const MOST: usize = 200 << 10;
/// How much of one file's diff.
const MOST_OF_ONE: usize = 48 << 10;
/// How many more paths are named after that.
const NAMED: usize = 300;
/// How many lines of a file that goes.
const GONE_LINES: usize = 5;
/// How many paths a single line names.
const IN_LINE: usize = 8;

/// How many paths in whole directories are named.
const PRECIOUS: usize = 20;

/// All that a person is shown.
pub(super) fn of(gathered: &Gathered, groups: &Groups, renames: &Renames) -> String {
    let mut show = Show { out: String::new(), gathered, renames, unshown: Vec::new() };
    for line in &groups.lines {
        show.line(line);
    }
    for (from, to, files) in renames.grouped() {
        match files {
            1 => show.line(&format!("renamed {from} → {to}")),
            n => show.line(&format!("renamed {from} → {to} ({n} files)")),
        }
    }
    let parents = gathered.parents();
    for piece in gathered.pieces.iter().filter(|piece| piece.ignored.is_none()) {
        if !git::is_grouped(gathered, &piece.path) {
            show.piece(piece, &parents);
        }
    }
    show.rest();
    show.ignored();
    show.precious();
    show.left_out();
    show.out
}

struct Show<'a> {
    out: String,
    gathered: &'a Gathered,
    renames: &'a Renames,
    /// What did not fit.
    unshown: Vec<&'a Piece>,
}

impl<'a> Show<'a> {
    fn line(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
    }

    fn piece(&mut self, piece: &'a Piece, parents: &HashSet<&str>) {
        if self.renames.to.contains_key(&piece.path) {
            return;
        }
        if self.out.len() >= MOST {
            self.unshown.push(piece);
            return;
        }
        let text = self.text(piece, parents);
        match self.out.len() + text.len() > MOST + MOST_OF_ONE / 8 {
            true => self.unshown.push(piece),
            false => self.out.push_str(&text),
        }
    }

    /// One change: its mode and owner where they differ, and what it is.
    fn text(&self, piece: &'a Piece, parents: &HashSet<&str>) -> String {
        let name = path::shown(piece.path.as_bytes());
        let (before, after) = (piece.change.before.as_ref(), piece.change.after.as_ref());
        let mut text = attributes(&name, self.source(piece).or(before), after);
        let is_parent = parents.contains(piece.path.as_str());
        match piece.kinds() {
            (None, Some(FileKind::Directory)) if is_parent => {}
            (None, Some(FileKind::Directory)) => text.push_str(&format!("created {name}/\n")),
            (Some(FileKind::Directory), None) if is_parent && piece.counts.0.files == 0 => {}
            (Some(FileKind::Directory), None) => {
                text.push_str(&format!("removed {name}/{}\n", counted(piece.counts.0)));
            }
            (Some(FileKind::Directory), Some(FileKind::Directory)) => {}
            (Some(FileKind::Symlink), Some(FileKind::Symlink)) => {
                text.push_str(&format!("link {name}: {} → {}\n", link(before), link(after)));
            }
            (None, Some(FileKind::Symlink)) => {
                text.push_str(&format!("link {name} → {}\n", link(after)));
            }
            (Some(FileKind::Symlink), None) => {
                text.push_str(&format!("removed link {name} → {}\n", link(before)));
            }
            (Some(was), Some(is)) if was != is => {
                text.push_str(&format!("{name}: {} becomes {}\n", noun(was), noun(is)));
                if is == FileKind::Symlink {
                    text.push_str(&format!("link {name} → {}\n", link(after)));
                }
                text.push_str(&self.file(piece, &name));
            }
            _ if self.renames.from.contains_key(&piece.path) => {}
            _ => text.push_str(&self.file(piece, &name)),
        }
        text
    }

    /// What a file was that only changed its place.
    fn source(&self, piece: &Piece) -> Option<&'a FileState> {
        let from = self.renames.from.get(&piece.path)?;
        let pieces = &self.gathered.pieces;
        let at = pieces.binary_search_by(|one| one.path.cmp(from)).ok()?;
        pieces[at].change.before.as_ref()
    }

    /// The diff of a file, or what there is to say of one that has none.
    fn file(&self, piece: &'a Piece, name: &str) -> String {
        let side = |state: Option<&'a FileState>| -> Text<'a> {
            match state.filter(|state| state.kind == FileKind::File) {
                None => Text::None,
                Some(state) => match self.gathered.bytes.of(Some(state)) {
                    None => Text::Unread(state.bytes.unwrap_or(0)),
                    Some(bytes) => match text_for_person(bytes) {
                        Some(text) => Text::Lines(text, bytes.len() as u64),
                        None => Text::Binary(bytes.len() as u64),
                    },
                },
            }
        };
        let hash = |state: &Option<FileState>| state.as_ref().and_then(|state| state.hash);
        let differs = hash(&piece.change.before) != hash(&piece.change.after);
        match (side(piece.change.before.as_ref()), side(piece.change.after.as_ref())) {
            (Text::None, Text::None) => String::new(),
            (Text::None, Text::Lines(after, _)) if after.is_empty() => {
                format!("created {name}, empty\n")
            }
            (Text::Lines(before, _), Text::None) if before.is_empty() => {
                format!("removed {name}, empty\n")
            }
            (Text::None, Text::Lines(after, _)) => {
                bounded(diff::unified("/dev/null", &format!("b/{name}"), "", &after))
            }
            (Text::Lines(before, _), Text::None) => gone(name, &before),
            // They may differ in bytes of which only their place is shown.
            (Text::Lines(before, was), Text::Lines(after, is)) if differs && before == after => {
                bytes_changed(name, was, is)
            }
            (Text::Lines(before, _), Text::Lines(after, _)) => {
                bounded(diff::unified(&format!("a/{name}"), &format!("b/{name}"), &before, &after))
            }
            (Text::None, after) => format!("created {name}, {}\n", after.told()),
            (before, Text::None) => format!("removed {name}, {}\n", before.told()),
            (Text::Binary(was), Text::Binary(is)) => bytes_changed(name, was, is),
            (before, after) => format!("{name}: {} → {}\n", before.told(), after.told()),
        }
    }

    /// What did not fit: by name, and beyond that by count.
    fn rest(&mut self) {
        let unshown = std::mem::take(&mut self.unshown);
        if unshown.is_empty() {
            return;
        }
        self.line(&format!("not shown here, for want of room, {}:", paths(unshown.len())));
        for piece in unshown.iter().take(NAMED) {
            self.line(&format!(
                "  {} {}",
                verb(piece.change.kind),
                path::shown(piece.path.as_bytes())
            ));
        }
        if unshown.len() > NAMED {
            self.line(&format!("  … {} more", unshown.len() - NAMED));
        }
    }

    /// The ignored ones, made and removed, in a line each.
    fn ignored(&mut self) {
        for (is_removal, lead) in [(false, "and"), (true, "and removes")] {
            let (mut count, mut tops) = (Count::default(), BTreeSet::new());
            for piece in &self.gathered.pieces {
                let Some(top) = piece.shown_top() else { continue };
                if piece.change.after.is_none() != is_removal {
                    continue;
                }
                count.add(if is_removal { piece.counts.0 } else { piece.counts.1 });
                tops.insert(top);
            }
            if tops.is_empty() {
                continue;
            }
            let files = match count.files {
                1 => "1 ignored file".to_owned(),
                n => format!("{} ignored files", thousands(n)),
            };
            let tops: Vec<String> = tops.into_iter().collect();
            let line = format!("{lead} {files}, {}: {}", sized(count.bytes), some(&tops));
            self.line(&line);
        }
    }

    /// What is asked about in directories that go or come whole.
    fn precious(&mut self) {
        let pieces = self.gathered.pieces.iter();
        let paths: Vec<String> = pieces
            .flat_map(|piece| &piece.precious)
            .map(|path| path::shown(path.as_bytes()))
            .collect();
        if !paths.is_empty() {
            let mut named = paths[..paths.len().min(PRECIOUS)].to_vec();
            if paths.len() > PRECIOUS {
                named.push(format!("{} more", paths.len() - PRECIOUS));
            }
            self.line(&format!("among them: {}", named.join(", ")));
        }
    }

    /// What is not committed, and what undo does not bring back.
    fn left_out(&mut self) {
        let gathered = self.gathered;
        if !gathered.passed_over.is_empty() {
            let paths: Vec<String> =
                gathered.passed_over.iter().map(|p| path::shown(p.as_bytes())).collect();
            self.line(&format!(
                "left out, since it was changed outside meanwhile: {}",
                some(&paths)
            ));
        }
        if !gathered.left_out.is_empty() {
            let told: Vec<String> =
                gathered.left_out.iter().map(|(path, why)| format!("{path} ({why})")).collect();
            self.line(&format!("left out: {}", some(&told)));
        }
        if !gathered.hard_links.is_empty() {
            let paths: Vec<String> =
                gathered.hard_links.iter().map(|p| path::shown(p.as_bytes())).collect();
            let (paths, other) = (some(&paths), "other names, which stay as they are");
            let has = if gathered.hard_links.len() == 1 { "has" } else { "have" };
            self.line(&format!("undo does not join hard links again: {paths} {has} {other}"));
        }
    }
}

/// A file's content, as far as it can be shown.
enum Text<'a> {
    None,
    /// As it is shown, and its length in bytes.
    Lines(Cow<'a, str>, u64),
    Binary(u64),
    Unread(u64),
}

impl Text<'_> {
    fn told(self) -> String {
        match self {
            Text::None => "nothing".to_owned(),
            Text::Lines(text, _) => match text.lines().count() {
                1 => "1 line".to_owned(),
                n => format!("{n} lines"),
            },
            Text::Binary(bytes) => format!("binary, {}", sized(bytes)),
            Text::Unread(bytes) => format!("{}, not read", sized(bytes)),
        }
    }
}

fn bytes_changed(name: &str, was: u64, is: u64) -> String {
    format!("{name}: binary, {} → {}\n", sized(was), sized(is))
}

/// Mode and owner, where they change or are unusual from the beginning.
fn attributes(name: &str, before: Option<&FileState>, after: Option<&FileState>) -> String {
    let Some(after) = after.filter(|after| after.kind != FileKind::Symlink) else {
        return String::new();
    };
    let mut text = String::new();
    let before = before.filter(|before| before.kind == after.kind);
    match before {
        Some(before) if before.mode != after.mode => {
            let _ = writeln!(text, "{name}: mode {:o} → {:o}", before.mode, after.mode);
        }
        None if after.kind == FileKind::File && after.mode & 0o7111 != 0 => {
            let _ = writeln!(text, "{name}: mode {:o}", after.mode);
        }
        _ => {}
    }
    if let Some(before) = before.filter(|b| (b.uid, b.gid) != (after.uid, after.gid)) {
        let owner = |state: &FileState| {
            format!("{}:{}", state.uid.unwrap_or_default(), state.gid.unwrap_or_default())
        };
        let _ = writeln!(text, "{name}: owner {} → {}", owner(before), owner(after));
    }
    let had = before.and_then(|before| before.attributes.as_deref()).unwrap_or_default();
    let has = after.attributes.as_deref().unwrap_or_default();
    let changed: Vec<String> = has
        .iter()
        .filter(|attribute| !had.contains(attribute))
        .map(|attribute| format!("{} set", path::shown(attribute.name.as_bytes())))
        .chain(
            had.iter()
                .filter(|had| !has.iter().any(|has| has.name == had.name))
                .map(|attribute| format!("{} removed", path::shown(attribute.name.as_bytes()))),
        )
        .collect();
    if !changed.is_empty() {
        let _ = writeln!(text, "{name}: attributes: {}", some(&changed));
    }
    text
}

/// A file that goes: how it began.
fn gone(name: &str, text: &str) -> String {
    let lines = text.lines().count();
    let mut out = format!("--- a/{name}\n+++ /dev/null\n@@ -1,{lines} +0,0 @@\n");
    for line in text.lines().take(GONE_LINES) {
        let cut = line.char_indices().nth(200).map_or(line, |(at, _)| &line[..at]);
        let _ = writeln!(out, "-{cut}");
    }
    if lines > GONE_LINES {
        let _ = writeln!(out, "… {} more lines go with it", lines - GONE_LINES);
    }
    out
}

fn bounded(mut diff: String) -> String {
    if diff.len() <= MOST_OF_ONE {
        return diff;
    }
    let mut at = MOST_OF_ONE;
    while !diff.is_char_boundary(at) {
        at -= 1;
    }
    let at = diff[..at].rfind('\n').map_or(at, |at| at + 1);
    let more = diff[at..].lines().count();
    diff.truncate(at);
    if !diff.ends_with('\n') {
        diff.push('\n');
    }
    let _ = writeln!(diff, "… {more} more lines of this diff");
    diff
}

fn link(state: Option<&FileState>) -> String {
    let link = state.and_then(|state| state.link.as_deref()).unwrap_or_default();
    path::shown(link.as_bytes())
}

fn noun(kind: FileKind) -> &'static str {
    match kind {
        FileKind::File => "a file",
        FileKind::Directory => "a directory",
        FileKind::Symlink => "a link",
    }
}

pub(super) fn verb(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Created => "created",
        ChangeKind::Modified => "changed",
        ChangeKind::Deleted => "removed",
    }
}

fn counted(count: Count) -> String {
    match count.files {
        0 => String::new(),
        1 => format!(" (1 file, {})", sized(count.bytes)),
        n => format!(" ({} files, {})", thousands(n), sized(count.bytes)),
    }
}

fn paths(count: usize) -> String {
    if count == 1 { "1 path".to_owned() } else { format!("{count} paths") }
}

/// The first of some paths, and how many more there are.
pub(super) fn some(paths: &[String]) -> String {
    let mut named = paths[..paths.len().min(IN_LINE)].to_vec();
    if paths.len() > IN_LINE {
        named.push(format!("{} more", paths.len() - IN_LINE));
    }
    named.join(", ")
}

/// A number of bytes, for people.
fn sized(bytes: u64) -> String {
    match bytes {
        1 => "1 byte".to_owned(),
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{} KiB", bytes.div_ceil(1024)),
        _ => format!("{} MiB", thousands(bytes.div_ceil(1 << 20))),
    }
}

fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
