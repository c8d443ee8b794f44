//! What is recorded has a marker in the place of each secret, once, before it is a fact, before the model is sent it,
//! before a receipt commits to it. What files hold, what came from a file by its bytes, and the arguments of a call stay
//! exact: whether a call may be performed as it was written is `calls`'s to say.

use cairn_engine::Recording;
use cairn_text::scrub::Scrubber;
use cairn_types::{Body, ContentRef, FactText, Hash};
use std::borrow::Cow;
use std::collections::HashMap;

/// The recording without secrets.
pub(super) fn without_secrets(scrubber: &Scrubber, mut recording: Recording) -> Recording {
    let Recording { facts, contents, .. } = &mut recording;
    let mut changed = HashMap::new();
    let mut more = Vec::new();
    for content in contents.iter_mut() {
        let Cow::Owned(without) = scrubber.bytes(content) else { continue };
        let before = Hash::of(content);
        changed.insert(before, ContentRef::of(&without));
        match facts.iter().any(|fact| fact.exact_contents().contains(&before)) {
            true => more.push(without),
            false => *content = without,
        }
    }
    contents.extend(more);
    for fact in facts {
        for text in fact.texts_mut() {
            match text {
                FactText::Content(named) => {
                    *named = changed.get(&named.hash).copied().unwrap_or(*named);
                }
                FactText::Inline(text) => {
                    if let Cow::Owned(without) = scrubber.text(text) {
                        *text = without;
                    }
                }
            }
        }
        if let Body::Proposal(proposal) = fact {
            proposal.shown_hash = proposal.shown.hash;
        }
    }
    recording
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_types::{By, Coord, Decision, Remember, Verdict};

    #[test]
    fn a_rule_that_is_remembered_holds_no_secret() {
        let secret = format!("sk-{}", "a1B2c3D4".repeat(5));
        let at = Coord { lap: 1, turn: 1, seq: 1 };
        let decision = Decision {
            remember: Remember::Always,
            rule: Some(format!("exec login --with {secret}")),
            ..Decision::new(at, Verdict::Allow, By::Nobody, Vec::new())
        };
        let recording =
            without_secrets(&Scrubber::default(), Recording::of(Body::Decision(decision)));
        let [Body::Decision(decision)] = &recording.facts[..] else { panic!("{recording:?}") };
        let rule = decision.rule.clone().unwrap_or_default();
        assert!(rule.starts_with("exec login --with ") && !rule.contains(&secret), "{rule}");
    }
}
