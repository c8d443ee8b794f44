//! Values of calls in foreign formats that are of another kind than is wanted: taken as they were written, or not.

use super::notation::{Cases, check_all};

#[test]
fn a_value_is_taken_as_it_was_written_or_not_at_all() {
    check_all(A_VALUE_IS_TAKEN_AS_IT_WAS_WRITTEN_OR_NOT_AT_ALL);
}

const A_VALUE_IS_TAKEN_AS_IT_WAS_WRITTEN_OR_NOT_AT_ALL: Cases = &[
    (
        r#"<tool_call>{"name":"set","arguments":{"path":"VERSION","content":1.10}}</tool_call>"#,
        "- ?arguments",
    ),
    (
        r#"<tool_call>{"name":"set","arguments":{"path":"n","content":12345678901234567890123}}</tool_call>"#,
        "- ?arguments",
    ),
    (
        r#"<tool_call>{"name":"set","arguments":{"path":"n","content":-0}}</tool_call>"#,
        "- ?arguments",
    ),
    (r#"<tool_call>{"name":"rm","arguments":{"path":1.50}}</tool_call>"#, "- ?arguments"),
    (r#"<tool_call>{"name":"rm","arguments":{"file":1.50}}</tool_call>"#, "- ?arguments"),
    (r#"<tool_call>{"name":"delete_file","arguments":{"path":1.50}}</tool_call>"#, "- ?arguments"),
    (
        r#"<tool_call>{"name":"rm","arguments":{"path":15}}</tool_call>"#,
        "remove path=15 ~foreign_call ~argument",
    ),
    (
        r#"<tool_call>{"name":"set","arguments":{"path":"n","content":true}}</tool_call>"#,
        "write path=n content=true ~foreign_call ~argument ~attribute_name",
    ),
    (
        r#"<tool_call>{"name":"set","arguments":{"path":"n","content":false}}</tool_call>"#,
        "write path=n content=false ~foreign_call ~argument ~attribute_name",
    ),
    (
        r#"<tool_call>{"name":"set","arguments":{"path":"n","content":-12}}</tool_call>"#,
        "write path=n content=-12 ~foreign_call ~argument ~attribute_name",
    ),
    (
        r#"<tool_call>{"name":"set","arguments":{"path":"n","content":{"b":1,"a":1.0}}}</tool_call>"#,
        "- ?arguments",
    ),
    (
        r#"<tool_call>{"name":"set","arguments":{"path":"n","content":["a","b"]}}</tool_call>"#,
        "- ?arguments",
    ),
    (r#"<tool_call>{"name":"rm","arguments":{"path":["a"]}}</tool_call>"#, "- ?arguments"),
    (r#"<tool_call>{"name":"sh","arguments":{"command":{"a":1}}}</tool_call>"#, "- ?arguments"),
    (
        r#"<tool_call>{"name":"bash","arguments":{"command":["ls","-l"]}}</tool_call>"#,
        "- ?arguments",
    ),
    (
        r#"<tool_call>{"name":"read","arguments":{"path":"a","first":3.0}}</tool_call>"#,
        "read path=a first=3 ~foreign_call",
    ),
    (
        r#"<tool_call>{"name":"read","arguments":{"path":"a","first":3.5}}</tool_call>"#,
        "- ?arguments",
    ),
    (
        r#"<tool_call>{"name":"todo","arguments":{"items":[{"text":"a","state":"active"}]}}</tool_call>"#,
        r#"todo items=[{"text":"a","state":"active"}] ~foreign_call"#,
    ),
    (
        r#"<tool_call>{"name":"paint","arguments":{"colour":1.50}}</tool_call>"#,
        r#"- ?unknown_tool "<tool_call>{"name":"paint","arguments":{"colour":1.50}}</tool_call>""#,
    ),
];
