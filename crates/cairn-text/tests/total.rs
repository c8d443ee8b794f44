//! Any edit of any content gives a value, however odd or large: nothing panics, nothing takes more
//! than its share of work.

use cairn_text::edit::{EditProblem, replace};
use cairn_text::patch::{self, Patched};
use cairn_text::scope::Scope;
use cairn_text::{items, mime, render, slice};
use proptest::prelude::*;

/// The size of a large text.
const LARGE: usize = 1 << 20;

/// A text repeated until it is large.
fn large(text: &str) -> String {
    text.repeat(LARGE / text.len())
}

/// Scraps of all formats, to be put together in any way.
const SCRAPS: [&str; 48] = [
    "<<<<<<< SEARCH\n",
    "=======\n",
    ">>>>>>> REPLACE\n",
    "<<SEARCH\n",
    "SEARCH\n",
    "<<REPLACE\n",
    "REPLACE\n",
    "SEARCH<<REPLACE\n",
    "<<NEW\n",
    "NEW\n",
    "<<SEARCH[1-2]\n",
    "<<DELETE a DELETE",
    "--- a/x\n",
    "+++ b/x\n",
    "--- /dev/null\n",
    "+++ /dev/null\n",
    "@@ -1,2 +1,2 @@\n",
    "@@\n",
    "@@ a\n",
    " a\n",
    "-a\n",
    "+b\n",
    "\\ No newline at end of file\n",
    "diff --git a/x b/x\n",
    "*** Begin Patch\n",
    "*** Update File: x\n",
    "*** Add File: x\n",
    "*** End of File\n",
    "*** End Patch\n",
    "s/a/b/\n",
    "1d\n",
    "2,$c\\\n",
    "/a/,/b/d;",
    "a\n",
    "b\r\n",
    "é\n",
    "éa",
    "a日b\n",
    "日",
    "😀\n",
    "a😀",
    "s/é/日/\n",
    "sé/日/é\n",
    "/😀/d\n",
    "\n",
    "  ",
    "...\n",
    "```\n",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn any_patch_gives_a_value_and_changes_something_or_is_refused(
        scraps in proptest::collection::vec(0..SCRAPS.len(), 0..12),
        before in proptest::option::of("(a|b|é|日|😀| |\r?\n|\\.\\.\\.){0,12}"),
    ) {
        let text: String = scraps.iter().map(|at| SCRAPS[*at]).collect();
        if let Ok(Patched::Edited(edited)) = patch::apply(before.as_deref(), &text) {
            let same = before.as_deref() == Some(edited.content.as_str());
            prop_assert!(!same || text.contains("diff --git") || text.contains("+++"), "{:?}", text);
        }
    }

    #[test]
    fn any_edit_gives_a_value(
        content in "(a|\"|“|’| |\t|\r?\n|\\\\n|1\t|é|日|😀|\\.\\.\\.|\\}){0,40}",
        old in "(a|\"|“|’| |\t|\r?\n|\\\\n|1\t|é|日|😀|\\.\\.\\.|\\}){1,12}",
        new in "(a|\"|“|’| |\t|\r?\n|\\\\n|1\t|é|日|😀|\\.\\.\\.|\\}){0,12}",
    ) {
        match replace(&content, &old, &new, false) {
            Ok(edited) => prop_assert!(edited.content != content || content.contains(&old)),
            Err(EditProblem::NotFound { preview, .. }) => prop_assert!(preview.len() < 8_000),
            Err(_) => {}
        }
    }
}

