//! What a model is told of the envelope: how it writes, once, and what this turn wants, at the end of each request.
//! Made from the tool types; short, since the models that it is for hold little.

use super::layout::layouts;
use super::{ACTION, ARGS, FINAL, NONCE, Stage, TOOL, Turn};
use crate::native::{Kind, Param, Tool, told};

/// How the envelope is written, and the tools.
#[must_use]
pub fn instructions(given: &[&'static Tool]) -> String {
    let mut lines = vec![
        // First what a reply is, since everything else is refused.
        "Every reply is exactly one JSON object: no words before or after it, no code fence."
            .to_owned(),
        // The forms as they are written, in the order of the grammar; the nonce is said at the end of the request.
        format!(r#"A call: {{"{TOOL}":NAME,"{ARGS}":{{...}},"{NONCE}":NONCE}}"#),
        // A first call and a decision differ by one field: shown whole, since small models copy.
        format!(
            r#"After a result: {{"{ACTION}":"{TOOL}","{TOOL}":NAME,"{ARGS}":{{...}},"{NONCE}":NONCE}}"#
        ),
        // The way to stop, and that the answer is not lost by it.
        format!(
            r#"When all is done: {{"{ACTION}":"{FINAL}","{NONCE}":NONCE}}. You are then asked for your answer in words."#
        ),
    ];
    if !given.is_empty() {
        // What the lists below mean.
        lines.push(
            "The tools, with what args may hold; what is marked ? can be left out:".to_owned(),
        );
    }
    lines.extend(given.iter().map(|tool| described(tool)));
    lines.join("\n") + "\n"
}

/// A tool: what it is for, its arguments, and one call as it stands.
fn described(tool: &Tool) -> String {
    // More than the first sentence is for models that can hold it.
    let doc = told(tool.doc);
    let about = first_sentence(&doc);
    let needed = |param: &Param| {
        layouts(tool).iter().all(|way| way.needed.iter().any(|slot| slot.param.name == param.name))
    };
    let argument = |param: &Param| {
        let mark = if needed(param) { "" } else { "?" };
        match kind(param.kind) {
            "" => format!("{}{mark}", param.name),
            kind => format!("{}{mark} ({kind})", param.name),
        }
    };
    let mut arguments = tool.params.iter().map(argument).collect::<Vec<_>>().join(", ");
    // What no single argument shows: that some must be given together, or one of several.
    let needs: Vec<String> = tool.ways.iter().map(|way| way.needs.join(" and ")).collect();
    if needs.len() > 1 && needs.iter().all(|names| !names.is_empty()) {
        arguments.push_str(&format!("; needs {}", needs.join(", or ")));
    }
    // An example says more than a type does, and small models copy it.
    format!("- {}: {about}\n  {}\n  e.g. {}", tool.name, arguments, tool.example)
}

fn first_sentence(text: &str) -> &str {
    text.find(". ").map_or(text, |end| &text[..=end])
}

/// What an argument holds; nothing for a text, which is what most are.
fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Text | Kind::Word(_) => "",
        Kind::Count => "number",
        Kind::Flag => "true or false",
        Kind::Texts => "list of texts",
        Kind::List(_) => "list of objects",
    }
}

/// What this turn wants. Stands last in the request, and the nonce last in it: what comes before stays the same
/// from turn to turn, and a provider's cache holds.
#[must_use]
pub fn requirements(turn: &Turn<'_>) -> String {
    let names: Vec<&str> = turn.tools.iter().map(|tool| tool.name).collect();
    let end = format!(r#"{{"{ACTION}":"{FINAL}","{NONCE}":NONCE}}"#);
    let call = match turn.stage {
        Stage::First => format!(r#"{{"{TOOL}":NAME,"{ARGS}":{{...}},"{NONCE}":NONCE}}"#),
        Stage::Next => {
            format!(r#"{{"{ACTION}":"{TOOL}","{TOOL}":NAME,"{ARGS}":{{...}},"{NONCE}":NONCE}}"#)
        }
    };
    let form = match (names.is_empty(), turn.may_end()) {
        (true, _) => format!("Reply with {end} only."),
        (false, true) => format!("Reply with {call}, or with {end} if all is done."),
        (false, false) => format!("Reply with {call} only."),
    };
    let tools = match names.is_empty() {
        true => String::new(),
        false => format!("\nNAME is one of: {}", names.join(", ")),
    };
    format!("{form}{tools}\nNONCE is \"{}\"", turn.nonce)
}
