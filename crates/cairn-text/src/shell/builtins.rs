//! What is known of the shell's own commands: those that change how later words are read, how later
//! commands run, or that evaluate their words once more.

use cairn_types::{ShellWord, Simple};

/// Their arguments may be read as assignments by bash, as may those of what they run.
const ASSIGNING: [&str; 10] = [
    "declare", "typeset", "local", "export", "readonly", "eval", "let", "alias", "builtin",
    "command",
];

/// They change what later commands of the line do: variables, functions, options, traps, aliases.
const LASTING: [&str; 29] = [
    ".",
    "source",
    "eval",
    "alias",
    "unalias",
    "export",
    "declare",
    "typeset",
    "local",
    "readonly",
    "unset",
    "set",
    "shopt",
    "enable",
    "hash",
    "trap",
    "exec",
    "command",
    "builtin",
    "read",
    "mapfile",
    "readarray",
    "getopts",
    "let",
    "shift",
    "umask",
    "ulimit",
    "complete",
    "bind",
];

/// They evaluate a subscript in a word they are given, and with it any command substituted there.
const EVALUATING: [&str; 15] = [
    "test",
    "[",
    "printf",
    "read",
    "unset",
    "let",
    "declare",
    "typeset",
    "local",
    "export",
    "readonly",
    "getopts",
    "mapfile",
    "readarray",
    "wait",
];

/// Whether bash reads arguments of this command as assignments.
pub(super) fn takes_assignments(name: &str) -> bool {
    ASSIGNING.contains(&name)
}

/// Whether what is read after this command may be read otherwise because of it: aliases, which only
/// some shells expand, and options of the shell, but for the few that change no reading.
pub(super) fn changes_reading(words: &[ShellWord]) -> bool {
    let mut words = words.iter().map(|word| word.text.as_str());
    let first = words.by_ref().find(|word| !matches!(*word, "command" | "builtin"));
    match first {
        Some("alias" | "unalias" | "shopt") => true,
        Some("set") => !words.all(is_calm_option),
        _ => false,
    }
}

fn is_calm_option(word: &str) -> bool {
    let letters = word.strip_prefix(['-', '+']);
    let calm = |letters: &str| letters.bytes().all(|b| matches!(b, b'e' | b'u' | b'x' | b'o'));
    letters.is_some_and(|letters| !letters.is_empty() && calm(letters))
        || matches!(word, "pipefail" | "errexit" | "nounset" | "xtrace")
}

/// Whether a command changes how commands after it run.
pub(super) fn lasts(command: &Simple) -> bool {
    let mut words = command.words.iter().map(|word| word.text.as_str());
    match words.next() {
        None => true,
        // bash sets a variable by `-v`, and by `%n` to how much was printed.
        Some("printf") => words.any(|word| word.starts_with("-v") || counts(word)),
        Some(name) => LASTING.contains(&name),
    }
}

/// Whether a format has a `%n`, with anything between the two that may stand there.
fn counts(format: &str) -> bool {
    let between = |c: char| c.is_ascii_digit() || "-+ #.*'hlLjzt".contains(c);
    let ends = |part: &str| part.trim_start_matches(between).starts_with('n');
    format.replace("%%", "").split('%').skip(1).any(ends)
}

/// Whether a command changes the directory later ones run in.
pub(super) fn moves(command: &Simple) -> bool {
    let name = command.words.first().map(|word| word.text.as_str());
    matches!(name, Some("cd" | "chdir" | "pushd" | "popd"))
}

/// Whether a builtin might evaluate what a quoted word of its holds: bash expands the subscript in
/// `test -v 'a[$(…)]'`, and all of a word of `compgen`.
pub(super) fn evaluates_words(words: &[ShellWord]) -> bool {
    let Some((name, rest)) = words.split_first() else { return false };
    let all = name.text == "compgen";
    (all || EVALUATING.contains(&name.text.as_str()))
        && rest.iter().any(|w| (all || w.text.contains('[')) && w.text.contains(['$', '`']))
}
