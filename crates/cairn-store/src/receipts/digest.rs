//! SHA-256, HMAC, hex, and the running hash over a run's facts. Knows no table.

use cairn_types::{CanonicalError, ForkPoint, to_canonical};
use hmac::{Hmac, KeyInit, Mac};
use sha2::digest::common::hazmat::{SerializableState, SerializedState};
use sha2::{Digest, Sha256};

/// The hash that stands where there is no receipt or checkpoint.
pub(crate) const ZERO: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// SHA-256 of the parts, one after the other.
pub(crate) fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part));
    hash.finalize().into()
}

/// HMAC-SHA256.
pub(crate) fn hmac_sha256(key: &[u8; 32], message: &[u8]) -> [u8; 32] {
    // RFC 2104 pads a short key with zeros to the block's length; doing so here cannot fail.
    let mut block = [0; 64];
    block[..32].copy_from_slice(key);
    let mut mac = <Hmac<Sha256> as KeyInit>::new(&block.into());
    mac.update(message);
    mac.finalize().into_bytes().into()
}

/// The salted commitment to a content.
pub(crate) fn commitment(salt: &[u8], content: &[u8]) -> String {
    hex(&sha256(&[b"cairn-commit-v1\0", salt, content]))
}

/// Lower-case hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble)]);
    bytes.iter().flat_map(|b| [digit(b >> 4), digit(b & 15)]).collect()
}

/// The bytes of lower-case hex.
pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    let nibble = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    if !text.len().is_multiple_of(2) {
        return None;
    }
    text.as_bytes().chunks_exact(2).map(|p| Some(nibble(p[0])? << 4 | nibble(p[1])?)).collect()
}

/// Exactly `N` bytes of lower-case hex.
pub(crate) fn unhex_array<const N: usize>(text: &str) -> Option<[u8; N]> {
    unhex(text)?.try_into().ok()
}

/// The running SHA-256 over the facts since a run's last receipt. It is kept in the run's row, so
/// that neither a receipt nor a checkpoint ever reads facts back.
#[derive(Clone)]
pub(crate) struct Tail(Sha256);

impl Tail {
    /// After a receipt, or at the beginning of a run that is no fork.
    pub(crate) fn empty() -> Self {
        Tail(Sha256::new())
    }

    /// At the beginning of a run. A fork's first stretch begins with its parent's line, which ties
    /// the fork to it.
    pub(crate) fn first(parent: Option<&ForkPoint>) -> Result<Self, CanonicalError> {
        let mut tail = Tail::empty();
        if let Some(parent) = parent {
            tail.push(&to_canonical(parent)?);
        }
        Ok(tail)
    }

    /// One more line.
    pub(crate) fn push(&mut self, line: &str) {
        self.0.update(line);
        self.0.update(b"\n");
    }

    /// The hash so far.
    pub(crate) fn hash(&self) -> String {
        hex(&self.0.clone().finalize())
    }

    /// As it is kept.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        self.0.serialize().to_vec()
    }

    /// As it was kept.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let state = SerializedState::<Sha256>::try_from(bytes).ok()?;
        Sha256::deserialize(&state).ok().map(Tail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_goes_on_where_it_was_kept() {
        let mut whole = Tail::empty();
        let mut parts = Tail::empty();
        for i in 0..50 {
            let line = "x".repeat(i * 7);
            whole.push(&line);
            parts.push(&line);
            parts = Tail::from_bytes(&parts.to_bytes()).unwrap();
        }
        assert_eq!(whole.hash(), parts.hash());
        assert!(Tail::from_bytes(b"short").is_none());
    }

    #[test]
    fn hex_is_lower_case_and_even() {
        assert_eq!(hex(&[0, 0xab, 0xff]), "00abff");
        assert_eq!(unhex("00abff"), Some(vec![0, 0xab, 0xff]));
        assert_eq!(unhex("00ABff"), None);
        assert_eq!(unhex("0"), None);
    }
}
