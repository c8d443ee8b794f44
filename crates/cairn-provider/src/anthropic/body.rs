//! The bytes of a request. The messages come last and in order, so a conversation that grows keeps
//! every byte it had but the marks, which say what the provider shall cache.

use crate::write::{self, Arguments, Outcome, Said, Schema, Shown, Target, Turn};
use crate::{Effort, Request};
use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The longest answer of a model that nobody has said anything about, thinking not included.
const LONGEST_ANSWER: u64 = 8192;
/// The API takes no smaller budget.
const SMALLEST_BUDGET: u64 = 1024;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u64,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Thinking>,
    #[serde(skip_serializing_if = "OutputConfig::is_empty")]
    output_config: OutputConfig<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Block<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    messages: Vec<Message<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Thinking {
    Enabled { budget_tokens: u64 },
    Adaptive { display: &'static str },
}

#[derive(Serialize)]
struct OutputConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Format<'a>>,
}

impl OutputConfig<'_> {
    fn is_empty(&self) -> bool {
        self.effort.is_none() && self.format.is_none()
    }
}

#[derive(Serialize)]
struct Format<'a> {
    r#type: &'static str,
    schema: &'a RawValue,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: Cow<'a, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: Cow<'a, str>,
    input_schema: Schema<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<Mark>,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: Vec<Block<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Block<'a> {
    /// A block of thinking as it came.
    Sealed(&'a RawValue),
    Open(Open<'a>),
}

#[derive(Serialize)]
struct Open<'a> {
    #[serde(flatten)]
    kind: Kind<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<Mark>,
}

#[derive(Serialize)]
struct Mark {
    r#type: &'static str,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Kind<'a> {
    Text {
        text: Cow<'a, str>,
    },
    Image {
        source: Source<'a>,
    },
    Document {
        source: Source<'a>,
        #[serde(skip_serializing_if = "str::is_empty")]
        title: &'a str,
    },
    ToolUse {
        id: &'a str,
        name: &'a str,
        input: Arguments<'a>,
    },
    ToolResult {
        tool_use_id: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
        content: Vec<Block<'a>>,
    },
}

#[derive(Serialize)]
struct Source<'a> {
    r#type: &'static str,
    media_type: &'a str,
    data: String,
}

