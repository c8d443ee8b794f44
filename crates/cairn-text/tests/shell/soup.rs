//! Random command lines: some from whole pieces, some from scraps, some of the first kind damaged.

use crate::dice::Dice;

const SCRAPS: [&str; 100] = [
    "a",
    "b",
    "c",
    "a",
    "b",
    "c",
    "1",
    "2",
    "0",
    " ",
    " ",
    " ",
    " ",
    " ",
    " ",
    "\t",
    "'",
    "'",
    "\"",
    "\"",
    "\\",
    "\\\n",
    "\\\n",
    "\n",
    "\n",
    ";",
    " ; ",
    "&&",
    " && ",
    "||",
    " || ",
    "|",
    " | ",
    "#",
    " #",
    "=",
    "a=",
    " b=1 ",
    "~",
    "*",
    "?",
    "[",
    "]",
    "{",
    "}",
    "{}",
    ",",
    "..",
    "<",
    ">",
    ">>",
    " 2>&1",
    " > f",
    " < f",
    "2>/dev/null",
    ">|f",
    " <<a\n",
    " <<'a'\n",
    " <<-\"b\"\n",
    " <<\\c\n",
    "\na\n",
    "\n\tb\n",
    "\nc\n",
    "\nb",
    "!",
    "! ",
    "if",
    "if ",
    "then ",
    "time ",
    "$",
    "$ ",
    "\"$\"",
    "\"a$|b\"",
    "é",
    "ü€",
    "\u{a0}",
    "-",
    "--",
    "%",
    "+=",
    "[[",
    "'a b'",
    "\"a  b\"",
    "\\'",
    "\\\"",
    "&",
    "(",
    "`",
    "^",
    ":",
    "@",
    "&>",
    ">&",
    "<&",
    "<>",
    "-a",
    "1>&2",
    "'\n'",
    "\"\\\n\"",
];

const INSIDE: [&str; 30] = [
    "a", "b", "c", " ", "  ", "\t", "\n", ";", "&&", "|", "#", "*", "~", "{a,b}", "<", ">", "(",
    ")", "!", "=", "\\", "\\\\", "\\a", "é", "%s", "-", "\u{3000}", "&", "]", "€",
];

fn one(dice: &mut Dice, of: &[&'static str]) -> &'static str {
    of[dice.below(of.len())]
}

/// One command line.
pub fn line(dice: &mut Dice) -> String {
    match dice.below(4) {
        0 => (0..=dice.below(14)).map(|_| one(dice, &SCRAPS)).collect(),
        1 => whole(dice),
        _ => damaged(dice),
    }
}

/// A line that means something.
fn whole(dice: &mut Dice) -> String {
    let mut text = String::new();
    for at in 0..=dice.below(4) {
        if at > 0 {
            text +=
                one(dice, &["; ", ";", "\n", " && ", "&&", " || ", " | ", "|", " &&\n ", " |\n"]);
        }
        text += &command(dice);
    }
    if dice.one_in(6) {
        text += one(dice, &["\n", ";", "\n\n", " # a 'b", "\n# \"", " "]);
    }
    text
}

fn command(dice: &mut Dice) -> String {
    let mut text = String::new();
    if dice.one_in(8) {
        text += one(dice, &["a=1 ", "b='c d' ", "c= ", "a=\"b\"c "]);
    }
    for at in 0..=dice.below(4) {
        if at > 0 {
            text += one(dice, &[" ", " ", "  ", "\t", " \\\n", "\\\n "]);
        }
        text += &if at == 0 && !dice.one_in(4) { name(dice) } else { word(dice) };
        if dice.one_in(10) {
            text += one(
                dice,
                &[" 2>&1", " >f", " > 'f'", " <g", " 2>/dev/null", " >>\"f\"", ">&2", " <&-"],
            );
        }
    }
    if dice.one_in(12) {
        let (mark, end) = *dice.pick(&[("a", "a"), ("'b'", "b"), ("\"c\"", "c"), ("\\a", "a")]);
        text += &format!(" <<{mark}\n{}\n{end}\n", one(dice, &["", "c 'b", "b \"c\n# x", " a"]));
    }
    text
}

/// A name of at most two letters, written in some way.
fn name(dice: &mut Dice) -> String {
    let parts = ["a", "b", "'c'", "\"a\"", "\\b", "c\\\n", "''a", "b\"\"", "\\\na"];
    (0..=dice.below(2)).map(|_| one(dice, &parts)).collect()
}

fn word(dice: &mut Dice) -> String {
    let mut text = String::new();
    for _ in 0..=dice.below(3) {
        let inside: String = (0..dice.below(4)).map(|_| one(dice, &INSIDE)).collect();
        match dice.below(8) {
            0 => text += &format!("'{inside}'"),
            1 => text += &format!("\"{}\"", inside.replace('\\', "\\\\")),
            2 => text += &format!("\"{inside}\""),
            3 => {
                text +=
                    one(dice, &["\\ ", "\\;", "\\$", "\\\\", "\\a", "\\*", "\\#", "\\\n", "\\é"])
            }
            4 => {
                text +=
                    one(dice, &["#", "=", "{}", "*", ":", "/", "!", "]", "-", "%", "+", "^", "é"])
            }
            _ => text += one(dice, &["a", "b", "c", "ab", "1", "2"]),
        }
    }
    text
}

/// A line that means something with a scrap put in or a piece cut out.
fn damaged(dice: &mut Dice) -> String {
    let text: Vec<char> = whole(dice).chars().collect();
    let at = dice.below(text.len() + 1);
    let (start, end) = text.split_at(at);
    let (cut, scrap) = match dice.one_in(2) {
        true => (dice.below(3), ""),
        false => (0, one(dice, &SCRAPS)),
    };
    let end = end.iter().skip(cut);
    start.iter().copied().chain(scrap.chars()).chain(end.copied()).collect()
}
