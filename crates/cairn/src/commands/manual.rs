//! `cairn completions` and `cairn man`: what shells and people read, made from the command line's own
//! shape. Nothing of it is built unless it is asked for.

use crate::cli::{self, Cli, Shell};
use crate::output::out::say;
use crate::run::Usage;
use anyhow::{Context, Result};
use clap::CommandFactory;
use clap_complete::aot;
use std::io::Write;
use std::process::ExitCode;

/// Runs `cairn completions`.
pub fn completions(args: &cli::Completions) -> ExitCode {
    let shell = match args.shell {
        Shell::Bash => aot::Shell::Bash,
        Shell::Zsh => aot::Shell::Zsh,
        Shell::Fish => aot::Shell::Fish,
    };
    let mut text = Vec::new();
    aot::generate(shell, &mut Cli::command(), "cairn", &mut text);
    put(&text);
    ExitCode::SUCCESS
}

/// Runs `cairn man`.
pub fn man(args: &cli::Man) -> Result<ExitCode> {
    let Some(dir) = &args.dir else {
        let mut text = Vec::new();
        clap_mangen::Man::new(Cli::command()).render(&mut text)?;
        put(&text);
        return Ok(ExitCode::SUCCESS);
    };
    let shown = dir.display();
    if !dir.is_dir() {
        return Err(Usage(format!("{shown} is not a folder; make it first")).into());
    }
    clap_mangen::generate_to(Cli::command(), dir)
        .with_context(|| format!("the pages cannot be written into {shown}"))?;
    say!("a page for each command is in {shown}; read one with: man {shown}/cairn-run.1");
    Ok(ExitCode::SUCCESS)
}

/// Someone who stops reading is no error.
fn put(text: &[u8]) {
    let _ = crate::output::out::stdout().write_all(text);
}
