//! Texts that differ only in quotes, dashes and blanks: plain ones for typographic ones, or the
//! other way round. Characters are compared one to one, so what is kept can stay as the file has it.

use super::parts::{Part, parts};
use super::problem::Doubt;
use super::rows::TextLines;
use super::whole::{Case, unclear_which_are_kept};
use super::{Found, Look, Piece, leaves_its_indentation, occurrences};
use std::collections::{HashMap, HashSet};

/// The plain character a typographic one stands for.
pub(super) fn plain(c: char) -> char {
    match c {
        '“' | '”' | '„' | '‟' | '″' => '"',
        '‘' | '’' | '‚' | '‛' | '′' => '\'',
        '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' => '-',
        '\u{a0}' | '\u{2007}' | '\u{2009}' | '\u{202f}' => ' ',
        other => other,
    }
}

fn is_fancy(c: char) -> bool {
    plain(c) != c
}

/// A text with plain characters, and where each of its bytes comes from.
fn folded(text: &str) -> (String, Vec<usize>) {
    let mut out = String::with_capacity(text.len());
    let mut from = Vec::with_capacity(text.len() + 1);
    for (at, c) in text.char_indices() {
        let c = plain(c);
        out.push(c);
        from.extend(std::iter::repeat_n(at, c.len_utf8()));
    }
    from.push(text.len());
    (out, from)
}

/// Looks for `old` with all characters plain. Where `whole`, only at the beginnings of lines.
pub(super) fn look(
    rows: &TextLines<'_>,
    content: &str,
    (old, new): (&str, &str),
    whole: bool,
) -> Look {
    if !old.chars().any(is_fancy) && !content.chars().any(is_fancy) {
        return Look::Miss;
    }
    let (text, from) = folded(content);
    let wanted: String = old.chars().map(plain).collect();
    let begins = |at: usize| !whole || at == 0 || text.as_bytes()[at - 1] == b'\n';
    let found: Vec<usize> =
        occurrences(&text, &wanted).into_iter().filter(|at| begins(*at)).collect();
    let line = |at: usize| rows.index_of(from[at]);
    match found.as_slice() {
        [] => Look::Miss,
        [at] => {
            let place = from[*at]..from[*at + wanted.len()];
            let file = &content[place.clone()];
            let made = match leaves_its_indentation(content, place.start, (old, new)) {
                true => Err(Doubt::Indentation),
                false => rewritten(content, old, new, file),
            };
            match made {
                Ok(text) => Look::Found(Found {
                    pieces: vec![Piece { at: place, text }],
                    notes: vec!["typographic quotes, dashes or blanks differed".to_owned()],
                }),
                Err(doubt) => {
                    let first = line(*at);
                    Look::Doubt(doubt, first..first + old.lines().count())
                }
            }
        }
        _ => Look::Several(found.iter().map(|at| line(*at) + 1).collect()),
    }
}

/// What is known about one edit's characters.
#[derive(Default)]
struct Signs {
    /// Typographic characters of `old` and what the file has for them; none if it has several.
    slips: HashMap<char, Option<char>>,
    /// Plain characters of changed text for which the file has typographic ones.
    lost: HashSet<char>,
}

/// A stretch of an edit: what stays as the file has it, what replaces the middle, what stays after.
struct Stretch {
    before: Vec<char>,
    made: Vec<char>,
    after: Vec<char>,
}

/// `new` with the file's own characters wherever it keeps what `old` says.
fn rewritten(content: &str, old: &str, new: &str, file: &str) -> Result<String, Doubt> {
    let mut signs = Signs::default();
    for (o, f) in old.chars().zip(file.chars()).filter(|(o, f)| o != f && is_fancy(*o)) {
        let known = signs.slips.entry(o).or_insert(Some(f));
        if *known != Some(f) {
            *known = None;
        }
    }
    let old_lines: Vec<&str> = old.split_inclusive('\n').collect();
    let new_lines: Vec<&str> = new.split_inclusive('\n').collect();
    let file_lines = split_like(file, &old_lines);
    let case = Case { old: &old_lines, new: &new_lines, file: &file_lines, all: &file_lines };
    if unclear_which_are_kept(&case) {
        return Err(Doubt::Typography);
    }
    let mut rest = file.chars();
    let mut stretches = Vec::new();
    for part in parts(&old_lines, &new_lines) {
        let (gone, made) = match part {
            Part::Kept(range) => (old_lines[range.clone()].concat(), old_lines[range].concat()),
            Part::Changed(gone, made) => (old_lines[gone].concat(), new_lines[made].concat()),
        };
        let (gone, made): (Vec<char>, Vec<char>) = (gone.chars().collect(), made.chars().collect());
        let stood: Vec<char> = rest.by_ref().take(gone.len()).collect();
        stretches.push(stretch(&mut signs, &gone, &made, &stood));
    }
    let mut out = String::new();
    for stretch in stretches {
        out.extend(stretch.before);
        for c in stretch.made {
            out.push(settled(content, &signs, c)?);
        }
        out.extend(stretch.after);
    }
    Ok(out)
}

