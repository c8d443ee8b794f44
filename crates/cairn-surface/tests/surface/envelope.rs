//! Replies in the envelope, and what is read of them.

use cairn_surface::envelope::{LONGEST_REPLY, LONGEST_TARGET, Stage, Turn, parse};
use cairn_surface::native::{self, Tool};

/// The tools of most turns here.
pub fn some() -> Vec<&'static Tool> {
    let names = ["read", "write", "edit", "find", "remove", "bash", "multi_edit"];
    names.iter().filter_map(|name| native::tool(name)).collect()
}

/// What is read, in one line.
fn said(stage: Stage, requires_tool: bool, text: &str) -> String {
    let tools = some();
    let reading = parse(text, &Turn { nonce: "N-1", tools: &tools, stage, requires_tool });
    let mut parts = Vec::new();
    for op in &reading.ops {
        let action = op.parsed.action.as_ref().expect("an op makes sense");
        parts.push(format!("{} {}", action.op(), action.target()));
    }
    parts.extend(reading.terminal.map(|status| format!("ends {status}")));
    for trouble in &reading.problems {
        assert!(reading.ops.is_empty() && reading.terminal.is_none(), "{text}");
        let kind = trouble.kind.strip_prefix("tool_call_").expect("a reject code");
        parts.push(format!("{kind} {}:{} {}", trouble.at.line, trouble.at.column, trouble.note));
    }
    let repairs = reading.repairs.iter().map(|repair| format!("{}: {}", repair.kind, repair.note));
    let repairs: Vec<String> = repairs.collect();
    if !repairs.is_empty() {
        parts.push(format!("(repaired: {})", repairs.join("; ")));
    }
    if !reading.reasoning.is_empty() {
        parts.push(format!("(thought: {})", reading.reasoning));
    }
    parts.join("  ")
}

