//! What flags forbade when a run was last driven, kept when it goes on. What they allowed is not.

use crate::cli::Rights;
use crate::commands::policy;
use crate::config::{Config, Layer, Value};
use crate::output::to_wire;
use anyhow::Result;
use cairn_text::shown::clean;
use cairn_types::{Drive, Flags, Mode, RuleFrom, RuleWord};

/// What is kept.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Kept {
    mode: Option<Mode>,
    deny: Vec<String>,
    ask: Vec<String>,
    no_repo: bool,
    no_web: bool,
    no_proposals: bool,
    no_interaction: bool,
}

impl Kept {
    /// What the last driver was forbidden by flags. Another mode takes the place of the one before,
    /// `--yolo` ends planning, and who wants to be asked, or wants nothing asked, lifts
    /// `--no-proposals`; what was forbidden by a rule stays so.
    pub fn of(last: &Drive, given: &Rights, config: &Config) -> Kept {
        let rules = |word: RuleWord, flag: &str, given: &[String]| -> Vec<String> {
            let by_flag = last.policy.rules.iter().filter(|rule| {
                rule.word == word && rule.from == RuleFrom::User && rule.place == flag
            });
            let is_new = |rule: &&cairn_types::PolicyRule| !given.contains(&rule.rule);
            by_flag.filter(is_new).map(|rule| rule.rule.clone()).collect()
        };
        let goes_ahead = given.yolo && last.mode == Mode::Plan;
        let speaks = given.mode.is_some() || given.read_only || goes_ahead;
        let is_narrower = last.mode < policy::mode(config) && !speaks;
        Kept {
            mode: is_narrower.then_some(last.mode),
            deny: rules(RuleWord::Deny, "--deny", &given.deny),
            ask: rules(RuleWord::Ask, "--ask", &given.ask),
            no_repo: last.flags.no_repo && !given.no_repo,
            no_web: last.flags.no_web && !given.no_web,
            no_proposals: last.flags.no_proposals
                && !(given.no_proposals || given.yolo || given.wait),
            no_interaction: last.flags.no_interaction && !given.no_interaction,
        }
    }

    /// Lays it over the configuration, as the flags would be.
    pub fn lay(&self, config: &mut Config) -> Result<()> {
        if let Some(mode) = self.mode {
            config.lay(Layer::flag("policy.mode", "mode", Value::Text(to_wire::word(&mode)))?)?;
        }
        for (key, flag, rules) in
            [("policy.deny", "deny", &self.deny), ("policy.ask", "ask", &self.ask)]
        {
            if !rules.is_empty() {
                config.lay(Layer::flag(key, flag, Value::List(rules.clone()))?)?;
            }
        }
        Ok(())
    }

    /// These flags, and those that are kept.
    pub fn flags(&self, given: Flags) -> Flags {
        Flags {
            no_repo: given.no_repo || self.no_repo,
            no_web: given.no_web || self.no_web,
            no_proposals: given.no_proposals || self.no_proposals,
            no_interaction: given.no_interaction || self.no_interaction,
            ..given
        }
    }

    /// What a person is told of it.
    pub fn told(&self) -> Option<String> {
        let mode = self.mode.map(|mode| format!("--mode {}", to_wire::word(&mode)));
        let rules = |flag: &'static str, rules: &[String]| -> Vec<String> {
            rules.iter().map(|rule| format!("--{flag} '{}'", clean(rule))).collect()
        };
        let flags = [
            ("--no-repo", self.no_repo),
            ("--no-web", self.no_web),
            ("--no-proposals", self.no_proposals),
            ("--no-interaction", self.no_interaction),
        ];
        let flags = flags.into_iter().filter(|(_, is)| *is).map(|(flag, _)| flag.to_owned());
        let all: Vec<String> = mode
            .into_iter()
            .chain(rules("deny", &self.deny))
            .chain(rules("ask", &self.ask))
            .chain(flags)
            .collect();
        let lift = "to go on without: --new-terms";
        (!all.is_empty()).then(|| format!("kept from before: {}; {lift}", all.join(", ")))
    }
}