/// A text in pieces of as many characters as these have.
fn split_like<'a>(text: &'a str, model: &[&str]) -> Vec<&'a str> {
    let mut rest = text;
    let mut piece = |line: &&str| {
        let at = rest.char_indices().nth(line.chars().count()).map_or(rest.len(), |(at, _)| at);
        let (piece, left) = rest.split_at(at);
        rest = left;
        piece
    };
    model.iter().map(&mut piece).collect()
}

/// The common beginning and end of a stretch stay the file's, its middle is the new one's.
fn stretch(signs: &mut Signs, gone: &[char], made: &[char], stood: &[char]) -> Stretch {
    let lines = |text: &[char]| text.iter().filter(|c| **c == '\n').count();
    if lines(gone) != lines(made) || has_moved_lines(gone, made) {
        // Its beginning and its end may come from different lines.
        let lost = gone.iter().zip(stood).filter(|(g, s)| g != s && is_fancy(**s));
        signs.lost.extend(lost.map(|(g, _)| *g));
        return Stretch { before: Vec::new(), made: made.to_vec(), after: Vec::new() };
    }
    let head = gone.iter().zip(made).take_while(|(a, b)| a == b).count();
    let tails = gone[head..].iter().rev().zip(made[head..].iter().rev());
    let tail = tails.take_while(|(a, b)| a == b).count();
    // Marks, blanks and parts of words may be common to lines that have nothing else to do with each other.
    let is_word = |c: &char| c.is_alphanumeric();
    let goes_on = |text: &[char], at: usize| text.get(at).is_some_and(is_word);
    let cut_at_end = goes_on(gone, head) || goes_on(made, head);
    let before = gone[..head].iter().rev().skip_while(|c| cut_at_end && is_word(c));
    let begins_before =
        |text: &[char]| (text.len() - tail).checked_sub(1).is_some_and(|at| goes_on(text, at));
    let cut_at_start = begins_before(gone) || begins_before(made);
    let after = gone[gone.len() - tail..].iter().skip_while(|c| cut_at_start && is_word(c));
    let related = before.chain(after).any(is_word);
    let (head, tail) = if related { (head, tail) } else { (0, 0) };
    let middle = gone.iter().zip(stood).take(gone.len() - tail).skip(head);
    signs.lost.extend(middle.filter(|(g, s)| g != s && is_fancy(**s)).map(|(g, _)| *g));
    Stretch {
        before: stood[..head].to_vec(),
        made: made[head..made.len() - tail].to_vec(),
        after: stood[stood.len() - tail..].to_vec(),
    }
}

/// Whether a new line is an old one that stood elsewhere among them, so that they are not pairs.
fn has_moved_lines(gone: &[char], made: &[char]) -> bool {
    let lines = |text: &[char]| -> Vec<String> {
        text.split(|c| *c == '\n')
            .map(|line| line.iter().collect::<String>().trim().to_owned())
            .collect()
    };
    let (gone, made) = (lines(gone), lines(made));
    let standing: HashSet<&String> = gone.iter().collect();
    let said = made.iter().enumerate().filter(|(_, line)| !line.is_empty());
    said.into_iter().any(|(at, line)| gone.get(at) != Some(line) && standing.contains(line))
}

/// A new character as it is meant, if that is certain.
fn settled(content: &str, signs: &Signs, c: char) -> Result<char, Doubt> {
    match signs.slips.get(&c) {
        _ if signs.lost.contains(&c) => Err(Doubt::Typography),
        Some(Some(plain)) if !content.contains(c) => Ok(*plain),
        Some(_) => Err(Doubt::Typography),
        None if is_fancy(c) && !signs.slips.is_empty() => Err(Doubt::Typography),
        None => Ok(c),
    }
}
