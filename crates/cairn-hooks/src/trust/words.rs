//! Reads a command about as a shell would, whatever stands in it: compound commands, substitutions and
//! expansions, too. What only the shell knows is a mark in a word. It is for finding what a command
//! names, and tells nothing about when, or whether, each of its commands is run.

use cairn_types::{Joint, Redirect, RedirectKind, ShellWord, Simple};

/// The project's root, behind a `/`.
pub(super) const ROOT: char = '\u{e000}';
/// A directory that is not the project's to choose, behind a `/`: the user's home.
pub(super) const AWAY: char = '\u{e001}';
/// Something that only the shell knows.
pub(super) const HOLE: char = '\u{e002}';

/// What stands in a command.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Its commands; an assignment is one of `:`.
    pub commands: Vec<Simple>,
    /// Texts of substitutions, which are commands in turn.
    pub within: Vec<String>,
    /// What keeps it from being read.
    pub odd: Option<String>,
}

/// Words before a command.
const BEFORE: [&str; 12] =
    ["!", "{", "}", "if", "then", "elif", "else", "while", "until", "do", "time", "coproc"];

/// Variables that are known, as long as nothing changes them.
pub(super) const KNOWN: [&str; 5] =
    ["CAIRN_PROJECT_DIR", "CLAUDE_PROJECT_DIR", "PWD", "HOME", "TMPDIR"];

/// Reads a text in which these variables are what they were when the command began.
pub(super) fn read(text: &str, steady: &[&str]) -> Found {
    let mut reader = Reader::new(text, steady);
    while let Some(c) = reader.bump() {
        reader.bare(c);
    }
    reader.cut(Joint::Then);
    reader.found
}

struct Reader<'a> {
    rest: &'a str,
    steady: &'a [&'a str],
    found: Found,
    command: Simple,
    word: String,
    /// Where a bracket or a brace stands in the word that may not be itself.
    bracket: Option<usize>,
    brace: Option<usize>,
    /// Whether the word has begun, also if it is empty so far.
    began: bool,
    /// What the next word is the target of.
    redirect: Option<RedirectKind>,
    /// Whether a case has ended, so that patterns of the next may follow.
    in_case: bool,
}