/// The request as it is sent.
pub(crate) fn render(target: Target<'_>, request: &Request) -> Result<Vec<u8>, serde_json::Error> {
    let turns = write::turns(&request.messages);
    let (thinking, effort) = thinking(target, request, &turns);
    let budget = match thinking {
        Some(Thinking::Enabled { budget_tokens }) => budget_tokens,
        _ => 0,
    };
    let tools: Vec<write::Tool<'_>> = write::tools(request, target)?;
    let format = |schema| Format { r#type: "json_schema", schema };
    let mut body = Body {
        model: target.model,
        max_tokens: max_tokens(target, request).unwrap_or(LONGEST_ANSWER + budget),
        stream: true,
        thinking,
        output_config: OutputConfig { effort, format: write::schema(request)?.map(format) },
        system: text(Cow::Borrowed(&request.system)).into_iter().collect(),
        tools: tools.into_iter().map(tool).collect(),
        messages: turns.iter().filter_map(|turn| message(turn, target)).collect(),
    };
    mark(&mut body);
    serde_json::to_vec(&body)
}

fn max_tokens(target: Target<'_>, request: &Request) -> Option<u64> {
    request.max_output.or(target.abilities.output)
}

/// How much to think, as this model wants to be told: a budget up to Claude 4.5, a word since.
fn thinking(
    target: Target<'_>,
    request: &Request,
    turns: &[Turn<'_>],
) -> (Option<Thinking>, Option<&'static str>) {
    if !target.abilities.reasoning || request.effort == Effort::Off {
        return (None, None);
    }
    if !takes_budget(target.model) {
        let word = match request.effort {
            Effort::Minimal => Some("low"),
            effort => effort.word(),
        };
        return (Some(Thinking::Adaptive { display: "summarized" }), word);
    }
    let room = max_tokens(target, request).map_or(u64::MAX, |max| max / 2);
    let budget_tokens = request.effort.budget().min(room);
    let possible = budget_tokens >= SMALLEST_BUDGET && !owes_thinking(turns, target);
    (possible.then_some(Thinking::Enabled { budget_tokens }), None)
}

/// Claude 3 and 4 up to 4.5 take a budget; later ones refuse it.
fn takes_budget(model: &str) -> bool {
    let Some(at) = model.find("claude-") else { return false };
    let name = &model[at + "claude-".len()..];
    let numbers = name.split(['-', '.', '@', ':']).filter_map(|part| part.parse::<u32>().ok());
    // A date is no minor version.
    let version: Vec<u32> = numbers.take_while(|n| *n < 1000).collect();
    match version[..] {
        [major] => major <= 4,
        [major, minor, ..] => major < 4 || (major == 4 && minor <= 5),
        [] => false,
    }
}

/// Whether a loop of calls is still open that did not begin with thinking that could be sent back,
/// as after a change of model: with a budget the API then refuses the request. To the API such a loop
/// is one turn, and thinking is either on or off for all of it.
fn owes_thinking(turns: &[Turn<'_>], target: Target<'_>) -> bool {
    let begun = turns.iter().rposition(|turn| matches!(turn, Turn::User(_))).map_or(0, |at| at + 1);
    match turns[begun..].first() {
        Some(Turn::Model(said)) => !said.thought(target),
        _ => false,
    }
}

fn tool(tool: write::Tool<'_>) -> Tool<'_> {
    Tool {
        input_schema: tool.schema(),
        name: tool.name,
        description: tool.description,
        cache_control: None,
    }
}

fn message<'a>(turn: &Turn<'a>, target: Target<'a>) -> Option<Message<'a>> {
    match turn {
        Turn::User(parts) => {
            let mut content = blocks(parts, target);
            if content.is_empty() {
                content.extend(text(Cow::Borrowed("[empty]")));
            }
            Some(Message { role: "user", content })
        }
        Turn::Model(said) if said.is_empty() => None,
        Turn::Model(said) => Some(Message { role: "assistant", content: assistant(said, target) }),
        Turn::Results(outcomes) => {
            let result = |outcome: &Outcome<'a>| {
                open(Kind::ToolResult {
                    tool_use_id: outcome.call,
                    is_error: outcome.failed,
                    content: blocks(outcome.parts, target),
                })
            };
            Some(Message { role: "user", content: outcomes.iter().map(result).collect() })
        }
    }
}

fn assistant<'a>(said: &Said<'a>, target: Target<'a>) -> Vec<Block<'a>> {
    let sealed = |at| said.sealed(target, at).into_iter().map(Block::Sealed);
    let mut content: Vec<Block<'a>> = sealed(0).collect();
    content.extend(said.text.and_then(|said| text(Cow::Borrowed(said))));
    for (k, call) in said.calls.iter().enumerate() {
        content.extend(sealed(1 + k));
        let input = Arguments::of(&call.args);
        content.push(open(Kind::ToolUse { id: &call.id, name: &call.name, input }));
    }
    content
}

fn blocks<'a>(parts: &'a [crate::Part], target: Target<'_>) -> Vec<Block<'a>> {
    let source = |media: write::Media<'a>| Source {
        r#type: "base64",
        media_type: media.mime,
        data: media.base64,
    };
    let block = |part: Shown<'a>| match part {
        Shown::Text(words) => text(words),
        Shown::Image(media) => Some(open(Kind::Image { source: source(media) })),
        Shown::Document(media) => {
            let title = media.name;
            Some(open(Kind::Document { source: source(media), title }))
        }
    };
    write::shown(parts, target.abilities).into_iter().filter_map(block).collect()
}

/// Words, if there are any: the API takes no block of nothing.
fn text(text: Cow<'_, str>) -> Option<Block<'_>> {
    (!text.trim().is_empty()).then(|| open(Kind::Text { text }))
}

fn open(kind: Kind<'_>) -> Block<'_> {
    Block::Open(Open { kind, cache_control: None })
}

/// Marks what the provider shall cache: the tools, the system message, and everything so far.
fn mark(body: &mut Body<'_>) {
    let ephemeral = || Some(Mark { r#type: "ephemeral" });
    if let Some(tool) = body.tools.last_mut() {
        tool.cache_control = ephemeral();
    }
    let last = body.messages.last_mut().and_then(|message| message.content.last_mut());
    for block in [body.system.last_mut(), last].into_iter().flatten() {
        if let Block::Open(open) = block {
            open.cache_control = ephemeral();
        }
    }
}
