//! What each native tool asks for, and back: arguments that fit become an op, and an op the arguments that ask for it.

use super::declare::{Fields, Way};
use super::tools::{
    AskUser, Bash, Copy, Edit, Env, FindIn, Fold, Item, List, Move, MultiEdit, OneEdit, Open,
    PresentPlan, ReadFile, Remove, Send, Todo, UseSkill, WebSearch, Write,
};
use crate::json::short;
use cairn_types::{
    Action, Carry, Consult, EditBody, Exchange, Exec, Find, Post, Read, Status, TodoItem, scheme_of,
};

/// A person chooses among no more answers than this.
const MOST_OPTIONS: usize = 20;

/// A text that says something.
fn given(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty())
}

/// A tool before it is in the table: what turns its arguments into an op.
pub(super) trait Declared: Fields {
    /// The arguments that say what it works on, and where.
    const TARGETS: &'static [&'static str] = &[];
    /// The ways to give its arguments, where not any that are required will do.
    const WAYS: &'static [Way] = &[];
    /// Arguments as a model is shown them, a JSON object.
    const EXAMPLE: &'static str;
    fn action(self) -> Result<Action, String>;
    /// The arguments that ask for this, if it is what the tool is for.
    fn of(action: &Action) -> Option<Self>;
}

impl Declared for ReadFile {
    const TARGETS: &'static [&'static str] = &["path"];
    const EXAMPLE: &'static str = r#"{"path":"src/main.rs","first":10,"limit":40}"#;
    fn action(self) -> Result<Action, String> {
        Ok(Action::Read(Read {
            path: self.path,
            first: self.first.unwrap_or(1).max(1),
            limit: self.limit.filter(|n| *n > 0).unwrap_or(2000),
            hashes: self.hashes,
            scope: given(self.scope),
            matcher: given(self.matching),
        }))
    }
    fn of(action: &Action) -> Option<Self> {
        let Action::Read(Read { path, first, limit, hashes, scope, matcher }) = action else {
            return None;
        };
        Some(ReadFile {
            path: path.clone(),
            first: (*first != 1).then_some(*first),
            limit: (*limit != 2000).then_some(*limit),
            hashes: *hashes,
            scope: scope.clone(),
            matching: matcher.clone(),
        })
    }
}

impl Declared for Write {
    const TARGETS: &'static [&'static str] = &["path"];
    const EXAMPLE: &'static str = r#"{"path":"notes.md","content":"Milk\nBread\n"}"#;
    fn action(self) -> Result<Action, String> {
        let Write { path, content, scope, tags } = self;
        let (path, body) = (Some(path), EditBody::Whole { content });
        Ok(Action::Edit(cairn_types::Edit { path, body, scope: given(scope), tags }))
    }
    fn of(action: &Action) -> Option<Self> {
        let Action::Edit(cairn_types::Edit { path, body, scope, tags }) = action else {
            return None;
        };
        let EditBody::Whole { content } = body else { return None };
        let (content, scope, tags) = (content.clone(), scope.clone(), tags.clone());
        Some(Write { path: path.clone()?, content, scope, tags })
    }
}

impl Declared for Edit {
    const TARGETS: &'static [&'static str] = &["path"];
    const WAYS: &'static [Way] = &[
        Way { needs: &["path", "old", "new"], leaves: &["patch"] },
        Way { needs: &["patch"], leaves: &["old", "new", "all"] },
    ];
    const EXAMPLE: &'static str = r#"{"path":"src/main.rs","old":"let n = 1;","new":"let n = 2;"}"#;
    fn action(self) -> Result<Action, String> {
        let Edit { path, old, new, all, patch } = self;
        let body = match (old, new, patch) {
            (None, None, Some(patch)) => {
                return Ok(Action::Edit(cairn_types::Edit::of(path, EditBody::Patch(patch))));
            }
            (Some(old), Some(new), None) => EditBody::Replace(vec![Exchange { old, new, all }]),
            (Some(_), None, None) => return Err("new is missing".to_owned()),
            (None, Some(_), None) => return Err("old is missing".to_owned()),
            (_, _, Some(_)) => return Err("old and new, or patch, but not both".to_owned()),
            (None, None, None) => return Err("neither old and new nor patch is given".to_owned()),
        };
        match path {
            Some(path) => Ok(Action::Edit(cairn_types::Edit::of(Some(path), body))),
            None => Err("path is missing".to_owned()),
        }
    }
    fn of(action: &Action) -> Option<Self> {
        let Action::Edit(edit) = action else { return None };
        let path = edit.path.clone();
        let none = Edit { path, old: None, new: None, all: false, patch: None };
        match &edit.body {
            EditBody::Patch(patch) => Some(Edit { patch: Some(patch.clone()), ..none }),
            EditBody::Replace(edits) => match &edits[..] {
                [Exchange { old, new, all }] => {
                    let (old, new) = (Some(old.clone()), Some(new.clone()));
                    Some(Edit { old, new, all: *all, ..none })
                }
                _ => None,
            },
            EditBody::Whole { .. } => None,
        }
    }
}

