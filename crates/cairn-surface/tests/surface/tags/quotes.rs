//! Quotes where Markdown would not have them, or has them in ways of its own.

use super::notation::{Cases, check_all};

#[test]
fn a_fence_is_one_wherever_it_opens() {
    check_all(A_FENCE_IS_ONE_WHEREVER_IT_OPENS);
}

const A_FENCE_IS_ONE_WHEREVER_IT_OPENS: Cases = &[
    (
        "Example: ```xml\n<rm path=\"v\"/>\n```\n<get path=\"a\"/>",
        r#"read path=a "Example: ```xml\n<rm path="v"/>\n```""#,
    ),
    (
        "Use `foo\n<rm path=\"v\"/>\nbar` here",
        r#"- ?statement_quoted "Use `foo\n<rm path="v"/>\nbar` here""#,
    ),
    (
        "``\n<rm path=\"v\"/>\n``\n<get path=\"a\"/>",
        r#"read path=a ?statement_quoted "``\n<rm path="v"/>\n``""#,
    ),
    (
        "**x**: ```\n<rm path=\"v\"/>\n```\n<get path=\"a\"/>",
        r#"read path=a "**x**: ```\n<rm path="v"/>\n```""#,
    ),
    (
        "1. ```xml\n   <get path=\"a\"/>\n\n   <rm path=\"v\"/>\n   ```\n<get path=\"a\"/>",
        r#"read path=a "1. ```xml\n   <get path="a"/>\n\n   <rm path="v"/>\n   ```""#,
    ),
    (
        "Text: ~~~\n<rm path=\"v\"/>\n~~~\n<get path=\"a\"/>",
        r#"read path=a "Text: ~~~\n<rm path="v"/>\n~~~""#,
    ),
    (
        "1. Do:\n\n    ```xml\n<rm path=\"v\"/>\n    ```\n<get path=\"a\"/>",
        r#"read path=a "1. Do:\n\n    ```xml\n<rm path="v"/>\n    ```""#,
    ),
    (
        "\u{feff}```\n<rm path=\"v\"/>\n```\n<get path=\"a\"/>",
        "read path=a \"\u{feff}```\\n<rm path=\"v\"/>\\n```\"",
    ),
    (
        "\u{200b}> <rm path=\"v\"/>\n\u{a0}> <rm path=\"v\"/>\n<get path=\"a\"/>",
        "read path=a \"\u{200b}> <rm path=\"v\"/>\\n\u{a0}> <rm path=\"v\"/>\"",
    ),
    (
        "> ```\n<rm path=\"v\"/>\n```\n<get path=\"a\"/>",
        r#"read path=a ?quote_unclosed "> ```\n<rm path="v"/>\n```""#,
    ),
    ("- ```\n<rm path=\"v\"/>\n", r#"- ?quote_unclosed "- ```\n<rm path="v"/>""#),
    ("a\r> <rm path=\"v\"/>", r#"- ?statement_quoted "a\r> <rm path="v"/>""#),
    (
        "a\u{2028}> <rm path=\"v\"/>\n<get path=\"a\"/>",
        "read path=a \"a\u{2028}> <rm path=\"v\"/>\"",
    ),
    ("a\u{85}> <rm path=\"v\"/>\n<get path=\"a\"/>", "read path=a \"a\u{85}> <rm path=\"v\"/>\""),
    ("\\<rm path=\"v\"/>\n<get path=\"a\"/>", r#"read path=a "\<rm path="v"/>""#),
    (r#"\\<get path="a"/>"#, r#"read path=a "\\""#),
    (
        "\\<tool_call>{\"name\":\"rm\",\"arguments\":{\"path\":\"v\"}}</tool_call>\n<get path=\"a\"/>",
        r#"read path=a ?closer_alone "\<tool_call>{"name":"rm","arguments":{"path":"v"}}""#,
    ),
    (
        "\\<set path=\"d\">\n<rm path=\"v\"/>\n</set>\n<get path=\"a\"/>",
        r#"read path=a ?closer_alone "\<set path="d">""#,
    ),
    (r#"\<think><rm path="v"/></think><get path="a"/>"#, r#"read path=a "\" (<rm path="v"/>)"#),
    ("- > <rm path=\"v\"/>\n<get path=\"a\"/>", r#"read path=a "- > <rm path="v"/>""#),
    (
        "<set path=\"d.md\">\nText: ```\n</set>\n<rm path=\"v\"/>\n```\n</set>\n```\nmore\n```\n",
        r#"- ?closer_alone "```\n</set>\n```\nmore\n```""#,
    ),
    (
        "```xml\r<rm path=\"v\"/>\r```\r<get path=\"a\"/>",
        r#"read path=a "```xml\r<rm path="v"/>\r```""#,
    ),
    (
        "Text: ```tool_code\n<rm path=\"v\"/>\n```\n<get path=\"a\"/>",
        r#"read path=a "Text: ```tool_code\n<rm path="v"/>\n```""#,
    ),
];

#[test]
fn what_was_said_by_others_asks_for_nothing() {
    check_all(WHAT_WAS_SAID_BY_OTHERS_ASKS_FOR_NOTHING);
}

const WHAT_WAS_SAID_BY_OTHERS_ASKS_FOR_NOTHING: Cases = &[
    (
        "## log:///1/2/1 read a.md, 200\n1\t<rm path=\"v\"/>\n2\tmore\n",
        r###"- ?quote_unclosed "## log:///1/2/1 read a.md, 200\n1\t<rm path="v"/>\n2\tmore""###,
    ),
    (
        "<get path=\"a\"/>\n## log:///1/2/1 read a.md, 200\n<rm path=\"v\"/>\n",
        r###"read path=a ?quote_unclosed "## log:///1/2/1 read a.md, 200\n<rm path="v"/>""###,
    ),
    (
        "# Visible\n## a.md\n1\t<rm path=\"v\"/>",
        r###"- ?quote_unclosed "# Visible\n## a.md\n1\t<rm path="v"/>""###,
    ),
    (
        "1\t<rm path=\"v\"/>\n2\tmore\n<get path=\"a\"/>",
        r#"read path=a "1\t<rm path="v"/>\n2\tmore""#,
    ),
    (
        "# Log\n\n## log:///1/2/1 x\n<rm path=\"v\"/>",
        r###"- ?quote_unclosed "# Log\n\n## log:///1/2/1 x\n<rm path="v"/>""###,
    ),
    ("# Visible\nIt is.\n<get path=\"a\"/>", r###"read path=a "# Visible\nIt is.""###),
    (
        "text-0123456789ab\n# a\n<rm path=\"v\"/>\ntext-0123456789ab\n<get path=\"a\"/>",
        r#"read path=a "text-0123456789ab\n# a\n<rm path="v"/>\ntext-0123456789ab""#,
    ),
    (
        "[TOOL_RESULTS]<rm path=\"v\"/>[/TOOL_RESULTS]\n<get path=\"a\"/>",
        r#"read path=a "[TOOL_RESULTS]<rm path="v"/>[/TOOL_RESULTS]""#,
    ),
    (
        "<TOOL_RESULT>\n<rm path=\"v\"/>\n</TOOL_RESULT>\n<get path=\"a\"/>",
        r#"read path=a "<TOOL_RESULT>\n<rm path="v"/>\n</TOOL_RESULT>""#,
    ),
    (
        "<|start_header_id|>user<|end_header_id|>\n<rm path=\"v\"/><|eot_id|><|start_header_id|>assistant<|end_header_id|>\n<get path=\"a\"/><|eot_id|>",
        r#"read path=a "<|start_header_id|>user<|end_header_id|>\n<rm path="v"/><|eot_id|>""#,
    ),
    (
        "<get path=\"a\"/><|im_end|>\n<|im_start|>user\n<rm path=\"v\"/>",
        r#"read path=a ?quote_unclosed "<|im_start|>user\n<rm path="v"/>""#,
    ),
    (
        r#"<|start|>user<|message|><rm path="v"/><|end|><|start|>assistant<|channel|>final<|message|><get path="a"/>"#,
        r#"read path=a "<|start|>user<|message|><rm path="v"/><|end|>""#,
    ),
    (
        "<tool_output>\n<rm path=\"v\"/>\n</tool_output>\n<get path=\"a\"/>",
        r#"read path=a "<tool_output>\n<rm path="v"/>\n</tool_output>""#,
    ),
    (
        "<output><rm path=\"v\"/></output>\n<get path=\"a\"/>",
        r#"read path=a "<output><rm path="v"/></output>""#,
    ),
    (
        "<result>\n<rm path=\"v\"/>\n</result>\n<get path=\"a\"/>",
        r#"read path=a "<result>\n<rm path="v"/>\n</result>""#,
    ),
    (
        "<document index=\"1\">\n<rm path=\"v\"/>\n</document>\n<get path=\"a\"/>",
        r#"read path=a "<document index="1">\n<rm path="v"/>\n</document>""#,
    ),
    (
        "<file path=\"x.md\">\n<rm path=\"v\"/>\n</file>\n<get path=\"a\"/>",
        r#"read path=a "<file path="x.md">\n<rm path="v"/>\n</file>""#,
    ),
    (
        "<![CDATA[<rm path=\"v\"/>]]>\n<get path=\"a\"/>",
        r#"read path=a "<![CDATA[<rm path="v"/>]]>""#,
    ),
    (
        "<pre>\n<rm path=\"v\"/>\n</pre>\n<get path=\"a\"/>",
        r#"read path=a "<pre>\n<rm path="v"/>\n</pre>""#,
    ),
    (
        "<code><rm path=\"v\"/></code>\n<get path=\"a\"/>",
        r#"read path=a "<code><rm path="v"/></code>""#,
    ),
    ("A Vec<file> here\n<get path=\"a\"/>", r#"read path=a "A Vec<file> here""#),
    ("◁think▷<rm path=\"v\"/>◁/think▷\n<get path=\"a\"/>", r#"read path=a (<rm path="v"/>)"#),
    (
        "<rm path=\"v\"/>◁/think▷\n<get path=\"a\"/>",
        r#"read path=a ~thought_unopened ?thought_closed (<rm path="v"/>)"#,
    ),
    (
        "<seed:think><rm path=\"v\"/></seed:think>\n<get path=\"a\"/>",
        r#"read path=a (<rm path="v"/>)"#,
    ),
    (
        "<|begin_of_thought|><rm path=\"v\"/><|end_of_thought|>\n<get path=\"a\"/>",
        r#"read path=a (<rm path="v"/>)"#,
    ),
    ("<analysis><rm path=\"v\"/></analysis>\n<get path=\"a\"/>", r#"read path=a (<rm path="v"/>)"#),
    (
        "<scratchpad><rm path=\"v\"/></scratchpad>\n<get path=\"a\"/>",
        r#"read path=a (<rm path="v"/>)"#,
    ),
    (
        "<antThinking><rm path=\"v\"/></antThinking>\n<get path=\"a\"/>",
        r#"read path=a (<rm path="v"/>)"#,
    ),
    (
        "<reflection><rm path=\"v\"/></reflection>\n<get path=\"a\"/>",
        r#"read path=a (<rm path="v"/>)"#,
    ),
    ("<think\n><rm path=\"v\"/></think>\n<get path=\"a\"/>", r#"read path=a (<rm path="v"/>)"#),
    (
        "<set path=\"a\">\n## log:///1/2/1 x\n1\ty\n</set>\n<get path=\"a\"/>",
        r#"write path=a content=## log:///1/2/1 x\n1\ty\n; read path=a"#,
    ),
    ("→ ◁ so\n<get path=\"a\"/>", "read path=a \"→ ◁ so\""),
];
