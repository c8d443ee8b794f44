//! Where commands begin behind programs that run others, for rules that deny.

use super::deny::{base, is_option};
use super::word::is_name;
use super::wrappers::{self, Kind};
use cairn_types::ShellWord;

/// Behind more wrappers than these nothing is certain to run.
const MAX_WRAPPERS: usize = 64;

/// The places at which a command begins, the first one included: behind each wrapper that begins one,
/// past its options, their values, assignments, numbers and the operands it is known to take.
pub(super) fn heads(words: &[ShellWord]) -> Vec<usize> {
    let mut live = vec![false; words.len()];
    if let Some(first) = live.first_mut() {
        *first = true;
    }
    let mut wrappers = 0;
    for at in 0..words.len() {
        if live[at] && wrappers < MAX_WRAPPERS && is_wrapper(words, at) {
            mark_behind(words, at, &mut live);
            wrappers += 1;
        }
    }
    (0..words.len()).filter(|at| live[*at]).collect()
}

fn is_wrapper(words: &[ShellWord], at: usize) -> bool {
    let name = base(&words[at].text);
    let asks = words.get(at + 1).is_some_and(|word| matches!(word.text.as_str(), "-v" | "-V"));
    matches!(wrappers::kind(name), Kind::Runs | Kind::RunsWithMore | Kind::Shell)
        && !(name == "command" && asks)
}

fn mark_behind(words: &[ShellWord], at: usize, live: &mut [bool]) {
    let name = base(&words[at].text);
    let mut next = at + 1;
    if let Some(starters) = wrappers::starters(name) {
        let is_starter = |word: &ShellWord| starters.contains(&word.text.as_str());
        match words[next..].iter().position(is_starter) {
            Some(past) => next += past + 1,
            None => return,
        }
    }
    let (mut operands, mut after_option) = (wrappers::operands(name), false);
    for place in next..words.len() {
        live[place] = true;
        let text = words[place].text.as_str();
        let is_assignment = text.split_once('=').is_some_and(|(name, _)| is_name(name));
        let is_number = text.starts_with(|c: char| c.is_ascii_digit());
        if is_option(text) {
            after_option = true;
            continue;
        }
        if !after_option && !is_assignment && !is_number {
            if operands == 0 {
                return;
            }
            operands -= 1;
        }
        after_option = false;
    }
}

/// Whether a program among the commands runs others that its words say, as text for a shell or word by
/// word.
#[must_use]
pub fn runs_words(words: &[ShellWord]) -> bool {
    let kinds = heads(words).into_iter().map(|at| wrappers::kind(base(&words[at].text)));
    kinds.into_iter().any(|kind| matches!(kind, Kind::Runs | Kind::RunsWithMore | Kind::Shell))
}

/// The words that say what is run: every command, and the script that a shell or an interpreter among
/// them is given, with the options before it.
#[must_use]
pub fn run_words(words: &[ShellWord]) -> Vec<&ShellWord> {
    let mut all = Vec::new();
    for at in heads(words) {
        all.push(&words[at]);
        let name = base(&words[at].text);
        let is_script = matches!(wrappers::kind(name), Kind::Shell | Kind::Interprets);
        if is_script || matches!(name, "." | "source") {
            let rest = &words[at + 1..];
            let script = rest.iter().position(|word| !is_option(&word.text));
            all.extend(&rest[..script.map_or(rest.len(), |at| at + 1)]);
        }
    }
    all
}

/// Whether a shell or the like among the commands, without a script, would run what it is fed.
pub(super) fn runs_input(words: &[ShellWord]) -> bool {
    let runs = |at: usize| {
        let kind = wrappers::kind(base(&words[at].text));
        let rest = words[at + 1..].iter().map(|word| word.text.as_str());
        matches!(kind, Kind::Shell | Kind::Interprets)
            && rest.into_iter().all(|word| word.starts_with('-') || word == "/dev/stdin")
    };
    heads(words).into_iter().any(runs)
}
