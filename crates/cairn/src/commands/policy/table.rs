//! `cairn policy test`: a table of ops and the words they must get.

use super::{explain, spoken};
use crate::cli::Test;
use crate::output::out::say;
use crate::run::Usage;
use anyhow::Result;
use cairn_text::shown::clean;
use serde_json::json;
use std::process::ExitCode;

/// `cairn policy test`.
pub fn test(args: &Test) -> Result<ExitCode> {
    let file = args.file.display();
    let text = std::fs::read_to_string(&args.file)
        .map_err(|why| Usage(format!("{file} cannot be read ({why})")))?;
    let ground = explain::ground(&args.rights, false)?;
    let (mut right, mut wrong) = (0, Vec::new());
    for (n, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let usage = |why: String| Usage(format!("{file}:{n}: {why}"));
        let (expected, op) = line
            .split_once(char::is_whitespace)
            .filter(|(word, _)| matches!(*word, "allow" | "ask" | "deny"))
            .ok_or_else(|| usage("a line is allow, ask or deny, and an op".to_owned()))?;
        let leave = explain::leave(&of_line(op).map_err(|e| usage(e.0))?, &ground);
        let got = explain::word(&leave);
        if got == expected {
            right += 1;
            continue;
        }
        let why = leave.gates().last().map(|said| format!("{}: {}", said.gate, said.why));
        wrong.push((n, op.trim().to_owned(), expected.to_owned(), got, why.unwrap_or_default()));
    }
    if args.json {
        let wrong: Vec<_> = wrong
            .iter()
            .map(|(line, op, expected, got, why)| {
                json!({"line": line, "op": op, "expected": expected, "got": got, "why": why})
            })
            .collect();
        say!("{}", json!({"right": right, "wrong": wrong}));
    } else {
        for (n, op, expected, got, why) in &wrong {
            let (op, why) = (clean(op), clean(why));
            say!("{file}:{n}: {op} is {got}, not {expected} ({why})");
        }
        say!("{right} as expected, {} otherwise", wrong.len());
    }
    Ok(if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// An op as it stands on a line: a command is taken as it is, with its blanks.
fn of_line(text: &str) -> Result<spoken::Spoken, Usage> {
    let text = text.trim();
    match text.split_once(char::is_whitespace) {
        Some(("exec", command)) => spoken::op(&["exec", command.trim_start()]),
        _ => spoken::op(&text.split_whitespace().collect::<Vec<_>>()),
    }
}
