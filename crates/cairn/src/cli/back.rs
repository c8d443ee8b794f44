//! The shape of the commands that go back or another way: `undo`, `redo`, `rewind`, `diff`, `fork`.

use super::{Rights, Terms, Trusting};
use clap::Args;

/// Make a new run that shares another's history so far.
#[derive(Args)]
#[command(after_help = "Examples:
  cairn fork                                   the newest run here, as it is now
  cairn fork --at 1/2 \"now with a hash map\"   after turn 2 of loop 1, with another task
  cairn fork --run r1k8f3q0c7w2n5b             another run
The files stay as they are; only the history is shared. `cairn rewind` takes both back.",
    mut_group("Terms", |terms| terms.requires("task")),
    mut_group("Rights", |rights| rights.requires("task")),
    mut_group("Trusting", |trusting| trusting.requires("task")))]
pub struct Fork {
    /// A task for the new run; without one it is only made. A run's id alone names the run to fork.
    pub task: Option<String>,
    /// The run; the newest here when absent.
    #[arg(long)]
    pub run: Option<String>,
    /// After which turn, loop/turn; the last one when absent.
    #[arg(long, value_name = "LOOP/TURN")]
    pub at: Option<String>,
    /// A name for the new run.
    #[arg(long)]
    pub name: Option<String>,
    #[command(flatten)]
    pub terms: Terms,
    #[command(flatten)]
    pub rights: Rights,
    #[command(flatten)]
    pub trusting: Trusting,
    /// As JSON; with a task, one event per line.
    #[arg(long)]
    pub json: bool,
}

/// Take back what a run's ops changed in files.
#[derive(Args)]
#[command(after_help = "Examples:
  cairn undo                  the newest turn that changed something and is not undone, of any run here
  cairn undo 1/2/3            one row
  cairn undo 1/2              one turn
  cairn undo 1                one loop
  cairn undo 1/2 --since      that turn and everything after it
  cairn undo --dry-run        only show what would change
Files that somebody else changed since are named and left alone, and then nothing is undone unless
--partial is given. What commands changed is covered, unless they ran on the files themselves: in the
background, at `--sandbox open` or where there are no overlays. It says which did, and goes past one only
to a row, turn or loop that is named. `cairn redo` takes an undo back. The conversation stays; `cairn
rewind` takes both back.")]
pub struct Undo {
    /// A row, turn or loop: 1/2/3, 1/2, 1, or its address log://RUN/1/2.
    pub what: Option<String>,
    /// The run; the newest here when absent, and without a row, turn or loop the newest of which
    /// something is not undone.
    #[arg(long)]
    pub run: Option<String>,
    /// Everything from there on.
    #[arg(long, requires = "what")]
    pub since: bool,
    #[command(flatten)]
    pub how: Careful,
}

/// Take back the newest undo.
#[derive(Args)]
#[command(after_help = "Examples:
  cairn redo            take back the newest undo here
  cairn redo --dry-run  only show what would change
After `cairn rewind` the newest undo is the rewind's: redo brings the files back and makes a new run with
the conversation as it was before, with which `cairn run -c` goes on. A rewind that changed no file is no
undo; `cairn run --resume RUN` goes on with the old run.")]
pub struct Redo {
    /// Only undos of this run; of any run of the session here when absent.
    #[arg(long)]
    pub run: Option<String>,
    #[command(flatten)]
    pub how: Careful,
}

/// Go back to the end of a turn: the files, and the conversation in a new run.
#[derive(Args)]
#[command(after_help = "Examples:
  cairn rewind 1/2        files and conversation as they were after turn 2 of loop 1
  cairn run -c \"…\"      goes on from there
The old run stays in the log as it was, and `cairn redo` goes forward to its end again.")]
pub struct Rewind {
    /// The turn, loop/turn.
    pub turn: String,
    /// The run; the newest here when absent.
    #[arg(long)]
    pub run: Option<String>,
    /// A name for the new run.
    #[arg(long)]
    pub name: Option<String>,
    #[command(flatten)]
    pub how: Careful,
}

/// How careful to be with files that are not as they were left.
#[derive(Args)]
pub struct Careful {
    /// Leave files alone that somebody else changed since, and take back the rest.
    #[arg(long)]
    pub partial: bool,
    /// Also overwrite what other runs or later rows wrote; never what somebody else did.
    #[arg(long)]
    pub force: bool,
    /// Only show what would change.
    #[arg(long)]
    pub dry_run: bool,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

/// Show what a run's ops changed in files, as one diff.
#[derive(Args)]
#[command(after_help = "Examples:
  cairn diff            all that the newest run here changed and that is not undone
  cairn diff 1/2        what one turn changed
  cairn diff --stat     only which files, and how many lines
  cairn diff --all      with what was undone
What commands changed is in it, unless they ran on the files themselves; it says which did.")]
pub struct Diff {
    /// A row, turn or loop: 1/2/3, 1/2, 1, or its address log://RUN/1/2.
    pub what: Option<String>,
    /// The run; the newest here when absent.
    #[arg(long)]
    pub run: Option<String>,
    /// Also what was undone.
    #[arg(long)]
    pub all: bool,
    /// Only the files, with lines added and removed.
    #[arg(long)]
    pub stat: bool,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}
