//! What a rule allows: only what its pattern says, word by word. In doubt nothing is allowed, and a
//! person is asked.

use super::builtins;
use super::pattern::{Glob, Pattern};
use cairn_types::{CommandLine, ShellWord, Simple};

impl Pattern {
    /// Whether a rule with this pattern allows a command that was read, by itself. What it does to
    /// others of its line is for [`allows_line`].
    ///
    /// - The command word is compared as it stands: `cargo` is not `./cargo`, and no wrapper is looked
    ///   through, so `env cargo test` is not `cargo test`. A `*` in it matches no `/`.
    /// - Nothing may be assigned before it: `PATH=…` and `LD_PRELOAD=…` change what runs.
    /// - No file may be opened besides it but `/dev/null`. Here-documents and pipes are data: a rule that
    ///   allows a shell or an interpreter allows what it is fed.
    /// - An open word (a glob, a `~`) may become any number of words. It is matched by nothing but the
    ///   last ` *`, which is any words anyway.
    /// - A `*` within a path matches no `..` that would lead out of it.
    /// - A builtin that would evaluate a quoted word again (`test -v 'a[$(…)]'`) is refused, unless the
    ///   pattern says every word.
    ///
    /// The last ` *` refuses no word otherwise. After quotes are removed the shell gives a word to the
    /// command and does nothing else with it: operators, assignments and redirects were told apart
    /// before. That an option makes the command itself run another one (`git -c`, `find -exec`) is for
    /// whoever writes the rule to know.
    #[must_use]
    pub fn allows(&self, command: &Simple) -> bool {
        if self.is_everything() {
            return true;
        }
        let plain = command.assigns.is_empty()
            && command.redirects.iter().all(cairn_types::Redirect::is_harmless);
        plain
            && self.allows_words(&command.words)
            && (self.is_literal() || !builtins::evaluates_words(&command.words))
    }

    fn allows_words(&self, words: &[ShellWord]) -> bool {
        let Some((named, further)) = words.split_at_checked(self.words.len()) else { return false };
        let mut pairs = self.words.iter().zip(named);
        (self.more || further.is_empty())
            && pairs
                .next()
                .is_some_and(|(glob, word)| allows_word(glob, word) && !stretches_over(glob, word))
            && pairs.all(|(glob, word)| allows_word(glob, word))
    }

    /// Whether every word is said.
    fn is_literal(&self) -> bool {
        !self.more && self.words.iter().all(|glob| glob.literal().is_some())
    }
}

fn allows_word(glob: &Glob, word: &ShellWord) -> bool {
    let up = word.text.split('/').filter(|part| *part == "..").count();
    let climbs = glob.literal().is_none() && !glob.is_any() && up > glob.count("..");
    !word.open && !climbs && glob.matches(&word.text)
}

/// Whether a `*` of a pattern without a `/` would have to match one.
fn stretches_over(glob: &Glob, word: &ShellWord) -> bool {
    word.text.contains('/') && glob.count("/") == 0
}

/// Whether rules allow a whole line: each of its commands is allowed by one of them, and there is at
/// least one command. A line that is unsure is allowed by `*` alone.
///
/// What a command does to those after it counts too. One that changes the shell they run in (`export`,
/// `source`, `exec`, …) may stand before others only by a pattern without `*`. After `cd` a command
/// with a relative path (`./configure`) is not the one that a rule named. That a rule `cd *` lets other
/// rules' commands run in any directory is for whoever writes it to know.
#[must_use]
pub fn allows_line(patterns: &[Pattern], line: &CommandLine) -> bool {
    if patterns.iter().any(Pattern::is_everything) {
        return true;
    }
    let CommandLine::Known(commands) = line else { return false };
    let moved = commands.iter().position(builtins::moves);
    let allowed = |(at, command): (usize, &Simple)| {
        let lasting = at + 1 < commands.len() && builtins::lasts(command);
        let elsewhere = moved.is_some_and(|moved| moved < at) && is_relative(command);
        let mut fit = patterns.iter().filter(|pattern| !lasting || pattern.is_literal());
        !elsewhere && fit.any(|pattern| pattern.allows(command))
    };
    !commands.is_empty() && commands.iter().enumerate().all(allowed)
}

/// Whether the command word is a path that depends on the directory.
fn is_relative(command: &Simple) -> bool {
    command.words.first().is_some_and(|w| w.text.contains('/') && !w.text.starts_with('/'))
}
