//! What is known of programs that open what lies beneath the directories they are given, for rules on
//! paths that deny. Nothing here widens what a rule allows.

use super::deny::is_option;
use cairn_types::ShellWord;

/// What a command does with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Reads it.
    Reads,
    /// Changes or removes it.
    Writes,
    /// One of them, or both.
    Either,
}

/// How much of what lies beneath a path a command opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beneath {
    /// Nothing, as far as is known.
    Nothing,
    /// It gives the path another name, or hands it on as it is.
    Handed,
    /// All but names that begin with a dot.
    Shown,
    /// All.
    All,
}

/// A command that opens what lies beneath its paths.
pub(super) struct Reader {
    pub uses: Use,
    pub beneath: Beneath,
    /// No path is given: it is the directory it runs in.
    pub here: bool,
}

/// Whether a command of this name, with these words behind it, is one.
pub(super) fn reader(name: &str, args: &[ShellWord]) -> Option<Reader> {
    let reads = |beneath, here| Some(Reader { uses: Use::Reads, beneath, here });
    let deep = |letters: &str, long: &[&str]| has(args, letters, long);
    match name {
        "grep" | "egrep" | "fgrep" | "zgrep" | "ggrep"
            if deep("rR", &["recursive", "dereference-recursive", "directories"]) =>
        {
            reads(Beneath::All, no_path(args, 1))
        }
        "rg" | "ag" | "ack" | "ugrep" | "ug" => {
            let all = deep("u.", &["hidden", "unrestricted"]);
            reads(if all { Beneath::All } else { Beneath::Shown }, no_path(args, 1))
        }
        "git" if word_is(args, &["grep", "archive"]) => reads(Beneath::All, no_path(args, 2)),
        "find" | "gfind" | "fd" | "fdfind" if runs(args) => {
            reads(Beneath::All, args.first().is_none_or(|word| is_option(&word.text)))
        }
        "tar" | "gtar" | "bsdtar" | "7z" | "7za" | "7zz" | "cpio" | "rclone" | "restic"
        | "borg" => reads(Beneath::All, false),
        "cp" | "gcp" | "rsync" | "scp" | "zip" | "diff" | "install"
            if deep("rRa", &["recursive", "archive"]) =>
        {
            Some(Reader { uses: Use::Either, beneath: Beneath::All, here: false })
        }
        "rm" | "grm" | "chmod" | "chown" | "chgrp" if deep("rR", &["recursive"]) => {
            Some(Reader { uses: Use::Writes, beneath: Beneath::All, here: false })
        }
        "mv" | "gmv" | "ln" | "gln" | "mount" | "docker" | "podman" | "bwrap" | "chroot" => {
            Some(Reader { uses: Use::Either, beneath: Beneath::Handed, here: false })
        }
        _ => None,
    }
}

/// Whether one of these letters, or of these long names, is among options.
fn has(args: &[ShellWord], letters: &str, long: &[&str]) -> bool {
    args.iter().map(|word| word.text.as_str()).any(|text| match text.strip_prefix("--") {
        Some(name) => {
            let name = name.split('=').next().unwrap_or(name);
            name.len() > 2 && long.iter().any(|long| long.starts_with(name))
        }
        None => text.strip_prefix('-').is_some_and(|set| set.contains(|c| letters.contains(c))),
    })
}

fn word_is(args: &[ShellWord], words: &[&str]) -> bool {
    args.iter().any(|word| words.contains(&word.text.as_str()))
}

/// Whether a search hands what it finds to a command.
fn runs(args: &[ShellWord]) -> bool {
    let starts = ["-exec", "-ok", "-x", "-X", "--exec", "-fprint", "-delete"];
    args.iter().any(|word| starts.iter().any(|start| word.text.starts_with(start)))
}

/// The directory that a command is told to work in, by the word at this place.
pub(super) fn works_in(args: &[ShellWord], at: usize) -> Option<&str> {
    const NAMES: [&str; 5] = ["-C", "--directory", "--chdir", "--cwd", "--work-tree"];
    let text = args[at].text.as_str();
    match text.split_once('=') {
        Some((name, value)) if NAMES.contains(&name) => Some(value),
        _ if NAMES.contains(&text) => args.get(at + 1).map(|word| word.text.as_str()),
        _ => None,
    }
}

/// Whether so few words are given that a search looks where it runs: what it looks for, and no path.
/// Numbers are values of options.
fn no_path(args: &[ShellWord], before: usize) -> bool {
    let is_operand = |word: &&ShellWord| {
        !is_option(&word.text) && !word.text.bytes().all(|b| b.is_ascii_digit())
    };
    args.iter().filter(is_operand).count() <= before
}
