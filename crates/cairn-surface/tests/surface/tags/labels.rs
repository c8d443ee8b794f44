//! Edit labels in the body of a statement that sets.

use super::notation::{Cases, check_all};
use cairn_surface::tags;
use proptest::prelude::*;

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
        "<set path=\"a\"><<NEW1\nThe opener is <<NEW and the closer NEW.\nNEW1</set>",
        r#"edit path=a patch=<<NEW1\nThe opener is <<NEW and the closer NEW.\nNEW1"#,
    ),
    ("<set path=\"a\"><<NEW_b\nx\nNEW_b</set>", r#"edit path=a patch=<<NEW_b\nx\nNEW_b"#),
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
    (r#"<set path="a">s/x/y/</set>"#, "edit path=a patch=s/x/y/"),
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
    (
        "<set path=\"a\"><<REPLACE[3-4]\nx\n</set>",
        r#"edit path=a patch=<<REPLACE[3-4]\nx\nREPLACE\n ~label_closed"#,
    ),
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
    ("<set path=\"a\"><<NEW</set>", "- ?label_broken"),
    ("<set path=\"a\">\n<<NEW\n</set>", "- ?label_broken"),
    ("<set path=\"a\"><<NEW today\nhello</set>", "- ?label_broken"),
    ("<set path=\"a\"><<NEW today\nhello NEW</set>", "- ?label_broken"),
    ("<set path=\"a\">\n<<NEW\nhello\nNEW\ntrailing text\n</set>", "- ?label_broken"),
    ("<set path=\"a\">\n<<NEW\nhello\nNEW\n<<EOF\nx\nEOF\n</set>", "- ?label_broken"),
    ("<set path=\"a\"><<SEARCH\na\nSEARCH\nand\n<<REPLACE\nb\nREPLACE</set>", "- ?label_broken"),
];

#[test]
fn what_is_like_a_label_is_content() {
    check_all(WHAT_IS_LIKE_A_LABEL_IS_CONTENT);
}

const WHAT_IS_LIKE_A_LABEL_IS_CONTENT: Cases = &[
    ("<set path=\"a\">vec<<SEARCH\nx</set>", r#"write path=a content=vec<<SEARCH\nx"#),
    ("<set path=\"a\"><<EOF\nx\nEOF</set>", r#"write path=a content=<<EOF\nx\nEOF"#),
    (
        "<set path=\"n.sh\">\n<<EOF cat\nx\nEOF\n</set>",
        r#"write path=n.sh content=<<EOF cat\nx\nEOF\n"#,
    ),
    ("<set path=\"a\"><<WORD</set>", "write path=a content=<<WORD"),
    ("<set path=\"a\"><<NEWS today\nhello</set>", r#"write path=a content=<<NEWS today\nhello"#),
    ("<set path=\"a\"><<NEWS\nx\nNEWS</set>", r#"write path=a content=<<NEWS\nx\nNEWS"#),
    ("<set path=\"a\"><<NEWb\nx\nNEWb</set>", r#"write path=a content=<<NEWb\nx\nNEWb"#),
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

proptest! {
    // keeps: surfaces-damage

    #[test]
    fn no_text_of_a_body_is_lost_to_a_label(
        word in "[A-Z]{1,8}[a-z0-9_]{0,2}",
        rest in "( [a-zé日😀]{1,4})?(\n[a-zA-Zé日😀 ]{0,6}){0,3}",
        behind in "(\n[a-zé日😀]{1,4})?",
    ) {
        let body = format!("<<{word}{rest}\n{word}{behind}");
        let reading = tags::parse(&format!("<set path=\"a\">{body}</set>"), 5);
        for op in &reading.ops {
            let whole = op.args.get("content").and_then(|content| content.as_str());
            // What an edit holds stands between its labels, and nothing stands outside of them.
            let is_edit = op.args.contains_key("patch") && behind.is_empty() && rest.starts_with('\n');
            prop_assert!(whole == Some(body.as_str()) || is_edit, "{body}");
        }
        prop_assert!(!reading.ops.is_empty() || !reading.problems.is_empty(), "{body}");
    }
}

#[test]
fn a_label_that_the_name_of_another_may_close_is_refused() {
    check_all(A_LABEL_THAT_THE_NAME_OF_ANOTHER_MAY_CLOSE_IS_REFUSED);
}

const A_LABEL_THAT_THE_NAME_OF_ANOTHER_MAY_CLOSE_IS_REFUSED: Cases = &[
    (
        "<set path=\"x\">\n<<SEARCH\na\nSEARCH\n<<REPLACE\nb\nREPLACE\n<<APPEND\nevil\nREPLACE\n</set>",
        "- ?label_broken",
    ),
    (
        "<set path=\"x\">\n<<APPEND\nfine\n</set>",
        "edit path=x patch=<<APPEND\\nfine\\nAPPEND\\n ~label_closed",
    ),
];
