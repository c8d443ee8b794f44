//! A page as Markdown: headings, lists, links by their whole address, code, tables, what pictures show. Leaves out
//! what is not for readers. Reads anything, and never prints more than `MOST` bytes.

mod blocks;
mod inline;

use super::html::{KNOWN, Kind, Tag, Token, tokens};
use blocks::{Block, Blocks};
use inline::Line;
use reqwest::Url;
use std::ops::Range;

/// The most that is made of a page, in bytes.
const MOST: usize = 10 << 20;
/// A page's own part that holds less than this is not all there is to read.
const LITTLE: usize = 200;
/// The longest address that links begin from.
const LONGEST_BASE: usize = 2048;

/// What a page says, in Markdown. `at` is where it was found.
pub(super) fn of(html: &str, at: &Url) -> String {
    let (tokens, mut is_cut) = tokens(html);
    let page = Page { jumps: jumps(&tokens), base: base(&tokens, at), tokens };
    let own = page.own();
    let mut told = page.told(own.clone());
    if own.len() < page.tokens.len() && told.text.len() < LITTLE {
        told = page.told(0..page.tokens.len());
    }
    is_cut |= told.is_cut;
    let mut text = match page.title().filter(|_| !told.has_title) {
        Some(title) if told.text.is_empty() => format!("# {title}\n"),
        Some(title) => format!("# {title}\n\n{}", told.text),
        None => told.text,
    };
    if is_cut {
        text.push_str("\n… the rest of the page is left out\n");
    }
    text
}

/// A page, read.
struct Page<'a> {
    tokens: Vec<Token<'a>>,
    /// Where what is not for readers ends, by where it begins; 0 for all else.
    jumps: Vec<usize>,
    base: Url,
}

/// What was made of a page.
struct Told {
    text: String,
    has_title: bool,
    is_cut: bool,
}

/// For each token that begins something its end, where that is found; only noise and tables are of interest, and
/// what is never closed ends nowhere.
fn ends(tokens: &[Token<'_>], is_wanted: impl Fn(&Token<'_>) -> bool) -> Vec<usize> {
    let mut open: Vec<Vec<usize>> = vec![Vec::new(); KNOWN];
    let mut ends = vec![0; tokens.len()];
    for (n, token) in tokens.iter().enumerate() {
        match token {
            Token::Start { tag, .. } => open[tag.place()].push(n),
            Token::End(tag) => {
                if let Some(begun) = open[tag.place()].pop().filter(|n| is_wanted(&tokens[*n])) {
                    ends[begun] = n;
                }
            }
            Token::Text(_) => {}
        }
    }
    ends
}

