//! `cairn policy explain`: every gate's word on one op. Asks the function that the live path asks.

use super::spoken::{self, Spoken};
use super::{calls, flags, lay_flags, mode, rulebook};
use crate::cli::{Explain, Rights};
use crate::{hooks, out::say, place};
use anyhow::Result;
use cairn_engine::CallBudget;
use cairn_engine::gates::{Asked, Leave, Terms, names};
use cairn_engine::policy::{Case, Rulebook};
use cairn_text::shown::clean;
use cairn_tools::hooks::{Declared, HookEvent};
use cairn_types::{Approval, Removed, Writer};
use cairn_world::Workspace;
use serde_json::json;
use std::collections::BTreeMap;
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
    let hooks = ground.asked(spoken, HookEvent::PreToolUse);
    let case = Case {
        op: spoken.op,
        tool: &spoken.tool,
        writer: Writer::Model,
        effect: spoken.effect,
        subject: &spoken.subject,
        changed: &[],
        ignored: &[],
        gone: &[],
        removed: Removed::default(),
    };
    let now = cairn_runtime::now_ms();
    let budget = ground.calls.get(&spoken.tool).map(|most| CallBudget {
        most: *most,
        made: 0,
        told: String::new(),
    });
    Asked::new(case, ground.terms, &ground.rules, now).with_hooks(hooks).within(budget).leave()
}

/// What the gates go by.
pub struct Ground {
    terms: Terms,
    rules: Rulebook,
    /// The hooks that would be asked.
    hooks: Vec<Declared>,
    /// How often tools may be called.
    calls: BTreeMap<String, u64>,
}

impl Ground {
    /// The commands that are asked about an op at an event.
    fn asked(&self, spoken: &Spoken, event: HookEvent) -> Vec<String> {
        let asked = self.hooks.iter().filter(|hook| hook.event == event);
        let asked = asked.filter(|hook| !event.is_of_op() || hook.matcher.fits(&spoken.tool));
        asked.map(|hook| hook.command.clone()).collect()
    }

    /// Who would be asked about an op by the word on it, in order. How it ends is not known.
    fn would_ask(&self, spoken: &Spoken, leave: &Leave) -> Vec<(HookEvent, Vec<String>)> {
        let changes = !spoken.effect.is_read_only();
        let events: &[HookEvent] = match leave {
            Leave::Refused(gates, _) if !gates.iter().any(|said| said.gate == "hooks") => &[],
            Leave::Refused(..) => &BEFORE[..1],
            Leave::Ask(_) if changes => &BEFORE,
            Leave::Ask(_) => &BEFORE[..4],
            _ if changes => &[HookEvent::PreToolUse, HookEvent::Accepting],
            _ => &BEFORE[..1],
        };
        let asked = events.iter().map(|event| (*event, self.asked(spoken, *event)));
        asked.filter(|(_, commands)| !commands.is_empty()).collect()
    }
}

/// What happens before an op that a person is asked about begins.
const BEFORE: [HookEvent; 5] = [
    HookEvent::PreToolUse,
    HookEvent::PermissionRequest,
    HookEvent::Notification,
    HookEvent::Decided,
    HookEvent::Accepting,
];

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
    let rules = rulebook(&config, &root)?;
    let hooks = hooks::declared(&config, &Workspace::open(&root)?)?;
    Ok(Ground { terms, rules, hooks, calls: calls(&config)? })
}

/// `cairn policy explain`.
pub fn explain(args: &Explain) -> Result<ExitCode> {
    let words: Vec<&str> = args.op.iter().map(String::as_str).collect();
    let spoken = match &args.tool {
        Some(tool) => spoken::call(tool, &words.join(" "))?,
        None => spoken::op(&words)?,
    };
    let ground = ground(&args.rights, args.headless)?;
    let leave = leave(&spoken, &ground);
    let hooks = ground.would_ask(&spoken, &leave);
    if args.json {
        let hook = |(event, commands): &(HookEvent, Vec<String>)| json!({"event": event, "commands": commands});
        let hooks: Vec<_> = hooks.iter().map(hook).collect();
        say!(
            "{}",
            json!({"word": word(&leave), "op": spoken.op, "subject": spoken.subject, "gates": leave.gates(), "hooks": hooks})
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
    for (event, commands) in &hooks {
        say!("{event}: {}", clean(&commands.join(", ")));
    }
    Ok(ExitCode::SUCCESS)
}
