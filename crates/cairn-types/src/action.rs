//! What an op does, whatever surface it was written in. Plain data; never stored, since the log keeps
//! the words the op was read from.

use crate::{OpName, Place, ToolCall, scheme_of};
use serde_json::Value;

/// What an op does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Look for paths, or for text in them.
    Find(Find),
    /// Show what is in a directory.
    List {
        /// The directory beneath the root.
        path: String,
        /// How many levels of it, from 1.
        depth: u64,
    },
    /// Read a file.
    Read(Read),
    /// Create or change a file or an entry, or, by a patch that names them, several files.
    Edit(Edit),
    /// Make a file, a directory or an entry like another.
    Copy(Carry),
    /// Give a file, a directory or an entry another address.
    Move(Carry),
    /// Remove an entry, a file, a link, or a directory with everything in it.
    Kill {
        /// What to remove, or `log:///…` for the row of a command in the background.
        path: String,
    },
    /// Show rows of the run's own log again that were folded.
    Open {
        /// `log:///loop/turn/op`, the beginning of one, or a glob.
        path: String,
    },
    /// Show of rows only where they stand.
    Fold {
        /// `log:///loop/turn/op`, the beginning of one, or a glob.
        path: String,
    },
    /// Say something.
    Send(Post),
    /// Run a command.
    Exec(Exec),
    /// Keep the list of what is to be done.
    Todo {
        /// The whole list as it shall be.
        items: Vec<TodoItem>,
    },
    /// Put something to a person.
    Consult(Consult),
    /// Call a tool from outside.
    Call(ToolCall),
}

/// What to make of a file or an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The path beneath the root, or an entry's address; absent only where a patch names its files
    /// itself.
    pub path: Option<String>,
    /// What to do to it.
    pub body: EditBody,
    /// The lines or items it is about; all of it when absent.
    pub scope: Option<String>,
    /// What an entry is tagged with besides.
    pub tags: Vec<String>,
}

impl Edit {
    /// An edit of a whole file or entry.
    #[must_use]
    pub fn of(path: Option<String>, body: EditBody) -> Edit {
        Edit { path, body, scope: None, tags: Vec::new() }
    }
}

/// What to copy or move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carry {
    /// What.
    pub from: String,
    /// Where to; nothing may be there.
    pub to: String,
    /// What an entry there is tagged with; what it was tagged with before when absent.
    pub tags: Vec<String>,
}

impl Carry {
    /// From here to there, with the tags it has.
    #[must_use]
    pub fn of(from: impl Into<String>, to: impl Into<String>) -> Carry {
        Carry { from: from.into(), to: to.into(), tags: Vec::new() }
    }
}

/// What is said, and to whom.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Post {
    /// The address of a stream or of another run; whoever listens when absent.
    pub to: Option<String>,
    /// What is meant by it: to an address 200 writes and 499 cancels; to whoever listens 200 and 499 are the
    /// last word, and any other says how it stands.
    pub status: u16,
    /// The words.
    pub text: String,
}

impl Post {
    /// What stands for whoever listens where a target is named.
    pub const EVERYONE: &str = "everyone";
}

/// A command to run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exec {
    /// The command, or the code, for what runs it.
    pub command: String,
    /// What runs it, by name; the shell when absent.
    pub runtime: Option<String>,
    /// The directory beneath the root to run it in; the root when absent.
    pub cwd: Option<String>,
    /// When to end it; the configured limit when absent.
    pub timeout_ms: Option<u64>,
    /// Let it run beside what follows, without a limit of its own.
    pub background: bool,
    /// Of one in the background: when it ends, the work goes on, though it was over.
    pub wakes: bool,
    /// Nothing of what it changes is kept.
    pub discard: bool,
}

/// What is put to a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Consult {
    /// A question.
    Question {
        /// The question.
        text: String,
        /// Answers to choose from; words of one's own are always one.
        options: Vec<String>,
    },
    /// What the agent would do, to be approved before it does it.
    Plan {
        /// The plan.
        text: String,
    },
}

impl Consult {
    /// What is asked, or planned.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Consult::Question { text, .. } | Consult::Plan { text } => text,
        }
    }
}

/// What to look for, and where.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Find {
    /// Glob over paths beneath the root.
    pub glob: Option<String>,
    /// Literal text, or `/regex/flags`, to look for in files.
    pub text: Option<String>,
    /// The directory beneath the root to look in; the root when absent.
    pub under: Option<String>,
    /// How many lines to show around each line found.
    pub context: u64,
    /// How many results to skip.
    pub skip: u64,
    /// How many results at most; as many as fit a page when absent.
    pub limit: Option<u64>,
    /// Only entries that have all of these tags.
    pub tags: Vec<String>,
}

