//! The bytes of a request. The conversation comes last and in order, so one that grows keeps every
//! byte it had, and the provider's cache holds. Nothing is kept at the server.

use crate::write::{self, Outcome, Said, Schema, Shown, Target, Turn};
use crate::{Part, Request};
use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    stream: bool,
    store: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    include: &'static [&'static str],
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<TextConfig<'a>>,
    #[serde(skip_serializing_if = "str::is_empty")]
    instructions: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    input: Vec<Item<'a>>,
}

#[derive(Serialize)]
struct Reasoning {
    effort: &'static str,
    summary: &'static str,
}

#[derive(Serialize)]
struct TextConfig<'a> {
    format: Format<'a>,
}

#[derive(Serialize)]
struct Format<'a> {
    r#type: &'static str,
    name: &'static str,
    strict: bool,
    schema: &'a RawValue,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    name: Cow<'a, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: Cow<'a, str>,
    parameters: Schema<'a>,
    strict: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Item<'a> {
    /// An item of reasoning as it came.
    Sealed(&'a RawValue),
    Open(Open<'a>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Open<'a> {
    Message { role: &'static str, content: Content<'a> },
    FunctionCall { call_id: &'a str, name: &'a str, arguments: &'a str },
    FunctionCallOutput { call_id: &'a str, output: Content<'a> },
}

/// A plain text where that is all there is.
#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(Cow<'a, str>),
    Pieces(Vec<Piece<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type")]
enum Piece<'a> {
    #[serde(rename = "input_text")]
    Text { text: Cow<'a, str> },
    #[serde(rename = "input_image")]
    Image { image_url: String, detail: &'static str },
    #[serde(rename = "input_file")]
    File { filename: &'a str, file_data: String },
}

/// The request as it is sent.
pub(crate) fn render(target: Target<'_>, request: &Request) -> Result<Vec<u8>, serde_json::Error> {
    let thinks = target.abilities.reasoning;
    let tools: Vec<write::Tool<'_>> = write::tools(request, target)?;
    let turns = write::turns(&request.messages);
    let text = |schema| TextConfig {
        format: Format { r#type: "json_schema", name: "answer", strict: true, schema },
    };
    let body = Body {
        model: target.model,
        stream: true,
        store: false,
        // A model that does not think refuses to be asked for this.
        include: if thinks { &["reasoning.encrypted_content"] } else { &[] },
        max_output_tokens: request.max_output,
        reasoning: request
            .effort
            .word()
            .filter(|_| thinks)
            .map(|effort| Reasoning { effort, summary: "auto" }),
        text: write::schema(request)?.map(text),
        instructions: &request.system,
        tools: tools.into_iter().map(tool).collect(),
        input: turns.iter().flat_map(|turn| items(turn, target)).collect(),
    };
    serde_json::to_vec(&body)
}

fn tool(tool: write::Tool<'_>) -> Tool<'_> {
    Tool {
        r#type: "function",
        parameters: tool.schema(),
        name: tool.name,
        description: tool.description,
        // A strict schema must name every property as required, which ours do not.
        strict: false,
    }
}

fn items<'a>(turn: &Turn<'a>, target: Target<'a>) -> Vec<Item<'a>> {
    match turn {
        Turn::User(parts) => {
            let content = content(parts, target);
            vec![Item::Open(Open::Message { role: "user", content })]
        }
        Turn::Model(said) => assistant(said, target),
        Turn::Results(outcomes) => {
            let output = |outcome: &Outcome<'a>| {
                let output = content(outcome.parts, target);
                Item::Open(Open::FunctionCallOutput { call_id: outcome.call, output })
            };
            outcomes.iter().map(output).collect()
        }
    }
}

fn assistant<'a>(said: &Said<'a>, target: Target<'a>) -> Vec<Item<'a>> {
    let sealed = |at| said.sealed(target, at).into_iter().map(Item::Sealed);
    let mut items: Vec<Item<'a>> = sealed(0).collect();
    items.extend(said.text.map(|text| {
        let content = Content::Text(Cow::Borrowed(text));
        Item::Open(Open::Message { role: "assistant", content })
    }));
    for (k, call) in said.calls.iter().enumerate() {
        items.extend(sealed(1 + k));
        items.push(Item::Open(Open::FunctionCall {
            call_id: &call.id,
            name: &call.name,
            arguments: &call.args,
        }));
    }
    items
}

fn content<'a>(parts: &'a [Part], target: Target<'_>) -> Content<'a> {
    let mut shown = write::shown(parts, target.abilities);
    match (shown.len(), shown.pop()) {
        (_, None) => Content::Text(Cow::Borrowed("")),
        (1, Some(Shown::Text(text))) => Content::Text(text),
        (_, Some(last)) => {
            shown.push(last);
            Content::Pieces(shown.into_iter().map(piece).collect())
        }
    }
}

fn piece(part: Shown<'_>) -> Piece<'_> {
    match part {
        Shown::Text(text) => Piece::Text { text },
        Shown::Image(media) => Piece::Image { image_url: media.url(), detail: "auto" },
        Shown::Document(media) => Piece::File { file_data: media.url(), filename: media.name },
    }
}
