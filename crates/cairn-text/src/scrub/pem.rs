//! A private key in PEM, also as it stands in a numbered listing, a diff, or a string with `\n` in
//! it. Says only where it ends.

/// What every block in PEM begins with.
pub(super) const BEGIN: &str = "-----BEGIN ";
const DASHES: &[u8] = b"-----";
/// The longest block that is waited for.
const LONGEST: usize = 16 << 10;
/// Fewer bytes of a key are none: somebody writes about keys.
const LEAST: usize = 64;

/// The longest line that a key has.
const LONGEST_LINE: usize = 4096;

/// Where a block ends.
pub(super) enum Ends {
    At(usize),
    /// Not in this text.
    Later,
    /// It is no private key.
    Never,
}

/// Where the private key ends that may begin here.
pub(super) fn end(text: &[u8], at: usize, is_end: bool) -> Ends {
    let is_cut = !is_end && text.len() - at < LONGEST;
    let label = at + BEGIN.len();
    let is_label = |b: &&u8| b.is_ascii_uppercase() || b.is_ascii_digit() || **b == b' ';
    let dashes = label + text[label..].iter().take_while(is_label).take(40).count();
    if is_cut && text.len() < dashes + DASHES.len() {
        return Ends::Later;
    }
    let name = &text[label..dashes];
    let is_private = name.ends_with(b"PRIVATE KEY") || name.ends_with(b"PRIVATE KEY BLOCK");
    if !is_private || !text[dashes..].starts_with(DASHES) {
        return Ends::Never;
    }
    let (mut from, mut key) = (dashes + DASHES.len(), 0);
    loop {
        let (line, next) = line(text, from);
        if let Some(place) = find(&text[from..line], b"-----END ") {
            let last = from + place + b"-----END ".len();
            let close = find(&text[last..line], DASHES).map(|n| last + n + DASHES.len());
            return match (key >= LEAST, close) {
                (false, _) => Ends::Never,
                (true, None) if is_cut && next.is_none() => Ends::Later,
                (true, close) => Ends::At(close.unwrap_or(line)),
            };
        }
        match (own(&text[from..line]), next) {
            _ if from - at > LONGEST => return Ends::At(from),
            (_, None) if is_cut => return Ends::Later,
            (Some(bytes), Some(next)) => (key, from) = (key + bytes, next),
            (Some(bytes), None) if key + bytes >= LEAST => return Ends::At(line),
            (None, _) if key >= LEAST => return Ends::At(from),
            _ => return Ends::Never,
        }
    }
}

/// Where this line ends, and where the next one begins.
fn line(text: &[u8], from: usize) -> (usize, Option<usize>) {
    let rest = &text[from..text.len().min(from + LONGEST_LINE)];
    let real = rest.iter().position(|b| *b == b'\n').map(|n| (n, n + 1));
    let written = find(rest, br"\n").map(|n| (n, n + 2));
    match real.into_iter().chain(written).min() {
        Some((end, next)) => (from + end, Some(from + next)),
        None => (from + rest.len(), None),
    }
}

/// How many bytes of a key a line has, without what a listing or a diff puts around it. None: it is
/// no line of a key.
fn own(line: &[u8]) -> Option<usize> {
    let around = |b: &&u8| b" \t\r\"',\\+->|".contains(b);
    let digits = line.trim_ascii_start().iter().take_while(|b| b.is_ascii_digit()).count();
    let line = match line.trim_ascii_start().split_at(digits) {
        (number, [b':' | b'|' | b'\t' | b' ', rest @ ..]) if !number.is_empty() => rest,
        _ => line,
    };
    let line = &line[line.iter().take_while(around).count()..];
    let line = &line[..line.len() - line.iter().rev().take_while(around).count()];
    let is_key = |b: &u8| b.is_ascii_alphanumeric() || b"+/=".contains(b);
    // Before the key may stand how it is encrypted.
    let is_header = line.windows(2).any(|pair| pair == b": ");
    if is_header { Some(0) } else { line.iter().all(is_key).then_some(line.len()) }
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}
