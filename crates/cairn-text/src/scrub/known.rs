//! Values that are known to be secret, and the forms they are met in: as they are, line by line, in
//! hex, percent-encoded, as a JSON string, and in base64 wherever in a longer text they stood.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use cairn_types::Secret;

/// Shorter values are words, and a text without them could not be read.
pub(super) const SHORTEST: usize = 8;
/// Of a value of several lines, a line of so many bytes is as good as the whole.
const SHORTEST_LINE: usize = 16;
/// The longest name that a marker has.
const LONGEST_NAME: usize = 48;

/// A value that is known to be secret.
#[derive(Debug, Clone)]
pub struct Known {
    /// What it is called in a marker: where it comes from, or what it is for.
    pub(super) name: String,
    pub(super) value: Secret,
}

impl Known {
    /// A value, and what markers call it.
    #[must_use]
    pub fn new(name: &str, value: &Secret) -> Self {
        let plain = |c: char| if is_of_name(c as u32) { c } else { '-' };
        let name: String = name.chars().map(plain).take(LONGEST_NAME).collect();
        let name = if name.is_empty() { "value".to_owned() } else { name };
        Self { name, value: Secret::new(value.expose().trim()) }
    }

    pub(super) fn is_long_enough(&self) -> bool {
        self.value.expose().len() >= SHORTEST
    }

    /// Every form it is looked for in.
    pub(super) fn forms(&self) -> Vec<Secret> {
        let value = self.value.expose();
        let mut forms = of_one(value);
        let lines = value.lines().map(str::trim);
        let lines = lines.filter(|line| line.len() >= SHORTEST_LINE && !line.starts_with("-----"));
        if value.contains('\n') {
            forms.extend(lines.map(Secret::new));
        }
        forms.retain(|form| form.expose().len() >= SHORTEST);
        forms.sort_by(|a, b| a.expose().cmp(b.expose()));
        forms.dedup();
        forms
    }
}

/// What a name in a marker is made of.
pub(super) fn is_of_name(c: u32) -> bool {
    u8::try_from(c).is_ok_and(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-' | b'.'))
}

fn of_one(value: &str) -> Vec<Secret> {
    let unreserved = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'~');
    let mut forms = vec![
        Secret::new(value),
        each_byte(value, |_| false, |byte| format!("{byte:02X}")),
        each_byte(value, |_| false, |byte| format!("{byte:02x}")),
        each_byte(value, unreserved, |byte| format!("%{byte:02X}")),
        each_byte(value, unreserved, |byte| format!("%{byte:02x}")),
        Secret::new(value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")),
    ];
    for before in 0..3 {
        forms.push(in_base64(value, before, |bytes| STANDARD_NO_PAD.encode(bytes)));
        forms.push(in_base64(value, before, |bytes| URL_SAFE_NO_PAD.encode(bytes)));
    }
    forms
}

/// The value with every byte written like this but those that stay.
fn each_byte(value: &str, stays: impl Fn(u8) -> bool, write: fn(u8) -> String) -> Secret {
    let one = |byte| if stays(byte) { char::from(byte).to_string() } else { write(byte) };
    Secret::new(value.bytes().map(one).collect::<String>())
}

/// What is always the same of it in the base64 of a text in which so many bytes (modulo 3) stand
/// before it.
fn in_base64(value: &str, before: usize, encode: impl Fn(&[u8]) -> String) -> Secret {
    let padded = [&b"\0\0"[..before], value.as_bytes()].concat();
    let encoded = encode(&padded);
    let first = [0, 2, 3][before];
    let last = encoded.len() - usize::from(!padded.len().is_multiple_of(3));
    Secret::new(encoded.get(first..last).unwrap_or_default())
}
