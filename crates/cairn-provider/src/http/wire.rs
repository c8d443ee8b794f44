//! The wire formats: what each calls itself, where it stands, and who writes and reads it. The
//! writing and reading is the formats' own.

use super::Auth;
use crate::read::Assembly;
use crate::write::Target;
use crate::{Request, anthropic, chat, gemini, responses};

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wire {
    /// OpenAI Chat Completions, which most others speak as well.
    Chat,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Anthropic,
    /// Google Gemini.
    Gemini,
}

impl Wire {
    /// The format as a stable word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Wire::Chat => "chat",
            Wire::Responses => "responses",
            Wire::Anthropic => "anthropic",
            Wire::Gemini => "gemini",
        }
    }

    /// The format that this word means.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Wire> {
        [Wire::Chat, Wire::Responses, Wire::Anthropic, Wire::Gemini]
            .into_iter()
            .find(|wire| wire.word() == word)
    }

    /// What completes "the base_url is that of …".
    pub(crate) fn api(self) -> &'static str {
        match self {
            Wire::Chat => "a Chat Completions API",
            Wire::Responses => "a Responses API",
            Wire::Anthropic => "an Anthropic Messages API",
            Wire::Gemini => "a Gemini API",
        }
    }

    /// Where its inventor puts the key.
    #[must_use]
    pub fn auth(self) -> Auth {
        match self {
            Wire::Chat | Wire::Responses => Auth::Bearer,
            Wire::Anthropic => Auth::Header("x-api-key".to_owned()),
            Wire::Gemini => Auth::Header("x-goog-api-key".to_owned()),
        }
    }

    /// Headers that every request of this format carries.
    pub(crate) fn headers(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Wire::Anthropic => &[("anthropic-version", "2023-06-01")],
            Wire::Chat | Wire::Responses | Wire::Gemini => &[],
        }
    }

    /// The path of a request, the base's own path first. A version that the base names already is
    /// not named twice.
    pub(crate) fn path(self, base: &str, model: &str) -> String {
        let base = base.trim_end_matches('/');
        let versioned = |version: &str| match base.rsplit('/').next() {
            Some("v1" | "v1beta" | "v1alpha") => base.to_owned(),
            // Vertex names version, project and place first.
            Some("google") if base.ends_with("/publishers/google") => base.to_owned(),
            _ => format!("{base}/{version}"),
        };
        match self {
            Wire::Chat => format!("{base}/chat/completions"),
            Wire::Responses => format!("{base}/responses"),
            Wire::Anthropic => format!("{}/messages", versioned("v1")),
            Wire::Gemini => {
                let model = model.strip_prefix("models/").unwrap_or(model);
                format!("{}/models/{model}:streamGenerateContent", versioned("v1beta"))
            }
        }
    }

    /// Query parameters that every request of this format carries.
    pub(crate) fn query(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Wire::Gemini => &[("alt", "sse")],
            Wire::Chat | Wire::Responses | Wire::Anthropic => &[],
        }
    }

    pub(crate) fn render(
        self,
        target: Target<'_>,
        request: &Request,
    ) -> Result<Vec<u8>, serde_json::Error> {
        match self {
            Wire::Chat => chat::render(target, request),
            Wire::Responses => responses::render(target, request),
            Wire::Anthropic => anthropic::render(target, request),
            Wire::Gemini => gemini::render(target, request),
        }
    }

    /// An answer that has not begun, from the model of this origin.
    pub(crate) fn assembly(self, origin: &str, echo_reasoning: bool) -> Box<dyn Assembly> {
        match self {
            Wire::Chat => Box::new(chat::Reply::new(origin, echo_reasoning)),
            Wire::Responses => Box::new(responses::Reply::new(origin)),
            Wire::Anthropic => Box::new(anthropic::Reply::new(origin)),
            Wire::Gemini => Box::new(gemini::Reply::new(origin)),
        }
    }
}
