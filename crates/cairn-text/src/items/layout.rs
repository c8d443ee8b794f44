//! How new items are laid out among their neighbours: what separates them, how far they are indented,
//! and whether all of them stand on one line. A line feed within an item is always a blank of its
//! layout, since no JSON string holds one.

use super::json::{Kind, Outline};
use std::ops::Range;

/// How far items are indented where no neighbour tells.
const INDENT: &str = "  ";

/// How items stand in a document.
pub(super) struct Layout<'a> {
    /// How lines end.
    feed: &'static str,
    /// What stands before each line of an item but its first.
    indent: String,
    /// What stands before the closing bracket of a document that had no items.
    base: &'a str,
    /// A comma and the blanks around it.
    separator: String,
    is_one_line: bool,
}

impl<'a> Layout<'a> {
    /// The layout at the item with this index, or after the last one.
    pub(super) fn of(text: &'a str, outline: &Outline, index: usize) -> Layout<'a> {
        let feed = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let base = indentation(text, outline.at.start);
        let items = outline.items.as_slice();
        let (separator, near) = match items {
            [] => (format!(",{feed}{base}{INDENT}"), outline.at.start),
            [only] => match &text[outline.at.start..only.start] {
                lead if lead.contains('\n') => (format!(",{}", &lead[1..]), only.start),
                _ => (", ".to_owned(), only.start),
            },
            _ => {
                let after = index.clamp(1, items.len() - 1);
                let gap = items[after - 1].value.end..items[after].start;
                (text[gap].to_owned(), items[index.min(items.len() - 1)].start)
            }
        };
        let indent = match separator.rsplit_once('\n') {
            Some((_, indent)) if !indent.contains(',') => indent,
            _ => indentation(text, near),
        };
        let is_one_line = match outline.kind {
            Kind::Scalar => false,
            Kind::Array | Kind::Object => {
                !items.is_empty() && !text[outline.at.clone()].contains('\n')
            }
        };
        Layout { feed, indent: indent.to_owned(), base, separator, is_one_line }
    }

    /// An item as it stands here.
    pub(super) fn item(&self, item: &str) -> String {
        if self.is_one_line { on_one_line(item) } else { self.indented(item) }
    }

    /// An item with its lines indented as its neighbours are. Its last line, which closes it, tells how
    /// far it was indented before.
    fn indented(&self, item: &str) -> String {
        let mut lines = item.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
        let mut out = lines.next().unwrap_or_default().to_owned();
        let last = item.rsplit('\n').next().unwrap_or_default();
        let before = &last[..last.len() - last.trim_start_matches([' ', '\t']).len()];
        for line in lines {
            out.push_str(self.feed);
            let rest = line.strip_prefix(before).unwrap_or_else(|| line.trim_start());
            if !rest.is_empty() {
                out.push_str(&self.indent);
            }
            out.push_str(rest);
        }
        out
    }
}

/// The document with these items replaced by new ones.
pub(super) fn put<'a>(
    text: &str,
    outline: &Outline,
    range: Range<usize>,
    new: impl Iterator<Item = &'a str>,
) -> String {
    let layout = Layout::of(text, outline, range.start);
    let new: Vec<String> = new.map(|item| layout.item(item)).collect();
    let joined = new.join(&layout.separator);
    let items = &outline.items;
    let inner = outline.at.start + 1..outline.at.end.saturating_sub(1);
    let end = |index: usize| items[index].value.end;
    let (at, put) = match (range.is_empty(), new.is_empty()) {
        (true, true) => (0..0, String::new()),
        (true, false) if items.is_empty() => {
            let Layout { feed, indent, base, .. } = &layout;
            (inner, format!("{feed}{indent}{joined}{feed}{base}"))
        }
        (true, false) if range.start < items.len() => {
            let at = items[range.start].start;
            (at..at, joined + &layout.separator)
        }
        (true, false) => {
            let at = end(range.start - 1);
            (at..at, layout.separator + &joined)
        }
        (false, true) if range.len() == items.len() => (inner, String::new()),
        (false, true) if range.start == 0 => {
            (items[0].start..items[range.end].start, String::new())
        }
        (false, true) => (end(range.start - 1)..end(range.end - 1), String::new()),
        (false, false) => (items[range.start].start..end(range.end - 1), joined),
    };
    format!("{}{put}{}", &text[..at.start], &text[at.end..])
}

/// The blanks that the line of this byte begins with.
fn indentation(text: &str, byte: usize) -> &str {
    let start = text[..byte].rfind('\n').map_or(0, |at| at + 1);
    let line = &text[start..byte];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// An item without its line feeds, and without the blanks beside them.
fn on_one_line(item: &str) -> String {
    let mut out = String::with_capacity(item.len());
    let mut lines = item.split('\n').map(|line| line.trim_matches([' ', '\t', '\r']));
    out.push_str(lines.next().unwrap_or_default());
    for line in lines.filter(|line| !line.is_empty()) {
        if !out.ends_with(['[', '{']) && !line.starts_with([']', '}']) {
            out.push(' ');
        }
        out.push_str(line);
    }
    out
}
