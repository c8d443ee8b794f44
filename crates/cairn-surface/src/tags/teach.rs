//! What a model is told of this surface. The tools' own declarations say what there is, their skins show how it
//! is written; only what holds for all of them stands here, each line with the reason for it, which is not shown.

use super::parse;
use crate::native::{self, Kind, Param, Tool, about, told};
use crate::skin::{Skin, Statement};
use std::sync::LazyLock;

/// A line that is shown, and why it is.
type Line = (&'static str, &'static str);

const OPENING: [Line; 4] = [
    (
        "You work by statements in tags. Each is one of these:",
        "The form comes first: a model that takes in nothing else can act.",
    ),
    ("<NAME path=\"WHAT\" ATTRIBUTE=\"VALUE\"/>", "Most statements are whole in one tag."),
    (
        "<NAME path=\"WHAT\">BODY</NAME>",
        "The same, with a text. Which argument the body is, each tool shows.",
    ),
    (
        "In all of them path is what the statement works on: a file, an address, or a pattern for several.",
        "One word for it everywhere, so that nothing has to be learned twice.",
    ),
];

const RULES: [Line; 8] = [
    (
        "YOU MUST close every tag: by /> or by its closing tag.",
        "One that is not closed is refused or put to a person, whatever it says.",
    ),
    (
        "YOU MUST write statements outside of code fences and backticks. What is quoted does nothing.",
        "Chat models fence whatever looks like code.",
    ),
    (
        "YOU MUST NOT escape anything in a body. It is taken as it stands, except for one line end after the opening tag, and blanks around commands, lists and what is looked for.",
        "Models that know XML write &lt; into source code.",
    ),
    (
        "YOU MUST write &quot; for a double quote within an attribute.",
        "The one thing that cannot stand there.",
    ),
    (
        "YOU SHOULD write several statements in one reply where none needs the result of another. They run in order.",
        "A round trip costs more than a statement.",
    ),
    (
        "YOU SHOULD change a part of a long file by its lines or by what stands there, not by writing all of it.",
        "Writing it all again is where content is lost.",
    ),
    (
        "YOU MAY add manifest to see what a pattern means, without doing anything to it.",
        "Safer than a pattern that was never tried; shown with a removal below.",
    ),
    (
        "YOU MAY add summary=\"…\", of at most 80 characters, where you write an entry with an address.",
        "What is put away is found again by its summary.",
    ),
];

/// What a last word says.
const LAST_WORDS: Line = (
    "200 it is done, 204 there was nothing to do, 422 it cannot be done, 499 you give up.",
    "A closed list, each with a meaning of its own, so that giving up is not called success.",
);

/// How a model is told to write ops, for the tools that it is given.
#[must_use]
pub fn instructions(given: &[&'static Tool]) -> String {
    let is_given = |skin: &&Skin| given.iter().any(|tool| tool.name == skin.tool.name);
    let taught = native::skins().iter().filter(is_given).filter(|skin| !skin.tags.is_empty());
    let mut taught: Vec<&Skin> = taught.collect();
    taught.sort_by_key(|skin| order(skin));
    let mut out: Vec<String> = OPENING.iter().map(|line| line.0.to_owned()).collect();
    out.push(String::new());
    out.extend(RULES.iter().map(|line| format!("* {}", line.0)));
    let thought = crate::thinking::NAMES[0];
    out.push(format!("* YOU MAY think in <{thought}>…</{thought}>. Nothing in it acts."));
    for skin in taught {
        out.push(String::new());
        out.extend(tool(skin));
    }
    out.join("\n") + "\n"
}

/// What goes last in each request: that only statements act, and how the work ends.
#[must_use]
pub fn requirements() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let statements = native::skins().iter().flat_map(|skin| skin.examples);
        let mut statements = statements.map(|example| example.tag);
        let last = statements.find(|tag| parse(tag, 1).terminal.is_some()).unwrap_or_default();
        format!(
            "Only statements in tags act; anything else you write is prose. YOU MUST end the work by a last word, such as\n{last}\nIts status says how it ended: {}\nUntil then the work goes on.\n",
            LAST_WORDS.0
        )
    });
    &TEXT
}

/// Tags come in the order of the skins, gathering first; of one tag first what it plainly means.
fn order(skin: &Skin) -> (usize, bool) {
    let name = skin.tags.first().copied().unwrap_or_default();
    let is_plain = |skin: &Skin| form(skin, name).is_some();
    let mut named =
        native::skins().iter().enumerate().filter(|(_, skin)| skin.tags.contains(&name));
    let plain = named.find(|(_, skin)| is_plain(skin)).map_or(usize::MAX, |(n, _)| n);
    (plain, !is_plain(skin))
}

/// One tool: what it is for, its form, statements from simple to strong, and what may be given.
fn tool(skin: &Skin) -> Vec<String> {
    let name = skin.tags.first().copied().unwrap_or(skin.tool.name);
    let mut lines = vec![format!("## {name}: {}", told(skin.tool.doc))];
    lines.extend(form(skin, name));
    lines.extend(skin.examples.iter().map(|example| example.tag.to_owned()));
    lines.extend(skin.tool.params.iter().map(|param| {
        let must = if param.required { "YOU MUST give" } else { "YOU MAY give" };
        format!("* {must} {}: {}", place(skin, param), about(param))
    }));
    lines
}

/// Its form with every attribute, where a statement of that form means this tool and no other.
fn form(skin: &Skin, name: &str) -> Option<String> {
    let plain = Statement { name, target: Some("x"), body: Some("x"), ..Statement::default() };
    let target = skin.target.first().and(plain.target);
    let is_it = native::by_tag(&Statement { target, ..plain })?.tool.name == skin.tool.name;
    let slot = skin.body.map(|(slot, _)| slot).filter(|_| is_it);
    let attributes =
        skin.tool.params.iter().filter(|param| Some(param.name) != slot).map(|param| {
            let name = if is_target(skin, param) { "path" } else { param.name };
            match param.kind {
                Kind::Flag => format!(" {name}"),
                _ => format!(" {name}=\"…\""),
            }
        });
    let head: String = attributes.collect();
    is_it.then(|| match slot {
        Some(slot) => format!("<{name}{head}>{slot}</{name}>"),
        None => format!("<{name}{head}/>"),
    })
}

fn is_target(skin: &Skin, param: &Param) -> bool {
    skin.target.first().is_some_and(|(slot, _)| *slot == param.name)
}

/// Where an argument stands.
fn place(skin: &Skin, param: &Param) -> String {
    match skin.body {
        _ if is_target(skin, param) => "path".to_owned(),
        Some((slot, _)) if slot == param.name => format!("{slot} (the body)"),
        _ => param.name.to_owned(),
    }
}
