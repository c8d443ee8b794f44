//! The bytes of a request. The messages come last and in order, so a conversation that grows keeps
//! every byte it had, and the provider's cache holds.

use crate::{CallText, Message, Request};
use serde::Serialize;
use serde_json::value::RawValue;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    stream: bool,
    stream_options: StreamOptions,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    messages: Vec<Wire<'a>>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: &'a RawValue,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum Wire<'a> {
    System {
        content: &'a str,
    },
    User {
        content: &'a str,
    },
    Assistant {
        content: Option<&'a str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<WireCall<'a>>,
    },
    Tool {
        tool_call_id: &'a str,
        content: &'a str,
    },
}

#[derive(Serialize)]
struct WireCall<'a> {
    id: &'a str,
    r#type: &'static str,
    function: WireFunction<'a>,
}

#[derive(Serialize)]
struct WireFunction<'a> {
    name: &'a str,
    arguments: &'a str,
}

/// The request as it is sent. Fails only when the tools are not a JSON array.
pub fn render(model: &str, request: &Request) -> Result<Vec<u8>, serde_json::Error> {
    let functions: Vec<&RawValue> = match request.tools.trim() {
        "" => Vec::new(),
        tools => serde_json::from_str(tools)?,
    };
    let system = (!request.system.is_empty()).then(|| Wire::System { content: &request.system });
    let body = Body {
        model,
        stream: true,
        stream_options: StreamOptions { include_usage: true },
        tools: functions
            .into_iter()
            .map(|function| Tool { r#type: "function", function })
            .collect(),
        messages: system.into_iter().chain(request.messages.iter().map(|m| wire(m))).collect(),
    };
    serde_json::to_vec(&body)
}

fn wire(message: &Message) -> Wire<'_> {
    match message {
        Message::User { text } => Wire::User { content: text },
        Message::Assistant { text, calls } => Wire::Assistant {
            content: match text.as_deref() {
                // Null is only allowed beside calls, and there an empty text is refused by some.
                None | Some("") => calls.is_empty().then_some(""),
                text => text,
            },
            tool_calls: calls.iter().map(wire_call).collect(),
        },
        Message::Result { call, text } => Wire::Tool { tool_call_id: call, content: text },
    }
}

fn wire_call(call: &CallText) -> WireCall<'_> {
    WireCall {
        id: &call.id,
        r#type: "function",
        function: WireFunction { name: &call.name, arguments: &call.args },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn conversation() -> Vec<Arc<Message>> {
        let call = CallText { id: "c1".into(), name: "bash".into(), args: r#"{"a": 1}"#.into() };
        [
            Message::User { text: "go \"on\"".into() },
            Message::Assistant { text: None, calls: vec![call] },
            Message::Result { call: "c1".into(), text: "é\n".into() },
            Message::Assistant { text: Some("done".into()), calls: vec![] },
        ]
        .map(Arc::new)
        .to_vec()
    }

    fn request(messages: usize, tools: &str) -> Request {
        let messages = conversation()[..messages].to_vec();
        Request { system: "be brief".into(), tools: tools.into(), messages }
    }

    #[test]
    fn a_request_is_written_as_the_api_wants_it() {
        let tools = r#"[{"name":"bash","description":"run","parameters":{"type": "object"}}]"#;
        let bytes = render("m", &request(4, tools)).unwrap();
        expect_test::expect![[r#"{"model":"m","stream":true,"stream_options":{"include_usage":true},"tools":[{"type":"function","function":{"name":"bash","description":"run","parameters":{"type": "object"}}}],"messages":[{"role":"system","content":"be brief"},{"role":"user","content":"go \"on\""},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"bash","arguments":"{\"a\": 1}"}}]},{"role":"tool","tool_call_id":"c1","content":"é\n"},{"role":"assistant","content":"done"}]}"#]]
        .assert_eq(std::str::from_utf8(&bytes).unwrap());
    }

    #[test]
    fn each_request_begins_with_the_bytes_of_the_one_before() {
        for tools in ["", "[]", r#"[{"name":"x"}]"#] {
            for n in 1..4 {
                let earlier = render("m", &request(n, tools)).unwrap();
                let later = render("m", &request(n + 1, tools)).unwrap();
                let shared = earlier.strip_suffix(b"]}").unwrap();
                assert!(later.starts_with(shared), "{n} messages, tools {tools:?}");
                assert_eq!(earlier, render("m", &request(n, tools)).unwrap());
            }
        }
    }

    #[test]
    fn no_tools_means_no_tools_field_and_a_broken_list_is_told() {
        let text = String::from_utf8(render("m", &request(1, "[]")).unwrap()).unwrap();
        assert!(!text.contains("\"tools\""), "{text}");
        assert!(render("m", &request(1, "{}")).is_err());
    }
}
