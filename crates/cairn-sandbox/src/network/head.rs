//! The head of an HTTP/1 message: read up to its end within a bound, and taken apart strictly. What two
//! programs could read differently (a lone LF, a folded line, a space before a colon) is refused.

use tokio::io::{AsyncRead, AsyncReadExt};

/// The most bytes a head may have.
pub(super) const HEAD: usize = 32 * 1024;

/// Fields that are meant for the next hop alone.
const HOP: [&str; 9] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Why a head was not read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unread {
    /// The other side went away, or reading failed.
    Ended,
    /// There was no end within the bound.
    TooLarge,
}

/// Reads up to the end of a head. Gives where it ends in `read`; what follows it is already content.
pub(super) async fn read(
    from: &mut (impl AsyncRead + Unpin),
    read: &mut Vec<u8>,
) -> Result<usize, Unread> {
    let mut seen = 0;
    loop {
        if let Some(end) = end(read, seen) {
            return Ok(end);
        }
        seen = read.len();
        if seen >= HEAD {
            return Err(Unread::TooLarge);
        }
        let mut piece = [0; 2048];
        let room = piece.len().min(HEAD - seen);
        match from.read(&mut piece[..room]).await {
            Ok(0) | Err(_) => return Err(Unread::Ended),
            Ok(n) => read.extend_from_slice(&piece[..n]),
        }
    }
}

/// Where the first empty line ends. One that lone LFs make counts too, and is refused when it is parsed.
fn end(read: &[u8], seen: usize) -> Option<usize> {
    let from = seen.saturating_sub(3);
    (from..read.len()).find_map(|at| match &read[at..] {
        [b'\r', b'\n', b'\r', b'\n', ..] => Some(at + 4),
        [b'\n', b'\n', ..] => Some(at + 2),
        _ => None,
    })
}

/// A head in its parts. Has no `Debug`: fields hold credentials.
pub(super) struct Head<'a> {
    /// The first line.
    pub(super) first: &'a str,
    fields: Vec<(&'a str, &'a [u8])>,
}

impl<'a> Head<'a> {
    /// Takes a head apart. The error says what is wrong with it.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Head<'a>, &'static str> {
        let lines = bytes.strip_suffix(b"\r\n").ok_or("a line does not end with CR LF")?;
        let mut lines = lines
            .split_inclusive(|byte| *byte == b'\n')
            .map(|line| line.strip_suffix(b"\r\n").and_then(clean).ok_or("a line is not clean"));
        let first = lines.next().ok_or("it is empty")??;
        let first = std::str::from_utf8(first).map_err(|_| "its first line is not ASCII")?;
        let mut fields = Vec::new();
        for line in lines {
            fields.push(field(line?).ok_or("a field is malformed")?);
        }
        Ok(Head { first, fields })
    }

    /// The values of a field, by its name in lower case.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        let named = self.fields.iter().filter(move |(known, _)| known.eq_ignore_ascii_case(name));
        named.map(|(_, value)| *value)
    }

    /// Writes the fields that are meant for the other end, without those named besides.
    pub(super) fn pass_on(&self, without: &[&str], to: &mut Vec<u8>) {
        let listed: Vec<&[u8]> =
            self.all("connection").flat_map(|v| v.split(|b| *b == b',')).map(trimmed).collect();
        for (name, value) in &self.fields {
            let is = |other: &&str| other.eq_ignore_ascii_case(name);
            let hop = listed.iter().any(|other| other.eq_ignore_ascii_case(name.as_bytes()));
            if !hop && !HOP.iter().any(is) && !without.iter().any(is) {
                write_field(name, value, to);
            }
        }
    }
}

/// Writes one field as a line.
pub(super) fn write_field(name: &str, value: &[u8], to: &mut Vec<u8>) {
    for piece in [name.as_bytes(), b": ", value, b"\r\n"] {
        to.extend_from_slice(piece);
    }
}

/// A line without control characters, tabs aside.
fn clean(line: &[u8]) -> Option<&[u8]> {
    line.iter().all(|byte| *byte == b'\t' || !byte.is_ascii_control()).then_some(line)
}

fn field(line: &[u8]) -> Option<(&str, &[u8])> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let name = std::str::from_utf8(&line[..colon]).ok()?;
    is_token(name).then(|| (name, trimmed(&line[colon + 1..])))
}

/// Whether a text is what HTTP calls a token, of which names of methods and fields are made.
pub(super) fn is_token(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(fits)
}

fn trimmed(value: &[u8]) -> &[u8] {
    value.trim_ascii()
}
