//! HTML as a flat list of the tags and texts that matter to a reader. Reads anything, in a time that grows with its
//! length alone: nothing is compared with what came before, whatever is left open or nested. What the tags
//! come to is `markdown`'s.

use super::entities;
use std::borrow::Cow;

/// So many tokens are told apart; of a page with more the rest is left out.
const MOST: usize = 400_000;

/// A tag, by its place in `TAGS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tag(u8);

/// What a tag is to a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Anchor,
    Base,
    Break,
    Block,
    Cell,
    Code,
    Heading(usize),
    Image,
    Item,
    List,
    Main,
    Numbered,
    Pre,
    Quote,
    Row,
    Rule,
    Table,
    Title,
    /// Of no interest, with all that is in it.
    Noise,
    /// The same, and what is in it is no HTML.
    Raw,
}

const TAGS: &[(&str, Kind)] = &[
    ("a", Kind::Anchor),
    ("address", Kind::Block),
    ("article", Kind::Block),
    ("aside", Kind::Noise),
    ("base", Kind::Base),
    ("blockquote", Kind::Quote),
    ("br", Kind::Break),
    ("button", Kind::Noise),
    ("caption", Kind::Block),
    ("code", Kind::Code),
    ("dd", Kind::Block),
    ("details", Kind::Block),
    ("dialog", Kind::Noise),
    ("div", Kind::Block),
    ("dl", Kind::Block),
    ("dt", Kind::Block),
    ("fieldset", Kind::Block),
    ("figcaption", Kind::Block),
    ("figure", Kind::Block),
    ("footer", Kind::Noise),
    ("form", Kind::Block),
    ("h1", Kind::Heading(1)),
    ("h2", Kind::Heading(2)),
    ("h3", Kind::Heading(3)),
    ("h4", Kind::Heading(4)),
    ("h5", Kind::Heading(5)),
    ("h6", Kind::Heading(6)),
    ("header", Kind::Block),
    ("hr", Kind::Rule),
    ("iframe", Kind::Raw),
    ("img", Kind::Image),
    ("li", Kind::Item),
    ("main", Kind::Main),
    ("math", Kind::Noise),
    ("menu", Kind::List),
    ("nav", Kind::Noise),
    ("noembed", Kind::Raw),
    ("noframes", Kind::Raw),
    ("object", Kind::Noise),
    ("ol", Kind::Numbered),
    ("option", Kind::Block),
    ("p", Kind::Block),
    ("pre", Kind::Pre),
    ("script", Kind::Raw),
    ("section", Kind::Block),
    ("select", Kind::Noise),
    ("style", Kind::Raw),
    ("summary", Kind::Block),
    ("svg", Kind::Noise),
    ("table", Kind::Table),
    ("td", Kind::Cell),
    ("template", Kind::Noise),
    ("textarea", Kind::Raw),
    ("th", Kind::Cell),
    ("title", Kind::Title),
    ("tr", Kind::Row),
    ("ul", Kind::List),
    ("video", Kind::Noise),
    ("xmp", Kind::Raw),
];

/// How many tags are known.
pub(super) const KNOWN: usize = TAGS.len();

impl Tag {
    fn named(name: &str) -> Option<Tag> {
        let name = name.to_ascii_lowercase();
        let place = TAGS.binary_search_by(|(known, _)| (*known).cmp(&name)).ok()?;
        u8::try_from(place).ok().map(Tag)
    }

    /// What it is.
    pub(super) fn kind(self) -> Kind {
        TAGS.get(self.place()).map_or(Kind::Block, |(_, kind)| *kind)
    }

    /// Its place among those that are known.
    pub(super) fn place(self) -> usize {
        usize::from(self.0)
    }

    fn name(self) -> &'static str {
        TAGS.get(self.place()).map_or("", |(name, _)| name)
    }
}

/// A piece of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// What is read.
    Text(Cow<'a, str>),
    /// Something begins.
    Start {
        tag: Tag,
        /// Where a link leads, what a picture shows, what code is written in.
        value: Option<Cow<'a, str>>,
        /// Not for readers.
        is_noise: bool,
        /// The page's own part of the page.
        is_main: bool,
    },
    /// It ends.
    End(Tag),
}

