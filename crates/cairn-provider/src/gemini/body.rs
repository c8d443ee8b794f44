//! The bytes of a request. The conversation comes last and in order, so one that grows keeps every
//! byte it had, and the provider's cache holds.

use crate::write::{self, Arguments, Outcome, Said, Shown, Target, Turn};
use crate::{Effort, Request};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// What Google documents for calls that another model made: they carry no signature of its own.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    generation_config: Option<Generation<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Content<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tools<'a>>,
    contents: Vec<Content<'a>>,
}

#[derive(Serialize, PartialEq, Default)]
#[serde(rename_all = "camelCase")]
struct Thinking {
    include_thoughts: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_budget: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_level: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Generation<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_json_schema: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<Thinking>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools<'a> {
    function_declarations: Vec<Tool<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tool<'a> {
    name: Cow<'a, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters_json_schema: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct Content<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    role: &'static str,
    parts: Vec<Piece<'a>>,
}

#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct Piece<'a> {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    thought: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inline_data: Option<Inline<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_call: Option<Call<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_response: Option<Response<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<Cow<'a, str>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Inline<'a> {
    mime_type: &'a str,
    data: String,
}

#[derive(Serialize)]
struct Call<'a> {
    id: &'a str,
    name: &'a str,
    args: Arguments<'a>,
}

#[derive(Serialize)]
struct Response<'a> {
    id: &'a str,
    name: &'a str,
    response: Told<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Told<'a> {
    Output(Cow<'a, str>),
    Error(Cow<'a, str>),
}

/// A part of an answer that carried a signature, as it was kept.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Signed<'a> {
    #[serde(default)]
    thought: bool,
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow)]
    thought_signature: Cow<'a, str>,
}

/// The request as it is sent.
pub(crate) fn render(target: Target<'_>, request: &Request) -> Result<Vec<u8>, serde_json::Error> {
    let tools: Vec<write::Tool<'_>> = write::tools(request, target)?;
    let turns = write::turns(&request.messages);
    let system = || Content { role: "", parts: vec![text(Cow::Borrowed(&request.system))] };
    let tools = match tools.is_empty() {
        true => Vec::new(),
        false => vec![Tools { function_declarations: tools.into_iter().map(declare).collect() }],
    };
    let body = Body {
        generation_config: generation(target, request)?,
        system_instruction: (!request.system.is_empty()).then(system),
        tools,
        contents: turns.iter().filter_map(|turn| content(turn, target)).collect(),
    };
    serde_json::to_vec(&body)
}

fn declare(tool: write::Tool<'_>) -> Tool<'_> {
    Tool { name: tool.name, description: tool.description, parameters_json_schema: tool.parameters }
}

fn generation<'a>(
    target: Target<'_>,
    request: &'a Request,
) -> Result<Option<Generation<'a>>, serde_json::Error> {
    let schema = write::schema(request)?;
    let generation = Generation {
        max_output_tokens: request.max_output,
        response_mime_type: schema.map(|_| "application/json"),
        response_json_schema: schema,
        thinking_config: target.abilities.reasoning.then(|| thinking(target, request)).flatten(),
    };
    let nothing = generation.max_output_tokens.is_none()
        && generation.response_json_schema.is_none()
        && generation.thinking_config.is_none();
    Ok((!nothing).then_some(generation))
}

/// How much to think, as this model wants to be told: a budget up to Gemini 2.5, a word since.
fn thinking(target: Target<'_>, request: &Request) -> Option<Thinking> {
    let mut thinking = Thinking { include_thoughts: true, ..Thinking::default() };
    match (takes_budget(target.model), request.effort) {
        // Only the smaller ones can be kept from thinking.
        (true, Effort::Off) if target.model.contains("flash") => {
            return Some(Thinking { thinking_budget: Some(0), ..Thinking::default() });
        }
        (_, Effort::Off) => return None,
        (true, effort) => thinking.thinking_budget = Some(effort.budget().min(MOST_THINKING)),
        (false, Effort::Minimal) => thinking.thinking_level = Some("MINIMAL"),
        (false, Effort::Low) => thinking.thinking_level = Some("LOW"),
        (false, Effort::Medium) => thinking.thinking_level = Some("MEDIUM"),
        (false, Effort::High) => thinking.thinking_level = Some("HIGH"),
    }
    Some(thinking)
}

