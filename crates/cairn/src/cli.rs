//! The command line's shape. What a command does is elsewhere.

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// An agent that leaves a trail.
///
/// Agents work on your project through tools; everything they do is a row in an append-only log,
/// every effect is asked for, and every op has a signed receipt.
#[derive(Parser)]
#[command(name = "cairn", version, propagate_version = true, after_help = EXIT_CODES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 done, 1 failed, 2 usage, 3 cancelled, 4 turn cap, \
5 approval needed, 7 unverifiable.";

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    /// Give an agent a task.
    Run(Run),
    /// Show what happened in a run.
    Log(Log),
    /// Show one row, turn or loop of a run in full.
    Show(Show),
    /// List sessions and their runs.
    Sessions(Sessions),
    /// Make a new run that shares another's history so far.
    Fork(Fork),
    /// Check a session or a bundle: every receipt, signature and hash.
    Verify(Verify),
    /// Write a session into one file that can be checked anywhere.
    Bundle(Bundle),
    /// Free the contents of runs that nobody touched for a while.
    Gc(Gc),
    /// Show the configuration in force and where each value comes from.
    Config(ConfigArgs),
}

#[derive(Args)]
#[command(after_help = "Examples:
  cairn run \"fix the failing test\"            asks before it changes anything
  cairn run --yolo --json \"…\" > events.jsonl  for programs: one event per line
  git diff | cairn run --read-only \"review this\"
  cairn run -c \"now add a test\"               go on with the newest run here
  cairn run --resume r1k8f3q0c7w2n5b          go on after a crash

While it works: a typed line is told to the agent, Ctrl-C stops it, twice kills it.
Questions are answered with y yes, n no, a all of this kind in this run, d show the diff,
r refuse with words.

With --json, one object per line on stdin (docs/json.md has them all, and the events):
  {\"type\":\"steer\",\"text\":\"…\"}    {\"type\":\"prompt\",\"text\":\"…\"}    {\"type\":\"abort\"}
  {\"type\":\"decide\",\"proposal\":\"p1.1.1\",\"verdict\":\"allow\"}

AGENTS.md files, from the repository's root down to this folder, are told to the model as words of
their authors, and your own ~/.config/cairn/AGENTS.md as yours: docs/context.md.")]
/// Give an agent a task.
pub struct Run {
    /// The task. Piped input is added to it; without a task, the piped input is the task.
    pub task: Option<String>,
    /// Allow everything without asking.
    #[arg(long, conflicts_with = "read_only")]
    pub yolo: bool,
    /// Look, change nothing.
    #[arg(long, alias = "ask")]
    pub read_only: bool,
    /// The model, provider/name.
    #[arg(long, value_name = "PROVIDER/NAME")]
    pub model: Option<String>,
    /// The project's folder.
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Turns at most; then it ends with exit code 4.
    #[arg(long, value_name = "N")]
    pub max_turns: Option<u64>,
    /// A name for the run.
    #[arg(long)]
    pub name: Option<String>,
    /// Go on with the newest run here.
    #[arg(short = 'c', long = "continue", conflicts_with_all = ["resume", "new_session", "name"])]
    pub go_on: bool,
    /// Go on with this run, or with the newest of this session.
    #[arg(long, value_name = "RUN|SESSION", conflicts_with_all = ["new_session", "name"])]
    pub resume: Option<String>,
    /// Start a new session over this folder.
    #[arg(long)]
    pub new_session: bool,
    /// One event per line on stdout; commands as JSON lines on stdin.
    #[arg(long)]
    pub json: bool,
    /// Stop after so many steps; the run can be continued.
    #[arg(long, hide = true)]
    pub steps: Option<u64>,
}

/// Show what happened in a run.
#[derive(Args)]
#[command(after_help = "Examples:
  cairn log                       the newest run here
  cairn log r1k8f3q0c7w2n5b       one run (a prefix or its name will do)
  cairn log --facts --json        the raw facts")]
pub struct Log {
    /// The run; the newest here when absent.
    pub run: Option<String>,
    /// Every fact, not only rows.
    #[arg(long)]
    pub facts: bool,
    /// One JSON object per line.
    #[arg(long)]
    pub json: bool,
}

/// Show one row, turn or loop in full.
#[derive(Args)]
#[command(after_help = "Examples:
  cairn show log://RUN/1/2/3          a row: what was asked, decided, done
  cairn show log://RUN/1/2/3#output   all that was kept of a command's output
  cairn show log://RUN/1/2#request    exactly what the model was sent
  cairn show log://RUN/1/2#reply      what it answered
  cairn show log://RUN/1/2#reasoning  what it thought")]
pub struct Show {
    /// The address.
    pub address: String,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

/// List sessions and their runs.
#[derive(Args)]
pub struct Sessions {
    /// One JSON object per line.
    #[arg(long)]
    pub json: bool,
}

/// Make a new run that shares another's history so far.
#[derive(Args)]
#[command(after_help = "Examples:
  cairn fork                          the newest run here, as it is now
  cairn fork r1k8f3q0c7w2n5b --at 1/2 after turn 2 of loop 1
The files stay as they are; only the history is shared.")]
pub struct Fork {
    /// The run; the newest here when absent.
    pub run: Option<String>,
    /// After which turn, loop/turn; the last one when absent.
    #[arg(long, value_name = "LOOP/TURN")]
    pub at: Option<String>,
    /// A name for the new run.
    #[arg(long)]
    pub name: Option<String>,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

/// Check a session or a bundle.
#[derive(Args)]
#[command(after_help = "Examples:
  cairn verify                              the session here
  cairn verify audit.cairn --anchor HASH    a bundle, against an anchor kept elsewhere
Says VERIFIED, UNANCHORED (consistent, but compared with nothing), REFUTED (exit 1) or
UNVERIFIABLE (exit 7). docs/receipts.md says what is checked.")]
pub struct Verify {
    /// A session, a run, or a bundle's file; the session here when absent.
    pub what: Option<String>,
    /// The anchor it must contain: a checkpoint's hash.
    #[arg(long, value_name = "HASH")]
    pub anchor: Option<String>,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

/// Write a session into one file that can be checked anywhere.
#[derive(Args)]
pub struct Bundle {
    /// The session; the one here when absent.
    pub session: Option<String>,
    /// The file.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}

/// Free the contents of runs that nobody touched for a while.
#[derive(Args)]
#[command(
    after_help = "Facts and receipts always stay, so every session still verifies; what was freed reads as
redacted, and such a run can no longer be continued or shown in full."
)]
pub struct Gc {
    /// Keep what was touched within so many days; the configured keep_days when absent.
    #[arg(long, value_name = "N")]
    pub keep_days: Option<u64>,
    /// Only say what would be freed.
    #[arg(long)]
    pub dry_run: bool,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

/// Show the configuration in force.
#[derive(Args)]
pub struct ConfigArgs {
    /// Every key, with what it means and who may set it.
    #[arg(long)]
    pub all: bool,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}
