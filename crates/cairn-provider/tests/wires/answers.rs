//! What is made of answers that come whole, however a server cuts them into pieces.

use crate::kit::{
    SCRIPT, WIRES, answer_to, ask, ask_and_listen, http, once, request, script, server, show,
    stream,
};
use cairn_provider::http::{Config, Wire};
use cairn_provider::scripted::{Player, Script, render_whole};
use cairn_provider::{Answer, Message, Part, Provider};
use cairn_testkit::ModelServer;
use cairn_types::{Finish, Usage};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The first reply of the script, in one line.
const FIRST: &str = r#"Calls "I look – once." thought "let me see" call_1_1=bash({"command":"printf 'é\n'"}) call_1_2=read({"path":"a"}) 10+5 cached 4+0 thought 2"#;

#[tokio::test]
async fn a_script_gives_the_same_answer_in_process_and_over_http() {
    let (in_process, also_heard) = ask_and_listen(&Player::new(script())).await;
    let in_process = in_process.unwrap();
    for wire in WIRES {
        let server = server();
        let (over_http, heard) = ask_and_listen(&http(&server, wire, once())).await;
        let over_http = over_http.unwrap();
        assert_eq!(Answer { thoughts: Vec::new(), ..over_http.clone() }, in_process, "{wire:?}");
        assert_eq!(heard, also_heard, "{wire:?}");
        let usage = Usage { input: 10, output: 5, cache_read: 4, cache_write: 0, reasoning: 2 };
        assert_eq!(over_http.usage, Some(usage));
        assert_eq!((over_http.finish, over_http.calls.len()), (Finish::Calls, 2));
    }
}

#[tokio::test]
async fn a_whole_object_in_place_of_a_stream_is_an_answer() {
    for wire in WIRES {
        let whole = render_whole(wire, &script().reply(0, "go").unwrap(), "demo-1");
        assert_eq!(answer_to(wire, whole).await, FIRST, "{wire:?}");
    }
    // Gemini lists its chunks when no events are asked for.
    let chunks: Vec<String> = stream(Wire::Gemini)
        .lines()
        .filter_map(|line| line.strip_prefix("data: ").map(str::to_owned))
        .collect();
    assert_eq!(answer_to(Wire::Gemini, format!("[{}]", chunks.join(",\n"))).await, FIRST);
}

#[tokio::test]
async fn line_ends_a_byte_order_mark_and_split_characters_change_nothing() {
    for wire in WIRES {
        let stream = stream(wire);
        assert_eq!(answer_to(wire, stream.replace('\n', "\r\n")).await, FIRST, "{wire:?} CRLF");
        assert_eq!(answer_to(wire, stream.replace('\n', "\r")).await, FIRST, "{wire:?} CR");
        assert_eq!(answer_to(wire, format!("\u{feff}{stream}")).await, FIRST, "{wire:?} BOM");
        let mut response =
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
                .to_vec();
        for byte in stream.bytes() {
            response.extend([b'1', b'\r', b'\n', byte, b'\r', b'\n']);
        }
        response.extend(b"0\r\n\r\n");
        let server = crate::kit::server_of(response);
        let ended = show(ask(&http(&server, wire, once())).await);
        assert_eq!(ended, FIRST, "{wire:?} byte by byte");
    }
}

#[tokio::test]
async fn a_chat_answer_is_complete_only_when_the_server_said_why_it_stopped() {
    let call = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"i","function":{"name":"f","arguments":"{}"}}]}}]}"#;
    let stop = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
    let events =
        |events: &[&str]| events.iter().map(|e| format!("data: {e}\n\n")).collect::<String>();
    let whole = r#"Calls "" i=f({})"#;
    for (body, expected) in [
        (events(&[]), "cut: "),
        (events(&[call]), "cut: "),
        (events(&[call, "[DONE]"]), "cut: "),
        (events(&[call, stop]), whole),
        (events(&[call, stop, "{\"choices"]).trim_end().to_owned(), whole),
        // A call that goes on after the finish may be cut as well, unless the end was told.
        (events(&[stop, call]), "cut: "),
        (events(&[stop, call, "[DONE]"]), whole),
        // The last empty line is missing; half an event; half an object.
        (events(&[call, stop]).trim_end().to_owned(), whole),
        (events(&[call, stop]).trim_end_matches("}]}\n\n").to_owned(), "cut: "),
        (r#"{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}"#.to_owned(), "cut: "),
    ] {
        let ended = answer_to(Wire::Chat, &body).await;
        assert!(ended.starts_with(expected), "{body}\n{ended}");
    }
}

