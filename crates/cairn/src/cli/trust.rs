//! The shape of what is said about trust: `cairn trust`, and the flags of a run.

use clap::Args;

/// Whether a project's own hooks run.
#[derive(Args, Clone, Copy, Default)]
pub struct Trusting {
    /// Run the project's own hooks as they are now, this once.
    #[arg(long)]
    pub trust: bool,
    /// Run the project's own hooks if .cairn/trusted names their hash.
    #[arg(long, conflicts_with = "trust")]
    pub trust_committed: bool,
}

/// Let a project's own hooks run, as they are now.
#[derive(Args)]
#[command(after_help = "Examples:
  cairn trust              shows what would run here, and asks
  cairn trust --yes        for programs
  cairn trust --show       only shows it, with its hash
  cairn trust --list       which projects are trusted
  cairn trust --revoke     no longer here
What may run is .cairn/hooks.toml and the project's files that its commands name. Trust is bound to
their bytes: after any change they do not run until they are trusted again. docs/hooks.md says more.")]
pub struct Trust {
    /// Only show what would run here, and whether it is trusted.
    #[arg(long, conflicts_with_all = ["list", "revoke", "yes"])]
    pub show: bool,
    /// List the projects that are trusted.
    #[arg(long, conflicts_with_all = ["revoke", "yes"])]
    pub list: bool,
    /// Trust nothing here any longer.
    #[arg(long, conflicts_with = "yes")]
    pub revoke: bool,
    /// Without asking.
    #[arg(long)]
    pub yes: bool,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}
