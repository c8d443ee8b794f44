//! From text to tokens: blanks, comments, operators and redirects. What the tokens form together is the
//! parser's.

use super::Why;
use super::here::Doc;
use super::word::{self, Raw};
use cairn_types::{Joint, Redirect, RedirectKind};

/// A place in the text, and the here-documents whose text is still to come.
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    docs: Vec<Doc>,
}

/// What the parser sees.
#[derive(Debug)]
pub(super) enum Token {
    Word(Raw),
    Redirect(Redirect),
    /// `&&`, `||`, `|`, `;`
    Join(Joint),
    Line,
    End,
}

impl<'a> Cursor<'a> {
    pub fn new(text: &'a str) -> Self {
        Cursor { text, at: 0, docs: Vec::new() }
    }

    pub fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Takes `start` if it stands here.
    fn take(&mut self, start: &str) -> bool {
        let found = self.rest().starts_with(start);
        self.at += if found { start.len() } else { 0 };
        found
    }

    /// A line end inside a word or between words. Shells differ on where the text of a here-document
    /// begins then.
    pub fn crossed_line(&self) -> Result<(), Why> {
        match self.docs.is_empty() {
            true => Ok(()),
            false => Err("a here-document after a line that goes on"),
        }
    }

    /// The next token, with blanks, comments and joined lines before it left out.
    pub fn token(&mut self) -> Result<Token, Why> {
        self.skip_blanks()?;
        match self.peek() {
            None => self.crossed_line().map(|()| Token::End),
            Some('\n') => self.line(),
            Some('<' | '>') => self.redirect().map(Token::Redirect),
            Some('&' | '|' | ';') => self.operator(),
            Some(_) => self.word_or_number(),
        }
    }

    fn skip_blanks(&mut self) -> Result<(), Why> {
        loop {
            match self.peek() {
                Some(' ' | '\t') => {
                    self.bump();
                }
                Some('\\') if self.take("\\\n") => self.crossed_line()?,
                Some('#') => {
                    self.at += self.rest().find('\n').unwrap_or(self.rest().len());
                    return Ok(());
                }
                _ => return Ok(()),
            }
        }
    }

    /// A line end, and the here-documents that begin after it.
    fn line(&mut self) -> Result<Token, Why> {
        self.bump();
        for doc in std::mem::take(&mut self.docs) {
            self.at += doc.length(self.rest())?;
        }
        Ok(Token::Line)
    }

    fn operator(&mut self) -> Result<Token, Why> {
        let joint = match self.rest() {
            rest if rest.starts_with("&&") => Joint::And,
            rest if rest.starts_with("||") => Joint::Or,
            rest if rest.starts_with("|&") => return Err("|&, which only bash knows"),
            rest if rest.starts_with('|') => Joint::Pipe,
            rest if rest.starts_with("&>") => return Err("&>, which shells read differently"),
            rest if rest.starts_with('&') => return Err("a command in the background"),
            rest if rest.starts_with(";;") || rest.starts_with(";&") => return Err("a case"),
            _ => Joint::Then,
        };
        self.at += if matches!(joint, Joint::And | Joint::Or) { 2 } else { 1 };
        self.whole_operator()?;
        Ok(Token::Join(joint))
    }

    /// An operator that is cut by a joined line might go on after it.
    fn whole_operator(&self) -> Result<(), Why> {
        match self.rest().starts_with("\\\n") {
            true => Err("an operator before a joined line"),
            false => Ok(()),
        }
    }

    fn word_or_number(&mut self) -> Result<Token, Why> {
        let raw = word::read(self)?;
        if raw.is_number() && matches!(self.peek(), Some('<' | '>')) {
            if raw.joined || raw.text.len() > 1 {
                return Err("a descriptor that shells read differently");
            }
            return self.redirect().map(Token::Redirect);
        }
        Ok(Token::Word(raw))
    }

    /// A redirect; a number before it was taken already.
    fn redirect(&mut self) -> Result<Redirect, Why> {
        // Longer operators stand before those they begin with.
        const OPERATORS: [(&str, Result<RedirectKind, Why>); 12] = [
            ("<<<", Err("<<<, which only bash knows")),
            ("<<-", Ok(RedirectKind::HereDoc)),
            ("<<", Ok(RedirectKind::HereDoc)),
            ("<&", Ok(RedirectKind::Dup)),
            ("<>", Ok(RedirectKind::ReadWrite)),
            ("<(", Err("a process substitution")),
            ("<", Ok(RedirectKind::Read)),
            (">>", Ok(RedirectKind::Append)),
            (">&", Ok(RedirectKind::Dup)),
            (">|", Ok(RedirectKind::Write)),
            (">(", Err("a process substitution")),
            (">", Ok(RedirectKind::Write)),
        ];
        let tabs = self.rest().starts_with("<<-");
        let found = OPERATORS.iter().find(|(text, _)| self.take(text));
        let kind = found.map_or(Err("no redirect"), |(_, kind)| *kind)?;
        self.whole_operator()?;
        self.skip_blanks()?;
        let start = self.at;
        if self.peek().is_none_or(word::ends_word) {
            return Err("a redirect without a target");
        }
        let raw = word::read(self)?;
        let source = self.text.get(start..self.at).unwrap_or_default();
        if raw.is_number() && matches!(self.peek(), Some('<' | '>')) {
            return Err("a descriptor that shells read differently");
        }
        if raw.open || raw.text.is_empty() {
            return Err("a redirect to a file only the shell knows");
        }
        match kind {
            RedirectKind::HereDoc => self.docs.push(Doc::new(&raw, source, tabs)?),
            RedirectKind::Dup if !is_descriptor(source) => {
                return Err("a descriptor that shells read differently");
            }
            _ => {}
        }
        Ok(Redirect { kind, target: raw.text })
    }
}

/// What may stand after `>&` in every shell.
fn is_descriptor(source: &str) -> bool {
    matches!(source.as_bytes(), [b'0'..=b'9' | b'-'])
}
