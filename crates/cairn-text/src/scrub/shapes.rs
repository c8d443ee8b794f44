//! Shapes that only keys have: how each begins, what follows, and how much of it. Every shape is
//! judged in one pass over a bounded stretch of text, so a text takes linear time.

use super::known::is_of_name;
use super::{Found, MARK, What, pem};

/// What stands where a shape may begin.
pub(super) enum Verdict {
    /// Something else.
    No,
    /// That depends on what follows the text.
    More,
    /// This.
    Is(Found),
}

/// The longest secret that is waited for; what follows it directly is taken for more of it.
const LONGEST: usize = 4096;
/// The longest user and the longest password in a URL.
const LONGEST_USER: usize = 256;

/// A kind of secret.
pub(super) struct Shape {
    /// What it begins with.
    pub(super) begins: &'static str,
    /// What it is called.
    name: &'static str,
    is: Is,
}

/// What makes it one.
enum Is {
    /// So many bytes of a class, of which it all consists, its beginning included.
    Run(Class, usize, Mix),
    /// The same, and its beginning is no part of it.
    After(Class, usize, Mix),
    /// Exactly so many bytes of a class.
    Exactly(Class, usize),
    /// Three parts in base64, with dots between.
    Jwt,
    /// A private key in PEM, up to its last line.
    Pem,
    /// A password before the host of a URL.
    Url,
    /// A marker.
    Marker,
}

type Class = fn(u8) -> bool;

/// What a run must hold besides, so that no word passes for a key.
#[derive(Clone, Copy)]
enum Mix {
    /// Nothing.
    Any,
    /// A digit, and small and large letters or a long stretch without dashes.
    Random,
}

fn alnum(b: u8) -> bool {
    b.is_ascii_alphanumeric()
}

fn word(b: u8) -> bool {
    alnum(b) || b == b'_'
}

fn dashed(b: u8) -> bool {
    word(b) || b == b'-'
}

fn upper(b: u8) -> bool {
    b.is_ascii_uppercase() || b.is_ascii_digit()
}

fn dotted(b: u8) -> bool {
    dashed(b) || b == b'.'
}

fn token(b: u8) -> bool {
    dotted(b) || matches!(b, b'~' | b'+' | b'/' | b'=')
}

const fn run(begins: &'static str, name: &'static str, class: Class, least: usize) -> Shape {
    Shape { begins, name, is: Is::Run(class, least, Mix::Any) }
}

const fn random(begins: &'static str, name: &'static str, class: Class) -> Shape {
    Shape { begins, name, is: Is::Run(class, 20, Mix::Random) }
}

const fn after(begins: &'static str) -> Shape {
    named_before(begins, "authorization")
}

const fn named_before(begins: &'static str, name: &'static str) -> Shape {
    Shape { begins, name, is: Is::After(token, 20, Mix::Random) }
}

