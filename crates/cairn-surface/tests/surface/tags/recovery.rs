//! Tags that are not closed, not whole, or not of one name.

use super::notation::{Cases, check_all};

#[test]
fn a_reply_that_ends_within_a_tag_says_nothing_there() {
    check_all(A_REPLY_THAT_ENDS_WITHIN_A_TAG_SAYS_NOTHING_THERE);
}

const A_REPLY_THAT_ENDS_WITHIN_A_TAG_SAYS_NOTHING_THERE: Cases = &[
    ("<se", "- ?truncated"),
    ("<set pa", "- ?truncated"),
    ("<set", "- ?truncated"),
    (r#"<set path="a"#, "- ?truncated"),
    ("<set path=", "- ?truncated"),
    (r#"<set path="a""#, "- ?truncated"),
    (r#"<set path="a" "#, "- ?truncated"),
    (r#"<set path="a"/"#, "- ?truncated"),
    ("text <up", r#"- ?truncated "text""#),
    (r#"<get path="a"/><se"#, "read path=a ?truncated"),
    ("<get path=\"a\"/>\n<set path=\"b", "read path=a ?truncated"),
    ("<", r#"- "<""#),
    ("a <", r#"- "a <""#),
    ("</se", r#"- "</se""#),
    (r#"<get path="a"></ge"#, "!read path=a ~unclosed"),
    ("<zz", r#"- "<zz""#),
];

#[test]
fn a_body_that_is_not_closed_is_taken_and_marked() {
    check_all(A_BODY_THAT_IS_NOT_CLOSED_IS_TAKEN_AND_MARKED);
}

const A_BODY_THAT_IS_NOT_CLOSED_IS_TAKEN_AND_MARKED: Cases = &[
    (r#"<set path="a">content"#, "!write path=a content=content ~unclosed"),
    ("<set path=\"a\">\ncontent\n", r#"!write path=a content=content\n ~unclosed"#),
    ("<sh>cargo test", "!bash command=cargo test ~unclosed"),
    (r#"<update status="200">done"#, "!send status=200 text=done ~unclosed =200"),
    (r#"<set path="a">content</s"#, "!write path=a content=content ~unclosed"),
    (r#"<set path="a">content</"#, "!write path=a content=content ~unclosed"),
    (r#"<set path="a">content</set"#, "!write path=a content=content ~closer_unended"),
    ("<sh>ls</sh\n<get path=\"b\"/>", "bash command=ls; read path=b ~closer_unended"),
    (
        "<set path=\"a\">content\n<update status=\"200\">done</update>",
        r#"!write path=a content=content\n; send status=200 text=done ~unclosed =200"#,
    ),
    (
        "<set path=\"a\">content\n<get path=\"b\"/>\n",
        r#"!write path=a content=content\n; read path=b ~unclosed"#,
    ),
    (
        "<set path=\"a\">content\n<get path=\"b\">\n<update status=\"200\">x</update>",
        r#"!write path=a content=content\n<get path="b">\n; send status=200 text=x ~unclosed =200"#,
    ),
    (
        "<set path=\"a\">one\n<set path=\"b\">two</set>",
        r#"!write path=a content=one\n; write path=b content=two ~unclosed"#,
    ),
    (
        "<set path=\"a\">one\n<set path=\"b\">two</set>\n<update status=\"200\">x</update>",
        r#"!write path=a content=one\n; write path=b content=two; send status=200 text=x ~unclosed =200"#,
    ),
    (
        r#"<set path="a">content <update status="200">done</update>"#,
        r#"!write path=a content=content <update status="200">done</update> ~unclosed"#,
    ),
    (
        "<set path=\"a\">content\n<update status=\"200\">done</update> trailing",
        r#"!write path=a content=content\n<update status="200">done</update> trailing ~unclosed"#,
    ),
    (
        "<set path=\"a\">content\n  <get path=\"b\"/>",
        r#"!write path=a content=content\n  <get path="b"/> ~unclosed"#,
    ),
    ("I run <sh>ls", r#"- ?unclosed "I run <sh>ls""#),
    ("<get>a.txt", "!read path=a.txt ~unclosed"),
    (
        "<get path=\"a\">\nprose\n<update status=\"102\">x</update>",
        "!read path=a matching=prose; send status=102 text=x ~unclosed",
    ),
    (
        "<set path=\"a\">x<set>\n<set path=\"b\">y</set>\n",
        r#"!write path=a content=x<set>\n; write path=b content=y ~unclosed"#,
    ),
];

#[test]
fn no_op_is_rescued_out_of_a_fence_a_body_or_a_thought() {
    check_all(NO_OP_IS_RESCUED_OUT_OF_A_FENCE_A_BODY_OR_A_THOUGHT);
}

const NO_OP_IS_RESCUED_OUT_OF_A_FENCE_A_BODY_OR_A_THOUGHT: Cases = &[
    (
        "<set path=\"doc.md\">\n# Doc\n```\n<rm path=\"x\"/>\n```\n",
        r#"!write path=doc.md content=# Doc\n```\n<rm path="x"/>\n```\n ~unclosed"#,
    ),
    (
        "<set path=\"doc.md\">\n# Doc\n```\n<rm path=\"x\"/>\n```\n<get path=\"b\"/>\n",
        r#"!write path=doc.md content=# Doc\n```\n<rm path="x"/>\n```\n; read path=b ~unclosed"#,
    ),
    (
        "<set path=\"doc.md\">\n````\n```\n<rm path=\"x\"/>\n```\n````\n<get path=\"b\"/>",
        r#"!write path=doc.md content=````\n```\n<rm path="x"/>\n```\n````\n; read path=b ~unclosed"#,
    ),
    (
        "<set path=\"doc.md\">\n~~~ xml\n<rm path=\"x\"/>\n",
        r#"!write path=doc.md content=~~~ xml\n<rm path="x"/>\n ~unclosed"#,
    ),
    (
        "<think>hm\n```\n<rm path=\"x\"/>\n```\n<get path=\"b\"/>",
        r#"- ~thought_unclosed ?thought_unclosed (hm\n```\n<rm path="x"/>\n```\n<get path="b"/>)"#,
    ),
    (
        "<set path=\"a\">text\n<think>\n<rm path=\"x\"/>\n</think>\n<get path=\"b\"/>",
        r#"!write path=a content=text\n<think>\n<rm path="x"/>\n</think>\n; read path=b ~unclosed"#,
    ),
    (
        "<set path=\"a\">then <sh>cat <<EOF\n<rm path=\"x\"/>\nEOF</sh>\n<get path=\"b\"/>",
        r#"!write path=a content=then <sh>cat <<EOF\n<rm path="x"/>\nEOF</sh>\n; read path=b ~unclosed"#,
    ),
    (
        "<think>first <sh>cat <<EOF\n<rm path=\"x\"/>\nEOF</sh>\n<get path=\"b\"/>",
        r#"- ~thought_unclosed ?thought_unclosed (first <sh>cat <<EOF\n<rm path="x"/>\nEOF</sh>\n<get path="b"/>)"#,
    ),
];

#[test]
fn a_tag_without_a_body_was_meant_whole() {
    check_all(A_TAG_WITHOUT_A_BODY_WAS_MEANT_WHOLE);
}

const A_TAG_WITHOUT_A_BODY_WAS_MEANT_WHOLE: Cases = &[
    (r#"<get path="a">"#, "!read path=a ~unclosed"),
    (r#"<get path="a"><get path="b">"#, "read path=a; !read path=b ~self_closed ~unclosed"),
    (r#"<get path="a"><get path="b"/>"#, "read path=a; read path=b ~self_closed"),
    (
        "<get path=\"a\">\n<get path=\"b\">\n<update status=\"200\">x</update>",
        "read path=a; read path=b; send status=200 text=x ~self_closed ~self_closed =200",
    ),
    (
        "<get path=\"a\">\n<set path=\"b\">x</set>\n",
        "read path=a; write path=b content=x ~self_closed",
    ),
    (r#"<set path="a"><get path="b"/>"#, "!read path=b ?arguments"),
    ("<rm path=\"a\">\n\n<rm path=\"b\">", "!remove path=a; !remove path=b ~self_closed ~unclosed"),
    (r#"<get path="a"><get path="b"></get>"#, "read path=a; read path=b ~self_closed"),
    (r#"<sh command="ls"><get path="b"/>"#, "!bash command=ls; read path=b ~self_closed"),
    ("<get path=\"a\">\n\nAll read.", "!read path=a matching=All read. ~unclosed"),
];

#[test]
fn a_closer_of_another_name_closes() {
    check_all(A_CLOSER_OF_ANOTHER_NAME_CLOSES);
}

const A_CLOSER_OF_ANOTHER_NAME_CLOSES: Cases = &[
    (r#"<set path="a">x</get>"#, "!write path=a content=x ~closer_mismatched"),
    (
        "<get path=\"a\">x</set>\n<get path=\"b\"/>",
        "read path=a matching=x; read path=b ~closer_mismatched",
    ),
    (
        "<set path=\"a\">x</get>\n<set path=\"b\">y</set>",
        "!write path=a content=x; write path=b content=y ~closer_mismatched",
    ),
    ("<sh>ls</env>", "!bash command=ls ~closer_mismatched"),
    (r#"<update status="200">done</set>"#, "send status=200 text=done ~closer_mismatched =200"),
    (r#"<set path="a">x</get> more</set>"#, "write path=a content=x</get> more"),
    (r#"<set path="a">x</div>"#, "!write path=a content=x</div> ~unclosed"),
    (r#"<get path="a"></set>"#, "read path=a ~closer_mismatched"),
    (
        "<set path=\"a\">x</set>\n<sh>y\n</set>\n<rm path=\"z\"/>",
        "!remove path=z ?unclosed ?closer_alone",
    ),
];

#[test]
fn a_closer_that_closes_nothing_is_told() {
    check_all(A_CLOSER_THAT_CLOSES_NOTHING_IS_TOLD);
}

const A_CLOSER_THAT_CLOSES_NOTHING_IS_TOLD: Cases = &[
    (r#"<get path="a"/></get>"#, "read path=a ~closer_extra"),
    ("<sh>ls</sh></sh>", "- ?closer_alone"),
    ("<sh>ls</sh>\n</sh>\n<get path=\"a\"/>", "read path=a ?closer_alone"),
    ("</set>", "- ?closer_alone"),
    ("text </get> text", r#"- ?closer_alone "text  text""#),
    (r#"<get path="a"/> text </set>"#, r#"- ?closer_alone "text""#),
    (r#"set path="a"><sh>rm x</sh></set>"#, r#"- ?closer_alone "set path="a">""#),
    (
        "<st path=\"a\">\n<sh>rm x</sh>\n</set>\n<get path=\"b\"/>",
        r#"read path=b ?tag_unknown ?closer_alone "<st path="a">""#,
    ),
    ("<set path=\"a\"/>\nsome\n<sh>rm x</sh>\n</set>", r#"- ?arguments ?closer_alone "some""#),
    (
        "<get path=\"z\"/>\n<stt path=\"a\"> <sh>rm x</sh> </set>",
        r#"- ?tag_unknown ?closer_alone "<stt path="a">""#,
    ),
    ("<get path=\"a\"/>\nDone.</update>", r#"- ?closer_alone "Done.""#),
];

#[test]
fn a_quote_that_is_not_closed_loses_no_later_op() {
    check_all(A_QUOTE_THAT_IS_NOT_CLOSED_LOSES_NO_LATER_OP);
}

const A_QUOTE_THAT_IS_NOT_CLOSED_LOSES_NO_LATER_OP: Cases = &[
    (
        "<get path=\"a/>\n<update status=\"200\">x</update>",
        "!read path=a; send status=200 text=x ~quote_closed =200",
    ),
    (
        "<get path=\"a>\n<update status=\"200\">x</update>",
        "!read path=a; send status=200 text=x ~self_closed ~quote_closed =200",
    ),
    (
        "<set path=\"a>content</set>\n<get path=\"b\"/>",
        "!write path=a content=content; read path=b ~quote_closed",
    ),
    (
        r#"<get path="a/><update status="200">x</update>"#,
        "!read path=a; send status=200 text=x ~quote_closed =200",
    ),
    (
        "<get path=\"a b/>\n<update status=\"200\">x</update>",
        "send status=200 text=x ?tag_malformed =200",
    ),
    (
        r#"<get path="a b/> <update status="200">x</update>"#,
        "send status=200 text=x ?tag_malformed =200",
    ),
    (
        "<get path=\"a\n<update status=\"200\">x</update>",
        "!send status=200 text=x ?tag_malformed =200",
    ),
    ("<get path='a/>\n<get path='b'/>", "!read path=a; read path=b ~quote_closed"),
    ("<get path=\"a hashes/>\n<get path=\"b\"/>", "read path=b ?tag_malformed"),
    ("<set path=\"a b>content <sh>x</sh></set>\n<get path=\"b\"/>", "read path=b ?tag_malformed"),
    ("<set path=\"a b>content <sh>x</sh>\n<get path=\"b\"/>", "!read path=b ?tag_malformed"),
    ("<get path=a\"/>\n<get path=\"b\"/>", "read path=b ?tag_malformed"),
    ("<get path=\"\"a\"/>\n<get path=\"b\"/>", "read path=b ?tag_malformed"),
    ("<get path=\"a\"\"/>\n<get path=\"b\"/>", "read path=b ?tag_malformed"),
    ("<get path=\"a\"scope=\"1\"/>\n<get path=\"b\"/>", "read path=b ?tag_malformed"),
    ("<get path==\"a\"/>\n<get path=\"b\"/>", "read path=b ?tag_malformed"),
    ("<get path\"a\"/>\n<get path=\"b\"/>", "read path=b ?tag_malformed"),
    ("<set path=\"a\"content</set>\n<get path=\"b\"/>", "read path=b ?tag_malformed"),
    (r#"<set path="a" <b>content <get path="x"/></set>"#, "- ?tag_malformed"),
    ("<mv path=\"a to=\"b\"/>\n<get path=\"b\"/>", "read path=b ?tag_malformed"),
    ("<get path=\"a\"/\n<get path=\"b\"/>", "!read path=b ?tag_malformed"),
    ("<get path=\"x>y\"z>\n<get path=\"b\"/>", "!read path=b ?tag_malformed"),
    (r#"<get path="a" 7/><get path="b"/>"#, "read path=b ?tag_malformed"),
    ("<set path=\"a\" !>one\ntwo", "- ?tag_malformed"),
];

#[test]
fn a_bracket_too_many_is_nobodys() {
    check_all(A_BRACKET_TOO_MANY_IS_NOBODYS);
}

const A_BRACKET_TOO_MANY_IS_NOBODYS: Cases = &[
    (r#"<set path="a">>x</set>"#, "- ?bracket_stray"),
    (r#"<set path="a">x<</set>"#, "- ?bracket_stray"),
    (r#"<get path="a"/>>"#, r#"read path=a ">""#),
    (r#"<<get path="a"/>"#, r#"read path=a "<""#),
    ("<sh>ls</sh>>", r#"bash command=ls ">""#),
    (r#"<sh>path="a">x</sh>"#, "- ?bracket_stray"),
    (r#"<sh timeout_ms="1" background>"true" wake="true">a</sh>"#, "- ?bracket_stray"),
    (r#"<sh background>"true">a</sh>"#, "- ?bracket_stray"),
    (r#"<sh>"$BIN" > out</sh>"#, r#"bash command="$BIN" > out"#),
    (r#"<sh path="a" >b="true">x</sh>"#, "- ?bracket_stray"),
    ("<sh>cat>x</sh>", "bash command=cat>x"),
    ("<set path=\"a\">\n> quote\n</set>", r#"write path=a content=> quote\n"#),
];

#[test]
fn ops_beyond_the_cap_are_named() {
    check_all(OPS_BEYOND_THE_CAP_ARE_NAMED);
}

const OPS_BEYOND_THE_CAP_ARE_NAMED: Cases = &[
    (
        r#"<get path="a"/><get path="a"/><get path="a"/><get path="a"/><get path="a"/><get path="a"/><get path="a"/><get path="a"/><get path="a"/><get path="a"/><get path="a"/><get path="a"/><get path="a"/><get path="a"/><get path="a"/><get path="a"/><get path="a"/><get path="a"/><get path="a"/><get path="a"/><get path="a"/>"#,
        "read path=a; read path=a; read path=a; read path=a; read path=a; read path=a; read path=a; read path=a; read path=a; read path=a; read path=a; read path=a; read path=a; read path=a; read path=a; read path=a; read path=a; read path=a; read path=a; read path=a ?ops_over_cap",
    ),
    (
        r#"<get path="a"/><get path="a"/><get path="a"/><get path="a"/><get path="a"/><get path="a"/><get path="a"/><get path="a"/><get path="a"/><get path="a"/><get path="a"/><get path="a"/><get path="a"/><get path="a"/><get path="a"/><get path="a"/><get path="a"/><get path="a"/><get path="a"/><get path="a"/><update status="200">x</update>"#,
        "read path=a; read path=a; read path=a; read path=a; read path=a; read path=a; read path=a; read path=a; read path=a; read path=a; read path=a; read path=a; read path=a; read path=a; read path=a; read path=a; read path=a; read path=a; read path=a; read path=a ?ops_over_cap",
    ),
    (
        r#"<rm path="a"/><rm path="a"/><rm path="a"/><rm path="a"/><rm path="a"/><rm path="a"/><rm path="a"/><rm path="a"/><rm path="a"/><rm path="a"/><rm path="a"/><rm path="a"/><rm path="a"/><rm path="a"/><rm path="a"/><rm path="a"/><rm path="a"/><rm path="a"/><rm path="a"/><rm path="a"/><rm path="a"/><rm path="a"/><rm path="a"/><rm path="a"/><rm path="a"/><rm path="a"/><rm path="a"/><rm path="a"/><rm path="a"/><rm path="a"/><rm path="a"/><rm path="a"/><rm path="a"/><rm path="a"/><rm path="a"/><rm path="a"/><rm path="a"/><rm path="a"/><rm path="a"/><rm path="a"/>"#,
        "remove path=a; remove path=a; remove path=a; remove path=a; remove path=a; remove path=a; remove path=a; remove path=a; remove path=a; remove path=a; remove path=a; remove path=a; remove path=a; remove path=a; remove path=a; remove path=a; remove path=a; remove path=a; remove path=a; remove path=a ?ops_over_cap",
    ),
];

#[test]
fn what_is_lost_taints_what_follows_it() {
    check_all(WHAT_IS_LOST_TAINTS_WHAT_FOLLOWS_IT);
}

const WHAT_IS_LOST_TAINTS_WHAT_FOLLOWS_IT: Cases = &[
    (
        "<set path=\"doc.md\">\n<rm path=\"n.txt\"/>\nis how to clean, and",
        r#"!remove path=n.txt ?arguments "is how to clean, and""#,
    ),
    (
        "<set path=\"doc.md\" bad=>\nHow to:\n<sh>rm -rf build</sh>\nand so on",
        r#"!bash command=rm -rf build ?tag_malformed "and so on""#,
    ),
    (
        "<set path=\"doc.md\nHow to:\n<sh>rm -rf build</sh>\nand so on",
        r#"!bash command=rm -rf build ?tag_malformed "and so on""#,
    ),
    ("<set path=\"doc.md\" bad= />\n<sh>ls</sh>", "bash command=ls ?tag_malformed"),
    (
        "<set path=\"doc.md\" bad=>\nHow to:\n<sh>rm -rf build</sh>\n</set>\n<sh>ls</sh>",
        "bash command=ls ?tag_malformed",
    ),
    ("I run <sh>\n<rm path=\"x\"/>\n", r#"!remove path=x ?unclosed "I run <sh>""#),
    ("A Vec<get> and\n<rm path=\"x\"/>\n", r#"remove path=x "A Vec<get> and""#),
    ("<set path=\"a\">>x</set>\n<rm path=\"x\"/>", "!remove path=x ?bracket_stray"),
    ("<set>\nwords\n<rm path=\"x\"/>", "!remove path=x ?arguments"),
    (
        "<rm path=\"a\">\n<get path=\"b\"/>\n<rm path=\"c\"/>",
        "!remove path=a; read path=b; remove path=c ~self_closed",
    ),
    ("<get path=\"a\">\n<rm path=\"b\"/>", "read path=a; remove path=b ~self_closed"),
    ("<set path=\"a\" bad=>\n</think>\n<rm path=\"x\"/>", "!remove path=x ?tag_malformed"),
];

#[test]
fn a_body_that_holds_its_own_closer_is_no_op() {
    check_all(A_BODY_THAT_HOLDS_ITS_OWN_CLOSER_IS_NO_OP);
}

const A_BODY_THAT_HOLDS_ITS_OWN_CLOSER_IS_NO_OP: Cases = &[
    (
        "<set path=\"a.md\">\nEnd with </set> always:\n<sh>rm x</sh>\n</set>",
        r#"- ?closer_alone "always:""#,
    ),
    (
        "<get path=\"z\"/>\n<set path=\"a.md\">\nEnd with </set> always:\n<sh>rm x</sh>\n</set>\n<get path=\"b\"/>",
        r#"read path=z; read path=b ?closer_alone "always:""#,
    ),
    (
        "<set path=\"a.md\">\n```\n</set>\n<sh>x</sh>\n```\n</set>",
        r#"- ?quote_unclosed ?closer_alone "```\n</set>""#,
    ),
    (
        "<set path=\"a.md\">\n```\n</set>\n<sh>x</sh>\n```\n",
        r#"!write path=a.md content=```\n; !bash command=x ?quote_unclosed "```""#,
    ),
    (
        "<set path=\"a.md\">\n```\n</set>\n<sh>x</sh>\n```\n</set>\n```\nsome\n```\n",
        r#"- ?closer_alone "```\n</set>\n```\nsome\n```""#,
    ),
    (
        "<set path=\"a.md\">\nuse `</set>` or\n<sh>x</sh>\nand `</set>`\n</set>",
        r#"- ?statement_quoted ?closer_alone ?closer_alone "` or\n<sh>x</sh>\nand ``""#,
    ),
    (
        "<set path=\"a.md\">x</set>\n```\n</set>\n```\n",
        r#"write path=a.md content=x "```\n</set>\n```""#,
    ),
    (
        "<set path=\"a.md\">x</set>\n```\n<set path=\"b\">y</set>\n",
        r#"write path=a.md content=x ?quote_unclosed "```\n<set path="b">y</set>""#,
    ),
    (
        "<set path=\"a.md\">x</set>\n<sh>x</sh>\n<think>so</set>",
        "- ~thought_unclosed ?thought_unclosed ?closer_alone (so</set>)",
    ),
    (
        "<set path=\"a.md\">x</set>\n```tool_code\n<rm path=\"x\"/>\n</set>\n```\n",
        "- ~foreign_call ?closer_alone",
    ),
    (
        "<st path=\"a\">\n<sh>x</sh>\nif a > b\n</set>",
        r#"- ?tag_unknown ?closer_alone "<st path="a">\nif a > b""#,
    ),
    (
        r#"<st path="a"><sh>x</sh><get path="b"/></get>"#,
        r#"- ?tag_unknown ?closer_alone "<st path="a">""#,
    ),
];
