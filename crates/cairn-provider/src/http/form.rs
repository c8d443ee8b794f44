//! How a model is asked, as far as it decides the bytes it is sent. Kept in the log, so that a request
//! can be written again as it was, whatever is known of the model by then.

use super::{Config, Wire, render};
use crate::{Abilities, Constraint, Request};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Form {
    wire: String,
    model: String,
    abilities: Abilities,
}

impl Config {
    /// How this model is asked, JSON.
    #[must_use]
    pub fn form(&self) -> String {
        let form = Form {
            wire: self.wire.word().to_owned(),
            model: self.model.clone(),
            abilities: self.abilities.clone(),
        };
        serde_json::to_string(&form).unwrap_or_default()
    }
}

/// The bytes that a model asked like this is sent; `None` when the form or the request cannot be
/// read.
#[must_use]
pub fn render_as(form: &str, request: &Request) -> Option<Vec<u8>> {
    let form: Form = serde_json::from_str(form).ok()?;
    let config = Config {
        abilities: form.abilities,
        ..Config::new("", Wire::of_word(&form.wire)?, "", form.model)
    };
    render(&config, request).ok()
}

/// What holds answers to a form where a model is asked like this; the usual way where that is not known.
#[must_use]
pub fn constraint_of(form: &str) -> Constraint {
    serde_json::from_str::<Form>(form).map(|form| form.abilities.constraint).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Effort, Message};
    use std::sync::Arc;

    #[test]
    fn a_request_is_written_again_as_it_was() {
        let abilities = Abilities { reasoning: true, output: Some(9000), ..Abilities::default() };
        let request = Request {
            messages: vec![Arc::new(Message::user("hello"))],
            effort: Effort::Low,
            ..Request::default()
        };
        for wire in [Wire::Chat, Wire::Responses, Wire::Anthropic, Wire::Gemini] {
            let config =
                Config { abilities: abilities.clone(), ..Config::new("p", wire, "http://x", "m") };
            let sent = render(&config, &request).unwrap();
            assert_eq!(render_as(&config.form(), &request), Some(sent), "{wire:?}");
        }
        assert_eq!(render_as("{}", &request), None);
    }

    #[test]
    fn a_form_names_only_what_is_not_usual_and_one_from_before_is_read() {
        let request = Request {
            schema: Some("{}".into()),
            grammar: Some("root ::= \"x\"".into()),
            ..Request::default()
        };
        for constraint in Constraint::ALL {
            let abilities = Abilities { constraint, ..Abilities::default() };
            let config = Config { abilities, ..Config::new("p", Wire::Chat, "http://x", "m") };
            let is_named = config.form().contains("constraint");
            assert_eq!(is_named, constraint != Constraint::JsonSchema, "{constraint:?}");
            let sent = render(&config, &request).unwrap();
            assert_eq!(render_as(&config.form(), &request), Some(sent), "{constraint:?}");
        }
        let before = r#"{"wire":"chat","model":"m","abilities":{"tools":true}}"#;
        let usual = Config::new("p", Wire::Chat, "http://x", "m");
        assert_eq!(render_as(before, &request), render(&usual, &request).ok());
    }
}
