//! What a provider says about its own errors, read from every vendor's way of saying it: the class,
//! how long to go on trying, and how long to wait. Writes no sentences; those are `peer`'s.

use super::retry;
use crate::FaultClass;
use crate::fault::Trouble;
use reqwest::header::HeaderMap;
use serde_json::Value;
use std::time::Duration;

/// What a provider says about its own error.
#[derive(Debug, Default)]
pub(crate) struct Complaint {
    pub(crate) message: String,
    /// Its `code`, `type`, `status` and the reasons in its details, lower case.
    code: String,
    /// Its `code` where that is a number.
    status: Option<u16>,
    /// How long its body asks us to wait.
    delay: Option<Duration>,
}

impl Complaint {
    /// Reads `{"message","code","type","status","details"}`, a bare string, or `{"detail"}`;
    /// everything in it is optional.
    pub(crate) fn of(error: &Value) -> Self {
        let text = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or("");
        let message = match (error, text("message"), text("detail")) {
            (Value::String(message), _, _) => message,
            (_, "", detail) => detail,
            (_, message, _) => message,
        };
        let number = error.get("code").and_then(Value::as_u64);
        let details = error.get("details").and_then(Value::as_array).into_iter().flatten();
        let mut code = format!("{} {} {}", text("code"), text("type"), text("status"));
        let mut delay = None;
        for detail in details {
            let said = |key: &str| detail.get(key).and_then(Value::as_str);
            code.push(' ');
            code.push_str(said("reason").unwrap_or(""));
            code.push_str(&quota_ids(detail));
            delay = delay.or_else(|| retry::spelled(said("retryDelay")?));
        }
        delay = delay.or_else(|| spoken_delay(message));
        Complaint {
            message: message.to_owned(),
            code: code.to_ascii_lowercase(),
            status: number.and_then(|n| u16::try_from(n).ok()).filter(|n| (400..600).contains(n)),
            delay,
        }
    }

    /// Reads the body of a refusal: JSON in one of the usual shapes, or a page.
    pub(crate) fn of_body(body: &[u8]) -> Self {
        let value = match serde_json::from_slice::<Value>(body) {
            // Gemini wraps what it would have streamed in a list.
            Ok(Value::Array(mut list)) if list.len() == 1 => list.remove(0),
            Ok(value) => value,
            Err(_) => return Complaint { message: page_text(body), ..Complaint::default() },
        };
        Self::of(value.get("error").unwrap_or(&value))
    }

    /// The status that an error inside a stream would have had.
    pub(crate) fn status(&self) -> u16 {
        let table = [
            ("rate_limit", 429),
            ("resource_exhausted", 429),
            ("insufficient_quota", 429),
            ("billing", 402),
            ("api_key", 401),
            ("authentication", 401),
            ("unauthenticated", 401),
            ("permission", 403),
            ("not_found", 404),
            ("request_too_large", 413),
            ("context_length", 400),
            ("invalid_request", 400),
            ("invalid_argument", 400),
            ("invalid_prompt", 400),
            ("deadline_exceeded", 504),
            ("unavailable", 503),
            ("overloaded", 529),
        ];
        let known = || table.iter().find(|(word, _)| self.code.contains(word)).map(|(_, s)| *s);
        self.status.or_else(known).unwrap_or(500)
    }

    /// What kind of fault it is under this status.
    pub(crate) fn class(&self, status: u16) -> FaultClass {
        match status {
            400..=599 if self.is_spent(status) => FaultClass::Quota,
            401 | 403 => FaultClass::Auth,
            413 => FaultClass::TooLong,
            429 => FaultClass::RateLimited,
            408 => FaultClass::Timeout,
            409 => FaultClass::Overloaded,
            400..=599 if self.is_too_long() => FaultClass::TooLong,
            404 | 405 | 300..=399 => FaultClass::NotFound,
            400..=499 if self.code.contains("model_not_found") => FaultClass::NotFound,
            400..=499 if self.code.contains("api_key_invalid") => FaultClass::Auth,
            400..=499 => FaultClass::BadRequest,
            500..=599 => FaultClass::Overloaded,
            _ => FaultClass::Garbage,
        }
    }

    /// Which patience it deserves under this status.
    pub(crate) fn trouble(&self, status: u16) -> Trouble {
        let said = self.message.to_ascii_lowercase();
        let loading = ["loading", "warming up", "starting up", "is being loaded"];
        match status {
            429 => Trouble::RateLimit,
            503 if any(&said, &loading) => Trouble::WarmUp,
            408 | 502 | 504 => Trouble::Gateway,
            _ => Trouble::Server,
        }
    }

    /// How long the provider asks to be left alone, in its headers or in its words.
    pub(crate) fn wait(&self, headers: &HeaderMap) -> Option<Duration> {
        let header = |name: &str| headers.get(name).and_then(|v| v.to_str().ok());
        let date = header("date");
        let millis = || retry::retry_after_ms(header("retry-after-ms")?);
        let after = || retry::retry_after(header("retry-after")?, date);
        let resets = || retry::reset(&header);
        millis().or_else(after).or(self.delay).or_else(resets)
    }

    fn is_spent(&self, status: u16) -> bool {
        let codes = ["insufficient_quota", "insufficient_balance", "billing", "perday"];
        let said = self.message.to_ascii_lowercase();
        let words = ["credit balance is too low", "insufficient balance", "insufficient credits"];
        status == 402 || (status < 500 && (any(&self.code, &codes) || any(&said, &words)))
    }

