//! What git reads when a rebase or a sequence of picks goes on: whether it would run anything that git does not
//! bring along. Total.

use crate::git_config::parse_git_config;

/// What a todo list may ask for that runs nothing: the words and their letters. `revert` stands in the list of
/// `git revert`.
const PLAIN: [&str; 13] = [
    "pick",
    "reword",
    "edit",
    "squash",
    "fixup",
    "drop",
    "label",
    "reset",
    "merge",
    "noop",
    "break",
    "update-ref",
    "revert",
];
const LETTERS: [&str; 11] = ["p", "r", "e", "s", "f", "d", "l", "t", "m", "b", "u"];

/// The merge strategies that git brings along.
const STRATEGIES: [&str; 6] = ["ort", "recursive", "resolve", "octopus", "ours", "subtree"];

/// Whether a todo list holds comments, blank lines and commands that run nothing, and nothing else.
#[must_use]
pub fn is_plain_todo(text: &str) -> bool {
    text.lines().all(|line| {
        let line = line.trim_start_matches([' ', '\t']).trim_end_matches(['\r', ' ', '\t']);
        let word = line.split([' ', '\t']).next().unwrap_or_default();
        line.is_empty() || line.starts_with('#') || PLAIN.contains(&word) || LETTERS.contains(&word)
    })
}

/// Whether the name of a merge strategy is one of git's own: any other is a program `git-merge-NAME`.
#[must_use]
pub fn is_own_strategy(name: &str) -> bool {
    let name = name.trim();
    name.is_empty() || STRATEGIES.contains(&name)
}

/// Whether the options of a sequence of picks name no merge strategy but git's own.
#[must_use]
pub fn are_plain_options(text: &str) -> bool {
    let settings = parse_git_config(text);
    let mut strategies = settings.iter().filter(|setting| setting.name == "strategy");
    strategies.all(|setting| is_own_strategy(setting.value.as_deref().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_todo_list_is_plain_if_nothing_in_it_runs_a_program() {
        for text in [
            "",
            "pick 1234 One\np 1234 One\n\n# Rebase\nnoop\nbreak\nb\n",
            "label onto\nreset onto\nmerge -C 12 x # y\nupdate-ref refs/heads/x\nfixup -C 12\n",
            "  pick 1 é日😀\r\n",
            "revert 1 x\n",
        ] {
            assert!(is_plain_todo(text), "{text:?}");
        }
        for text in [
            "exec make\n",
            "x make",
            "pick 1\n\texec y",
            "pick 1 x\\\nexec",
            "Pick 1",
            "picks 1",
            "é",
        ] {
            assert!(!is_plain_todo(text), "{text:?}");
        }
    }

    #[test]
    fn a_strategy_is_one_that_git_brings_along() {
        assert!(is_own_strategy("ort\n") && is_own_strategy("") && !is_own_strategy("mine\n"));
        assert!(are_plain_options("[options]\n\tstrategy = ort\n\tedit = true\n"));
        assert!(!are_plain_options("[options]\n\tstrategy = ../x\n"));
    }
}
