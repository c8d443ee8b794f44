//! Which files of the project a command may name, generously, and which of its words could name one that
//! is known only when it runs. Looks at no file.

use super::words::{self, AWAY, Found, HOLE, ROOT};
use cairn_text::shell::{paths, run_words, runs_words};
use cairn_types::{CommandLine, Joint, RedirectKind, ShellWord, Simple};

/// Text within text is read this deep.
const MAX_DEPTH: usize = 4;
/// A command that names more paths is not followed.
const MAX_PATHS: usize = 4096;
/// Commands that say, compare or transform their words, and open none that matters.
const SAYS: [&str; 19] = [
    ":", "echo", "printf", "test", "[", "[[", "expr", "grep", "egrep", "jq", "sed", "awk", "tr",
    "cut", "basename", "dirname", "export", "exit", "return",
];

/// A file of the project that a command may name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    /// Its path from the root.
    pub path: String,
    /// The command means the project's file if there is one; otherwise it may mean one elsewhere.
    pub is_sure: bool,
}

/// A word of which only the shell knows what it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Open(pub String);

/// The files that a command may name. Too many is harmless: those that are not there are left out.
pub(super) fn named(command: &str, root: &str) -> Result<Vec<Name>, Open> {
    let steady = words::KNOWN.into_iter().filter(|name| is_steady(command, name)).collect();
    let mut look = Look { steady, root, names: Vec::new() };
    look.text(command, true, 0)?;
    Ok(look.names)
}

struct Look<'a> {
    /// Variables that are what they were when the command began.
    steady: Vec<&'static str>,
    root: &'a str,
    names: Vec<Name>,
}

