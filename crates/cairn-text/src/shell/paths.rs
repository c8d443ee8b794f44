//! Which paths a command line may open, for rules on paths that deny: generously, by its words, in the
//! directories it enters, behind programs that run others and in text for shells. Looks nothing up, so
//! what a program comes upon by itself, and where a link leads, is not known.

use super::behind;
use super::deny::{base, is_option};
use super::parse::parse;
use super::readers::{self, Beneath, Use};
use super::wrappers::{self, Kind};
use cairn_types::{CommandLine, Joint, RedirectKind, ShellWord, Simple};

/// Shell text within shell text is read this deep.
const MAX_DEPTH: usize = 4;
/// A line that enters more directories, or names more paths, is not followed further.
const MAX_PLACES: usize = 16;
const MAX_PATHS: usize = 4096;
/// Of a word no more paths are told apart.
const MAX_HELD: usize = 32;

/// A path that a command may open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// The path, behind the directory it is relative to. It may hold `..`, and globs of the shell; a `~`
    /// before the others is some home.
    pub path: String,
    /// The shell makes something else of it before the command gets it.
    pub open: bool,
    /// It is named and nothing else is, if the line does what it says.
    pub sure: bool,
    /// What the command does with it.
    pub uses: Use,
    /// How much of what lies beneath it is opened as well.
    pub beneath: Beneath,
}

/// All paths that a line may open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Paths {
    /// Those that it names.
    pub named: Vec<Opened>,
    /// It may open others that nothing in it tells.
    pub others: bool,
}

/// The paths that a line may open which is run in this directory.
#[must_use]
pub fn paths(line: &CommandLine, cwd: &str) -> Paths {
    let here = Place { path: cwd.to_owned(), open: false };
    let mut walk = Walk { here, earlier: Vec::new(), skipped: Vec::new(), out: Paths::default() };
    walk.line(line, 0);
    walk.out
}

/// A directory that commands are run in.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    path: String,
    open: bool,
}

impl Place {
    fn join(&self, word: &str, open: bool) -> Place {
        match word.starts_with('/') || open && word.starts_with('~') {
            true => Place { path: word.to_owned(), open },
            false => Place { path: format!("{}/{word}", self.path), open: open || self.open },
        }
    }
}

struct Walk {
    here: Place,
    /// Directories in which the next commands may be run, if those before did not do what they say.
    earlier: Vec<Place>,
    /// Directories that were left, and are where a command is run that does not need those before it.
    skipped: Vec<Place>,
    out: Paths,
}

impl Walk {
    fn line(&mut self, line: &CommandLine, depth: usize) {
        let CommandLine::Known(commands) = line else {
            self.out.others = true;
            return;
        };
        for command in commands {
            if matches!(command.joint, Joint::Then | Joint::Or) {
                self.earlier.append(&mut self.skipped);
            }
            self.simple(command, depth);
            self.enter(&command.words);
        }
    }

    /// Goes where a command leads those after it.
    fn enter(&mut self, words: &[ShellWord]) {
        let heads = behind::heads(words);
        let is_move = |at: &&usize| matches!(words[**at].text.as_str(), "cd" | "pushd");
        let Some(at) = heads.iter().find(is_move) else { return };
        let mut operands = words[at + 1..].iter().filter(|word| !is_option(&word.text));
        let to = match operands.next() {
            Some(word) if word.text == "-" => return self.earlier.append(&mut self.skipped),
            Some(word) => self.here.join(&word.text, word.open),
            None => Place { path: "~".to_owned(), open: true },
        };
        let left = std::mem::replace(&mut self.here, to);
        self.skipped.push(left);
        if self.earlier.len() + self.skipped.len() > MAX_PLACES {
            self.out.others = true;
            self.skipped.clear();
        }
    }

    fn simple(&mut self, command: &Simple, depth: usize) {
        let words = &command.words[..];
        let reads = |kind: RedirectKind| matches!(kind, RedirectKind::HereDoc | RedirectKind::Read);
        let fed = command.joint == Joint::Pipe || command.redirects.iter().any(|r| reads(r.kind));
        self.out.others |= fed && behind::runs_input(words);
        for redirect in &command.redirects {
            let uses = match redirect.kind {
                RedirectKind::Dup | RedirectKind::HereDoc => continue,
                RedirectKind::Read => Use::Reads,
                RedirectKind::ReadWrite => Use::Either,
                RedirectKind::Write | RedirectKind::Append => Use::Writes,
            };
            let target = ShellWord { text: redirect.target.clone(), open: false };
            let here = self.here.clone();
            self.add(&[here], &target, (uses, Beneath::Nothing));
        }
        // A command's own name is looked for elsewhere, unless it leads somewhere.
        let named = words.first().is_some_and(|word| !word.text.contains('/'));
        let told = (0..words.len()).filter_map(|at| readers::works_in(words, at));
        let mut places: Vec<Place> = told.map(|to| self.here.join(to, false)).collect();
        places.push(self.here.clone());
        for word in words.iter().skip(usize::from(named)) {
            self.add(&places, word, (Use::Either, Beneath::Nothing));
        }
        for at in behind::heads(words) {
            self.beneath(base(&words[at].text), &words[at + 1..], &places);
            self.text(base(&words[at].text), &words[at + 1..], depth);
        }
    }

