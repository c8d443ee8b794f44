//! Reads what stands in a filter, and refuses what the types of functions forbid.

use super::BadPath;
use super::ast::{Comparison, Extent, Logic, Matches, Operand, PatternOf, Query};
use super::cursor::Cursor;
use super::pattern::Pattern;
use super::{read, strings};
use crate::tree::Number;

/// Alternatives with `||` between them.
pub(super) fn expression(cursor: &mut Cursor<'_>) -> Result<Logic, BadPath> {
    joined(cursor, "||", |cursor| joined(cursor, "&&", basic, Logic::All), Logic::Any)
}

fn joined(
    cursor: &mut Cursor<'_>,
    sign: &str,
    read: impl Fn(&mut Cursor<'_>) -> Result<Logic, BadPath>,
    join: impl FnOnce(Vec<Logic>) -> Logic,
) -> Result<Logic, BadPath> {
    let first = read(cursor)?;
    let mut more = Vec::new();
    loop {
        cursor.blanks();
        if !cursor.took(sign) {
            break;
        }
        cursor.blanks();
        more.push(read(cursor)?);
    }
    if more.is_empty() {
        return Ok(first);
    }
    more.insert(0, first);
    Ok(join(more))
}

fn basic(cursor: &mut Cursor<'_>) -> Result<Logic, BadPath> {
    if cursor.took("!") {
        cursor.blanks();
        let negated = match cursor.peek() {
            Some('(') => parenthesis(cursor)?,
            _ => test(cursor)?,
        };
        return Ok(Logic::Not(Box::new(negated)));
    }
    if cursor.peek() == Some('(') {
        return parenthesis(cursor);
    }
    let place = cursor.place();
    let left = term(cursor)?;
    cursor.blanks();
    match comparison(cursor) {
        None => tested(cursor, left, place),
        Some(sign) => {
            let left = operand(cursor, left, place)?;
            cursor.blanks();
            let place = cursor.place();
            let right = term(cursor)?;
            Ok(Logic::Compared(left, sign, operand(cursor, right, place)?))
        }
    }
}

fn parenthesis(cursor: &mut Cursor<'_>) -> Result<Logic, BadPath> {
    cursor.expect("(")?;
    cursor.blanks();
    let inner = cursor.deeper(expression)?;
    cursor.blanks();
    cursor.expect(")")?;
    Ok(inner)
}

fn test(cursor: &mut Cursor<'_>) -> Result<Logic, BadPath> {
    let place = cursor.place();
    let term = term(cursor)?;
    tested(cursor, term, place)
}

fn comparison(cursor: &mut Cursor<'_>) -> Option<Comparison> {
    let signs = [
        ("==", Comparison::Equal),
        ("!=", Comparison::NotEqual),
        ("<=", Comparison::LessOrEqual),
        (">=", Comparison::GreaterOrEqual),
        ("<", Comparison::Less),
        (">", Comparison::Greater),
    ];
    signs.into_iter().find(|(sign, _)| cursor.took(sign)).map(|(_, comparison)| comparison)
}

/// What may stand beside a comparison, be a test, or be given to a function.
enum Term {
    /// A literal, or a function that has a value.
    Value(Operand, IsLiteral),
    Query(Query),
    /// A function that is true or false.
    Matches(Matches),
}

#[derive(PartialEq)]
struct IsLiteral(bool);

fn term(cursor: &mut Cursor<'_>) -> Result<Term, BadPath> {
    let literal = |operand| Ok(Term::Value(operand, IsLiteral(true)));
    if let Some(query) = read::query(cursor)? {
        return Ok(Term::Query(query));
    }
    if let Some(text) = strings::quoted(cursor)? {
        return literal(Operand::Text(text));
    }
    if let Some((number, length)) = Number::prefix(cursor.rest()) {
        cursor.skip(length);
        return literal(Operand::Number(number.quantity()));
    }
    let place = cursor.place();
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    match cursor.take_while(is_word) {
        "" => Err(cursor.bad("a query, a literal or a function was expected")),
        name if cursor.peek() == Some('(') => cursor.deeper(|cursor| function(cursor, name, place)),
        "true" => literal(Operand::Bool(true)),
        "false" => literal(Operand::Bool(false)),
        "null" => literal(Operand::Null),
        name => {
            Err(cursor.bad_at(place, &format!("{name} is no literal; a text stands in quotes")))
        }
    }
}

/// A term that stands alone as a test.
fn tested(cursor: &Cursor<'_>, term: Term, place: usize) -> Result<Logic, BadPath> {
    match term {
        Term::Query(query) => Ok(Logic::Exists(query)),
        Term::Matches(matches) => Ok(Logic::Matches(matches)),
        Term::Value(_, IsLiteral(true)) => {
            Err(cursor.bad_at(place, "a literal alone is no test; compare it"))
        }
        Term::Value(..) => {
            Err(cursor.bad_at(place, "this function has a value, which is no test; compare it"))
        }
    }
}

/// A term that stands where one value is needed.
fn operand(cursor: &Cursor<'_>, term: Term, place: usize) -> Result<Operand, BadPath> {
    match term {
        Term::Value(operand, _) => Ok(operand),
        Term::Query(query) => {
            let why = "a query here must select one node at most: names and indexes, one at a time";
            query.singular().map(Operand::Node).ok_or_else(|| cursor.bad_at(place, why))
        }
        Term::Matches(_) => {
            Err(cursor.bad_at(place, "match and search are true or false, and have no value"))
        }
    }
}

fn function(cursor: &mut Cursor<'_>, name: &str, place: usize) -> Result<Term, BadPath> {
    let value = |operand| Ok(Term::Value(operand, IsLiteral(false)));
    cursor.expect("(")?;
    let read = match name {
        "length" => value(Operand::Length(Box::new(given(cursor)?))),
        "count" => value(Operand::Count(given_query(cursor)?)),
        "value" => value(Operand::Value(given_query(cursor)?)),
        "match" => Ok(Term::Matches(matches(cursor, Extent::Whole)?)),
        "search" => Ok(Term::Matches(matches(cursor, Extent::Part)?)),
        _ => {
            let known = "the functions are length, count, value, match and search";
            Err(cursor.bad_at(place, known))
        }
    }?;
    cursor.blanks();
    cursor.expect(")")?;
    Ok(read)
}

fn given(cursor: &mut Cursor<'_>) -> Result<Operand, BadPath> {
    cursor.blanks();
    let place = cursor.place();
    let term = term(cursor)?;
    operand(cursor, term, place)
}

fn given_query(cursor: &mut Cursor<'_>) -> Result<Query, BadPath> {
    cursor.blanks();
    read::query(cursor)?.ok_or_else(|| cursor.bad("this function is given a query"))
}

fn matches(cursor: &mut Cursor<'_>, extent: Extent) -> Result<Matches, BadPath> {
    let text = given(cursor)?;
    cursor.blanks();
    cursor.expect(",")?;
    cursor.blanks();
    let place = cursor.place();
    let pattern = match given(cursor)? {
        Operand::Text(pattern) => PatternOf::Query(
            Pattern::new(&pattern, extent).map_err(|why| cursor.bad_at(place, &why))?,
        ),
        other => PatternOf::Value(other),
    };
    Ok(Matches { text, pattern, extent })
}