#[tokio::test]
async fn the_other_formats_have_ends_of_their_own() {
    let check = async |wire, events: &[&str], expected: &str| {
        let body: String = events.iter().map(|e| format!("data: {e}\n\n")).collect();
        let ended = answer_to(wire, &body).await;
        assert!(ended.starts_with(expected), "{body}\n{ended}");
    };
    let (start, text, stop) = (
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
    );
    let because = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#;
    let end = r#"{"type":"message_stop"}"#;
    let anthropic = Wire::Anthropic;
    check(anthropic, &[start, text, stop, because, end], r#"Stop "a""#).await;
    check(anthropic, &[start, text, stop, because], "cut: ").await;
    check(anthropic, &[start, text, stop, end], "cut: ").await;
    check(anthropic, &[start, text, because, end], "cut: ").await;
    let length = because.replace("end_turn", "max_tokens");
    check(anthropic, &[start, text, stop, &length, end], r#"Length "a""#).await;

    let item = r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"output_text","text":"a"}]}}"#;
    let completed =
        r#"{"type":"response.completed","response":{"status":"completed","output":[]}}"#;
    let incomplete = r#"{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}"#;
    check(Wire::Responses, &[item, completed], r#"Stop "a""#).await;
    check(Wire::Responses, &[item], "cut: ").await;
    check(Wire::Responses, &[item, "[DONE]"], "cut: ").await;
    check(Wire::Responses, &[item, incomplete], r#"Length "a""#).await;

    let part = r#"{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}"#;
    let finished = |reason: &str| format!(r#"{{"candidates":[{{"finishReason":"{reason}"}}]}}"#);
    check(Wire::Gemini, &[part, &finished("STOP")], r#"Stop "a""#).await;
    check(Wire::Gemini, &[part], "cut: ").await;
    check(Wire::Gemini, &[part, &finished("MAX_TOKENS")], r#"Length "a""#).await;
    check(Wire::Gemini, &[part, &finished("SAFETY")], r#"Filtered "a""#).await;
    check(Wire::Gemini, &[part, &finished("MALFORMED_FUNCTION_CALL")], "overloaded: ").await;
    check(Wire::Gemini, &[r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#], r#"Filtered """#)
        .await;
}

#[tokio::test]
async fn gemini_calls_without_ids_get_ids_of_their_own() {
    let call = r#"{"functionCall":{"name":"f","args":{"a":1}}}"#;
    let body = format!(
        "data: {{\"responseId\":\"r\",\"candidates\":[{{\"content\":{{\"parts\":[{call},{call}]}},\"finishReason\":\"STOP\"}}]}}\n\n"
    );
    let expected = r#"Calls "" r_1=f({"a":1}) r_2=f({"a":1})"#;
    assert_eq!(answer_to(Wire::Gemini, body).await, expected);
}

/// Carries a conversation on: the answer, and results of all its calls.
pub fn carry_on(request: &mut cairn_provider::Request, answer: Answer, result: &str) {
    let results: Vec<Message> = answer
        .calls
        .iter()
        .map(|call| Message::Result {
            call: call.id.clone(),
            name: call.name.clone(),
            parts: vec![Part::Text(result.into())],
            failed: false,
        })
        .collect();
    let said = Message::Assistant {
        text: Some(answer.text.into()),
        calls: answer.calls,
        thoughts: answer.thoughts,
    };
    request.messages.extend(std::iter::once(said).chain(results).map(Arc::new));
}

fn without_marks(body: &[u8]) -> String {
    let body = String::from_utf8(body.to_vec()).unwrap();
    body.replace(r#","cache_control":{"type":"ephemeral"}"#, "")
}

#[tokio::test]
async fn a_conversation_grows_byte_by_byte_over_one_connection() {
    for wire in WIRES {
        let server = server();
        let (http, never) = (http(&server, wire, once()), CancellationToken::new());
        let mut request = request();
        let answer = http.ask(&request, &mut |_| {}, &never).await.unwrap();
        carry_on(&mut request, answer, "README");
        let answer = http.ask(&request, &mut |_| {}, &never).await.unwrap();
        assert_eq!(answer.text, "Done.");
        let sent = server.requests();
        let (first, second) = (without_marks(&sent[0]), without_marks(&sent[1]));
        assert!(second.starts_with(first.strip_suffix("]}").unwrap()), "{first}\n{second}");
        let config: Config = crate::kit::config(&server, wire, once());
        assert_eq!(sent[1], cairn_provider::http::render(&config, &request).unwrap());
        assert_eq!(server.connections(), 1, "{wire:?}");
    }
}

#[tokio::test]
async fn cached_tokens_are_counted_alike_in_every_format() {
    let script = SCRIPT.replace(r#""cache_read": 4"#, r#""cache_read": 4, "cache_write": 3"#);
    for wire in WIRES {
        let server = ModelServer::start(Script::parse(&script).unwrap());
        let usage = ask(&http(&server, wire, once())).await.unwrap().usage.unwrap();
        // Gemini does not tell what it wrote.
        let cache_write = if wire == Wire::Gemini { 0 } else { 3 };
        assert_eq!(usage, Usage { input: 10, output: 5, cache_read: 4, cache_write, reasoning: 2 });
    }
}