    /// What a program opens beneath the paths it is given.
    fn beneath(&mut self, name: &str, args: &[ShellWord], places: &[Place]) {
        self.out.others |= wrappers::kind(name) == Kind::RunsWithMore;
        let Some(reader) = readers::reader(name, args) else { return };
        let how = (reader.uses, reader.beneath);
        for word in args.iter().filter(|word| !is_option(&word.text) || word.text.contains('=')) {
            self.add(places, word, how);
        }
        if reader.here {
            self.add(places, &ShellWord { text: ".".to_owned(), open: false }, how);
        }
    }

    /// What is named in words that are text for a shell, or a program of another language.
    fn text(&mut self, name: &str, args: &[ShellWord], depth: usize) {
        let is_text =
            |word: &&ShellWord| word.text.contains([' ', '\t', '\n', ';', '|', '&', '<', '>']);
        match wrappers::kind(name) {
            Kind::Runs | Kind::Shell | Kind::RunsWithMore if depth >= MAX_DEPTH => {
                self.out.others = true;
            }
            Kind::Runs | Kind::Shell | Kind::RunsWithMore => {
                // `ssh` and `eval` join their words before a shell reads them.
                let all: Vec<&str> = args.iter().map(|word| word.text.as_str()).collect();
                let joined = args.iter().any(|w| is_text(&w)).then(|| parse(&all.join(" ")));
                let is_read = |line: &CommandLine| matches!(line, CommandLine::Known(_));
                let texts = args.iter().filter(is_text).map(|word| parse(&word.text));
                for line in texts.chain(joined.filter(is_read)) {
                    let (here, skipped) = (self.here.clone(), self.skipped.clone());
                    let earlier = self.earlier.clone();
                    self.line(&line, depth + 1);
                    (self.here, self.skipped, self.earlier) = (here, skipped, earlier);
                }
            }
            Kind::Interprets => self.mentioned(args),
            Kind::Takes if name == "git" && args.iter().any(|w| wrappers::git_runs(&w.text)) => {
                self.mentioned(args);
            }
            Kind::Takes | Kind::Unknown => {}
        }
    }

    /// Whatever looks like a path in words that are programs.
    fn mentioned(&mut self, args: &[ShellWord]) {
        let fits = |c: char| c.is_alphanumeric() || "_-./~+%@".contains(c);
        for word in args.iter().filter(|word| !word.text.chars().all(fits)) {
            for text in word.text.split(|c| !fits(c)).filter(|text| !text.is_empty()) {
                let Place { path, open } = self.here.join(text, false);
                let (uses, beneath) = (Use::Either, Beneath::Nothing);
                self.out.named.push(Opened { path, open, sure: false, uses, beneath });
            }
        }
    }

    /// A word, and every path that it may hold, in every directory that it may be relative to.
    fn add(&mut self, places: &[Place], word: &ShellWord, (uses, beneath): (Use, Beneath)) {
        let sure = places.iter().map(|place| (place, true));
        let all: Vec<_> = sure.chain(self.earlier.iter().map(|place| (place, false))).collect();
        for path in held(&word.text) {
            for (place, sure) in &all {
                let Place { path, open } = place.join(path, word.open);
                self.out.named.push(Opened { path, open, sure: *sure, uses, beneath });
            }
        }
        self.out.others |= word.text.matches(['=', ':', '@', ',']).count() > MAX_HELD - 2;
        if self.out.named.len() > MAX_PATHS {
            self.out.named.truncate(MAX_PATHS);
            self.out.others = true;
        }
    }
}

/// The paths that a word may hold: itself if it is no option, what stands behind an `=`, `:`, `@` or `,` of it or behind an
/// option's letter, and each of these up to the next such sign.
fn held<'a>(word: &'a str) -> Vec<&'a str> {
    let sign = |c: char| "=:@,".contains(c);
    let glued = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    let glued = glued.and_then(|rest| rest.char_indices().nth(1)).map(|(at, _)| &word[at + 1..]);
    let behind = word.match_indices(sign).map(|(at, sign)| &word[at + sign.len()..]);
    let whole = (!is_option(word)).then_some(word).into_iter();
    let mut all: Vec<&str> = whole.chain(glued).chain(behind).take(MAX_HELD).collect();
    let up_to = |text: &&'a str| text.find([':', ',']).map(|at| &text[..at]);
    let ends: Vec<&str> = all.iter().filter_map(up_to).collect();
    all.extend(ends);
    all.retain(|text| !text.is_empty());
    all
}
