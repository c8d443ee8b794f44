//! What is quoted or thought asks for nothing.

use super::notation::{Cases, check_all};

#[test]
fn code_spans_and_fences_are_prose() {
    check_all(CODE_SPANS_AND_FENCES_ARE_PROSE);
}

const CODE_SPANS_AND_FENCES_ARE_PROSE: Cases = &[
    (r#"Use `<get path="a"/>` to read."#, r#"- "Use `<get path="a"/>` to read.""#),
    (r#"``<get path="a"/> ` ``"#, r#"- "``<get path="a"/> ` ``""#),
    ("```\n<get path=\"a\"/>\n```", r#"- "```\n<get path="a"/>\n```""#),
    (
        "```xml\n<set path=\"a\">x</set>\n```\n<get path=\"b\"/>",
        r#"read path=b "```xml\n<set path="a">x</set>\n```""#,
    ),
    ("~~~\n<rm path=\"a\"/>\n~~~", r#"- "~~~\n<rm path="a"/>\n~~~""#),
    ("  ```\n<rm path=\"a\"/>\n  ```", r#"- "```\n<rm path="a"/>\n  ```""#),
    (r#"`<get path="a"/>"#, r#"read path=a "`""#),
    (r#"don`t <get path="a"/> it`s"#, r#"- "don`t <get path="a"/> it`s""#),
    ("a ` b\n\n<get path=\"a\"/>\n\nc ` d", r#"read path=a "a ` b\n\n\nc ` d""#),
    ("a ` b\n<get path=\"a\"/>\nc ` d", r#"- ?statement_quoted "a ` b\n<get path="a"/>\nc ` d""#),
    ("```\n<get path=\"a\"/>", r#"- ?quote_unclosed "```\n<get path="a"/>""#),
    ("```\nx\n```\n<get path=\"a\"/>\n```\ny\n```", r#"read path=a "```\nx\n```\n```\ny\n```""#),
    (r#"`a` <get path="a"/> `b`"#, r#"read path=a "`a`  `b`""#),
    ("````\n```\n<get path=\"a\"/>\n```\n````", r#"- "````\n```\n<get path="a"/>\n```\n````""#),
    ("```rust\nlet x = 1;\n```", r#"- "```rust\nlet x = 1;\n```""#),
    (
        r#"`{"name":"bash","arguments":{"command":"ls"}}`"#,
        r#"- "`{"name":"bash","arguments":{"command":"ls"}}`""#,
    ),
    (
        "```json\n{\"name\":\"bash\",\"arguments\":{\"command\":\"ls\"}}\n```",
        r#"- "```json\n{"name":"bash","arguments":{"command":"ls"}}\n```""#,
    ),
    ("```\n<think>\n```\n<get path=\"a\"/>", r#"read path=a "```\n<think>\n```""#),
];

#[test]
fn a_tool_code_fence_is_read() {
    check_all(A_TOOL_CODE_FENCE_IS_READ);
}

const A_TOOL_CODE_FENCE_IS_READ: Cases = &[
    ("```tool_code\n<get path=\"a\"/>\n```", "read path=a ~foreign_call"),
    (
        "So:\n```tool_code\n<get path=\"a\"/>\n<set path=\"b\">x</set>\n```\ndone",
        r#"read path=a; write path=b content=x ~foreign_call "So:\ndone""#,
    ),
    (
        "```tool_code\n<set path=\"a\">x\n```\n<get path=\"b\"/>",
        r#"!write path=a content=x\n; read path=b ~foreign_call ~unclosed"#,
    ),
    ("```tool_code\n```\n", "- ~foreign_call"),
    ("```tool_code\n`<get path=\"a\"/>`\n```", r#"- ~foreign_call "`<get path="a"/>`""#),
    ("~~~tool_code\n<get path=\"a\"/>\n~~~", "read path=a ~foreign_call"),
];

#[test]
fn thoughts_ask_for_nothing() {
    check_all(THOUGHTS_ASK_FOR_NOTHING);
}

const THOUGHTS_ASK_FOR_NOTHING: Cases = &[
    (r#"<think>hm</think><get path="a"/>"#, "read path=a (hm)"),
    (
        "<think>\nI could <rm path=\"x\"/>\n</think>\n<get path=\"a\"/>",
        r#"read path=a (I could <rm path="x"/>)"#,
    ),
    ("<thinking>hm</thinking>text", r#"- "text" (hm)"#),
    ("<reasoning>hm</reasoning>", "- (hm)"),
    (
        r#"[thinking]hm <rm path="x"/>[/thinking]<get path="a"/>"#,
        r#"read path=a (hm <rm path="x"/>)"#,
    ),
    ("[THINK]hm[/THINK]ok", r#"- "ok" (hm)"#),
    ("<think>a</think>b<think>c</think>d", r#"- "bd" (a\nc)"#),
    (
        "<think>a <think>b</think> c</think>d",
        r#"- ~thought_unopened "d" (<think>a <think>b</think> c)"#,
    ),
    ("<think/>x", r#"- "x""#),
    ("<THINK>hm</THINK>x", r#"- "x" (hm)"#),
    (
        "<think>use `</think>` here</think>x",
        r#"- ~thought_unopened "x" (<think>use `</think>` here)"#,
    ),
];

#[test]
fn the_end_of_a_thought_that_began_nowhere_takes_what_was_before() {
    check_all(THE_END_OF_A_THOUGHT_THAT_BEGAN_NOWHERE_TAKES_WHAT_WAS_BEFORE);
}

const THE_END_OF_A_THOUGHT_THAT_BEGAN_NOWHERE_TAKES_WHAT_WAS_BEFORE: Cases = &[
    ("hm, I see\n</think>\n<get path=\"a\"/>", "read path=a ~thought_unopened (hm, I see)"),
    (
        "let me <rm path=\"x\"/> it\n</think><get path=\"a\"/>",
        r#"read path=a ~thought_unopened ?thought_closed (let me <rm path="x"/> it)"#,
    ),
    ("</think>text", r#"- ~thought_unopened "text""#),
    (r#"hm[/thinking]<get path="a"/>"#, "read path=a ~thought_unopened (hm)"),
    (r#"<get path="a"/></thinking>"#, r#"- ~thought_unopened ?thought_closed (<get path="a"/>)"#),
    (
        "<get path=\"z\" ?/>\n</think>ok",
        r#"- ~thought_unopened ?tag_malformed "ok" (<get path="z" ?/>)"#,
    ),
];

#[test]
fn a_thought_that_is_not_closed_goes_on_to_the_end() {
    check_all(A_THOUGHT_THAT_IS_NOT_CLOSED_GOES_ON_TO_THE_END);
}

const A_THOUGHT_THAT_IS_NOT_CLOSED_GOES_ON_TO_THE_END: Cases = &[
    ("<think>hm", "- ~thought_unclosed (hm)"),
    (
        "<think>hm\n<get path=\"a\"/>\n",
        r#"- ~thought_unclosed ?thought_unclosed (hm\n<get path="a"/>)"#,
    ),
    (
        r#"<think>hm <get path="a"/> hm"#,
        r#"- ~thought_unclosed ?thought_unclosed (hm <get path="a"/> hm)"#,
    ),
    (
        "<think>hm\n<get path=\"a\">\nx",
        r#"- ~thought_unclosed ?thought_unclosed (hm\n<get path="a">\nx)"#,
    ),
    ("<think>about <think> tags</think>\n<get path=\"a\"/>\n", "read path=a (about <think> tags)"),
    (
        "<think>hm\n<rm path=\"x\"/> I would\n<get path=\"a\"/>",
        r#"- ~thought_unclosed ?thought_unclosed (hm\n<rm path="x"/> I would\n<get path="a"/>)"#,
    ),
];

#[test]
fn all_marks_of_thoughts_are_known() {
    check_all(ALL_MARKS_OF_THOUGHTS_ARE_KNOWN);
}

const ALL_MARKS_OF_THOUGHTS_ARE_KNOWN: Cases = &[
    (r#"<thought>hm <rm path="x"/></thought>ok"#, r#"- "ok" (hm <rm path="x"/>)"#),
    ("<Think>\n<rm path=\"x\"/>\n</Think>ok", r#"- "ok" (<rm path="x"/>)"#),
    (r#"[think]<rm path="x"/>[/think]ok"#, r#"- "ok" (<rm path="x"/>)"#),
    ("[Thinking]\n<rm path=\"x\"/>\n[/Thinking]\nok", r#"- "ok" (<rm path="x"/>)"#),
    ("[thinking]\n<rm path=\"x\"/>\n", r#"- ~thought_unclosed ?thought_unclosed (<rm path="x"/>)"#),
    ("<think lang=\"en\">\n<rm path=\"x\"/>\n</think>ok", r#"- "ok" (<rm path="x"/>)"#),
    (
        "<think\n<rm path=\"x\"/>\n</think>ok",
        r#"- ~thought_unclosed ?thought_unclosed (<rm path="x"/>\n</think>ok)"#,
    ),
    ("<thinking>\n<rm path=\"x\"/>\n", r#"- ~thought_unclosed ?thought_unclosed (<rm path="x"/>)"#),
    (
        "<think>\nThe reply:\n<rm path=\"x\"/>\n<update status=\"200\">done</update>",
        r#"- ~thought_unclosed ?thought_unclosed (The reply:\n<rm path="x"/>\n<update status="200">done</update>)"#,
    ),
    (r#"<|channel|>commentary<|message|><rm path="x"/><|end|>ok"#, r#"- "ok" (<rm path="x"/>)"#),
    (
        r#"<|channel|>analysis<|message|><rm path="x"/>"#,
        r#"- ~thought_unclosed ?thought_unclosed (<rm path="x"/>)"#,
    ),
    (
        "<|channel>thought\n<rm path=\"x\"/>\n",
        r#"- ~thought_unclosed ?thought_unclosed (<rm path="x"/>)"#,
    ),
    (
        "See [thinking](a.md) first\n<get path=\"a\"/>",
        r#"read path=a "See [thinking](a.md) first""#,
    ),
];

#[test]
fn what_is_quoted_in_other_ways_is_prose() {
    check_all(WHAT_IS_QUOTED_IN_OTHER_WAYS_IS_PROSE);
}

const WHAT_IS_QUOTED_IN_OTHER_WAYS_IS_PROSE: Cases = &[
    ("> <rm path=\"x\"/>\n<get path=\"a\"/>", r#"read path=a "> <rm path="x"/>""#),
    (
        "So:\n\n    <rm path=\"x\"/>\n\n\t<rm path=\"y\"/>\n<get path=\"a\"/>",
        r#"read path=a "So:\n\n    <rm path="x"/>\n\n\t<rm path="y"/>""#,
    ),
    ("So:\n    <get path=\"a\"/>", r#"read path=a "So:""#),
    ("    <get path=\"a\"/>", "read path=a"),
    (
        "<!-- <rm path=\"x\"/>\n<rm path=\"y\"/> --><get path=\"a\"/>",
        r#"read path=a "<!-- <rm path="x"/>\n<rm path="y"/> -->""#,
    ),
    ("<!-- <rm path=\"x\"/>", r#"- ?quote_unclosed "<!-- <rm path="x"/>""#),
    (
        "<tool_response>\n<rm path=\"x\"/>\n</tool_response>\n<get path=\"a\"/>",
        r#"read path=a "<tool_response>\n<rm path="x"/>\n</tool_response>""#,
    ),
    (
        "<function_results>\n{\"name\":\"rm\",\"arguments\":{\"path\":\"x\"}}\n</function_results>\n<get path=\"a\"/>",
        r#"read path=a "<function_results>\n{"name":"rm","arguments":{"path":"x"}}\n</function_results>""#,
    ),
    (
        "<tool_result>\n</tool_result>\n<rm path=\"x\"/>\n<tool_result>\n</tool_result>\n<get path=\"a\"/>",
        r#"read path=a ?quote_unclosed "<tool_result>\n</tool_result>\n<rm path="x"/>\n<tool_result>\n</tool_result>""#,
    ),
    ("<tool_result>\n<rm path=\"x\"/>\n", r#"- ?quote_unclosed "<tool_result>\n<rm path="x"/>""#),
    (
        "<set path=\"a\">\n> x\n\n    y <!-- z\n</set> <get path=\"b\"/>",
        r#"write path=a content=> x\n\n    y <!-- z\n; read path=b"#,
    ),
    ("<set path=\"a\">\n> x</set> <get path=\"b\"/>", "write path=a content=> x; read path=b"),
    ("> </think>\n<get path=\"a\"/>", r#"read path=a "> </think>""#),
    ("<set path=\"a\">use </set> x\n<sh>rm x</sh>\n> y</set>", "- ?closer_alone \"x\\n> y</set>\""),
    ("a > b\n<get path=\"a\"/>", r#"read path=a "a > b""#),
];
