//! What a yes may be remembered as: rules, the narrowest first. Only such as mean no more than they
//! say; the last one is every op of this kind.

use crate::policy::Rule;
use cairn_types::{CommandLine, Effect, Intent, OpName, Simple, Subject};

/// Rules that would have allowed this op.
pub(crate) fn of(intent: &Intent) -> Vec<String> {
    let Some(op) = intent.op else { return Vec::new() };
    let subject = intent.subject.as_ref();
    if let (Effect::Network, Some(subject)) = (intent.effect, subject) {
        return of_host(op, subject);
    }
    if op == OpName::Call {
        return vec![of_call(&intent.tool)];
    }
    let mut offers = match (op, subject) {
        (OpName::Exec, Some(subject)) => match &subject.command {
            Some(CommandLine::Known(line)) => of_command(line),
            _ => Vec::new(),
        },
        // What is said to an address has no rule for that one.
        (OpName::Send, _) => Vec::new(),
        (_, Some(subject)) => match (&subject.reads[..], &subject.writes[..]) {
            ([path], []) | ([], [path]) => of_path(op, path),
            _ => Vec::new(),
        },
        (_, None) => Vec::new(),
    };
    offers.push(op.to_string());
    offers
}

/// Every call of one tool from outside: a yes to it is none to another.
pub(crate) fn of_call(tool: &str) -> String {
    format!("{}[tool={tool}]", OpName::Call)
}

fn is_plain(word: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_./=:,@%+-".contains(c);
    !word.is_empty() && word.chars().all(fits)
}

/// The command as it is, and with any further words after the one that says what it does.
fn of_command(line: &[Simple]) -> Vec<String> {
    let [simple] = line else { return Vec::new() };
    let words: Vec<&str> = simple.words.iter().map(|word| word.text.as_str()).collect();
    let is_exact = simple.assigns.is_empty()
        && simple.redirects.is_empty()
        && simple.words.iter().all(|word| !word.open && is_plain(&word.text));
    if !is_exact || words.is_empty() {
        return Vec::new();
    }
    let exact = format!("exec {}", words.join(" "));
    let prefix = match words[..] {
        [program, verb, ..] if PROGRAMS.contains(&program) && VERBS.contains(&verb) => {
            Some(format!("exec {program} {verb} *"))
        }
        _ => None,
    };
    std::iter::once(exact).chain(prefix).collect()
}

/// Programs whose second word says what they do.
const PROGRAMS: [&str; 9] = ["cargo", "git", "go", "npm", "pnpm", "yarn", "bun", "deno", "pip"];
/// What they then do, none of which runs whatever further words say.
const VERBS: [&str; 24] = [
    "add", "bench", "blame", "branch", "build", "check", "clippy", "commit", "diff", "doc", "fmt",
    "install", "lint", "list", "log", "ls", "mod", "show", "stash", "status", "test", "tree",
    "update", "vet",
];

/// The host that it reaches, and all others.
fn of_host(op: OpName, subject: &Subject) -> Vec<String> {
    let host = subject.hosts.last().map(|host| format!("{op}[effect=network,host={host}]"));
    let host = host.filter(|rule| Rule::parse(rule).is_ok());
    host.into_iter().chain([format!("{op}[effect=network]")]).collect()
}

/// The path, and what lies beside it.
fn of_path(op: OpName, path: &str) -> Vec<String> {
    let plain = cairn_text::glob::plain(path);
    if !is_plain(&plain) || plain == "." || plain.starts_with("..") {
        return Vec::new();
    }
    let beside = plain.rsplit_once('/').map(|(directory, _)| format!("{op} {directory}/**"));
    let own = if plain.contains('/') { plain } else { format!("./{plain}") };
    std::iter::once(format!("{op} {own}")).chain(beside).collect()
}
