//! The shape of the commands about this machine and this program.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Say what this machine can do, and what to do about it.
#[derive(Args)]
#[command(after_help = "Examples:
  cairn doctor           one line for each thing: ok, note or problem, with what to do
  cairn doctor --json    one object per line
  cairn doctor --deep    read every stored content, too
It changes nothing, asks nobody on the net, and starts only a command that does nothing, to see what
confines it. It exits with 1 if something keeps `cairn
run` from working, or if something that was kept is damaged or lost.")]
pub struct Doctor {
    /// Read every content that is kept in the home, and name those that are damaged or missing.
    #[arg(long)]
    pub deep: bool,
    /// One JSON object per line.
    #[arg(long)]
    pub json: bool,
}

/// List the commands that run in the background of runs that somebody drives now.
#[derive(Args)]
#[command(after_help = "Examples:
  cairn ps                                   row, since when, command, and who drives its run
  cairn ps --json                            one object per line
  cairn show log://RUN/1/2/3#output          what one has printed, once it is over
They end with the process that drives their run. The agent ends one with its tool `remove`.")]
pub struct Ps {
    /// One JSON object per line.
    #[arg(long)]
    pub json: bool,
}

/// Write what a shell needs to complete cairn's commands.
#[derive(Args)]
#[command(after_help = "Examples:
  cairn completions bash > ~/.local/share/bash-completion/completions/cairn
  cairn completions zsh > ~/.zfunc/_cairn       with ~/.zfunc in fpath
  cairn completions fish > ~/.config/fish/completions/cairn.fish")]
pub struct Completions {
    /// The shell.
    #[arg(value_enum)]
    pub shell: Shell,
}

/// The shells whose completions are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// Bash.
    Bash,
    /// Zsh.
    Zsh,
    /// Fish.
    Fish,
}

/// Write the manual.
#[derive(Args)]
#[command(after_help = "Examples:
  cairn man | man -l -                       read it
  cairn man ~/.local/share/man/man1          a page for each command")]
pub struct Man {
    /// Where to put a page for each command; the main page goes to stdout when absent.
    pub dir: Option<PathBuf>,
}
