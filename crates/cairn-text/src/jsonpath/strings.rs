//! Texts in quotes.

use super::BadPath;
use super::cursor::Cursor;

/// Reads a text in quotes, if one begins here.
pub(super) fn quoted(cursor: &mut Cursor<'_>) -> Result<Option<String>, BadPath> {
    let Some(quote @ ('\'' | '"')) = cursor.peek() else { return Ok(None) };
    let from = cursor.place();
    cursor.next();
    let mut text = String::new();
    loop {
        let place = cursor.place();
        match cursor.next() {
            None => return Err(cursor.bad_at(from, "this quote is not closed")),
            Some(c) if c == quote => return Ok(Some(text)),
            Some('\\') => text.push(escaped(cursor, quote, place)?),
            Some(c) if c < ' ' => {
                return Err(cursor.bad_at(place, "a control character is written as an escape"));
            }
            Some(c) => text.push(c),
        }
    }
}

fn escaped(cursor: &mut Cursor<'_>, quote: char, place: usize) -> Result<char, BadPath> {
    Ok(match cursor.next() {
        Some(c) if c == quote => c,
        Some(c @ ('\\' | '/')) => c,
        Some('b') => '\x08',
        Some('f') => '\x0c',
        Some('n') => '\n',
        Some('r') => '\r',
        Some('t') => '\t',
        Some('u') => return unicode(cursor, place),
        _ => {
            return Err(cursor.bad_at(place, "the backslash stands before what it does not escape"));
        }
    })
}

fn unicode(cursor: &mut Cursor<'_>, place: usize) -> Result<char, BadPath> {
    let first = hex(cursor)?;
    let code = match first {
        0xd800..=0xdbff if cursor.took("\\u") => {
            let low = hex(cursor)?.checked_sub(0xdc00).filter(|low| *low < 0x400);
            low.map(|low| 0x10000 + ((first - 0xd800) << 10) + low)
        }
        code => Some(code),
    };
    let bad = || cursor.bad_at(place, "half of a surrogate pair stands alone");
    code.and_then(char::from_u32).ok_or_else(bad)
}

fn hex(cursor: &mut Cursor<'_>) -> Result<u32, BadPath> {
    let digits = cursor.rest().get(..4).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
    let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let code = code.ok_or_else(|| cursor.bad("four hexadecimal digits were expected"))?;
    cursor.skip(4);
    Ok(code)
}
