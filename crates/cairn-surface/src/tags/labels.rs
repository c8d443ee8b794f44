//! The framing of edit labels in a body. A last label that gives a whole text and is not closed is closed by the
//! body's end; anything else that does not hold together is refused. What labels do is the edit language's.

use cairn_text::patch;

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
    let closed = last_name(body).filter(|name| !LOOKING.iter().any(|word| name.starts_with(word)));
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

/// The name of the last label that opens.
fn last_name(body: &str) -> Option<&str> {
    let opens = |(at, _): &(usize, &str)| {
        let is_free = |c: char| c.is_whitespace() || c == '>';
        body[..*at].chars().next_back().is_none_or(is_free)
            && body[at + 2..].starts_with(|c: char| c.is_ascii_uppercase())
    };
    let (at, _) = body.match_indices("<<").filter(opens).last()?;
    let name = &body[at + 2..];
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    Some(&name[..name.find(|c| !is_name(c)).unwrap_or(name.len())])
}
