//! The shape of what is said about surfaces: how a run's model writes, and the commands that show it.

use crate::commands::models::MOST_TASKS;
use clap::Args;
use std::path::PathBuf;

/// How the model of a new run writes, and what it may call.
#[derive(Args, Clone, Default)]
pub struct Manner {
    /// How the model writes ops: native, tags, heredoc or envelope; what is configured for it, or a probe found, when
    /// absent.
    #[arg(long, value_name = "NAME")]
    pub surface: Option<String>,
    /// Six tools and a short beginning, for a small model.
    #[arg(long)]
    pub small: bool,
    /// The only tools it may call, with commas between them.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub allowed_tools: Vec<String>,
    /// It must call a tool before it answers; for the envelope only.
    #[arg(long, conflicts_with = "skip_tools")]
    pub require_tool: bool,
    /// It is told of no tools: what it answers is the answer.
    #[arg(long, conflicts_with = "allowed_tools")]
    pub skip_tools: bool,
}

/// Try which way of writing serves a model best.
#[derive(Args)]
#[command(after_help = "Examples:
  cairn models probe ollama/qwen3                  40 tasks on every surface
  cairn models probe ollama/qwen3 --tasks 5        a first look
  cairn models probe ollama/qwen3 --dry-run        how much that would ask; needs no key
  cairn models probe openai/gpt-5-mini --max-cost 0.50
  cairn models probe ollama/qwen3 --surface tags --surface envelope --tasks 10
It takes about 700 requests: minutes where a reply takes a second, hours on a slow local model; how long is said
while it runs. Each task is done in a temporary folder and home. Valid is the share of replies that could be admitted whole,
correct the share of tasks that came out right. The best setting is kept in probes.json beside your cairn.toml,
and `cairn run` uses it where neither a flag nor the configuration names a surface.")]
pub struct ModelsProbe {
    /// The model, provider/name.
    #[arg(value_name = "PROVIDER/NAME")]
    pub name: String,
    /// Only this surface: native, tags, heredoc or envelope; can be given several times.
    #[arg(long, value_name = "NAME")]
    pub surface: Vec<String>,
    /// Only the first so many tasks.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MOST_TASKS))]
    pub tasks: Option<u64>,
    /// Stop before it costs more than this, in US dollars.
    #[arg(long, value_name = "USD")]
    pub max_cost: Option<String>,
    /// Say how much would be asked, and ask nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// One JSON object per line: each row of the table, and what was recorded.
    #[arg(long)]
    pub json: bool,
}

/// Show what a model's reply would do, without doing it.
#[derive(Args)]
#[command(after_help = "Examples:
  echo '<get path=\"notes.md\"/>' | cairn parse --surface tags
  cairn parse --surface heredoc --json < reply.txt
  cairn parse --surface envelope --nonce 7f3a91c2 --json < reply.txt
  cairn parse --surface native --tools tools.json --json < message.json
native reads one assistant message in Chat shape; --tools is a JSON list of {name, description, parameters}.
It exits with 0 whatever the reply says. docs/surfaces.md has every field.")]
pub struct Parse {
    /// How it is written: native, tags, heredoc or envelope.
    #[arg(long, value_name = "NAME")]
    pub surface: String,
    /// What an envelope must repeat; any will do when absent.
    #[arg(long, value_name = "N")]
    pub nonce: Option<String>,
    /// The tools that native calls are held against; cairn's own when absent.
    #[arg(long, value_name = "FILE")]
    pub tools: Option<PathBuf>,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

/// Show how models are told to write.
#[derive(Args)]
pub struct Surfaces {
    /// What to do.
    #[command(subcommand)]
    pub command: SurfacesCommand,
}

/// What `cairn surface` does.
#[derive(clap::Subcommand)]
pub enum SurfacesCommand {
    /// Show what a model is told of one surface.
    Show(SurfaceShow),
}

/// Show what a model is told of one surface.
#[derive(Args)]
#[command(after_help = "Examples:
  cairn surface show tags               the instructions, and what stands last in each request
  cairn surface show envelope --small   as a small model is told
  cairn surface show native --json      the tools' schemas with the rest")]
pub struct SurfaceShow {
    /// native, tags, heredoc or envelope.
    pub name: String,
    /// With six tools and a short beginning, for a small model.
    #[arg(long)]
    pub small: bool,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}
