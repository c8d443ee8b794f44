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
        r#"read path=a "> ```\n<rm path="v"/>\n```""#,
    ),
    ("- ```\n<rm path=\"v\"/>\n", r#"- ?quote_unclosed "- ```\n<rm path="v"/>""#),
    ("a\r> <rm path=\"v\"/>", r#"- "a\r> <rm path="v"/>""#),
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
