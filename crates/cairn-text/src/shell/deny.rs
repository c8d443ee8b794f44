//! What a rule denies: generously, behind wrappers and with options in any order. What cannot be told
//! is `Perhaps`, and a person is asked.
//!
//! A pattern is looked for in each command of a line. The command word is compared by its last path
//! part. Options of the pattern may stand anywhere, joined or apart (`-rf`, `-r -f`, `-fr`), and a few
//! long ones count as their letters (`--recursive`, `--force`). Other words of the pattern must stand
//! in its order, with nothing but options and their values between. A pattern without a last `*` that
//! fits but for further words is `Perhaps`.
//!
//! Programs that run others (`sudo`, `env`, `xargs`, `find -exec`, `ssh`, …) are looked behind, through
//! several of them, and words that are shell text are read again. So are the values of options that name a
//! command (`tar --to-command`, `git grep -O`, `git -c core.pager=…`), which are a closed table. A pattern of several words that stands
//! anywhere else behind a program is `Perhaps`, as is a program of another language that names the
//! command, and a shell that reads what it runs. What a script does is not looked into.

use super::behind;
use super::options::commands_in_options;
use super::parse::parse;
use super::pattern::{Glob, Pattern};
use super::raw;
use super::wrappers::{self, Kind};
use cairn_types::{CommandLine, Joint, RedirectKind, ShellWord, Simple};

/// Whether a rule denies a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Denies {
    /// It is not what the rule speaks of.
    No,
    /// It may be; a person should look.
    Perhaps,
    /// It is.
    Yes,
}

/// Shell text within shell text is read this deep.
const MAX_DEPTH: usize = 4;

/// A command's name that stands at more places than these is not looked at further.
const MAX_PLACES: usize = 64;

/// The text of an unsure line is looked at up to this size.
const MAX_TEXT: usize = 16 << 10;

/// Whether a rule denies a line that was read. An unsure line is `Perhaps`, as nothing else is known
/// of it here; see [`denies_text`].
#[must_use]
pub fn denies(pattern: &Pattern, line: &CommandLine) -> Denies {
    in_line(pattern, line, 0)
}

/// Whether a rule denies a line, by its text. Of a line that is unsure the text is looked at: it is
/// `Yes` when the pattern plainly stands in it, and `No` when the command's name does not and nothing
/// in it could make one up.
#[must_use]
pub fn denies_text(pattern: &Pattern, text: &str) -> Denies {
    in_text(pattern, text, 0)
}

fn in_line(pattern: &Pattern, line: &CommandLine, depth: usize) -> Denies {
    match line {
        _ if pattern.is_everything() => Denies::Yes,
        CommandLine::Unsure { .. } => Denies::Perhaps,
        CommandLine::Known(commands) => {
            worst(commands.iter().map(|c| in_simple(pattern, c, depth)))
        }
    }
}

fn in_text(pattern: &Pattern, text: &str, depth: usize) -> Denies {
    if depth > MAX_DEPTH {
        return Denies::Perhaps;
    }
    let line = parse(text);
    if let CommandLine::Known(_) = line {
        return in_line(pattern, &line, depth);
    }
    if pattern.is_everything() {
        return Denies::Yes;
    }
    if text.len() > MAX_TEXT {
        return Denies::Perhaps;
    }
    let pieces = raw::pieces(text);
    let plain = worst(pieces.iter().map(|piece| in_words(pattern, &piece.words, depth + 1)));
    let name = pattern.words.first().and_then(Glob::literal).map(base);
    let absent = name.is_some_and(|name| !name.is_empty() && !raw::stripped(text).contains(name));
    let steady =
        raw::is_simple(text) && pieces.iter().all(|piece| piece.steady && is_steady(&piece.words));
    match plain {
        Denies::No if absent && steady => Denies::No,
        Denies::No => Denies::Perhaps,
        found => found,
    }
}

/// Whether a command of an unsure line only does what its name says.
fn is_steady(words: &[ShellWord]) -> bool {
    let kind = words.first().map(|word| wrappers::kind(base(&word.text)));
    matches!(kind, None | Some(Kind::Takes | Kind::Unknown))
        && words
            .first()
            .is_none_or(|word| !word.open && !matches!(word.text.as_str(), "." | "source"))
}

fn worst(found: impl Iterator<Item = Denies>) -> Denies {
    found.max().unwrap_or(Denies::No)
}

