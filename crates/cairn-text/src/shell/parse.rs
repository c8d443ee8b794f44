//! Which simple commands a line runs. Compound commands, functions and all else that is not a list of
//! simple commands is unsure.

use super::Why;
use super::builtins;
use super::lex::{Cursor, Token};
use super::word::{Assigns, Raw};
use cairn_types::{CommandLine, Joint, ShellWord, Simple};

/// A line with more commands is unsure.
const MAX_COMMANDS: usize = 64;

/// A line with more bytes in its words is unsure.
const MAX_WORDS: usize = 16 << 10;

/// A line with more bytes is unsure.
const MAX_TEXT: usize = 1 << 20;

/// Words the shell takes as its own where a command begins.
const RESERVED: [&str; 23] = [
    "!",
    "{",
    "}",
    "[[",
    "]]",
    "if",
    "then",
    "elif",
    "else",
    "fi",
    "for",
    "while",
    "until",
    "do",
    "done",
    "case",
    "esac",
    "select",
    "function",
    "time",
    "coproc",
    "in",
    "namespace",
];

/// Reads a command line as the shell would, or says that it cannot be known.
///
/// Known are lists of simple commands joined by `;`, `&&`, `||`, `|` and line ends, with quotes,
/// comments, literal assignments, redirects to literal targets and here-documents in which nothing
/// expands. It takes time in proportion to the text and never fails.
#[must_use]
pub fn parse(text: &str) -> CommandLine {
    match commands(text) {
        Ok(commands) => CommandLine::Known(commands),
        Err(why) => CommandLine::Unsure { why: why.to_owned() },
    }
}

fn commands(text: &str) -> Result<Vec<Simple>, Why> {
    if text.len() > MAX_TEXT {
        return Err("too long");
    }
    if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
        return Err("a control character");
    }
    let mut list = List::default();
    let mut cursor = Cursor::new(text);
    loop {
        match cursor.token()? {
            Token::Word(raw) => list.word(raw)?,
            Token::Redirect(redirect) => {
                list.size += redirect.target.len() + 1;
                list.open = true;
                list.current.redirects.push(redirect);
            }
            Token::Join(joint) => list.join(joint)?,
            Token::Line => list.line()?,
            Token::End => return list.end(),
        }
        if list.size > MAX_WORDS || list.done.len() > MAX_COMMANDS {
            return Err("too long");
        }
    }
}

/// The commands read so far.
#[derive(Default)]
struct List {
    done: Vec<Simple>,
    current: Simple,
    /// Whether anything of the current command was read.
    open: bool,
    /// Whether bash reads the arguments of the current command as assignments, or may.
    assigning: bool,
    /// How many bytes the words have.
    size: usize,
}

impl List {
    fn word(&mut self, raw: Raw) -> Result<(), Why> {
        self.size += raw.text.len() + 1;
        self.open = true;
        if self.current.words.is_empty() {
            match raw.assigns {
                Assigns::BashOnly => return Err("an assignment that only bash knows"),
                Assigns::Name(length) => {
                    let mut name = raw.text;
                    name.truncate(length);
                    self.current.assigns.push(name);
                    return Ok(());
                }
                Assigns::Nothing => {}
            }
            if !raw.quoted && RESERVED.contains(&raw.text.as_str()) {
                return Err("a compound command");
            }
            if raw.text.starts_with('%') {
                return Err("a job");
            }
        } else if raw.assigns == Assigns::BashOnly && self.assigning {
            return Err("an assignment that only bash knows");
        }
        self.assigning |= builtins::takes_assignments(&raw.text);
        self.current.words.push(ShellWord { text: raw.text, open: raw.open });
        Ok(())
    }

    fn join(&mut self, joint: Joint) -> Result<(), Why> {
        if !self.open {
            return Err("an operator without a command");
        }
        self.close(joint)
    }

    fn line(&mut self) -> Result<(), Why> {
        // After `&&`, `||` and `|` the command may stand on a later line.
        if self.open { self.close(Joint::Then) } else { Ok(()) }
    }

    fn close(&mut self, next: Joint) -> Result<(), Why> {
        let next = Simple { joint: next, ..Simple::default() };
        let command = std::mem::replace(&mut self.current, next);
        if builtins::changes_reading(&command.words) {
            return Err("a builtin that changes how words are read");
        }
        self.done.push(command);
        (self.open, self.assigning) = (false, false);
        Ok(())
    }

    fn end(mut self) -> Result<Vec<Simple>, Why> {
        if self.open {
            self.close(Joint::Then)?;
        } else if self.current.joint != Joint::Then {
            return Err("an operator without a command");
        }
        Ok(self.done)
    }
}