#[test]
fn large_edits_of_large_contents_are_bounded() {
    let check = |content: &str, old: &str, new: &str| {
        let _ = replace(content, old, new, false);
    };
    let lines: String =
        (0..20_000).map(|n| format!("    let value_{n} = compute({n});\n")).collect();
    let wanted: String = (0..2_000).map(|n| format!("let value_{n} = computed({n});\n")).collect();
    check(&lines, &wanted, "x\n");
    let shifted: String = lines.lines().take(2_000).map(|l| format!("{}\n", l.trim())).collect();
    check(&lines, &shifted, &shifted.replace("compute", "run"));
    check(&large("\n"), &"\n".repeat(LARGE / 2).replacen('\n', "a\n", 1), "b");
    check(&large("a\n"), &(large("a\n") + "b\n"), "c");
    check(&large("  a\n"), &large("a\n"), "c");
    check(&large("a"), &(large("a") + "b"), "c");
    check(&large("“a”\n"), &(large("\"a\"\n")[..LARGE / 2].to_owned() + "b\n"), "c");
    check(&large("a\n...\n"), &large("b\n...\n"), &large("a\n...\n"));
    check(&large("a\nb\n"), &large("a\\nb\\n"), &large("a\\nc\\n"));
    check(&large("x y z\n"), &large("x  y z\n"), "c");
    check(&large("}\n"), &large(" }\n"), &large("  }\n"));
}

#[test]
fn large_patches_are_bounded() {
    let check = |before: &str, text: &str| {
        let _ = patch::apply(Some(before), text);
    };
    let body = large("line\n");
    check(&body, &large("<<<<<<< SEARCH\nline\n=======\nx\n>>>>>>> REPLACE\n"));
    check(&body, &large("<<<<<<< SEARCH\n"));
    check(&body, &large("<<SEARCH a SEARCH<<REPLACE b REPLACE\n"));
    check(&body, &large("<<SEARCH\n"));
    check(&body, &large("<<A"));
    check(&body, &format!("--- a\n+++ b\n{}", large("@@ -1 +1 @@\n-line\n+x\n")));
    check(&body, &format!("--- a\n+++ b\n@@ -1 +1 @@\n{}", large("-line\n")));
    check(&body, &large("--- a\n+++ b\n"));
    check(&body, &large("diff --git a/x b/x\n"));
    check(
        &body,
        &format!("*** Begin Patch\n*** Update File: x\n{}*** End Patch\n", large("@@ line\n")),
    );
    check(
        &body,
        &format!("*** Begin Patch\n*** Update File: x\n{}*** End Patch\n", large("-line\n+x\n")),
    );
    check(&body, &large("s/l/ll/g\n"));
    check(&"a".repeat(1000), &"s/a/aa/g\n".repeat(60));
    check(&large("a"), "s/(a*)*b/x/");
    check(&large("a"), "s/(a|aa|aaa){1,900}$/x/");
    check(&body, &large("/l/,/zebra/d;"));
    check(&body, &large("prose about line\n"));
    check(&body, &large("1i\\\n"));
}

#[test]
fn large_splices_are_bounded() {
    let lines = large("line\r\n");
    let count = i64::try_from(lines.lines().count()).unwrap();
    let every_second: Vec<(Scope, Option<&str>)> =
        (1..=count / 2).map(|n| (Scope::At(2 * n), Some("x\ny"))).collect();
    let spliced = slice::splice_all(&lines, &every_second).unwrap();
    assert_eq!(spliced.spans.len(), every_second.len());
    let one_line = large("é");
    let far = Scope::parse("1,500000,1,500001").unwrap();
    assert_eq!(slice::select(&one_line, &far).map(|selected| selected.text), Ok("é"));
    let stale = slice::splice(&lines, &Scope::parse("@00000").unwrap(), Some("x")).unwrap_err();
    assert!(stale.to_string().len() < 4000);
}

#[test]
fn large_documents_are_bounded() {
    let array = format!("[{}1]", large("1, "));
    let all = Scope::Range(1, -1);
    let put = |text: &str, scope: &Scope, body: &str| items::splice(text, scope, Some(body));
    assert_eq!(put(&array, &all, &array).map(|new| new.text), Ok(array.clone()));
    assert!(put(&array, &Scope::At(-1), &array).is_ok());
    assert!(put("[]", &Scope::At(0), &large("[\n")).is_err());
    assert!(put(&large("{\"a\":"), &Scope::At(0), "1").is_err());
    assert!(put(&large("\""), &Scope::At(0), "1").is_err());
    assert_eq!(mime::of("a", array.as_bytes()).name(), "application/json");
    assert_eq!(render::stripped(&large("1\t\n")).len(), large("1\t\n").len());
}