impl Declared for MultiEdit {
    const TARGETS: &'static [&'static str] = &["path"];
    const WAYS: &'static [Way] = &[Way { needs: &["edits"], leaves: &[] }];
    const EXAMPLE: &'static str = r#"{"path":"a.txt","edits":[{"old":"one","new":"two"},{"old":"three","new":"four","all":true}]}"#;
    fn action(self) -> Result<Action, String> {
        if self.edits.is_empty() {
            return Err("edits is empty".to_owned());
        }
        let exchange = |OneEdit { old, new, all }| Exchange { old, new, all };
        let body = EditBody::Replace(self.edits.into_iter().map(exchange).collect());
        Ok(Action::Edit(cairn_types::Edit::of(Some(self.path), body)))
    }
    fn of(action: &Action) -> Option<Self> {
        let Action::Edit(cairn_types::Edit { path, body: EditBody::Replace(edits), .. }) = action
        else {
            return None;
        };
        let one = |edit: &Exchange| {
            let Exchange { old, new, all } = edit.clone();
            OneEdit { old, new, all }
        };
        Some(MultiEdit { path: path.clone()?, edits: edits.iter().map(one).collect() })
    }
}

impl Declared for FindIn {
    const TARGETS: &'static [&'static str] = &["glob", "under"];
    const WAYS: &'static [Way] = &[
        Way { needs: &["glob"], leaves: &[] },
        Way { needs: &["text"], leaves: &[] },
        Way { needs: &["tags"], leaves: &[] },
    ];
    const EXAMPLE: &'static str = r#"{"glob":"src/**/*.rs","text":"fn main"}"#;
    fn action(self) -> Result<Action, String> {
        let FindIn { glob, text, under, tags, context, skip, limit } = self;
        let is_address = under.as_deref().is_some_and(|under| scheme_of(under).is_some());
        if glob.is_none() && text.is_none() && tags.is_empty() && !is_address {
            return Err(match under {
                None => "neither glob nor text nor tags are given".to_owned(),
                Some(under) => format!(
                    "{:?} says only where to look; neither glob nor text nor tags are given",
                    short(&under)
                ),
            });
        }
        let (context, skip) = (context.unwrap_or(0), skip.unwrap_or(0));
        let limit = limit.filter(|n| *n > 0);
        Ok(Action::Find(Find { glob, text, under, context, skip, limit, tags }))
    }
    fn of(action: &Action) -> Option<Self> {
        let Action::Find(find) = action else { return None };
        let Find { glob, text, under, context, skip, limit, tags } = find.clone();
        let (context, skip) = ((context > 0).then_some(context), (skip > 0).then_some(skip));
        Some(FindIn { glob, text, under, tags, context, skip, limit })
    }
}

impl Declared for List {
    const TARGETS: &'static [&'static str] = &["path"];
    const EXAMPLE: &'static str = r#"{"path":"src","depth":2}"#;
    fn action(self) -> Result<Action, String> {
        let path = self.path.unwrap_or_else(|| ".".to_owned());
        Ok(Action::List { path, depth: self.depth.unwrap_or(1).max(1) })
    }
    fn of(action: &Action) -> Option<Self> {
        let Action::List { path, depth } = action else { return None };
        let (path, depth) = ((path != ".").then(|| path.clone()), (*depth != 1).then_some(*depth));
        Some(List { path, depth })
    }
}

