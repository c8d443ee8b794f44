//! What is told of a text by a scope or a matcher, and what an edit within a scope makes of it; the
//! same for a file and for any entry.

use crate::look::read::of_bytes;
use crate::settled::{Performed, Refusal};
use cairn_text::edit::Edited;
use cairn_text::matcher::{BadMatcher, Matched, Matcher, listing};
use cairn_text::scope::Scope;
use cairn_text::{diff, items, mime, slice};
use cairn_types::{Read, Status};

/// The part of a text that is asked for, told as its type is: numbered lines, or a tree as it stands.
pub(crate) fn read(
    name: &str,
    content: &str,
    mime: &str,
    read: &Read,
) -> Result<Performed, Refusal> {
    match (&read.matcher, &read.scope) {
        (Some(expression), scope) => {
            let found = matched(content, mime, expression)?;
            let page = Read { hashes: false, matcher: None, ..read.clone() };
            let read = match scope {
                Some(scope) => lines_of(name, &found.text, scope, &page)?,
                None => page,
            };
            let told = of_bytes(name, found.text.as_bytes(), &read, false)?;
            Ok(Performed { status: found.status, ..told })
        }
        (None, Some(scope)) if mime::is_json(mime) => {
            let selected = items::select(content, &scope_of(scope)?);
            let selected = selected.map_err(|why| refused(why.status(), name, &why))?;
            if selected.last < selected.first {
                let text = format!("{scope} selects no items");
                return Err(Refusal::new(Status::NOTHING_FOUND, text));
            }
            let all = Read { first: 1, limit: 0, hashes: false, ..read.clone() };
            of_bytes(name, selected.text.as_bytes(), &all, false)
        }
        (None, Some(scope)) => match scope_of(scope)? {
            columns @ Scope::Span(..) => {
                let selected = slice::select(content, &columns);
                let selected = selected.map_err(|why| refused(why.status(), name, &why))?;
                Ok(Performed::told(Status::OK, selected.text))
            }
            _ => of_bytes(name, content.as_bytes(), &lines_of(name, content, scope, read)?, true),
        },
        (None, None) => of_bytes(name, content.as_bytes(), read, mime::is_line_navigable(mime)),
    }
}

/// The lines that a scope selects, as a window.
fn lines_of(name: &str, content: &str, scope: &str, read: &Read) -> Result<Read, Refusal> {
    let selected = slice::select(content, &scope_of(scope)?);
    let selected = selected.map_err(|why| refused(why.status(), name, &why))?;
    match selected.last < selected.first {
        true => Err(Refusal::new(Status::NOTHING_FOUND, format!("{scope} selects no lines"))),
        false => {
            let (first, last) = (selected.first as u64, selected.last as u64);
            Ok(Read { first, limit: last - first + 1, scope: None, ..read.clone() })
        }
    }
}

/// What matches, one result per line.
fn matched(content: &str, mime: &str, expression: &str) -> Result<Performed, Refusal> {
    let matcher = Matcher::parse(expression).map_err(|why| bad_matcher(&why))?;
    Ok(match matcher.over(content, mime) {
        Matched::Hits(hits) => Performed::told(Status::OK, listing(&hits)),
        Matched::None => Performed::told(Status::NOTHING_FOUND, "nothing matches"),
        Matched::Unreadable { reason } => {
            Performed::told(Status::RAW, format!("{reason}; as it stands:\n{content}"))
        }
        Matched::TooMuch { reason } => return Err(Refusal::new(Status::UNPROCESSABLE, reason)),
    })
}

/// That a matcher is none, or of a kind that is not there.
pub(crate) fn bad_matcher(why: &BadMatcher) -> Refusal {
    let status = match why {
        BadMatcher::NotYet(_) => Status::NOT_IMPLEMENTED,
        _ => Status::BAD_REQUEST,
    };
    Refusal::new(status, why.to_string())
}

fn scope_of(text: &str) -> Result<Scope, Refusal> {
    Scope::parse(text).map_err(|why| Refusal::new(Status::BAD_REQUEST, why.to_string()))
}

fn refused(status: Status, name: &str, why: &dyn std::fmt::Display) -> Refusal {
    Refusal::new(status, format!("{name}: {why}"))
}

/// A text with what a scope selects exchanged for something else.
pub(crate) fn spliced(
    name: &str,
    old: &str,
    (scope, body): (&str, &str),
    mime: &str,
) -> Result<Edited, Refusal> {
    let scope = scope_of(scope)?;
    let body = Some(body);
    let (content, moves) = match mime::is_json(mime) {
        true => items::splice(old, &scope, body)
            .map(|spliced| (spliced.text, spliced.moves))
            .map_err(|why| refused(why.status(), name, &why))?,
        false => slice::splice(old, &scope, body)
            .map(|spliced| (spliced.text, spliced.moves))
            .map_err(|why| refused(why.status(), name, &why))?,
    };
    let spans = diff::spans(old, &content);
    Ok(Edited { content, spans, notes: Vec::new(), moves })
}

/// Refuses what its name says is JSON and is not.
pub(crate) fn check_json(name: &str, content: &str) -> Result<(), Refusal> {
    match items::is_document(content) {
        true => Ok(()),
        false => {
            let text = format!("{name} is JSON by its name, and this is not");
            Err(Refusal::new(Status::BAD_REQUEST, text))
        }
    }
}
