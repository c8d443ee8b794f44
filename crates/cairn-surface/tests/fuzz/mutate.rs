//! Makes another text of one: what models, networks and cut replies do to texts, and worse.

use crate::dice::Dice;

/// No text is longer: a quarter of a MiB.
pub const LONGEST: usize = 256 << 10;
/// The same as a power of two.
const BITS: usize = 18;

/// Characters that readers trip over.
const ODD: [char; 26] = [
    '\0',
    '\u{1}',
    '\u{7f}',
    '\u{80}',
    '\u{85}',
    '\u{a0}',
    '\u{ad}',
    '\u{301}',
    'é',
    '日',
    '😀',
    '\u{200b}',
    '\u{200d}',
    '\u{202e}',
    '\u{2028}',
    '\u{2019}',
    '\u{feff}',
    '\u{fffd}',
    '\u{fffe}',
    '\u{d7ff}',
    '\u{e000}',
    '\u{1f600}',
    '\u{1f1e6}',
    '\u{10ffff}',
    'İ',
    'ﬀ',
];

/// The nearest place at or before this one where a character begins.
fn edge(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn place(text: &str, dice: &mut Dice) -> usize {
    edge(text, dice.below(text.len() + 1))
}

/// A part of a text, mostly a short one.
fn part(text: &str, dice: &mut Dice) -> (usize, usize) {
    let from = place(text, dice);
    let most = if dice.below(4) == 0 { text.len() } else { 16 };
    (from, edge(text, from + dice.below(most + 1)).max(from))
}

/// Changes a text in one to four ways.
pub fn mutated(text: &str, pool: &[String], words: &[String], dice: &mut Dice) -> String {
    let mut text = text.to_owned();
    for _ in 0..=dice.below(4) {
        change(&mut text, pool, words, dice);
        text.truncate(edge(&text, LONGEST));
    }
    text
}

fn change(text: &mut String, pool: &[String], words: &[String], dice: &mut Dice) {
    let (from, to) = part(text, dice);
    match dice.below(12) {
        0 => text.replace_range(from..to, ""),
        1 | 2 => text.insert_str(from, dice.one_of::<String>(words)),
        3 => text.replace_range(from..to, dice.one_of::<String>(words)),
        4 => text.insert(from, *dice.one_of(&ODD)),
        5 => flip(text, from, dice),
        6 => text.truncate(from),
        7 => *text = text.split_off(from),
        8 => splice(text, from, &dice.one_of(pool).clone(), dice),
        9 => {
            let again = text[from..to].to_owned();
            let at = place(text, dice);
            text.insert_str(at, &again);
        }
        10 => text.push_str(dice.one_of::<String>(pool)),
        _ => repeat(text, (from, to), words, dice),
    }
}

/// Another character for the one that stands here.
fn flip(text: &mut String, at: usize, dice: &mut Dice) {
    let Some(c) = text[at..].chars().next() else { return };
    let other = char::from_u32(u32::from(c) ^ (1 << dice.below(8))).unwrap_or('\u{fffd}');
    text.replace_range(at..at + c.len_utf8(), other.encode_utf8(&mut [0; 4]));
}

/// From here on another text, from somewhere in it.
fn splice(text: &mut String, at: usize, other: &str, dice: &mut Dice) {
    text.truncate(at);
    text.push_str(&other[place(other, dice)..]);
}

/// A part or a few words, again and again; mostly to a small size, since the great ones take long.
fn repeat(text: &mut String, (from, to): (usize, usize), words: &[String], dice: &mut Dice) {
    let mut piece = text[from..to].to_owned();
    for _ in 0..dice.below(4) {
        piece.push_str(dice.one_of::<String>(words));
    }
    let most = if dice.below(16) == 0 { BITS } else { 10 };
    let times = dice.size(most) / piece.len().max(1);
    text.insert_str(from, &piece.repeat(times));
}
