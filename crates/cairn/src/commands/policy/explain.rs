//! `cairn policy explain`: every gate's word on one op. Asks the function that the live path asks.

use super::spoken::{self, Spoken};
use super::{calls, flags, lay_flags, mode, rulebook};
use crate::cli::{Explain, Rights};
use crate::home::place;
use crate::output::out::say;
use crate::setup::{hooks, membership, privacy, secrets};
use anyhow::Result;
use cairn_engine::CallBudget;
use cairn_engine::gates::{Asked, Leave, Terms, all_gates};
use cairn_engine::policy::{Case, OnHost, Rulebook};
use cairn_hooks::{Declared, HookEvent};
use cairn_text::scrub::Scrubber;
use cairn_text::shown::clean;
use cairn_types::{Action, Approval, Gate, OpName, Removed, RuleWord, Writer};
use cairn_world::{Settings, Workspace, World};
use serde_json::json;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;

/// The word on an op, as one word.
pub fn word(leave: &Leave) -> &'static str {
    match leave {
        Leave::Granted(..) | Leave::Answered(..) => "allow",
        Leave::Ask(_) | Leave::Hook(_) => "ask",
        Leave::Refused(..) => "deny",
    }
}

/// An op that a model would ask for, as rules see it.
fn case(spoken: &Spoken) -> Case<'_> {
    Case {
        op: spoken.op,
        tool: &spoken.tool,
        writer: Writer::Model,
        effect: spoken.effect,
        subject: &spoken.subject,
        changed: &[],
        ignored: &[],
        gone: &[],
        removed: Removed::default(),
    }
}

/// What the gates say about an op that a model would ask for.
pub fn leave(spoken: &Spoken, ground: &Ground) -> Leave {
    let hooks = ground.asked(spoken, HookEvent::PreToolUse);
    let now = cairn_runtime::now_ms();
    let budget = ground.calls.get(&spoken.tool).map(|most| CallBudget {
        most: *most,
        made: 0,
        told: String::new(),
    });
    let asked = Asked::new(case(spoken), ground.terms, &ground.rules, now);
    asked.with_hooks(hooks).within(budget).leave()
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

    /// What holds of hosts for an op by the word on it; the last is about all that no rule names.
    fn on_hosts(&self, spoken: &Spoken, leave: &Leave) -> Vec<OnHost> {
        let mut all = self.rules.on_hosts(&case(spoken), cairn_runtime::now_ms());
        if spoken.op == OpName::Exec && self.rules.policy().overlay && !spoken.subject.beside {
            all.push(OnHost { host: "any other".to_owned(), word: RuleWord::Ask, rule: None });
        }
        if spoken.op != OpName::Exec {
            return of_entry(spoken, leave);
        }
        let Terms { approval, flags, .. } = self.terms;
        let nobody = approval == Approval::Nobody || flags.no_proposals;
        for one in &mut all {
            let is_kept = flags.no_web || nobody && one.word == RuleWord::Ask;
            if is_kept {
                (one.word, one.rule) = (RuleWord::Deny, None);
            }
        }
        // Of what does not run only what forbids it is worth a line.
        all.retain(|one| !matches!(leave, Leave::Refused(..)) || one.word == RuleWord::Deny);
        all
    }

    /// Who would be asked about an op by the word on it, in order. How it ends is not known.
    fn would_ask(&self, spoken: &Spoken, leave: &Leave) -> Vec<(HookEvent, Vec<String>)> {
        let changes = !spoken.effect.is_read_only();
        let events: &[HookEvent] = match leave {
            Leave::Refused(gates, _) if !gates.iter().any(|said| said.gate == Gate::Hooks) => &[],
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

/// What holds of the host that an op on an entry reaches: what holds of the op.
fn of_entry(spoken: &Spoken, leave: &Leave) -> Vec<OnHost> {
    let word = match leave {
        Leave::Granted(..) | Leave::Answered(..) => RuleWord::Allow,
        Leave::Ask(_) | Leave::Hook(_) => RuleWord::Ask,
        Leave::Refused(..) => RuleWord::Deny,
    };
    let host = spoken.subject.hosts.last().cloned();
    host.map(|host| OnHost { host, word, rule: None }).into_iter().collect()
}

/// What holds of a host, in a line.
fn line(one: &OnHost) -> String {
    let OnHost { host, word, rule } = one;
    let by = rule.as_ref().map(|rule| format!(", by {rule}")).unwrap_or_default();
    let is = match (word, rule) {
        (RuleWord::Allow, _) => "reached",
        (RuleWord::Ask, _) => "asked about when it is wanted",
        (RuleWord::Deny, Some(_)) => "denied",
        (RuleWord::Deny, None) => "not reached",
    };
    format!("host {host}: {is}{by}")
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

/// Why an op on a file is refused whatever the gates say: it is no member, or is kept from being changed.
fn kept_out(action: &Action) -> Result<Option<String>> {
    let root = place::root(None)?;
    let config = place::config(&root)?;
    let membership = membership::of(&config)?;
    let env = secrets::environment(&config, &Scrubber::default());
    let private = Arc::new(privacy::places_for_tools(&config, &env)?);
    let shell = Settings::new("/bin/sh".into(), Vec::new());
    let settings = Settings { membership, private, ..shell };
    let world = World::new(Workspace::open(&root)?, settings);
    Ok(world.admits(action).err().map(|refusal| refusal.text))
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
    let hosts = ground.on_hosts(&spoken, &leave);
    let kept_out = spoken.action.as_ref().map(kept_out).transpose()?.flatten();
    let is_person_s = spoken.action.is_none();
    if args.json {
        let hook = |(event, commands): &(HookEvent, Vec<String>)| json!({"event": event, "commands": commands});
        let hooks: Vec<_> = hooks.iter().map(hook).collect();
        let host = |one: &OnHost| json!({"host": one.host, "word": one.word, "rule": one.rule});
        let hosts: Vec<_> = hosts.iter().map(host).collect();
        say!(
            "{}",
            json!({"word": if kept_out.is_some() { "deny" } else { word(&leave) }, "op": spoken.op, "subject": spoken.subject, "gates": leave.gates(), "hooks": hooks, "hosts": hosts, "members": kept_out})
        );
        return Ok(ExitCode::SUCCESS);
    }
    if is_person_s {
        say!("{} is for people: it passes no gates, and no agent has a tool for it", spoken.tool);
        return Ok(ExitCode::SUCCESS);
    }
    for (n, gate) in all_gates().enumerate() {
        match leave.gates().get(n) {
            Some(said) => say!("{gate:10} {:7} {}", said.verdict, clean(&said.why)),
            None => say!("{gate:10} {:7}", "–"),
        }
    }
    if let Some(why) = &kept_out {
        say!("{:10} {:7} {}", "members", "deny", clean(why));
    }
    say!(
        "{}",
        match &leave {
            _ if kept_out.is_some() => "refused, by membership".to_owned(),
            Leave::Granted(_, by) => format!("allowed, by {by}"),
            Leave::Ask(_) => "a person is asked".to_owned(),
            Leave::Hook(_) | Leave::Answered(..) => "a hook is asked".to_owned(),
            Leave::Refused(_, refusal) => format!("refused, by {}", refusal.by),
        }
    );
    for host in &hosts {
        say!("{}", clean(&line(host)));
    }
    for (event, commands) in &hooks {
        say!("{event}: {}", clean(&commands.join(", ")));
    }
    Ok(ExitCode::SUCCESS)
}