/// What to read of a file or an entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Read {
    /// The path beneath the root, or an entry's address.
    pub path: String,
    /// First line, from 1.
    pub first: u64,
    /// How many lines at most.
    pub limit: u64,
    /// With a short hash before each line.
    pub hashes: bool,
    /// The lines, columns or items to read, instead of lines counted from the first.
    pub scope: Option<String>,
    /// Only what this matches.
    pub matcher: Option<String>,
}

/// The forms of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditBody {
    /// This is the whole content.
    Whole {
        /// The content.
        content: String,
    },
    /// Exchange texts for others, one after the other, all or none.
    Replace(Vec<Exchange>),
    /// A text in the edit language.
    Patch(String),
}

/// One text for another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// What stands there.
    pub old: String,
    /// What shall stand there.
    pub new: String,
    /// Every occurrence, not the only one.
    pub all: bool,
}

/// One thing to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TodoItem {
    /// What.
    pub text: String,
    /// How far it has come.
    pub state: TodoState,
}

/// How far a thing to be done has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TodoState {
    /// Not begun.
    Pending,
    /// Begun.
    Active,
    /// Done.
    Done,
}

impl Action {
    /// The same, with `file://` addresses written as the paths that they are.
    #[must_use]
    pub fn bare(mut self) -> Action {
        let mut paths: Vec<&mut String> = match &mut self {
            Action::Find(find) => find.under.iter_mut().collect(),
            Action::Read(read) => vec![&mut read.path],
            Action::Edit(edit) => edit.path.iter_mut().collect(),
            Action::Copy(carry) | Action::Move(carry) => vec![&mut carry.from, &mut carry.to],
            Action::List { path, .. }
            | Action::Kill { path }
            | Action::Open { path }
            | Action::Fold { path } => vec![path],
            Action::Send(send) => send.to.iter_mut().collect(),
            Action::Exec(exec) => exec.cwd.iter_mut().collect(),
            Action::Todo { .. } | Action::Consult(_) | Action::Call(_) => Vec::new(),
        };
        for path in &mut paths {
            if scheme_of(path) == Some("file")
                && let Ok(Place::Path(bare)) = Place::of(path)
            {
                **path = bare;
            }
        }
        self
    }

    /// Which op this is.
    #[must_use]
    pub fn op(&self) -> OpName {
        match self {
            Action::Find(_) | Action::List { .. } => OpName::Find,
            Action::Read(_) => OpName::Read,
            Action::Edit(_) => OpName::Edit,
            Action::Copy(_) => OpName::Copy,
            Action::Move(_) => OpName::Move,
            Action::Kill { .. } => OpName::Kill,
            Action::Open { .. } => OpName::Open,
            Action::Fold { .. } => OpName::Fold,
            Action::Send(_) => OpName::Send,
            Action::Exec(_) => OpName::Exec,
            Action::Todo { .. } => OpName::Todo,
            Action::Consult(_) => OpName::Consult,
            Action::Call(_) => OpName::Call,
        }
    }

    /// What it works on, for rows and screens.
    #[must_use]
    pub fn target(&self) -> String {
        match self {
            Action::Find(find) => {
                let parts: Vec<&str> = [&find.under, &find.glob, &find.text]
                    .into_iter()
                    .flatten()
                    .map(String::as_str)
                    .collect();
                parts.join(" ")
            }
            Action::Read(read) => read.path.clone(),
            Action::Edit(Edit { path: Some(path), .. })
            | Action::List { path, .. }
            | Action::Kill { path }
            | Action::Open { path }
            | Action::Fold { path } => path.clone(),
            Action::Send(send) => send.to.clone().unwrap_or_else(|| Post::EVERYONE.to_owned()),
            Action::Edit(Edit { path: None, .. }) => "patch".to_owned(),
            Action::Copy(carry) | Action::Move(carry) => {
                format!("{} → {}", carry.from, carry.to)
            }
            Action::Exec(exec) => match &exec.runtime {
                Some(runtime) => format!("{runtime}: {}", exec.command),
                None => exec.command.clone(),
            },
            Action::Todo { items } => {
                let done = items.iter().filter(|item| item.state == TodoState::Done).count();
                format!("{done} of {} done", items.len())
            }
            Action::Consult(consult) => {
                let line = consult.text().lines().map(str::trim).find(|line| !line.is_empty());
                line.unwrap_or_default().to_owned()
            }
            Action::Call(call) => Value::Object(call.arguments.clone()).to_string(),
        }
    }
}
