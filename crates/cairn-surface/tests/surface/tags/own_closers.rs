//! Bodies that held their own closer: wherever the real one stands, nothing read since is done.

use super::notation::{Cases, check_all};

#[test]
fn what_follows_a_stray_closer_is_doubtful() {
    check_all(WHAT_FOLLOWS_A_STRAY_CLOSER_IS_DOUBTFUL);
}

const WHAT_FOLLOWS_A_STRAY_CLOSER_IS_DOUBTFUL: Cases = &[
    ("<sh>grep '</sh>' x</sh>\n<rm path=\"a\"/>", "!remove path=a ?closer_alone \"' x\""),
    (
        "<set path=\"x\">a</set>\nNote that </set> closes it.\n<rm path=\"a\"/>\n<get path=\"b\"/>",
        "!remove path=a; read path=b ?closer_alone \"Note that  closes it.\"",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n```tool_code\n</set>\n```\n<rm path=\"b\"/>",
        "!remove path=b ~foreign_call ?closer_alone",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n```tool_code\nx</set>\n```\n<rm path=\"b\"/>\n<get path=\"c\"/>",
        "!remove path=b; read path=c ~foreign_call ?closer_alone \"x\"",
    ),
    ("</set>\n<rm path=\"a\"/>", "remove path=a ?closer_alone"),
    (
        "<set>b</set>\nsee </set>\n<rm path=\"v\"/>",
        "!remove path=v ?arguments ?closer_alone \"see\"",
    ),
];

#[test]
fn the_line_of_a_fence_may_hold_the_closer() {
    check_all(THE_LINE_OF_A_FENCE_MAY_HOLD_THE_CLOSER);
}

const THE_LINE_OF_A_FENCE_MAY_HOLD_THE_CLOSER: Cases = &[
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n```</set>\nDone.\n",
        "- ?quote_unclosed ?closer_alone \"```</set>\\nDone.\"",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n~~~</set>\nDone.\n",
        "- ?quote_unclosed ?closer_alone \"~~~</set>\\nDone.\"",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n```tool_code </set>\nDone.\n",
        "- ?quote_unclosed ?closer_alone \"```tool_code </set>\\nDone.\"",
    ),
];

#[test]
fn a_head_that_makes_no_sense_or_a_pair_that_says_nothing_may_hold_the_closer() {
    check_all(A_HEAD_THAT_MAKES_NO_SENSE_OR_A_PAIR_THAT_SAYS_NOTHING_MAY_HOLD_THE_CLOSER);
}

const A_HEAD_THAT_MAKES_NO_SENSE_OR_A_PAIR_THAT_SAYS_NOTHING_MAY_HOLD_THE_CLOSER: Cases = &[
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\nsee <get ...> ok</set>\nDone.\n",
        "- ?tag_malformed ?closer_alone \"see\"",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n<get path=\"></set>\nok",
        "- ?tag_malformed ?closer_alone",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n<sh -c> ok</set>\nok",
        "- ?tag_malformed ?closer_alone",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n<set ...></set>\nok",
        "- ?tag_malformed ?closer_alone \"ok\"",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n<set path=“y”>b</set>\nok",
        "- ?tag_malformed ?closer_alone \"ok\"",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\nuse <set></set>",
        "- ?arguments ?closer_alone \"use\"",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\nuse <set>b</set>",
        "- ?arguments ?closer_alone \"use\"",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n<set path=\"y\"><</set>",
        "- ?bracket_stray ?closer_alone",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n<set path=\"y\"></set",
        "- ~closer_unended ?closer_alone",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n<set path=\"y\">b</set>",
        "write path=x content=a; remove path=victim; write path=y content=b",
    ),
];

#[test]
fn a_closer_too_many_is_forgiven_only_where_no_body_came_before() {
    check_all(A_CLOSER_TOO_MANY_IS_FORGIVEN_ONLY_WHERE_NO_BODY_CAME_BEFORE);
}

const A_CLOSER_TOO_MANY_IS_FORGIVEN_ONLY_WHERE_NO_BODY_CAME_BEFORE: Cases = &[
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n<set path=\"y\"/></set>\nok",
        "- ?arguments ?closer_alone \"ok\"",
    ),
    ("<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n<set/></set>", "- ?arguments ?closer_alone"),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n<set manifest path=\"y\"/></set>",
        "- ?closer_alone",
    ),
    ("<set path=\"y\"/></set>", "- ~closer_extra ?arguments"),
];

#[test]
fn closers_with_more_than_their_name_are_closers() {
    check_all(CLOSERS_WITH_MORE_THAN_THEIR_NAME_ARE_CLOSERS);
}

const CLOSERS_WITH_MORE_THAN_THEIR_NAME_ARE_CLOSERS: Cases = &[
    (
        "<set path=\"x\">a</set x>\n<get path=\"b\"/>",
        "write path=x content=a; read path=b ~closer_sloppy",
    ),
    ("<set path=\"x\">a</ set>", "write path=x content=a ~closer_sloppy"),
    ("<set path=\"x\">a</set/>\n", "write path=x content=a ~closer_sloppy"),
    ("<set path=\"x\">a</set\u{a0}>\n", "write path=x content=a ~closer_sloppy"),
    ("<set path=\"x\">a</set y\n</set>", "write path=x content=a</set y\\n"),
    ("<set path=\"x\">if a </ b then</set>", "write path=x content=if a </ b then"),
];

#[test]
fn what_is_quoted_thought_or_called_may_hold_the_closer() {
    check_all(WHAT_IS_QUOTED_THOUGHT_OR_CALLED_MAY_HOLD_THE_CLOSER);
}

