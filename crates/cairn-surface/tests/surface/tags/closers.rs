//! Closers that the end of a reply cuts, and closers that close nothing: what they take back.

use super::notation::{Cases, check_all};

#[test]
fn a_closer_that_the_end_of_the_reply_cuts_is_none() {
    check_all(A_CLOSER_THAT_THE_END_OF_THE_REPLY_CUTS_IS_NONE);
}

const A_CLOSER_THAT_THE_END_OF_THE_REPLY_CUTS_IS_NONE: Cases = &[
    (
        "<set path=\"a.xml\">\n<settings>\n  <x>1</x>\n</set",
        r#"!write path=a.xml content=<settings>\n  <x>1</x>\n ~closer_unended"#,
    ),
    (r#"<set path="a">x</set "#, "!write path=a content=x ~closer_unended"),
    ("<set path=\"a\">x</set\n", "write path=a content=x ~closer_unended"),
    (r#"<set path="a">x</get"#, "!write path=a content=x ~closer_mismatched"),
    ("<sh>ls</sh\n<get path=\"b\"/>", "bash command=ls; read path=b ~closer_unended"),
];

#[test]
fn a_closer_that_closes_nothing_takes_back_from_the_first_of_its_name() {
    check_all(A_CLOSER_THAT_CLOSES_NOTHING_TAKES_BACK_FROM_THE_FIRST_OF_ITS_NAME);
}

const A_CLOSER_THAT_CLOSES_NOTHING_TAKES_BACK_FROM_THE_FIRST_OF_ITS_NAME: Cases = &[
    (
        "<set path=\"d.md\">\nClose with </set>.\n<rm path=\"v\"/>\n<set path=\"x\">b</set>\n</set>\n",
        r#"- ?closer_alone ".""#,
    ),
    (
        "<set path=\"d.md\">a </set> b </set>\n<rm path=\"v\"/>\nif x > y </set>\n",
        r#"- ?closer_alone ?closer_alone "b \nif x > y""#,
    ),
    (
        "<set path=\"d.md\"></set></think>\n<rm path=\"v\"/>\n--></set>",
        r#"- ~thought_unopened ?thought_closed ?closer_alone "-->" (<set path="d.md"></set>)"#,
    ),
    (
        "<set path=\"d.md\">\nClose with </set> or </set>\n<rm path=\"v\"/>\n<get path=\"b\">\n</set>\n",
        r#"- ?closer_alone ?unclosed ?closer_alone "or""#,
    ),
    (
        "<get path=\"z\"/>\n<set path=\"d.md\">a </set> b </set>\n<rm path=\"v\"/>\n</set>\n<get path=\"b\"/>",
        r#"read path=z; read path=b ?closer_alone ?closer_alone "b""#,
    ),
    (
        "<set path=\"d.md\">a</set>\n```tool_code\n<rm path=\"v\"/>\n<get path=\"b\">\n</set>\n```\n",
        "- ~foreign_call ?unclosed ?closer_alone",
    ),
    (
        "```tool_code\n<set path=\"d.md\">a</set>\n```\n<rm path=\"v\"/>\n<get path=\"b\">\n</set>\n",
        "- ~foreign_call ?unclosed ?closer_alone",
    ),
];

#[test]
fn a_value_that_holds_the_end_of_its_call_is_no_op() {
    check_all(A_VALUE_THAT_HOLDS_THE_END_OF_ITS_CALL_IS_NO_OP);
}

const A_VALUE_THAT_HOLDS_THE_END_OF_ITS_CALL_IS_NO_OP: Cases = &[
    (
        "<tool_call><function=write><parameter=path>d.md</parameter><parameter=content>Doc\n```\na</parameter></function></tool_call>\n```\nmiddle\n```\n<rm path=\"v\"/>\n```\nend\n</parameter></function></tool_call>",
        r#"- ~foreign_call ?quote_unclosed ?closer_alone ?closer_alone ?closer_alone "```\nmiddle\n```\n```\nend\n</parameter></function></tool_call>""#,
    ),
    (
        "<invoke name=\"write\"><parameter name=\"path\">d.md</parameter><parameter name=\"content\">Doc\n```\na</parameter></invoke>\n```\nmiddle\n```\n<rm path=\"v\"/>\n```\nend\n</parameter></invoke>",
        r#"- ~foreign_call ?quote_unclosed ?closer_alone ?closer_alone "```\nmiddle\n```\n```\nend\n</parameter></invoke>""#,
    ),
    (
        "<tool_call><function=write><parameter=path>d.md</parameter><parameter=content>Doc\na</parameter></function></tool_call>\n<rm path=\"v\"/>\nuse `</parameter></function></tool_call>` here",
        r#"- ~foreign_call ?closer_alone ?closer_alone ?closer_alone "use `</parameter></function></tool_call>` here""#,
    ),
    (
        "<tool_call><function=write><parameter=path>d.md</parameter><parameter=content>Doc\na</parameter></function></tool_call>\n<rm path=\"v\"/>\n> </parameter></function></tool_call>",
        r#"- ~foreign_call ?closer_alone ?closer_alone ?closer_alone "> </parameter></function></tool_call>""#,
    ),
    (
        "<tool_call><function=write><parameter=path>d.md</parameter><parameter=content>Doc\na</parameter></function></tool_call>\n<rm path=\"v\"/>\n<!-- </parameter></function></tool_call>",
        r#"- ~foreign_call ?closer_alone ?closer_alone ?closer_alone "<!-- </parameter></function></tool_call>""#,
    ),
    (
        "<tool_call><function=write><parameter=path>d.md</parameter><parameter=content>Doc\na</parameter></function></tool_call>\n<rm path=\"v\"/>\n<think> </parameter></function></tool_call>",
        "- ~foreign_call ~thought_unclosed ?closer_alone ?closer_alone ?closer_alone (</parameter></function></tool_call>)",
    ),
    (
        "<tool_call><function=write><parameter=path>d.md</parameter><parameter=content>Doc\na</parameter></function></tool_call>\n<rm path=\"v\"/>\n{\"name\":\"get\",\"arguments\":{\"path\":\"a\"}}\n</parameter></function></tool_call>",
        "- ~foreign_call ~foreign_call ?closer_alone ?closer_alone ?closer_alone",
    ),
    (
        "<tool_call><function=write><parameter=path>d.md</parameter><parameter=content>Doc\n```\na</parameter></function></tool_call>\n```\n</parameter></function></tool_call>\n```\n<rm path=\"v\"/>\n```\nx\n```\n",
        r#"!remove path=v ~foreign_call ?closer_alone ?closer_alone ?closer_alone "```\n</parameter></function></tool_call>\n```\n```\nx\n```""#,
    ),
    (
        "<tool_call>{\"name\":\"get\",\"arguments\":{\"path\":\"a\"}}\n{\"name\":\"get\",\"arguments\":{\"path\":\"b\"}}</tool_call>",
        "read path=a; read path=b ~foreign_call ~foreign_call",
    ),
    (
        "<tool_call>{\"name\":\"get\",\"arguments\":{\"path\":\"a\"}}\n{\"nam\":\"get\"}</tool_call>\n<get path=\"c\"/>",
        "- ?foreign_malformed",
    ),
    (
        "<tool_call>{\"name\":\"get\",\"arguments\":{\"path\":\"a\"}}\n{\"name\":</tool_call>",
        "- ?foreign_malformed",
    ),
    (
        "<tool_call><function=write><parameter=path>d.md</parameter><parameter=content>Doc\na</parameter></function></tool_call>\n<tool_call>{\"name\":\"get\",\"arguments\":{\"path\":\"a\"}}</tool_call>\n`<tool_call>x</tool_call>`\n",
        r#"write path=d.md content=Doc\na; read path=a ~foreign_call ~foreign_call "`<tool_call>x</tool_call>`""#,
    ),
];
