//! Edit labels in the body of a statement that sets.

use super::notation::{Cases, check_all};

#[test]
fn labels_make_an_edit() {
    check_all(LABELS_MAKE_AN_EDIT);
}

const LABELS_MAKE_AN_EDIT: Cases = &[
    (
        "<set path=\"a\"><<SEARCH\nold\nSEARCH\n<<REPLACE\nnew\nREPLACE</set>",
        r#"edit path=a patch=<<SEARCH\nold\nSEARCH\n<<REPLACE\nnew\nREPLACE"#,
    ),
    (
        "<set path=\"a\">\n<<SEARCH\nold\nSEARCH\n<<REPLACE\nnew\nREPLACE\n</set>",
        r#"edit path=a patch=<<SEARCH\nold\nSEARCH\n<<REPLACE\nnew\nREPLACE\n"#,
    ),
    (
        r#"<set path="a"><<SEARCH old SEARCH<<REPLACE new REPLACE</set>"#,
        "edit path=a patch=<<SEARCH old SEARCH<<REPLACE new REPLACE",
    ),
    ("<set path=\"a\"><<NEW\nx\nNEW</set>", r#"edit path=a patch=<<NEW\nx\nNEW"#),
    ("<set path=\"a\"><<APPEND\nx\nAPPEND</set>", r#"edit path=a patch=<<APPEND\nx\nAPPEND"#),
    ("<set path=\"a\"><<PREPEND\nx\nPREPEND</set>", r#"edit path=a patch=<<PREPEND\nx\nPREPEND"#),
    ("<set path=\"a\"><<DELETE\nx\nDELETE</set>", r#"edit path=a patch=<<DELETE\nx\nDELETE"#),
    ("<set path=\"a\"><<REPLACE\nx\nREPLACE</set>", r#"edit path=a patch=<<REPLACE\nx\nREPLACE"#),
    (
        "<set path=\"a\"><<DOC1\nThe opener is <<SEARCH and the closer SEARCH.\nDOC1</set>",
        r#"edit path=a patch=<<DOC1\nThe opener is <<SEARCH and the closer SEARCH.\nDOC1"#,
    ),
    ("<set path=\"a\"><<EOF\nx\nEOF</set>", r#"edit path=a patch=<<EOF\nx\nEOF"#),
    (
        "<set path=\"a\"><<SEARCH[5-10]\nx\nSEARCH[5-10]\n<<REPLACE\ny\nREPLACE</set>",
        r#"edit path=a patch=<<SEARCH[5-10]\nx\nSEARCH[5-10]\n<<REPLACE\ny\nREPLACE"#,
    ),
    (
        "<set path=\"a\"><<SEARCH1\nSEARCH\nSEARCH1\n<<REPLACE1\nREPLACE\nREPLACE1</set>",
        r#"edit path=a patch=<<SEARCH1\nSEARCH\nSEARCH1\n<<REPLACE1\nREPLACE\nREPLACE1"#,
    ),
    (
        "<set path=\"a\"><<SEARCH\na\nSEARCH\n<<REPLACE\nb\nREPLACE\n<<SEARCH\nc\nSEARCH\n<<REPLACE\nd\nREPLACE</set>",
        r#"edit path=a patch=<<SEARCH\na\nSEARCH\n<<REPLACE\nb\nREPLACE\n<<SEARCH\nc\nSEARCH\n<<REPLACE\nd\nREPLACE"#,
    ),
    (
        "<set path=\"known:///a\" visibility=\"archived\"><<APPEND\nx\nAPPEND</set>",
        r#"edit path=known:///a patch=<<APPEND\nx\nAPPEND; fold path=known:///a"#,
    ),
    ("<set path=\"a\" scope=\"3\"><<NEW\nx\nNEW</set>", "- ?arguments"),
    (
        "<set path=\"a\"><<SEARCH\n</set>\nSEARCH\n<<REPLACE\nx\nREPLACE</set>",
        r#"- ?label_broken ?closer_alone "SEARCH\n<<REPLACE\nx\nREPLACE""#,
    ),
];

#[test]
fn other_patches_are_edits_where_nobody_means_them_as_content() {
    check_all(OTHER_PATCHES_ARE_EDITS_WHERE_NOBODY_MEANS_THEM_AS_CONTENT);
}

const OTHER_PATCHES_ARE_EDITS_WHERE_NOBODY_MEANS_THEM_AS_CONTENT: Cases = &[
    (
        "<set path=\"a\">\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n</set>",
        r#"edit path=a patch=<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n"#,
    ),
    (
        "<set path=\"a\">\n*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** End Patch\n</set>",
        r#"edit path=a patch=*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** End Patch\n"#,
    ),
    (
        "<set path=\"a.diff\">\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+y\n</set>",
        r#"write path=a.diff content=--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+y\n"#,
    ),
    (r#"<set path="a">s/x/y/</set>"#, "write path=a content=s/x/y/"),
    (r#"<set path="a" old="x" new="y"/>"#, "edit path=a old=x new=y"),
    (r#"<set path="a" old="x"/>"#, "- ?arguments"),
    (r#"<set path="a" patch="s/x/y/"/>"#, "edit path=a patch=s/x/y/"),
    (r#"<edit path="a">s/x/y/</edit>"#, "edit path=a patch=s/x/y/"),
    ("<set path=\"a\">\n<<<< SEARCH\n</set>", r#"write path=a content=<<<< SEARCH\n"#),
    (r#"<get path="src" text="x"/>"#, "find under=src text=x"),
    (r#"<get text="x"/>"#, "find text=x"),
];

#[test]
fn a_last_label_that_gives_a_text_is_closed() {
    check_all(A_LAST_LABEL_THAT_GIVES_A_TEXT_IS_CLOSED);
}

const A_LAST_LABEL_THAT_GIVES_A_TEXT_IS_CLOSED: Cases = &[
    ("<set path=\"a\"><<NEW\nx\n</set>", r#"edit path=a patch=<<NEW\nx\nNEW\n ~label_closed"#),
    (
        "<set path=\"a\"><<APPEND\nx</set>",
        r#"edit path=a patch=<<APPEND\nx\nAPPEND\n ~label_closed"#,
    ),
    (
        "<set path=\"a\"><<PREPEND\nx</set>",
        r#"edit path=a patch=<<PREPEND\nx\nPREPEND\n ~label_closed"#,
    ),
    (
        "<set path=\"a\"><<REPLACE\nx</set>",
        r#"edit path=a patch=<<REPLACE\nx\nREPLACE\n ~label_closed"#,
    ),
    ("<set path=\"a\"><<DOC\nx\n</set>", r#"edit path=a patch=<<DOC\nx\nDOC\n ~label_closed"#),
    (
        "<set path=\"a\"><<SEARCH\nold\nSEARCH\n<<REPLACE\nnew\n</set>",
        r#"edit path=a patch=<<SEARCH\nold\nSEARCH\n<<REPLACE\nnew\nREPLACE\n ~label_closed"#,
    ),
    (
        "<set path=\"a\"><<SEARCH\nold\nSEARCH\n<<REPLACE\nnew\n</set><get path=\"b\"/>",
        r#"edit path=a patch=<<SEARCH\nold\nSEARCH\n<<REPLACE\nnew\nREPLACE\n; read path=b ~label_closed"#,
    ),
    ("<set path=\"a\"><<NEW\nx\n", r#"!edit path=a patch=<<NEW\nx\nNEW\n ~unclosed ~label_closed"#),
];

#[test]
fn labels_that_do_not_hold_together_are_refused() {
    check_all(LABELS_THAT_DO_NOT_HOLD_TOGETHER_ARE_REFUSED);
}

const LABELS_THAT_DO_NOT_HOLD_TOGETHER_ARE_REFUSED: Cases = &[
    ("<set path=\"a\"><<SEARCH\nold\nSEARCH</set>", "- ?label_broken"),
    ("<set path=\"a\"><<SEARCH\nold</set>", "- ?label_broken"),
    ("<set path=\"a\"><<SEARCH\nold\n<<REPLACE\nnew\nREPLACE</set>", "- ?label_broken"),
    ("<set path=\"a\"><<NEW\nx\n<<APPEND\ny\nAPPEND</set>", "- ?label_broken"),
    ("<set path=\"a\"><<DELETE\nx</set>", "- ?label_broken"),
    ("<set path=\"a\"><<SEARCH\na\nSEARCH\n<<DELETE\nb\nDELETE</set>", "- ?label_broken"),
    ("<set path=\"a\"><<SEARCH\nold</set>\n<get path=\"b\"/>", "read path=b ?label_broken"),
];

#[test]
fn what_is_like_a_label_is_content() {
    check_all(WHAT_IS_LIKE_A_LABEL_IS_CONTENT);
}

const WHAT_IS_LIKE_A_LABEL_IS_CONTENT: Cases = &[
    ("<set path=\"a\">vec<<SEARCH\nx</set>", r#"write path=a content=vec<<SEARCH\nx"#),
    ("<set path=\"a\"><<eof\nx\neof</set>", r#"write path=a content=<<eof\nx\neof"#),
    (
        "<set path=\"a\"><<:::path\nx\n:::path</set>",
        r#"write path=a content=<<:::path\nx\n:::path"#,
    ),
    ("<set path=\"a\">cat <<EOF\nx\nEOF</set>", r#"write path=a content=cat <<EOF\nx\nEOF"#),
    (
        "<set path=\"run.sh\">#!/bin/sh\ncat <<EOF > y\nx\nEOF\n</set>",
        r#"write path=run.sh content=#!/bin/sh\ncat <<EOF > y\nx\nEOF\n"#,
    ),
    (
        "<set path=\"a\">text <<SEARCH\nx\nSEARCH</set>",
        r#"write path=a content=text <<SEARCH\nx\nSEARCH"#,
    ),
    (r#"<set path="a"><< SEARCH</set>"#, "write path=a content=<< SEARCH"),
    ("<sh><<EOF cat\nx\nEOF</sh>", r#"bash command=<<EOF cat\nx\nEOF"#),
    ("<update status=\"200\"><<EOF\nx</update>", r#"send status=200 text=<<EOF\nx =200"#),
    (r#"<set path="a">1 << 3</set>"#, "write path=a content=1 << 3"),
];
