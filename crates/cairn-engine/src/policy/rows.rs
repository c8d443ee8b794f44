//! Rows that show what must not be read by now. A rule that was in force when a row was made had its
//! say then; one that came later has it when the row is read.

use super::{Case, Rulebook};
use crate::state::Engine;
use cairn_surface::native;
use cairn_text::glob::Stance;
use cairn_text::shell::Denies;
use cairn_types::{
    Delta, Effect, Intent, OpName, Outcome, Policy, Removed, RuleWord, Subject, Writer,
};

impl Engine {
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
            subject: &subject,
            changed: &changed,
            ignored: &[],
            gone: &[],
            removed: Removed::default(),
        };
        self.driving.rules.keeps_back(&case, before, self.now)
    }

    /// The same of a row that tells what others changed: it shows lines of the paths that it names.
    #[must_use]
    pub fn keeps_changes_back(&self, delta: &Delta, before: &Policy) -> bool {
        let reads = delta.noticed.iter().map(|one| one.path.clone()).collect();
        let case = Case {
            op: OpName::Read,
            tool: "read",
            writer: Writer::Model,
            effect: Effect::Read,
            subject: &Subject { reads, ..Subject::default() },
            changed: &[],
            ignored: &[],
            gone: &[],
            removed: Removed::default(),
        };
        self.driving.rules.keeps_back(&case, before, self.now)
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