/// Every shape. Where one begins like another, the longer beginning comes first.
pub(super) const SHAPES: &[Shape] = &[
    Shape { begins: MARK, name: "marker", is: Is::Marker },
    random("sk-ant-", "anthropic", dashed),
    random("sk-or-", "openrouter", dashed),
    random("sk-", "openai", dashed),
    run("sk_live_", "stripe", alnum, 16),
    run("sk_test_", "stripe", alnum, 16),
    run("rk_live_", "stripe", alnum, 16),
    run("whsec_", "stripe", alnum, 24),
    run("ghp_", "github", alnum, 30),
    run("gho_", "github", alnum, 30),
    run("ghu_", "github", alnum, 30),
    run("ghs_", "github", alnum, 30),
    run("ghr_", "github", alnum, 30),
    run("github_pat_", "github", word, 36),
    random("glpat-", "gitlab", dashed),
    random("xoxa-", "slack", dashed),
    random("xoxb-", "slack", dashed),
    random("xoxp-", "slack", dashed),
    random("xoxr-", "slack", dashed),
    random("xapp-", "slack", dashed),
    Shape { begins: "AKIA", name: "aws", is: Is::Exactly(upper, 16) },
    Shape { begins: "ASIA", name: "aws", is: Is::Exactly(upper, 16) },
    Shape { begins: "AIza", name: "google", is: Is::Exactly(dashed, 35) },
    run("ya29.", "google", dashed, 40),
    random("GOCSPX-", "google", dashed),
    run("AGE-SECRET-KEY-1", "age", upper, 50),
    run("hf_", "huggingface", alnum, 30),
    run("gsk_", "groq", alnum, 40),
    run("xai-", "xai", alnum, 40),
    run("npm_", "npm", alnum, 36),
    run("pypi-Ag", "pypi", dashed, 60),
    run("dop_v1_", "digitalocean", alnum, 60),
    run("SG.", "sendgrid", dotted, 60),
    Shape { begins: "eyJ", name: "jwt", is: Is::Jwt },
    Shape { begins: pem::BEGIN, name: "private-key", is: Is::Pem },
    after("Bearer "),
    after("bearer "),
    after("BEARER "),
    after("Basic "),
    after("basic "),
    after("BASIC "),
    after("uthorization: token "),
    after("uthorization: Token "),
    after("-key\": \""),
    after("-Key\": \""),
    after("-KEY\": \""),
    after("-key\":\""),
    after("-Key\":\""),
    after("-KEY\":\""),
    after("-key: "),
    after("-Key: "),
    after("-KEY: "),
    after("-key:"),
    after("-Key:"),
    after("-KEY:"),
    named_before("secret_access_key = ", "aws"),
    named_before("secret_access_key=", "aws"),
    named_before("SECRET_ACCESS_KEY=", "aws"),
    Shape { begins: "://", name: "password", is: Is::Url },
];

impl Shape {
    /// Whether this is one, at a place where the text has its beginning. Another secret, or none,
    /// ends at `done`.
    pub(super) fn judge(&self, text: &[u8], done: usize, at: usize, is_end: bool) -> Verdict {
        let before = &text[done..at];
        let after = at + self.begins.len();
        let found = |from, to| Found { from, to, what: What::Key(self.name), goes_on: None };
        match self.is {
            Is::Marker => marker(text, at, is_end),
            Is::Url => password(text, after, is_end),
            Is::Pem => match pem::end(text, at, is_end) {
                pem::Ends::At(to) => Verdict::Is(found(at, to)),
                pem::Ends::Later => Verdict::More,
                pem::Ends::Never => Verdict::No,
            },
            Is::Run(class, ..) | Is::Exactly(class, _) if !starts(before, class) => Verdict::No,
            Is::Jwt if !starts(before, dotted) => Verdict::No,
            Is::Jwt => match jwt(text, at) {
                (to, _) if to == text.len() && !is_end && to - at < LONGEST => Verdict::More,
                (to, true) => Verdict::Is(found(at, to)),
                (_, false) => Verdict::No,
            },
            Is::Run(class, least, mix) => self.run(text, (at, after), (class, least, mix), is_end),
            Is::After(class, least, mix) => {
                self.run(text, (after, after), (class, least, mix), is_end)
            }
            Is::Exactly(class, length) => {
                let to = stretch(text, after, class);
                match to - after {
                    n if to == text.len() && !is_end && n <= length => Verdict::More,
                    n if n == length && !text[..to].ends_with(b"EXAMPLE") => {
                        Verdict::Is(found(at, to))
                    }
                    _ => Verdict::No,
                }
            }
        }
    }

    fn run(
        &self,
        text: &[u8],
        (from, after): (usize, usize),
        (class, least, mix): (Class, usize, Mix),
        is_end: bool,
    ) -> Verdict {
        let to = stretch(text, after, class);
        let is_cut = to == text.len() && !is_end;
        if is_cut && to - after < LONGEST {
            return Verdict::More;
        }
        // A sentence may end right behind it.
        let dots = text[after..to].iter().rev().take_while(|b| **b == b'.').count();
        let to = if is_cut { to } else { to - dots };
        if to - after < least || !mix.is_in(&text[after..to]) {
            return Verdict::No;
        }
        let goes_on = is_cut.then_some(class);
        Verdict::Is(Found { from, to, what: What::Key(self.name), goes_on })
    }
}

impl Mix {
    fn is_in(self, run: &[u8]) -> bool {
        let has = |class: fn(&u8) -> bool| run.iter().any(class);
        let longest = || run.split(|b| !alnum(*b)).map(<[u8]>::len).max().unwrap_or(0);
        match self {
            Mix::Any => true,
            Mix::Random => {
                has(u8::is_ascii_digit)
                    && has(u8::is_ascii_alphabetic)
                    && (has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase)
                        || longest() >= 16)
            }
        }
    }
}

