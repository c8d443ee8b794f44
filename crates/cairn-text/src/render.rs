//! How a body is shown, and what it was before: lines get numbers, trees and what is no text do not.

use crate::{lines, mime};
use std::borrow::Cow;

/// A body as it is shown: of a text of lines each with its number and a tab, the first being number
/// `first_line`; of anything else as it stands, since numbers of lines would be taken for the tree's.
#[must_use]
pub fn body<'a>(text: &'a str, mime: &str, first_line: usize) -> Cow<'a, str> {
    match mime::is_line_navigable(mime) {
        true => Cow::Owned(lines::numbered(text, first_line)),
        false => Cow::Borrowed(text),
    }
}

/// A shown text without the numbers before its lines, and without the hashes that a read may print
/// after them. As it stands, unless every line has a number and each is one more than the last.
#[must_use]
pub fn stripped(text: &str) -> Cow<'_, str> {
    match without_numbers(text) {
        Some(bare) => Cow::Owned(bare),
        None => Cow::Borrowed(text),
    }
}

fn without_numbers(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut expected: Option<usize> = None;
    for line in text.split_inclusive('\n') {
        let (label, rest) = line.split_once('\t')?;
        let number = number(label)?;
        if expected.is_some_and(|expected| expected != number) {
            return None;
        }
        expected = Some(number.checked_add(1)?);
        out.push_str(rest);
    }
    expected.map(|_| out)
}

/// The number of a label that is a number, or a number and a hash.
fn number(label: &str) -> Option<usize> {
    let digits = match label.split_once(':') {
        Some((digits, hash)) => {
            let is_hash = hash.len() == 5 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_hash.then_some(digits)?
        }
        None => label,
    };
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    digits.parse().ok().filter(|_| is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_are_numbered_and_trees_stand_as_they_are() {
        let check =
            |mime: &str, expected: &str| assert_eq!(body("a\nb\n", mime, 9), expected, "{mime}");
        check("text/markdown", "9\ta\n10\tb");
        check("text/x-rust", "9\ta\n10\tb");
        check("application/yaml", "9\ta\n10\tb");
        check("application/json", "a\nb\n");
        check("text/html", "a\nb\n");
        check("application/pdf", "a\nb\n");
    }

    #[test]
    fn numbers_are_taken_off_where_all_lines_have_them() {
        let check = |text: &str, expected: &str| assert_eq!(stripped(text), expected, "{text:?}");
        check("1\ta\n2\tb", "a\nb");
        check("9\ta\n10\t\tb\n", "a\n\tb\n");
        check("1\t\n2\t", "\n");
        check("7\ta", "a");
        check("1:abcde\ta\n2:01234\tb", "a\nb");
        check("", "");
        // Not in sequence, not all, not printed so.
        check("1\ta\n3\tb", "1\ta\n3\tb");
        check("2\ta\n1\tb", "2\ta\n1\tb");
        check("1\ta\nb", "1\ta\nb");
        check("1\ta\n\n", "1\ta\n\n");
        check("01\ta", "01\ta");
        check("+1\ta", "+1\ta");
        check("0\ta", "0\ta");
        check("\ta", "\ta");
        check("1:abc\ta", "1:abc\ta");
        check("1 a\n2 b", "1 a\n2 b");
        check("99999999999999999999\ta", "99999999999999999999\ta");
    }

    proptest! {
        #[test]
        fn what_was_numbered_is_found_again(
            lines in proptest::collection::vec("[a1\t:é日😀 ]{0,5}", 1..6), first in 1usize..2000,
        ) {
            let text = lines.join("\n") + "\n";
            let shown = body(&text, "text/markdown", first);
            prop_assert_eq!(stripped(&shown), lines.join("\n"));
        }

        #[test]
        fn any_text_is_stripped_of_numbers_alone(text in "([aé日😀\t\n:]|1|2|1\t|2\t|\n3\t){0,10}") {
            let bare = stripped(&text).into_owned();
            prop_assert_eq!(bare.matches('\n').count(), text.matches('\n').count());
            let kept = bare.split('\n').zip(text.split('\n')).all(|(bare, all)| all.ends_with(bare));
            prop_assert!(kept);
        }
    }
}
