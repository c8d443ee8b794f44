//! Whether a redirect is followed. Another address is another read: the same host's is, unless a rule is against it;
//! another host's only where a rule lets it be read unasked.

use super::address::Address;
use cairn_engine::policy::{Case, Rulebook, subject_of};
use cairn_types::{Action, Effect, LONGEST_ADDRESS, Mode, OpName, Read, Removed, RuleWord, Writer};

/// What decides where a read may be led.
#[derive(Debug, Clone)]
pub(crate) struct Leads {
    /// The rules.
    pub(crate) rules: Rulebook,
    /// What may be done at all.
    pub(crate) mode: Mode,
    /// Who reads.
    pub(crate) writer: Writer,
    /// Whether only the same host is followed: hooks would have to be asked about another.
    pub(crate) is_hooked: bool,
}

impl Leads {
    /// Whether what leads from one address to another is followed, at this time. What is too long for an address
    /// cannot be judged.
    pub(crate) fn follows(&self, from: &Address, to: &Address, now: u64) -> bool {
        let path = to.to_string();
        if path.len() > LONGEST_ADDRESS {
            return false;
        }
        let read = Read { path, ..Read::default() };
        let subject = subject_of(&Action::Read(read));
        let case = Case {
            op: OpName::Read,
            tool: "read",
            writer: self.writer,
            effect: Effect::Network,
            subject: &subject,
            changed: &[],
            ignored: &[],
            gone: &[],
            removed: Removed::default(),
        };
        let judged = self.rules.judge(&case, self.mode, now);
        match is_same(from, to) {
            true => judged.word == RuleWord::Allow || judged.from.is_none(),
            false => judged.word == RuleWord::Allow && !self.is_hooked,
        }
    }
}

/// Whether whoever let one address be read let the other's host be reached: not on a port that is unusual and
/// was not named.
fn is_same(from: &Address, to: &Address) -> bool {
    let (from, to) = (from.url(), to.url());
    let usual = |url: &reqwest::Url| url.port().is_none_or(|port| [80, 443].contains(&port));
    let same_port = from.port_or_known_default() == to.port_or_known_default();
    from.host_str() == to.host_str() && (same_port || usual(from) && usual(to))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_types::{Policy, PolicyRule, RuleFrom};

    // keeps: web-redirects
    #[test]
    fn a_redirect_is_followed_where_the_address_could_be_read_unasked() {
        let check = |rules: &[(RuleWord, &str)], to: &str, expected: bool| {
            let rule = |(word, rule): &(RuleWord, &str)| PolicyRule {
                word: *word,
                rule: (*rule).to_owned(),
                place: String::new(),
                from: RuleFrom::User,
                until: None,
            };
            let rules: Vec<PolicyRule> = rules.iter().map(rule).collect();
            let rules = Rulebook::read(Policy { rules, ..Policy::default() }).unwrap();
            let (mode, writer) = (Mode::Act, Writer::Model);
            let leads = Leads { rules, mode, writer, is_hooked: false };
            let from = Address::of("https://a.example/x").unwrap();
            let led_to = from.join(to).unwrap();
            assert_eq!(leads.follows(&from, &led_to, 0), expected, "{to}");
            let hooked = Leads { is_hooked: true, ..leads };
            let same = to.contains("//a.example");
            assert_eq!(hooked.follows(&from, &led_to, 0), expected && same, "{to}, hooked");
        };
        check(&[], "https://a.example/y", true);
        check(&[], "http://a.example/", true);
        check(&[], "https://a.example:8443/", false);
        check(&[], "https://b.example/", false);
        check(&[], "https://a.example.evil.org/", false);
        let b = (RuleWord::Allow, "read[effect=network,host=b.example]");
        check(&[b], "https://b.example/", true);
        check(&[b], "https://b.example:81/", false);
        check(&[b, (RuleWord::Ask, "read[host=b.example]")], "https://b.example/", false);
        check(&[(RuleWord::Deny, "read[host=a.example]")], "https://a.example/y", false);
        check(
            &[(RuleWord::Deny, "read[scheme=https] a.example/secret/**")],
            "https://a.example/secret/x",
            false,
        );
        check(&[(RuleWord::Allow, "read")], "https://b.example/", false);
        let long = format!("https://a.example/{}", "x".repeat(600));
        check(&[(RuleWord::Allow, "read[effect=network]")], &long, false);
    }
}
