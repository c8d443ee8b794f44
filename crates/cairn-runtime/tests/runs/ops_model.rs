//! A world as simple as it can be, and what each op comes to in it: the rules of `docs/world.md`, written
//! down once more without anything that makes them fast, durable or shared.

use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// What is asked for.
#[derive(Debug, Clone)]
pub enum Op {
    /// All of it, or the part of a scope.
    Write {
        at: String,
        text: String,
        scope: Option<String>,
        tags: Vec<String>,
    },
    /// One text for another; several are one `multi_edit`.
    Replace {
        at: String,
        exchanges: Vec<(String, String, bool)>,
    },
    Copy {
        from: String,
        to: String,
        tags: Vec<String>,
    },
    Move {
        from: String,
        to: String,
        tags: Vec<String>,
    },
    Remove {
        at: String,
    },
    Read {
        at: String,
        scope: Option<String>,
        matching: Option<String>,
    },
    /// Under nothing are files.
    Find {
        under: String,
        glob: Option<String>,
        text: Option<String>,
        tags: Vec<String>,
    },
    /// Words for an address: 410 removes, all else is not for files and entries.
    Send {
        at: String,
        status: u16,
    },
    /// Of an address that is no row's.
    Fold {
        at: String,
        open: bool,
    },
    /// Of the row of this op, counted from 1.
    FoldRow {
        row: usize,
        open: bool,
    },
    /// A command that changes nothing.
    Exec,
    /// Another client goes on.
    Leave,
}

impl Op {
    /// The tool and its arguments; none for what is no op.
    pub fn call(&self) -> Option<(&'static str, Value)> {
        let exchanged =
            |(old, new, all): &(String, String, bool)| json!({"old": old, "new": new, "all": all});
        Some(match self {
            Op::Write { at, text, scope, tags } => {
                ("write", json!({"path": at, "content": text, "scope": scope, "tags": tags}))
            }
            Op::Replace { at, exchanges } => match exchanges.as_slice() {
                [(old, new, all)] => {
                    ("edit", json!({"path": at, "old": old, "new": new, "all": all}))
                }
                several => {
                    let edits: Vec<Value> = several.iter().map(exchanged).collect();
                    ("multi_edit", json!({"path": at, "edits": edits}))
                }
            },
            Op::Copy { from, to, tags } => ("copy", json!({"from": from, "to": to, "tags": tags})),
            Op::Move { from, to, tags } => ("move", json!({"from": from, "to": to, "tags": tags})),
            Op::Remove { at } => ("remove", json!({"path": at})),
            Op::Read { at, scope, matching } => {
                ("read", json!({"path": at, "scope": scope, "matching": matching}))
            }
            Op::Find { under, glob, text, tags } => {
                let under = (!under.is_empty()).then_some(under);
                ("find", json!({"under": under, "glob": glob, "text": text, "tags": tags}))
            }
            Op::Send { at, status } => ("send", json!({"to": at, "status": status, "text": "x"})),
            Op::Fold { at, open } => (if *open { "open" } else { "fold" }, json!({"path": at})),
            Op::FoldRow { row, open } => {
                let path = format!("log:///{row}/1/1");
                (if *open { "open" } else { "fold" }, json!({"path": path}))
            }
            Op::Exec => ("bash", json!({"command": "true"})),
            Op::Leave => return None,
        })
    }
}

/// A file or an entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Thing {
    pub text: String,
    pub tags: BTreeSet<String>,
}

/// Everything there is, by its address, and which rows are folded.
#[derive(Debug, Clone, Default)]
pub struct Model(pub BTreeMap<String, Thing>, Vec<ModelRow>);

/// A row: what it shows or changed, and whether it is folded.
#[derive(Debug, Clone, Default)]
struct ModelRow {
    of: Option<String>,
    folded: bool,
}

/// A status, or the status of what is not done.
type Status = Result<u16, u16>;

pub fn is_file(at: &str) -> bool {
    !at.contains("://")
}

fn is_json(at: &str) -> bool {
    at.ends_with(".json")
}

fn set(tags: &[String]) -> BTreeSet<String> {
    tags.iter().cloned().collect()
}

impl Model {
    /// Does an op: its status.
    pub fn does(&mut self, op: &Op) -> u16 {
        let status = self.comes_to(op);
        let of = match op {
            Op::Write { at, .. } | Op::Replace { at, .. } | Op::Read { at, .. } => Some(at.clone()),
            _ => None,
        };
        self.1.extend(op.call().map(|_| ModelRow { of, folded: false }));
        status
    }

