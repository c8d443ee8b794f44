//! What is said by others, in marks of any kind, and what is like it and is said by the one who writes.

use super::notation::{Cases, check_all};

#[test]
fn what_is_like_a_quote_is_none() {
    check_all(WHAT_IS_LIKE_A_QUOTE_IS_NONE);
}

const WHAT_IS_LIKE_A_QUOTE_IS_NONE: Cases = &[
    (
        "1. Remove it:\n\n    <rm path=\"a\"/>\n\n2. Done",
        "remove path=a \"1. Remove it:\\n\\n    \\n\\n2. Done\"",
    ),
    ("a\n\n    <rm path=\"a\"/>\n", "- ?statement_quoted \"a\\n\\n    <rm path=\"a\"/>\""),
    (
        "- a\n\n        <rm path=\"a\"/>\n",
        "- ?statement_quoted \"- a\\n\\n        <rm path=\"a\"/>\"",
    ),
    (
        "# Log\n\n## Step 1\nDone it\n<rm path=\"a\"/>",
        "remove path=a \"# Log\\n\\n## Step 1\\nDone it\"",
    ),
    (
        "# Visible\n## a.md\n1\tb\n<rm path=\"a\"/>",
        "- ?quote_unclosed \"# Visible\\n## a.md\\n1\\tb\\n<rm path=\"a\"/>\"",
    ),
    (
        "# Visible\n## a.md\n\ntext-0123456789ab\nx\n<rm path=\"a\"/>",
        "- ?quote_unclosed \"# Visible\\n## a.md\\n\\ntext-0123456789ab\\nx\\n<rm path=\"a\"/>\"",
    ),
    (
        "<output>ok</output>\n<set path=\"x\">a</set>\n<output>ok</output>",
        "write path=x content=a \"<output>ok</output>\\n<output>ok</output>\"",
    ),
    (
        "<output>ok</output>\n<rm path=\"x\"/>\n</output>",
        "- ?quote_unclosed \"<output>ok</output>\\n<rm path=\"x\"/>\\n</output>\"",
    ),
    ("see <analysis> for it\n<rm path=\"a\"/>", "remove path=a \"see <analysis> for it\""),
    (
        "<analysis>\nfoo\n<rm path=\"a\"/>",
        "- ~thought_unclosed ?thought_unclosed (foo\\n<rm path=\"a\"/>)",
    ),
    ("see <analysis> x </analysis>\n<rm path=\"a\"/>", "remove path=a \"see\" (x)"),
    (
        "- Do:\n\n  <rm path=\"a\"/>\n\n- Then\n\n    <rm path=\"b\"/>\n\nText\n\n    <rm path=\"c\"/>",
        "remove path=a; remove path=b \"- Do:\\n\\n  \\n\\n- Then\\n\\n    \\n\\nText\\n\\n    <rm path=\"c\"/>\"",
    ),
    ("* a\n  * b\n\n    <rm path=\"a\"/>\n", "remove path=a \"* a\\n  * b\""),
    ("10. a\n\n     <rm path=\"a\"/>\n", "remove path=a \"10. a\""),
    ("- a\n\n\t<rm path=\"a\"/>\n", "remove path=a \"- a\""),
    (
        "- a\n- b\n\nText.\n\n    <rm path=\"a\"/>\n",
        "- ?statement_quoted \"- a\\n- b\\n\\nText.\\n\\n    <rm path=\"a\"/>\"",
    ),
    ("- a\n\n      <rm path=\"a\"/>", "- ?statement_quoted \"- a\\n\\n      <rm path=\"a\"/>\""),
    ("1. a\n\n\t\t<rm path=\"a\"/>", "- ?statement_quoted \"1. a\\n\\n\\t\\t<rm path=\"a\"/>\""),
];

#[test]
fn turns_results_and_thoughts_of_any_kind_hold_no_ops() {
    check_all(TURNS_RESULTS_AND_THOUGHTS_OF_ANY_KIND_HOLD_NO_OPS);
}

