//! Thoughts over the wire: they come back sealed, are kept as text, and go back where they stood.

use crate::answers::carry_on;
use crate::kit::{WIRES, http, once, request, server};
use cairn_provider::http::Wire;
use cairn_provider::{Answer, Provider, Thought};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn thoughts_are_kept_as_text_and_sent_back_where_they_stood() {
    for wire in WIRES {
        let server = server();
        let (client, never) = (http(&server, wire, once()), CancellationToken::new());
        let mut request = request();
        let answer = client.ask(&request, &mut |_| {}, &never).await.unwrap();
        let kept = Thought::write_all(&answer.thoughts);
        assert_eq!(Thought::read_all(&kept), answer.thoughts);
        let thoughts = Thought::read_all(&kept);
        assert_eq!(answer.reasoning, "let me see");
        carry_on(&mut request, Answer { thoughts, ..answer }, "README");
        client.ask(&request, &mut |_| {}, &never).await.unwrap();
        let sent: Value = serde_json::from_slice(&server.requests()[1]).unwrap();
        let found = match wire {
            Wire::Chat => sent["messages"][2]["reasoning_content"].clone(),
            Wire::Responses => sent["input"][1]["encrypted_content"].clone(),
            Wire::Anthropic => sent["messages"][1]["content"][0]["signature"].clone(),
            Wire::Gemini => sent["contents"][1]["parts"][1]["thoughtSignature"].clone(),
        };
        let expected = if wire == Wire::Chat { Value::Null } else { "c2VhbA0001".into() };
        assert_eq!(found, expected, "{wire:?} {sent:#}");
    }
}

#[test]
fn thoughts_that_cannot_be_read_are_none() {
    assert_eq!(Thought::write_all(&[]), "");
    for text in ["", "[redacted]", "{}", "[{\"text\":\"no origin\"}]"] {
        assert_eq!(Thought::read_all(text), [], "{text}");
    }
}
