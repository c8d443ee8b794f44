//! Where an op's target stands: a path in the project, or an entry by its address
//! `scheme:///path#channel`. Pure; whether anything is there is not known here.

use std::fmt;
use std::str::FromStr;

/// The longest address taken, in bytes: a longer one is reasoning that spilled into a target.
pub const LONGEST_ADDRESS: usize = 512;

/// What a target names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A path in the project, as it was written.
    Path(String),
    /// An entry.
    Entry(Uri),
}

/// The address of an entry, in the one form it is kept by.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Uri {
    /// The scheme, in lower case.
    pub scheme: String,
    /// Host and port, of the schemes that have one.
    pub host: String,
    /// The path without its first slash; empty for all of a scheme. A query is part of it.
    pub path: String,
    /// The channel; the scheme's usual one when absent.
    pub channel: Option<String>,
}

/// Why a text is no address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UriError {
    /// It is too long to be one.
    #[error("the address is {0} bytes long, more than {LONGEST_ADDRESS}")]
    TooLong(usize),
    /// Characters that no address has.
    #[error("the address {0} holds control characters")]
    Control(String),
    /// A path that climbs.
    #[error("{0}: an address has no .. in it")]
    Climbs(String),
    /// Nothing after the scheme, where something must be.
    #[error("{0} names no host")]
    NoHost(String),
    /// It does not begin with a scheme, as every address does.
    #[error("{0} has no scheme")]
    NoScheme(String),
}

/// The schemes whose addresses have a host.
const WITH_HOST: [&str; 7] = ["http", "https", "ws", "wss", "sse", "sses", "mcp"];

impl Place {
    /// Reads a target. What has no scheme is a path, whatever it holds; `file:` is one, too.
    pub fn of(text: &str) -> Result<Place, UriError> {
        match scheme_of(text) {
            None => Ok(Place::Path(text.to_owned())),
            Some("file") => Ok(Place::Path(bare(text))),
            Some(_) => text.parse().map(Place::Entry),
        }
    }
}

/// The scheme that a text begins with, `[a-z][a-z0-9+.-]*://`, if it begins with one.
#[must_use]
pub fn scheme_of(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_once(':')?;
    let mut letters = scheme.chars();
    let is_scheme = letters.next().is_some_and(|c| c.is_ascii_lowercase())
        && letters.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "+.-".contains(c));
    (is_scheme && rest.starts_with("//")).then_some(scheme)
}

/// The path that a `file:` address means.
fn bare(text: &str) -> String {
    let path = text.trim_start_matches("file:").trim_start_matches('/');
    if path.is_empty() { ".".to_owned() } else { path.to_owned() }
}

impl FromStr for Uri {
    type Err = UriError;

    fn from_str(text: &str) -> Result<Uri, UriError> {
        if text.len() > LONGEST_ADDRESS {
            return Err(UriError::TooLong(text.len()));
        }
        if text.chars().any(char::is_control) {
            return Err(UriError::Control(text.escape_debug().to_string()));
        }
        let no_scheme = || UriError::NoScheme(text.to_owned());
        let scheme = scheme_of(text).ok_or_else(no_scheme)?;
        let (_, rest) = text.split_once(':').ok_or_else(no_scheme)?;
        let (rest, channel) = match rest.split_once('#') {
            Some((rest, "")) => (rest, None),
            Some((rest, channel)) => (rest, Some(channel.to_owned())),
            None => (rest, None),
        };
        let (host, path) = match WITH_HOST.contains(&scheme) {
            true => hosted(text, rest)?,
            false => (String::new(), plain(text, rest)?),
        };
        Ok(Uri { scheme: scheme.to_owned(), host, path, channel })
    }
}

/// Host and path of an address that has both.
fn hosted(text: &str, rest: &str) -> Result<(String, String), UriError> {
    let rest = rest.trim_start_matches('/');
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    match host.is_empty() {
        true => Err(UriError::NoHost(text.to_owned())),
        false => Ok((host.to_ascii_lowercase(), path.strip_prefix('/').unwrap_or(path).to_owned())),
    }
}

/// The path of an address without a host: `known://a/b` is `known:///a/b`.
fn plain(text: &str, rest: &str) -> Result<String, UriError> {
    let parts: Vec<&str> = rest.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    match parts.contains(&"..") {
        true => Err(UriError::Climbs(text.to_owned())),
        false => Ok(parts.join("/")),
    }
}

impl Uri {
    /// The same entry by its usual channel.
    #[must_use]
    pub fn entry(&self) -> Uri {
        Uri { channel: None, ..self.clone() }
    }

    /// The last part of its path.
    #[must_use]
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }
}

impl fmt::Display for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slash = if self.path.starts_with('?') { "" } else { "/" };
        write!(f, "{}://{}{slash}{}", self.scheme, self.host, self.path)?;
        match &self.channel {
            Some(channel) => write!(f, "#{channel}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_a_path_or_an_entry_in_one_form() {
        let check = |text: &str, expected: &str| {
            let got = match Place::of(text) {
                Ok(Place::Path(path)) => format!("path {path}"),
                Ok(Place::Entry(uri)) => uri.to_string(),
                Err(why) => format!("error {why}"),
            };
            assert_eq!(got, expected, "{text:?}");
        };
        check("src/a.rs", "path src/a.rs");
        check("a:b", "path a:b");
        check("C:/x", "path C:/x");
        check("#draft.*#i", "path #draft.*#i");
        check("file:///src/a.rs", "path src/a.rs");
        check("file://src/a.rs", "path src/a.rs");
        check("file:///", "path .");
        check("known://a/b", "known:///a/b");
        check("known:///a//./b/", "known:///a/b");
        check("known:/a", "path known:/a");
        check("known:///", "known:///");
        check("known:///a#notes", "known:///a#notes");
        check("known:///a#", "known:///a");
        check("known:///a?b", "known:///a?b");
        check("known:///../x", "error known:///../x: an address has no .. in it");
        check("log:///1/2/3#output", "log:///1/2/3#output");
        check("https://Example.com/a?b=1#headers", "https://example.com/a?b=1#headers");
        check("https://example.com", "https://example.com/");
        check("https://example.com?q", "https://example.com?q");
        check("https:///a", "https://a/");
        check("https://", "error https:// names no host");
        check("sses://Example.com:81/a", "sses://example.com:81/a");
        check("wss:///example.com", "wss://example.com/");
        check("known:///a\nb", "error the address known:///a\\nb holds control characters");
        let long = format!("known:///{}", "x".repeat(600));
        check(&long, "error the address is 609 bytes long, more than 512");
    }

    // keeps: any-path
    #[test]
    fn a_text_without_a_scheme_is_a_path_and_no_address() {
        for text in ["é/z", "日本.md", "😀", "aé", "a/b", "", ":", "é://a", "x"] {
            assert_eq!(Place::of(text), Ok(Place::Path(text.to_owned())));
            assert_eq!(text.parse::<Uri>(), Err(UriError::NoScheme(text.to_owned())));
        }
        let uri: Uri = "known:///é/日#😀".parse().unwrap();
        assert_eq!(uri.to_string(), "known:///é/日#😀");
    }

    #[test]
    fn an_address_that_was_read_is_read_again_as_itself() {
        for text in ["known:///a#b", "https://h:1/x?y", "https://h?y", "known:///", "x+y:///z"] {
            let uri: Uri = text.parse().unwrap();
            assert_eq!(uri.to_string().parse(), Ok(uri));
        }
    }
}
