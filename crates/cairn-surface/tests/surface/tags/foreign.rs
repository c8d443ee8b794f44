//! Calls in the formats of other trainings.

use super::notation::{CAP, Cases, check_all, notation};
use cairn_surface::tags;

#[test]
fn json_calls_are_read_where_they_stand_alone() {
    check_all(JSON_CALLS_ARE_READ_WHERE_THEY_STAND_ALONE);
}

const JSON_CALLS_ARE_READ_WHERE_THEY_STAND_ALONE: Cases = &[
    (r#"{"name":"read_file","arguments":{"path":"a"}}"#, "read path=a ~foreign_call ~argument"),
    (r#"{"name":"get","arguments":{"path":"a"}}"#, "read path=a ~foreign_call"),
    (
        r#"{"name":"set","arguments":{"path":"a","content":"x\ny"}}"#,
        r#"write path=a content=x\ny ~foreign_call ~attribute_name"#,
    ),
    (
        r#"{"name":"set","arguments":{"path":"a","body":"<<APPEND\nx\nAPPEND"}}"#,
        r#"edit path=a patch=<<APPEND\nx\nAPPEND ~foreign_call ~attribute_name"#,
    ),
    (r#"{"name":"bash","arguments":"{\"command\":\"ls\"}"}"#, "bash command=ls ~foreign_call"),
    (r#"{"name":"bash","parameters":{"command":"ls"}}"#, "bash command=ls ~foreign_call"),
    (
        r#"{"function":{"name":"bash","arguments":{"command":"ls"}}}"#,
        "bash command=ls ~foreign_call",
    ),
    (
        r#"{"id":"1","type":"function","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}}"#,
        "bash command=ls ~foreign_call",
    ),
    (
        r#"{"tool_calls":[{"id":"1","type":"function","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}},{"function":{"name":"get","arguments":{"path":"a"}}}]}"#,
        "bash command=ls; read path=a ~foreign_call ~foreign_call",
    ),
    (
        r#"[{"name":"get","arguments":{"path":"a"}},{"name":"get","arguments":{"path":"b"}}]"#,
        "read path=a; read path=b ~foreign_call ~foreign_call",
    ),
    (
        "I will:\n{\"name\":\"get\",\"arguments\":{\"path\":\"a\"}}\nok",
        r#"read path=a ~foreign_call "I will:\nok""#,
    ),
    (
        "{\n  \"name\": \"get\",\n  \"arguments\": {\n    \"path\": \"a\"\n  }\n}",
        "read path=a ~foreign_call",
    ),
    (
        r#"so {"name":"bash","arguments":{"command":"ls"}}"#,
        r#"- ?statement_quoted "so {"name":"bash","arguments":{"command":"ls"}}""#,
    ),
    (
        r#"{"name":"bash","arguments":{"command":"ls"}} so"#,
        r#"- ?statement_quoted "{"name":"bash","arguments":{"command":"ls"}} so""#,
    ),
    (
        r#"{"name":"bash","arguments":{"command":"ls"},"why":"x"}"#,
        r#"- ?statement_quoted "{"name":"bash","arguments":{"command":"ls"},"why":"x"}""#,
    ),
    (r#"{"name":"bash"}"#, r#"- "{"name":"bash"}""#),
    (r#"{"name":"Bob","age":3}"#, r#"- "{"name":"Bob","age":3}""#),
    (r#"{"path":"a"}"#, r#"- "{"path":"a"}""#),
    (r#"{"name":"bash","arguments":{"command":"ls"}"#, "- ?foreign_malformed"),
    (
        r#"{"name":"bash","arguments":"ls"}"#,
        r#"- ?statement_quoted "{"name":"bash","arguments":"ls"}""#,
    ),
    (r#"{"name":"paint","arguments":{}}"#, r#"- ?unknown_tool "{"name":"paint","arguments":{}}""#),
    (
        r#"{"name":"bahs","arguments":{"command":"ls"}}"#,
        r#"- ?unknown_tool "{"name":"bahs","arguments":{"command":"ls"}}""#,
    ),
    (r#"{"name":"bash","arguments":{"cmd":"ls","sudo":1}}"#, "- ?arguments"),
    (r#"{"name":"bash","arguments":{}}"#, "- ?arguments"),
    (
        r#"{"tool":"bash","args":{"command":"ls"}}"#,
        r#"- "{"tool":"bash","args":{"command":"ls"}}""#,
    ),
    (
        r#"{"name":"x.rm","arguments":{"path":"a"}}"#,
        r#"- ?unknown_tool "{"name":"x.rm","arguments":{"path":"a"}}""#,
    ),
    (
        r#"{"name":"mcp/rm","arguments":{"path":"a"}}"#,
        r#"- ?unknown_tool "{"name":"mcp/rm","arguments":{"path":"a"}}""#,
    ),
    (r#"{"name":"default_api.rm","arguments":{"path":"a"}}"#, "remove path=a ~foreign_call"),
    (r#"{"name":"search","arguments":{"query":"x"}}"#, "web_search query=x -> 501 ~foreign_call"),
    (
        r#"{"name":"functions.read_file","arguments":{"path":"a"}}"#,
        "read path=a ~foreign_call ~argument",
    ),
    (
        r#"{"name":"multi_edit","arguments":{"path":"a","edits":[{"old":"x","new":"y"}]}}"#,
        r#"multi_edit path=a edits=[{"old":"x","new":"y"}] ~foreign_call"#,
    ),
    (
        r#"{"name":"ask_user","arguments":{"question":"Q","options":["a; b","c"]}}"#,
        r#"ask_user question=Q options=["a; b","c"] ~foreign_call"#,
    ),
    (
        r#"{"name":"update","arguments":{"status":200,"text":"done"}}"#,
        "send status=200 text=done ~foreign_call =200",
    ),
    (
        r#"{"name":"get","arguments":{"path":"a","hashes":true}}"#,
        "read path=a hashes=true ~foreign_call",
    ),
];

#[test]
fn mistral_lists_are_read() {
    check_all(MISTRAL_LISTS_ARE_READ);
}

const MISTRAL_LISTS_ARE_READ: Cases = &[
    (r#"[TOOL_CALLS] [{"name":"get","arguments":{"path":"a"}}]"#, "read path=a ~foreign_call"),
    (
        r#"[TOOL_CALLS][{"name":"get","arguments":{"path":"a"}},{"name":"bash","arguments":{"command":"ls"}}]"#,
        "read path=a; bash command=ls ~foreign_call ~foreign_call",
    ),
    (r#"[TOOL_CALLS]get{"path":"a"}"#, "read path=a ~foreign_call"),
    (r#"[TOOL_CALLS]bash[ARGS]{"command":"ls"}"#, "bash command=ls ~foreign_call"),
    ("[TOOL_CALLS] nothing\n<get path=\"a\"/>", "- ?foreign_malformed"),
    (
        "[TOOL_CALLS] [{\"name\":\"sh\",\"arguments\":{\"command\":\"<rm path='x'/>\"\n<get path=\"a\"/>",
        "- ?foreign_malformed",
    ),
    (
        r#"text [TOOL_CALLS] [{"name":"get","arguments":{"path":"a"}}] text"#,
        r#"read path=a ~foreign_call "text  text""#,
    ),
];

#[test]
fn qwen_calls_are_read() {
    check_all(QWEN_CALLS_ARE_READ);
}

const QWEN_CALLS_ARE_READ: Cases = &[
    (
        r#"<tool_call>{"name":"get","arguments":{"path":"a"}}</tool_call>"#,
        "read path=a ~foreign_call",
    ),
    (
        "<tool_call>\n{\"name\":\"bash\",\"arguments\":{\"command\":\"ls\"}}\n</tool_call>\n<tool_call>\n{\"name\":\"get\",\"arguments\":{\"path\":\"a\"}}\n</tool_call>",
        "bash command=ls; read path=a ~foreign_call ~foreign_call",
    ),
    (r#"<tool_call>{"name":"get","arguments":{"path":"a"}}"#, "read path=a ~foreign_call"),
    (
        r#"<tool_call>{"name":"sh","arguments":{"command":"echo </tool_call>"}}</tool_call>"#,
        "bash command=echo </tool_call> ~foreign_call",
    ),
    (r#"<tool_call>nonsense</tool_call><get path="a"/>"#, "read path=a ?foreign_malformed"),
    (
        "<tool_call>\n{\"name\":\"get\",\"arguments\":{\"path\":\n<get path=\"a\"/>",
        "- ?foreign_malformed",
    ),
    (
        "<tool_call><function=bash><parameter=command>ls -l</parameter></function></tool_call>",
        "bash command=ls -l ~foreign_call",
    ),
    (
        "<tool_call>\n<function=write>\n<parameter=path>\na.txt\n</parameter>\n<parameter=content>\none\ntwo\n</parameter>\n</function>\n</tool_call>",
        r#"write path=a.txt content=one\ntwo ~foreign_call"#,
    ),
    (r#"<|tool_call>call:get{"path":"a"}<tool_call|>"#, "read path=a ~foreign_call"),
    (
        r#"<|tool_call>call:get{path:<|"|>a<|"|>,hashes:true}<tool_call|>"#,
        "read path=a hashes=true ~foreign_call",
    ),
    (r#"<|tool_call>call:bash{command:"ls"}"#, "bash command=ls ~foreign_call"),
    ("<|tool_call>get a\n<get path=\"b\"/>", "- ?foreign_malformed"),
    ("<|tool_call>call:get{path:a}\n<get path=\"b\"/>", "- ?foreign_malformed"),
];

#[test]
fn anthropic_calls_are_read() {
    check_all(ANTHROPIC_CALLS_ARE_READ);
}

const ANTHROPIC_CALLS_ARE_READ: Cases = &[
    (
        r#"<tool_use><name>get</name><input>{"path":"a"}</input></tool_use>"#,
        "read path=a ~foreign_call",
    ),
    (
        "<tool_use>\n<name>bash</name>\n<input>\n{\"command\":\"ls\"}\n</input>\n</tool_use>",
        "bash command=ls ~foreign_call",
    ),
    (
        r#"<tool_use><name>bash</name><input>ls</input></tool_use><get path="a"/>"#,
        "- ?foreign_malformed",
    ),
    (
        "<tool_use><name>paint</name><input>{}</input></tool_use>",
        r#"- ?unknown_tool "<tool_use><name>paint</name><input>{}</input></tool_use>""#,
    ),
    (
        "<function_calls>\n<invoke name=\"bash\">\n<parameter name=\"command\">ls</parameter>\n</invoke>\n</function_calls>",
        "bash command=ls ~foreign_call",
    ),
    (
        r#"<invoke name="write"><parameter name="path">a</parameter><parameter name="content"><get path="x"/></parameter></invoke>"#,
        r#"write path=a content=<get path="x"/> ~foreign_call"#,
    ),
    (
        r#"<invoke name="bash"><parameter name="command">ls</invoke><get path="a"/>"#,
        "- ?foreign_malformed",
    ),
    (
        r#"<invoke name="read"><parameter name="path">a</parameter><parameter name="first">3</parameter></invoke>"#,
        "read path=a first=3 ~foreign_call",
    ),
];

#[test]
fn harmony_channels_are_read() {
    check_all(HARMONY_CHANNELS_ARE_READ);
}

const HARMONY_CHANNELS_ARE_READ: Cases = &[
    (
        r#"<|channel|>analysis<|message|>hm <rm path="x"/><|end|><|start|>assistant<|channel|>final<|message|>Hello<|return|>"#,
        r#"- "Hello" (hm <rm path="x"/>)"#,
    ),
    (
        r#"<|start|>assistant<|channel|>commentary to=functions.bash <|constrain|>json<|message|>{"command":"ls"}<|call|>"#,
        "bash command=ls ~foreign_call",
    ),
    (
        r#"<|channel|>commentary to=functions.get<|message|>{"path":"a"}<|call|>"#,
        "read path=a ~foreign_call",
    ),
    (
        r#"<|channel|>commentary to=functions.bash<|message|>ls<|call|><get path="a"/>"#,
        "read path=a ?foreign_malformed",
    ),
    (
        r#"<|start|>assistant to=functions.bash<|channel|>commentary<|message|>{"command":"ls"}<|call|>"#,
        "bash command=ls ~foreign_call",
    ),
    (
        r#"<|channel|>final<|message|><get path="a"/><update status="200">x</update><|return|>"#,
        "read path=a; send status=200 text=x =200",
    ),
    (
        "<|channel|>commentary<|message|>I look first.<|end|><|channel|>final<|message|>ok",
        r#"- "ok" (I look first.)"#,
    ),
    ("<|channel|>analysis<|message|>hm", "- ~thought_unclosed (hm)"),
    ("<|channel>thought\nhm <rm path=\"x\"/><channel|>ok", r#"- "ok" (hm <rm path="x"/>)"#),
    ("<|channel>final\nok<channel|>", r#"- "ok""#),
    ("<|end|>ok<|foo|>", r#"- "ok<|foo|>""#),
];

#[test]
fn a_call_that_cannot_be_read_says_nothing_of_its_texts() {
    check_all(A_CALL_THAT_CANNOT_BE_READ_SAYS_NOTHING_OF_ITS_TEXTS);
}

const A_CALL_THAT_CANNOT_BE_READ_SAYS_NOTHING_OF_ITS_TEXTS: Cases = &[
    (
        "{\"name\":\"set\",\"arguments\":{\"path\":\"a\",\"content\":\"one\n<rm path='x'/>\ntwo\"}}\n<get path=\"b\"/>",
        "read path=b ?foreign_malformed",
    ),
    (
        "{\n\"name\":\"set\",\n\"arguments\":{\"path\":\"a\",\"content\":\"say \"hi\"\n<rm path='x'/>\n\"}}",
        "- ?foreign_malformed",
    ),
    (
        r#"so {"name":"sh","arguments":{"command":"<rm path='x'/>"}} it is"#,
        r#"- ?statement_quoted "so {"name":"sh","arguments":{"command":"<rm path='x'/>"}} it is""#,
    ),
    (r#"{"name":"<rm path='x'/>"}"#, r#"- ?statement_quoted "{"name":"<rm path='x'/>"}""#),
    (
        "{\"name\":\"sh\",\"arguments\":{\"command\":\"ls\",\"command\":\"rm x\"}}\n<get path=\"b\"/>",
        "read path=b ?foreign_malformed",
    ),
    (
        "{\"name\":\"sh\",\"arguments\":\"{\\\"command\\\":\\\"ls\\\",\\\"command\\\":\\\"rm x\\\"}\"}",
        "- ?foreign_malformed",
    ),
    (
        "[TOOL_CALLS] [{\"name\":\"set\",\"arguments\":{\"path\":\"a\",\"content\":\"one\n<rm path='x'/>\ntwo\"}}]\n<get path=\"b\"/>",
        "read path=b ?foreign_malformed",
    ),
    (
        "[TOOL_CALLS] [{\"name\":\"set\",\"arguments\":{\"path\":\"a\",\"content\":\"one \"two\"\n<rm path='x'/>\n\"}}]\n<get path=\"b\"/>",
        "- ?foreign_malformed",
    ),
    (
        "<tool_call>\n{\"name\":\"set\",\"arguments\":{\"path\":\"a\",\"content\":\"one\n<rm path='x'/>\n</tool_call>\n<rm path='y'/>\"}}\n</tool_call>\n<get path=\"b\"/>",
        "read path=b ?foreign_malformed",
    ),
    (
        "<tool_call>\n{\"name\":\"set\",\"arguments\":{\"path\":\"a\",\"content\":\"say \"</tool_call>\"\n<rm path='x'/>\n\"}}\n</tool_call>\n<get path=\"b\"/>",
        "- ?foreign_malformed",
    ),
    ("<tool_call>write a: </tool_call>\n<rm path=\"x\"/>\n</tool_call>", "- ?foreign_malformed"),
    (
        "<tool_use><name>set</name><input>{\"path\":\"a\",\"content\":\"one\n</tool_use>\n<rm path='x'/>\n\"}</input></tool_use><get path=\"b\"/>",
        "- ?foreign_malformed",
    ),
    (
        r#"<tool_use><name>set</name><input>{"path":"a","content":"</tool_use><rm path='x'/>"}</input></tool_use><get path="b"/>"#,
        "write path=a content=</tool_use><rm path='x'/>; read path=b ~foreign_call ~attribute_name",
    ),
    (
        "<|tool_call>call:set{path:<|\"|>a<|\"|>,content:<|\"|>one <tool_call|>\n<rm path=\"x\"/>}<tool_call|>",
        "- ?foreign_malformed",
    ),
    (
        "<|tool_call>call:set{path:<|\"|>a<|\"|>,path:<|\"|>b<|\"|>}<tool_call|>\n<rm path=\"x\"/>",
        "- ?foreign_malformed",
    ),
    (
        "<|channel|>commentary to=functions.set<|message|>{\"path\":\"a\",\"content\":\"one\n<|end|><rm path='x'/>\"}<|call|><get path=\"b\"/>",
        "read path=b ?foreign_malformed",
    ),
    (
        r#"<|channel|>commentary to=functions.set<|message|>{"path":"a","content":"<|end|><rm path='x'/>"}<|call|><get path="b"/>"#,
        "write path=a content=<|end|><rm path='x'/>; read path=b ~foreign_call ~attribute_name",
    ),
    (
        r#"<|channel|>commentary to=functions.set<|message|>{"path":"a","content":"say "<|end|>"<rm path='x'/>"}<|call|>"#,
        "- ?foreign_malformed",
    ),
    (
        "<invoke name=\"set\"><parameter name=\"path\">a</parameter><parameter name=\"content\">x</parameter></invoke>\n<rm path=\"x\"/>\n</parameter></invoke>\n<get path=\"b\"/>",
        "read path=b ~foreign_call ~attribute_name ?closer_alone ?closer_alone",
    ),
    (
        "<tool_call><function=set><parameter=path>a</parameter><parameter=content>use </tool_call>\n<rm path=\"x\"/>\n",
        "- ?foreign_malformed",
    ),
];

#[test]
fn calls_with_names_in_a_space_of_their_own_are_read() {
    let put = |text: &str| text.replace('§', "antml:");
    for (text, said) in CALLS_WITH_NAMES_IN_A_SPACE_OF_THEIR_OWN_ARE_READ {
        assert_eq!(notation(&tags::parse(&put(text), CAP)), put(said), "{text}");
    }
}

/// The sign stands for the space.
const CALLS_WITH_NAMES_IN_A_SPACE_OF_THEIR_OWN_ARE_READ: Cases = &[
    (
        "<§function_calls>\n<§invoke name=\"write\"><§parameter name=\"content\">\n<rm path=\"victim\"/>\n</§parameter></§invoke></§function_calls>",
        "- ?arguments",
    ),
    (
        "<§function_calls>\n<§invoke name=\"read\">\n<§parameter name=\"path\">a</§parameter>\n</§invoke>\n</§function_calls>\nok",
        "read path=a ~foreign_call \"ok\"",
    ),
    (
        "<Function_Calls id=\"1\"><Invoke id=\"2\" name=\"read\"><parameter string=\"true\" name=\"path\">a</parameter></Invoke></Function_Calls>",
        "read path=a ~foreign_call",
    ),
    ("<§thinking>\n<rm path=\"a\"/></§thinking>ok", "- \"ok\" (<rm path=\"a\"/>)"),
    (
        "<§invoke name=\"write\"><§parameter name=\"content\">x</§parameter>\n<rm path=\"a\"/>",
        "- ?foreign_malformed",
    ),
    (
        "<§parameter name=\"content\">\n<rm path=\"a\"/></§parameter>",
        "- ?closer_alone \"<§parameter name=\"content\">\"",
    ),
];
