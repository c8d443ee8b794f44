//! Near misses written by hand, from `cases.tsv`: a line `text NAME CONTENT` names a content; a line
//! `case CLASS NAME OLD NEW` goes on with `= RIGHT_OLD RIGHT_NEW`, the exact exchange that is meant,
//! or with `!` and words of the refusal. Fields stand between tabs, with `\n`, `\t`, `\r` and `\\`.

use std::collections::HashMap;

/// One case.
#[derive(Debug)]
pub struct Case {
    pub class: String,
    pub content: String,
    pub old: String,
    pub new: String,
    pub meant: Meant,
}

/// What must come of a case.
#[derive(Debug)]
pub enum Meant {
    /// This content.
    Content(String),
    /// A refusal with these words.
    Refused(String),
}

pub fn cases() -> Vec<Case> {
    let mut texts: HashMap<String, String> = HashMap::new();
    let mut cases = Vec::new();
    for line in include_str!("cases.tsv").lines() {
        let fields: Vec<String> = line.split('\t').map(plain).collect();
        let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
        match fields.as_slice() {
            ["text", name, content] => drop(texts.insert((*name).into(), (*content).into())),
            ["case", class, name, old, new, kind, first, second] => {
                let content = texts[*name].clone();
                let meant = match *kind {
                    "=" => {
                        assert_eq!(content.matches(first).count(), 1, "{line}");
                        Meant::Content(content.replacen(first, second, 1))
                    }
                    _ => Meant::Refused((*first).into()),
                };
                let (class, old, new) = ((*class).into(), (*old).into(), (*new).into());
                cases.push(Case { class, content, old, new, meant });
            }
            _ => panic!("not a case: {line}"),
        }
    }
    cases
}

fn plain(field: &str) -> String {
    let mut out = String::new();
    let mut chars = field.chars();
    while let Some(c) = chars.next() {
        out.push(match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some('n')) => '\n',
            ('\\', Some('t')) => '\t',
            ('\\', Some('r')) => '\r',
            (c, _) => c,
        });
    }
    out
}