fn in_simple(pattern: &Pattern, command: &Simple, depth: usize) -> Denies {
    let fed = command.joint == Joint::Pipe
        || command
            .redirects
            .iter()
            .any(|r| matches!(r.kind, RedirectKind::HereDoc | RedirectKind::Read));
    let reads = fed && behind::runs_input(&command.words);
    in_words(pattern, &command.words, depth).max(perhaps(reads))
}

fn perhaps(holds: bool) -> Denies {
    if holds { Denies::Perhaps } else { Denies::No }
}

fn in_words(pattern: &Pattern, words: &[ShellWord], depth: usize) -> Denies {
    let Some((first, rest)) = words.split_first() else { return Denies::No };
    let direct = Fit::of(pattern, words).denies();
    let behind = match wrappers::kind(base(&first.text)) {
        Kind::Runs | Kind::Shell | Kind::RunsWithMore => wrapped(pattern, words, depth),
        Kind::Interprets => named(pattern, rest),
        Kind::Takes
            if base(&first.text) == "git" && rest.iter().any(|w| wrappers::git_runs(&w.text)) =>
        {
            named(pattern, rest).max(within(pattern, rest, depth)).min(Denies::Perhaps)
        }
        Kind::Takes => Denies::No,
        Kind::Unknown => anywhere(pattern, rest),
    };
    direct.max(behind).max(in_options(pattern, words, depth))
}

/// Looks into the options of programs that are known to run what these name, also behind wrappers.
fn in_options(pattern: &Pattern, words: &[ShellWord], depth: usize) -> Denies {
    let named = behind::heads(words).into_iter().flat_map(|at| commands_in_options(&words[at..]));
    worst(named.map(|command| in_text(pattern, &command, depth + 1)))
}

/// Looks for the command's name in words that are a program in another language.
fn named(pattern: &Pattern, words: &[ShellWord]) -> Denies {
    let name = pattern.words.first().and_then(Glob::literal).map_or("", base);
    perhaps(words.iter().any(|word| has_name(&word.text, name)))
}

/// Looks behind a wrapper: certainly where the command it runs begins, and not so certainly elsewhere.
fn wrapped(pattern: &Pattern, words: &[ShellWord], depth: usize) -> Denies {
    let heads = behind::heads(words);
    let kinds = || heads.iter().map(|at| wrappers::kind(base(&words[*at].text)));
    let adds = kinds().any(|kind| kind == Kind::RunsWithMore);
    let (found, short) = at_places(pattern, words, heads.iter().copied());
    let more = adds && (short || kinds().any(|kind| kind == Kind::Shell));
    found.max(perhaps(more)).max(within(pattern, &words[1..], depth))
}

/// Looks for the pattern at some words; also whether it would be there if further words were.
fn at_places(
    pattern: &Pattern,
    words: &[ShellWord],
    places: impl Iterator<Item = usize>,
) -> (Denies, bool) {
    let mut named = places.filter(|at| Fit::is_named(pattern, &words[*at]));
    let (mut worst, mut short) = (Denies::No, false);
    for at in named.by_ref().take(MAX_PLACES) {
        let fit = Fit::of(pattern, &words[at..]);
        worst = worst.max(fit.denies());
        short |= fit == Fit::Short;
    }
    (worst.max(perhaps(named.next().is_some())), short)
}

/// Looks for the pattern in every word that is text for a shell, and less certainly at every word.
fn within(pattern: &Pattern, words: &[ShellWord], depth: usize) -> Denies {
    let is_text =
        |word: &&ShellWord| word.text.contains([' ', '\t', '\n', ';', '|', '&', '$', '`']);
    let texts = words.iter().filter(is_text).map(|word| in_text(pattern, &word.text, depth + 1));
    // `ssh` and `eval` join their words before a shell reads them.
    let joined: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let joined = match words.iter().any(|word| is_text(&word)) {
        true => in_text(pattern, &joined.join(" "), depth + 1),
        false => Denies::No,
    };
    // Joined words that cannot be read say nothing that each of them does not.
    let joined = if joined == Denies::Yes { joined } else { Denies::No };
    worst(texts).max(joined).max(anywhere(pattern, words))
}

/// Looks for the pattern at every word. One word may be anything; a few in a row are hardly there by
/// chance.
fn anywhere(pattern: &Pattern, words: &[ShellWord]) -> Denies {
    let (found, _) = at_places(pattern, words, 0..words.len());
    perhaps(pattern.words.len() > 1 && found != Denies::No)
}

/// A command's name without its directory.
pub(super) fn base(text: &str) -> &str {
    text.rsplit('/').next().unwrap_or(text)
}

