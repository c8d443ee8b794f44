//! Rows that show what must not be read by now. A rule that was in force when a row was made had its
//! say then; one that came later has it when the row is read.

use super::{Case, Rulebook};
use crate::driving::Driving;
use crate::gates::{Asked, Leave};
use crate::state::Engine;
use cairn_surface::native;
use cairn_text::glob::Stance;
use cairn_text::shell::Denies;
use cairn_types::{
    Delta, Effect, Intent, OpName, Outcome, Policy, Removed, RuleWord, Subject, Writer,
};

/// The policy of the present driver, at the time of the run's last fact.
#[derive(Debug, Clone, Copy)]
pub struct PolicyInForce<'a> {
    driving: &'a Driving,
    now: u64,
}

impl Engine {
    /// The policy that is in force.
    #[must_use]
    pub fn policy_in_force(&self) -> PolicyInForce<'_> {
        PolicyInForce { driving: &self.driving, now: self.now }
    }
}

/// A look by the model at these paths and addresses.
fn look(subject: &Subject) -> Case<'_> {
    Case {
        op: OpName::Read,
        tool: "read",
        writer: Writer::Model,
        effect: Effect::Read,
        subject,
        changed: &[],
        ignored: &[],
        gone: &[],
        removed: Removed::default(),
    }
}

impl PolicyInForce<'_> {
    /// Whether the model may be shown what a file or an entry says, without having asked for it.
    #[must_use]
    pub fn may_show(&self, path: &str) -> bool {
        let subject = Subject { reads: vec![path.to_owned()], ..Subject::default() };
        let PolicyInForce { driving, now } = *self;
        let asked = Asked::new(look(&subject), driving.terms(), &driving.rules, now);
        matches!(asked.leave(), Leave::Granted(..))
    }

    /// Whether a row shows, or may show, what the present driver's rules keep from being read and those
    /// in force when it was made did not.
    #[must_use]
    pub fn keeps_back(&self, intent: &Intent, outcome: &Outcome, before: &Policy) -> bool {
        let (Some(op), Some(subject)) = (intent.op, &intent.subject) else { return false };
        let mut subject = subject.clone();
        subject.reads.extend(outcome.seen.iter().map(|file| file.path.clone()));
        let changed: Vec<String> = outcome.changes.iter().map(|one| one.path.clone()).collect();
        let case = Case {
            op,
            tool: native::name_of(&intent.tool).unwrap_or(&intent.tool),
            writer: intent.writer,
            effect: intent.effect,
            changed: &changed,
            ..look(&subject)
        };
        self.driving.rules.keeps_back(&case, before, self.now)
    }

    /// The same of a row that tells what others changed: it shows lines of the paths that it names.
    #[must_use]
    pub fn keeps_changes_back(&self, delta: &Delta, before: &Policy) -> bool {
        let reads = delta.noticed.iter().map(|one| one.path.clone()).collect();
        let subject = Subject { reads, ..Subject::default() };
        self.driving.rules.keeps_back(&look(&subject), before, self.now)
    }
}

impl Rulebook {
    fn keeps_back(&self, case: &Case<'_>, before: &Policy, now: u64) -> bool {
        let is_old = |text: &str| {
            before.rules.iter().any(|rule| rule.word == RuleWord::Deny && rule.rule == text)
        };
        let newer = self
            .in_force(now)
            .filter(|(_, source)| source.word == RuleWord::Deny && !is_old(&source.rule));
        newer.filter(|(rule, _)| rule.is_about_reading()).any(|(rule, _)| {
            // A search showed whatever it came upon.
            let searched = case.op == OpName::Find
                && rule.glob().is_some_and(|glob| {
                    let mut reads = self.touched(case).into_iter();
                    reads.any(|one| glob.stance(&one.path) != Stance::Apart)
                });
            searched || self.touches(rule, case) != Denies::No
        })
    }
}
