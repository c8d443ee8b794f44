//! The shape of what is said about permission: the flags of a run, and `cairn policy`.

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Args, Command, Error, Subcommand};
use std::ffi::OsStr;
use std::path::PathBuf;

/// The levels of the sandbox, the strictest first, with what each means.
const LEVELS: [(&str, &str); 3] = [
    ("strict", "programs and the project, no network"),
    ("workspace", "the same with toolchains' caches and the hosts you allow; this is the default"),
    ("open", "no sandbox: a command that is allowed can do whatever you can"),
];

/// Reads a level. For a word that is none, nothing is proposed in its place: what looks like it may be the
/// one that keeps nothing.
#[derive(Clone)]
struct Levels;

impl TypedValueParser for Levels {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        _: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, Error> {
        let given = value.to_string_lossy();
        if LEVELS.iter().any(|(name, _)| *name == given) {
            return Ok(given.into_owned());
        }
        let given = cairn_text::shown::clean(&given);
        let levels = LEVELS.map(|(name, means)| format!("  {name:<10} {means}\n")).concat();
        let told = format!("--sandbox: there is no level {given:?}; it is one of\n{levels}");
        Err(Error::raw(ErrorKind::InvalidValue, told).with_cmd(command))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(LEVELS.iter().map(|(name, means)| PossibleValue::new(name).help(means))))
    }
}

/// What a run may do, and who is asked.
#[derive(Args, Clone, Default)]
pub struct Rights {
    /// Allow everything that would be asked about. What the policy forbids stays forbidden.
    #[arg(long, conflicts_with_all = ["read_only", "no_proposals"])]
    pub yolo: bool,
    /// Look, change nothing: --mode read-only.
    #[arg(long, conflicts_with = "mode")]
    pub read_only: bool,
    /// What commands are kept in: strict, workspace or open (docs/sandbox.md).
    #[arg(long, value_name = "LEVEL", value_parser = Levels)]
    pub sandbox: Option<String>,
    /// What it may do: read-only, plan, act or accept-edits.
    #[arg(long, value_name = "MODE", value_parser = crate::config::MODES.to_vec())]
    pub mode: Option<String>,
    /// Allow this unasked, as a rule of the policy; may be given several times.
    #[arg(long, value_name = "RULE")]
    pub allow: Vec<String>,
    /// Ask about this even where it would be allowed; may be given several times.
    #[arg(long, value_name = "RULE")]
    pub ask: Vec<String>,
    /// Forbid this; may be given several times.
    #[arg(long, value_name = "RULE")]
    pub deny: Vec<String>,
    /// Remove much unasked: by default more than 50 files or 10 MiB are asked about even with --yolo.
    #[arg(long)]
    pub allow_large_deletions: bool,
    /// Where nobody is at the terminal, wait for `cairn decide` instead of refusing.
    #[arg(long = "await", conflicts_with_all = ["yolo", "no_proposals"])]
    pub wait: bool,
    /// No files and no commands: it only talks.
    #[arg(long)]
    pub no_repo: bool,
    /// Nothing beyond this machine.
    #[arg(long)]
    pub no_web: bool,
    /// Refuse whatever would be asked about, even where somebody could answer.
    #[arg(long)]
    pub no_proposals: bool,
    /// The agent puts no question and no plan to anybody; it goes by what it knows.
    #[arg(long)]
    pub no_interaction: bool,
}

/// Show who may do what, and why.
#[derive(Args)]
#[command(after_help = "Examples:
  cairn policy                                  the rules in force, and where each stands
  cairn policy explain exec cargo test --all    which gate decides about a command, and why
  cairn policy explain --mode accept-edits edit .github/workflows/ci.yml
  cairn policy explain --tool bash '{\"command\":\"ls\"}'
  cairn policy test expected.policy             lines such as: allow exec cargo test
  cairn policy replay                           the newest run's decisions, decided again
  cairn policy answers                          what people said for longer than one run
  cairn policy revoke 3")]
pub struct PolicyArgs {
    /// What to do; the rules in force are shown when absent.
    #[command(subcommand)]
    pub command: Option<PolicyCommand>,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

/// The commands.
#[derive(Subcommand)]
pub enum PolicyCommand {
    /// Print every gate's word on an op, and which decides.
    Explain(Explain),
    /// Check a table of ops and the words they must get.
    Test(Test),
    /// Decide a run's recorded decisions again and compare.
    Replay(Replay),
    /// List the answers that are remembered for longer than one run.
    Answers(Answers),
    /// Take remembered answers back.
    Revoke(Revoke),
}

/// Print every gate's word on an op.
#[derive(Args)]
pub struct Explain {
    /// The op and what it works on: exec COMMAND, read PATH, edit PATH, move FROM TO, …; with --tool
    /// the call's arguments as JSON. Flags come before it.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub op: Vec<String>,
    /// The op is a call of this tool.
    #[arg(long, value_name = "NAME")]
    pub tool: Option<String>,
    /// As if nobody could be asked.
    #[arg(long)]
    pub headless: bool,
    /// What the run would be given.
    #[command(flatten)]
    pub rights: Rights,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

/// Check a table of ops.
#[derive(Args)]
pub struct Test {
    /// The table: one `allow`, `ask` or `deny` and an op per line; # begins a comment.
    pub file: PathBuf,
    /// What the run would be given.
    #[command(flatten)]
    pub rights: Rights,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

/// Decide a run's recorded decisions again.
#[derive(Args)]
pub struct Replay {
    /// The run; the newest here when absent.
    pub run: Option<String>,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

/// List remembered answers.
#[derive(Args)]
pub struct Answers {
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

/// Take remembered answers back.
#[derive(Args)]
pub struct Revoke {
    /// Their numbers, as `cairn policy answers` shows them.
    #[arg(required_unless_present = "all")]
    pub answers: Vec<u64>,
    /// All of them.
    #[arg(long, conflicts_with = "answers")]
    pub all: bool,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}
