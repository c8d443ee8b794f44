//! JSON that is no call, calls in further formats, and statements that are dropped: that is told.

use super::notation::{Cases, check_all};

#[test]
fn json_that_is_no_call_holds_none() {
    check_all(JSON_THAT_IS_NO_CALL_HOLDS_NONE);
}

const JSON_THAT_IS_NO_CALL_HOLDS_NONE: Cases = &[
    (
        "{\"messages\":[\n{\"text\":\"hi\"},\n{\"name\":\"bash\",\"arguments\":{\"command\":\"rm x\"}}\n]}\n<get path=\"a\"/>",
        r#"read path=a "{"messages":[\n{"text":"hi"},\n{"name":"bash","arguments":{"command":"rm x"}}\n]}""#,
    ),
    (
        "{\"version\":1,\n\"call\":\n{\"name\":\"bash\",\"arguments\":{\"command\":\"rm x\"}}\n}\n<get path=\"a\"/>",
        r#"read path=a "{"version":1,\n"call":\n{"name":"bash","arguments":{"command":"rm x"}}\n}""#,
    ),
    (
        "{\"foo\": \"\n<rm path='v'/>\n\"}\n<get path=\"a\"/>",
        r#"read path=a "{"foo": "\n<rm path='v'/>\n"}""#,
    ),
    (
        "So: {\"messages\":[\n{\"name\":\"bash\",\"arguments\":{\"command\":\"rm x\"}}\n]}\n<get path=\"a\"/>",
        r#"read path=a "So: {"messages":[\n{"name":"bash","arguments":{"command":"rm x"}}\n]}""#,
    ),
    (
        "{\"messages\":[\n{\"name\":\"bash\",\"arguments\":{\"command\":\"rm x\"}}\n",
        r#"- ?statement_quoted "{"messages":[\n{"name":"bash","arguments":{"command":"rm x"}}""#,
    ),
    ("[1, 2]\n[a](b) {x}\n<get path=\"a\"/>", r#"read path=a "[1, 2]\n[a](b) {x}""#),
    ("[\n<get path=\"a\"/>\n]", r#"read path=a "[\n]""#),
    ("{\n<get path=\"a\"/>\n}", r#"read path=a "{\n}""#),
];

#[test]
fn what_is_dropped_is_told() {
    check_all(WHAT_IS_DROPPED_IS_TOLD);
}

const WHAT_IS_DROPPED_IS_TOLD: Cases = &[
    (
        r#"Use `<get path="a"/>` to read."#,
        r#"- ?statement_quoted "Use `<get path="a"/>` to read.""#,
    ),
    (
        "```json\n{\"name\":\"bash\",\"arguments\":{\"command\":\"ls\"}}\n```",
        r#"- ?statement_quoted "```json\n{"name":"bash","arguments":{"command":"ls"}}\n```""#,
    ),
    ("So:\n\n    <rm path=\"v\"/>\n", r#"- ?statement_quoted "So:\n\n    <rm path="v"/>""#),
    (
        r#"so {"name":"bash","arguments":{"command":"ls"}}"#,
        r#"- ?statement_quoted "so {"name":"bash","arguments":{"command":"ls"}}""#,
    ),
    (
        "```\n<tool_call>{\"name\":\"bash\",\"arguments\":{\"command\":\"ls\"}}</tool_call>\n```",
        r#"- ?statement_quoted "```\n<tool_call>{"name":"bash","arguments":{"command":"ls"}}</tool_call>\n```""#,
    ),
    ("```rust\nlet x = 1;\n```", r#"- "```rust\nlet x = 1;\n```""#),
    (r#"<get path="a"/> and `<rm path="v"/>`"#, r#"read path=a "and `<rm path="v"/>`""#),
    (
        "<|channel|>analysis\n<rm path=\"v\"/>\n<|message|>hm<|end|>\n<get path=\"a\"/>",
        r#"read path=a (<rm path="v"/>\n<|message|>hm)"#,
    ),
    (
        "<|channel|>analysis\n<rm path=\"v\"/>\n<|message|>hm",
        r#"- ~thought_unclosed ?thought_unclosed (<rm path="v"/>\n<|message|>hm)"#,
    ),
    (r#"<|channel>x <get path="a"/>"#, "read path=a"),
    (
        "```tool_code\nprint(default_api.read(path=\"a\"))\n```",
        "read path=a ~foreign_call ~foreign_call",
    ),
    (
        "```tool_code\nprint(default_api.read(path=\"a\", from_line=1))\ndefault_api.bash(command='ls \"x\"\\n')\nget(path=\"\"\"a\"\"\")\n```\nok",
        r#"bash command=ls "x"\n; read path=a ~foreign_call ~foreign_call ~foreign_call ?arguments "ok""#,
    ),
    (
        "```tool_code\nimport os\nos.remove(\"x\")\n```",
        r#"- ~foreign_call ?foreign_malformed "import os\nos.remove("x")""#,
    ),
    (
        "```tool_code\nprint(default_api.read(path=\"a\"))\n",
        "!read path=a ~foreign_call ~foreign_call ~unclosed",
    ),
    ("```tool_code\n<set path=\"a\">x</set>\n", "!write path=a content=x ~foreign_call ~unclosed"),
    ("```tool_code\nnothing(path=\"a\")\n```", "- ~foreign_call ?unknown_tool"),
    (
        r#"<Get path="a"/><Set path="a">x</Set>"#,
        "read path=a; write path=a content=x ~tag_case ~tag_case",
    ),
    (r#"<RM PATH="v"/>"#, "remove path=v ~tag_case ~attribute_name"),
    (
        r#"<|python_tag|>{"name":"bash","parameters":{"command":"ls"}}<|eot_id|>"#,
        "bash command=ls ~foreign_call",
    ),
    (r#"{"name":"bash","parameters":{"command":"ls"}}<|eot_id|>"#, "bash command=ls ~foreign_call"),
    (
        r#"{"name":"get","parameters":{"path":"a"}}; {"name":"get","parameters":{"path":"b"}}"#,
        "read path=a; read path=b ~foreign_call ~foreign_call",
    ),
    (
        r#"{"name":"get","parameters":{"path":"a"}}; so"#,
        r#"- ?statement_quoted "{"name":"get","parameters":{"path":"a"}}; so""#,
    ),
    (r#"[TOOL_CALLS]bash[CALL_ID]abc123[ARGS]{"command":"ls"}"#, "bash command=ls ~foreign_call"),
    (
        "<function=bash>\n<parameter=command>\nls\n</parameter>\n</function>",
        "bash command=ls ~foreign_call",
    ),
    (r#"<function=bash>{"command":"ls"}</function>"#, "bash command=ls ~foreign_call"),
    ("<function=bash>ls</function>\n<get path=\"a\"/>", "read path=a ?foreign_malformed"),
    (r#"< get path="a"/>"#, r#"- ?tag_unknown "< get path="a"/>""#),
    (
        "<read_file path=\"a\"/>\n<get path=\"b\"/>",
        r#"read path=b ?tag_unknown "<read_file path="a"/>""#,
    ),
    (
        "<write_file path=\"a\">\n<rm path=\"v\"/>\n</write_file>\n<get path=\"b\"/>",
        r#"read path=b ?tag_unknown "<write_file path="a">\n<rm path="v"/>\n</write_file>""#,
    ),
    (
        "<img src=\"a\"/> <div class=\"x\"> <a href=\"b\">\n<get path=\"b\"/>",
        r#"read path=b "<img src="a"/> <div class="x"> <a href="b">""#,
    ),
    ("<svg path=\"x\"/>\n<get path=\"b\"/>", r#"read path=b "<svg path="x"/>""#),
];
