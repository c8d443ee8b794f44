//! What fuzzing starts from: the texts in the tables of the surfaces, read out of their files; the examples that models
//! are shown; and ops as they are printed. Also the words that a grammar is made of.

use crate::actions;
use cairn_surface::envelope::{Stage, Turn};
use cairn_surface::native::{self, Tool};
use cairn_surface::{envelope, heredoc, tags};
use cairn_types::Action;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::json;

/// What the envelopes here repeat, as in their tables.
pub const NONCE: &str = "N-1";
/// So many replies of random ops are printed.
const PRINTED: usize = 60;

/// The strings that stand in Rust source.
fn literals(source: &str) -> Vec<String> {
    let (mut found, mut rest) = (Vec::new(), source);
    while let Some(at) = rest.find(['"', '\'']) {
        let (before, from) = rest.split_at(at);
        let hashes = before.len() - before.trim_end_matches('#').len();
        let is_raw = before.trim_end_matches('#').ends_with('r');
        if let Some(quoted) = from.strip_prefix("'\"'").or_else(|| from.strip_prefix('\'')) {
            rest = quoted;
        } else if is_raw {
            let close = format!("\"{}", "#".repeat(hashes));
            let (text, after) = from[1..].split_once(&close).expect("a raw string ends");
            found.push(text.to_owned());
            rest = after;
        } else {
            let (text, after) = plain(&from[1..]);
            found.push(text);
            rest = after;
        }
    }
    found
}

/// A string with escapes, and what follows it.
fn plain(from: &str) -> (String, &str) {
    let mut text = String::new();
    let mut chars = from.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' => match chars.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some('r') => text.push('\r'),
                Some('0') => text.push('\0'),
                Some('u') => {
                    let (code, after) = chars.as_str()[1..].split_once('}').expect("a code ends");
                    text.extend(u32::from_str_radix(code, 16).ok().and_then(char::from_u32));
                    chars = after.chars();
                }
                Some('\n') => chars = chars.as_str().trim_start().chars(),
                other => text.extend(other),
            },
            c => text.push(c),
        }
    }
    (text, chars.as_str())
}

/// The texts of a table whose texts stand behind `>`.
fn quoted(table: &str) -> Vec<String> {
    let texts = table.lines().filter_map(|line| line.strip_prefix("> "));
    texts.map(|text| plain(&text.replace('"', "\\\"")).0).collect()
}

/// Replies of random ops, always the same.
fn random() -> Vec<Vec<Action>> {
    let mut runner = TestRunner::deterministic();
    let ops = actions::actions();
    let mut one = || ops.new_tree(&mut runner).map(|tree| tree.current()).unwrap_or_default();
    (0..PRINTED).map(|_| one()).collect()
}

pub fn tags() -> Vec<String> {
    let tables = [
        include_str!("../surface/tags/bodies.rs"),
        include_str!("../surface/tags/foreign.rs"),
        include_str!("../surface/tags/heads.rs"),
        include_str!("../surface/tags/labels.rs"),
        include_str!("../surface/tags/notation.rs"),
        include_str!("../surface/tags/properties.rs"),
        include_str!("../surface/tags/prose.rs"),
        include_str!("../surface/tags/recovery.rs"),
    ];
    let examples = native::skins().iter().flat_map(|skin| skin.examples);
    let mut all: Vec<String> = tables.into_iter().flat_map(literals).collect();
    all.extend(examples.map(|example| example.tag.to_owned()));
    all.extend(random().iter().map(|ops| tags::print(ops)));
    all
}

pub fn heredoc() -> Vec<String> {
    let tables =
        [include_str!("../surface/heredoc.txt"), include_str!("../surface/heredoc_broken.txt")];
    let examples = native::skins().iter().flat_map(|skin| skin.examples);
    let mut all: Vec<String> = tables.into_iter().flat_map(quoted).collect();
    all.extend(literals(include_str!("../surface/heredoc_holds.rs")));
    all.extend(examples.map(|example| example.heredoc.to_owned()));
    all.extend(random().iter().map(|ops| heredoc::print(ops)));
    all
}

pub fn envelope() -> Vec<String> {
    let tables = [
        include_str!("../surface/envelope.rs"),
        include_str!("../surface/envelope_calls.rs"),
        include_str!("../surface/envelope_hold.rs"),
    ];
    let nonce = format!("\"nonce\":\"{NONCE}\"");
    let literals = tables.into_iter().flat_map(literals);
    let mut all: Vec<String> = literals.map(|text| text.replace('@', &nonce)).collect();
    let tools: Vec<&'static Tool> = native::tools().iter().collect();
    for stage in [Stage::First, Stage::Next] {
        let turn = Turn { nonce: NONCE, tools: &tools, stage, requires_tool: false };
        let ops = random().into_iter().flatten();
        all.extend(ops.filter_map(|op| envelope::print(&op, &turn)));
        all.push(envelope::print_final(&turn));
    }
    all
}

pub fn messages() -> Vec<String> {
    let mut all = literals(include_str!("../surface/messages.rs"));
    for ops in random() {
        let calls = ops.iter().filter_map(native::call_of).map(|(tool, args)| {
            let arguments = json!(args).to_string();
            json!({"id": "c", "type": "function", "function": {"name": tool.name, "arguments": arguments}})
        });
        let calls: Vec<_> = calls.collect();
        let message = json!({"role": "assistant", "content": "x", "tool_calls": calls});
        all.push(message.to_string());
    }
    all
}

