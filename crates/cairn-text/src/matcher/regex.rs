//! `/expression/flags`: by the linear engine if it can, by trying if the expression looks around or back.

use super::backtracking::Backtracking;
use super::linear::Linear;
use super::{Kind, LineEnd};
use crate::form;

/// How long an expression is, in bytes.
const LONGEST: usize = 64 << 10;

/// Reads an expression, or says why it is none.
pub(super) fn read(text: &str) -> Result<Kind, String> {
    let (expression, end) = expression(text)?;
    let error = match Linear::new(&expression) {
        Ok(linear) => return Ok(Kind::Linear(linear, end)),
        Err(error) => why(&error),
    };
    match is_tried(&expression, &error) {
        true => Ok(Kind::Backtracking(Backtracking::new(&expression)?, end)),
        false => Err(error),
    }
}

/// Says why a text is no expression, as far as its form tells.
pub(super) fn check(text: &str) -> Result<(), String> {
    let (expression, _) = expression(text)?;
    if expression.len() > form::LONGEST {
        return Ok(());
    }
    match form::check(&expression) {
        Err(error) if is_tried(&expression, &error) => {
            Backtracking::of_form(&expression).map(|_| ())
        }
        checked => checked,
    }
}

/// Whether an expression that the linear engine refuses is tried: only what looks around or back. What else it refuses
/// is wrong.
fn is_tried(expression: &str, error: &str) -> bool {
    error.ends_with("not supported") || expression.contains("\\k")
}

/// Groups in groups are read so deep: each takes room that is not in proportion to its letter.
const DEEPEST: usize = 64;

/// How deep its groups nest, at most.
fn deepest(expression: &str) -> usize {
    let (mut depth, mut most, mut is_escaped) = (0usize, 0, false);
    for byte in expression.bytes() {
        match byte {
            b'(' if !is_escaped => depth += 1,
            b')' if !is_escaped => depth = depth.saturating_sub(1),
            _ => {}
        }
        is_escaped = byte == b'\\' && !is_escaped;
        most = most.max(depth);
    }
    most
}

/// The expression with its flags in it.
fn expression(text: &str) -> Result<(String, LineEnd), String> {
    let (expression, flags) = parts(text)?;
    if expression.len() > LONGEST {
        return Err(format!("the expression is longer than {LONGEST} bytes"));
    }
    if deepest(expression) > DEEPEST {
        return Err(format!("its groups nest deeper than {DEEPEST}"));
    }
    if seeks_line_end(expression) || (expression.contains('\n') && !flags.contains('x')) {
        return Err("lines are matched one by one, so a line end is never found".to_owned());
    }
    let end = match expression.contains("\\r") {
        true => LineEnd::Kept,
        false => LineEnd::Dropped,
    };
    // The flags stand in the expression, so that both engines read them alike.
    let expression = match set(flags)?.as_str() {
        "" => expression.to_owned(),
        set => format!("(?{set}){expression}"),
    };
    Ok((expression, end))
}

/// The expression and the flags of `/expression/flags`.
fn parts(text: &str) -> Result<(&str, &str), String> {
    let rest = text.strip_prefix('/').unwrap_or(text);
    let unclosed =
        || "no / closes the expression; a text with / in it is written /a\\/b/".to_owned();
    let (expression, flags) = rest.rsplit_once('/').ok_or_else(unclosed)?;
    let escapes = expression.len() - expression.trim_end_matches('\\').len();
    match (expression.is_empty(), escapes % 2) {
        (true, _) => Err("the expression is empty".to_owned()),
        (false, 0) => Ok((expression, flags)),
        _ => Err(unclosed()),
    }
}

/// The flags that change something where lines are matched one by one.
fn set(flags: &str) -> Result<String, String> {
    let mut set = String::new();
    for flag in flags.chars() {
        match flag {
            'i' | 'x' if set.contains(flag) => {}
            'i' | 'x' => set.push(flag),
            'g' | 'm' | 's' | 'u' => {}
            other => {
                return Err(format!(
                    "{other:?} is not a flag (they are i m s x g u); a / in the expression is written \\/"
                ));
            }
        }
    }
    Ok(set)
}

/// Whether an expression has `\n` outside of a class, where only a line end would do.
fn seeks_line_end(expression: &str) -> bool {
    let mut depth = 0usize;
    let mut letters = expression.chars();
    while let Some(c) = letters.next() {
        match c {
            '\\' if letters.next() == Some('n') && depth == 0 => return true,
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// What the engine says is wrong.
fn why(error: &regex::Error) -> String {
    if matches!(error, regex::Error::CompiledTooBig(_)) {
        return "it is too large when compiled".to_owned();
    }
    form::cause(&error.to_string())
}
