//! The framing of edit labels in a body. A last label that gives a whole text and is not closed is closed by the
//! body's end; anything else that does not hold together is refused. What labels do is the edit language's.

use cairn_text::patch;
use std::collections::HashSet;

/// Names of labels that look for a text: where one ends cannot be guessed.
const LOOKING: [&str; 2] = ["SEARCH", "DELETE"];

/// Labels that hold together.
pub(super) enum Framed {
    AsWritten,
    /// The last label, of this name, was closed.
    Closed(String, String),
}

/// Checks the labels of a body.
pub(super) fn framed(body: &str) -> Result<Framed, String> {
    let Err(problem) = patch::parse(body) else { return Ok(Framed::AsWritten) };
    let closed = last_open(body).filter(|name| !LOOKING.iter().any(|word| name.starts_with(word)));
    let closed = closed.filter(|_| !is_closed_by_another(body));
    let closed = closed.map(|name| {
        let line_end = if body.ends_with('\n') { "" } else { "\n" };
        (format!("{body}{line_end}{name}\n"), name)
    });
    match closed {
        Some((closed, name)) if patch::parse(&closed).is_ok() => {
            Ok(Framed::Closed(closed, name.to_owned()))
        }
        _ => Err(problem.to_string()),
    }
}

/// Whether the name of another label stands alone in a line behind the last that opens: where that ends is doubtful.
fn is_closed_by_another(body: &str) -> bool {
    let (mut names, mut is_closed) = (HashSet::new(), false);
    for line in body.lines().map(str::trim) {
        match line.strip_prefix("<<").filter(|_| patch::is_labelled(line)) {
            Some(name) => {
                let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
                names.insert(&name[..name.find(|c| !is_name(c)).unwrap_or(name.len())]);
                is_closed = false;
            }
            None => is_closed |= names.contains(line),
        }
    }
    is_closed
}

/// The name of the last label that opens, if it stands alone in its line and something stands behind it: what was not
/// begun is not closed, either.
fn last_open(body: &str) -> Option<&str> {
    let mut from = body.len();
    loop {
        let start = body[..from].rfind('\n').map_or(0, |at| at + 1);
        let line = body[start..from].trim();
        if patch::is_labelled(line) {
            let name = line.strip_prefix("<<")?;
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let (name, rest) = name.split_at(name.find(|c| !is_name(c)).unwrap_or(name.len()));
            let is_alone = rest.is_empty() || (rest.starts_with('[') && rest.ends_with(']'));
            return (is_alone && !body[from..].trim().is_empty()).then_some(name);
        }
        from = start.checked_sub(1)?;
    }
}
