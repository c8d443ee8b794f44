//! What the body of a `<set>` is: an edit where it looks like one from its first line on, else the content.

use cairn_surface::tags;

/// The tool that a body asks for, and its problem if it asks for none.
fn read(path: &str, body: &str) -> String {
    let reading = tags::parse(&format!("<set path=\"{path}\">\n{body}</set>"), 10);
    match (&reading.ops[..], &reading.problems[..]) {
        ([op], []) => op.tool.to_owned(),
        ([], [problem]) => format!("{}: {}", problem.kind, problem.note),
        other => format!("{other:?}"),
    }
}

// keeps: set-bodies
#[test]
fn a_body_that_looks_like_an_edit_is_one() {
    let edits = [
        "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n",
        "--- f\n+++ f\n@@\n-a\n+b\n",
        "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n",
        "@@ -1,2 +1,2 @@\n a\n-b\n+c\n",
        "*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n*** End Patch\n",
        "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n",
        "f\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n",
        "<<SEARCH\na\nSEARCH\n<<REPLACE\nb\nREPLACE\n",
        "```diff\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n```\n",
        "\n\n*** Begin Patch\n*** Delete File: f\n*** End Patch\n",
        "s/a/b/\n",
        "s/a/b/g; s|c|d|\n",
        "s/a/b/\ns,c,d,gi\ns#e#f#2\n",
        "s/é/日/\n",
        "s/a(/b/\n",
        "@@ fn x\n-one\n+ONE\n two\n",
        "@@\n one\n+two\n@@ fn y\n-three\n",
        "sédésé\ns/a/b/\n",
    ];
    for body in &edits[..17] {
        assert_eq!(read("f", body), "edit", "{body}");
        for kept in ["f.patch", "f.diff", "d/f.sed"] {
            assert_eq!(read(kept, body), "write", "{body}");
        }
    }
    // A letter is no delimiter.
    assert_eq!(read("f", edits[17]), "write");
}

// keeps: set-bodies
#[test]
fn other_sed_commands_are_refused_with_the_way_to_write_them() {
    for body in ["3,5d\n", "/a/d\n", "2i\\\nx\n", "1s/a/b/\n", "s/a/b/\n$d\n", "/x/!s/a/b/\n"] {
        let refused = read("f", body);
        assert!(refused.starts_with("arguments: set: of sed commands only s/a/b/"), "{refused}");
        assert_eq!(read("f.sed", body), "write", "{body}");
    }
}

// keeps: set-bodies
#[test]
fn a_body_that_only_mentions_an_edit_is_content() {
    for body in [
        "",
        "a\n",
        "---\ntitle: x\n---\n",
        "--- a\n\ntext\n",
        "How to patch:\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n",
        "Write s/a/b/ to change it.\n",
        "s, t and u\n",
        "s/a/b\n",
        "s a b c\n",
        "sudo true\n",
        "3 days\n",
        "@@ notes\n",
        "@@ notes\n indented\n",
        "@@ notes\n- one\n- two\nno item\n",
        "# Title\n<<<<<<< SEARCH\n",
    ] {
        assert_eq!(read("f", body), "write", "{body}");
    }
}
