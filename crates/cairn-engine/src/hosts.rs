//! Which hosts a command may reach, and the question about that: what rules say, who is asked before a
//! person is, and what their word comes to. What a command changed is another question, and comes after.

use crate::admit::{Prepared, Recording};
use crate::gates::Terms;
use crate::op::OpState;
use crate::op_in_run::OpInRun;
use crate::propose::NewQuestion;
use crate::reach::Reach;
use cairn_types::{
    Body, By, Decision, Gate, HookWord, HostAccess, ProposalItem, ProposalKind, RuleWord, Verdict,
};
use std::net::IpAddr;

impl OpState {
    /// What a person would be shown who is asked about these hosts.
    #[must_use]
    pub fn question_about_hosts(&self, wanted: &[String]) -> String {
        let hosts: String =
            wanted.iter().map(|host| format!("  {host}{}\n", within(host))).collect();
        format!(
            "{} {}\nwanted to reach, and was refused:\n{hosts}It runs again with these hosts if you say yes.\n",
            self.intent.tool, self.intent.target
        )
    }
}

impl OpInRun<'_> {
    /// The hosts that its command may reach, by rules and by what a person let it, and those it is kept from.
    #[must_use]
    pub fn host_access(&self) -> Vec<HostAccess> {
        let driving = &self.run.driving;
        let mut hosts = match driving.terms().flags.no_web {
            true => Vec::new(),
            false => driving.rules.hosts(self.run.now),
        };
        hosts.extend(self.hosts.iter().cloned());
        let mut access: Vec<HostAccess> = hosts.into_iter().map(HostAccess::Allowed).collect();
        if !access.is_empty() {
            access.extend(self.kept_from());
        }
        access.sort_by_cached_key(HostAccess::to_string);
        access.dedup();
        access
    }

    /// The hosts that rules keep an op's command from, and those it was let although a rule asks about them.
    fn kept_from(&self) -> Vec<HostAccess> {
        let nothing = Reach::default();
        let case = self.case(&nothing);
        let kept = case
            .map(|case| self.run.driving.rules.kept_hosts(&case, self.run.now))
            .unwrap_or_default();
        let is_asked = kept.iter().any(|(word, _)| *word != RuleWord::Deny);
        let named =
            self.op.hosts.iter().filter(|_| is_asked).cloned().map(HostAccess::AllowedByName);
        let kept = kept.into_iter().map(|(word, host)| match word {
            RuleWord::Deny => HostAccess::Denied(host),
            RuleWord::Ask | RuleWord::Allow => HostAccess::OnlyByName(host),
        });
        kept.chain(named).collect()
    }

    /// The hosts that a person is asked about: once, only where somebody is there, and not those that a
    /// rule forbids. Nothing that was accepted beforehand answers that.
    pub(crate) fn asked_hosts(&self, prepared: &Prepared) -> Vec<String> {
        let Terms { flags, .. } = self.run.driving.terms();
        let somebody =
            (self.run.driving.asks() || flags.someone) && !(flags.no_web || flags.no_proposals);
        if self.op.asked_hosts || !somebody {
            return Vec::new();
        }
        let is_open = |host: &&String| self.word_on_host(host) != Some(RuleWord::Deny);
        prepared.wanted.iter().filter(is_open).cloned().collect()
    }

    /// What rules that name hosts say about one that a command wanted.
    fn word_on_host(&self, host: &str) -> Option<RuleWord> {
        let nothing = Reach::default();
        self.case(&nothing)
            .and_then(|case| self.run.driving.rules.word_on_host(&case, host, self.run.now))
    }

    /// The question about hosts, or the word on it where hooks gave one.
    pub(crate) fn put_hosts(&self, hosts: &[String]) -> Recording {
        let refused = self.op.hooks.about_hosts(hosts).any(|one| one.answer.block.is_some());
        // A yes counts only where no rule speaks, as of any other question.
        let is_unruled = || hosts.iter().all(|host| self.word_on_host(host).is_none());
        let word =
            || self.op.hooks.word_on_hosts(hosts).filter(|_| self.run.driving.rules.takes_yes());
        let verdict = match (refused, word()) {
            (true, _) => Verdict::Refuse,
            (false, Some(HookWord::Allow)) if is_unruled() => Verdict::Allow,
            (false, _) => return propose(self.op, hosts),
        };
        let gates = self.leave(&Reach::default()).gates().to_vec();
        let by = By::Gate(Gate::Hooks);
        let decision = Decision::new(self.op.intent.at, verdict, by, gates);
        Recording::of(Body::Decision(Decision { hosts: hosts.to_vec(), ..decision }))
    }
}

/// What a person may not see at once of an address: that it is not on the public network.
fn within(host: &str) -> &'static str {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    let Ok(address) = name.trim_matches(['[', ']']).parse::<IpAddr>() else { return "" };
    let is_private = match address {
        IpAddr::V4(v4) => {
            let is_shared = matches!(v4.octets(), [100, 64..=127, ..]);
            v4.is_private() || v4.is_link_local() || is_shared
        }
        IpAddr::V6(v6) => v6.is_unique_local() || v6.is_unicast_link_local(),
    };
    match (address.is_loopback() || address.is_unspecified(), is_private) {
        (true, _) => " (this machine)",
        (false, true) => " (a private address)",
        (false, false) => "",
    }
}

/// A command wanted to reach hosts that it may not: shall it?
fn propose(op: &OpState, wanted: &[String]) -> Recording {
    let label = format!("reach {}", wanted.join(", "));
    let items = vec![ProposalItem::whole(label)];
    let shown = op.question_about_hosts(wanted);
    let mut question = NewQuestion::about(op, ProposalKind::Network, shown, items);
    question.hosts = wanted.to_vec();
    question.record(op)
}

#[cfg(test)]
mod tests {
    use super::within;

    #[test]
    fn an_address_within_is_said_to_be_one() {
        let check = |hosts: &[&str], expected: &str| {
            for host in hosts {
                assert_eq!(within(host), expected, "{host}");
            }
        };
        check(&["127.0.0.2:8777", "0.0.0.0", "[::1]", "[::1]:8777"], " (this machine)");
        check(
            &["10.1.2.3", "192.168.1.1:81", "169.254.169.254", "100.64.0.1"],
            " (a private address)",
        );
        check(&["[fd00::1]:81", "[fe80::1]"], " (a private address)");
        check(&["example.org", "vm:8777", "8.8.8.8:81", "[2606:2800::1]"], "");
    }
}
