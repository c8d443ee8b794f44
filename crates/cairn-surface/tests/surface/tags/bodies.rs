//! Bodies: opaque, exact, nested.

use super::notation::{Cases, check_all};

#[test]
fn bodies_are_opaque() {
    check_all(BODIES_ARE_OPAQUE);
}

const BODIES_ARE_OPAQUE: Cases = &[
    (
        "<set path=\"a.c\">\n#include <stdio.h>\nint main() { return a<b && c>d; }\n</set>",
        r#"write path=a.c content=#include <stdio.h>\nint main() { return a<b && c>d; }\n"#,
    ),
    (
        "<set path=\"a.tsx\">\nexport default () => <div className=\"x\"><Foo/></div>;\n</set>",
        r#"write path=a.tsx content=export default () => <div className="x"><Foo/></div>;\n"#,
    ),
    (
        r#"<set path="a.xml"><![CDATA[ <get path="x"/> ]]></set>"#,
        r#"write path=a.xml content=<![CDATA[ <get path="x"/> ]]>"#,
    ),
    (
        r#"<set path="a.html"><!-- <rm path="x"/> --></set>"#,
        r#"write path=a.html content=<!-- <rm path="x"/> -->"#,
    ),
    (
        r#"<set path="doc.md">Use `<get path="x"/>` here</set>"#,
        r#"write path=doc.md content=Use `<get path="x"/>` here"#,
    ),
    (r#"<set path="doc.md"><get path="x"/></set>"#, r#"write path=doc.md content=<get path="x"/>"#),
    (
        "<set path=\"doc.md\">\n<get path=\"x\"/>\n<rm path=\"y\"/>\n</set>",
        r#"write path=doc.md content=<get path="x"/>\n<rm path="y"/>\n"#,
    ),
    (
        "<set path=\"doc.md\">\n```\n<sh>ls</sh>\n```\n</set>",
        r#"write path=doc.md content=```\n<sh>ls</sh>\n```\n"#,
    ),
    (
        r#"<set path="re.txt">(?<=a)b(?<!c)(?<name>d)</set>"#,
        "write path=re.txt content=(?<=a)b(?<!c)(?<name>d)",
    ),
    (
        r#"<set path="a.rs">fn f<T: Into<Vec<u8>>>() {}</set>"#,
        "write path=a.rs content=fn f<T: Into<Vec<u8>>>() {}",
    ),
    (
        r#"<set path="e">&lt; &amp; &quot; &#65;</set>"#,
        "write path=e content=&lt; &amp; &quot; &#65;",
    ),
    (
        r#"<set path="q">he said "hi" and 'ho' and `x</set>"#,
        r#"write path=q content=he said "hi" and 'ho' and `x"#,
    ),
    (r#"<set path="t">a </get> b</set>"#, "write path=t content=a </get> b"),
    (r#"<set path="t">a </div> b <p></set>"#, "write path=t content=a </div> b <p>"),
    (
        "<sh>cat > x.txt <<EOF\n<get path=\"a\"/>\nEOF</sh>",
        r#"bash command=cat > x.txt <<EOF\n<get path="a"/>\nEOF"#,
    ),
    ("<sh>cat <<'EOF' > x\nhi\nEOF\n</sh>", r#"bash command=cat <<'EOF' > x\nhi\nEOF"#),
    (r#"<sh>a < b > c 2>&1 | grep "<x>"</sh>"#, r#"bash command=a < b > c 2>&1 | grep "<x>""#),
    (
        r#"<sh>echo "<update status=\"200\">"</sh>"#,
        r#"bash command=echo "<update status=\"200\">""#,
    ),
    (
        r#"<set path="j">{"name":"bash","arguments":{"command":"ls"}}</set>"#,
        r#"write path=j content={"name":"bash","arguments":{"command":"ls"}}"#,
    ),
    (
        r#"<set path="t">[TOOL_CALLS] [{"name":"bash","arguments":{}}]</set>"#,
        r#"write path=t content=[TOOL_CALLS] [{"name":"bash","arguments":{}}]"#,
    ),
    (r#"<set path="t"><think>x</think></set>"#, "write path=t content=<think>x</think>"),
    (r#"<set path="t">a</think>b</set>"#, "write path=t content=a</think>b"),
    (
        r#"<update status="200">I ran <sh>ls</sh> and it worked</update>"#,
        "send status=200 text=I ran <sh>ls</sh> and it worked =200",
    ),
    (
        r#"<ask_user question="Q"><get path="a"/></ask_user>"#,
        r#"ask_user question=Q options=["<get path=\"a\"/>"]"#,
    ),
    (
        "<set path=\"d\">~~~\nx\n</set>\n<get path=\"a\"/>",
        r#"write path=d content=~~~\nx\n; read path=a"#,
    ),
    (
        "<set path=\"d\">```\nx</set>\n<get path=\"a\"/>",
        r#"write path=d content=```\nx; read path=a"#,
    ),
    (
        r#"<set path="d">one ` tick</set> and <get path="a"/> and ` more"#,
        r#"write path=d content=one ` tick; read path=a "and  and ` more""#,
    ),
];

#[test]
fn one_line_end_after_the_tag_is_framing() {
    check_all(ONE_LINE_END_AFTER_THE_TAG_IS_FRAMING);
}

const ONE_LINE_END_AFTER_THE_TAG_IS_FRAMING: Cases = &[
    ("<set path=\"a\">\nx\n</set>", r#"write path=a content=x\n"#),
    ("<set path=\"a\">\n\nx</set>", r#"write path=a content=\nx"#),
    ("<set path=\"a\">\r\nx\r\n</set>", r#"write path=a content=x\r\n"#),
    ("<set path=\"a\">x\n</set>", r#"write path=a content=x\n"#),
    (r#"<set path="a"> x </set>"#, "write path=a content= x "),
    ("<set path=\"a\">\n</set>", "write path=a content="),
    ("<set path=\"a\">\n\n</set>", r#"write path=a content=\n"#),
    ("<update status=\"200\">\ndone\n</update>", r#"send status=200 text=done\n =200"#),
    ("<get>\n  a.txt\n</get>", "read path=a.txt"),
    ("<sh>\nls\n</sh>", "bash command=ls"),
];

#[test]
fn tags_of_the_same_name_nest() {
    check_all(TAGS_OF_THE_SAME_NAME_NEST);
}

const TAGS_OF_THE_SAME_NAME_NEST: Cases = &[
    (
        r#"<set path="a">x <set path="b">y</set> z</set>"#,
        r#"write path=a content=x <set path="b">y</set> z"#,
    ),
    (
        r#"<set path="a">1<set>2<set>3</set>4</set>5</set>"#,
        "write path=a content=1<set>2<set>3</set>4</set>5",
    ),
    (
        r#"<set path="a">1<set>2<set>3<set>4</set></set></set></set>"#,
        "write path=a content=1<set>2<set>3<set>4</set></set></set>",
    ),
    (r#"<set path="a">x <set path="b"/> y</set>"#, r#"write path=a content=x <set path="b"/> y"#),
    (r#"<get path="a"><get path="b"></get></get>"#, r#"read path=a matching=<get path="b"></get>"#),
    ("<sh>echo \"<sh>\"</sh>\n<sh>ls</sh>", r#"bash command=echo "<sh>"; bash command=ls"#),
    (
        "<set path=\"a\">\nwrite <set> here\n<get path=\"x\"/>\n</set>\n",
        r#"write path=a content=write <set> here\n<get path="x"/>\n"#,
    ),
    (
        "<set path=\"a\">\n#include <set>\n#include <list>\n</set>\n<set path=\"b\">\n#include <set>\n</set>\n<rm path=\"c\"/>",
        r#"write path=a content=#include <set>\n#include <list>\n; write path=b content=#include <set>\n; remove path=c"#,
    ),
    (
        "<set path=\"a\">use <set>x</set> to write</set>\n<rm path=\"c\"/>",
        r#"write path=a content=use <set>x</set> to write; remove path=c"#,
    ),
    (
        "<set path=\"a\">\na <set> b</set>\n<rm path=\"v\"/>\n</set>\n",
        r#"write path=a content=a <set> b</set>\n<rm path="v"/>\n"#,
    ),
    (r#"<sh>echo '<sh a="1"'</sh>"#, r#"bash command=echo '<sh a="1"'"#),
    (
        r#"<set path="p">print("<get path=")</set> <update status="200">ok</update>"#,
        r#"write path=p content=print("<get path="); send status=200 text=ok =200"#,
    ),
    (
        "<set path=\"p\">x \"<set path=\" y</set>\n<get path=\"b\"/>",
        r#"write path=p content=x "<set path=" y; read path=b"#,
    ),
];

#[test]
fn several_statements_keep_their_order() {
    check_all(SEVERAL_STATEMENTS_KEEP_THEIR_ORDER);
}

const SEVERAL_STATEMENTS_KEEP_THEIR_ORDER: Cases = &[
    (r#"<get path="a"/><get path="b"/>"#, "read path=a; read path=b"),
    (
        "<get path=\"a\"/>\n\n<set path=\"b\">x</set>\n<update status=\"200\">done</update>",
        "read path=a; write path=b content=x; send status=200 text=done =200",
    ),
    (
        "First this:\n<get path=\"a\"/>\nthen that:\n<get path=\"b\"/>\nand more.",
        r#"read path=a; read path=b "First this:\nthen that:\nand more.""#,
    ),
    (r#"a <get path="a"/> b <get path="b"/> c"#, r#"read path=a; read path=b "a  b  c""#),
    (r#"<rm path="a"/>text<rm path="b"/>"#, r#"remove path=a; remove path=b "text""#),
];

#[test]
fn one_statement_may_be_two_ops() {
    check_all(ONE_STATEMENT_MAY_BE_TWO_OPS);
}

const ONE_STATEMENT_MAY_BE_TWO_OPS: Cases = &[
    (
        r#"<set path="known:///a" visibility="archived">fact</set>"#,
        "write path=known:///a content=fact; fold path=known:///a",
    ),
    (
        r#"<set path="known:///a" visibility="visible">fact</set>"#,
        "write path=known:///a content=fact; open path=known:///a",
    ),
    (
        r#"<set path="known:///a" summary="short">long</set>"#,
        "write path=known:///a content=long; write path=known:///a#summary content=short",
    ),
    (r#"<set path="known:///a" summary="short"/>"#, "write path=known:///a#summary content=short"),
    (
        r#"<set path="known:///a" summary="short"></set>"#,
        "write path=known:///a#summary content=short",
    ),
    (
        r#"<set path="known:///a" summary="short" visibility="archived">long</set>"#,
        "write path=known:///a content=long; fold path=known:///a; write path=known:///a#summary content=short",
    ),
    (
        r#"<set path="known:///a" summary="short" visibility="archived"/>"#,
        "fold path=known:///a; write path=known:///a#summary content=short",
    ),
    (
        r#"<set path="known:///a" summary="ssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssss">x</set>"#,
        "write path=known:///a content=x; write path=known:///a#summary content=ssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssss",
    ),
    (
        r#"<set path="known:///a" summary="sssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssss">x</set>"#,
        "write path=known:///a content=x ?summary_refused",
    ),
    (r#"<set path="a.txt" summary="s">x</set>"#, "write path=a.txt content=x ?summary_refused"),
    (
        r#"<set path="known:///a#body" summary="s">x</set>"#,
        "write path=known:///a#body content=x ?summary_refused",
    ),
    (
        r#"<set path="known:///a" visibility="hidden">x</set>"#,
        "write path=known:///a content=x ?visibility_unknown",
    ),
    (r#"<set path="known:///a" visibility="hidden"/>"#, "- ?arguments"),
    (
        r#"<mv path="known:///a" to="known:///b" visibility="archived"/>"#,
        "move from=known:///a to=known:///b; fold path=known:///b",
    ),
    (r#"<mv path="known:///plan_*" visibility="archived"/>"#, "fold path=known:///plan_*"),
    (r#"<cp path="a" to="b" visibility="visible"/>"#, "copy from=a to=b; open path=b"),
    (r#"<get path="a" summary="s"/>"#, "- ?summary_refused"),
    (r#"<get path="a" visibility="archived"/>"#, "read path=a ?visibility_unknown"),
    (
        r#"<update status="200" summary="s">x</update>"#,
        "send status=200 text=x ?summary_refused =200",
    ),
];

#[test]
fn manifest_only_looks() {
    check_all(MANIFEST_ONLY_LOOKS);
}

const MANIFEST_ONLY_LOOKS: Cases = &[
    (r#"<rm path="known:///draft_*" manifest/>"#, "find under=known:///draft_*"),
    (r#"<rm path="src/*.bak" manifest/>"#, "find glob=src/*.bak"),
    (r#"<rm path="a.txt" manifest/>"#, "find glob=a.txt"),
    (r#"<get path="src/**" manifest>fn</get>"#, "find glob=src/** text=fn"),
    (r#"<set path="src/*" manifest>content</set>"#, "find glob=src/*"),
    (r#"<mv path="src/*" to="lib" manifest/>"#, "find glob=src/*"),
    (r#"<mv path="src/*" manifest>lib</mv>"#, "find glob=src/*"),
    (r#"<cp path="known:///plan_*" to="known:///old" manifest/>"#, "find under=known:///plan_*"),
    (r#"<rm path="known:///a" manifest="true"/>"#, "find under=known:///a"),
    ("<sh manifest>ls</sh>", "- ?arguments"),
    (r#"<rm path="a" manifest="false"/>"#, "remove path=a"),
    (r#"<rm path="a" manifest="no"/>"#, "- ?arguments"),
    (r#"{"name":"rm","arguments":{"path":"a","manifest":false}}"#, "remove path=a ~foreign_call"),
    (r#"{"name":"rm","arguments":{"path":"a","manifest":true}}"#, "find glob=a ~foreign_call"),
];

#[test]
fn targets_that_are_spilled_reasoning_are_refused() {
    check_all(TARGETS_THAT_ARE_SPILLED_REASONING_ARE_REFUSED);
}

const TARGETS_THAT_ARE_SPILLED_REASONING_ARE_REFUSED: Cases = &[
    (
        r#"<get path="xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"/>"#,
        "- ?target_refused",
    ),
    (
        r#"<get path="xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"/>"#,
        "read path=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    ),
    (
        "<get>xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx</get>",
        "- ?target_refused",
    ),
    ("<get path=\"a\nb\"/>", "- ?target_refused"),
    (r#"<get path="a&#7;b"/>"#, "- ?target_refused"),
    ("<get>a\nb</get>", "- ?target_refused"),
    (
        r#"<mv path="a" to="xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"/>"#,
        "- ?target_refused",
    ),
    ("<mv path=\"a\">b\nc</mv>", "- ?target_refused"),
    ("<rm path=\"a\tb\"/>", "- ?target_refused"),
    ("<set path=\"a\nb\">x</set>\n<get path=\"ok\"/>", "read path=ok ?target_refused"),
    (r#"{"name":"read_file","arguments":{"path":"a\nb"}}"#, "- ?target_refused"),
    ("<sh path=\"a\nb\">ls</sh>", "- ?target_refused"),
    (
        r#"<get path="éééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé"/>"#,
        "read path=éééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé",
    ),
];
