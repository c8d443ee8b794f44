//! A rough look at a line that is unsure, for rules that deny: which commands seem to stand in it, and
//! whether anything in it could make up others. Never used to allow.

use cairn_types::ShellWord;

/// What seems to be one command of a line.
#[derive(Debug, Default)]
pub(super) struct Piece {
    /// Its words, reserved words and assignments before it left out.
    pub words: Vec<ShellWord>,
    /// Whether its command word stands there as it is.
    pub steady: bool,
}

/// Words before a command, and those after which none follows.
const BEFORE: [&str; 11] =
    ["!", "if", "then", "elif", "else", "while", "until", "do", "time", "coproc", "{"];
const ALONE: [&str; 8] = ["for", "case", "select", "function", "fi", "done", "esac", "}"];

/// A text without quotes, backslashes and line ends: a name that is spread over quotes is whole in it.
pub(super) fn stripped(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, '\'' | '"' | '\\' | '\n')).collect()
}

/// Whether quotes and substitutions of a line are told apart so simply as [`pieces`] does it.
pub(super) fn is_simple(text: &str) -> bool {
    let odd = ["<<", "#", "$'", "$\"", "`"];
    !odd.iter().any(|odd| text.contains(odd)) && !text.chars().any(|c| c.is_control() && c != '\n')
}

/// Cuts a line where commands seem to begin. Text in single quotes is not looked into, nor is text in
/// double quotes but for substitutions.
pub(super) fn pieces(text: &str) -> Vec<Piece> {
    let mut cutter = Cutter::default();
    let mut chars = text.chars().peekable();
    let (mut single, mut double) = (false, false);
    // Whether each substitution that is open here stands in double quotes.
    let mut outer = Vec::new();
    while let Some(c) = chars.next() {
        match c {
            '\'' if !double => single = !single,
            c if single => cutter.push(c),
            '"' => double = !double,
            '\\' => match chars.next() {
                None | Some('\n') => {}
                Some(c) => cutter.push(c),
            },
            '`' => cutter.cut(true),
            '$' if chars.next_if_eq(&'(').is_some() => {
                cutter.cut(true);
                outer.push(std::mem::take(&mut double));
            }
            '$' => cutter.open('$'),
            c if double => cutter.push(c),
            ')' => {
                cutter.cut(false);
                double = outer.pop().unwrap_or(false);
            }
            '*' | '?' | '[' | '{' | ',' | '}' => cutter.open(c),
            ';' | '|' | '&' | '\n' | '(' | '<' | '>' => cutter.cut(false),
            ' ' | '\t' => cutter.end_word(),
            c => cutter.push(c),
        }
    }
    cutter.cut(false);
    // A quote without end may have hidden anything.
    if single || double || !outer.is_empty() {
        cutter.done.push(Piece::default());
    }
    cutter.done
}

#[derive(Default)]
struct Cutter {
    done: Vec<Piece>,
    words: Vec<ShellWord>,
    word: ShellWord,
}

impl Cutter {
    fn push(&mut self, c: char) {
        self.word.text.push(c);
    }

    fn open(&mut self, c: char) {
        self.word.open = true;
        self.push(c);
    }

    fn end_word(&mut self) {
        if !self.word.text.is_empty() {
            self.words.push(std::mem::take(&mut self.word));
        }
    }

    /// Ends a piece; at a substitution its command word may still be to come.
    fn cut(&mut self, substitution: bool) {
        let in_word = !self.word.text.is_empty();
        self.end_word();
        let mut words = std::mem::take(&mut self.words);
        let starts = words.iter().position(|word| !is_before(word)).unwrap_or(words.len());
        words.drain(..starts);
        if words.first().is_some_and(|word| ALONE.contains(&word.text.as_str())) {
            words.clear();
        }
        // What a substitution gives may be the command word, or a part of it.
        let steady = !substitution || words.len() > usize::from(in_word);
        if !words.is_empty() || !steady {
            self.done.push(Piece { words, steady });
        }
    }
}

fn is_before(word: &ShellWord) -> bool {
    let name = word.text.split_once('=').map(|(name, _)| name.trim_end_matches('+'));
    BEFORE.contains(&word.text.as_str()) || name.is_some_and(super::word::is_name)
}
