//! A text that must be seen nowhere but where it is used: keys, passwords, tokens. Knows nothing of
//! where one comes from or what it opens.

use std::fmt;
use zeroize::Zeroizing;

/// A secret. It cannot be printed or stored, is compared in a time that says nothing about it, and
/// is wiped from memory when it is dropped. Only [`Secret::expose`] gives it out.
///
/// It has no `Display`:
/// ```compile_fail
/// println!("{}", cairn_types::Secret::new("hush"));
/// ```
/// and is no part of anything that is written as JSON:
/// ```compile_fail
/// serde_json::to_string(&cairn_types::Secret::new("hush"));
/// ```
#[derive(Clone)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Keeps a secret.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }

    /// The secret itself, for the one place that needs it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

impl PartialEq for Secret {
    /// Looks at every byte, whatever the first ones are. That two differ in length is seen.
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (self.0.as_bytes(), other.0.as_bytes());
        let differ = |so_far: u8, (x, y): (&u8, &u8)| std::hint::black_box(so_far | (x ^ y));
        a.len() == b.len() && a.iter().zip(b).fold(0, differ) == 0
    }
}

impl Eq for Secret {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_seen_only_where_it_is_exposed() {
        let key = Secret::new("sk-very-secret");
        assert_eq!(format!("{key:?} {:?}", Some(&key)), "[secret] Some([secret])");
        assert_eq!(key.expose(), "sk-very-secret");
    }

    #[test]
    fn secrets_are_equal_when_every_byte_is() {
        let check = |a: &str, b: &str| assert_eq!(Secret::new(a) == Secret::new(b), a == b);
        for other in ["abcd", "abce", "zbcd", "abc", "abcde", ""] {
            check("abcd", other);
        }
        check("", "");
    }
}
