//! What a query's finer points promise: where it looks, what rules count, what is told around a line.

use super::*;
use expect_test::{Expect, expect};
use proptest::prelude::*;
use std::fs;
use std::path::Path;

fn put(root: &Path, path: &str, content: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn told(root: &Path, query: Query<'_>, skip: u64) -> String {
    let workspace = Workspace::open(root).unwrap();
    match perform(&workspace, query, (skip, None), &CancellationToken::new()) {
        Ok(done) => format!("{} {}", done.status, done.text),
        Err(refusal) => format!("{} {}", refusal.status, refusal.text),
    }
}

#[test]
fn a_search_keeps_to_what_it_is_under() {
    let tree = tempfile::tempdir().unwrap();
    let root = tree.path();
    for path in ["a/b/f.rs", "a/b/g.md", "a/bc/f.rs", "a/b/out/f.rs", "out/deep/f.rs", "f.rs"] {
        put(root, path, "hit\n");
    }
    put(root, ".git/HEAD", "");
    put(root, ".gitignore", "out\n*.md\n");
    std::os::unix::fs::symlink("a/b", root.join("link")).unwrap();
    let check = |under: &str, glob: Option<&str>, expected: &str| {
        let query = Query { glob: glob.or(Some("*")), under: Some(under), ..Query::default() };
        assert_eq!(told(root, query, 0), expected, "{under} {glob:?}");
    };
    check("a/b", None, "200 a/b/f.rs");
    check("./a/b/", None, "200 a/b/f.rs");
    check(root.join("a/b").to_str().unwrap(), None, "200 a/b/f.rs");
    check(".", Some("f.rs"), "200 a/b/f.rs\na/bc/f.rs\nf.rs");
    check("a", Some("a/*/f.rs"), "200 a/b/f.rs\na/bc/f.rs");
    check("a/b", Some("a/bc/*"), "204 nothing found");
    check("link", None, "200 a/b/f.rs");
    check("f.rs", None, "200 f.rs");
    check("f.rs", Some("*.md"), "204 nothing found");
    // What is no member is not looked at, however it is named.
    check("out", None, "403 out is not a member of the project: .gitignore names it");
    check("out/deep", None, "403 out/deep is not a member of the project: .gitignore names it");
    check("a/b/g.md", None, "403 a/b/g.md is not a member of the project: .gitignore names it");
    check("none", None, "404 none does not exist");
    check("..", None, "403 .. leads outside the workspace");
    check(".git", None, "403 .git is inside .git");
}

#[test]
fn neither_ignored_files_nor_git_are_looked_at() {
    let tree = tempfile::tempdir().unwrap();
    let root = tree.path();
    put(root, ".git/HEAD", "");
    put(root, ".git/hit", "hit\n");
    put(root, ".gitignore", "out\n");
    put(root, ".ignore", "x\n");
    put(root, "out/hit", "hit\n");
    put(root, "x", "hit\n");
    put(root, "y", "hit\n");
    let query = Query { text: Some("hit"), ..Query::default() };
    assert_eq!(told(root, query, 0), "200 x\n1:\thit\n\ny\n1:\thit");
    std::fs::remove_dir_all(root.join(".git")).unwrap();
    assert_eq!(told(root, query, 0), "200 out/hit\n1:\thit\n\ny\n1:\thit");
}

#[test]
fn lines_around_a_found_one_are_told_once_and_marked() {
    let tree = tempfile::tempdir().unwrap();
    let root = tree.path();
    put(root, "f", "1\n2\nhit 3\n4\nhit 5\n6\n7\n8\n9\nhit 10");
    put(root, "g", "hit\n");
    let check = |context: u8, skip: u64, expected: Expect| {
        let query = Query { text: Some("hit"), context, ..Query::default() };
        expected.assert_eq(&told(root, query, skip).replace('\t', " "));
    };
    check(
        1,
        0,
        expect![[r#"
            200 f
            2- 2
            3: hit 3
            4- 4
            5: hit 5
            6- 6
            9- 9
            10: hit 10

            g
            1: hit"#]],
    );
    check(
        2,
        2,
        expect![[r#"
            200 f
            8- 8
            9- 9
            10: hit 10

            g
            1: hit"#]],
    );
}

#[test]
fn a_page_says_what_follows_it() {
    let tree = tempfile::tempdir().unwrap();
    let root = tree.path();
    put(root, "a", &"hit\n".repeat(99));
    put(root, "b", "hit\nhit\n");
    put(root, "c", "hit\n");
    let end = |skip| {
        let text = told(root, Query { text: Some("hit"), ..Query::default() }, skip);
        text.rsplit('\n').next().unwrap_or_default().to_owned()
    };
    assert_eq!(end(0), "2 more in 2 files; next: skip=100");
    assert_eq!(end(1), "1 more in 1 file; next: skip=101");
    assert_eq!(end(2), "1:\thit");
    assert_eq!(end(102), "416 102 results, none after skip=102");
}

// keeps: finds
#[test]
fn a_search_that_takes_too_long_ends_and_says_what_was_not_searched() {
    let tree = tempfile::tempdir().unwrap();
    for n in 0..20 {
        put(tree.path(), &format!("d{n:02}/f"), "hit\n");
    }
    put(tree.path(), "a", "hit\n");
    let workspace = Workspace::open(tree.path()).unwrap();
    let query = Query { glob: Some("*"), ..Query::default() };
    let cancel = CancellationToken::new();
    let found = |longest: u64, page: Page| {
        let longest = std::time::Duration::from_secs(longest);
        super::searched_within(longest, &workspace, query, page, &cancel).unwrap()
    };
    let told = found(0, Page::new(0, None)).told().unwrap();
    let dirs: Vec<String> = (0..10).map(|n| format!("d{n:02}/")).collect();
    let not = format!("not searched, since it took too long: {}, 10 more", dirs.join(", "));
    assert_eq!(told.text, format!("a\n{not}; look in one folder (under)"));
    assert!(found(0, Page::of_paths()).into_paths().is_err(), "a part of a pattern is none");
    assert_eq!(found(60, Page::of_paths()).into_paths().unwrap().len(), 21);
}

#[test]
fn a_cancelled_search_looks_at_nothing_more() {
    let tree = tempfile::tempdir().unwrap();
    for n in 0..200 {
        put(tree.path(), &format!("d{n}/f"), "hit\n");
    }
    let workspace = Workspace::open(tree.path()).unwrap();
    let counted = |cancel: &CancellationToken| {
        let plan = Plan {
            paths: None,
            lines: line_matcher("hit").ok(),
            under: Vec::new(),
            judge: Judge::new(&workspace),
            context: 0,
            cancel,
            until: std::time::Instant::now() + std::time::Duration::from_secs(60),
            workspace: &workspace,
        };
        search(&plan, workspace.root.open_directory(".").unwrap(), Page::new(200, None)).told()
    };
    let cancel = CancellationToken::new();
    assert_eq!(counted(&cancel).unwrap_err().text, "200 results, none after skip=200");
    cancel.cancel();
    assert_eq!(counted(&cancel).unwrap().status, Status::NOTHING_FOUND);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn pages_with_context_put_together_are_everything(
        gaps in proptest::collection::vec(0usize..9, 1..160), context in 0u8..6,
    ) {
        let tree = tempfile::tempdir().unwrap();
        for (name, gaps) in ["a", "b"].iter().zip(gaps.chunks(gaps.len().div_ceil(2))) {
            let text: String = gaps.iter().map(|gap| "miss\n".repeat(*gap) + "hit\n").collect();
            put(tree.path(), name, &text);
        }
        let query = Query { text: Some("hit"), context, ..Query::default() };
        let (mut rows, mut skip) = (Vec::new(), 0);
        loop {
            let text = told(tree.path(), query, skip as u64);
            let lines: Vec<&str> = text.lines().filter(|line| line.contains('\t')).collect();
            prop_assert!(lines.len() <= 100);
            let hits = lines.iter().filter(|line| line.contains(":\t")).count();
            rows.extend(lines.into_iter().map(str::to_owned));
            skip += hits;
            if !text.contains("next: skip=") {
                break;
            }
            let next = format!("next: skip={skip}");
            prop_assert!(text.ends_with(&next));
        }
        let mut expected = Vec::new();
        for gaps in gaps.chunks(gaps.len().div_ceil(2)) {
            let is_hit: Vec<bool> = gaps.iter()
                .flat_map(|gap| std::iter::repeat_n(false, *gap).chain([true])).collect();
            for (at, hit) in is_hit.iter().enumerate() {
                let from = at.saturating_sub(usize::from(context));
                let to = is_hit.len().min(at + usize::from(context) + 1);
                if *hit {
                    expected.push(format!("{}:\thit", at + 1));
                } else if is_hit[from..to].contains(&true) {
                    expected.push(format!("{}-\tmiss", at + 1));
                }
            }
        }
        prop_assert_eq!(rows, expected);
    }
}
