//! What a fact carries: the op it is about, its texts, the contents it names. Who looks for secrets, frees contents,
//! exports or searches asks here, so a new kind of fact is described once.

use crate::{
    Body, Change, ContentRef, Coord, FileState, Hash, HookAnswer, Hooked, HostAccess, Media,
    Outcome, Reply,
};
use serde_json::Value;

/// A piece of free text that a fact carries.
#[derive(Debug)]
pub enum FactText<'a> {
    /// A content that the fact names.
    Content(&'a mut ContentRef),
    /// A text in the fact itself.
    Inline(&'a mut String),
}

impl<'a> From<&'a mut ContentRef> for FactText<'a> {
    fn from(content: &'a mut ContentRef) -> FactText<'a> {
        FactText::Content(content)
    }
}

impl<'a> From<&'a mut String> for FactText<'a> {
    fn from(text: &'a mut String) -> FactText<'a> {
        FactText::Inline(text)
    }
}

/// Lists pieces of text, each of which is one or any number of contents or strings.
macro_rules! texts {
    ($($pieces:expr),* $(,)?) => {{
        let mut texts: Vec<FactText<'_>> = Vec::new();
        $(texts.extend($pieces.into_iter().map(FactText::from));)*
        texts
    }};
}

impl Body {
    /// The op that the fact is about, if it is about one.
    #[must_use]
    pub fn op(&self) -> Option<Coord> {
        match self {
            Body::Intent(intent) => Some(intent.at),
            Body::Proposal(proposal) => Some(proposal.at),
            Body::Decision(decision) => Some(decision.at),
            Body::Reach(reach) => Some(reach.at),
            Body::Begin(begin) => Some(begin.at),
            Body::Performed(outcome) | Body::Outcome(outcome) => Some(outcome.at),
            Body::Hook(hooked) => hooked.at,
            Body::Stream(stream) => Some(stream.at),
            Body::Run(_)
            | Body::Drive(_)
            | Body::Prompt(_)
            | Body::Steer(_)
            | Body::Abort(_)
            | Body::Ask(_)
            | Body::Reply(_)
            | Body::Fault(_)
            | Body::Delta(_)
            | Body::End(_)
            | Body::Unknown { .. } => None,
        }
    }

    /// The changes that an op of this fact is about to make, or made.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        match self {
            Body::Begin(begin) => &begin.changes,
            Body::Performed(outcome) | Body::Outcome(outcome) => &outcome.changes,
            _ => &[],
        }
    }

    /// The text that a person is shown of the fact, and that is searched.
    #[must_use]
    pub fn main_text(&self) -> Option<ContentRef> {
        match self {
            Body::Prompt(prompt) => Some(prompt.text),
            Body::Steer(steer) => Some(steer.text),
            Body::Delta(delta) => Some(delta.text),
            Body::Reply(reply) => reply.text,
            Body::Proposal(proposal) => Some(proposal.shown),
            Body::Decision(decision) => decision.words,
            Body::Outcome(outcome) => Some(outcome.result),
            Body::Hook(hooked) => {
                let HookAnswer { block, substitute, input, context, .. } = &hooked.answer;
                block.or(*substitute).or(*input).or(context.first().copied())
            }
            _ => None,
        }
    }

    /// Every piece of free text that the fact carries. What it names by its exact bytes is none: see
    /// `exact_contents`.
    pub fn texts_mut(&mut self) -> Vec<FactText<'_>> {
        match self {
            Body::Run(run) => texts![[&mut run.system, &mut run.tools], &mut run.toolbox],
            Body::Prompt(prompt) => texts![[&mut prompt.text]],
            Body::Steer(steer) => texts![[&mut steer.text]],
            Body::Abort(abort) => texts![[&mut abort.why]],
            Body::Ask(ask) => texts![ask.visible.iter_mut().map(|shown| &mut shown.content)],
            Body::Reply(reply) => {
                let Reply { text, reasoning, written, problems, repairs, .. } = reply;
                texts![text, reasoning, written, problems, repairs]
            }
            Body::Fault(fault) => texts![[&mut fault.message]],
            Body::Intent(intent) => {
                let message = intent.problem.as_mut().map(|problem| &mut problem.message);
                texts![message, &mut intent.repairs, [&mut intent.target]]
            }
            Body::Proposal(proposal) => {
                let labels = proposal.items.iter_mut().map(|item| &mut item.label);
                let (shown, label) = ([&mut proposal.shown], [&mut proposal.label]);
                texts![shown, labels, label, &mut proposal.offers, &mut proposal.hosts]
            }
            Body::Decision(decision) => {
                texts![&mut decision.words, &mut decision.rule, &mut decision.hosts]
            }
            Body::Reach(reach) => texts![reach.hosts.iter_mut().map(HostAccess::host_mut)],
            Body::Begin(begin) => texts![&mut begin.told],
            Body::Performed(outcome) | Body::Outcome(outcome) => {
                let said = outcome.letter.as_mut().map(|letter| &mut letter.text);
                texts![said, [&mut outcome.result]]
            }
            Body::Hook(Hooked { answer, hosts, .. }) => {
                let HookAnswer { block, substitute, context, tool, stop, problem, .. } = answer;
                texts![block, substitute, context, tool, stop, problem, hosts]
            }
            Body::Stream(stream) => texts![[&mut stream.why]],
            Body::Delta(delta) => texts![[&mut delta.text]],
            Body::End(end) => texts![[&mut end.why]],
            Body::Drive(_) | Body::Unknown { .. } => Vec::new(),
        }
    }

    /// The contents that the fact names by their exact bytes: arguments, files, pictures, outputs.
    #[must_use]
    pub fn exact_contents(&self) -> Vec<Hash> {
        let of_changes = || {
            let states = self.changes().iter().flat_map(|change| [&change.before, &change.after]);
            states.flatten().filter_map(|state| state.hash)
        };
        let of_media = |media: &[Media]| media.iter().map(|one| one.content.hash).collect();
        match self {
            Body::Drive(drive) => drive.schema.iter().map(|schema| schema.hash).collect(),
            Body::Prompt(prompt) => of_media(&prompt.media),
            Body::Reply(reply) => {
                let args = reply.calls.iter().map(|call| call.args.hash);
                args.chain(reply.thoughts.map(|thoughts| thoughts.hash)).collect()
            }
            Body::Intent(intent) => vec![intent.input.hash],
            Body::Decision(decision) => {
                decision.texts.iter().map(|text| text.content.hash).collect()
            }
            Body::Begin(begin) => {
                let ran = begin.ran.iter().filter_map(|ran| ran.output.as_ref());
                of_changes().chain(ran.map(|output| output.kept.hash)).collect()
            }
            Body::Performed(outcome) | Body::Outcome(outcome) => {
                let Outcome { output, media, .. } = outcome;
                let output = output.iter().map(|output| output.kept.hash);
                let media: Vec<Hash> = of_media(media);
                of_changes().chain(output).chain(media).collect()
            }
            Body::Hook(hooked) => hooked.answer.input.iter().map(|input| input.hash).collect(),
            Body::Stream(stream) => stream.output.iter().map(|output| output.kept.hash).collect(),
            Body::Run(_)
            | Body::Steer(_)
            | Body::Abort(_)
            | Body::Ask(_)
            | Body::Fault(_)
            | Body::Proposal(_)
            | Body::Reach(_)
            | Body::Delta(_)
            | Body::End(_)
            | Body::Unknown { .. } => Vec::new(),
        }
    }
}

