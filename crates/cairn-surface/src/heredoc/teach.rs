//! What a model is told of the heredoc surface: its form, the ops it is given, examples and rules. Made from the tools
//! and their skins, so that it cannot say anything else than what is read. Why a line stands here is said only here.

use super::{CALL, print};
use crate::native::{self, Param, Tool, about, in_passing, told};
use crate::skin::{Ranged, Skin};
use cairn_types::{Action, Post};
use std::fmt::Write as _;

/// How the work stands when it is done, and when it cannot be.
const DONE: u16 = 200;
const CANNOT: u16 = 422;

/// The form, from the outside to the inside.
const FORM: [&str; 6] = [
    // The shape first and alone: it is what everything below varies.
    "You act by statements. A statement is\n\n    <<OP[signal](target)<scope>:body:OP\n",
    // Models leave the closer out, or invent one; the same word twice is the whole rule.
    "It is opened by << and a word, and closed by : and the same word.",
    // Most statements need one slot; nobody should write empty ones.
    "[signal], (target) and <scope> are written only where they say something, in any order; without a body it is ::.",
    // Files must come out byte for byte, and models put a line end behind the first colon.
    "The body is taken exactly as it stands between the two colons, blanks and line ends included; nothing in it is escaped or acts. Only around commands, lists and what is looked for blanks are left out.",
    // The one way out when a text speaks of statements.
    "If the body holds :OP, put the same suffix on both words: <<OPx(target):text with :OP in it:OPx.",
    // Scopes are the same everywhere, so they are told once.
    "A scope is <7> for one line, <3-9> for lines, <0> before the first, <-1> after the last, <-3--1> the last three.",
];

/// What holds for every reply.
const RULES: [&str; 5] = [
    // Models quote a statement and think that it ran.
    "Statements in code spans and code blocks are text; write them bare, each beginning a line.",
    // Models go on as if they had seen what they asked for.
    "Statements are done in their order. What they found stands in the next request; do not go on as if you had seen it.",
    // What can be shown as a difference is asked about less than a command.
    "Use an op for what it is for, before a command that does the same.",
    // A statement that is not understood is told of with its place.
    "Where a statement could not be read, you are told the line and column, and nothing of it was done.",
    // Text between statements is a model's own.
    "Text outside statements changes nothing.",
];

/// What a model is told that is given these tools.
#[must_use]
pub fn instructions(given: &[&'static Tool]) -> String {
    let mut out = FORM.join("\n");
    out.push_str("\n\n# Ops\n");
    for tool in given {
        describe(&mut out, tool);
    }
    let (name, args) = (given.first().map_or("name", |tool| tool.name), "{\"argument\": value}");
    // What has no place in a statement can be said all the same.
    let _ = write!(
        out,
        "\nAny of them, with all its arguments as JSON: <<{CALL}({name}):{args}:{CALL}\n\n# Examples\n"
    );
    for example in examples(given) {
        let _ = write!(out, "\n{example}\n");
    }
    out.push_str("\n# Rules\n");
    for rule in RULES {
        let _ = write!(out, "\n- {rule}");
    }
    out.push('\n');
    out
}

/// What stands last in each request: how the work is ended, and that nothing else acts.
#[must_use]
pub fn requirements() -> String {
    let ending = Post { to: None, status: DONE, text: "your answer".to_owned() };
    // A prompt such as "reply with just the number" is otherwise obeyed to the letter, and the work never ends.
    format!(
        "Reply with statements; text outside them changes nothing. Go on until the work is done. Then, when nothing \
         failed and nothing is unseen, end it with one last statement that holds the answer:\n{}\nWith {CANNOT} \
         instead of {DONE} if it cannot be done.",
        print(&[Action::Send(ending)]),
    )
}

/// The skin that teaches a tool.
fn skin_of(tool: &Tool) -> Option<&'static Skin> {
    native::skins().iter().find(|skin| skin.tool.name == tool.name && !skin.words.is_empty())
}

/// A tool: its form, what it is for, and its arguments, those without a place in the form last.
fn describe(out: &mut String, tool: &'static Tool) {
    let skin = skin_of(tool);
    let form = skin.map_or_else(|| format!("<<{CALL}({}):arguments:{CALL}", tool.name), form);
    let _ = write!(out, "\n{form}  {}\n", told(tool.doc));
    let (placed, rest): (Vec<&Param>, Vec<&Param>) = tool
        .params
        .iter()
        .filter(|param| !is_ranged(skin, param.name))
        .partition(|param| skin.is_none_or(|skin| has_place(skin, param.name)));
    for param in placed {
        let _ = writeln!(out, "  {}: {}", param.name, about(param));
    }
    if let Some(range) = skin.and_then(|skin| skin.scope).and_then(range) {
        let _ = writeln!(out, "  {range}");
    }
    if !rest.is_empty() {
        let rest: Vec<String> = rest.into_iter().map(in_passing).collect();
        let _ = writeln!(out, "  by {CALL}({}) also: {}", tool.name, rest.join(", "));
    }
}

/// What a scope means that is no argument as it stands.
fn range(scope: Ranged) -> Option<&'static str> {
    match scope {
        Ranged::Argument(_) => None,
        Ranged::Results(..) => Some("first-last: Which results, such as 1-20."),
        Ranged::Seconds(_) => Some("seconds: When to end it."),
    }
}

/// Whether an argument is told as such a scope.
fn is_ranged(skin: Option<&Skin>, name: &str) -> bool {
    let scope = skin.and_then(|skin| skin.scope);
    scope.is_some_and(|scope| scope.says(name) && range(scope).is_some())
}

/// The argument that a body fills: where there can be no target, the one that may stand alone.
fn body_of(skin: &Skin) -> Option<&'static str> {
    let body = skin.body.map(|(name, _)| name);
    if skin.target.is_empty() { skin.bare.or(body) } else { body }
}

fn has_place(skin: &Skin, name: &str) -> bool {
    skin.target.iter().any(|(target, _)| *target == name)
        || [skin.signal, body_of(skin)].contains(&Some(name))
        || skin.scope.is_some_and(|scope| scope.says(name))
}

/// A statement with the names of arguments in its places.
fn form(skin: &Skin) -> String {
    let word = skin.words.first().copied().unwrap_or(CALL);
    let mut out = format!("<<{word}");
    if let Some(signal) = skin.signal {
        let _ = write!(out, "[{signal}]");
    }
    if !skin.target.is_empty() {
        let names: Vec<&str> = skin.target.iter().map(|(name, _)| *name).collect();
        let _ = write!(out, "({})", names.join(" or "));
    }
    match skin.scope {
        None => {}
        Some(Ranged::Argument(name)) => drop(write!(out, "<{name}>")),
        Some(Ranged::Seconds(_)) => out.push_str("<seconds>"),
        Some(Ranged::Results(..)) => out.push_str("<first-last>"),
    }
    let _ = write!(out, ":{}:{word}", body_of(skin).unwrap_or_default());
    out
}

/// The examples of these tools, the simplest of each first.
fn examples(given: &[&'static Tool]) -> Vec<&'static str> {
    let skins: Vec<&Skin> = given.iter().filter_map(|tool| skin_of(tool)).collect();
    let most = skins.iter().map(|skin| skin.examples.len()).max().unwrap_or_default();
    let round = |n: usize| skins.iter().filter_map(move |skin| skin.examples.get(n));
    (0..most).flat_map(round).map(|example| example.heredoc).collect()
}
