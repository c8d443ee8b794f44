//! What rules say about hosts: which ones they let commands reach, and which ones they keep them from. Who is asked
//! about the others is the engine's.

use super::Rulebook;
use super::judge::{Case, is_host};
use super::rule::Rule;
use cairn_text::shell::Denies;
use cairn_types::{Effect, OpName, PolicyRule, RuleFrom, RuleWord, Subject};

/// What holds of a host, for a command that runs over an overlay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnHost {
    /// The host, or those that a rule names.
    pub host: String,
    /// Whether it is reached, asked about when it is wanted, or neither.
    pub word: RuleWord,
    /// The rule and where it stands; absent where none speaks.
    pub rule: Option<String>,
}

impl OnHost {
    fn by(host: &str, word: RuleWord, PolicyRule { rule, place, .. }: &PolicyRule) -> OnHost {
        let place = if place.is_empty() { String::new() } else { format!(" ({place})") };
        OnHost { host: host.to_owned(), word, rule: Some(format!("{rule}{place}")) }
    }
}

impl Rulebook {
    /// What holds of the hosts that a command names, and of those that rules name besides. Nothing where it does not
    /// run over an overlay: then hosts are not told apart while it runs.
    #[must_use]
    pub fn on_hosts(&self, case: &Case<'_>, now: u64) -> Vec<OnHost> {
        if !self.is_overlaid(case) {
            return Vec::new();
        }
        let named = &case.subject.hosts;
        // With its port it says more.
        let is_less = |host: &str| named.iter().any(|one| without_port(one) == Some(host));
        let named: Vec<&String> = named.iter().filter(|host| !is_less(host)).collect();
        let mut all: Vec<OnHost> = named.iter().map(|host| self.on_host(case, host, now)).collect();
        for (rule, source) in self.in_force(now) {
            let Some(host) = rule.hosts() else { continue };
            let is_said = |one: &&String| {
                is_host(host, one) || without_port(one).is_some_and(|one| is_host(host, one))
            };
            let word = match self.lets((rule, source)) {
                true => Some(RuleWord::Allow),
                false => self.word_on_own((rule, source), case),
            };
            if let Some(word) = word.filter(|_| !named.iter().any(is_said)) {
                all.push(OnHost::by(host, word, source));
            }
        }
        all
    }

    fn on_host(&self, case: &Case<'_>, host: &str, now: u64) -> OnHost {
        let subject = wanting(case, host);
        let case = Case { subject: &subject, ..*case };
        let against = self.in_force(now).filter(|(rule, _)| rule.hosts().is_some());
        let against = against.filter_map(|rule| Some((self.word_of(rule, &case)?, rule.1)));
        let lets = |rule: &(&Rule, &PolicyRule)| {
            self.lets(*rule) && rule.0.host.as_deref().is_some_and(|own| is_host(own, host))
        };
        match (against.max_by_key(|(word, _)| *word), self.in_force(now).find(lets)) {
            (Some((word, source)), _) => OnHost::by(host, word, source),
            (None, Some((_, source))) => OnHost::by(host, RuleWord::Allow, source),
            (None, None) => OnHost { host: host.to_owned(), word: RuleWord::Ask, rule: None },
        }
    }

    /// Whether a rule lets commands reach the hosts that it names.
    fn lets(&self, (rule, source): (&Rule, &PolicyRule)) -> bool {
        source.word == RuleWord::Allow
            && matches!(source.from, RuleFrom::User | RuleFrom::Answer)
            && rule.is_on_network()
            && (rule.ops.is_empty() || rule.ops.contains(&OpName::Exec))
            && rule.host.is_some()
    }

    /// The hosts that rules let commands reach.
    pub(crate) fn hosts(&self, now: u64) -> Vec<String> {
        let lets = |rule: &(&Rule, &PolicyRule)| self.lets(*rule);
        self.in_force(now).filter(lets).filter_map(|(rule, _)| rule.host.clone()).collect()
    }

    /// What rules that name hosts say about one that a command wanted to reach: what forbids it, else what
    /// asks about it or may forbid it.
    pub(crate) fn word_on_host(&self, case: &Case<'_>, host: &str, now: u64) -> Option<RuleWord> {
        let subject = wanting(case, host);
        let rules = self.in_force(now).filter(|(rule, _)| rule.hosts().is_some());
        rules.filter_map(|rule| self.word_of(rule, &Case { subject: &subject, ..*case })).max()
    }

    /// The hosts that rules keep a command from, whatever lets it reach more than them, with their word.
    pub(crate) fn kept_hosts(&self, case: &Case<'_>, now: u64) -> Vec<(RuleWord, String)> {
        let kept = |rule: (&Rule, &PolicyRule)| {
            Some((self.word_on_own(rule, case)?, rule.0.hosts()?.to_owned()))
        };
        self.in_force(now).filter_map(kept).collect()
    }

    /// What a rule that names hosts says against those, for this command.
    fn word_on_own(&self, rule: (&Rule, &PolicyRule), case: &Case<'_>) -> Option<RuleWord> {
        // One of those that it names.
        let hosts = vec![rule.0.hosts()?.replacen('*', "any", 1)];
        let subject = Subject { hosts, ..case.subject.clone() };
        self.word_of(rule, &Case { subject: &subject, ..*case })
    }

    /// What a rule that names hosts says against those of a case: that it forbids them, or that it asks about them or
    /// may forbid them.
    fn word_of(&self, (rule, source): (&Rule, &PolicyRule), case: &Case<'_>) -> Option<RuleWord> {
        // Whatever else it does, this is what it does on the network.
        let effect = rule.effect.filter(|effect| *effect == Effect::Network);
        let case = Case { effect: effect.unwrap_or(case.effect), ..*case };
        match (source.word, self.touches(rule, &case)) {
            (RuleWord::Allow, _) | (_, Denies::No) => None,
            (RuleWord::Deny, Denies::Yes) => Some(RuleWord::Deny),
            _ => Some(RuleWord::Ask),
        }
    }
}

/// What a case is about where its command wants this host.
fn wanting(case: &Case<'_>, host: &str) -> Subject {
    let mut hosts = vec![host.to_owned()];
    hosts.extend(without_port(host).map(str::to_owned));
    Subject { hosts, ..case.subject.clone() }
}

/// A host that is written with its port, without it.
fn without_port(host: &str) -> Option<&str> {
    host.rsplit_once(':').map(|(name, _)| name)
}
