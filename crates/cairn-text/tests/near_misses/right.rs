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
    /// Whether some of the content's lines end with CRLF and some without.
    pub mixed: bool,
}

impl Right {
    /// Whether a text is the old one, undamaged.
    pub fn is_old(&self, text: &str) -> bool {
        let text = if self.ended { text.strip_suffix('\n').unwrap_or(text) } else { text };
        text == self.old.join("\n")
    }
}

/// Files to edit.
pub struct Files {
    /// The project's own sources and documents.
    own: Vec<String>,
    /// In other languages: where indentation means something, where tabs do, lists within lists.
    samples: Vec<String>,
}

pub fn files() -> Files {
    let mut own = Vec::new();
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    gather(&home.join(".."), &mut own);
    gather(&home.join("../../docs"), &mut own);
    own.sort();
    assert!(own.len() > 50, "only {} files to edit", own.len());
    let samples = std::fs::read_dir(home.join("tests/near_misses/samples")).unwrap();
    let mut samples: Vec<String> =
        samples.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap()).collect();
    samples.sort();
    Files { own, samples }
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
    match dice.below(24) {
        0..3 => text = text.replace('\n', "\r\n"),
        // Some lines end otherwise than the others.
        3 => {
            let mut some = |line: &str| match line.strip_suffix('\n') {
                Some(bare) if dice.one_in(3) => format!("{bare}\r\n"),
                _ => line.to_owned(),
            };
            text = text.split_inclusive('\n').map(&mut some).collect();
        }
        _ => {}
    }
    text
}

/// Some right edit of some file.
pub fn edit(dice: &mut Dice, files: &Files) -> Right {
    loop {
        let file = dice_file(dice, files);
        let content = varied(dice, &file);
        if let Some(right) = attempt(dice, content) {
            return right;
        }
    }
}

fn dice_file(dice: &mut Dice, files: &Files) -> String {
    let from = if dice.one_in(4) { &files.samples } else { &files.own };
    let file = dice.pick(from);
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
    let new = changed(dice, &old, &step(&lines));
    let ended = dice.one_in(2);
    let whole: Vec<&str> = content.split_inclusive('\n').collect();
    let at: usize = whole[..first].iter().map(|line| line.len()).sum();
    let mut from = whole[first..first + count].concat();
    if !ended {
        from.truncate(from.trim_end_matches(['\r', '\n']).len());
    }
    let end = if content.contains("\r\n") { "\r\n" } else { "\n" };
    let to = match (ended, new.is_empty()) {
        (true, true) => String::new(),
        (true, false) => new.join(end) + end,
        (false, _) => new.join(end),
    };
    let open = ended && !from.ends_with('\n');
    let bare = |text: &str| text.replace("\r\n", "\n");
    // Also where it overlaps itself.
    let (text, wanted) = (bare(&content), bare(&from));
    let once = text.find(&wanted) == text.rfind(&wanted);
    if open || !once || bare(&from) == bare(&to) || (!ended && new.is_empty()) {
        return None;
    }
    let result = format!("{}{to}{}", &content[..at], &content[at + from.len()..]);
    let mixed = content.matches('\n').count() != content.matches("\r\n").count()
        && content.contains("\r\n");
    Some(Right { first: first + 1, old, new, ended, result, content, mixed })
}

/// What one level of indentation is in these lines: the least that one of them has.
fn step(lines: &[&str]) -> String {
    let said = lines.iter().filter(|line| !line.trim().is_empty());
    let leads = said.map(|line| &line[..line.len() - line.trim_start().len()]);
    let least = leads.filter(|lead| lead.len() != 1 || *lead == "\t").filter(|l| !l.is_empty());
    least.min_by_key(|lead| lead.len()).unwrap_or("    ").to_owned()
}

/// How the line at this place is indented, or the one above it that says something.
fn indent(lines: &[String], at: usize) -> String {
    let mut lines = lines[..=at].iter().rev().chain(&lines[at..]);
    let line = lines.find(|line| !line.trim().is_empty());
    line.map_or_else(String::new, |line| line[..line.len() - line.trim_start().len()].to_owned())
}

/// What a change makes of lines, as changes go.
fn changed(dice: &mut Dice, old: &[String], step: &str) -> Vec<String> {
    let mut new = old.to_vec();
    if dice.one_in(20) {
        return Vec::new();
    }
    for _ in 0..1 + dice.below(2) {
        if new.is_empty() {
            break;
        }
        let at = dice.below(new.len());
        match dice.below(11) {
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
            7 if new[0].ends_with(['{', ':']) && new.len() > 1 => return taken_out(&new),
            // Put into one that has no line to close it.
            8 => {
                let lead = indent(&new, at);
                for line in new[at..].iter_mut().filter(|l| !l.trim().is_empty()) {
                    line.insert_str(0, step);
                }
                new.insert(at, format!("{lead}if wanted:"));
                return new;
            }
            9 => {
                let line = format!("{}- \"an item\" - it's new", indent(&new, at));
                new.insert(at + 1, line);
            }
            _ => {
                let other = dice.below(new.len());
                new[at] = format!("{}done(other);", indent(old, other.min(old.len() - 1)));
            }
        }
    }
    new
}

/// Lines taken out of a block, without the line that opened it.
fn taken_out(lines: &[String]) -> Vec<String> {
    let (lead, inner) = (indent(lines, 0), indent(lines, 1));
    let more = inner.strip_prefix(&lead).unwrap_or("");
    let out = |line: &String| match line.strip_prefix(&lead) {
        Some(rest) => format!("{lead}{}", rest.strip_prefix(more).unwrap_or(rest)),
        None => line.clone(),
    };
    lines[1..].iter().map(out).collect()
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
