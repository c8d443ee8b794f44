//! The shape of `cairn sessions` and its subcommands.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// List sessions and their runs.
#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  cairn sessions                       every session with its newest runs, newest first
  cairn sessions --all                 all their runs
  cairn sessions --json                all of it, one session per line
  cairn sessions rename s1k8f3 parser  a name that works wherever an id does
  cairn sessions search \"off by one\"   who said that, and where
  cairn sessions export parser -o parser.cairn
  cairn sessions import parser.cairn --root .
  cairn sessions delete parser
A session is a folder's history: one per folder, made by the first `cairn run` there."
)]
pub struct Sessions {
    /// Something else than a list.
    #[command(subcommand)]
    pub command: Option<SessionsCommand>,
    /// All runs, not only the newest of each session.
    #[arg(long)]
    pub all: bool,
    /// One JSON object per line, with all runs.
    #[arg(long)]
    pub json: bool,
}

/// What else `cairn sessions` does.
#[derive(Subcommand)]
pub enum SessionsCommand {
    /// Give a session a name.
    Rename(Rename),
    /// Find words in what was asked, answered and named.
    Search(Search),
    /// Delete a session with all its runs, receipts and contents.
    Delete(Delete),
    /// Write a session into one file that can go on elsewhere.
    Export(Export),
    /// Take in a session from such a file.
    Import(Import),
}

/// Give a session a name.
#[derive(Args)]
#[command(after_help = "Examples:
  cairn sessions rename s1k8f3q0c7w2n5b parser
  cairn sessions rename parser \"\"      takes the name away
The name works wherever a session's id does. No other session and no run of this home may have it.")]
pub struct Rename {
    /// The session: its id, the first letters of it, its name, or one of its runs.
    pub session: String,
    /// The name.
    pub name: String,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

/// Find words in prompts, replies and names.
#[derive(Args)]
#[command(after_help = "Examples:
  cairn sessions search \"off by one\"   as it is written, large and small letters alike
  cairn sessions search parser --session s1k8f3 --limit 100
Newest first. Each place can be shown: cairn show log://RUN/1/2#reply. What tools read and printed is
not looked at.")]
pub struct Search {
    /// The words, as they are written.
    #[arg(required = true, num_args = 1..)]
    pub words: Vec<String>,
    /// Only in this session.
    #[arg(long)]
    pub session: Option<String>,
    /// How many places at most.
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub limit: u64,
    /// One JSON object per line; the last one says how much was looked at.
    #[arg(long)]
    pub json: bool,
}

/// Delete a session.
#[derive(Args)]
#[command(after_help = "Examples:
  cairn sessions delete parser          asks first
  cairn sessions delete parser --yes    for programs
Runs, facts, receipts, checkpoints and the contents that no other session names are gone for good;
`cairn sessions export` keeps them. Files of the project are not touched. A session with a run that is
being driven is not deleted.")]
pub struct Delete {
    /// The session: its id, the first letters of it, its name, or one of its runs.
    pub session: String,
    /// Without asking.
    #[arg(long)]
    pub yes: bool,
    /// As JSON; needs --yes.
    #[arg(long, requires = "yes")]
    pub json: bool,
}

/// Write a session into one file.
#[derive(Args)]
#[command(after_help = "Examples:
  cairn sessions export -o parser.cairn           the session over this folder
  cairn sessions export parser -o parser.cairn
The file holds everything the session is made of, what its tools read and changed included; keys are not
in it. It is readable by you alone.")]
pub struct Export {
    /// The session; the one over this folder when absent.
    pub session: Option<String>,
    /// The file; it must not exist.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

/// Take in a session.
#[derive(Args)]
#[command(after_help = "Examples:
  cairn sessions import parser.cairn              over the folder it had, if that is there
  cairn sessions import parser.cairn --root .     over this one
The file is checked like `cairn verify` checks a bundle, and refused as a whole if anything in it does not
fit. Nothing in it runs, and a loop that was not finished waits: `cairn run --resume RUN` goes on with
it, in a fork. What the model is then told is what the file says, so go on only with the work of someone
you trust. A session that is here already is not taken in again.")]
pub struct Import {
    /// The file.
    pub file: PathBuf,
    /// The folder the session shall work on.
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}