    fn is_too_long(&self) -> bool {
        let codes = ["context_length", "exceed_context", "context_window"];
        let words = [
            "context length",
            "context window",
            "context size",
            "context limit",
            "prompt is too long",
            "input token count",
        ];
        any(&self.code, &codes) || any(&self.message.to_ascii_lowercase(), &words)
    }
}

fn any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

/// `Please try again in 1.5s.`, which OpenAI says within streams, where there are no headers.
fn spoken_delay(message: &str) -> Option<Duration> {
    let (_, after) = message.split_once("try again in ")?;
    let span = after.split_whitespace().next()?.trim_end_matches(['.', ',']);
    span.ends_with(|c: char| c.is_ascii_alphabetic()).then(|| retry::spelled(span))?
}

/// The quotas that a detail says were exceeded.
fn quota_ids(detail: &Value) -> String {
    let violations = detail.get("violations").and_then(Value::as_array).into_iter().flatten();
    violations.filter_map(|v| v.get("quotaId")?.as_str()).map(|id| format!(" {id}")).collect()
}

fn page_text(body: &[u8]) -> String {
    match body.trim_ascii_start().first() {
        Some(b'<') => "an HTML page".to_owned(),
        _ => String::from_utf8_lossy(body).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(status: u16, body: &str, class: FaultClass) {
        let complaint = Complaint::of_body(body.as_bytes());
        assert_eq!(complaint.class(status), class, "{status} {body}");
    }

    #[test]
    fn every_vendors_words_for_the_same_thing_are_one_class() {
        use FaultClass::{Auth, NotFound, Quota, RateLimited, TooLong};
        // OpenAI, Anthropic twice, Gemini, llama.cpp, vLLM.
        check(400, r#"{"error":{"code":"context_length_exceeded"}}"#, TooLong);
        check(
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}"#,
            TooLong,
        );
        check(
            400,
            r#"{"error":{"message":"input length and `max_tokens` exceed context limit: 1 + 2 > 2"}}"#,
            TooLong,
        );
        check(413, r#"{"error":{"type":"request_too_large"}}"#, TooLong);
        check(
            400,
            r#"{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"The input token count (9) exceeds the maximum number of tokens allowed (8)."}}"#,
            TooLong,
        );
        check(
            400,
            r#"{"error":{"type":"exceed_context_size_error","message":"the request exceeds the available context size"}}"#,
            TooLong,
        );
        check(400, r#"{"message":"This model's maximum context length is 8 tokens"}"#, TooLong);
        // OpenAI, Anthropic, Gemini by day, OpenRouter.
        check(429, r#"{"error":{"code":"insufficient_quota"}}"#, Quota);
        check(
            400,
            r#"{"error":{"message":"Your credit balance is too low to access the API"}}"#,
            Quota,
        );
        check(
            429,
            r#"{"error":{"status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateRequestsPerDayPerProject"}]}]}}"#,
            Quota,
        );
        check(402, r#"{"error":{"message":"more credits are needed","code":402}}"#, Quota);
        check(
            429,
            r#"[{"error":{"status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateRequestsPerMinute"}]}]}}]"#,
            RateLimited,
        );
        check(401, r#"{"type":"error","error":{"type":"authentication_error"}}"#, Auth);
        check(
            400,
            r#"{"error":{"status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}"#,
            Auth,
        );
        check(
            404,
            r#"{"type":"error","error":{"type":"not_found_error","message":"model: x"}}"#,
            NotFound,
        );
    }

    #[test]
    fn the_wait_is_found_wherever_the_provider_put_it() {
        let check = |headers: &[(&'static str, &'static str)], body: &str, millis: Option<u64>| {
            let header = |(name, value): &(&'static str, &'static str)| {
                (name.parse().unwrap(), value.parse().unwrap())
            };
            let headers: HeaderMap = headers.iter().map(header).collect();
            let wait = Complaint::of_body(body.as_bytes()).wait(&headers);
            assert_eq!(wait, millis.map(Duration::from_millis), "{headers:?} {body}");
        };
        check(&[("retry-after", "3"), ("retry-after-ms", "2500")], "", Some(2500));
        check(&[("retry-after", "3")], "", Some(3000));
        let reset = [("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-tokens", "6m0.5s")];
        check(&reset, "", Some(360_500));
        let left = [("x-ratelimit-remaining-tokens", "9"), ("x-ratelimit-reset-tokens", "6m0s")];
        check(&left, "", None);
        let delay = r#"{"error":{"details":[{"retryDelay":"34.5s"}]}}"#;
        check(&[], delay, Some(34_500));
        check(&[], "busy", None);
        let spoken = r#"{"error":{"message":"Limit 30000. Please try again in 1.25s. Visit"}}"#;
        check(&[], spoken, Some(1250));
        check(&[], r#"{"error":{"message":"try again in 2 minutes"}}"#, None);
    }

    #[test]
    fn loading_gateways_limits_and_servers_deserve_different_patience() {
        let check = |status, message: &str, trouble| {
            let complaint = Complaint { message: message.into(), ..Complaint::default() };
            assert_eq!(complaint.trouble(status), trouble, "{status} {message}");
        };
        check(503, "Loading model", Trouble::WarmUp);
        check(503, "no capacity", Trouble::Server);
        check(529, "Overloaded", Trouble::Server);
        check(500, "", Trouble::Server);
        check(502, "", Trouble::Gateway);
        check(504, "", Trouble::Gateway);
        check(429, "", Trouble::RateLimit);
    }
}
