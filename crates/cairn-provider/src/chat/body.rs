//! The bytes of a request. The messages come last and in order, so a conversation that grows keeps
//! every byte it had, and the provider's cache holds.

use crate::write::{self, Outcome, Said, Shown, Target, Turn};
use crate::{Constraint, Request};
use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    stream: bool,
    stream_options: StreamOptions,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Format<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    grammar: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    messages: Vec<Wire<'a>>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct Format<'a> {
    r#type: &'static str,
    json_schema: Schema<'a>,
}

#[derive(Serialize)]
struct Schema<'a> {
    name: &'static str,
    strict: bool,
    schema: &'a RawValue,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: &'a RawValue,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum Wire<'a> {
    System {
        content: Content<'a>,
    },
    User {
        content: Content<'a>,
    },
    Assistant {
        content: Option<Content<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_content: Option<Cow<'a, str>>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        reasoning_details: Vec<&'a RawValue>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<WireCall<'a>>,
    },
    Tool {
        tool_call_id: &'a str,
        content: Content<'a>,
    },
}

/// A plain text where that is all there is: not every server takes a list.
#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<Piece<'a>>),
}

#[derive(Serialize)]
struct Piece<'a> {
    #[serde(flatten)]
    kind: Kind<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<Mark>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Kind<'a> {
    Text { text: Cow<'a, str> },
    ImageUrl { image_url: ImageUrl },
    File { file: File<'a> },
}

#[derive(Serialize)]
struct ImageUrl {
    url: String,
}

#[derive(Serialize)]
struct File<'a> {
    filename: &'a str,
    file_data: String,
}

#[derive(Serialize)]
struct Mark {
    r#type: &'static str,
}

#[derive(Serialize)]
struct WireCall<'a> {
    id: &'a str,
    r#type: &'static str,
    function: WireFunction<'a>,
}

#[derive(Serialize)]
struct WireFunction<'a> {
    name: &'a str,
    arguments: &'a str,
}

/// The request as it is sent.
pub(crate) fn render(target: Target<'_>, request: &Request) -> Result<Vec<u8>, serde_json::Error> {
    let functions: Vec<&RawValue> = write::tools(request, target)?;
    let thinks = target.abilities.reasoning;
    let system = (!request.system.is_empty())
        .then(|| Wire::System { content: text(Cow::Borrowed(&request.system), target) });
    let turns = write::turns(&request.messages);
    let mut messages: Vec<Wire<'_>> = system.into_iter().collect();
    messages.extend(turns.iter().flat_map(|turn| wire(turn, target)));
    if target.abilities.cache_marks {
        mark(&mut messages);
    }
    let held = held(target, request)?;
    let body = Body {
        model: target.model,
        stream: true,
        stream_options: StreamOptions { include_usage: true },
        // Models that think refuse the old name; most servers of other models know only that.
        max_tokens: request.max_output.filter(|_| !thinks),
        max_completion_tokens: request.max_output.filter(|_| thinks),
        reasoning_effort: request.effort.word().filter(|_| thinks),
        response_format: held.response_format,
        format: held.format,
        grammar: held.grammar,
        tools: functions
            .into_iter()
            .map(|function| Tool { r#type: "function", function })
            .collect(),
        messages,
    };
    serde_json::to_vec(&body)
}

/// What holds the answer to a form, in the field that the endpoint has for it.
#[derive(Default)]
struct Held<'a> {
    response_format: Option<Format<'a>>,
    format: Option<&'a RawValue>,
    grammar: Option<&'a str>,
}

/// A schema that is not JSON fails wherever it goes.
fn held<'a>(target: Target<'_>, request: &'a Request) -> Result<Held<'a>, serde_json::Error> {
    let schema = write::schema(request)?;
    let format = |schema| Format {
        r#type: "json_schema",
        json_schema: Schema { name: "answer", strict: true, schema },
    };
    let usual = || Held { response_format: schema.map(format), ..Held::default() };
    Ok(match (target.abilities.constraint, request.grammar.as_deref()) {
        (Constraint::Gbnf, Some(grammar)) => Held { grammar: Some(grammar), ..Held::default() },
        (Constraint::JsonSchema, _) | (Constraint::Gbnf, None) => usual(),
        (Constraint::Ollama, _) => Held { format: schema, ..Held::default() },
        (Constraint::None, _) => Held::default(),
    })
}

fn wire<'a>(turn: &Turn<'a>, target: Target<'a>) -> Vec<Wire<'a>> {
    match turn {
        Turn::User(parts) => {
            vec![Wire::User { content: content(write::shown(parts, target.abilities), target) }]
        }
        Turn::Model(said) => vec![assistant(said, target)],
        Turn::Results(outcomes) => results(outcomes, target),
    }
}

fn assistant<'a>(said: &Said<'a>, target: Target<'a>) -> Wire<'a> {
    let said_text = match said.text {
        // Null is only allowed beside calls, and there an empty text is refused by some.
        None => said.calls.is_empty().then_some(""),
        text => text,
    };
    let (mut reasoning_content, mut reasoning_details) = (None, Vec::new());
    for block in said.sealed(target, 0) {
        match serde_json::from_str::<Echo<'_>>(block.get()) {
            Ok(echo) => reasoning_content = Some(echo.reasoning_content),
            Err(_) => reasoning_details.push(block),
        }
    }
    let call = |call: &'a crate::CallText| WireCall {
        id: &call.id,
        r#type: "function",
        function: WireFunction { name: &call.name, arguments: &call.args },
    };
    Wire::Assistant {
        content: said_text.map(|said| text(Cow::Borrowed(said), target)),
        reasoning_content,
        reasoning_details,
        tool_calls: said.calls.iter().map(call).collect(),
    }
}

