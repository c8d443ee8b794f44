//! What holds of a run under its present driver: mode, approval, rules, answers and hooks, and what the gates said.

use crate::gates::Terms;
use crate::hooks::{HookAsk, OfRun};
use crate::judgements::{Judgements, PolicyVersion};
use crate::policy::Rulebook;
use cairn_types::{
    Approval, Decision, Drive, Flags, HookEvent, Manifest, Mode, PicoUsd, PolicyRule, Remember,
    RuleFrom, RuleWord,
};
use std::collections::BTreeSet;

/// The present driver of a run, and what was answered under it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Driving {
    pub(crate) drive: Option<Drive>,
    /// How many drivers the run has had.
    pub(crate) drives: u64,
    /// The rules of the present driver, and the answers that people gave in this run.
    pub(crate) rules: Rulebook,
    pub(crate) answers: Vec<(Remember, PolicyRule)>,
    /// The mode that a person chose for a plan.
    mode: Option<Mode>,
    /// The receipt of the session up to which the run knows what others changed.
    pub(crate) looked: Option<String>,
    pub(crate) hooks: OfRun,
    /// How many facts have come that may change what the gates say.
    pub(crate) policy_changes: u64,
    pub(crate) judgements: Judgements,
}

impl Driving {
    /// Another driver takes the run. What reaches beyond the run and still holds is among the driver's rules.
    pub(crate) fn took_drive(&mut self, drive: &Drive) {
        self.drive = Some(drive.clone());
        self.drives += 1;
        if self.looked.is_none() {
            self.looked.clone_from(&drive.since);
        }
        self.answers.retain(|(scope, _)| *scope == Remember::Run);
        self.hooks = OfRun::default();
        self.mode = None;
        self.read_rules();
    }

    /// A fork begins: answers given for its parent do not hold in it.
    pub(crate) fn forget_answers(&mut self) {
        self.policy_changes += 1;
        self.answers.clear();
        self.read_rules();
    }

    /// A decision is remembered for these rules.
    pub(crate) fn remember(&mut self, decision: &Decision, rules: Vec<String>) {
        if rules.is_empty() {
            return;
        }
        let answers = rules.into_iter().map(|rule| {
            let rule = PolicyRule {
                word: RuleWord::Allow,
                rule,
                from: RuleFrom::Answer,
                place: decision.at.to_string(),
                until: decision.until,
            };
            (decision.remember, rule)
        });
        self.answers.extend(answers);
        self.read_rules();
    }

    /// A person chose the mode in which the run goes on.
    pub(crate) fn choose_mode(&mut self, mode: Option<Mode>) {
        self.mode = mode.or(self.mode);
    }

    fn read_rules(&mut self) {
        let mut policy = self.drive.as_ref().map(|drive| drive.policy.clone()).unwrap_or_default();
        policy.rules.extend(self.answers.iter().map(|(_, rule)| rule.clone()));
        self.rules = Rulebook::recorded(&policy);
    }

    /// The version of everything the gates read, apart from an op and its effect.
    pub(crate) fn policy_version(&self, now: u64) -> PolicyVersion {
        PolicyVersion::at(self.policy_changes, &self.rules, now)
    }

    /// The terms of the present driver.
    #[must_use]
    pub fn terms(&self) -> Terms {
        let nothing =
            Terms { mode: Mode::ReadOnly, approval: Approval::Nobody, flags: Flags::default() };
        self.drive.as_ref().map_or(nothing, |drive| Terms {
            mode: self.mode.unwrap_or(drive.mode),
            approval: drive.approval,
            flags: drive.flags,
        })
    }

    /// Whether the present driver may change anything.
    pub(crate) fn may_act(&self) -> bool {
        self.drive.is_some() && self.terms().mode.may_act()
    }

    /// Whether the present driver has a person to ask.
    pub(crate) fn asks(&self) -> bool {
        self.drive.as_ref().is_some_and(|drive| drive.approval == Approval::Ask)
    }

    /// The schemes that the present driver adds to those of every world.
    pub(crate) fn schemes(&self) -> &[Manifest] {
        self.drive.as_ref().map_or(&[], |drive| drive.schemes.as_slice())
    }

    /// The receipt of the session up to which the run knows what others changed.
    #[must_use]
    pub fn looked(&self) -> Option<&str> {
        self.looked.as_deref()
    }

    /// How many drivers the run has had, this one included.
    #[must_use]
    pub fn drives(&self) -> u64 {
        self.drives
    }

    /// What all runs of the session may cost together, where that is limited.
    #[must_use]
    pub fn session_budget(&self) -> Option<PicoUsd> {
        self.drive.as_ref()?.budgets.session
    }

    /// How often the gates were asked about ops of this run, in this process.
    #[must_use]
    pub fn gate_evaluations(&self) -> u64 {
        self.judgements.evaluations()
    }

    /// The names of the hooks that are asked at an event, in order.
    pub(crate) fn hooks_at<'a>(
        &'a self,
        event: HookEvent,
        tool: Option<&'a str>,
    ) -> impl Iterator<Item = &'a str> {
        let all = self.drive.iter().flat_map(|drive| &drive.hooks);
        all.filter(move |plan| plan.event == event)
            .filter(move |plan| tool.is_none_or(|tool| plan.tools.iter().any(|name| name == tool)))
            .map(|plan| plan.name.as_str())
    }

    /// The first hook at an event that was not asked yet.
    pub(crate) fn unasked_hook(
        &self,
        event: HookEvent,
        asked: &BTreeSet<String>,
    ) -> Option<HookAsk> {
        let name = self.hooks_at(event, None).find(|name| !asked.contains(*name))?;
        Some(HookAsk::new(event, name))
    }
}
