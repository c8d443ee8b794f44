//! What goes wrong when an edit is quoted: each kind of damage done to the old lines of a right
//! edit, and to its new lines where whoever quotes wrongly would do so in both.

use crate::dice::Dice;
use crate::right::Right;

/// Every kind of damage.
pub const KINDS: [&str; 21] = [
    "shifted",
    "stripped",
    "first line stripped",
    "one line shifted",
    "twice",
    "tabs for blanks",
    "blanks for tabs",
    "rescaled",
    "trailing blanks added",
    "trailing blanks lost",
    "curly quotes",
    "plain quotes",
    "line numbers",
    "elided",
    "escaped",
    "quotes escaped",
    "blank edges",
    "line ends",
    "inner blank line",
    "case",
    "typo",
];

/// Slips in the spelling of a line. In the new text they would be part of what is meant.
const OLD_ONLY: [&str; 3] = ["inner blank line", "case", "typo"];

/// Slips that come together.
const TWICE: [&str; 7] = [
    "shifted",
    "stripped",
    "tabs for blanks",
    "blanks for tabs",
    "trailing blanks added",
    "trailing blanks lost",
    "curly quotes",
];

/// A damaged edit as texts.
#[derive(Debug, Clone)]
pub struct Damaged {
    pub old: String,
    pub new: String,
    /// Whether blanks at line ends were lost: nobody can tell them again from changed lines.
    pub lossy: bool,
}

/// Does one kind of damage, to both sides or only to the old one; none where there is nothing to do.
pub fn done(dice: &mut Dice, right: &Right, kind: &str, both: bool) -> Option<Damaged> {
    let both = both && !OLD_ONLY.contains(&kind);
    // With a blank line at its own edge a new text could mean two things.
    let blank = |line: Option<&String>| line.is_some_and(|line| line.trim().is_empty());
    if kind == "blank edges" && (blank(right.new.first()) || blank(right.new.last())) {
        return None;
    }
    let seed = dice.below(usize::MAX) as u64;
    let mut lossy = kind == "trailing blanks lost";
    let (old, new) = match kind {
        "elided" => elided(dice, right, both)?,
        "one line shifted" => one_line_shifted(dice, right, both)?,
        "twice" => {
            let kinds = [*dice.pick(&TWICE), *dice.pick(&TWICE)];
            lossy = kinds.contains(&"trailing blanks lost");
            twice(seed, right, kinds, both)?
        }
        "line numbers" => {
            let number = |lines: &[String]| -> Vec<String> {
                lines.iter().zip(right.first..).map(|(l, n)| format!("{n}\t{l}")).collect()
            };
            (number(&right.old), if both { number(&right.new) } else { right.new.clone() })
        }
        "blank edges" => {
            let (head, tail) = (dice.below(3), 1 + dice.below(2));
            let around = |lines: &[String]| -> Vec<String> {
                let blank = |n| std::iter::repeat_n(String::new(), n);
                blank(head).chain(lines.iter().cloned()).chain(blank(tail)).collect()
            };
            (around(&right.old), if both { around(&right.new) } else { right.new.clone() })
        }
        _ => {
            let old = lines(&mut Dice::seeded(seed), &right.old, kind)?;
            // The same slip in both, where the new lines allow it.
            let new = match both {
                true => {
                    lines(&mut Dice::seeded(seed), &right.new, kind).unwrap_or(right.new.clone())
                }
                false => right.new.clone(),
            };
            (old, new)
        }
    };
    let text = |lines: &[String]| match (right.ended, lines.is_empty()) {
        (true, true) => String::new(),
        (true, false) => lines.join("\n") + "\n",
        (false, _) => lines.join("\n"),
    };
    let (mut old, mut new) = (text(&old), text(&new));
    match kind {
        "escaped" => {
            old = escaped(&old);
            new = if both { escaped(&new) } else { new };
        }
        "line ends" => {
            old = old.replace('\n', "\r\n");
            new = if both { new.replace('\n', "\r\n") } else { new };
        }
        _ => {}
    }
    Some(Damaged { old, new, lossy })
}