/// Words of the tags and of the formats that are translated.
pub fn tag_words() -> Vec<String> {
    let mut words = names();
    for tag in native::skins().iter().flat_map(|skin| skin.tags) {
        words.extend([format!("<{tag}"), format!("<{tag}>"), format!("</{tag}>")]);
    }
    words.extend(
        [
            "<think>",
            "</think>",
            "[thinking]",
            "[/thinking]",
            "<tool_call>",
            "</tool_call>",
            "<tool_use>",
            "</tool_use>",
            "<name>",
            "</name>",
            "<parameters>",
            "</parameters>",
            "<invoke name=\"",
            "<function=",
            "</function>",
            "<parameter=",
            "[TOOL_CALLS]",
            "[ARGS]",
            "```tool_code\n",
            "```json\n",
            "<|channel|>",
            "<|message|>",
            "<|end|>",
            "<|call|>",
            "<|start|>",
            "<|constrain|>",
            "commentary",
            "analysis",
            "final",
            " to=functions.",
            "<|tool_call>call:",
            "<|\"|>",
            "{\"name\":\"",
            "\"arguments\":{",
            "\"parameters\":",
            "/>",
            "path=\"",
            "path='",
            "status=\"200\"",
            "summary=\"",
            "visibility=\"",
            "manifest",
            "scope=\"1-2\"",
            "<<SEARCH\n",
            "SEARCH\n",
            "<<REPLACE\n",
            "REPLACE\n",
            "<<NEW\n",
            "<<APPEND\n",
            "<<PREPEND\n",
            "<<DELETE\n",
            "&lt;",
            "&quot;",
            "&#x",
            "&#0;",
            "<![CDATA[",
            "]]>",
            "<!--",
            "-->",
        ]
        .map(str::to_owned),
    );
    words
}

/// Words of the heredocs.
pub fn heredoc_words() -> Vec<String> {
    let mut words = names();
    for word in native::skins().iter().flat_map(|skin| skin.words).chain(&["CALL"]) {
        words.extend([
            format!("<<{word}"),
            format!(":{word}"),
            format!("<<{word}1("),
            format!(":{word}1"),
        ]);
    }
    words.extend(
        [
            "<<",
            "::",
            "(",
            ")",
            "[",
            "]",
            "<1,2>",
            "<-3--1>",
            ":/",
            "/i:",
            "$.",
            "$..[?(",
            "//",
            "<<EOF\n",
            "EOF\n",
            "[200]",
            "[404]",
            "[bash]",
            "<think>",
            "</think>",
            "<|channel|>",
            "<|message|>",
            "<|end|>",
            ":{\"path\":\"",
            "<<SEARCH\n",
            "SEARCH\n",
            "<<REPLACE\n",
            "REPLACE\n",
        ]
        .map(str::to_owned),
    );
    words
}

/// Words of the envelope and of messages.
pub fn json_words() -> Vec<String> {
    let mut words = names();
    words.extend(
        [
            "{",
            "}",
            "[",
            "]",
            ":",
            ",",
            "\"",
            "\\\"",
            "\\\\",
            "\\u0000",
            "\\ud800",
            "\\ud83d\\ude00",
            "null",
            "true",
            "false",
            "0",
            "-0",
            "1e999",
            "18446744073709551616",
            "0.1",
            "{\"a\":",
            "[[",
            "{}",
            "\"tool\":",
            "\"args\":",
            "\"nonce\":",
            "\"nonce\":\"N-1\"",
            "\"action\":\"final\"",
            "\"action\":\"tool\"",
            "```json\n",
            "<think>",
            "</think>",
            "\"role\":\"assistant\"",
            "\"content\":",
            "\"tool_calls\":[",
            "\"function\":{",
            "\"name\":",
            "\"arguments\":\"",
            "\"arguments\":{",
            "\"id\":",
            "\"type\":\"function\"",
            "\"function_call\":{",
            "\"reasoning_content\":",
            "we need to ",
        ]
        .map(str::to_owned),
    );
    words
}

/// The names of tools and of their arguments, and marks that mean something anywhere.
fn names() -> Vec<String> {
    let marks = [
        "\n", "\n\n", "`", "```", "\n```\n", "~~~\n", " ", "<", ">", "\"", "'", "=", "\\", "\r\n",
        "*", "**", "://",
    ];
    let mut words: Vec<String> = marks.map(str::to_owned).to_vec();
    for tool in native::tools() {
        words.push(tool.name.to_owned());
        words.extend(tool.params.iter().map(|param| param.name.to_owned()));
    }
    words
}

#[test]
fn the_tables_are_found() {
    let source = r##"check("a\n\"b\"", r#"{"c":1}"#, '"', 'x', "\u{e9}");"##;
    assert_eq!(literals(source), ["a\n\"b\"", "{\"c\":1}", "é"]);
    assert_eq!(quoted("# x\n\n> <<EDIT(a):\"\\n\\\\:EDIT\n1:1 edit"), ["<<EDIT(a):\"\n\\:EDIT"]);
    assert!(tags().len() > 600 && heredoc().len() > 250);
    assert!(envelope().len() > 250 && messages().len() > 150);
}
