//! Policy: rules read from text, and their word on an op. Who is asked, and who may answer, is the
//! gates' matter.

mod judge;
mod named;
mod protected;
mod reached;
mod rows;
mod rule;
mod subject;

pub use judge::Case;
pub(crate) use judge::RemovedPaths;
pub use reached::OnHost;
pub use rows::PolicyInForce;
pub use rule::{Reading, Rule, RuleError};
pub use subject::of as subject_of;

use cairn_text::glob::PathGlob;
use cairn_text::shell::Denies;
use cairn_types::{OpName, Policy, PolicyRule, Removed, RuleFrom, RuleWord};

/// A policy whose rules have been read.
#[derive(Debug, Clone, Default)]
pub struct Rulebook {
    policy: Policy,
    rules: Vec<Rule>,
}

/// The rules' word on an op, and the rule that says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// The word.
    pub word: RuleWord,
    /// The rule and where it stands, or what holds without one.
    pub why: String,
    /// Whose rule it is; absent where none speaks.
    pub from: Option<RuleFrom>,
    /// No answer and no `--yolo` lifts it.
    pub ceiling: bool,
    /// No rule speaks, and nothing that says what may run would change: a hook of the user's may
    /// answer in a person's place.
    pub is_open: bool,
}

impl Judged {
    fn by_rule(word: RuleWord, rule: &PolicyRule, touch: Denies) -> Judged {
        let perhaps = if touch == Denies::Perhaps { "it may be meant by " } else { "" };
        let place =
            if rule.place.is_empty() { String::new() } else { format!(" ({})", rule.place) };
        let why = format!("{perhaps}{} {}{place}", rule.word, rule.rule);
        Judged { word, why, from: Some(rule.from), ceiling: false, is_open: false }
    }
}

impl Judged {
    /// Whichever of two words on the same op allows less.
    fn or_stricter(self, other: Judged) -> Judged {
        let strictness = |judged: &Judged| (judged.word, judged.ceiling, !judged.is_open);
        if strictness(&other) > strictness(&self) { other } else { self }
    }
}

impl Rulebook {
    /// Reads every rule.
    pub fn read(policy: Policy) -> Result<Rulebook, RuleError> {
        let rules = policy.rules.iter().map(|rule| Rule::parse_in(&rule.rule, &policy));
        let rules = rules.collect::<Result<_, _>>()?;
        Ok(Rulebook { policy, rules })
    }

    /// The rules of a recorded policy. One that this version cannot read forbids everything, unless
    /// it would have allowed something.
    #[must_use]
    pub fn recorded(policy: &Policy) -> Rulebook {
        let mut book = Rulebook { policy: policy.clone(), rules: Vec::new() };
        book.policy.rules.retain(|source| match Rule::parse_in(&source.rule, policy) {
            Ok(rule) => {
                book.rules.push(rule);
                true
            }
            Err(_) if source.word == RuleWord::Allow => false,
            Err(_) => {
                book.rules.push(Rule::default());
                true
            }
        });
        book
    }

    /// The paths that rules keep from being read by this way: those that they forbid, and those that
    /// they ask about.
    pub fn unread(&self, way: Reading) -> impl Iterator<Item = (&PathGlob, RuleWord)> {
        let all = self.rules.iter().zip(&self.policy.rules);
        let narrowing = all.filter(|(_, source)| source.word != RuleWord::Allow);
        narrowing.filter_map(move |(rule, source)| Some((rule.kept_from(&way)?, source.word)))
    }

    /// The paths that rules keep from being read by whatever way; none where one of these rules holds for some ways
    /// only, so that nobody can say what it means for a command.
    #[must_use]
    pub fn unread_by_commands(&self) -> Option<Vec<PathGlob>> {
        let all = self.rules.iter().zip(&self.policy.rules);
        let denying = all.filter(|(rule, source)| {
            source.word == RuleWord::Deny && rule.ops.contains(&OpName::Read)
        });
        let globs = denying.filter_map(|(rule, _)| Some((rule, rule.glob()?)));
        globs.map(|(rule, glob)| rule.is_about_every_way().then(|| glob.clone())).collect()
    }

    /// The paths whose change rules forbid or ask about.
    pub fn ruled(&self) -> impl Iterator<Item = &PathGlob> {
        let all = self.rules.iter().zip(&self.policy.rules);
        let narrowing = all.filter(|(_, source)| source.word != RuleWord::Allow);
        narrowing.filter_map(|(rule, _)| rule.glob().filter(|_| rule.is_on_changes()))
    }

    /// Whether a yes may be remembered as this rule: nobody says yes to everything where that is ruled
    /// out.
    pub(crate) fn takes_answer(&self, rule: &Rule) -> bool {
        !(self.policy.no_yolo && rule.is_yolo())
    }

    /// Whether so much is removed only when a person says so.
    pub(crate) fn asks_about(&self, removed: Removed) -> bool {
        removed.exceeds(self.policy.little)
    }

    /// How many of the rules have expired by a time.
    pub(crate) fn count_expired(&self, now: u64) -> usize {
        let expired = |rule: &&PolicyRule| rule.until.is_some_and(|until| until <= now);
        self.policy.rules.iter().filter(expired).count()
    }

    /// As it was recorded.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }
}

impl PartialEq for Rulebook {
    fn eq(&self, other: &Rulebook) -> bool {
        self.policy == other.policy
    }
}

impl Eq for Rulebook {}
