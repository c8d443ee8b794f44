//! Right edits of real files: lines that stand there once, and what they become.

use crate::dice::Dice;
use std::path::Path;

/// An edit that is right, and what comes of it.
#[derive(Debug, Clone)]
pub struct Right {
    pub content: String,
    /// The number of the first line, from 1.
    pub first: usize,
    pub old: Vec<String>,
    pub new: Vec<String>,
    /// Whether old and new end with a line end.
    pub ended: bool,
    pub result: String,
}

impl Right {
    /// Whether a text is the old one, undamaged.
    pub fn is_old(&self, text: &str) -> bool {
        let text = if self.ended { text.strip_suffix('\n').unwrap_or(text) } else { text };
        text == self.old.join("\n")
    }
}

/// The project's own sources and documents.
pub fn files() -> Vec<String> {
    let mut found = Vec::new();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    gather(&crates, &mut found);
    gather(&crates.join("../docs"), &mut found);
    found.sort();
    assert!(found.len() > 50, "only {} files to edit", found.len());
    found
}

fn gather(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && !name.starts_with('.') && name != "edits" {
            gather(&path, found);
        } else if name.ends_with(".rs") || name.ends_with(".md") {
            found.push(std::fs::read_to_string(&path).unwrap());
        }
    }
}

/// A file as it is, or with tabs, blanks at line ends, typographic quotes, CRLF, or without its last line end.
fn varied(dice: &mut Dice, text: &str) -> String {
    let mut text = text.to_owned();
    if dice.one_in(5) {
        let tabbed = |line: &str| {
            let rest = line.trim_start_matches("    ");
            format!("{}{rest}", "\t".repeat((line.len() - rest.len()) / 4))
        };
        text = text.lines().map(|line| tabbed(line) + "\n").collect();
    }
    if dice.one_in(6) {
        let mut tailed =
            |line: &str| format!("{line}{}\n", ["", "", " ", "  ", "\t"][dice.below(5)]);
        text = text.lines().map(&mut tailed).collect();
    }
    if dice.one_in(5) {
        let mut curly = |line: &str| match dice.one_in(2) {
            true => {
                line.replace(" \"", " “").replace('"', "”").replace('\'', "’").replace(" - ", " — ")
            }
            false => line.to_owned(),
        };
        text = text.lines().map(|line| curly(line) + "\n").collect();
    }
    if dice.one_in(10) {
        text = text.trim_end().to_owned();
    }
    if dice.one_in(8) {
        text = text.replace('\n', "\r\n");
    }
    text
}

/// Some right edit of some file.
pub fn edit(dice: &mut Dice, files: &[String]) -> Right {
    loop {
        let file = dice_file(dice, files);
        let content = varied(dice, &file);
        if let Some(right) = attempt(dice, content) {
            return right;
        }
    }
}

fn dice_file(dice: &mut Dice, files: &[String]) -> String {
    let file = dice.pick(files);
    let lines: Vec<&str> = file.split_inclusive('\n').collect();
    let from = dice.below(lines.len().saturating_sub(300));
    lines[from..(from + 300).min(lines.len())].concat()
}

fn attempt(dice: &mut Dice, content: String) -> Option<Right> {
    let lines: Vec<&str> = content.lines().collect();
    let most = if dice.one_in(3) { 12 } else { 5 };
    let count = 1 + dice.below(most);
    let first = dice.below(lines.len());
    let old: Vec<String> =
        lines.iter().skip(first).take(count).map(|line| (*line).to_owned()).collect();
    let said = |line: Option<&String>| line.is_some_and(|line| !line.trim().is_empty());
    if old.len() < count || !said(old.first()) || !said(old.last()) {
        return None;
    }
    let new = changed(dice, &old);
    let ended = dice.one_in(2);
    let end = if content.contains("\r\n") { "\r\n" } else { "\n" };
    let joined = |lines: &[String]| match (ended, lines.is_empty()) {
        (true, true) => String::new(),
        (true, false) => lines.join(end) + end,
        (false, _) => lines.join(end),
    };
    let (from, to) = (joined(&old), joined(&new));
    // Whole lines: what stands before must be a line end.
    let at = content.find(&from)?;
    let whole = at == 0 || content.as_bytes()[at - 1] == b'\n';
    if !whole || content.matches(&from).count() != 1 || from == to || (!ended && new.is_empty()) {
        return None;
    }
    let result = content.replacen(&from, &to, 1);
    Some(Right { first: first + 1, old, new, ended, result, content })
}

/// How the line at this place is indented, or the one above it that says something.
fn indent(lines: &[String], at: usize) -> String {
    let mut lines = lines[..=at].iter().rev().chain(&lines[at..]);
    let line = lines.find(|line| !line.trim().is_empty());
    line.map_or_else(String::new, |line| line[..line.len() - line.trim_start().len()].to_owned())
}

/// What a change makes of lines, as changes go.
fn changed(dice: &mut Dice, old: &[String]) -> Vec<String> {
    let mut new = old.to_vec();
    let step =
        if old.iter().any(|l| l.starts_with('\t') && !l.trim().is_empty()) { "\t" } else { "    " };
    for _ in 0..1 + dice.below(2) {
        if new.is_empty() {
            break;
        }
        let at = dice.below(new.len());
        match dice.below(8) {
            0 | 1 => new[at] = renamed(dice, &new[at]),
            2 => {
                let deeper = new[at].ends_with(['{', '(', '[', ':']);
                let more = if deeper { step } else { "" };
                let line = format!("{}{more}let total = count(\"items\", 'x');", indent(&new, at));
                new.insert(at + 1, line);
            }
            3 => {
                let line = format!("{}log(\"before - it\");", indent(&new, at));
                new.insert(at, line);
            }
            4 => {
                new.remove(at);
            }
            5 => {
                let lead = indent(&new, at);
                let both = [
                    format!("{lead}if ready {{"),
                    format!("{lead}{step}go(\"\\n\");"),
                    format!("{lead}}}"),
                ];
                new.splice(at..=at, both);
            }
            6 => {
                let lead = indent(&new, 0);
                let mut inner: Vec<String> = new
                    .iter()
                    .map(|l| if l.trim().is_empty() { l.clone() } else { format!("{step}{l}") })
                    .collect();
                inner.insert(0, format!("{lead}if wanted {{"));
                inner.push(format!("{lead}}}"));
                new = inner;
            }
            _ => {
                let other = dice.below(new.len());
                new[at] = format!("{}done(other);", indent(old, other.min(old.len() - 1)));
            }
        }
    }
    new
}

fn renamed(dice: &mut Dice, line: &str) -> String {
    let words: Vec<&str> =
        line.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2).collect();
    if words.is_empty() {
        return if line.trim().is_empty() { line.to_owned() } else { format!("{line} // changed") };
    }
    let word = *dice.pick(&words);
    line.replacen(word, &format!("{word}_next"), 1)
}
