//! `cairn policy explain`: every gate's word on one op. Asks the function that the live path asks.

use super::spoken::{self, Spoken};
use super::{flags, lay_flags, mode, rulebook};
use crate::cli::{Explain, Rights};
use crate::{out::say, place};
use anyhow::Result;
use cairn_engine::gates::{Asked, Leave, Terms, names};
use cairn_engine::policy::{Case, Rulebook};
use cairn_text::shown::clean;
use cairn_tools::hooks::{Declared, HookEvent};
use cairn_types::{Approval, Removed, Writer};
use serde_json::json;
use std::process::ExitCode;

/// The word on an op, as one word.
pub fn word(leave: &Leave) -> &'static str {
    match leave {
        Leave::Granted(..) | Leave::Answered(..) => "allow",
        Leave::Ask(_) | Leave::Hook(_) => "ask",
        Leave::Refused(..) => "deny",
    }
}

/// What the gates say about an op that a model would ask for.
pub fn leave(spoken: &Spoken, ground: &Ground) -> Leave {
    let asked = ground.hooks.iter().filter(|hook| hook.matcher.fits(&spoken.tool));
    let hooks = asked.map(|hook| hook.command.clone()).collect();
    let case = Case {
        op: spoken.op,
        tool: &spoken.tool,
        writer: Writer::Model,
        effect: spoken.effect,
        subject: &spoken.subject,
        changed: &[],
        removed: Removed::default(),
    };
    let now = cairn_runtime::now_ms();
    Asked::new(case, ground.terms, &ground.rules, now).with_hooks(hooks).leave()
}

/// What the gates go by.
pub struct Ground {
    terms: Terms,
    rules: Rulebook,
    /// The user's hooks before ops.
    hooks: Vec<Declared>,
}

/// What a run would be given, and the rules it would go by.
pub fn ground(args: &Rights, headless: bool) -> Result<Ground> {
    let root = place::root(None)?;
    let mut config = place::config(&root)?;
    lay_flags(&mut config, args)?;
    let approval = match (args.yolo, headless) {
        (true, _) => Approval::Yolo,
        (false, true) => Approval::Nobody,
        (false, false) => Approval::Ask,
    };
    let terms = Terms { mode: mode(&config), approval, flags: flags(args) };
    let hooks = config.hooks().into_iter().filter(|hook| hook.event == HookEvent::PreToolUse);
    Ok(Ground { terms, rules: rulebook(&config, &root)?, hooks: hooks.collect() })
}

/// `cairn policy explain`.
pub fn explain(args: &Explain) -> Result<ExitCode> {
    let words: Vec<&str> = args.op.iter().map(String::as_str).collect();
    let spoken = match &args.tool {
        Some(tool) => spoken::call(tool, &words.join(" "))?,
        None => spoken::op(&words)?,
    };
    let leave = leave(&spoken, &ground(&args.rights, args.headless)?);
    if args.json {
        let gates = leave.gates();
        say!(
            "{}",
            json!({"word": word(&leave), "op": spoken.op, "subject": spoken.subject, "gates": gates})
        );
        return Ok(ExitCode::SUCCESS);
    }
    for (n, name) in names().enumerate() {
        match leave.gates().get(n) {
            Some(said) => say!("{name:10} {:7} {}", said.verdict, clean(&said.why)),
            None => say!("{name:10} {:7}", "–"),
        }
    }
    say!(
        "{}",
        match &leave {
            Leave::Granted(_, by) => format!("allowed, by {by}"),
            Leave::Ask(_) => "a person is asked".to_owned(),
            Leave::Hook(_) | Leave::Answered(..) => "a hook is asked".to_owned(),
            Leave::Refused(_, refusal) => format!("refused, by {}", refusal.by),
        }
    );
    Ok(ExitCode::SUCCESS)
}
