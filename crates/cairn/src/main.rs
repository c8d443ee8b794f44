//! The binary: reads the command line, does what it says, ends with the right code.

mod cli;
mod commands;
mod config;
mod home;
mod model;
mod output;
mod run;
mod setup;
mod signals;

use anyhow::Result;
use cairn_runtime::RunError;
use cairn_store::StoreError;
use clap::Parser;
use cli::{Cli, Command};
use commands::{
    decide, diff, doctor, fork, gc, log, login, manual, models, op, parse, policy, ps, sessions,
    show, trust, undo, usage, verify, world,
};
use home::place;
use output::out::{self, say};
use setup::secrets;
use std::borrow::Cow;
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    cairn_sandbox::handle_disk_signals();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(usage) => {
            tell_usage(&usage);
            return ExitCode::from(u8::try_from(usage.exit_code()).unwrap_or(2));
        }
    };
    match dispatch(cli.command) {
        Ok(code) if out::is_whole() => code,
        Ok(_) => {
            let _ = writeln!(std::io::stderr().lock(), "cairn: the output could not be written");
            ExitCode::FAILURE
        }
        Err(error) => {
            let said = cairn_text::shown::clean(&secrets::in_messages().text(&sentence(&error)));
            let _ = writeln!(std::io::stderr().lock(), "cairn: {said}");
            ExitCode::from(code_of(&error))
        }
    }
}

/// Prints help, or what is wrong with the command line; a key in it is not repeated.
fn tell_usage(usage: &clap::Error) {
    let text = usage.render().to_string();
    match secrets::in_messages().text(&text) {
        Cow::Owned(without) if usage.use_stderr() => {
            let _ = write!(std::io::stderr().lock(), "{without}");
        }
        _ => drop(usage.print()),
    }
}

fn dispatch(command: Command) -> Result<ExitCode> {
    match command {
        Command::Run(args) => run::run(&args),
        Command::Log(args) => log::log(&args),
        Command::Show(args) => show::show(&args),
        Command::Sessions(args) => sessions::sessions(&args),
        Command::Fork(args) => fork::fork(&args),
        Command::Verify(args) => verify::verify(&args),
        Command::Bundle(args) => verify::bundle(&args),
        Command::Gc(args) => gc::gc(&args),
        Command::Op(args) => op::op(&args),
        Command::World(args) => world::world(&args),
        Command::Undo(args) => undo::undo(&args),
        Command::Redo(args) => undo::redo(&args),
        Command::Rewind(args) => undo::rewind(&args),
        Command::Diff(args) => diff::diff(&args),
        Command::Models(args) => models::models(&args),
        Command::Parse(args) => parse::parse(&args),
        Command::Surface(args) => parse::surface(&args),
        Command::Usage(args) => usage::usage(&args),
        Command::Login(args) => login::login(&args),
        Command::Logout(args) => login::logout(&args),
        Command::Decide(args) => decide::decide(&args),
        Command::Policy(args) => policy::policy(&args),
        Command::Trust(args) => trust::trust(&args),
        Command::Config(args) => show_config(&args),
        Command::Ps(args) => ps::ps(&args),
        Command::Doctor(args) => doctor::doctor(&args),
        Command::Completions(args) => Ok(manual::completions(&args)),
        Command::Man(args) => manual::man(&args),
    }
}

/// What happened and why, each thing once: below a cause that was told already lies only detail.
fn sentence(error: &anyhow::Error) -> String {
    let mut said = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if said.contains(&cause) {
            break;
        }
        said = format!("{said}: {cause}");
    }
    said
}

/// Wrong input, or the name of a thing that is not there, is usage (2); all else failed (1).
fn code_of(error: &anyhow::Error) -> u8 {
    let run = error.downcast_ref::<RunError>();
    let store = error.downcast_ref::<StoreError>().or(match run {
        Some(RunError::Store(error)) => Some(error),
        _ => None,
    });
    let usage = error.is::<config::ConfigError>()
        || error.is::<cairn_engine::policy::RuleError>()
        || error.is::<run::Usage>()
        || matches!(run, Some(RunError::NothingToDo { .. }))
        || matches!(
            store,
            Some(
                StoreError::NoSuch { .. }
                    | StoreError::Ambiguous { .. }
                    | StoreError::NoHome { .. }
                    | StoreError::NotAFolder { .. }
            )
        );
    if usage { 2 } else { 1 }
}

/// Shows what can be read, and then says which file cannot.
fn show_config(args: &cli::ConfigArgs) -> Result<ExitCode> {
    let files = place::config_files(Some(&place::root(None)?));
    let (config, broken) = config::Config::what_can_be_read(&files, &place::env);
    let text = match args.json {
        true => config::as_json(&config, args.all).to_string(),
        false => config::as_text(&config, args.all),
    };
    say!("{}", secrets::in_messages().text(text.trim_end()));
    match broken.into_iter().next() {
        Some(error) => Err(error.into()),
        None => Ok(ExitCode::SUCCESS),
    }
}
