//! `cairn policy`: the rules in force, what the gates say about an op, and what is remembered. What a
//! rule means is the engine's.

mod answers;
mod explain;
mod replay;
mod spoken;
mod table;

use crate::cli::{PolicyArgs, PolicyCommand, Rights};
use crate::commands::log;
use crate::config::{Config, Layer, Origin, Value};
use crate::home::place;
use crate::output::out::say;
use crate::run::Usage;
use crate::setup::sandbox::CommandSettings;
use anyhow::Result;
use cairn_engine::policy::{Reading, Rulebook};
use cairn_store::Store;
use cairn_surface::native;
use cairn_text::shown::clean;
use cairn_types::{
    Effect, Flags, Mode, OpName, Policy, PolicyRule, Remember, Removed, RuleFrom, RuleWord,
    SessionId,
};
use cairn_world::{Door, Kept, Unread};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

/// `cairn policy …`.
pub fn policy(args: &PolicyArgs) -> Result<ExitCode> {
    match &args.command {
        None => show(args.json),
        Some(PolicyCommand::Explain(args)) => explain::explain(args),
        Some(PolicyCommand::Test(args)) => table::test(args),
        Some(PolicyCommand::Replay(args)) => replay::replay(args),
        Some(PolicyCommand::Answers(args)) => answers::list(args),
        Some(PolicyCommand::Revoke(args)) => answers::revoke(args),
    }
}

/// Lays what a run's flags say about permission over the configuration.
pub fn lay_flags(config: &mut Config, rights: &Rights) -> Result<()> {
    let mode = rights.mode.as_deref().or(rights.read_only.then_some("read-only"));
    if let Some(mode) = mode {
        config.lay(Layer::flag("policy.mode", "mode", Value::Text(mode.to_owned()))?)?;
    }
    if let Some(level) = &rights.sandbox {
        config.lay(Layer::flag("sandbox.level", "sandbox", Value::Text(level.clone()))?)?;
    }
    for (name, flag, rules) in [
        ("policy.allow", "allow", &rights.allow),
        ("policy.ask", "ask", &rights.ask),
        ("policy.deny", "deny", &rights.deny),
    ] {
        if !rules.is_empty() {
            config.lay(Layer::flag(name, flag, Value::List(rules.clone()))?)?;
        }
    }
    if rights.yolo && config.text("policy.yolo") == Some("never") {
        let place = config.origin("policy.yolo").map(ToString::to_string).unwrap_or_default();
        return Err(Usage(format!("--yolo may not be given here ({place})")).into());
    }
    Ok(())
}

/// The mode that is configured.
pub fn mode(config: &Config) -> Mode {
    config.text("policy.mode").map_or(Mode::Act, mode_named)
}

fn mode_named(name: &str) -> Mode {
    match name {
        "read-only" => Mode::ReadOnly,
        "plan" => Mode::Plan,
        "accept-edits" => Mode::AcceptEdits,
        _ => Mode::Act,
    }
}

/// How far a plan that a person approves may widen the mode: to what the operator lets be. What may
/// only look stays so.
pub fn after_plan(config: &Config) -> Option<Mode> {
    let most = config.ceiling("policy.mode").map_or(Mode::AcceptEdits, mode_named);
    (mode(config) != Mode::ReadOnly).then_some(most)
}

/// How often each tool may be called, by its own name.
pub fn calls(config: &Config) -> Result<BTreeMap<String, u64>> {
    let named = |(name, most): (String, u64)| match native::name_of(&name) {
        Some(own) => Ok((own.to_owned(), most)),
        None => {
            let known: Vec<&str> = native::tools().iter().map(|tool| tool.name).collect();
            let known = known.join(", ");
            Err(Usage(format!(
                "budgets.calls.{name}: there is no such tool; the tools are {known}"
            ))
            .into())
        }
    };
    config.starred("budgets.calls.*").into_iter().map(named).collect()
}

/// What is ruled out besides.
pub fn flags(rights: &Rights) -> Flags {
    Flags {
        no_repo: rights.no_repo,
        no_web: rights.no_web,
        no_proposals: rights.no_proposals,
        no_interaction: rights.no_interaction,
        someone: false,
        large_deletions: rights.allow_large_deletions,
    }
}

/// The rules of the configuration, for a project whose commands run in this shell.
pub fn configured(config: &Config, root: &Path, shell: &Path) -> Policy {
    let known = ["bash", "sh", "dash"];
    let name = shell.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let mut rules = Vec::new();
    for (key, word) in [
        ("policy.deny", RuleWord::Deny),
        ("policy.ask", RuleWord::Ask),
        ("policy.allow", RuleWord::Allow),
    ] {
        rules.extend(config.parts(key).map(|(rule, origin)| PolicyRule {
            word,
            rule: rule.to_owned(),
            from: match origin {
                Origin::Operator { .. } => RuleFrom::Operator,
                Origin::Project { .. } => RuleFrom::Project,
                _ => RuleFrom::User,
            },
            place: origin.to_string(),
            until: None,
        }));
    }
    let root = root.to_string_lossy().into_owned();
    let little = Removed {
        files: config.count("policy.large_files"),
        bytes: config.count("policy.large_mib") << 20,
        exposed: 0,
    };
    let no_yolo = config.text("policy.yolo") == Some("never");
    let home = place::env("HOME").unwrap_or_default();
    let strange_shell = !known.contains(&name);
    Policy {
        root,
        home,
        strange_shell,
        overlay: false,
        keeps_unread: false,
        no_yolo,
        little,
        rules,
    }
}

