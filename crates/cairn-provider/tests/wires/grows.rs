//! Whatever is said, shown, called and thought: a conversation that grows keeps its bytes.

use crate::kit::WIRES;
use cairn_provider::http::{Config, render};
use cairn_provider::{Abilities, CallText, Effort, Message, Part, Request, Thought};
use proptest::prelude::*;
use std::sync::Arc;

const MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;

fn words() -> impl Strategy<Value = Arc<str>> {
    prop_oneof!["", " ", "[a-z é日😀\"\\\\\n]{0,12}", "\\{\"a\":[0-9]{1,3}\\}"].prop_map(Arc::from)
}

fn part() -> impl Strategy<Value = Part> {
    let data = || proptest::collection::vec(any::<u8>(), 0..5).prop_map(Arc::from);
    prop_oneof![
        3 => words().prop_map(Part::Text),
        1 => data().prop_map(|data| Part::Image { mime: "image/png".into(), data }),
        1 => data().prop_map(|data| Part::Document {
            mime: "application/pdf".into(),
            name: "a.pdf".into(),
            data,
        }),
    ]
}

fn thought() -> impl Strategy<Value = Thought> {
    let origins = WIRES.map(|wire| format!("{}:m", wire.word()));
    let blocks = [
        r#"{"type":"thinking","thinking":"x","signature":"y"}"#,
        r#"{"text":"","thoughtSignature":"y"}"#,
        r#"{"reasoning_content":"x"}"#,
        "null",
        "{",
    ];
    (
        proptest::sample::select(origins.to_vec()),
        proptest::sample::select(blocks.to_vec()),
        0..4_usize,
    )
        .prop_map(|(origin, block, at)| Thought {
            origin,
            text: "x".into(),
            sealed: Some(block.into()),
            at,
        })
}

/// What is said between two asks: the model's reply, its results, and perhaps words.
fn turn() -> impl Strategy<Value = Vec<Message>> {
    let result = proptest::collection::vec(part(), 0..3);
    let calls = proptest::collection::vec((words(), result, any::<bool>()), 0..3);
    let thoughts = proptest::collection::vec(thought(), 0..3);
    (proptest::option::of(words()), calls, thoughts, proptest::collection::vec(part(), 0..3))
        .prop_map(|(text, calls, thoughts, said)| {
            let call = |(n, args): (usize, &Arc<str>)| CallText {
                id: format!("c{n}"),
                name: "f".into(),
                args: args.clone(),
            };
            let given = calls.iter().map(|(args, _, _)| args).enumerate().map(call).collect();
            let mut turn = vec![Message::Assistant { text, calls: given, thoughts }];
            for (n, (_, parts, failed)) in calls.into_iter().enumerate() {
                turn.push(Message::Result {
                    call: format!("c{n}"),
                    name: "f".into(),
                    parts,
                    failed,
                });
            }
            turn.push(Message::User { parts: said });
            turn
        })
}

/// What the APIs refuse: a message of nothing, and one of the model's that ends in a thought.
fn is_sound(body: &serde_json::Value) -> bool {
    let list = |key: &str| body[key].as_array().cloned().unwrap_or_default();
    let messages = [list("messages"), list("contents")].concat();
    messages.iter().all(|message| {
        let content =
            if message["parts"].is_array() { &message["parts"] } else { &message["content"] };
        let last = content.as_array().map(|blocks| blocks.last());
        !matches!(last, Some(None))
            && last.flatten().is_none_or(|block| block["type"] != "thinking")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_conversation_that_grows_keeps_its_bytes(
        turns in proptest::collection::vec(turn(), 1..5),
        marked in any::<bool>(),
        able in any::<bool>(),
    ) {
        let abilities = Abilities {
            vision: able, pdf: able, reasoning: able, cache_marks: marked, ..Abilities::default()
        };
        for wire in WIRES {
            let config = Config {
                abilities: abilities.clone(),
                ..Config::new("p", wire, "http://host", "m")
            };
            let mut request = Request { effort: Effort::Low, ..Request::default() };
            request.messages.push(Arc::new(Message::user("go")));
            let mut before: Option<String> = None;
            for turn in &turns {
                let body = String::from_utf8(render(&config, &request).unwrap()).unwrap();
                let value: serde_json::Value = serde_json::from_str(&body).unwrap();
                prop_assert!(is_sound(&value), "{}", body);
                let body = body.replace(MARK, "");
                if let Some(before) = before {
                    prop_assert!(body.starts_with(before.strip_suffix("]}").unwrap()), "{}\n{}", before, body);
                }
                before = Some(body);
                request.messages.extend(turn.iter().cloned().map(Arc::new));
            }
        }
    }
}