/// The pieces of a page, and whether some are left out because there are too many.
pub(super) fn tokens(html: &str) -> (Vec<Token<'_>>, bool) {
    let mut reader = Reader { rest: html, tokens: Vec::new() };
    while !reader.rest.is_empty() {
        if reader.tokens.len() >= MOST {
            return (reader.tokens, true);
        }
        reader.step();
    }
    (reader.tokens, false)
}

struct Reader<'a> {
    rest: &'a str,
    tokens: Vec<Token<'a>>,
}

impl<'a> Reader<'a> {
    /// Takes a text, or whatever begins with `<`.
    fn step(&mut self) {
        let begins = self.rest.find('<').unwrap_or(self.rest.len());
        if begins > 0 {
            let text = self.take(begins);
            self.tokens.push(Token::Text(entities::decoded(text)));
            return;
        }
        let after = self.rest.as_bytes().get(1).copied().unwrap_or(b' ');
        match after {
            b'!' if self.rest.starts_with("<!--") => self.skip_past("-->"),
            b'!' | b'?' => self.skip_past(">"),
            b'/' if self.rest.as_bytes().get(2).is_some_and(u8::is_ascii_alphabetic) => {
                self.take(2);
                let tag = self.tag();
                self.tokens.extend(tag.and_then(|(tag, _)| tag).map(Token::End));
            }
            b'/' => self.skip_past(">"),
            letter if letter.is_ascii_alphabetic() => {
                self.take(1);
                self.start();
            }
            _ => {
                let text = self.take(1);
                self.tokens.push(Token::Text(Cow::Borrowed(text)));
            }
        }
    }

    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        taken
    }

    /// Goes past the next of these; to the end where there is none.
    fn skip_past(&mut self, end: &str) {
        let at = self.rest.find(end).map_or(self.rest.len(), |at| at + end.len());
        self.take(at);
    }

    fn start(&mut self) {
        let Some((Some(tag), attributes)) = self.tag() else { return };
        let kind = tag.kind();
        let value = match kind {
            Kind::Anchor | Kind::Base => attributes.href,
            Kind::Image => attributes.alt,
            Kind::Code | Kind::Pre => attributes.class,
            _ => None,
        };
        let is_noise = matches!(kind, Kind::Noise | Kind::Title) || attributes.is_noise;
        let is_main = kind == Kind::Main || attributes.is_main;
        match kind {
            Kind::Raw => self.skip_raw(tag),
            Kind::Title => {
                let text = self.raw(tag);
                self.tokens.push(Token::Start { tag, value, is_noise, is_main });
                self.tokens.push(Token::Text(entities::decoded(text)));
                self.tokens.push(Token::End(tag));
            }
            _ => self.tokens.push(Token::Start { tag, value, is_noise, is_main }),
        }
    }

    fn skip_raw(&mut self, tag: Tag) {
        self.raw(tag);
    }

    /// What stands before a tag's own end, whatever it looks like. The end is left.
    fn raw(&mut self, tag: Tag) -> &'a str {
        let name = tag.name();
        let ends = |at: &usize| {
            let after = self.rest.get(at + 2..at + 2 + name.len());
            after.is_some_and(|after| after.eq_ignore_ascii_case(name))
        };
        let end = self.rest.match_indices("</").map(|(at, _)| at).find(ends);
        self.take(end.unwrap_or(self.rest.len()))
    }

    /// A tag from its name on, past its end. None where the page ends in it.
    fn tag(&mut self) -> Option<(Option<Tag>, Attributes<'a>)> {
        let is_end = |c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>');
        let end = self.rest.find(is_end).unwrap_or(self.rest.len());
        let tag = Tag::named(self.take(end));
        let mut attributes = Attributes::default();
        loop {
            let skipped =
                self.rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
            self.rest = skipped;
            match self.rest.as_bytes().first() {
                None => return None,
                Some(b'>') => {
                    self.take(1);
                    return Some((tag, attributes));
                }
                Some(_) => {
                    let (name, value) = self.attribute();
                    attributes.note(name, value);
                }
            }
        }
    }

    /// One attribute: its name, and its value as it stands there.
    fn attribute(&mut self) -> (&'a str, &'a str) {
        let is_end = |c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>' | '=');
        // An equals sign in the first place is a part of the name.
        let first = self.rest.chars().next().map_or(0, char::len_utf8);
        let end = self.rest[first..].find(is_end).map_or(self.rest.len(), |at| at + first);
        let name = self.take(end);
        let Some(value) = self.rest.trim_start().strip_prefix('=') else { return (name, "") };
        self.rest = value.trim_start();
        match self.rest.as_bytes().first() {
            Some(quote @ (b'"' | b'\'')) => {
                let quote = char::from(*quote);
                self.take(1);
                let value = self.take(self.rest.find(quote).unwrap_or(self.rest.len()));
                self.take(usize::from(!self.rest.is_empty()));
                (name, value)
            }
            _ => {
                let is_end = |c: char| c.is_ascii_whitespace() || c == '>';
                (name, self.take(self.rest.find(is_end).unwrap_or(self.rest.len())))
            }
        }
    }
}