    fn comes_to(&mut self, op: &Op) -> u16 {
        let status = match op {
            Op::Write { at, text, scope, tags } => self.write(at, text, (scope.as_deref(), tags)),
            Op::Replace { at, exchanges } => self.replace(at, exchanges),
            Op::Copy { from, to, tags } => self.carry(from, to, tags),
            Op::Move { from, to, tags } => self.carry(from, to, tags).inspect(|_| {
                self.0.remove(from);
            }),
            Op::Remove { at } | Op::Send { at, status: 410 } => {
                self.0.remove(at).map(|_| 200).ok_or(404)
            }
            Op::Send { .. } => Err(501),
            Op::Fold { at, open } => {
                self.fold(*open, |_, row| row.of.as_deref() == Some(at.as_str()))
            }
            Op::FoldRow { row, open } => self.fold(*open, |n, _| n + 1 == *row),
            Op::Exec => Ok(200),
            Op::Read { at, scope, matching } => {
                self.read(at, scope.as_deref(), matching.as_deref())
            }
            Op::Find { .. } => self.found(op).map(|found| if found.is_empty() { 204 } else { 200 }),
            Op::Leave => Ok(200),
        };
        status.unwrap_or_else(|status| status)
    }

    /// Folds or opens these rows.
    fn fold(&mut self, open: bool, is_meant: impl Fn(usize, &ModelRow) -> bool) -> Status {
        let rows = self.1.iter_mut().enumerate().filter(|(n, row)| is_meant(*n, row));
        let meant: Vec<&mut ModelRow> = rows.map(|(_, row)| row).collect();
        if meant.is_empty() {
            return Err(404);
        }
        let others = meant.into_iter().filter(|row| row.folded == open);
        let changed = others.map(|row| row.folded = !open).count();
        Ok(if changed == 0 { 304 } else { 200 })
    }

    fn write(&mut self, at: &str, text: &str, (scope, tags): (Option<&str>, &[String])) -> Status {
        if is_file(at) && !tags.is_empty() {
            return Err(400);
        }
        let text = match (scope, self.0.get(at)) {
            (Some(scope), Some(old)) if is_json(at) => with_items(&old.text, scope, text)?,
            (Some(scope), Some(old)) => with_lines(&old.text, scope, text)?,
            _ => text.to_owned(),
        };
        self.put(at, text, tags)
    }

    fn replace(&mut self, at: &str, exchanges: &[(String, String, bool)]) -> Status {
        let mut text = self.0.get(at).ok_or(404u16)?.text.clone();
        for (old, new, all) in exchanges {
            let count = text.matches(old.as_str()).count();
            text = match (old.is_empty(), old == new, count, all) {
                (true, ..) => return Err(422),
                (_, true, ..) => return Err(304),
                (.., 0, _) => return Err(409),
                (.., 1, _) | (.., true) => text.replace(old.as_str(), new),
                _ => return Err(409),
            };
        }
        self.put(at, text, &[])
    }

    /// An edit adds tags. Entries that are JSON by their name are JSON; files are what they are.
    fn put(&mut self, at: &str, text: String, tags: &[String]) -> Status {
        let is_broken = !text.trim().is_empty() && serde_json::from_str::<Value>(&text).is_err();
        if is_json(at) && !is_file(at) && is_broken {
            return Err(400);
        }
        let old = self.0.get(at);
        let mut all = old.map(|old| old.tags.clone()).unwrap_or_default();
        all.extend(set(tags));
        let (is_new, new) = (old.is_none(), Thing { text, tags: all });
        if old == Some(&new) {
            return Err(304);
        }
        self.0.insert(at.to_owned(), new);
        Ok(if is_new { 201 } else { 200 })
    }

    /// A copy never overwrites, and changes no type; between files there are none.
    fn carry(&mut self, from: &str, to: &str, tags: &[String]) -> Status {
        if is_file(to) && !tags.is_empty() {
            return Err(400);
        }
        let mut new = self.0.get(from).ok_or(404u16)?.clone();
        if !tags.is_empty() {
            new.tags = set(tags);
        }
        if is_file(to) {
            new.tags.clear();
        }
        if is_json(from) != is_json(to) && !(is_file(from) && is_file(to)) {
            return Err(415);
        }
        match self.0.get(to) {
            Some(old) if *old == new => Err(304),
            Some(_) => Err(409),
            None => {
                self.0.insert(to.to_owned(), new);
                Ok(201)
            }
        }
    }