const WHAT_IS_QUOTED_THOUGHT_OR_CALLED_MAY_HOLD_THE_CLOSER: Cases = &[
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n```\n</set>\nNow run:\n```sh\nmake\n```\n",
        "- ?closer_alone \"```\\n</set>\\nNow run:\\n```sh\\nmake\\n```\"",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\nsee `</set> I wrote `x`.",
        "- ?closer_alone \"see `</set> I wrote `x`.\"",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\nsee `</set>` ok",
        "write path=x content=a; remove path=victim \"see `</set>` ok\"",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\nsee `<set>b</set>` ok",
        "write path=x content=a; remove path=victim \"see `<set>b</set>` ok\"",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n<think></set>\n<think>hm</think>\nok",
        "- ?closer_alone \"ok\" (</set>\\n<think>hm)",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n<|channel|>analysis<|message|></set><|end|>",
        "- ?closer_alone (</set>)",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n<invoke name=\"q\"><parameter name=\"a\"></set>\n</parameter></invoke>",
        "- ?unknown_tool ?closer_alone \"<invoke name=\"q\"><parameter name=\"a\"></set>\\n</parameter></invoke>\"",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n<invoke name=\"read\"><parameter name=\"path\"></set>\n</parameter></invoke>",
        "- ?target_refused ?closer_alone",
    ),
];

#[test]
fn wherever_it_stands_the_closer_takes_back() {
    check_all(WHEREVER_IT_STANDS_THE_CLOSER_TAKES_BACK);
}

const WHEREVER_IT_STANDS_THE_CLOSER_TAKES_BACK: Cases = &[
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n<get path=\"</set>\nDone",
        "- ?tag_malformed ?closer_alone \"Done\"",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n<set path=\"</set>",
        "- ?tag_malformed ?closer_alone",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n<set path=\"y\" </set>",
        "- ?tag_malformed ?closer_alone",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n<get path=\"b\">\n```\n</set>\n```",
        "- ?unclosed ?closer_alone \"```\"",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n> </set>\nok",
        "- ?closer_alone \"> </set>\\nok\"",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n<!-- </set> -->\nok",
        "- ?closer_alone \"<!-- </set> -->\\nok\"",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n<output></set></output>",
        "- ?closer_alone \"<output></set></output>\"",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n{\"a\":\"</set>\"}\nok",
        "- ?closer_alone \"{\"a\":\"</set>\"}\\nok\"",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n<gett path=\"a\"></set>\nok",
        "- ?tag_unknown ?closer_alone \"<gett path=\"a\">\\nok\"",
    ),
    ("<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n</ set>", "- ?closer_alone"),
    ("<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n</set x>ok", "- ?closer_alone \"ok\""),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n`</set x>` ok",
        "write path=x content=a; remove path=victim \"`</set x>` ok\"",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n```\nx\n</set>\n```\nok",
        "- ?closer_alone \"```\\nx\\n</set>\\n```\\nok\"",
    ),
    ("<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n\\</set>", "- ?closer_alone \"\\\""),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n<think>a</think></set>",
        "- ?closer_alone (a)",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n<<SEND:\n</set>\n:SEND",
        "- ?other_surface ?closer_alone \"<<SEND:\\n</set>\\n:SEND\"",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n[INST]</set>[/INST]",
        "- ?closer_alone \"[INST]</set>[/INST]\"",
    ),
    ("<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n</set", "- ?closer_alone"),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n</se",
        "write path=x content=a; remove path=victim \"</se\"",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n<|python_tag|>{\"name\":\"q\",\"arguments\":{\"a\":\"</set>\"}}",
        "- ?unknown_tool ?closer_alone \"{\"name\":\"q\",\"arguments\":{\"a\":\"</set>\"}}\"",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n<set path=\"y\"/>\n</set>\nok",
        "- ?arguments ?closer_alone \"ok\"",
    ),
    ("<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n</SET>", "- ?closer_alone"),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n&lt;/set>",
        "write path=x content=a; remove path=victim \"&lt;/set>\"",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n<set path=\"y\">\n<set path=\"z\">\n</set>\nok",
        "write path=x content=a; remove path=victim; !write path=z content= ?arguments \"ok\"",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n<sh>ls</sh>\n<set path=\"y\"/></set>",
        "- ?arguments ?closer_alone",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n<set path=\"y\">b</set>\n```\n<set path=\"y\">b</set>\n```\nok",
        "write path=x content=a; remove path=victim; write path=y content=b \"```\\n<set path=\"y\">b</set>\\n```\\nok\"",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n<set path=\"y\">b</set>\nThen `<set path=\"z\">` starts and `</set>` ends it.",
        "write path=x content=a; remove path=victim; write path=y content=b \"Then `<set path=\"z\">` starts and `</set>` ends it.\"",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\nSee:\n```xml\n<set path=\"y\">\nb\n</set>\n```\n",
        "write path=x content=a; remove path=victim \"See:\\n```xml\\n<set path=\"y\">\\nb\\n</set>\\n```\"",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n<think>I used <set> and </set> now</think>",
        "write path=x content=a; remove path=victim (I used <set> and </set> now)",
    ),
    (
        "<set path=\"x\">a</set>\n<rm path=\"victim\"/>\n1. Use\n   ```\n   </set>\n   ```\nok",
        "write path=x content=a; remove path=victim \"1. Use\\n   ```\\n   </set>\\n   ```\\nok\"",
    ),
];