impl Declared for Remove {
    const TARGETS: &'static [&'static str] = &["path"];
    const EXAMPLE: &'static str = r#"{"path":"old.txt"}"#;
    fn action(self) -> Result<Action, String> {
        Ok(Action::Kill { path: self.path })
    }
    fn of(action: &Action) -> Option<Self> {
        let Action::Kill { path } = action else { return None };
        Some(Remove { path: path.clone() })
    }
}

impl Declared for Move {
    const TARGETS: &'static [&'static str] = &["from", "to"];
    const EXAMPLE: &'static str = r#"{"from":"a.txt","to":"b.txt"}"#;
    fn action(self) -> Result<Action, String> {
        Ok(Action::Move(Carry { from: self.from, to: self.to, tags: self.tags }))
    }
    fn of(action: &Action) -> Option<Self> {
        let Action::Move(Carry { from, to, tags }) = action else { return None };
        Some(Move { from: from.clone(), to: to.clone(), tags: tags.clone() })
    }
}

impl Declared for Copy {
    const TARGETS: &'static [&'static str] = &["from", "to"];
    const EXAMPLE: &'static str = r#"{"from":"a.txt","to":"b.txt"}"#;
    fn action(self) -> Result<Action, String> {
        Ok(Action::Copy(Carry { from: self.from, to: self.to, tags: self.tags }))
    }
    fn of(action: &Action) -> Option<Self> {
        let Action::Copy(Carry { from, to, tags }) = action else { return None };
        Some(Copy { from: from.clone(), to: to.clone(), tags: tags.clone() })
    }
}

impl Declared for Open {
    const TARGETS: &'static [&'static str] = &["path"];
    const EXAMPLE: &'static str = r#"{"path":"log:///1/2/3"}"#;
    fn action(self) -> Result<Action, String> {
        Ok(Action::Open { path: self.path })
    }
    fn of(action: &Action) -> Option<Self> {
        let Action::Open { path } = action else { return None };
        Some(Open { path: path.clone() })
    }
}

impl Declared for Fold {
    const TARGETS: &'static [&'static str] = &["path"];
    const EXAMPLE: &'static str = r#"{"path":"log:///1/2"}"#;
    fn action(self) -> Result<Action, String> {
        Ok(Action::Fold { path: self.path })
    }
    fn of(action: &Action) -> Option<Self> {
        let Action::Fold { path } = action else { return None };
        Some(Fold { path: path.clone() })
    }
}

impl Declared for Send {
    const TARGETS: &'static [&'static str] = &["to"];
    const WAYS: &'static [Way] =
        &[Way { needs: &["text"], leaves: &[] }, Way { needs: &["to"], leaves: &[] }];
    const EXAMPLE: &'static str = r#"{"text":"The tests pass; now the documents."}"#;
    fn action(self) -> Result<Action, String> {
        let to = given(self.to);
        let usual = if to.is_some() { Status::OK } else { Status::RUNNING };
        let status = match self.status.map(u16::try_from) {
            None => usual.0,
            Some(Ok(status)) if (100..600).contains(&status) => status,
            Some(_) => return Err("status must be a number from 100 to 599".to_owned()),
        };
        match (to, self.text) {
            (Some(path), _) if status == Status::GONE.0 => Ok(Action::Kill { path }),
            (None, text) if given(text.clone()).is_none() => Err("text is missing".to_owned()),
            (to, text) => Ok(Action::Send(Post { to, status, text: text.unwrap_or_default() })),
        }
    }
    fn of(action: &Action) -> Option<Self> {
        let Action::Send(Post { to, status, text }) = action else { return None };
        let usual = if to.is_some() { Status::OK } else { Status::RUNNING };
        let status = (*status != usual.0).then_some(u64::from(*status));
        Some(Send { to: to.clone(), status, text: (!text.is_empty()).then(|| text.clone()) })
    }
}