impl Look<'_> {
    /// A text for a shell; or, if it `is_run` by none, one that may be another's.
    fn text(&mut self, text: &str, is_run: bool, depth: usize) -> Result<(), Open> {
        let found = words::read(text, &self.steady);
        if is_run {
            self.check(&found)?;
        }
        if depth >= MAX_DEPTH {
            return if is_run { Err(open(text)) } else { Ok(()) };
        }
        for text in &found.within {
            self.text(text, is_run, depth + 1)?;
        }
        for command in &found.commands {
            // Where it is looked for is not known here.
            let head = command.words.first().map(|word| word.text.as_str());
            head.into_iter().for_each(|head| self.add(head));
            let is_text = |word: &&ShellWord| word.text.contains(|c| " \t\n;|&<>()`$".contains(c));
            for word in command.words.iter().filter(is_text) {
                self.text(&word.text, is_run && runs_words(&command.words), depth + 1)?;
            }
        }
        let opened = paths(&CommandLine::Known(found.commands), ".").named;
        opened.iter().for_each(|opened| self.add(&opened.path));
        if self.names.len() > MAX_PATHS { Err(open(text)) } else { Ok(()) }
    }

    /// Refuses words that could name any file of the project.
    fn check(&self, found: &Found) -> Result<(), Open> {
        if let Some(odd) = &found.odd {
            return Err(open(odd));
        }
        let is_fed = |command: &Simple| command.joint == Joint::Pipe && runs_words(&command.words);
        let is_fed = found.commands.iter().any(is_fed);
        // A directory was entered that only the shell knows.
        let mut is_lost = false;
        for command in &found.commands {
            let reads = |kind| matches!(kind, RedirectKind::Read | RedirectKind::ReadWrite);
            let read = command.redirects.iter().filter(|redirect| reads(redirect.kind));
            let mut targets = read.map(|redirect| redirect.target.as_str());
            if let Some(target) = targets.find(|target| target.contains(HOLE)) {
                return Err(open(target));
            }
            let head = command.words.first().map_or("", |word| word.text.as_str());
            let enters = matches!(head, "cd" | "pushd" | "popd");
            let is_told = |word: &ShellWord| !word.text.contains(HOLE) && word.text != "-";
            let is_known = command.words.iter().all(is_told);
            // Without a word it is the home, wherever that is then.
            is_lost |= enters && !(is_known && command.words.len() > 1);
            if let Some(word) = searched(&command.words) {
                return Err(open(word));
            }
            if !enters && (is_fed || !SAYS.contains(&head)) {
                self.words(&command.words, is_lost)?;
            }
        }
        Ok(())
    }

    fn words(&self, words: &[ShellWord], is_lost: bool) -> Result<(), Open> {
        let (run, is_filled) = (run_words(words), runs_words(words));
        let is_script = |word: &ShellWord| run.iter().any(|script| std::ptr::eq(*script, word));
        for (at, word) in words.iter().enumerate() {
            let text = word.text.as_str();
            // `find` and `xargs` put what they find into `{}`.
            let is_filled = is_filled && !text.starts_with('-') && text.contains("{}");
            let filled = text.replace("{}", HOLE.encode_utf8(&mut [0; 4]));
            let text = if is_filled { &filled } else { text };
            let is_open = text.contains(HOLE) && (is_script(word) || self.may_lead_within(text));
            // A command's own name is looked for elsewhere, unless it leads somewhere.
            let is_relative = !text.starts_with(['/', '-']) && (at > 0 || text.contains('/'));
            if is_open || is_lost && is_relative && is_script(word) {
                return Err(open(text));
            }
        }
        Ok(())
    }

    /// Whether a word with a hole may be the path of a project's file.
    fn may_lead_within(&self, text: &str) -> bool {
        if !text.contains('/') || text.contains("://") || text.contains(char::is_whitespace) {
            return false;
        }
        let before = text.split(HOLE).next().unwrap_or(text);
        let path = before.rsplit('=').next().unwrap_or(before);
        let is_elsewhere = path.starts_with('/')
            && !path.contains([ROOT, AWAY])
            && !self.root.starts_with(path)
            && !path.starts_with(self.root);
        !is_elsewhere || path.contains("..") || text.contains("/..")
    }

    /// A path, and every file of the project that it may mean.
    fn add(&mut self, path: &str) {
        if path.contains(HOLE) {
            return;
        }
        let whole = path.starts_with('/');
        let parts = path.split('/').filter(|part| !matches!(*part, "" | "."));
        let plain = parts.collect::<Vec<_>>().join("/");
        let slashed = format!("/{plain}/");
        let root = format!("{}/", self.root.trim_end_matches('/'));
        if let Some((_, rest)) = plain.rsplit_once(ROOT) {
            self.push(rest.trim_start_matches('/'), true);
        } else if let Some((_, rest)) = slashed.rsplit_once(&root).filter(|_| whole) {
            self.push(rest.trim_end_matches('/'), true);
        } else if whole || plain.contains(AWAY) {
            // It may lead here by way of a link, or from a directory above.
            let is_sure = plain.contains(AWAY);
            for (at, _) in plain.match_indices('/') {
                self.push(&plain[at + 1..], is_sure);
            }
        } else {
            self.push(&plain, true);
        }
    }

    fn push(&mut self, path: &str, is_sure: bool) {
        let is_above = !is_sure && path.starts_with("..");
        let fits = path.len() < 4096 && path.split('/').all(|part| part.len() <= 255);
        if !path.is_empty() && fits && !is_above && !path.contains(char::is_control) {
            self.names.push(Name { path: path.to_owned(), is_sure });
        }
    }
}

/// A word that says that programs are looked for in the project.
fn searched(words: &[ShellWord]) -> Option<&str> {
    let is_within = |part: &str| {
        !part.contains(HOLE) && !part.starts_with('/') || part.contains([ROOT]) || part == "."
    };
    let mut texts = words.iter().map(|word| word.text.as_str());
    texts.find(|text| {
        text.strip_prefix("PATH=").is_some_and(|value| value.split(':').any(is_within))
    })
}

/// Whether a variable is only ever used in a command, so that it has the value it began with.
fn is_steady(command: &str, name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    command.match_indices(name).all(|(at, _)| {
        let (before, after) = (&command[..at], &command[at + name.len()..]);
        let is_part = before.ends_with(fits) || after.starts_with(fits);
        is_part || before.ends_with('$') || before.ends_with("${")
    })
}

/// A word as it may be shown.
fn open(text: &str) -> Open {
    let marks = [(format!("/{AWAY}"), "~"), (format!("/{ROOT}"), "$CAIRN_PROJECT_DIR")];
    let shown =
        marks.iter().fold(text.replace(HOLE, "…"), |text, (mark, is)| text.replace(mark, is));
    Open(shown.chars().take(80).collect())
}