/// What of a tag's attributes matters.
#[derive(Debug, Default)]
struct Attributes<'a> {
    href: Option<Cow<'a, str>>,
    alt: Option<Cow<'a, str>>,
    class: Option<Cow<'a, str>>,
    is_noise: bool,
    is_main: bool,
}

impl<'a> Attributes<'a> {
    fn note(&mut self, name: &str, value: &'a str) {
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        let slot = match () {
            () if is("href") => &mut self.href,
            () if is("alt") => &mut self.alt,
            () if is("class") => &mut self.class,
            () if is("hidden") => return self.is_noise = true,
            () if is("aria-hidden") => return self.is_noise |= value.eq_ignore_ascii_case("true"),
            () if is("role") => {
                let role = value.trim().to_ascii_lowercase();
                self.is_noise |=
                    matches!(&*role, "navigation" | "contentinfo" | "search" | "complementary");
                self.is_main |= role == "main";
                return;
            }
            () => return,
        };
        // Of one that is given twice the first counts.
        slot.get_or_insert_with(|| entities::decoded(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(html: &str, expected: &str) {
        let told = tokens(html).0.into_iter().map(|token| match token {
            Token::Text(text) => format!("{text:?}"),
            Token::Start { tag, value, is_noise, is_main } => {
                let noise = if is_noise { "!" } else { "" };
                let main = if is_main { "*" } else { "" };
                let value = value.map(|value| format!("={value}")).unwrap_or_default();
                format!("<{noise}{main}{}{value}>", tag.name())
            }
            Token::End(tag) => format!("</{}>", tag.name()),
        });
        assert_eq!(told.collect::<Vec<_>>().join(" "), expected, "{html}");
    }

    #[test]
    fn the_names_stand_in_order() {
        assert!(TAGS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn tags_are_told_from_text_as_a_browser_does() {
        check("a<p class=x>b</P >c", r#""a" <p> "b" </p> "c""#);
        check("<A HREF='x&amp;y' href=z>t</a>", r#"<a=x&y> "t" </a>"#);
        check("1 < 2 & <3", r#""1 " "<" " 2 & " "<" "3""#);
        check("<a href=/x/>y", r#"<a=/x/> "y""#);
        check("<img alt = \"a > b\" src=x>c", r#"<img=a > b> "c""#);
        check("<b>x</b><custom-tag a=1>y", r#""x" "y""#);
        check("<!doctype html><!-- <p> --><?xml?>x", r#""x""#);
        check("<script>if (a<b) '</p>'</SCRIPT>x", r#"</script> "x""#);
        check("<title>a <b> &amp; c</title>", r#"<!title> "a <b> & c" </title> </title>"#);
        check("<div hidden>x</div>", r#"<!div> "x" </div>"#);
        check("<div role=Navigation><div role=main>", "<!div> <*div>");
        check("<pre class='language-rust'>", "<pre=language-rust>");
    }

    #[test]
    fn what_is_left_open_ends_with_the_page() {
        for (html, expected) in [
            ("x<p class=\"never closed><p>", r#""x""#),
            ("x<!-- never closed <p>", r#""x""#),
            ("x<script>never closed <p>", r#""x""#),
            ("x</", r#""x" "#),
            ("<", r#""<""#),
            ("x<a =", r#""x""#),
        ] {
            check(html, expected.trim_end());
        }
    }
}