    fn read(&self, at: &str, scope: Option<&str>, matching: Option<&str>) -> Status {
        let Some(thing) = self.0.get(at) else {
            // What is beneath an address is listed where nothing stands at it.
            let inside = format!("{at}/");
            let is_listed = !is_file(at) && self.0.keys().any(|other| other.starts_with(&inside));
            return if is_listed { Ok(200) } else { Err(404) };
        };
        if let Some(word) = matching {
            return Ok(if holds(&thing.text, word) { 200 } else { 204 });
        }
        let Some(scope) = scope else { return Ok(200) };
        let count = match is_json(at) {
            true => items(&thing.text)?.len(),
            false => thing.text.lines().count(),
        };
        let (first, after) = selected(scope, count)?;
        Ok(if first == after { 204 } else { 200 })
    }

    /// The addresses that a find tells of.
    pub fn found(&self, op: &Op) -> Result<Vec<String>, u16> {
        let Op::Find { under, glob, text, tags } = op else { return Ok(Vec::new()) };
        let is_nothing = glob.is_none() && text.is_none() && tags.is_empty();
        if under.is_empty() && (is_nothing || !tags.is_empty()) {
            return Err(400);
        }
        let is_found = |(at, thing): &(&String, &Thing)| {
            let path = at.split_once(":///").map_or(at.as_str(), |(_, path)| path);
            let is_there = if under.is_empty() { is_file(at) } else { at.starts_with(under) };
            is_there
                && glob.as_ref().is_none_or(|glob| is_named(glob, path))
                && text.as_ref().is_none_or(|word| holds(&thing.text, word))
                && set(tags).is_subset(&thing.tags)
        };
        Ok(self.0.iter().filter(is_found).map(|(at, _)| at.clone()).collect())
    }
}

fn holds(text: &str, word: &str) -> bool {
    text.lines().any(|line| line.contains(word))
}

/// Of globs there are only these.
fn is_named(glob: &str, path: &str) -> bool {
    match glob {
        "**" => true,
        "*.json" => path.ends_with(".json"),
        "日/*" => path.starts_with("日/"),
        "a*" => path.rsplit('/').next().is_some_and(|name| name.starts_with('a')),
        other => panic!("what {other} finds is not written down"),
    }
}

/// From where to where a scope goes among so many, counted from 0.
fn selected(scope: &str, count: usize) -> Result<(usize, usize), u16> {
    let number = |text: &str| text.parse::<usize>().map_err(|_| 400u16);
    let (first, last) = match scope {
        "0" => return Ok((0, 0)),
        "-1" => return Ok((count, count)),
        "1,-1" => return Ok((0, count)),
        other => match other.split_once('-') {
            Some((first, last)) => (number(first)?, number(last)?),
            None => (number(other)?, number(other)?),
        },
    };
    if first < 1 || last < first || last > count { Err(416) } else { Ok((first - 1, last)) }
}

fn with_lines(old: &str, scope: &str, new: &str) -> Result<String, u16> {
    let mut lines: Vec<&str> = old.lines().collect();
    let (first, after) = selected(scope, lines.len())?;
    lines.splice(first..after, new.lines());
    Ok(lines.iter().map(|line| format!("{line}\n")).collect())
}

/// The items of a list; there is no other JSON here that has any.
fn items(text: &str) -> Result<Vec<Value>, u16> {
    serde_json::from_str::<Vec<Value>>(text).map_err(|_| 400)
}

fn with_items(old: &str, scope: &str, new: &str) -> Result<String, u16> {
    let mut list = items(old)?;
    let (first, after) = selected(scope, list.len())?;
    let new = match new.trim() {
        "" => Vec::new(),
        new => match serde_json::from_str(new).map_err(|_| 400u16)? {
            Value::Array(several) => several,
            one => vec![one],
        },
    };
    list.splice(first..after, new);
    // A list keeps its layout; one that was empty gets a line for each item.
    let is_open = matches!(old.trim(), "[]") || old.starts_with("[\n");
    let list: Vec<String> = list.iter().map(Value::to_string).collect();
    Ok(match (list.is_empty(), is_open) {
        (true, _) => "[]\n".to_owned(),
        (false, true) => format!("[\n  {}\n]\n", list.join(",\n  ")),
        (false, false) => format!("[{}]\n", list.join(", ")),
    })
}
