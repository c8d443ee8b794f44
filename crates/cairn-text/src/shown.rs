//! Text from models, files and tools, made safe to show on a screen. It never hides a printable
//! character, so that what is approved is what was seen.

use std::borrow::Cow;

/// What stands for a character that is not shown.
const MARK: char = '\u{fffd}';

/// Of so many bytes one may be none of a text's.
const MOST_ODD: usize = 5;

/// The text without control, bidirectional and invisible characters: each becomes U+FFFD, and so
/// does a whole colour or cursor sequence. Line feeds and tabs stay; CRLF becomes a line feed.
#[must_use]
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\n' | '\t' => out.push(c),
            '\r' if rest.as_str().starts_with('\n') => {}
            '\u{1b}' if rest.as_str().starts_with('[') => {
                out.push(MARK);
                rest = after_sequence(&rest.as_str()[1..]).unwrap_or(rest.as_str()).chars();
            }
            '\u{9b}' => {
                out.push(MARK);
                rest = after_sequence(rest.as_str()).unwrap_or(rest.as_str()).chars();
            }
            c if is_hidden(c) => out.push(MARK),
            c => out.push(c),
        }
    }
    out
}

/// The text of bytes that a person is to judge, if they are text but for a few: NULs stay, and bytes that are no
/// UTF-8 become U+FFFD. A shell runs such a file, so it is not hidden behind a number of bytes. What a model may be
/// told of a file is decided elsewhere.
#[must_use]
pub fn text_for_person(bytes: &[u8]) -> Option<Cow<'_, str>> {
    let odd = bytes.utf8_chunks().map(|chunk| {
        let nuls = chunk.valid().matches('\0').count();
        nuls + chunk.invalid().len()
    });
    (odd.sum::<usize>() * MOST_ODD <= bytes.len()).then(|| String::from_utf8_lossy(bytes))
}

/// What follows a control sequence whose introducer was read: numbers, then one letter. Anything
/// else is not taken for one, and so stays visible.
fn after_sequence(text: &str) -> Option<&str> {
    let numbers = text.bytes().take_while(|b| matches!(b, b'0'..=b'9' | b';' | b':' | b'?'));
    let end = numbers.count();
    text.as_bytes().get(end).filter(|b| b.is_ascii_alphabetic())?;
    Some(&text[end + 1..])
}

/// Characters that act on a screen, reorder it, or cannot be seen.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_that_acts_on_a_screen_passes() {
        let check = |text: &str, expected: &str| assert_eq!(clean(text), expected, "{text:?}");
        check("plain é 漢 😀\n\ttext", "plain é 漢 😀\n\ttext");
        check("\u{1b}[31mred\u{1b}[0m", "\u{fffd}red\u{fffd}");
        check("\u{1b}[2J\u{1b}[1;1Hfake", "\u{fffd}\u{fffd}fake");
        check("\u{1b}]0;title\u{7}x", "\u{fffd}]0;title\u{fffd}x");
        check("\u{1b}]8;;http://x\u{1b}\\link", "\u{fffd}]8;;http://x\u{fffd}\\link");
        check("\u{9b}31mred", "\u{fffd}red");
        check("\u{9d}0;t\u{9c}", "\u{fffd}0;t\u{fffd}");
        check("\u{1b}P1$r\u{1b}\\", "\u{fffd}P1$r\u{fffd}\\");
        check("true \u{1b}[; ./m", "true \u{fffd}[; ./m");
        check("rm x\u{8}\u{8}ls", "rm x\u{fffd}\u{fffd}ls");
        check("safe\r\nevil\rgood", "safe\nevil\u{fffd}good");
        check("a\u{202e}b\u{2066}c\u{200b}d\u{feff}", "a\u{fffd}b\u{fffd}c\u{fffd}d\u{fffd}");
        check("\u{1b}", "\u{fffd}");
        check("\u{1b}[", "\u{fffd}[");
        check("\0\u{7f}", "\u{fffd}\u{fffd}");
    }

    #[test]
    fn bytes_are_text_for_a_person_but_for_a_few() {
        let check = |bytes: &[u8], expected: Option<&str>| {
            assert_eq!(text_for_person(bytes).as_deref(), expected, "{bytes:?}");
        };
        check(b"", Some(""));
        check(b"#!/bin/sh\0\nrm x", Some("#!/bin/sh\0\nrm x"));
        check("é日😀\0".as_bytes(), Some("é日😀\0"));
        check(b"caf\xe9 au lait", Some("caf\u{fffd} au lait"));
        check(b"\0\x01\x02", None);
        check(b"a\0b\0c\0", None);
        check(&[0xff; 9], None);
    }

    proptest! {
        #[test]
        fn cleaning_is_total_and_cleaning_twice_changes_nothing(
            text in "(?s)(\\PC|é|日|😀|\\pC|\u{1b}\\[|\u{9b}|[0-9;]){0,40}"
        ) {
            let once = clean(&text);
            prop_assert!(!once.chars().any(|c| is_hidden(c) && c != '\n' && c != '\t'));
            prop_assert_eq!(clean(&once), once);
        }
    }
}
