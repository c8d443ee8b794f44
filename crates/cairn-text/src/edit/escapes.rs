//! Texts escaped once too often: a backslash and an `n` where a line ends, `\"` for a quote.

use super::problem::Doubt;

/// What follows a backslash in an escape, and what it stands for.
const KINDS: [(char, char); 5] = [('n', '\n'), ('t', '\t'), ('"', '"'), ('\'', '\''), ('\\', '\\')];
/// The sets that are taken together: everything, or quotes only, or line ends and tabs only.
const SETS: [&str; 3] = ["nt\"'\\", "\"'", "nt"];

/// A reading of an old text without some of its backslashes.
pub(super) struct Reading {
    kinds: String,
    pub(super) old: String,
}

/// The readings worth trying, each with different kinds of escapes undone.
pub(super) fn readings(old: &str) -> Vec<Reading> {
    let present = kinds_in(old);
    let mut found: Vec<Reading> = Vec::new();
    for set in SETS {
        let kinds: String = set.chars().filter(|kind| present.contains(*kind)).collect();
        let twice = found.iter().any(|reading| reading.kinds == kinds);
        if !kinds.is_empty() && !twice && !has_plain(old, &kinds) {
            let old = undone(old, &kinds);
            found.push(Reading { kinds, old });
        }
    }
    found
}

impl Reading {
    /// The new text read the same way. It is certain when it has none of these escapes, or shares
    /// some of them with the old text, and has no kind of escape that the old text says nothing of.
    pub(super) fn read_new(&self, old: &str, new: &str) -> Result<String, Doubt> {
        let (in_old, in_new) = (kinds_in(old), kinds_in(new));
        if !in_new.chars().all(|kind| in_old.contains(kind)) {
            return Err(Doubt::Escapes);
        }
        if !in_new.chars().any(|kind| self.kinds.contains(kind)) {
            return Ok(new.to_owned());
        }
        // A new text that has more in common with what stands there was not escaped like the old one.
        let escaped = in_common(old, new) > in_common(&self.old, new);
        if escaped && self.shared(old, new) && !has_plain(new, &self.kinds) {
            return Ok(undone(new, &self.kinds));
        }
        Err(Doubt::Escapes)
    }

    /// Whether both texts begin or end with the same escape among other things.
    fn shared(&self, old: &str, new: &str) -> bool {
        let (old, new) = (units(old), units(new));
        let same = |pair: &(&&str, &&str)| pair.0 == pair.1;
        let ours = |unit: &str| {
            unit.strip_prefix('\\')
                .is_some_and(|kind| !kind.is_empty() && self.kinds.contains(kind))
        };
        let mut head = old.iter().zip(&new).take_while(same);
        let mut tail = old.iter().rev().zip(new.iter().rev()).take_while(same);
        head.any(|(unit, _)| ours(unit)) || tail.any(|(unit, _)| ours(unit))
    }
}

/// How many bytes two texts begin and end with in common.
fn in_common(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let head = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let tails = a[head..].iter().rev().zip(b[head..].iter().rev());
    head + tails.take_while(|(a, b)| a == b).count()
}

/// The characters of a text, each escape being one.
fn units(text: &str) -> Vec<&str> {
    let mut units = Vec::with_capacity(text.len());
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        let last = if c == '\\' { chars.next() } else { None };
        let end = last.map_or(at + c.len_utf8(), |(at, c)| at + c.len_utf8());
        units.push(&text[at..end]);
    }
    units
}

/// The kinds of escapes in a text.
fn kinds_in(text: &str) -> String {
    let mut found = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            continue;
        }
        match chars.next() {
            Some(kind) if KINDS.iter().any(|(k, _)| *k == kind) && !found.contains(kind) => {
                found.push(kind);
            }
            _ => {}
        }
    }
    found
}

/// Whether a text also has unescaped what these escapes stand for. A last line end does not count.
fn has_plain(text: &str, kinds: &str) -> bool {
    let text = text.strip_suffix('\n').unwrap_or(text);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\\' {
            // A line end is one, whatever stands before it.
            if chars.next() == Some('\n') && kinds.contains('n') {
                return true;
            }
        } else if KINDS.iter().any(|(kind, plain)| *plain == c && kinds.contains(*kind)) {
            return true;
        }
    }
    false
}

fn undone(text: &str, kinds: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let next = if c == '\\' { chars.next() } else { None };
        let plain =
            next.and_then(|kind| KINDS.iter().find(|(k, _)| *k == kind && kinds.contains(kind)));
        match (plain, next) {
            (Some((_, plain)), _) => out.push(*plain),
            (None, Some(next)) => out.extend([c, next]),
            (None, None) => out.push(c),
        }
    }
    out
}
