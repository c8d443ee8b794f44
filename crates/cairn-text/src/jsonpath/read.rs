//! Reads queries: segments and selectors. What stands in a filter is read by `logic`.

use super::BadPath;
use super::ast::{From, Query, Reach, Segment, Selector};
use super::cursor::Cursor;
use super::{logic, strings};

/// A query that is the whole text.
pub(super) fn whole(cursor: &mut Cursor<'_>) -> Result<Query, BadPath> {
    if cursor.peek() != Some('$') {
        return Err(cursor.bad("a query begins with $"));
    }
    let query = query(cursor)?.ok_or_else(|| cursor.bad("a query begins with $"))?;
    match cursor.peek() {
        None => Ok(query),
        Some(_) => Err(cursor.bad("the query ends here; . or .. or [ may follow it")),
    }
}

/// A query from `$` or `@`, if one begins here.
pub(super) fn query(cursor: &mut Cursor<'_>) -> Result<Option<Query>, BadPath> {
    let from = match cursor.peek() {
        Some('$') => From::Root,
        Some('@') => From::Current,
        _ => return Ok(None),
    };
    cursor.next();
    let mut segments = Vec::new();
    loop {
        let mut ahead = Cursor::new(cursor.rest());
        ahead.blanks();
        // Blanks belong to the query only where a segment follows them.
        if !matches!(ahead.peek(), Some('.' | '[')) {
            return Ok(Some(Query { from, segments }));
        }
        cursor.skip(ahead.place());
        segments.push(segment(cursor)?);
    }
}

fn segment(cursor: &mut Cursor<'_>) -> Result<Segment, BadPath> {
    let reach = if cursor.took("..") { Reach::Descendant } else { Reach::Child };
    if cursor.peek() == Some('[') {
        return Ok(Segment { reach, selectors: bracketed(cursor)? });
    }
    if reach == Reach::Child {
        cursor.expect(".")?;
    }
    if cursor.took("*") {
        return Ok(Segment { reach, selectors: vec![Selector::All] });
    }
    if !cursor.peek().is_some_and(|c| is_name(c) && !c.is_ascii_digit()) {
        return Err(cursor.bad("a name or * was expected; other names are written ['like this']"));
    }
    let name = cursor.take_while(is_name).to_owned();
    Ok(Segment { reach, selectors: vec![Selector::Name(name)] })
}

/// Whether a name without quotes may have this character.
fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii()
}

fn bracketed(cursor: &mut Cursor<'_>) -> Result<Vec<Selector>, BadPath> {
    cursor.expect("[")?;
    let mut selectors = Vec::new();
    loop {
        cursor.blanks();
        selectors.push(selector(cursor)?);
        cursor.blanks();
        if cursor.took("]") {
            return Ok(selectors);
        }
        if !cursor.took(",") {
            return Err(cursor.bad("a comma or ] was expected"));
        }
    }
}

fn selector(cursor: &mut Cursor<'_>) -> Result<Selector, BadPath> {
    if let Some(name) = strings::quoted(cursor)? {
        return Ok(Selector::Name(name));
    }
    if cursor.took("*") {
        return Ok(Selector::All);
    }
    if cursor.took("?") {
        cursor.blanks();
        return Ok(Selector::Filter(cursor.deeper(logic::expression)?));
    }
    let start = cursor.whole()?;
    cursor.blanks();
    match (cursor.took(":"), start) {
        (true, start) => slice(cursor, start),
        (false, Some(index)) => Ok(Selector::Index(index)),
        (false, None) => Err(cursor.bad("a selector was expected: 'name', 0, 1:3, * or ?filter")),
    }
}

fn slice(cursor: &mut Cursor<'_>, start: Option<i64>) -> Result<Selector, BadPath> {
    cursor.blanks();
    let end = cursor.whole()?;
    cursor.blanks();
    let mut step = None;
    if cursor.took(":") {
        cursor.blanks();
        step = cursor.whole()?;
    }
    Ok(Selector::Slice { start, end, step: step.unwrap_or(1) })
}
