//! `cairn doctor`: what this machine can do and what to do about it. It asks nobody on the net, changes
//! nothing, starts nothing but a command that does nothing, and works where everything else is broken.

mod home;
mod kernel;
mod sandbox;
mod setup;

pub use home::in_words;

use crate::cli;
use crate::home::place;
use crate::output::out::say;
use anyhow::Result;
use cairn_text::shown::clean;
use serde_json::json;
use std::process::ExitCode;

/// How a finding is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    /// As it should be.
    Ok,
    /// Worth knowing; `cairn run` works.
    Note,
    /// Something that was kept here is damaged or missing; `cairn run` works.
    Loss,
    /// `cairn run` does not work.
    Problem,
}

impl Level {
    fn word(self) -> &'static str {
        match self {
            Level::Ok => "ok",
            Level::Note => "note",
            Level::Loss => "loss",
            Level::Problem => "problem",
        }
    }
}

/// One thing that was looked at.
struct Finding {
    level: Level,
    /// What was looked at, in a word or two.
    what: &'static str,
    /// What was found.
    said: String,
    /// What to do about it.
    fix: Option<String>,
}

fn ok(what: &'static str, said: impl Into<String>) -> Finding {
    Finding { level: Level::Ok, what, said: said.into(), fix: None }
}

fn note(what: &'static str, said: impl Into<String>, fix: impl Into<String>) -> Finding {
    Finding { level: Level::Note, what, said: said.into(), fix: Some(fix.into()) }
}

fn loss(what: &'static str, said: impl Into<String>, fix: impl Into<String>) -> Finding {
    Finding { level: Level::Loss, what, said: said.into(), fix: Some(fix.into()) }
}

fn problem(what: &'static str, said: impl Into<String>, fix: impl Into<String>) -> Finding {
    Finding { level: Level::Problem, what, said: said.into(), fix: Some(fix.into()) }
}

/// Runs the command.
pub fn doctor(args: &cli::Doctor) -> Result<ExitCode> {
    let mut findings = vec![ok("version", version())];
    findings.extend(kernel::findings());
    findings.extend(sandbox::findings());
    findings.extend(home::findings(place::home()));
    if args.deep {
        findings.push(home::contents(place::home()));
    }
    findings.extend(setup::findings());
    for finding in &findings {
        print(finding, args.json);
    }
    let count = |level| findings.iter().filter(|finding| finding.level == level).count();
    let (problems, losses) = (count(Level::Problem), count(Level::Loss));
    if !args.json {
        match problems {
            0 => say!("cairn run can work here"),
            1 => say!("1 problem keeps cairn run from working"),
            _ => say!("{problems} problems keep cairn run from working"),
        }
    }
    Ok(ExitCode::from(u8::from(problems + losses > 0)))
}

fn version() -> String {
    let (version, sqlite) = (env!("CARGO_PKG_VERSION"), cairn_store::sqlite_version());
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    format!("cairn {version}, SQLite {sqlite}, {os} {arch}")
}

fn print(finding: &Finding, as_json: bool) {
    let Finding { level, what, said, fix } = finding;
    if as_json {
        say!("{}", json!({"level": level.word(), "what": what, "said": said, "fix": fix}));
        return;
    }
    say!("{:<8} {what}: {}", level.word(), clean(said));
    if let Some(fix) = fix {
        for line in clean(fix).lines() {
            say!("         {line}");
        }
    }
}
