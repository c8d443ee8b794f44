//! The shape of `cairn op` and `cairn world`: the ops that agents have, for a person or a script.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Do one op on the project's world yourself, as a row with a receipt.
#[derive(Args)]
#[command(after_help = "Examples:
  cairn op read src/main.rs --scope 10-20
  cairn op read package.json --match '$.scripts.*'
  cairn op find --under known:/// --match capital
  cairn op edit known:///france --tag europe --body 'The capital is Paris.'
  git diff | cairn op edit known:///changes.diff
  cairn op edit notes.md --scope -1 --body 'one more line'
  cairn op copy known:///france docs/france.md
  cairn op kill known:///france
  cairn op exec 'cargo fmt'
  cairn op send --to run:///nightly 'The schema changed.'
  cairn op send --to exec:///RUN/1/2/3 --status 499
A target is a path in the project, or the address of an entry: known:///, unknown:///, memory:/// and skill:///
are written and shared by all runs here, run:///, prompt:///, log:///RUN/loop/turn/op and exec:///RUN/loop/turn/op are read. What an op
came to is a number as in HTTP: 200 done, 201 made, 204 nothing found, 304 unchanged, 400 no sense, 403 refused, 404
not there, 409 in the way, 410 over, 413 too large, 415 of another type, 416 out of range, 429 too much waits, 501 not for
this scheme. The exit code is 0 below 400, else 1; of a command that ran it is the command's. Your own ops ask nobody, but what the policy forbids stays forbidden.")]
pub struct Op {
    #[command(subcommand)]
    pub what: OpKind,
}

/// What every op takes.
#[derive(Args, Default)]
pub struct Where {
    /// The project's folder.
    #[arg(long, value_name = "DIR", global = true)]
    pub cwd: Option<PathBuf>,
    /// As one JSON object.
    #[arg(long, global = true)]
    pub json: bool,
}

/// The ops.
#[derive(Subcommand)]
pub enum OpKind {
    /// Find files or entries by name, tags or content.
    Find {
        /// Where: a directory, or the address of entries, which may be a glob.
        #[arg(long)]
        under: Option<String>,
        /// A glob over paths.
        #[arg(long)]
        glob: Option<String>,
        /// What to look for in them: text, or /regex/; in entries also a JSONPath.
        #[arg(long = "match", value_name = "MATCHER")]
        text: Option<String>,
        /// Only entries with this tag; may be given several times.
        #[arg(long = "tag")]
        tags: Vec<String>,
        /// How many results to skip.
        #[arg(long)]
        skip: Option<u64>,
        #[command(flatten)]
        place: Where,
    },
    /// Read a file or an entry.
    Read {
        /// A path or an address.
        target: String,
        /// Lines, columns or items: 3, 3-7, -5--1, 2,1,2,9.
        #[arg(long, allow_hyphen_values = true)]
        scope: Option<String>,
        /// Only what matches: text, /regex/, or a JSONPath.
        #[arg(long = "match", value_name = "MATCHER")]
        matching: Option<String>,
        /// With a short hash before each line.
        #[arg(long)]
        hashes: bool,
        #[command(flatten)]
        place: Where,
    },
    /// Create or change a file or an entry; the content is read from stdin where none is given.
    Edit {
        /// A path or an address.
        target: String,
        /// The content.
        #[arg(long, conflicts_with_all = ["old", "new", "patch"])]
        body: Option<String>,
        /// Only these lines or items; 0 is before the first, -1 after the last.
        #[arg(long, allow_hyphen_values = true)]
        scope: Option<String>,
        /// The text that stands there now, to be replaced.
        #[arg(long, requires = "new")]
        old: Option<String>,
        /// The text that shall stand there.
        #[arg(long, requires = "old")]
        new: Option<String>,
        /// Replace every occurrence.
        #[arg(long, requires = "old")]
        all: bool,
        /// A file with a patch.
        #[arg(long, value_name = "FILE", conflicts_with = "old")]
        patch: Option<PathBuf>,
        /// Tag the entry; may be given several times.
        #[arg(long = "tag")]
        tags: Vec<String>,
        #[command(flatten)]
        place: Where,
    },
    /// Copy a file, a directory or an entry.
    Copy {
        #[command(flatten)]
        ends: Ends,
    },
    /// Give a file, a directory or an entry another path or address.
    Move {
        #[command(flatten)]
        ends: Ends,
    },
    /// Show rows of your own ops again that were folded.
    Open {
        /// The address of rows: log:///1/1/1, log:///1, or a glob.
        target: String,
        #[command(flatten)]
        place: Where,
    },
    /// Show of rows of your own ops only where they stand.
    Fold {
        /// The address of rows: log:///1/1/1, log:///1, or a glob.
        target: String,
        #[command(flatten)]
        place: Where,
    },
    /// Say something to a stream or a run by its address, or to whoever reads the log.
    Send {
        /// The text.
        text: Option<String>,
        /// An address.
        #[arg(long, value_name = "ADDRESS")]
        to: Option<String>,
        /// What is meant: to an address 200 writes, 499 cancels a stream, 410 removes an entry.
        #[arg(long, value_name = "NUMBER")]
        status: Option<u16>,
        #[command(flatten)]
        place: Where,
    },
    /// Run a command as an agent would: confined, what it changed as one row.
    Exec {
        /// The command, one string for the shell, or code for another runtime.
        command: String,
        /// What runs it, such as python or node.
        #[arg(long)]
        runtime: Option<String>,
        /// When to end it, in milliseconds.
        #[arg(long, value_name = "MS")]
        timeout_ms: Option<u64>,
        /// Keep nothing of what it changes.
        #[arg(long)]
        discard: bool,
        #[command(flatten)]
        place: Where,
    },
    /// Remove a file, a directory or an entry.
    Kill {
        /// A path or an address.
        target: String,
        #[command(flatten)]
        place: Where,
    },
}

/// Both ends of a copy or move.
#[derive(Args)]
pub struct Ends {
    /// What.
    pub from: String,
    /// Where to.
    pub to: String,
    /// Tag the entry there so, instead of as it is; may be given several times.
    #[arg(long = "tag")]
    pub tags: Vec<String>,
    #[command(flatten)]
    pub place: Where,
}

/// List the entries of the project's world, or show one.
#[derive(Args)]
#[command(after_help = "Examples:
  cairn world                     which schemes there are, and how many entries each has
  cairn world known:///           the entries of one
  cairn world known:///france     one of them, as it stands
Unlike `cairn op` it only looks, and leaves no row.")]
pub struct World {
    /// An address.
    pub target: Option<String>,
    /// The project's folder.
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}