/// Two slips, both of which show in the old lines: one that does not cannot be known in the new ones.
fn twice(
    seed: u64,
    right: &Right,
    kinds: [&str; 2],
    both: bool,
) -> Option<(Vec<String>, Vec<String>)> {
    let slip = |of: &[String], kind: &str| lines(&mut Dice::seeded(seed), of, kind);
    let slips = |of: &[String]| slip(&slip(of, kinds[0])?, kinds[1]);
    if kinds.iter().any(|kind| slip(&right.old, kind).is_none_or(|lines| lines == right.old)) {
        return None;
    }
    let old = slips(&right.old)?;
    let new = if both { slips(&right.new)? } else { right.new.clone() };
    // Whoever indents with tabs does so in both.
    let tabs = |lines: &[String]| lines.iter().any(|l| indent(l).contains('\t'));
    (!both || tabs(&old) == tabs(&new)).then_some((old, new))
}

/// One of the old lines has other blanks before it, and so has the new one that keeps it.
fn one_line_shifted(
    dice: &mut Dice,
    right: &Right,
    both: bool,
) -> Option<(Vec<String>, Vec<String>)> {
    let line = dice.pick(&right.old).clone();
    let by = [" ", "  ", "    ", "\t"][dice.below(4)];
    let slip = match dice.one_in(2) {
        true => format!("{by}{line}"),
        false => line.strip_prefix(by)?.to_owned(),
    };
    let shift = |lines: &[String]| -> Vec<String> {
        lines.iter().map(|l| if *l == line { slip.clone() } else { l.clone() }).collect()
    };
    let new = if both { shift(&right.new) } else { right.new.clone() };
    (!line.trim().is_empty()).then(|| (shift(&right.old), new))
}

fn escaped(text: &str) -> String {
    let (body, end) = match text.strip_suffix('\n') {
        Some(body) => (body, "\n"),
        None => (text, ""),
    };
    let body = body.replace('\\', "\\\\").replace('"', "\\\"");
    body.replace('\n', "\\n").replace('\t', "\\t") + end
}

fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// Damage that is done line by line. The dice decide the same for both sides.
fn lines(dice: &mut Dice, lines: &[String], kind: &str) -> Option<Vec<String>> {
    let step = [1, 2, 4, 4, 8][dice.below(5)];
    let each = |f: &mut dyn FnMut(&str) -> Option<String>| -> Option<Vec<String>> {
        lines.iter().map(|l| if l.trim().is_empty() { Some(l.clone()) } else { f(l) }).collect()
    };
    let tabs = lines.iter().any(|l| l.starts_with('\t'));
    match kind {
        "shifted" => {
            let by = if tabs { "\t".repeat(step.min(2)) } else { " ".repeat(step) };
            match dice.one_in(2) {
                true => each(&mut |l| Some(format!("{by}{l}"))),
                false => each(&mut |l| l.strip_prefix(&by).map(str::to_owned)),
            }
        }
        "stripped" => each(&mut |l| Some(l.trim_start().to_owned())),
        "first line stripped" => {
            let mut first = true;
            each(&mut |l| {
                let cut = if first { l.trim_start() } else { l };
                first = false;
                Some(cut.to_owned())
            })
        }
        "tabs for blanks" => {
            each(&mut |l| Some(format!("{}{}", indent(l).replace("    ", "\t"), l.trim_start())))
        }
        "blanks for tabs" => each(&mut |l| {
            Some(format!("{}{}", indent(l).replace('\t', &" ".repeat(step.max(2))), l.trim_start()))
        }),
        "rescaled" => each(&mut |l| {
            let lead = indent(l);
            (lead.len().is_multiple_of(4) && !tabs)
                .then(|| format!("{}{}", " ".repeat(lead.len() / 2), l.trim_start()))
        }),
        "trailing blanks added" => {
            Some(lines.iter().map(|l| l.clone() + ["", " ", "  ", "\t"][dice.below(4)]).collect())
        }
        "trailing blanks lost" => Some(lines.iter().map(|l| l.trim_end().to_owned()).collect()),
        "curly quotes" => Some(lines.iter().map(|l| curly(dice, l)).collect()),
        "plain quotes" => Some(lines.iter().map(|l| plain(l)).collect()),
        "quotes escaped" => Some(lines.iter().map(|l| l.replace('"', "\\\"")).collect()),
        "inner blank line" => {
            let mut lines = lines.to_vec();
            match lines.iter().position(|l| l.trim().is_empty()) {
                Some(at) if dice.one_in(2) => drop(lines.remove(at)),
                _ if lines.len() > 1 => {
                    lines.insert(1 + dice.below(lines.len() - 1), String::new())
                }
                _ => return None,
            }
            Some(lines)
        }
        "case" | "typo" => Some(misspelt(dice, lines, kind)),
        _ => Some(lines.to_vec()),
    }
}