/// What the rules keep from being read, by whatever way the world could come to read it.
pub fn unread(rules: &Rulebook) -> Unread {
    let mut all = Vec::new();
    for door in Door::ALL {
        let (op, effect, tools): (_, _, &[&str]) = match door {
            Door::Read => (OpName::Read, Effect::Read, &["read"]),
            Door::Search => (OpName::Find, Effect::Read, &["find"]),
            Door::Edit => (OpName::Edit, Effect::World, &["edit", "write"]),
            Door::Carry => (OpName::Copy, Effect::World, &["copy", "move"]),
            Door::Tell => (OpName::Read, Effect::Read, &[]),
        };
        let kept = rules.unread(Reading { op, effect, tools });
        all.extend(kept.map(|(glob, word)| Kept {
            glob: glob.clone(),
            asked: word == RuleWord::Ask,
            doors: vec![door],
        }));
    }
    Unread(all.into())
}

/// The answers people gave that reach runs of this session.
pub fn remembered(
    store: &Store,
    session: Option<&SessionId>,
    root: &Path,
    now: u64,
) -> Result<Vec<PolicyRule>> {
    let root = root.to_string_lossy();
    let reaches = |answer: &cairn_store::Answer| match answer.scope {
        Remember::Always => true,
        Remember::Project => answer.root == root,
        Remember::Session => session.is_some_and(|id| id.as_str() == answer.session),
        Remember::Once | Remember::Run => false,
    };
    let answers = store.answers(now)?;
    Ok(answers
        .into_iter()
        .filter(reaches)
        .map(|answer| PolicyRule {
            word: RuleWord::Allow,
            rule: answer.rule,
            from: RuleFrom::Answer,
            place: format!("answer {}", answer.id),
            until: answer.until,
        })
        .collect())
}

/// The policy in force in a folder, with what is remembered for it.
fn in_force(config: &Config, root: &Path) -> Result<Policy> {
    let shell = place::shell(config);
    let mut policy = configured(config, root, &shell);
    policy.overlay = CommandSettings::read(config).is_overlaid(root);
    if let Ok(store) = place::store_to_read() {
        let session = store.latest_session(&root.to_string_lossy())?;
        policy.rules.extend(remembered(&store, session.as_ref(), root, cairn_runtime::now_ms())?);
    }
    Ok(policy)
}

/// The same with its rules read.
fn rulebook(config: &Config, root: &Path) -> Result<Rulebook> {
    Ok(Rulebook::read(in_force(config, root)?)?)
}

/// The policy, whole: a fact leaves out what is as usual, a program that reads this need not know it.
fn as_json(policy: &Policy) -> serde_json::Value {
    let rule = |rule: &PolicyRule| {
        let PolicyRule { word, rule, from, place, until } = rule;
        json!({"word": word, "rule": rule, "from": from, "place": place, "until": until})
    };
    let rules: Vec<_> = policy.rules.iter().map(rule).collect();
    let Policy { root, strange_shell, overlay, no_yolo, little, .. } = policy;
    json!({"root": root, "strange_shell": strange_shell, "overlay": overlay, "no_yolo": no_yolo, "little": little, "rules": rules})
}

fn show(json: bool) -> Result<ExitCode> {
    let root = place::root(None)?;
    let config = place::config(&root)?;
    let policy = in_force(&config, &root)?;
    let (mode, yolo) = (config.text("policy.mode"), config.text("policy.yolo"));
    if json {
        say!("{}", json!({"mode": mode, "yolo": yolo, "policy": as_json(&policy)}));
        return Ok(ExitCode::SUCCESS);
    }
    say!("mode {}, yolo {}", mode.unwrap_or_default(), yolo.unwrap_or_default());
    if policy.strange_shell {
        say!("the configured shell is neither bash nor sh: no rule but `exec *` allows a command");
    }
    if policy.no_yolo {
        say!(
            "whoever says yes names the command: a rule or an answer for every one does not count"
        );
    }
    for rule in &policy.rules {
        let until = rule.until.map(|at| format!(", until {}", log::time(at)));
        let place = clean(&rule.place);
        say!(
            "{:5} {}  # {}: {place}{}",
            rule.word,
            clean(&rule.rule),
            rule.from,
            until.unwrap_or_default()
        );
    }
    if policy.rules.is_empty() {
        say!(
            "no rules: looking is free, everything else is asked about. docs/policy.md has examples"
        );
    }
    Ok(ExitCode::SUCCESS)
}
