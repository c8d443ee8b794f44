//! Why a model could not be had: a closed set of classes, and a sentence that says what to do.

use std::error::Error;
use std::time::Duration;

/// Why an ask ended without an answer. Its message never holds a key.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// What kind of fault it is.
    pub class: FaultClass,
    /// A sentence for a person, with what to do next.
    pub message: String,
    /// How many requests were made.
    pub attempts: u32,
    /// How long the provider asked to be left alone.
    pub retry_after: Option<Duration>,
    /// What lies beneath it.
    #[source]
    pub source: Option<Box<dyn Error + Send + Sync>>,
    /// Which patience it deserves, where its class alone does not tell.
    pub(crate) trouble: Option<Trouble>,
}

/// What stands behind a fault, as far as it decides how long to go on trying.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The server or its model is still starting.
    WarmUp,
    /// We are asked to slow down.
    RateLimit,
    /// Something between us and the server failed.
    Gateway,
    /// The server failed.
    Server,
}

impl Fault {
    /// A fault of this class, before any request was made.
    #[must_use]
    pub fn new(class: FaultClass, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { class, message, attempts: 0, retry_after: None, source: None, trouble: None }
    }

    /// The same fault, with what lies beneath it.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    pub(crate) fn within(mut self, trouble: Trouble) -> Self {
        self.trouble = Some(trouble);
        self
    }

    pub(crate) fn after(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }
}

macro_rules! classes {
    ($($(#[doc = $doc:literal])* $variant:ident => $word:literal),* $(,)?) => {
        /// The kinds of fault.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum FaultClass { $($(#[doc = $doc])* $variant,)* }

        impl FaultClass {
            /// The class as a stable word.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(FaultClass::$variant => $word,)* }
            }
        }
    };
}

classes! {
    /// The key is missing, wrong, or may not do this.
    Auth => "auth",
    /// There is no such model, or nothing answers at this address.
    NotFound => "not-found",
    /// The provider does not accept the request.
    BadRequest => "bad-request",
    /// The conversation does not fit the model.
    TooLong => "too-long",
    /// Too many requests or tokens in too short a time.
    RateLimited => "rate-limited",
    /// The provider is in trouble.
    Overloaded => "overloaded",
    /// No connection could be made.
    Unreachable => "unreachable",
    /// The provider took too long to begin or to go on.
    Timeout => "timeout",
    /// The answer ended early.
    Cut => "cut",
    /// What came back is not the protocol, or is larger than allowed.
    Garbage => "garbage",
    /// We were told to stop.
    Cancelled => "cancelled",
    /// The account has no money left.
    Quota => "quota",
}

impl FaultClass {
    /// Whether the same request may well succeed a little later.
    #[must_use]
    pub fn is_transient(self) -> bool {
        use FaultClass::{Cut, Overloaded, RateLimited, Timeout, Unreachable};
        matches!(self, RateLimited | Overloaded | Unreachable | Timeout | Cut)
    }
}

/// Foreign text made fit for a sentence: one line, no control or direction characters, bounded.
pub(crate) fn plain(text: &str, max_chars: usize) -> String {
    let mut out = String::new();
    for (n, word) in text.split_whitespace().enumerate() {
        if n > 0 {
            out.push(' ');
        }
        out.extend(word.chars().filter(|c| !is_unprintable(*c)));
        if out.len() > max_chars * 4 {
            break;
        }
    }
    if out.chars().count() > max_chars {
        out = out.chars().take(max_chars - 1).collect();
        out.push('…');
    }
    out
}

fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_is_one_bounded_line_without_control_characters() {
        assert_eq!(plain("a\u{1b}[31m\nb\t\u{202e}c", 500), "a[31m b c");
        assert_eq!(plain(&"é".repeat(600), 500).chars().count(), 500);
        assert_eq!(plain(" ", 500), "");
    }

    #[test]
    fn classes_have_stable_words() {
        assert_eq!(FaultClass::RateLimited.as_str(), "rate-limited");
        assert_eq!(FaultClass::TooLong.as_str(), "too-long");
    }
}