/// Whether a name stands in a text on its own.
fn has_name(text: &str, name: &str) -> bool {
    !name.is_empty()
        && text.split(|c: char| !(c.is_alphanumeric() || "_-.".contains(c))).any(|t| t == name)
}

/// How words fit a pattern that begins at the first of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fit {
    /// They do not.
    Not,
    /// The command is the pattern's, but words that the pattern asks for are missing.
    Short,
    /// They do, if an open word becomes what the pattern asks for, or but for further words.
    Loose,
    /// They do.
    Whole,
}

impl Fit {
    fn denies(self) -> Denies {
        match self {
            Fit::Not | Fit::Short => Denies::No,
            Fit::Loose => Denies::Perhaps,
            Fit::Whole => Denies::Yes,
        }
    }

    /// Whether a word may be the pattern's command.
    fn is_named(pattern: &Pattern, command: &ShellWord) -> bool {
        let matches =
            |name: &Glob| name.matches(&command.text) || name.matches(base(&command.text));
        is_globbed(command) || pattern.words.first().is_some_and(matches)
    }

    fn of(pattern: &Pattern, words: &[ShellWord]) -> Fit {
        let ([_, asked @ ..], [command, given @ ..]) = (pattern.words.as_slice(), words) else {
            return Fit::Not;
        };
        if !Fit::is_named(pattern, command) {
            return Fit::Not;
        }
        let (options, places): (Vec<&Glob>, Vec<&Glob>) =
            asked.iter().partition(|glob| glob.literal().is_some_and(is_option));
        if !options.iter().all(|option| has_option(option, given)) {
            return Fit::Short;
        }
        match Places::walk(&places, given) {
            None => Fit::Short,
            Some(walk)
                if is_globbed(command) || walk.guessed || (walk.further && !pattern.more) =>
            {
                Fit::Loose
            }
            Some(_) => Fit::Whole,
        }
    }
}

/// Whether a glob may make any name of a command word.
fn is_globbed(command: &ShellWord) -> bool {
    command.open && base(&command.text).contains(['*', '?', '['])
}

pub(super) fn is_option(text: &str) -> bool {
    text.len() > 1 && text.starts_with('-')
}

/// What came of looking for a pattern's words that are not options.
struct Places {
    /// Whether an open word was taken for one of them.
    guessed: bool,
    /// Whether words are left.
    further: bool,
}

impl Places {
    fn walk(places: &[&Glob], given: &[ShellWord]) -> Option<Places> {
        let mut wanted = places.iter().peekable();
        let mut found = Places { guessed: false, further: false };
        let mut after_option = false;
        for word in given {
            if is_option(&word.text) && !word.open {
                after_option = !word.text.contains('=');
                continue;
            }
            match wanted.peek() {
                None => found.further = true,
                Some(glob) if glob.matches(&word.text) => {
                    wanted.next();
                }
                Some(_) if word.open => {
                    found.guessed = true;
                    wanted.next();
                }
                // It may be the value of the option before it.
                Some(_) if after_option => {}
                Some(_) => return None,
            }
            after_option = false;
        }
        wanted.peek().is_none().then_some(found)
    }
}

/// Whether an option that a pattern asks for is among words.
fn has_option(option: &Glob, given: &[ShellWord]) -> bool {
    let asked = option.literal().unwrap_or_default();
    if given.iter().any(|word| word.text.split('=').next() == Some(asked) || word.text == asked) {
        return true;
    }
    match asked.strip_prefix("--") {
        Some(long) => {
            let cut = |word: &ShellWord| word.text.len() > 4 && asked.starts_with(&word.text);
            given.iter().any(cut) || wrappers::letter(long).is_some_and(|c| has_letter(c, given))
        }
        None => asked.chars().skip(1).all(|c| has_letter(c, given)),
    }
}

fn has_letter(letter: char, given: &[ShellWord]) -> bool {
    let same = |c: char| {
        c == letter || (letter.eq_ignore_ascii_case(&'r') && c.eq_ignore_ascii_case(&'r'))
    };
    given.iter().map(|word| word.text.as_str()).any(|text| match text.strip_prefix("--") {
        Some(long) => {
            let full = ["recursive", "force", "all", "delete"].into_iter();
            let mut meant = full.filter(|full| long.len() > 2 && full.starts_with(long));
            meant.any(|full| wrappers::letter(full).is_some_and(same))
        }
        None => text.strip_prefix('-').is_some_and(|letters| letters.chars().any(same)),
    })
}