/// Reasoning that the model wants back as it said it.
#[derive(serde::Deserialize)]
struct Echo<'a> {
    #[serde(borrow)]
    reasoning_content: Cow<'a, str>,
}

/// A result holds text only, so what cannot be said in words follows in a message of its own, after
/// all results: between them nothing may stand.
fn results<'a>(outcomes: &[Outcome<'a>], target: Target<'a>) -> Vec<Wire<'a>> {
    let mut messages = Vec::new();
    let mut beside = Vec::new();
    for outcome in outcomes {
        let (texts, files): (Vec<_>, Vec<_>) = write::shown(outcome.parts, target.abilities)
            .into_iter()
            .partition(|part| matches!(part, Shown::Text(_)));
        let mut lines: Vec<Cow<'a, str>> = texts.into_iter().filter_map(as_text).collect();
        if !files.is_empty() {
            lines.push(format!("[{} more, in the message after the results]", files.len()).into());
            beside.push(Shown::Text(format!("[of the result {}]", outcome.call).into()));
            beside.extend(files);
        }
        let joined = match lines.len() {
            1 => lines.remove(0),
            _ => Cow::Owned(lines.join("\n")),
        };
        messages.push(Wire::Tool { tool_call_id: outcome.call, content: text(joined, target) });
    }
    if !beside.is_empty() {
        messages.push(Wire::User { content: content(beside, target) });
    }
    messages
}

fn as_text(part: Shown<'_>) -> Option<Cow<'_, str>> {
    match part {
        Shown::Text(text) => Some(text),
        Shown::Image(_) | Shown::Document(_) => None,
    }
}

/// With marks every text is a list, marked or not: the same message must stay the same bytes.
fn text<'a>(text: Cow<'a, str>, target: Target<'_>) -> Content<'a> {
    match target.abilities.cache_marks {
        true => Content::Parts(vec![piece(Shown::Text(text))]),
        false => Content::Text(text),
    }
}

fn content<'a>(mut parts: Vec<Shown<'a>>, target: Target<'_>) -> Content<'a> {
    match (parts.len(), parts.pop()) {
        (_, None) => text(Cow::Borrowed(""), target),
        (1, Some(Shown::Text(only))) => text(only, target),
        (_, Some(last)) => {
            parts.push(last);
            Content::Parts(parts.into_iter().map(piece).collect())
        }
    }
}

fn piece(part: Shown<'_>) -> Piece<'_> {
    let kind = match part {
        Shown::Text(text) => Kind::Text { text },
        Shown::Image(media) => Kind::ImageUrl { image_url: ImageUrl { url: media.url() } },
        Shown::Document(media) => {
            Kind::File { file: File { file_data: media.url(), filename: media.name } }
        }
    };
    Piece { kind, cache_control: None }
}

/// Marks what the provider shall cache: the system message, and everything so far. Tools stand
/// before the system message, whose mark covers them.
fn mark(messages: &mut [Wire<'_>]) {
    if let Some(first @ Wire::System { .. }) = messages.first_mut() {
        mark_last_piece(first);
    }
    if let Some(last) = messages.last_mut() {
        mark_last_piece(last);
    }
}

fn mark_last_piece(message: &mut Wire<'_>) {
    let content = match message {
        Wire::System { content } | Wire::User { content } | Wire::Tool { content, .. } => content,
        Wire::Assistant { content: Some(content), .. } => content,
        Wire::Assistant { content: None, .. } => return,
    };
    if let Content::Parts(pieces) = content
        && let Some(last) = pieces.last_mut()
    {
        last.cache_control = Some(Mark { r#type: "ephemeral" });
    }
}