const TURNS_RESULTS_AND_THOUGHTS_OF_ANY_KIND_HOLD_NO_OPS: Cases = &[
    (
        "<|user|>\n<rm path=\"v\"/>\n<|assistant|>ok",
        "- ?statement_quoted \"<|user|>\\n<rm path=\"v\"/>\\nok\"",
    ),
    ("<|system|><rm path=\"v\"/>", "- ?quote_unclosed \"<|system|><rm path=\"v\"/>\""),
    ("<|tool|><rm path=\"v\"/>", "- ?quote_unclosed \"<|tool|><rm path=\"v\"/>\""),
    ("<|observation|><rm path=\"v\"/>", "- ?quote_unclosed \"<|observation|><rm path=\"v\"/>\""),
    ("[INST]<rm path=\"v\"/>[/INST]ok", "- ?statement_quoted \"[INST]<rm path=\"v\"/>[/INST]ok\""),
    (
        "<|im_start|>\nuser\n<rm path=\"v\"/>",
        "- ?quote_unclosed \"<|im_start|>\\nuser\\n<rm path=\"v\"/>\"",
    ),
    (
        "<|tool_response><rm path=\"v\"/><tool_response|>ok",
        "- ?statement_quoted \"<|tool_response><rm path=\"v\"/><tool_response|>ok\"",
    ),
    (
        "<function_response><rm path=\"v\"/></function_response>ok",
        "- ?statement_quoted \"<function_response><rm path=\"v\"/></function_response>ok\"",
    ),
    (
        "<stdout><rm path=\"v\"/></stdout>ok",
        "- ?statement_quoted \"<stdout><rm path=\"v\"/></stdout>ok\"",
    ),
    (
        "<observation>\n<rm path=\"v\"/>\n</observation>",
        "- ?statement_quoted \"<observation>\\n<rm path=\"v\"/>\\n</observation>\"",
    ),
    (
        "<results><rm path=\"v\"/></results>",
        "- ?statement_quoted \"<results><rm path=\"v\"/></results>\"",
    ),
    (
        "<tool-result><rm path=\"v\"/></tool-result>ok",
        "- ?statement_quoted \"<tool-result><rm path=\"v\"/></tool-result>ok\"",
    ),
    (
        "<file_content path=\"a\"><rm path=\"v\"/></file_content>",
        "- ?statement_quoted \"<file_content path=\"a\"><rm path=\"v\"/></file_content>\"",
    ),
    (
        "<document_content><rm path=\"v\"/></document_content>",
        "- ?statement_quoted \"<document_content><rm path=\"v\"/></document_content>\"",
    ),
    ("  3→<rm path=\"v\"/>\n", "- ?statement_quoted \"3→<rm path=\"v\"/>\""),
    ("3| <rm path=\"v\"/>\n", "- ?statement_quoted \"3| <rm path=\"v\"/>\""),
    ("<thoughts><rm path=\"v\"/></thoughts>ok", "- \"ok\" (<rm path=\"v\"/>)"),
    ("[reasoning]<rm path=\"v\"/>[/reasoning]ok", "- \"ok\" (<rm path=\"v\"/>)"),
    ("<|think|><rm path=\"v\"/><|/think|>ok", "- \"ok\" (<rm path=\"v\"/>)"),
];

#[test]
fn statements_of_another_surface_hold_no_ops() {
    check_all(STATEMENTS_OF_ANOTHER_SURFACE_HOLD_NO_OPS);
}

const STATEMENTS_OF_ANOTHER_SURFACE_HOLD_NO_OPS: Cases = &[
    (
        "<<EDIT(x):\n<rm path=\"victim\"/>\n:EDIT\n<get path=\"b\"/>",
        "read path=b ?other_surface \"<<EDIT(x):\\n<rm path=\"victim\"/>\\n:EDIT\"",
    ),
    (
        "<<EDIT[x](y):\n<rm path=\"victim\"/>\n",
        "- ?other_surface \"<<EDIT[x](y):\\n<rm path=\"victim\"/>\"",
    ),
    (
        "<<SEND:\n<rm path=\"victim\"/>\n:SEND\nok",
        "- ?other_surface \"<<SEND:\\n<rm path=\"victim\"/>\\n:SEND\\nok\"",
    ),
    ("<<READ(a):READ\n<rm path=\"b\"/>", "remove path=b ?other_surface \"<<READ(a):READ\""),
    (
        "<<EDIT(x):\n:EDITOR\n<rm path=\"v\"/>\n:EDIT\n",
        "- ?other_surface \"<<EDIT(x):\\n:EDITOR\\n<rm path=\"v\"/>\\n:EDIT\"",
    ),
    (
        "<<EDIT(x):\n:EDIT\n<rm path=\"v\"/>\n:EDIT\n",
        "- ?other_surface \"<<EDIT(x):\\n:EDIT\\n<rm path=\"v\"/>\\n:EDIT\"",
    ),
    (
        "<<EDIT(x):\na\n:EDIT\n<<EDIT(y):\nb\n:EDIT\n<get path=\"c\"/>",
        "read path=c ?other_surface \"<<EDIT(x):\\na\\n:EDIT\\n<<EDIT(y):\\nb\\n:EDIT\"",
    ),
    ("a <<EDIT(x): b\n<get path=\"c\"/>", "read path=c \"a <<EDIT(x): b\""),
    ("<<READ(a)\n<get path=\"a\"/>", "- ?other_surface \"<<READ(a)\\n<get path=\"a\"/>\""),
    ("cat <<EOF\n<get path=\"a\"/>\nEOF", "read path=a \"cat <<EOF\\nEOF\""),
    ("  <<KILL(a)::KILL\n<get path=\"b\"/>", "read path=b ?other_surface \"<<KILL(a)::KILL\""),
    ("<<EDIT1(a):x:EDIT1\n<get path=\"b\"/>", "read path=b ?other_surface \"<<EDIT1(a):x:EDIT1\""),
];
