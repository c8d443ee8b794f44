//! The command line's shape. What a command does is elsewhere.

mod back;
mod decide;
mod machine;
mod op;
mod policy;
mod sessions;
mod surface;
mod trust;

pub use back::{Careful, Diff, Fork, Redo, Rewind, Undo};
pub use decide::{Decide, Far, PlanMode, Say};
pub use machine::{Completions, Doctor, Man, Ps, Shell};
pub use op::{Ends, Op, OpKind, Where, World};
pub use policy::{Answers, Explain, PolicyArgs, PolicyCommand, Replay, Revoke, Rights, Test};
pub use sessions::{Delete, Export, Import, Rename, Search, Sessions, SessionsCommand};
pub use surface::{Manner, ModelsProbe, Parse, Surfaces, SurfacesCommand};
pub use trust::{Trust, Trusting};

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

const EXIT_CODES: &str = "Exit codes: 0 done, 1 failed, 2 usage, 3 cancelled, 4 turn or cost cap, \
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
    /// List sessions and their runs; rename, search, delete, export, import them.
    Sessions(Sessions),
    /// Make a new run that shares another's history so far.
    Fork(Fork),
    /// Check a session or a bundle: every receipt, signature and hash.
    Verify(Verify),
    /// Write a session into one file that can be checked anywhere.
    Bundle(Bundle),
    /// Free the contents of runs that nobody touched for a while.
    Gc(Gc),
    /// Do one op on the project's world yourself, as a row with a receipt.
    Op(Op),
    /// List the entries of the project's world, or show one.
    World(World),
    /// Take back what a run's ops changed in files.
    Undo(Undo),
    /// Take back the newest undo.
    Redo(Redo),
    /// Go back to the end of a turn: files and conversation.
    Rewind(Rewind),
    /// Show what a run's ops changed in files, as one diff.
    Diff(Diff),
    /// Show which models there are, what they can and what they cost.
    Models(Models),
    /// Show what a model's reply would do, without doing it.
    Parse(Parse),
    /// Show how models are told to write.
    Surface(Surfaces),
    /// Show how many tokens and how much money went where.
    Usage(Usage),
    /// Store a provider's key.
    Login(Login),
    /// Forget a provider's stored key.
    Logout(Logout),
    /// Say a word on a question of a run that another process drives.
    Decide(Decide),
    /// Show who may do what, and why; explain it, test it, revoke answers.
    Policy(PolicyArgs),
    /// Let a project's own hooks run, as they are now.
    Trust(Trust),
    /// Show the configuration in force and where each value comes from.
    Config(ConfigArgs),
    /// List the commands that run in the background.
    Ps(Ps),
    /// Say what this machine can do, and what to do about it.
    Doctor(Doctor),
    /// Write what a shell needs to complete cairn's commands.
    Completions(Completions),
    /// Write the manual.
    Man(Man),
}

#[derive(Args, Default)]
#[command(after_help = "Examples:
  cairn run \"fix the failing test\"            asks before it changes anything
  cairn run --yolo --json \"…\" > events.jsonl  for programs: one event per line
  git diff | cairn run --read-only \"review this\"
  cairn run --image error.png \"what is wrong here?\"
  cairn run --surface tags --model ollama/qwen3 \"…\"   a model without tool calls
  cairn run --max-cost 0.50 \"…\"              pauses when it has cost half a dollar
  cairn run -c \"now add a test\"               go on with the newest run here
  cairn run --resume r1k8f3q0c7w2n5b          go on after a crash

While it works: a typed line is told to the agent, Ctrl-C stops it, twice kills it; SIGTERM and SIGHUP
stop it, too. Where input is piped
in at a terminal, questions are still asked there; with </dev/null nobody is.
Questions are answered with y yes, n no, c choose among the hunks of an edit, e edit its text, a all of
this kind in this run, m remember it for longer or for more, d show the diff, r refuse with words. After
a crash, what became of an op: h it happened, r run it again, s skip it. A plan: y yes, e yes and edit
files unasked, n no, r revise it, d show it again. What the agent asks: the number of an answer, words of
your own, or - for none.