impl<'a> Reader<'a> {
    fn new(rest: &'a str, steady: &'a [&'a str]) -> Reader<'a> {
        Reader {
            rest,
            steady,
            found: Found::default(),
            command: Simple::default(),
            word: String::new(),
            bracket: None,
            brace: None,
            began: false,
            redirect: None,
            in_case: false,
        }
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn take(&mut self, start: &str) -> bool {
        let rest = self.rest.strip_prefix(start);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Takes as many characters as fit.
    fn run(&mut self, fits: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !fits(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn push(&mut self, text: &str) {
        self.began = true;
        self.word.push_str(text);
    }

    fn hole(&mut self) {
        self.push(HOLE.encode_utf8(&mut [0; 4]));
    }

    /// A character outside quotes.
    fn bare(&mut self, c: char) {
        match c {
            '\\' => match self.bump() {
                None | Some('\n') => {}
                Some(c) => self.push(c.encode_utf8(&mut [0; 4])),
            },
            '\'' => self.single(),
            '"' => self.double(),
            '$' => self.dollar(true),
            '`' => self.backtick(),
            '#' if !self.began => {
                self.run(|c| c != '\n');
            }
            ' ' | '\t' => self.end_word(),
            '*' | '?' => self.hole(),
            '[' | '{' => {
                let at = Some(self.word.len());
                let place = if c == '[' { &mut self.bracket } else { &mut self.brace };
                *place = place.or(at);
                self.push(c.encode_utf8(&mut [0; 4]));
            }
            '~' if !self.began || self.word.ends_with(['=', ':']) => self.tilde(),
            '&' if self.rest.starts_with('>') => self.end_word(),
            '<' | '>' => self.redirected(c),
            '\n' | ';' | '&' | '|' | '(' | ')' => self.operator(c),
            c => self.push(c.encode_utf8(&mut [0; 4])),
        }
    }

    fn operator(&mut self, c: char) {
        self.end_word();
        let mut words = self.command.words.iter().map(|word| word.text.as_str());
        let first = words.find(|word| !BEFORE.contains(word));
        let is_pattern = first == Some("case") || self.in_case && first != Some("esac");
        let goes_on = self.in_case && c == '\n' && first.is_none();
        match c {
            '|' if is_pattern => return,
            // Patterns are compared, and name nothing.
            ')' if is_pattern => self.command.words.insert(0, word(":")),
            _ => {}
        }
        let joint = match c {
            '|' if !self.take("|") => Joint::Pipe,
            _ => Joint::Then,
        };
        self.cut(joint);
        self.in_case = c == ';' && (self.take(";") || self.take("&")) || goes_on;
    }

    fn redirected(&mut self, c: char) {
        if !self.word.is_empty() && self.word.bytes().all(|b| b.is_ascii_digit()) {
            (self.word, self.began) = (String::new(), false);
        }
        self.end_word();
        let more = self.run(|c| "<>&|".contains(c));
        self.redirect = match (c, more) {
            ('<', "<") => {
                self.odd("<<");
                None
            }
            ('<', "<<") => None,
            ('<', "" | "&") => Some(RedirectKind::Read),
            ('<', _) => Some(RedirectKind::ReadWrite),
            _ => Some(RedirectKind::Write),
        };
    }

    /// Nothing is read behind it.
    fn odd(&mut self, what: &str) {
        self.rest = "";
        self.found.odd.get_or_insert_with(|| what.to_owned());
    }

    fn single(&mut self) {
        let text = self.run(|c| c != '\'');
        self.push(text);
        if self.bump().is_none() {
            self.odd("'");
        }
    }

    fn double(&mut self) {
        self.began = true;
        loop {
            match self.bump() {
                None => return self.odd("\""),
                Some('"') => return,
                Some('$') => self.dollar(false),
                Some('`') => self.backtick(),
                Some('\\') if self.rest.starts_with(['$', '`', '"', '\\']) => {
                    let c = self.bump().unwrap_or('\\');
                    self.push(c.encode_utf8(&mut [0; 4]));
                }
                Some('\\') if self.take("\n") => {}
                Some(c) => self.push(c.encode_utf8(&mut [0; 4])),
            }
        }
    }

    fn backtick(&mut self) {
        let mut body = String::new();
        loop {
            match self.bump() {
                None => return self.odd("`"),
                Some('`') => return self.substituted(body),
                Some('\\') => body.extend(self.bump()),
                Some(c) => body.push(c),
            }
        }
    }

    /// `~`, a home; `~+`, where the command runs.
    fn tilde(&mut self) {
        match self.run(|c| c.is_alphanumeric() || "_.+-".contains(c)) {
            "+" => self.push("."),
            "-" => self.hole(),
            "" => self.variable("HOME"),
            _ => self.push(&format!("/{AWAY}")),
        }
    }

    fn dollar(&mut self, is_bare: bool) {
        if self.take("(") {
            match self.up_to('(', ')') {
                Some(body) => self.substituted(body.to_owned()),
                None => self.odd("$("),
            }
        } else if self.take("{") {
            match self.up_to('{', '}') {
                Some(body) => self.braced(body),
                None => self.odd("${"),
            }
        } else if is_bare && self.take("'") {
            self.escaped();
        } else if self.rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            let name = self.run(|c| c.is_ascii_alphanumeric() || c == '_');
            self.variable(name);
        } else if self.rest.starts_with(|c: char| c.is_ascii_digit() || "?#$!@*-".contains(c)) {
            self.bump();
            self.hole();
        } else if !(is_bare && self.rest.starts_with('"')) {
            self.push("$");
        }
    }

    /// `$'…'`, in which a backslash may stand for anything.
    fn escaped(&mut self) {
        self.began = true;
        loop {
            match self.bump() {
                None => return self.odd("$'"),
                Some('\'') => return,
                Some('\\') => {
                    self.bump();
                    self.hole();
                }
                Some(c) => self.push(c.encode_utf8(&mut [0; 4])),
            }
        }
    }

    /// The text up to the sign that closes what is open, past quotes and further ones within.
    fn up_to(&mut self, open: char, close: char) -> Option<&'a str> {
        let (mut depth, mut quote, mut skip) = (1, None, false);
        for (at, c) in self.rest.char_indices() {
            match (c, quote) {
                _ if skip => skip = false,
                ('\\', None | Some('"')) => skip = true,
                (c, Some(q)) if c == q => quote = None,
                ('\'' | '"', None) => quote = Some(c),
                (c, None) if c == open => depth += 1,
                (c, None) if c == close => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                let body = &self.rest[..at];
                self.rest = &self.rest[at + c.len_utf8()..];
                return Some(body);
            }
        }
        None
    }

    fn substituted(&mut self, body: String) {
        match body.trim() {
            "pwd" | "pwd -P" | "pwd -L" => self.push("."),
            "git rev-parse --show-toplevel" => self.push(&format!("/{AWAY}")),
            _ => self.hole(),
        }
        self.found.within.push(body);
    }

    /// `${…}`: a variable that is set has no use for another value.
    fn braced(&mut self, body: &str) {
        let end = body.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let (name, rest) = body.split_at(end.unwrap_or(body.len()));
        let keeps = [":-", "-", ":?", "?"].iter().any(|sign| rest.starts_with(sign));
        match keeps || matches!(rest, "" | "%/" | ":") {
            true => self.variable(name),
            false => self.hole(),
        }
        self.found.within.push(rest.trim_start_matches([':', '-', '=', '?', '+']).to_owned());
    }

    fn variable(&mut self, name: &str) {
        match name {
            _ if !self.steady.contains(&name) => self.hole(),
            "CAIRN_PROJECT_DIR" | "CLAUDE_PROJECT_DIR" => self.push(&format!("/{ROOT}")),
            // Where it is then, which is looked after by whoever follows each `cd`.
            "PWD" => self.push("."),
            "HOME" | "TMPDIR" => self.push(&format!("/{AWAY}")),
            _ => self.hole(),
        }
    }

    fn end_word(&mut self) {
        let (bracket, brace) = (self.bracket.take(), self.brace.take());
        if !std::mem::take(&mut self.began) {
            return;
        }
        let mut text = std::mem::take(&mut self.word);
        let hole = HOLE.encode_utf8(&mut [0; 4]).to_owned();
        let expands = |at: &usize| text[*at..].contains(',') || text[*at..].contains("..");
        let brace = brace.filter(expands);
        let bracket = bracket.filter(|at| text[*at..].contains(']'));
        let mut marks: Vec<usize> = brace.into_iter().chain(bracket).collect();
        marks.sort_unstable();
        for at in marks.into_iter().rev() {
            text.replace_range(at..=at, &hole);
        }
        match self.redirect.take() {
            Some(kind) => self.command.redirects.push(Redirect { kind, target: text }),
            None => self.command.words.push(ShellWord { text, open: false }),
        }
    }

    /// Ends a command.
    fn cut(&mut self, next: Joint) {
        self.end_word();
        self.redirect = None;
        let fresh = Simple { joint: next, ..Simple::default() };
        let mut command = std::mem::replace(&mut self.command, fresh);
        while let Some(first) = command.words.first() {
            if is_assignment(&first.text) {
                let words = vec![word(":"), command.words.remove(0)];
                self.found.commands.push(Simple { words, ..Simple::default() });
            } else if BEFORE.contains(&first.text.as_str()) {
                command.words.remove(0);
            } else {
                break;
            }
        }
        if !command.words.is_empty() || !command.redirects.is_empty() {
            self.found.commands.push(command);
        }
    }
}

fn word(text: &str) -> ShellWord {
    ShellWord { text: text.to_owned(), open: false }
}

fn is_assignment(text: &str) -> bool {
    let name = text.split_once('=').map_or("", |(name, _)| name.trim_end_matches('+'));
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
