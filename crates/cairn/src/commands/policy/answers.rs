//! `cairn policy answers` and `revoke`: what people said for longer than one run.

use crate::cli::{Answers, Revoke};
use crate::commands::log;
use crate::home::place;
use crate::output::out::say;
use crate::run::Usage;
use anyhow::Result;
use cairn_store::Answer;
use cairn_text::shown::clean;
use cairn_types::Remember;
use serde_json::{Value, json};
use std::process::ExitCode;

fn scope(answer: &Answer) -> &'static str {
    match answer.scope {
        Remember::Session => "session",
        Remember::Project => "project",
        Remember::Always | Remember::Once | Remember::Run => "always",
    }
}

fn as_json(answer: &Answer) -> Value {
    json!({
        "answer": answer.id,
        "scope": scope(answer),
        "session": answer.session,
        "root": answer.root,
        "rule": answer.rule,
        "by": answer.by,
        "row": format!("log://{}/{}", answer.run, answer.row),
        "at": answer.at,
        "until": answer.until,
    })
}

/// `cairn policy answers`.
pub fn list(args: &Answers) -> Result<ExitCode> {
    let answers = place::store_to_read()?.answers(cairn_runtime::now_ms())?;
    if args.json {
        say!("{}", Value::Array(answers.iter().map(as_json).collect()));
        return Ok(ExitCode::SUCCESS);
    }
    for answer in &answers {
        let place = match answer.scope {
            Remember::Session => format!("session {}", answer.session),
            Remember::Project => answer.root.clone(),
            _ => "everywhere".to_owned(),
        };
        let until = answer.until.map(|at| format!(", until {}", log::time(at)));
        say!(
            "{:4}  allow {}  # {}, said by {} on {}{}",
            answer.id,
            clean(&answer.rule),
            clean(&place),
            clean(&answer.by),
            log::time(answer.at),
            until.unwrap_or_default()
        );
    }
    if answers.is_empty() {
        say!("nothing is remembered for longer than one run");
    }
    Ok(ExitCode::SUCCESS)
}

/// `cairn policy revoke`.
pub fn revoke(args: &Revoke) -> Result<ExitCode> {
    let store = place::store()?;
    let known: Vec<u64> = store.answers(0)?.iter().map(|answer| answer.id).collect();
    let wanted = if args.all { known.clone() } else { args.answers.clone() };
    if let Some(unknown) = wanted.iter().find(|id| !known.contains(id)) {
        let list = "`cairn policy answers` lists them";
        return Err(Usage(format!("there is no answer {unknown}; {list}")).into());
    }
    for id in &wanted {
        store.revoke(*id)?;
    }
    if args.json {
        say!("{}", json!({"revoked": wanted}));
    } else {
        say!("{} taken back; runs that begin from now on ask again", wanted.len());
    }
    Ok(ExitCode::SUCCESS)
}
