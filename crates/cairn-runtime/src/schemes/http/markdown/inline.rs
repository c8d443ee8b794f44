//! The words of one block: blanks as a reader sees them, links and code among them.

use reqwest::Url;

/// The longest address a link is told with.
const LONGEST: usize = 2048;

/// What was collected of a block so far.
pub(super) struct Line<'a> {
    text: String,
    base: &'a Url,
    /// The open link: where it leads, and where its words begin.
    link: Option<(String, usize)>,
    /// Where open code begins.
    code: Option<usize>,
}

impl Line<'_> {
    pub(super) fn new(base: &Url) -> Line<'_> {
        Line { text: String::new(), base, link: None, code: None }
    }

    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Adds words. Blanks in a row are one.
    pub(super) fn text(&mut self, text: &str) {
        for c in text.chars() {
            match c.is_whitespace() {
                true if self.text.is_empty() || self.text.ends_with([' ', '\n']) => {}
                true => self.text.push(' '),
                false => self.text.push(c),
            }
        }
    }

    pub(super) fn end_line(&mut self) {
        if !self.text.is_empty() {
            self.text.truncate(self.text.trim_end().len());
            self.text.push('\n');
        }
    }

    /// A link begins. One that leads nowhere else is no link.
    pub(super) fn begin_link(&mut self, href: Option<&str>) {
        self.end_link();
        let to = href.filter(|href| href.len() <= LONGEST && !href.trim_start().starts_with('#'));
        let to = to.and_then(|href| self.base.join(href).ok());
        let to = to.filter(|url| matches!(url.scheme(), "http" | "https" | "mailto"));
        self.link = to.map(|url| (String::from(url), self.text.len()));
    }

    pub(super) fn end_link(&mut self) {
        let Some((to, at)) = self.link.take() else { return };
        let to = if to.contains(['(', ')']) { format!("<{to}>") } else { to };
        self.around(at, |words| format!("[{}]({to})", words.replace('\n', " ")));
    }

    pub(super) fn begin_code(&mut self) {
        self.end_code();
        self.code = Some(self.text.len());
    }

    pub(super) fn end_code(&mut self) {
        let Some(at) = self.code.take() else { return };
        self.around(at, |words| {
            let ticks = "`".repeat(longest_run(words) + 1);
            let space = if ticks.len() > 1 { " " } else { "" };
            format!("{ticks}{space}{}{space}{ticks}", words.replace('\n', " "))
        });
    }

    /// Puts something around the words from a place on; the blanks at their ends stay outside.
    fn around(&mut self, at: usize, put: impl Fn(&str) -> String) {
        let at = at.min(self.text.len());
        let Some(words) = self.text.get(at..) else { return };
        let inner = words.trim();
        if inner.is_empty() {
            return;
        }
        let lead = words.len() - words.trim_start().len();
        let trail = words[lead + inner.len()..].to_owned();
        let put = put(inner);
        self.text.truncate(at + lead);
        self.text.push_str(&put);
        self.text.push_str(&trail);
    }

    /// All of it; what is open is closed, but for a link whose words are still to come.
    pub(super) fn taken(&mut self) -> String {
        self.end_code();
        let is_worded = |(_, at): &(String, usize)| {
            self.text.get(*at..).is_some_and(|words| !words.trim().is_empty())
        };
        match self.link.as_ref().is_some_and(is_worded) {
            true => self.end_link(),
            false => self.link = self.link.take().map(|(to, _)| (to, 0)),
        }
        let text = std::mem::take(&mut self.text);
        match text.trim_end().len() {
            len if len == text.len() => text,
            len => text[..len].to_owned(),
        }
    }
}

/// How many backticks stand in a row at most.
pub(super) fn longest_run(text: &str) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}
