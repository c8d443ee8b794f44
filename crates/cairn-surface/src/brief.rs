//! What a small model is told of its tools: the form, and of each tool one line and how it is written. Made from the
//! tools and their skins, as all that is told of them; what is left out here can be written all the same.

use crate::native::{self, Kind, Param, Tool, schema, told};
use crate::skin::{Example, Skin};
use cairn_types::Surface;
use serde_json::{Map, Value, json};

/// How the tags stand in a reply.
const TAGS: [&str; 3] = [
    // The form is shown by the examples; that nothing else acts is not.
    "You act by tags, as below. Anything else you write changes nothing.",
    // Chat models fence whatever looks like code, and escape what looks like XML.
    "Close every tag. Write them outside of code fences, and escape nothing in a body.",
    // Models go on as if they had seen what they asked for.
    "They are done in order; what they found stands in the next request.",
];

/// How the statements stand in a reply.
const HEREDOC: [&str; 4] = [
    // The shape first: it is what everything below varies.
    "You act by statements <<OP(target):body:OP, as below. Anything else you write changes nothing.",
    // The closer is what is left out or invented most.
    "A statement is closed by : and the same word. A body is taken exactly as it stands.",
    "Write statements outside of code fences, each beginning a line.",
    "They are done in order; what they found stands in the next request.",
];

/// How a text model writes with these tools, in few words.
pub(crate) fn instructions(surface: Surface, given: &[&'static Tool]) -> String {
    let (form, example): (&[&str], fn(&Example) -> &'static str) = match surface {
        Surface::Heredoc => (&HEREDOC, |example| example.heredoc),
        _ => (&TAGS, |example| example.tag),
    };
    let mut lines: Vec<String> = form.iter().map(|line| (*line).to_owned()).collect();
    for skin in given.iter().filter_map(|tool| taught(tool)) {
        lines.push(format!("## {}", cut(skin.tool.doc, &SENTENCE)));
        lines.extend(skin.examples.iter().map(|one| example(one).to_owned()));
    }
    lines.join("\n") + "\n"
}

/// The skin that teaches a tool. How the work is ended stands last in each request, and only there.
fn taught(tool: &Tool) -> Option<&'static Skin> {
    let skin = native::skins().iter().find(|skin| skin.tool.name == tool.name)?;
    (skin.tool.name != native::SEND).then_some(skin)
}

/// The schemas of these tools with the arguments that most calls have, a JSON array.
#[must_use]
pub fn schemas(given: &[&Tool]) -> String {
    let schemas = given.iter().map(|tool| {
        let shown: Map<String, Value> = serde_json::from_str(tool.example).unwrap_or_default();
        let needed = |param: &Param| {
            let way = tool.ways.first().is_some_and(|way| way.needs.contains(&param.name));
            param.required || way
        };
        let params: Vec<Param> = tool
            .params
            .iter()
            .filter(|param| needed(param) || shown.contains_key(param.name))
            .map(|param| Param { required: needed(param), ..*param })
            .collect();
        let mut parameters = schema(&params);
        for param in params.iter().filter(|param| !matches!(param.kind, Kind::List(_))) {
            parameters["properties"][param.name]["description"] = cut(param.doc, &PHRASE).into();
        }
        json!({"name": tool.name, "description": cut(tool.doc, &SENTENCE), "parameters": parameters})
    });
    Value::Array(schemas.collect()).to_string()
}

/// Where the first part of what a tool is for ends.
const SENTENCE: [&str; 2] = [". ", "; "];
/// The same of an argument, which has less to say.
const PHRASE: [&str; 3] = [". ", "; ", ", or "];

/// What a text says before any of these.
fn cut(doc: &[&str], ends: &[&str]) -> String {
    let text = told(doc);
    let end = ends.iter().filter_map(|end| text.find(end)).min();
    let first = end.map_or(text.as_str(), |end| &text[..end]);
    format!("{}.", first.trim_end_matches('.'))
}
