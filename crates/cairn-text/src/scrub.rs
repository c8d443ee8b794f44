//! Finds secrets in text and puts a marker in the place of each: values that are known, in the
//! encodings they are usually met in, and shapes that only keys have. Decides nothing about where
//! that is done, and keeps nothing it finds.

mod known;
mod pem;
mod shapes;
mod window;

pub use known::Known;
pub use window::Window;

use aho_corasick::{AhoCorasick, Input, Match, MatchKind};
use cairn_types::{Hash, Secret};
use shapes::{SHAPES, Verdict};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// What every marker begins with.
const MARK: &str = "[secret ";

/// No form of a known value is shorter, so each has a head of this length.
const HEAD: usize = known::SHORTEST;
type Head = [u8; HEAD];

/// Finds secrets. Cheap to clone. The same secret gets the same marker from everyone who has the
/// same salt, and a marker says nothing more of it than its kind.
#[derive(Clone)]
pub struct Scrubber(Arc<Rules>);

struct Rules {
    salt: [u8; 32],
    known: Vec<Known>,
    /// Everything that a secret begins with: the heads of known values' forms, and what shapes begin
    /// with. Heads are short, so that it is made in no time.
    begins: AhoCorasick,
    /// By their head the forms, longest first, and which known value each is of.
    forms: HashMap<Head, Vec<(Secret, usize)>>,
    /// All forms and beginnings in order, for telling whether a text ends in half of one.
    sorted: Vec<Secret>,
    longest: usize,
}

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Find {
    /// A known value, by its name.
    Known(String),
    /// What can only be a key, by the name of its kind.
    Key(&'static str),
    /// A password in a URL. Examples and local set-ups have them, too.
    Password,
    /// A marker, in the place of a secret that was found before.
    Marker,
}

/// What stands at a place of a text.
#[derive(Debug, Clone, Copy)]
struct Found {
    from: usize,
    to: usize,
    what: What,
    /// What is of the same class as the secret goes on being part of it.
    goes_on: Option<fn(u8) -> bool>,
}

/// What it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// A known value, by its place among them.
    Known(usize),
    Key(&'static str),
    Password,
    Marker,
}

impl Default for Scrubber {
    /// Knows shapes only.
    fn default() -> Self {
        Scrubber::new([0; 32], Vec::new())
    }
}

impl fmt::Debug for Scrubber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Scrubber").field(&self.0.known).finish()
    }
}

impl Scrubber {
    /// Finds these values besides the shapes. Those too short to be told from words are left out.
    #[must_use]
    pub fn new(salt: [u8; 32], known: impl IntoIterator<Item = Known>) -> Self {
        let known: Vec<Known> = known.into_iter().filter(Known::is_long_enough).collect();
        let mut forms: HashMap<Head, Vec<(Secret, usize)>> = HashMap::new();
        let mut texts: Vec<Secret> = SHAPES.iter().map(|s| Secret::new(s.begins)).collect();
        for (place, one) in known.iter().enumerate() {
            for form in one.forms() {
                if let Some(head) = form.expose().as_bytes().first_chunk() {
                    forms.entry(*head).or_default().push((form.clone(), place));
                }
                texts.push(form);
            }
        }
        for alike in forms.values_mut() {
            alike.sort_by_key(|(form, _)| Reverse(form.expose().len()));
        }
        let shapes = SHAPES.iter().map(|shape| shape.begins.as_bytes());
        let begins = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(shapes.chain(forms.keys().map(|head| &head[..])));
        // Fails only for more bytes of keys than there is memory for; shapes alone always fit.
        let Ok(begins) = begins else { return Scrubber::new(salt, Vec::new()) };
        let longest = texts.iter().map(|text| text.expose().len()).max().unwrap_or(0);
        texts.sort_by(|a, b| a.expose().cmp(b.expose()));
        texts.dedup();
        Scrubber(Arc::new(Rules { salt, known, begins, forms, sorted: texts, longest }))
    }

    /// The same, and these values besides.
    #[must_use]
    pub fn and(&self, more: impl IntoIterator<Item = Known>) -> Self {
        let rules = &self.0;
        let is_new = |one: &Known| {
            one.is_long_enough() && !rules.known.iter().any(|known| known.value == one.value)
        };
        let more: Vec<Known> = more.into_iter().filter(is_new).collect();
        match more.is_empty() {
            true => self.clone(),
            false => Scrubber::new(rules.salt, rules.known.iter().cloned().chain(more)),
        }
    }