/// A first reply of a turn that wants a call. In the text `@` stands for the nonce's field.
pub fn check(text: &str, expected: &str) {
    let text = text.replace('@', r#""nonce":"N-1""#);
    assert_eq!(said(Stage::First, true, &text), expected, "{text}");
}

/// A decision.
pub fn check_next(text: &str, expected: &str) {
    let text = text.replace('@', r#""nonce":"N-1""#);
    assert_eq!(said(Stage::Next, true, &text), expected, "{text}");
}

#[test]
fn one_object_is_one_call() {
    check(r#"{"tool":"read","args":{"path":"a.txt"},@}"#, "read a.txt");
    check(" \n{\"tool\":\"read\",\"args\":{\"path\":\"a.txt\"},@}\n\n", "read a.txt");
    check(r#"{ "nonce" : "N-1" , "args" : { "path" : "a.txt" } , "tool" : "read" }"#, "read a.txt");
    check(
        "{\n  \"tool\": \"read\",\n  \"args\": {\"path\": \"a.txt\", \"first\": 3},\n  \"nonce\": \"N-1\"\n}",
        "read a.txt",
    );
    check(r#"{"tool":"write","args":{"path":"a","content":""},@}"#, "edit a");
    check(
        r#"{"tool":"write","args":{"path":"a","content":"{\"tool\":\"bash\"} } {"},@}"#,
        "edit a",
    );
    check(r#"{"tool":"write","args":{"path":"a","content":"}}}}{{{{ \\"},@}"#, "edit a");
    check(
        r#"{"tool":"write","args":{"path":"a","content":"</think> <think> ```json"},@}"#,
        "edit a",
    );
    check(r#"{"tool":"write","args":{"path":"a","content":"we need to {"},@}"#, "edit a");
    check(
        r#"{"tool":"bash","args":{"command":"echo \"{}\" | tr { }"},@}"#,
        r#"exec echo "{}" | tr { }"#,
    );
    check(r#"{"tool":"bash","args":{"command":"a","background":true,"wake":true},@}"#, "exec a");
    check(r#"{"tool":"edit","args":{"path":"a","old":"x","new":"","all":true},@}"#, "edit a");
    check(r#"{"tool":"edit","args":{"patch":"s/a/b/"},@}"#, "edit patch");
    check(
        r#"{"tool":"multi_edit","args":{"path":"a","edits":[{"old":"x","new":"y"},{"old":"{","new":"}"}]},@}"#,
        "edit a",
    );
    check(r#"{"tool":"find","args":{"tags":["a","b"]},@}"#, "find ");
    check(r#"{"tool":"read","args":{"path":"\u00e9\ud83d\ude00"},@}"#, "read é😀");
    check(r#"{"\u0074ool":"read","args":{"path":"a"},@}"#, "read a");
}

#[test]
fn what_may_stand_around_the_object_is_taken_off_and_reported() {
    check(
        "```json\n{\"tool\":\"read\",\"args\":{\"path\":\"a\"},@}\n```",
        "read a  (repaired: fence: a fence taken off)",
    );
    check(
        "```\n{\"tool\":\"read\",\"args\":{\"path\":\"a\"},@}\n```\n",
        "read a  (repaired: fence: a fence taken off)",
    );
    check(
        r#"```{"tool":"read","args":{"path":"a"},@}```"#,
        "read a  (repaired: fence: a fence taken off)",
    );
    check(
        "````json\n{\"tool\":\"read\",\"args\":{\"path\":\"a\"},@}\n````",
        "read a  (repaired: fence: a fence taken off)",
    );
    check(
        "```json\n{\"tool\":\"write\",\"args\":{\"path\":\"a\",\"content\":\"```\\nx\\n```\"},@}\n```",
        "edit a  (repaired: fence: a fence taken off)",
    );
    check(
        "\u{feff}{\"tool\":\"read\",\"args\":{\"path\":\"a\"},@}",
        "read a  (repaired: edges: characters that show nothing taken off)",
    );
    check(
        "{\"tool\":\"read\",\"args\":{\"path\":\"a\"},@}\u{200b} \u{2060}",
        "read a  (repaired: edges: characters that show nothing taken off)",
    );
    check(
        "\u{200b}```json\n\u{feff}{\"tool\":\"read\",\"args\":{\"path\":\"a\"},@}\n```",
        "read a  (repaired: edges: characters that show nothing taken off; fence: a fence taken off)",
    );
    check(
        "<think>The file first. {\"tool\":\"bash\"}</think>\n{\"tool\":\"read\",\"args\":{\"path\":\"a\"},@}",
        r#"read a  (repaired: thinking: thoughts taken out)  (thought: The file first. {"tool":"bash"})"#,
    );
    check(
        "<thinking>\nhm\n</thinking>{\"tool\":\"read\",\"args\":{\"path\":\"a\"},@}",
        "read a  (repaired: thinking: thoughts taken out)  (thought: hm)",
    );
    check(
        "<think>one</think><think>two</think>\n```json\n{\"tool\":\"read\",\"args\":{\"path\":\"a\"},@}\n```",
        "read a  (repaired: thinking: thoughts taken out; fence: a fence taken off)  (thought: one\ntwo)",
    );
    check(
        r#"the template opened it</think>{"tool":"read","args":{"path":"a"},@}"#,
        "read a  (repaired: thinking: thoughts taken out)  (thought: the template opened it)",
    );
    check(
        "<think></think>\n\n{\"tool\":\"read\",\"args\":{\"path\":\"a\"},@}",
        "read a  (repaired: thinking: thoughts taken out)",
    );
    check(
        r#"<reasoning>a</think>b</reasoning>{"tool":"read","args":{"path":"a"},@}"#,
        "read a  (repaired: thinking: thoughts taken out)  (thought: a</think>b)",
    );
}

#[test]
fn what_is_not_one_object_is_no_call() {
    check("", "invalid_format 1:1 there is nothing but thoughts and blanks");
    check(" \n ", "invalid_format 2:2 there is nothing but thoughts and blanks");
    check(
        "\u{feff}",
        "invalid_format 1:2 there is nothing but thoughts and blanks  (repaired: edges: characters that show nothing taken off)",
    );
    check(
        "<think>only this</think>",
        "invalid_format 1:25 there is nothing but thoughts and blanks  (repaired: thinking: thoughts taken out)  (thought: only this)",
    );
    check("The answer is 4.", "invalid_format 1:1 there is no object");
    check("null", "invalid_format 1:1 there is no object");
    check("[]", "invalid_format 1:1 there is no object");
    check(r#""{}""#, "invalid_format 1:1 something stands before the object");
    check("{}", "invalid_format 1:1 tool is missing");
    check(
        r#"[{"tool":"read","args":{"path":"a"},@}]"#,
        "invalid_format 1:1 a list of one; the object is wanted alone",
    );
    check(
        r#"{"tool":"read","args":{"path":"a"},@"#,
        "invalid_format 1:49 the object is not closed",
    );
    check(r#"{"tool":"read","args":{"path":"a"#, "invalid_format 1:33 the object is not closed");
    check(r#"{"tool":"read","args":{"path":"a"}"#, "invalid_format 1:35 the object is not closed");
    check(
        r#"{"tool":"read","args":{"path":"a"},@,}"#,
        "invalid_format 1:50 it is not JSON: trailing comma",
    );
    check(
        "{'tool':'read','args':{'path':'a'}}",
        "invalid_format 1:2 it is not JSON: key must be a string",
    );
    check(
        r#"{"tool":"read","args":{"path":"a"}"nonce":"N-1"}"#,
        "invalid_format 1:35 it is not JSON: expected `,` or `}`",
    );
    check(
        "{\"tool\":\"read\",\"args\":{\"path\":\"a\nb\"},@}",
        r#"invalid_format 1:32 it is not JSON: control character (\u0000-\u001F) found while parsing a string"#,
    );
    check(
        r#"{"tool":"read","args":{"path":"\ud800"},@}"#,
        "invalid_format 1:38 it is not JSON: unexpected end of hex escape",
    );
}

#[test]
fn nothing_may_stand_around_the_object_but_one_fence() {
    let before = "invalid_format 1:1 something stands before the object";
    check(r#"{aéééé} {"tool":"read","args":{"path":"a"},@}"#, before);
    check(r#"{"tool":} {"tool":"read","args":{"path":"a"},@}"#, before);
    check(
        r#"{"tool":"read","args":{"path":"a"},@} I read it."#,
        "invalid_format 1:50 something stands behind the object",
    );
    check(
        r#"Sure! {"tool":"read","args":{"path":"a"},@}"#,
        "invalid_format 1:1 something stands before the object",
    );
    check(
        r#"{"tool":"read","args":{"path":"a"},@}}"#,
        "invalid_format 1:50 something stands behind the object",
    );
    check(
        "```json\n{\"tool\":\"read\",\"args\":{\"path\":\"a\"},@}",
        "invalid_format 1:1 a fence is not around the object alone",
    );
    check(
        "```json\n{\"tool\":\"read\",\"args\":{\"path\":\"a\"},@}\n```\nDone.",
        "invalid_format 1:1 a fence is not around the object alone",
    );
    check(
        "Here:\n```json\n{\"tool\":\"read\",\"args\":{\"path\":\"a\"},@}\n```",
        "invalid_format 1:1 words stand before the fence",
    );
    check(
        "```json\n```json\n{\"tool\":\"read\",\"args\":{\"path\":\"a\"},@}\n```\n```",
        "invalid_format 2:1 a fence is not around the object alone  (repaired: fence: a fence taken off)",
    );
    check(
        r#"<think>never closed {"tool":"read","args":{"path":"a"},@}"#,
        "invalid_format 1:1 a thought is not closed",
    );
    check(
        r#"<tool_call>{"tool":"read","args":{"path":"a"},@}</tool_call>"#,
        "invalid_format 1:1 something stands before the object",
    );
    check(r#"read(path="a")"#, "invalid_format 1:1 there is no object");
    check(
        r#"{"tool":"read","args":{"path":"a"},@} {}"#,
        "invalid_format 1:50 something stands behind the object",
    );
    check(
        r#"{"tool":"read","args":{"path":"a"},@} {"tool":"#,
        "invalid_format 1:50 something stands behind the object",
    );
    check(
        r#"{"tool":"read","args":{"path":"a"},@} // {braces} "in {words}""#,
        "invalid_format 1:50 something stands behind the object",
    );
}

#[test]
fn thinking_aloud_before_the_object_is_told_as_that() {
    check(
        r#"We need to read it first. {"tool":"read","args":{"path":"a"},@}"#,
        "invalid_format 1:1 preface: thinking aloud before the object",
    );
    check(
        "Plan: read.\n{\"tool\":\"read\",\"args\":{\"path\":\"a\"},@}",
        "invalid_format 1:1 preface: thinking aloud before the object",
    );
    check(
        "let me look\n\n{\"tool\":\"read\",\"args\":{\"path\":\"a\"},@}",
        "invalid_format 1:1 preface: thinking aloud before the object",
    );
    check(
        "I\u{2019}ll read {\"tool\":\"read\",\"args\":{\"path\":\"a\"},@}",
        "invalid_format 1:1 preface: thinking aloud before the object",
    );
    check(
        r#"<think>x</think>Okay, so {"tool":"read","args":{"path":"a"},@}"#,
        "invalid_format 1:17 preface: thinking aloud before the object  (repaired: thinking: thoughts taken out)  (thought: x)",
    );
    check("We need to think about it.", "invalid_format 1:1 there is no object");
}

#[test]
fn the_fields_are_these_and_no_others() {
    check(r#"{"tool":"read","args":{"path":"a"}}"#, "invalid_format 1:1 nonce is missing");
    check(r#"{"tool":"read",@}"#, "invalid_format 1:1 args is missing");
    check(r#"{"args":{"path":"a"},@}"#, "invalid_format 1:1 tool is missing");
    check(
        r#"{"tool":"read","args":{"path":"a"},@,"thought":"x"}"#,
        r#"invalid_format 1:60 there is no field "thought"; the fields are tool, args, nonce"#,
    );
    check(
        r#"{"tool":"read","arguments":{"path":"a"},@}"#,
        r#"invalid_format 1:28 there is no field "arguments"; the fields are tool, args, nonce"#,
    );
    check(
        r#"{"name":"read","args":{"path":"a"},@}"#,
        r#"invalid_format 1:9 there is no field "name"; the fields are tool, args, nonce"#,
    );
    check(
        r#"{"tool":"read","tool":"bash","args":{"path":"a"},@}"#,
        r#"invalid_format 1:28 the key "tool" is there twice"#,
    );
    check(
        r#"{"tool":"read","args":{"path":"a","path":"b"},@}"#,
        r#"invalid_format 1:45 the key "path" is there twice"#,
    );
    check(
        r#"{"tool":"multi_edit","args":{"path":"a","edits":[{"old":"x","old":"z","new":"y"}]},@}"#,
        r#"invalid_format 1:69 the key "old" is there twice"#,
    );
    check(r#"{"tool":["read"],"args":{"path":"a"},@}"#, "invalid_format 1:9 tool must be a string");
    check(r#"{"tool":null,"args":{"path":"a"},@}"#, "invalid_format 1:9 tool must be a string");
    check(
        r#"{"action":"tool","tool":"read","args":{"path":"a"},@}"#,
        "invalid_format 1:11 there is no action before a first result",
    );
    check(r#"{"action":"final",@}"#, "invalid_format 1:11 a tool call is required");
    check(
        r#"{"Tool":"read","args":{"path":"a"},@}"#,
        r#"invalid_format 1:9 there is no field "Tool"; the fields are tool, args, nonce"#,
    );
}

#[test]
fn only_a_second_real_object_makes_more_than_one() {
    check(
        r#"{"tool":"read","args":{"path":"a"},@}{"tool":"read","args":{"path":"b"},@}"#,
        "multiple 1:50 there is a second object",
    );
    check(
        "{\"tool\":\"read\",\"args\":{\"path\":\"a\"},@}\n\n{\"tool\":\"read\",\"args\":{\"path\":\"b\"},@}",
        "multiple 3:1 there is a second object",
    );
    check(
        r#"{"tool":"read","args":{"path":"a"},@},{"tool":"read","args":{"path":"b"},@}"#,
        "multiple 1:51 there is a second object",
    );
    check(
        r#"[{"tool":"read","args":{"path":"a"},@},{"tool":"read","args":{"path":"b"},@}]"#,
        "multiple 1:52 there is a second object",
    );
    check(
        r#"{"tool":"read","args":{"path":"a"},@} then {"x":1}"#,
        "multiple 1:56 there is a second object",
    );
    check(
        "```json\n{\"tool\":\"read\",\"args\":{\"path\":\"a\"},@}\n```\n```json\n{\"tool\":\"read\",\"args\":{\"path\":\"b\"},@}\n```",
        "multiple 5:1 there is a second object  (repaired: fence: a fence taken off)",
    );
    check(
        r#"First {"tool":"read","args":{"path":"a"},@} and {"tool":"read","args":{"path":"b"},@}"#,
        "multiple 1:61 there is a second object",
    );
    check(
        r#"{"tool":"write","args":{"path":"a","content":"{\"x\":1}{\"y\":2}"},@} more"#,
        "invalid_format 1:82 something stands behind the object",
    );
}

#[test]
fn a_first_reply_may_end_where_no_call_is_required() {
    let ends = |text: &str| said(Stage::First, false, text);
    assert_eq!(ends(r#"{"action":"final","nonce":"N-1"}"#), "ends 200");
    assert_eq!(ends(r#"{"tool":"read","args":{"path":"a"},"nonce":"N-1"}"#), "read a");
    assert_eq!(
        ends(r#"{"action":"final","nonce":"N-2"}"#),
        "nonce_invalid 1:27 it is not the nonce of this turn"
    );
    assert_eq!(ends("It is 4."), "invalid_format 1:1 there is no object");
}

#[test]
fn a_turn_without_tools_can_only_end() {
    let turn = Turn { nonce: "n", tools: &[], stage: Stage::First, requires_tool: true };
    assert_eq!(parse(r#"{"action":"final","nonce":"n"}"#, &turn).terminal, Some(200));
    let called = parse(r#"{"tool":"read","args":{"path":"a"},"nonce":"n"}"#, &turn);
    assert_eq!(called.problems[0].note, r#"there is no tool "read" in this turn, nor any other"#);
}

#[test]
fn long_replies_and_long_targets_are_refused() {
    let write = |content: usize| {
        let content = "x".repeat(content);
        format!(r#"{{"tool":"write","args":{{"path":"a","content":"{content}"}},"nonce":"N-1"}}"#)
    };
    let rest = write(0).len();
    check(&write(LONGEST_REPLY - rest), "edit a");
    let long = "output_limit 1:1 the reply is 65537 bytes long; 65536 are the most";
    check(&write(LONGEST_REPLY - rest + 1), long);
    check(&format!("{}{}", " ".repeat(LONGEST_REPLY), "x"), long);
    assert_eq!(said(Stage::Next, true, &"{".repeat(LONGEST_REPLY + 1)), long);
    let read =
        |path: &str| format!(r#"{{"tool":"read","args":{{"path":"{path}"}},"nonce":"N-1"}}"#);
    let longest = "é".repeat(LONGEST_TARGET);
    check(&read(&longest), &format!("read {longest}"));
    let long = "invalid_args 1:23 read: path is 513 characters long; 512 are the most";
    check(&read(&"é".repeat(LONGEST_TARGET + 1)), long);
}

#[test]
fn deep_json_is_refused_and_not_followed() {
    let deep = format!("{}{}", r#"{"args":"#.repeat(5_000), "}".repeat(5_000));
    assert!(said(Stage::First, true, &deep).starts_with("invalid_format"));
    let deep = format!(
        r#"{{"tool":"read","args":{}{},"nonce":"N-1"}}"#,
        "[".repeat(5_000),
        "]".repeat(5_000)
    );
    assert!(said(Stage::First, true, &deep).starts_with("invalid_format"));
}

#[test]
fn a_refusal_shows_its_place_and_leaves_the_words() {
    let tools = some();
    let turn = Turn { nonce: "n", tools: &tools, stage: Stage::First, requires_tool: true };
    let reading = parse("<think>a</think>one\ntwo", &turn);
    assert_eq!((reading.text.as_str(), reading.reasoning.as_str()), ("one\ntwo", "a"));
    assert_eq!(reading.problems[0].snippet, "1:\t<think>a</think>one\n2:\ttwo");
}

#[test]
fn what_ends_a_reply_is_taken_off_behind_the_object() {
    const OBJECT: &str = r#"{"tool":"read","args":{"path":"a"},@}"#;
    const MARKS: &str = "read a  (repaired: marks: marks that end what is said taken off)";
    for end in ["<|im_end|>", "</s>", "<|eot_id|>\n", "<|return|>", "<|end|><|im_end|>", "\n</s> "]
    {
        check(&format!("{OBJECT}{end}"), MARKS);
    }
    check(
        &format!("<|channel|>final<|message|>{OBJECT}<|return|>"),
        "read a  (repaired: thinking: thoughts taken out; marks: marks that end what is said taken off)",
    );
    check(
        &format!("```json\n{OBJECT}\n```<|im_end|>"),
        "read a  (repaired: marks: marks that end what is said taken off; fence: a fence taken off)",
    );
    check(
        &format!("{OBJECT}<think>b</think>"),
        "read a  (repaired: thinking: thoughts taken out)  (thought: b)",
    );
    check(
        &format!("<think>a</think>{OBJECT}\n<think>b</think>\n<think>c</think>"),
        "read a  (repaired: thinking: thoughts taken out)  (thought: a\nb\nc)",
    );
    check(&format!("{OBJECT}<think>b"), "invalid_format 1:50 something stands behind the object");
    check(
        &format!("{OBJECT}<think>b</think> so"),
        "invalid_format 1:50 something stands behind the object",
    );
    check(
        r#"{"tool":"read","args":{"path":"a</s>"#,
        "invalid_format 1:37 the object is not closed",
    );
}

#[test]
fn what_is_wrong_around_an_object_is_said() {
    const OBJECT: &str = r#"{"tool":"read","args":{"path":"a"},@}"#;
    check(
        &format!("Sure:\n```json\n{OBJECT}\n```"),
        "invalid_format 1:1 words stand before the fence",
    );
    check(
        &format!("~~~json\n{OBJECT}\n~~~"),
        "invalid_format 1:1 a fence of tildes is around the object",
    );
    check(&format!("[{OBJECT}]"), "invalid_format 1:1 a list of one; the object is wanted alone");
    check(&format!("[{OBJECT},{OBJECT}]"), "multiple 1:52 there is a second object");
}

#[test]
fn what_somebody_else_says_is_refused() {
    const OBJECT: &str = r#"{"tool":"read","args":{"path":"a"},@}"#;
    for (header, name) in [
        ("<|im_start|>user\n", "<|im_start|>user"),
        ("<|im_start|> Tool\n", "<|im_start|> Tool"),
        ("<|start_header_id|>ipython<|end_header_id|>\n\n", "<|start_header_id|>ipython"),
        ("<|user|>\n", "<|user|>"),
        ("<|observation|>", "<|observation|>"),
        ("<start_of_turn>user\n", "<start_of_turn>user"),
        ("<|start|>functions.read to=assistant<|message|>", "<|start|>functions"),
        ("<|im_start|>user\nhm</think>", "<|im_start|>user"),
    ] {
        let note = format!("invalid_format 1:1 {name:?} stands before it: a turn of somebody else");
        check(&format!("{header}{OBJECT}"), &note);
    }
    const OWN: &str = "read a  (repaired: thinking: thoughts taken out)";
    for header in [
        "<|im_start|>assistant\n",
        "<start_of_turn>model\n",
        "<|im_start|>\n",
        "<|start|>Assistant",
    ] {
        check(&format!("{header}{OBJECT}"), OWN);
    }
}