/// Where a stretch of a class ends.
fn stretch(text: &[u8], from: usize, class: Class) -> usize {
    from + text[from..].iter().take_while(|b| class(**b)).count()
}

/// Whether one may begin here: nothing of its class stands before, unless that is part of an escape.
/// So no stretch of text is gone through twice for the same shape.
fn starts(before: &[u8], class: Class) -> bool {
    match before {
        [.., b'\\', b'n' | b't' | b'r' | b'b' | b'f'] | [] => true,
        [.., b'%', x, y] if x.is_ascii_hexdigit() && y.is_ascii_hexdigit() => true,
        [.., last] => !word(*last) && !class(*last),
    }
}

/// Where a JSON Web Token ends, or the part of one that stands here, and whether it is whole.
fn jwt(text: &[u8], at: usize) -> (usize, bool) {
    let head = stretch(text, at, dashed);
    if head - at < 10 || text.get(head) != Some(&b'.') {
        return (head, false);
    }
    let body = stretch(text, head + 1, dashed);
    if !text[head + 1..body].starts_with(b"eyJ") || text.get(body) != Some(&b'.') {
        return (body, false);
    }
    let end = stretch(text, body + 1, dashed);
    (end, end - body > 20)
}

/// A marker, which is left as it is.
fn marker(text: &[u8], at: usize, is_end: bool) -> Verdict {
    let name = at + MARK.len();
    let space = stretch(text, name, |b| is_of_name(u32::from(b)));
    let end = space + 6;
    let is_one =
        |tag: &[u8]| matches!(tag, [b' ', hex @ .., b']'] if hex.iter().all(u8::is_ascii_hexdigit));
    match text.get(space..end) {
        None if !is_end && space - name <= 48 => Verdict::More,
        Some(tag) if space > name && is_one(tag) => {
            Verdict::Is(Found { from: at, to: end, what: What::Marker, goes_on: None })
        }
        _ => Verdict::No,
    }
}

/// The password in a URL whose user begins here. Placeholders and what every example has are none.
fn password(text: &[u8], user: usize, is_end: bool) -> Verdict {
    let colon = stretch(text, user, |b| word(b) || b".-~%!$&*+,;=".contains(&b));
    let is_cut = |to: usize| to == text.len() && !is_end && to - user <= LONGEST_USER;
    if is_cut(colon) {
        return Verdict::More;
    }
    if text.get(colon) != Some(&b':') || colon - user > LONGEST_USER {
        return Verdict::No;
    }
    let from = colon + 1;
    // As much as the longest password takes with its `@` and a host's first byte: what follows changes
    // nothing, however the text is cut.
    let most = from + LONGEST_USER + 2;
    let seen = &text[..text.len().min(most)];
    let end = stretch(seen, from, |b| b.is_ascii_graphic() && !br#"/?#:"'<>`\{}|^[]"#.contains(&b));
    if end == text.len() && end < most && !is_end {
        return Verdict::More;
    }
    // A password may hold an `@` itself: the host stands behind the last one.
    let is_host = |b: &u8| alnum(*b) || *b == b'[';
    let is_last = |at: &usize| text[*at] == b'@' && text.get(at + 1).is_some_and(is_host);
    match (from..end.min(most - 1)).rev().find(is_last) {
        Some(to) if !is_placeholder(&text[user..colon], &text[from..to]) => {
            Verdict::Is(Found { from, to, what: What::Password, goes_on: None })
        }
        _ => Verdict::No,
    }
}

fn is_placeholder(user: &[u8], password: &[u8]) -> bool {
    const USUAL: [&[u8]; 12] = [
        b"password",
        b"pass",
        b"passwd",
        b"pwd",
        b"secret",
        b"changeme",
        b"example",
        b"test",
        b"user",
        b"root",
        b"admin",
        b"token",
    ];
    let lower = password.to_ascii_lowercase();
    password.len() < 4
        || password.len() > LONGEST_USER
        || password == user
        || password[0] == b'$'
        || password.iter().all(|b| *b == password[0])
        || USUAL.contains(&&lower[..])
}