fn jumps(tokens: &[Token<'_>]) -> Vec<usize> {
    ends(tokens, |token| matches!(token, Token::Start { is_noise: true, .. }))
}

/// Where links begin from.
fn base(tokens: &[Token<'_>], at: &Url) -> Url {
    let named = tokens.iter().find_map(|token| match token {
        Token::Start { tag, value: Some(value), .. } if tag.kind() == Kind::Base => Some(value),
        _ => None,
    });
    let named = named.filter(|href| href.len() <= LONGEST_BASE).and_then(|href| at.join(href).ok());
    named.filter(|url| matches!(url.scheme(), "http" | "https")).unwrap_or_else(|| at.clone())
}

impl Page<'_> {
    /// The page's own part, without what is around it on every page of its kind.
    fn own(&self) -> Range<usize> {
        let is_main = |token: &Token<'_>| matches!(token, Token::Start { is_main: true, .. });
        let Some(begun) = self.tokens.iter().position(is_main) else { return 0..self.tokens.len() };
        match ends(&self.tokens, is_main).get(begun) {
            Some(end) if *end > begun => begun..*end,
            _ => begun..self.tokens.len(),
        }
    }

    fn title(&self) -> Option<String> {
        let mut at = 0;
        loop {
            match self.tokens.get(at)? {
                Token::Start { tag, .. } if tag.kind() == Kind::Title => break,
                _ => at = self.jumps[at].max(at) + 1,
            }
        }
        let Some(Token::Text(text)) = self.tokens.get(at + 1) else { return None };
        let title = text.split_whitespace().collect::<Vec<_>>().join(" ");
        (!title.is_empty()).then_some(title)
    }

    fn told(&self, range: Range<usize>) -> Told {
        let mut writer = Writer {
            blocks: Blocks::new(MOST),
            line: Line::new(&self.base),
            heading: None,
            code: None,
            is_in_table: false,
            has_title: false,
        };
        let layout = layout(&self.tokens);
        let mut at = range.start;
        while at < range.end && !writer.is_full() {
            match &self.tokens[at] {
                Token::Text(text) => writer.text(text),
                Token::Start { tag, .. } if self.jumps[at] > at => {
                    writer.pass(*tag);
                    at = self.jumps[at];
                }
                Token::Start { tag, value, .. } => {
                    writer.start(*tag, value.as_deref(), layout[at]);
                }
                Token::End(tag) => writer.end(*tag),
            }
            at += 1;
        }
        let is_cut = writer.is_full();
        writer.flush();
        writer.end_table();
        let is_cut = is_cut || writer.is_full();
        Told { text: writer.blocks.done(), has_title: writer.has_title, is_cut }
    }
}

/// Which tables are there for the looks of a page: those that hold more than texts in cells, or never end.
fn layout(tokens: &[Token<'_>]) -> Vec<bool> {
    let is_table =
        |token: &Token<'_>| matches!(token, Token::Start { tag, .. } if tag.kind() == Kind::Table);
    let ends = ends(tokens, is_table);
    let mut layout = vec![false; tokens.len()];
    let mut open: Vec<usize> = Vec::new();
    for (n, token) in tokens.iter().enumerate() {
        match token {
            Token::Start { tag, .. } => match tag.kind() {
                Kind::Table => {
                    open.iter().for_each(|outer| layout[*outer] = true);
                    // Whatever is around has been seen to be one.
                    open.clear();
                    layout[n] = ends[n] == 0;
                    open.push(n);
                }
                Kind::Heading(_) | Kind::Item | Kind::Pre | Kind::Quote | Kind::Rule => {
                    open.iter().for_each(|outer| layout[*outer] = true);
                }
                _ => {}
            },
            Token::End(tag) if tag.kind() == Kind::Table => {
                open.pop();
            }
            Token::End(_) | Token::Text(_) => {}
        }
    }
    layout
}

struct Writer<'a> {
    blocks: Blocks,
    line: Line<'a>,
    heading: Option<usize>,
    /// Code that is collected as it stands, and what it is written in.
    code: Option<(String, String)>,
    is_in_table: bool,
    has_title: bool,
}

impl Writer<'_> {
    fn is_full(&self) -> bool {
        self.blocks.is_full() || self.line.len() >= MOST
    }

    /// Something that is left out stood here.
    fn pass(&mut self, tag: Tag) {
        match tag.kind() {
            Kind::Noise => self.text(" "),
            _ if self.code.is_some() || self.blocks.is_in_cell() => self.text(" "),
            _ => self.flush(),
        }
    }

    fn text(&mut self, text: &str) {
        match &mut self.code {
            Some((code, _)) => code.push_str(text),
            None => self.line.text(text),
        }
    }

    fn start(&mut self, tag: Tag, value: Option<&str>, is_layout: bool) {
        let kind = tag.kind();
        if let Some((code, language)) = &mut self.code {
            match kind {
                Kind::Break => code.push('\n'),
                Kind::Code => language.push_str(&self::language(value)),
                _ => {}
            }
            return;
        }
        match kind {
            Kind::Anchor => self.line.begin_link(value),
            Kind::Break => self.line.end_line(),
            Kind::Code => self.line.begin_code(),
            Kind::Image => self.line.text(value.unwrap_or_default()),
            Kind::Cell if self.is_in_table => {
                self.end_cell();
                self.blocks.cell();
            }
            Kind::Cell => self.line.text(" "),
            Kind::Row if self.is_in_table => {
                self.end_cell();
                self.blocks.row();
            }
            Kind::Block if self.is_in_table && self.blocks.is_in_cell() => self.line.text(" "),
            Kind::Table => {
                self.flush();
                self.end_table();
                self.is_in_table = !is_layout;
            }
            _ => {
                self.flush();
                self.begin(kind, value);
            }
        }
    }

    /// Something begins that stands by itself.
    fn begin(&mut self, kind: Kind, value: Option<&str>) {
        match kind {
            Kind::Heading(level) => self.heading = Some(level),
            Kind::Item => self.blocks.item(),
            Kind::List => self.blocks.list(false),
            Kind::Numbered => self.blocks.list(true),
            Kind::Pre => self.code = Some((String::new(), language(value))),
            Kind::Quote => self.blocks.quote(),
            Kind::Rule => self.blocks.add(Block::Rule),
            _ => {}
        }
    }

    fn end(&mut self, tag: Tag) {
        match tag.kind() {
            Kind::Pre => {
                if let Some((code, language)) = self.code.take() {
                    self.blocks.add(Block::Code(&code, &language));
                }
            }
            _ if self.code.is_some() => {}
            Kind::Anchor => self.line.end_link(),
            Kind::Code => self.line.end_code(),
            Kind::Cell | Kind::Row if self.is_in_table => self.end_cell(),
            Kind::Block if self.is_in_table && self.blocks.is_in_cell() => self.line.text(" "),
            Kind::Table if self.is_in_table => self.end_table(),
            Kind::Item => {
                self.flush();
                self.blocks.end_item();
            }
            Kind::List => {
                self.flush();
                self.blocks.end_list(false);
            }
            Kind::Numbered => {
                self.flush();
                self.blocks.end_list(true);
            }
            Kind::Quote => {
                self.flush();
                self.blocks.end_quote();
            }
            Kind::Block | Kind::Heading(_) | Kind::Main | Kind::Row | Kind::Table => self.flush(),
            _ => {}
        }
    }

    /// What was collected becomes a block.
    fn flush(&mut self) {
        if let Some((code, language)) = self.code.take() {
            self.blocks.add(Block::Code(&code, &language));
        }
        let text = self.line.taken();
        let heading = self.heading.take();
        if text.is_empty() {
            return;
        }
        match heading {
            Some(level) => {
                self.has_title |= level == 1;
                self.blocks.add(Block::Heading(level, &text));
            }
            None => self.blocks.add(Block::Text(&text)),
        }
    }

    fn end_cell(&mut self) {
        match self.blocks.is_in_cell() {
            true => {
                let text = self.line.taken();
                self.blocks.end_cell(&text);
            }
            false => self.flush(),
        }
    }

    fn end_table(&mut self) {
        if self.is_in_table {
            self.end_cell();
            self.blocks.end_table();
            self.is_in_table = false;
        }
    }
}

/// What code is written in, by the class of its tag.
fn language(class: Option<&str>) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "+-#_".contains(c);
    let classes = class.unwrap_or_default().split_whitespace();
    let named = classes
        .filter_map(|one| one.strip_prefix("language-").or_else(|| one.strip_prefix("lang-")));
    let mut named = named.filter(|name| name.len() <= 20 && name.chars().all(is_plain));
    named.next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