/// Adds every hash in a stored body, of whatever kind and version. A content that none of them names is not needed
/// for the fact.
pub fn hashes_in(body: &Value, found: &mut impl Extend<Hash>) {
    match body {
        Value::String(text) => found.extend(text.parse::<Hash>()),
        Value::Array(items) => items.iter().for_each(|item| hashes_in(item, found)),
        Value::Object(map) => map.values().for_each(|item| hashes_in(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Adds every content that a stored body, of whatever kind and version, names with its length: it was kept when the
/// fact was recorded. A hash without a length may be of something that was never kept.
pub fn contents_in(body: &Value, found: &mut impl Extend<Hash>) {
    match body {
        Value::Array(items) => items.iter().for_each(|item| contents_in(item, found)),
        Value::Object(map) if map.len() == 2 && map.contains_key("bytes") => {
            let hash = map.get("hash").and_then(Value::as_str);
            found.extend(hash.and_then(|hash| hash.parse::<Hash>().ok()));
        }
        Value::Object(map) => map.values().for_each(|item| contents_in(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns the contents that the changes in a stored body went from and led to, as far as an op keeps them: not what was
/// moved instead of written, nor entries that their scheme keeps.
#[must_use]
pub fn changed_contents_in(body: &Value) -> Vec<Hash> {
    let changes = body.get("changes").cloned().unwrap_or_default();
    let changes: Vec<Change> = serde_json::from_value(changes).unwrap_or_default();
    let states = changes.into_iter().flat_map(|change| [change.before, change.after]).flatten();
    let is_kept = |state: &FileState| {
        state.aside.is_none() && state.entry.as_ref().is_none_or(|entry| !entry.own)
    };
    states.filter(is_kept).filter_map(|state| state.hash).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::filled_bodies;
    use serde_json::json;

    #[test]
    fn every_content_that_a_fact_names_is_a_text_or_exact() {
        for mut body in filled_bodies() {
            let text = ContentRef::of(b"a text");
            let mut texts = 0;
            for piece in body.texts_mut() {
                if let FactText::Content(content) = piece {
                    *content = text;
                    texts += 1;
                }
            }
            let value = body.to_value().unwrap();
            let mut contents = Vec::new();
            contents_in(&value, &mut contents);
            let others = contents.iter().filter(|hash| **hash != text.hash).count();
            assert_eq!(contents.len() - others, texts, "{body:?}");
            // What a proposal would change it only describes.
            let states = body.changes().iter().flat_map(|change| [&change.before, &change.after]);
            assert_eq!(others + states.flatten().count(), body.exact_contents().len(), "{body:?}");
            let is_text = |content: ContentRef| {
                let input = matches!(&body, Body::Hook(hook) if hook.answer.input == Some(content));
                content.hash == text.hash || input
            };
            assert!(body.main_text().is_none_or(is_text), "{body:?}");
        }
    }

    #[test]
    fn an_op_is_named_wherever_a_fact_has_one() {
        for body in filled_bodies() {
            let at = body.to_value().unwrap().get("at").cloned();
            assert_eq!(body.op().map(|at| json!(at)), at, "{body:?}");
        }
    }

    #[test]
    fn hashes_are_found_in_a_kind_that_this_version_does_not_know() {
        let hash = |n: u8| Hash([n; 32]);
        let body = json!({
            "text": {"bytes": 3, "hash": hash(1)},
            "parts": [{"deep": [hash(2)]}, {"bytes": 1, "hash": hash(3), "more": true}],
            "word": "ab",
            "changes": "of another form",
        });
        let (mut hashes, mut contents) = (Vec::new(), Vec::new());
        hashes_in(&body, &mut hashes);
        contents_in(&body, &mut contents);
        hashes.sort();
        assert_eq!(hashes, [hash(1), hash(2), hash(3)]);
        assert_eq!(contents, [hash(1)]);
        assert_eq!(changed_contents_in(&body), []);
        assert_eq!(changed_contents_in(&Value::Null), []);
    }

    #[test]
    fn the_contents_of_changes_are_those_that_an_op_keeps() {
        let mut body = filled_bodies().into_iter().find(|b| matches!(b, Body::Outcome(_))).unwrap();
        let Body::Outcome(outcome) = &mut body else { unreachable!() };
        let file =
            FileState { aside: None, entry: None, ..outcome.changes[0].before.clone().unwrap() };
        outcome.changes[0].before = Some(FileState { hash: Some(Hash([7; 32])), ..file });
        assert!(outcome.changes[0].after.as_ref().unwrap().aside.is_some());
        assert_eq!(changed_contents_in(&body.to_value().unwrap()), [Hash([7; 32])]);
    }
}
