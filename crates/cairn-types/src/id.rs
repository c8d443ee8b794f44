//! Names of sessions and runs: short, sortable by age, safe in a path and in an address.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Why a text is not an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a {what} id; one looks like {example}")]
pub struct IdError {
    /// The text that was given.
    pub text: String,
    /// What was expected.
    pub what: &'static str,
    /// A well-formed id.
    pub example: &'static str,
}

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Eight letters of milliseconds, six of randomness: ids made later sort later.
fn encode(prefix: char, at_ms: u64, random: u32) -> String {
    let mut out = String::with_capacity(15);
    out.push(prefix);
    for i in (0..8).rev() {
        out.push(char::from(ALPHABET[(at_ms >> (5 * i)) as usize & 31]));
    }
    for i in (0..6).rev() {
        out.push(char::from(ALPHABET[(random >> (5 * i)) as usize & 31]));
    }
    out
}

fn is_id(prefix: char, text: &str) -> bool {
    text.len() == 15
        && text.starts_with(prefix)
        && text.bytes().skip(1).all(|b| ALPHABET.contains(&b))
}

macro_rules! id {
    ($name:ident, $prefix:literal, $what:literal, $example:literal, $doc:literal) => {
        #[doc = $doc]
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// An id from a time and 30 bits of randomness.
            #[must_use]
            pub fn new(at_ms: u64, random: u32) -> Self {
                Self(encode($prefix, at_ms, random))
            }

            /// The id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                if is_id($prefix, text) {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(IdError { text: text.to_owned(), what: $what, example: $example })
                }
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;
            fn try_from(text: String) -> Result<Self, IdError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0
            }
        }
    };
}

id!(SessionId, 's', "session", "s1k8f3q0c7w2n5b", "A session's name.");
id!(RunId, 'r', "run", "r1k8f3q0c7w2n5b", "A run's name.");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_age_and_survive_a_round_trip() {
        let old = RunId::new(1_000, u32::MAX);
        let new = RunId::new(1_001, 0);
        assert!(old < new);
        assert_eq!(old.as_str().parse::<RunId>(), Ok(old.clone()));
        assert!(old.as_str().parse::<SessionId>().is_err());
        assert!("r../../etc/passw".parse::<RunId>().is_err());
    }
}