impl Declared for Bash {
    const TARGETS: &'static [&'static str] = &["cwd"];
    const WAYS: &'static [Way] = &[
        Way { needs: &[], leaves: &["background", "wake"] },
        Way { needs: &["background"], leaves: &[] },
    ];
    const EXAMPLE: &'static str = r#"{"command":"cargo test"}"#;
    fn action(self) -> Result<Action, String> {
        let timeout_ms = self.timeout_ms.filter(|n| *n > 0);
        let Bash { command, runtime, cwd, background, wake, .. } = self;
        if wake && !background {
            return Err("wake is for a command in the background".to_owned());
        }
        let (wakes, discard) = (wake, false);
        Ok(Action::Exec(Exec { command, runtime, cwd, timeout_ms, background, wakes, discard }))
    }
    fn of(action: &Action) -> Option<Self> {
        let Action::Exec(exec) = action else { return None };
        let Exec { command, runtime, cwd, timeout_ms, background, wakes, discard } = exec.clone();
        (!discard).then_some(Bash { command, runtime, cwd, timeout_ms, background, wake: wakes })
    }
}

impl Declared for Env {
    const TARGETS: &'static [&'static str] = &["cwd"];
    const EXAMPLE: &'static str = r#"{"command":"git log -3"}"#;
    fn action(self) -> Result<Action, String> {
        let timeout_ms = self.timeout_ms.filter(|n| *n > 0);
        let Env { command, runtime, cwd, .. } = self;
        let discard = true;
        Ok(Action::Exec(Exec { command, runtime, cwd, timeout_ms, discard, ..Exec::default() }))
    }
    fn of(action: &Action) -> Option<Self> {
        let Action::Exec(exec) = action else { return None };
        let Exec { command, runtime, cwd, timeout_ms, discard, .. } = exec.clone();
        discard.then_some(Env { command, runtime, cwd, timeout_ms })
    }
}

impl Declared for Todo {
    const EXAMPLE: &'static str = r#"{"items":[{"text":"read the tests","state":"done"},{"text":"mend them","state":"active"}]}"#;
    fn action(self) -> Result<Action, String> {
        let item = |Item { text, state }| TodoItem { text, state };
        Ok(Action::Todo { items: self.items.into_iter().map(item).collect() })
    }
    fn of(action: &Action) -> Option<Self> {
        let Action::Todo { items } = action else { return None };
        let item = |item: &TodoItem| Item { text: item.text.clone(), state: item.state };
        Some(Todo { items: items.iter().map(item).collect() })
    }
}

impl Declared for AskUser {
    const EXAMPLE: &'static str =
        r#"{"question":"Which database?","options":["SQLite","PostgreSQL"]}"#;
    fn action(self) -> Result<Action, String> {
        let AskUser { question, options } = self;
        if question.trim().is_empty() {
            return Err("question is empty".to_owned());
        }
        let options: Vec<String> = options.into_iter().filter(|o| !o.trim().is_empty()).collect();
        if options.len() > MOST_OPTIONS {
            return Err(format!("there are more than {MOST_OPTIONS} options"));
        }
        Ok(Action::Consult(Consult::Question { text: question, options }))
    }
    fn of(action: &Action) -> Option<Self> {
        let Action::Consult(Consult::Question { text, options }) = action else { return None };
        Some(AskUser { question: text.clone(), options: options.clone() })
    }
}

impl Declared for PresentPlan {
    const EXAMPLE: &'static str = r#"{"plan":"1. Read the tests.\n2. Mend them."}"#;
    fn action(self) -> Result<Action, String> {
        match self.plan.trim().is_empty() {
            true => Err("plan is empty".to_owned()),
            false => Ok(Action::Consult(Consult::Plan { text: self.plan })),
        }
    }
    fn of(action: &Action) -> Option<Self> {
        let Action::Consult(Consult::Plan { text }) = action else { return None };
        Some(PresentPlan { plan: text.clone() })
    }
}

impl Declared for WebSearch {
    const EXAMPLE: &'static str = r#"{"query":"release notes"}"#;
    fn action(self) -> Result<Action, String> {
        Err(format!("nothing here searches the web for {:?}", self.query))
    }
    fn of(_: &Action) -> Option<Self> {
        None
    }
}

impl Declared for UseSkill {
    const EXAMPLE: &'static str = r#"{"name":"review"}"#;
    fn action(self) -> Result<Action, String> {
        Err(format!("there are no skills here, and so not {:?}", self.name))
    }
    fn of(_: &Action) -> Option<Self> {
        None
    }
}