With --json, one object per line on stdin (docs/json.md has them all, and the events):
  {\"type\":\"steer\",\"text\":\"…\"}    {\"type\":\"prompt\",\"text\":\"…\"}    {\"type\":\"abort\"}
  {\"type\":\"decide\",\"proposal\":\"p1.1.1\",\"verdict\":\"allow\"}

AGENTS.md files, from the repository's root down to this folder, are told to the model as words of
their authors, and your own ~/.config/cairn/AGENTS.md as yours: docs/context.md.")]
/// Give an agent a task.
pub struct Run {
    /// The task. Piped input is added to it; without a task, the piped input is the task.
    pub task: Option<String>,
    #[command(flatten)]
    pub terms: Terms,
    #[command(flatten)]
    pub manner: Manner,
    #[command(flatten)]
    pub rights: Rights,
    #[command(flatten)]
    pub trusting: Trusting,
    /// The project's folder.
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// A name for the run.
    #[arg(long)]
    pub name: Option<String>,
    /// Go on with the newest run here.
    #[arg(short = 'c', long = "continue", conflicts_with_all = ["resume", "new_session", "name"])]
    pub go_on: bool,
    /// Go on with this run, or with the newest of this session.
    #[arg(long, value_name = "RUN|SESSION", conflicts_with_all = ["new_session", "name"])]
    pub resume: Option<String>,
    /// Keep nothing of what flags forbade when the run was last driven.
    #[arg(long)]
    pub new_terms: bool,
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

/// What a task is worked on with, whichever run takes it.
#[derive(Args, Clone, Default)]
pub struct Terms {
    /// A picture (PNG, JPEG, GIF, WebP) or a PDF to show with the task; can be repeated.
    #[arg(long, value_name = "FILE")]
    pub image: Vec<PathBuf>,
    /// The model, provider/name; a run that goes on has its own when absent.
    #[arg(long, value_name = "PROVIDER/NAME")]
    pub model: Option<String>,
    /// How much the model shall think, where it can: off, minimal, low, medium or high.
    #[arg(long, value_name = "LEVEL", value_parser = ["off", "minimal", "low", "medium", "high"])]
    pub effort: Option<String>,
    /// A JSON Schema file that the answer must follow; otherwise the exit code is 1.
    #[arg(long, value_name = "FILE")]
    pub output_schema: Option<PathBuf>,
    /// A folder besides the project's that the agent may work in; may be given several times.
    #[arg(long, value_name = "DIR")]
    pub add_dir: Vec<PathBuf>,
    /// Turns at most; then it ends with exit code 4.
    #[arg(long, value_name = "N")]
    pub max_turns: Option<u64>,
    /// Minutes of work at most per loop; then it ends with exit code 4.
    #[arg(long, value_name = "N")]
    pub max_minutes: Option<u64>,
    /// US dollars at most per loop; then it ends with exit code 4.
    #[arg(long, value_name = "USD")]
    pub max_cost: Option<String>,
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
  cairn show 1/2/3                    a row of the newest run here
  cairn show log://RUN/1/2/3          a row: what was asked, decided, done
  cairn show log://RUN/1/2/3#output   all that was kept of a command's output
  cairn show changes/1                what others changed, when the run was told of it first
  cairn show log://RUN/1/2#request    exactly what the model was sent
  cairn show log://RUN/1/2#reply      what it answered
  cairn show log://RUN/1/2#reasoning  what it thought")]
pub struct Show {
    /// The address: log://RUN/1/2/3 or log://RUN/changes/1, or 1/2/3 or changes/1 in the newest run here.
    pub address: String,
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
    /// Read every content that the session's facts name, too; one that is damaged or missing refutes it.
    #[arg(long)]
    pub contents: bool,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

/// Write a session into one file that can be checked anywhere.
#[derive(Args)]
#[command(after_help = "Examples:
  cairn bundle -o audit.cairn           the session here
  cairn bundle -o audit.cairn --force   again, in place of the file that is there
The file is readable by you alone. `cairn verify audit.cairn --anchor …` checks it anywhere.")]
pub struct Bundle {
    /// The session; the one here when absent.
    pub session: Option<String>,
    /// The file; it must not exist.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Write over a file that is there.
    #[arg(long)]
    pub force: bool,
}

/// Free the contents of runs that nobody touched for a while.
#[derive(Args)]
#[command(after_help = "Examples:
  cairn gc                       says what would be freed, and asks
  cairn gc --keep-days 7 --yes   for programs
  cairn gc --dry-run             only says it
Facts and receipts always stay, so every session still verifies; what was freed reads as redacted, and
such a run can no longer be continued, shown in full or undone. An undo that was not taken back keeps
what `cairn redo` needs.")]
pub struct Gc {
    /// Keep what was touched within so many days; the configured keep_days when absent.
    #[arg(long, value_name = "N")]
    pub keep_days: Option<u64>,
    /// Only say what would be freed.
    #[arg(long)]
    pub dry_run: bool,
    /// Without asking.
    #[arg(long)]
    pub yes: bool,
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

/// Show which models there are.
#[derive(Args)]
pub struct Models {
    /// What to do.
    #[command(subcommand)]
    pub command: ModelsCommand,
}

/// What `cairn models` does.
#[derive(Subcommand)]
pub enum ModelsCommand {
    /// List models: of providers whose key is set and of local servers.
    List(ModelsList),
    /// Show everything that is known of one model, and who says it.
    Show(ModelsShow),
    /// Try which way of writing serves a model best, and use it from then on.
    Probe(ModelsProbe),
    /// Use a newer list of models, limits and prices.
    Update(ModelsUpdate),
}

/// List models.
#[derive(Args)]
#[command(after_help = "Examples:
  cairn models list                  what you can use now
  cairn models list anthropic        one provider's
  cairn models list --all --json     everything that is known, one object per line
Prices are US dollars per million tokens, in JSON 10^-12 US dollars per token. ? is unknown.")]
pub struct ModelsList {
    /// Only this provider's.
    pub provider: Option<String>,
    /// Also of providers whose key is not set.
    #[arg(long, conflicts_with = "provider")]
    pub all: bool,
    /// One JSON object per line.
    #[arg(long)]
    pub json: bool,
}

/// Show one model.
#[derive(Args)]
#[command(after_help = "Examples:
  cairn models show anthropic/claude-sonnet-4-5
  cairn models show openrouter/anthropic/claude-sonnet-4.5 --json
To correct it, in your cairn.toml (US dollars per million tokens):
  [models.\"openai/gpt-5-mini\"]
  input = \"0.25\"
  output = \"2.00\"")]
pub struct ModelsShow {
    /// The model, provider/name.
    #[arg(value_name = "PROVIDER/NAME")]
    pub name: String,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

/// Use a newer list of models.
#[derive(Args)]
#[command(after_help = "Examples:
  cairn models update api.json       a file in the form of https://models.dev/api.json
  cairn models update --remove       back to the bundled list
The file is checked whole before anything changes. Only limits, prices and abilities are taken from
it: where a provider stands and which variable holds its key never is.")]
pub struct ModelsUpdate {
    /// The file.
    #[arg(required_unless_present = "remove", conflicts_with = "remove")]
    pub file: Option<PathBuf>,
    /// Go back to the bundled list.
    #[arg(long)]
    pub remove: bool,
}

/// Show how many tokens and how much money went where.
#[derive(Args)]
#[command(after_help = "Examples:
  cairn usage                           by day and model
  cairn usage --by model --since 2026-11-01
  cairn usage --by run --json           one object per line; cost in 10^-12 US dollars
Every reply of a model in this home counts once, with the price that was known when it came. What
nobody knows is said as unknown, not as 0.")]
pub struct Usage {
    /// What to add up by; by day and model when absent.
    #[arg(long, value_enum)]
    pub by: Option<By>,
    /// Only from this day on.
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub since: Option<String>,
    /// One JSON object per line.
    #[arg(long)]
    pub json: bool,
}

/// What usage is added up by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum By {
    /// Days here.
    Day,
    /// Models.
    Model,
    /// Runs.
    Run,
    /// Sessions.
    Session,
}

/// Store a provider's key.
#[derive(Args)]
#[command(after_help = "Examples:
  cairn login anthropic              asks for the key; it is not shown
  cairn login openai < key.txt       takes it from a pipe or a file, never from an argument
  cairn login --list                 which keys there are, and where they come from
The key is stored in credentials.toml beside your cairn.toml, readable by you alone. A variable such
as OPENAI_API_KEY is used before it.")]
pub struct Login {
    /// The provider; asked for when absent.
    pub provider: Option<String>,
    /// Only list whose keys are there, and where each comes from.
    #[arg(long, conflicts_with = "provider")]
    pub list: bool,
    /// With --list: one JSON object per line.
    #[arg(long, requires = "list")]
    pub json: bool,
    /// What else stands on the line, such as a key, which is then not repeated in an error.
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub rest: Vec<String>,
}

/// Forget a provider's stored key.
#[derive(Args)]
pub struct Logout {
    /// The provider.
    pub provider: String,
}