    /// The text with a marker in the place of each secret. Markers stay as they are.
    #[must_use]
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            // A secret begins and ends where characters do, so this is text as well.
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    /// The bytes with a marker in the place of each secret.
    #[must_use]
    pub fn bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let (mut out, mut done) = (Vec::new(), 0);
        self.each(bytes, 0, true, |found| {
            if found.what != What::Marker {
                out.extend_from_slice(&bytes[done..found.from]);
                out.extend_from_slice(self.marker(bytes, found).as_bytes());
                done = found.to;
            }
        });
        if done == 0 {
            return Cow::Borrowed(bytes);
        }
        out.extend_from_slice(&bytes[done..]);
        Cow::Owned(out)
    }

    /// What is in a text, in its order.
    #[must_use]
    pub fn finds(&self, text: &str) -> Vec<Find> {
        let mut finds = Vec::new();
        self.each(text.as_bytes(), 0, true, |found| {
            finds.push(match found.what {
                What::Known(place) => Find::Known(self.0.known[place].name.clone()),
                What::Key(name) => Find::Key(name),
                What::Password => Find::Password,
                What::Marker => Find::Marker,
            });
        });
        finds
    }

    /// For a text that comes in pieces.
    #[must_use]
    pub fn window(&self) -> Window {
        Window::new(self.clone())
    }

    fn marker(&self, text: &[u8], found: &Found) -> String {
        let itself = &text[found.from..found.to];
        let (name, secret) = match found.what {
            What::Known(place) => {
                let known = &self.0.known[place];
                (known.name.as_str(), known.value.expose().as_bytes())
            }
            What::Key(name) => (name, itself),
            What::Password => ("password", itself),
            What::Marker => ("marker", itself),
        };
        let tag = Hash::of(&[&self.0.salt, secret].concat()).0;
        format!("{MARK}{name} {:02x}{:02x}]", tag[0], tag[1])
    }

    /// Hands on what stands in the text from `start` on. Gives the place up to which everything is
    /// decided; what follows may become a secret with what comes next.
    fn each(&self, text: &[u8], start: usize, is_end: bool, mut take: impl FnMut(&Found)) -> usize {
        let limit = if is_end { text.len() } else { self.half(text, start) };
        let (mut done, mut from) = (0, start);
        while let Some(hit) = self.0.begins.find(Input::new(text).range(from..)) {
            if hit.start() >= limit {
                break;
            }
            let found = match self.judge(text, done, hit, is_end) {
                Verdict::No => {
                    from = hit.start() + 1;
                    continue;
                }
                Verdict::More => return hit.start(),
                Verdict::Is(found) => self.widened(text, found),
            };
            // Half a known value may reach out of it.
            if limit < found.to && found.goes_on.is_none() && !is_end && found.to < text.len() {
                return hit.start();
            }
            take(&found);
            (done, from) = (found.to, found.to);
        }
        limit.max(done)
    }

    /// What begins at a hit, where everything before `done` was found to be something else.
    fn judge(&self, text: &[u8], done: usize, hit: Match, is_end: bool) -> Verdict {
        if let Some((known, to)) = self.known_at(text, hit.start()) {
            let (from, what) = (hit.start(), What::Known(known));
            return Verdict::Is(Found { from, to, what, goes_on: None });
        }
        // Shapes are listed with the longer beginning first.
        let rest = &text[hit.start()..];
        let here = SHAPES.iter().filter(|shape| rest.starts_with(shape.begins.as_bytes()));
        let mut verdicts = here.map(|shape| shape.judge(text, done, hit.start(), is_end));
        verdicts.find(|verdict| !matches!(verdict, Verdict::No)).unwrap_or(Verdict::No)
    }

    /// The known value that stands here in one of its forms, and where it ends.
    fn known_at(&self, text: &[u8], at: usize) -> Option<(usize, usize)> {
        let rest = &text[at..];
        let alike = self.0.forms.get(rest.first_chunk::<HEAD>()?)?;
        let (form, known) =
            alike.iter().find(|(form, _)| rest.starts_with(form.expose().as_bytes()))?;
        Some((*known, at + form.expose().len()))
    }

    /// A known value that begins in what was found, and ends behind it, belongs to it; one that is all
    /// of it gives it its name.
    fn widened(&self, text: &[u8], mut found: Found) -> Found {
        let mut from = found.from;
        while found.what != What::Marker && from < found.to {
            let hit = self.0.begins.find(Input::new(text).range(from..));
            let Some(hit) = hit.filter(|hit| hit.start() < found.to) else { break };
            if let Some((known, to)) = self.known_at(text, hit.start()) {
                if hit.start() == found.from && to >= found.to {
                    found.what = What::Known(known);
                }
                found.to = found.to.max(to);
            }
            from = hit.start() + 1;
        }
        found
    }

    /// Where the text ends in something that a secret may begin with; its end when it does not.
    fn half(&self, text: &[u8], start: usize) -> usize {
        let sorted = &self.0.sorted;
        let first = start.max(text.len().saturating_sub(self.0.longest.saturating_sub(1)));
        let is_half = |at: &usize| {
            let end = &text[*at..];
            let place = sorted.partition_point(|begin| begin.expose().as_bytes() < end);
            let begins = |begin: &Secret| begin.expose().as_bytes().starts_with(end);
            // An equal one is a whole beginning; a longer one may still follow it.
            sorted[place..].iter().take(2).any(|b| begins(b) && b.expose().len() > end.len())
        };
        (first..text.len()).find(is_half).unwrap_or(text.len())
    }
}

#[cfg(test)]
mod tests;
