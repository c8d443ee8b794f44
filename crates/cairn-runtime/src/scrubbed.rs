//! The one door to the log: what a recording says is recorded with a marker in the place of each
//! secret, once, before it is a fact, before the model is sent it, before a receipt commits to it. What
//! files hold, what came from a file by its bytes, and the arguments of a call stay exact: whether a
//! call may be performed as it was written is `calls`'s to say.

use cairn_engine::Recording;
use cairn_text::scrub::Scrubber;
use cairn_types::{Body, Change, ContentRef, Hash, HookAnswer, Hooked, Media, Reply};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// The recording without secrets.
pub(crate) fn scrubbed(scrubber: &Scrubber, mut recording: Recording) -> Recording {
    let exact: HashSet<Hash> = recording.facts.iter().flat_map(exact).collect();
    let mut changed = HashMap::new();
    let mut more = Vec::new();
    for content in &mut recording.contents {
        let Cow::Owned(without) = scrubber.bytes(content) else { continue };
        let before = Hash::of(content);
        changed.insert(before, ContentRef::of(&without));
        match exact.contains(&before) {
            true => more.push(without),
            false => *content = without,
        }
    }
    recording.contents.extend(more);
    for fact in &mut recording.facts {
        for named in texts(fact) {
            *named = changed.get(&named.hash).copied().unwrap_or(*named);
        }
        if let Body::Proposal(proposal) = fact {
            proposal.shown_hash = proposal.shown.hash;
        }
        for text in sentences(fact) {
            if let Cow::Owned(without) = scrubber.text(text) {
                *text = without;
            }
        }
    }
    recording
}

/// The contents that a fact names by their bytes.
fn exact(fact: &Body) -> Vec<Hash> {
    let of_changes = |changes: &[Change]| {
        let states = changes.iter().flat_map(|change| [&change.before, &change.after]);
        states.flatten().filter_map(|state| state.hash).collect::<Vec<_>>()
    };
    let of_media = |media: &[Media]| media.iter().map(|one| one.content.hash).collect::<Vec<_>>();
    match fact {
        Body::Prompt(prompt) => of_media(&prompt.media),
        Body::Drive(drive) => drive.schema.iter().map(|schema| schema.hash).collect(),
        Body::Reply(reply) => {
            let args = reply.calls.iter().map(|call| call.args.hash);
            args.chain(reply.thoughts.iter().map(|thoughts| thoughts.hash)).collect()
        }
        Body::Intent(intent) => vec![intent.input.hash],
        Body::Begin(begin) => {
            let ran = begin.ran.iter().filter_map(|ran| ran.output.as_ref());
            let output = ran.map(|output| output.kept.hash);
            of_changes(&begin.changes).into_iter().chain(output).collect()
        }
        Body::Decision(decision) => decision.texts.iter().map(|text| text.content.hash).collect(),
        Body::Outcome(outcome) | Body::Performed(outcome) => {
            let output = outcome.output.iter().map(|output| output.kept.hash);
            let files = of_changes(&outcome.changes).into_iter().chain(of_media(&outcome.media));
            output.chain(files).collect()
        }
        Body::Stream(stream) => stream.output.iter().map(|output| output.kept.hash).collect(),
        Body::Hook(hooked) => hooked.answer.input.iter().map(|input| input.hash).collect(),
        Body::Run(_)
        | Body::Steer(_)
        | Body::Delta(_)
        | Body::Abort(_)
        | Body::Ask(_)
        | Body::Fault(_)
        | Body::Proposal(_)
        | Body::Reach(_)
        | Body::End(_)
        | Body::Unknown { .. } => Vec::new(),
    }
}

/// The texts that a fact names.
fn texts(fact: &mut Body) -> Vec<&mut ContentRef> {
    match fact {
        Body::Run(run) => vec![&mut run.system],
        Body::Prompt(prompt) => vec![&mut prompt.text],
        Body::Steer(steer) => vec![&mut steer.text],
        Body::Delta(delta) => vec![&mut delta.text],
        Body::Reply(reply) => {
            let Reply { text, reasoning, written, problems, .. } = reply;
            [text, reasoning, written, problems].into_iter().flatten().collect()
        }
        Body::Ask(ask) => ask.visible.iter_mut().map(|shown| &mut shown.content).collect(),
        Body::Intent(intent) => intent.problem.iter_mut().map(|p| &mut p.message).collect(),
        Body::Proposal(proposal) => vec![&mut proposal.shown],
        Body::Decision(decision) => decision.words.iter_mut().collect(),
        Body::Begin(begin) => begin.told.iter_mut().collect(),
        Body::Outcome(outcome) | Body::Performed(outcome) => {
            let said = outcome.letter.iter_mut().map(|letter| &mut letter.text);
            said.chain([&mut outcome.result]).collect()
        }
        Body::Hook(hooked) => {
            let HookAnswer { block, substitute, context, .. } = &mut hooked.answer;
            block.iter_mut().chain(substitute).chain(context).collect()
        }
        Body::Drive(_)
        | Body::Abort(_)
        | Body::Fault(_)
        | Body::Stream(_)
        | Body::Reach(_)
        | Body::End(_)
        | Body::Unknown { .. } => Vec::new(),
    }
}

/// The sentences that stand in a fact itself.
fn sentences(fact: &mut Body) -> Vec<&mut String> {
    match fact {
        Body::Abort(abort) => vec![&mut abort.why],
        Body::Fault(fault) => vec![&mut fault.message],
        Body::Intent(intent) => intent.repairs.iter_mut().chain([&mut intent.target]).collect(),
        Body::Proposal(proposal) => {
            let labels = proposal.items.iter_mut().map(|item| &mut item.label);
            let hosts = &mut proposal.hosts;
            labels.chain(&mut proposal.offers).chain([&mut proposal.label]).chain(hosts).collect()
        }
        Body::Decision(decision) => decision.rule.iter_mut().chain(&mut decision.hosts).collect(),
        Body::Reach(reach) => reach.hosts.iter_mut().collect(),
        Body::Stream(stream) => vec![&mut stream.why],
        Body::Reply(reply) => reply.repairs.iter_mut().collect(),
        Body::End(end) => vec![&mut end.why],
        Body::Hook(Hooked { answer: HookAnswer { tool, stop, problem, .. }, hosts, .. }) => {
            tool.iter_mut().chain(stop).chain(problem).chain(hosts).collect()
        }
        Body::Run(_)
        | Body::Drive(_)
        | Body::Prompt(_)
        | Body::Steer(_)
        | Body::Delta(_)
        | Body::Ask(_)
        | Body::Begin(_)
        | Body::Performed(_)
        | Body::Outcome(_)
        | Body::Unknown { .. } => Vec::new(),
    }
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
        let recording = scrubbed(&Scrubber::default(), Recording::of(Body::Decision(decision)));
        let [Body::Decision(decision)] = &recording.facts[..] else { panic!("{recording:?}") };
        let rule = decision.rule.clone().unwrap_or_default();
        assert!(rule.starts_with("exec login --with ") && !rule.contains(&secret), "{rule}");
    }
}
