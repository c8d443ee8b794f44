//! Heads of tags: attributes, quotes, entities, names.

use super::notation::{Cases, check_all};

#[test]
fn every_statement_has_its_tag() {
    check_all(EVERY_STATEMENT_HAS_ITS_TAG);
}

const EVERY_STATEMENT_HAS_ITS_TAG: Cases = &[
    (r#"<get path="a.txt"/>"#, "read path=a.txt"),
    (r#"<get path="a.txt"></get>"#, "read path=a.txt"),
    (
        r#"<get path="a.txt" a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a b/> <get path="b"/>"#,
        "read path=b ?tag_malformed",
    ),
    ("<get>a.txt</get>", "read path=a.txt"),
    (r#"<get path="src/main.rs" scope="10-20"/>"#, "read path=src/main.rs scope=10-20"),
    (
        r#"<get path="a.txt" first="3" limit="5" hashes/>"#,
        "read path=a.txt first=3 limit=5 hashes=true",
    ),
    (r#"<get path="a.txt" line="3"/>"#, "read path=a.txt first=3 ~argument"),
    (r#"<get path="src/**/*.rs"/>"#, "find glob=src/**/*.rs"),
    (r#"<get path="src/**/*.rs">fn main</get>"#, "find glob=src/**/*.rs text=fn main"),
    ("<get>src/*.rs</get>", "find glob=src/*.rs"),
    (r#"<get path="known:///*">auth</get>"#, "find under=known:///* text=auth"),
    (r#"<get path="known:///*"/>"#, "find under=known:///*"),
    (
        r#"<get path="known:///" tags="todo, open"/>"#,
        r#"find under=known:/// tags=["todo","open"]"#,
    ),
    (r#"<get path="*.rs" scope="1-20"/>"#, "find glob=*.rs skip=0 limit=20"),
    (r#"<get path="*.rs" scope="x"/>"#, "- ?arguments"),
    (r#"<get path="data.json">$.a[*]</get>"#, "read path=data.json matching=$.a[*]"),
    (r#"<set path="a.txt">hello</set>"#, "write path=a.txt content=hello"),
    (r#"<set path="a.txt"></set>"#, "write path=a.txt content="),
    (
        "<set path=\"a.txt\" scope=\"3-4\">\nnew\n</set>",
        r#"write path=a.txt scope=3-4 content=new\n"#,
    ),
    (
        r#"<set path="known:///a" tags="x, y">v</set>"#,
        r#"write path=known:///a tags=["x","y"] content=v"#,
    ),
    (r#"<set path="log:///1/2/*" visibility="archived"/>"#, "fold path=log:///1/2/*"),
    (r#"<set path="log:///1/2/3" visibility="visible"/>"#, "open path=log:///1/2/3"),
    (r#"<set path="log:///1/2/3" visibility="summarized"></set>"#, "fold path=log:///1/2/3"),
    (r#"<rm path="old.txt"/>"#, "remove path=old.txt"),
    ("<rm>old.txt</rm>", "remove path=old.txt"),
    (r#"<mv path="a" to="b"/>"#, "move from=a to=b"),
    (r#"<mv path="a">b</mv>"#, "move from=a to=b"),
    (r#"<mv from="a" to="b"/>"#, "move from=a to=b"),
    (r#"<cp path="a" to="b"/>"#, "copy from=a to=b"),
    ("<cp path=\"a\">\nb\n</cp>", "copy from=a to=b"),
    ("<sh>cargo test</sh>", "bash command=cargo test"),
    (r#"<sh command="ls"/>"#, "bash command=ls"),
    (r#"<sh path="crates" background>make</sh>"#, "bash cwd=crates background=true command=make"),
    (
        r#"<sh runtime="python" timeout_ms="500">print(1)</sh>"#,
        "bash runtime=python timeout_ms=500 command=print(1)",
    ),
    ("<env>git log -3</env>", "env command=git log -3"),
    ("<search>rust</search>", "web_search query=rust -> 501"),
    (r#"<search path="rust" results="3"/>"#, "web_search query=rust results=3 -> 501"),
    ("<skill>deploy</skill>", "use_skill name=deploy -> 501"),
    (
        r#"<ask_user question="Which?" options="a; b"/>"#,
        r#"ask_user question=Which? options=["a","b"]"#,
    ),
    (
        r#"<ask_user question="Which?">a; b</ask_user>"#,
        r#"ask_user question=Which? options=["a","b"]"#,
    ),
    ("<ask_user>Which?</ask_user>", "ask_user question=Which?"),
    (r#"<update status="102">reading</update>"#, "send status=102 text=reading"),
    ("<update>still going</update>", "send text=still going"),
    (r#"<update status="200">done</update>"#, "send status=200 text=done =200"),
    (r#"<update status="204">nothing to do</update>"#, "send status=204 text=nothing to do =204"),
    (r#"<update status="422">cannot</update>"#, "send status=422 text=cannot =422"),
    (r#"<update status="499">stopped</update>"#, "send status=499 text=stopped =499"),
    (r#"<update status="500">odd</update>"#, "send status=500 text=odd"),
    (
        r#"<update status="200">a</update><update status="102">b</update>"#,
        "send status=200 text=a; send status=102 text=b ?op_after_end",
    ),
    (
        r#"<update status="102">a</update><update status="200">b</update>"#,
        "send status=102 text=a; send status=200 text=b =200",
    ),
    (r#"<send to="exec:///1/2/3">y</send>"#, "send to=exec:///1/2/3 text=y"),
    (r#"<update status="200" to="run:///x">hi</update>"#, "send status=200 to=run:///x text=hi"),
    ("<plan>\n# do\nthis\n</plan>", r#"present_plan plan=# do\nthis\n"#),
    (
        r#"<todo>[{"text":"a","state":"done"}]</todo>"#,
        r#"todo items=[{"text":"a","state":"done"}]"#,
    ),
    ("<list/>", "list"),
    (r#"<list path="src" depth="2"/>"#, "list path=src depth=2"),
    (r#"<read path="a"/>"#, "read path=a"),
    (r#"<write path="a" content="x"/>"#, "write path=a content=x"),
    (r#"<edit path="a" old="x" new="y" all/>"#, "edit path=a old=x new=y all=true"),
    (r#"<bash command="ls"/>"#, "bash command=ls"),
    (r#"<find text="x" under="src"/>"#, "find text=x under=src"),
    (
        r#"<multi_edit path="a" edits='[{"old":"x","new":"y"},{"old":"p","new":"q"}]'/>"#,
        r#"multi_edit path=a edits=[{"old":"x","new":"y"},{"old":"p","new":"q"}]"#,
    ),
    (r#"<fold path="log:///1"/>"#, "fold path=log:///1"),
    (r#"<open path="log:///1"/>"#, "open path=log:///1"),
];

#[test]
fn attributes_are_read_however_they_are_written() {
    check_all(ATTRIBUTES_ARE_READ_HOWEVER_THEY_ARE_WRITTEN);
}

const ATTRIBUTES_ARE_READ_HOWEVER_THEY_ARE_WRITTEN: Cases = &[
    ("<get path='a.txt'/>", "read path=a.txt"),
    ("<get path=a.txt/>", "read path=a.txt"),
    ("<get path=a.txt />", "read path=a.txt"),
    ("<get path=src/a.txt></get>", "read path=src/a.txt"),
    (r#"<get path = "a.txt" />"#, "read path=a.txt"),
    ("<get\tpath\t=\t\"a.txt\"\t/>", "read path=a.txt"),
    ("<get\n  path=\"a.txt\"\n  hashes\n/>", "read path=a.txt hashes=true"),
    ("<get\r\n  path=\"a.txt\"\r\n/>", "read path=a.txt"),
    ("<get path=\"a.txt\"/>\r\n<get path=\"b.txt\"/>", "read path=a.txt; read path=b.txt"),
    (r#"<get hashes path="a.txt"/>"#, "read path=a.txt hashes=true"),
    (r#"<get path="a" hashes="false"/>"#, "read path=a hashes=false"),
    (r#"<get path="a" hashes="yes"/>"#, "read path=a hashes=true ~argument"),
    (r#"<get path="it's.md"/>"#, "read path=it's.md"),
    (r#"<get path='q"uote'/>"#, r#"read path=q"uote"#),
    (r#"<get path="a<b>c"/>"#, "read path=a<b>c"),
    (r#"<get path="a</get>b"/>"#, "read path=a</get>b"),
    (r#"<get path="a" matching="x > y && z < w"/>"#, "read path=a matching=x > y && z < w"),
    (
        "<write path=\"a\" content=\"one\n</set>\ntwo\"/>",
        r#"write path=a content=one\n</set>\ntwo"#,
    ),
    (
        r#"<write path="a" content='<set path="b">x</set>'/>"#,
        r#"write path=a content=<set path="b">x</set>"#,
    ),
    (
        r#"<get path="&lt;a&gt; &quot;b&quot; &apos;c&apos; &amp; &#65; &#x42;"/>"#,
        r#"read path=<a> "b" 'c' & A B"#,
    ),
    (r#"<get path="&nbsp; &; & &#0x; &#99999999;"/>"#, "read path=&nbsp; &; & &#0x; &#99999999;"),
    (r#"<get path="&amp;lt;"/>"#, "read path=&lt;"),
    (r#"<get path=""/>"#, "- ?arguments"),
    (r#"<get path=" "/>"#, "- ?arguments"),
    ("<get/>", "- ?arguments"),
    ("<get path/>", "- ?arguments"),
    (r#"<get path="a" scope/>"#, "- ?arguments"),
    (r#"<get path="a" color="red"/>"#, "- ?arguments"),
    (r#"<get path="a" path="b"/>"#, "- ?arguments"),
    (r#"<set path="a" content="x">y</set>"#, "- ?arguments"),
    (r#"<get path="a" limit="many"/>"#, "- ?arguments"),
    (r#"<update status="abc">x</update>"#, "- ?arguments"),
    (r#"<update status="200"/>"#, "- ?arguments"),
    ("<sh/>", "- ?arguments"),
    ("<sh></sh>", "- ?arguments"),
    (r#"<mv path="a"/>"#, "- ?arguments"),
    (r#"<set path="a"/>"#, "- ?arguments"),
];

#[test]
fn other_names_of_attributes_are_repaired() {
    check_all(OTHER_NAMES_OF_ATTRIBUTES_ARE_REPAIRED);
}

const OTHER_NAMES_OF_ATTRIBUTES_ARE_REPAIRED: Cases = &[
    (r#"<get key="a"/>"#, "read path=a ~attribute_name"),
    (r#"<get file="a"/>"#, "read path=a ~attribute_name"),
    (r#"<get filename="a"/>"#, "read path=a ~attribute_name"),
    (r#"<get file_path="a"/>"#, "read path=a ~attribute_name"),
    (r#"<get url="https://x.org/"/>"#, "read path=https://x.org/ ~attribute_name"),
    (r#"<rm target="a"/>"#, "remove path=a ~attribute_name"),
    (r#"<set file="a" value="x"/>"#, "write path=a content=x ~attribute_name ~attribute_name"),
    (r#"<set path="a" content="x"/>"#, "write path=a content=x ~attribute_name"),
    (r#"<set path="a" body="x"></set>"#, "write path=a content=x ~attribute_name"),
    (
        "<set path=\"a\" value=\"<<SEARCH\nx\nSEARCH\n<<REPLACE\ny\nREPLACE\"/>",
        r#"edit path=a patch=<<SEARCH\nx\nSEARCH\n<<REPLACE\ny\nREPLACE ~attribute_name"#,
    ),
    (r#"<sh value="ls"/>"#, "bash command=ls ~attribute_name"),
    (r#"<update status="200" content="done"/>"#, "send status=200 text=done ~attribute_name =200"),
    (r#"<mv source="a" destination="b"/>"#, "move from=a to=b ~argument ~argument"),
    (r#"<sh cmd="ls"/>"#, "bash command=ls ~argument"),
    (r#"<get path="a" key="b"/>"#, "- ?arguments"),
    (
        r#"<ask_user question="Q" choices="a, b"/>"#,
        r#"ask_user question=Q options=["a","b"] ~argument"#,
    ),
];

#[test]
fn what_is_like_a_tag_is_prose() {
    check_all(WHAT_IS_LIKE_A_TAG_IS_PROSE);
}

const WHAT_IS_LIKE_A_TAG_IS_PROSE: Cases = &[
    (r#"<set2 path="a">x</set2>"#, r#"- ?tag_unknown "<set2 path="a">x</set2>""#),
    (r#"< get path="a"/>"#, r#"- ?tag_unknown "< get path="a"/>""#),
    (r#"<frobnicate path="a"/>"#, r#"- "<frobnicate path="a"/>""#),
    ("<div><p>text</p></div>", r#"- "<div><p>text</p></div>""#),
    (r#"<getpath="a"/>"#, r#"- "<getpath="a"/>""#),
    (r#"<get-all path="a"/>"#, r#"- "<get-all path="a"/>""#),
    (r#"<Get path="a"/>"#, "read path=a ~tag_case"),
    ("<List>", "!list ~unclosed ~tag_case"),
    ("a < b and c > d", r#"- "a < b and c > d""#),
    ("<>", r#"- "<>""#),
    ("</>", r#"- "</>""#),
    ("<!-- <get -->", r#"- "<!-- <get -->""#),
    ("Vec<list> of things", r#"- "Vec<list> of things""#),
    ("use <get> to read", r#"- ?unclosed "use <get> to read""#),
    ("Vec<env>", r#"- "Vec<env>""#),
    ("no tags at all", r#"- "no tags at all""#),
    ("", "-"),
    ("   \n ", "-"),
    ("<br/>", r#"- "<br/>""#),
    ("x<y", r#"- "x<y""#),
    ("</div>", r#"- "</div>""#),
    ("1 << 2", r#"- "1 << 2""#),
];

#[test]
fn capitals_are_repaired() {
    check_all(CAPITALS_ARE_REPAIRED);
}

const CAPITALS_ARE_REPAIRED: Cases = &[
    (r#"<GET path="a"/>"#, "read path=a ~tag_case"),
    (r#"<SET path="a">x</SET>"#, "write path=a content=x ~tag_case"),
    (r#"<SET path="a">x</set>"#, "write path=a content=x ~tag_case"),
    (r#"<UPDATE status="200">x</UPDATE>"#, "send status=200 text=x ~tag_case =200"),
    (r#"<RM path="a"/>"#, "remove path=a ~tag_case"),
];

#[test]
fn what_a_head_says_wrong_is_told_where_it_stands() {
    check_all(WHAT_A_HEAD_SAYS_WRONG_IS_TOLD_WHERE_IT_STANDS);
}

const WHAT_A_HEAD_SAYS_WRONG_IS_TOLD_WHERE_IT_STANDS: Cases = &[
    ("<think\n>a</think>\n<get path=\"x\"/>", "read path=x (a)"),
    (r#"<get path="a&#+66;&#x+42;&#66;"/>"#, "read path=a&#+66;&#x+42;B"),
    (
        "I'll use <get> first.\n<set path=\"a\">x</set>",
        r#"write path=a content=x ?unclosed "I'll use <get> first.""#,
    ),
    ("I run <sh>ls\n<rm path=\"x\"/>", r#"!remove path=x ?unclosed "I run <sh>ls""#),
    ("<get path=“a.md”/>", "- ?tag_malformed"),
    ("<get path=\"a\" scope='1 2/>\n<get path=\"b\"/>", "read path=b ?tag_malformed"),
    (
        "<update status=\"200\">done</update>\n<get path=\"a\"/>",
        "send status=200 text=done; read path=a ?op_after_end =200",
    ),
    (
        "<update status=\"102\">so far</update>\n<get path=\"a\"/>",
        "send status=102 text=so far; read path=a",
    ),
    ("<sh>ls</sh></sh>", "- ?closer_alone"),
];