fn curly(dice: &mut Dice, line: &str) -> String {
    let mut open = true;
    let turned = line.chars().map(|c| match c {
        '"' => {
            open = !open;
            if open { '”' } else { '“' }
        }
        '\'' => '’',
        '-' if dice.one_in(3) => '–',
        other => other,
    });
    turned.collect()
}

fn plain(line: &str) -> String {
    let turned = line.chars().map(|c| match c {
        '“' | '”' => '"',
        '‘' | '’' => '\'',
        '–' | '—' => '-',
        '\u{a0}' => ' ',
        other => other,
    });
    turned.collect()
}

fn misspelt(dice: &mut Dice, lines: &[String], kind: &str) -> Vec<String> {
    let mut lines = lines.to_vec();
    if lines.is_empty() {
        return lines;
    }
    let at = dice.below(lines.len());
    let mut chars: Vec<char> = lines[at].chars().collect();
    let letters: Vec<usize> = (0..chars.len()).filter(|i| chars[*i].is_alphabetic()).collect();
    match (kind, dice.below(4)) {
        _ if letters.is_empty() => chars.push('x'),
        ("case", _) => {
            let i = *dice.pick(&letters);
            let c = chars[i];
            chars[i] =
                if c.is_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() };
        }
        (_, 0) => drop(chars.remove(dice.below(chars.len()))),
        (_, 1) => chars.insert(dice.below(chars.len()), 'q'),
        (_, 2) => {
            let i = *dice.pick(&letters);
            chars[i] = 'z';
        }
        // A line forgotten, or cut short.
        _ if lines.len() > 2 => {
            lines.remove(at);
            return lines;
        }
        _ => chars.truncate(chars.len() / 2 + 1),
    }
    lines[at] = chars.into_iter().collect();
    lines
}

/// A run of lines that old and new have in common, replaced by a mark.
fn elided(dice: &mut Dice, right: &Right, both: bool) -> Option<(Vec<String>, Vec<String>)> {
    let marks =
        ["...", "…", "// ...", "# ...", "/* ... */", "<!-- ... -->", "// ... rest unchanged ..."];
    let (old, new) = (&right.old, &right.new);
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let tail = tail.min(old.len().min(new.len()) - head);
    let runs = [(0, 0, head), (old.len() - tail, new.len() - tail, tail)];
    let (from_old, from_new, length) = *runs.iter().max_by_key(|run| run.2)?;
    if length < 3 {
        return None;
    }
    let (skip, take) = (1 + dice.below(length - 2), 1);
    let take = take + dice.below(length - skip - 1);
    let mark = format!("{}{}", indent(&old[from_old + skip]), dice.pick(&marks));
    let cut = |lines: &[String], from: usize| {
        let mut lines = lines.to_vec();
        lines.splice(from + skip..from + skip + take, [mark.clone()]);
        lines
    };
    let new = if both { cut(new, from_new) } else { new.clone() };
    Some((cut(old, from_old), new))
}