/// The largest budget that every model with budgets takes.
const MOST_THINKING: u64 = 24_576;

fn takes_budget(model: &str) -> bool {
    model.contains("gemini-2") || model.contains("gemini-1")
}

fn content<'a>(turn: &Turn<'a>, target: Target<'a>) -> Option<Content<'a>> {
    match turn {
        Turn::User(parts) => {
            let mut parts = pieces(write::shown(parts, target.abilities));
            if parts.is_empty() {
                parts.push(text(Cow::Borrowed("[empty]")));
            }
            Some(Content { role: "user", parts })
        }
        Turn::Model(said) if said.is_empty() => None,
        Turn::Model(said) => Some(Content { role: "model", parts: model(said, target) }),
        Turn::Results(outcomes) => Some(Content { role: "user", parts: results(outcomes, target) }),
    }
}

fn model<'a>(said: &Said<'a>, target: Target<'a>) -> Vec<Piece<'a>> {
    let mut parts = Vec::new();
    let mut words = said.text.unwrap_or("");
    let mut after = Vec::new();
    for signed in signed(said, target, 0) {
        let signature = Some(signed.thought_signature);
        match (signed.thought, signed.text) {
            (true, text) => {
                let part = Piece { thought: true, text, thought_signature: signature, ..none() };
                parts.push(part);
            }
            // A signature stands on the very part it came with, which is the text's end.
            (false, text) => {
                let own = text.unwrap_or_default();
                words = words.strip_suffix(&*own).unwrap_or(words);
                after.push(Piece { text: Some(own), thought_signature: signature, ..none() });
            }
        }
    }
    if !words.is_empty() {
        parts.push(text(Cow::Borrowed(words)));
    }
    parts.extend(after);
    for (k, call) in said.calls.iter().enumerate() {
        let own = signed(said, target, 1 + k).pop().map(|signed| signed.thought_signature);
        let stand_in = || needs_signature(said, target, k).then_some(Cow::Borrowed(NO_SIGNATURE));
        let args = Arguments::of(&call.args);
        parts.push(Piece {
            function_call: Some(Call { id: &call.id, name: &call.name, args }),
            thought_signature: own.or_else(stand_in),
            ..none()
        });
    }
    parts
}

/// From Gemini 3 on the first call of a turn must be signed, whoever made it.
fn needs_signature(said: &Said<'_>, target: Target<'_>, k: usize) -> bool {
    k == 0 && !takes_budget(target.model) && !said.thought(target)
}

fn signed<'a>(said: &Said<'a>, target: Target<'a>, at: usize) -> Vec<Signed<'a>> {
    let read = |block: &'a RawValue| serde_json::from_str(block.get()).ok();
    said.sealed(target, at).into_iter().filter_map(read).collect()
}

/// All results of a turn together, and then what cannot be said in words.
fn results<'a>(outcomes: &[Outcome<'a>], target: Target<'a>) -> Vec<Piece<'a>> {
    let mut parts = Vec::new();
    let mut beside = Vec::new();
    for outcome in outcomes {
        let mut texts = Vec::new();
        for part in write::shown(outcome.parts, target.abilities) {
            match part {
                Shown::Text(text) => texts.push(text),
                file => beside.push(file),
            }
        }
        let told = match texts.len() {
            1 => texts.remove(0),
            _ => Cow::Owned(texts.join("\n")),
        };
        let response = if outcome.failed { Told::Error(told) } else { Told::Output(told) };
        let response = Response { id: outcome.call, name: outcome.name, response };
        parts.push(Piece { function_response: Some(response), ..none() });
    }
    parts.extend(pieces(beside));
    parts
}

fn pieces(parts: Vec<Shown<'_>>) -> Vec<Piece<'_>> {
    let piece = |part| match part {
        Shown::Text(words) => text(words),
        Shown::Image(media) | Shown::Document(media) => Piece {
            inline_data: Some(Inline { mime_type: media.mime, data: media.base64 }),
            ..none()
        },
    };
    parts.into_iter().map(piece).collect()
}

fn text(text: Cow<'_, str>) -> Piece<'_> {
    Piece { text: Some(text), ..none() }
}

fn none<'a>() -> Piece<'a> {
    Piece::default()
}
