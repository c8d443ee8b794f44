//! What finding promises: rules count as they do for git, results come in one order and page by page
//! without a gap, and nothing behind a link is looked at. Real trees, the real git.

use cairn_types::{Action, Find, Read, Status};
use cairn_world::{Performed, Settings, Workspace, World};
use proptest::prelude::*;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A directory of its own, and a tree in it.
struct Tree {
    holder: tempfile::TempDir,
}

impl Tree {
    fn new(files: &[(&str, &str)]) -> Self {
        let tree = Self { holder: tempfile::tempdir().unwrap() };
        for (path, content) in files {
            tree.put(path, content);
        }
        tree
    }

    fn repository(files: &[(&str, &str)]) -> Self {
        let tree = Self::new(files);
        tree.git(&["init", "-q"]);
        tree
    }

    fn root(&self) -> PathBuf {
        self.holder.path().join("root")
    }

    fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    #[allow(clippy::disallowed_methods, reason = "asks the git that rules are compared with")]
    fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git")
            .args(args)
            .current_dir(self.root())
            .env("HOME", self.holder.path())
            .env("XDG_CONFIG_HOME", self.holder.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        assert!(output.status.success(), "git {args:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The files that git does not leave out.
    fn members(&self) -> Vec<String> {
        let listed = self.git(&["ls-files", "-co", "--exclude-standard", "-z"]);
        let mut members: Vec<String> = listed.split_terminator('\0').map(str::to_owned).collect();
        members.sort();
        members
    }

    /// The files that find does not leave out.
    fn paths(&self) -> Vec<String> {
        let done = find(&self.root(), Some("*"), None, 0);
        match done.status {
            Status::NOTHING_FOUND => Vec::new(),
            _ => done.text.lines().map(str::to_owned).collect(),
        }
    }
}

fn find(root: &Path, glob: Option<&str>, text: Option<&str>, skip: u64) -> Performed {
    look(root, glob, text, skip, &CancellationToken::new())
}

fn look(
    root: &Path,
    glob: Option<&str>,
    text: Option<&str>,
    skip: u64,
    cancel: &CancellationToken,
) -> Performed {
    let settings = Settings::new("/bin/sh".into(), Vec::new());
    let world = World::new(Workspace::open(root).unwrap(), settings);
    let action = Action::Find(Find {
        glob: glob.map(str::to_owned),
        text: text.map(str::to_owned),
        skip,
        ..Find::default()
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(world.look(&action, "", cancel))
}

/// Reads one file.
fn read(root: &Path, path: &str) -> Performed {
    let settings = Settings::new("/bin/sh".into(), Vec::new());
    let world = World::new(Workspace::open(root).unwrap(), settings);
    let action = Action::Read(Read { path: path.to_owned(), first: 1, ..Read::default() });
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(world.look(&action, "", &CancellationToken::new()))
}

// keeps: finds
#[test]
fn rules_leave_out_what_git_leaves_out() {
    let check = |name: &str, files: &[(&str, &str)], left_out: &[&str]| {
        let tree = Tree::repository(files);
        let expected = tree.members();
        assert_eq!(tree.paths(), expected, "{name}");
        for (path, _) in files {
            let is_out = left_out.contains(path);
            assert_eq!(!expected.iter().any(|p| p == path), is_out, "{name}: control: {path}");
        }
    };
    check("hidden files are members", &[(".github/ci.yml", ""), (".env", ""), ("a", "")], &[]);
    check(
        "a name at any depth",
        &[(".gitignore", "x\n*.log\n"), ("x", ""), ("a/x/y", ""), ("a/b.log", ""), ("xx", "")],
        &["x", "a/x/y", "a/b.log"],
    );
    check(
        "anchored",
        &[(".gitignore", "/x\na/y\n"), ("x", ""), ("b/x", ""), ("a/y", ""), ("b/a/y", "")],
        &["x", "a/y"],
    );
    check(
        "directories only",
        &[(".gitignore", "out/\n"), ("out/x", ""), ("a/out/x", ""), ("b/out", "")],
        &["out/x", "a/out/x"],
    );
    check(
        "taken in again",
        &[
            (".gitignore", "*.log\n!keep.log\n"),
            ("a.log", ""),
            ("keep.log", ""),
            ("b/keep.log", ""),
        ],
        &["a.log"],
    );
    check(
        "nothing in a directory that is left out is taken in again",
        &[(".gitignore", "out\n!out/keep\n"), ("out/keep", ""), ("out/.gitignore", "!keep\n")],
        &["out/keep", "out/.gitignore"],
    );
    check(
        "what is inside, and not the directory itself",
        &[(".gitignore", "out/*\n!out/keep\n"), ("out/keep", ""), ("out/x", ""), ("a/out/x", "")],
        &["out/x"],
    );
    check(
        "nearer rules win",
        &[
            (".gitignore", "*.txt\n"),
            ("a/.gitignore", "!*.txt\n"),
            ("a/b/.gitignore", "x.txt\n/y\n"),
            ("x.txt", ""),
            ("a/x.txt", ""),
            ("a/b/x.txt", ""),
            ("a/b/y", ""),
            ("a/b/c/y", ""),
        ],
        &["x.txt", "a/b/x.txt", "a/b/y"],
    );
    check(
        "two stars",
        &[
            (".gitignore", "**/gen\na/**/z\nlogs/**\n"),
            ("gen", ""),
            ("b/gen/x", ""),
            ("a/z", ""),
            ("a/b/c/z", ""),
            ("b/z", ""),
            ("logs/x/y", ""),
        ],
        &["gen", "b/gen/x", "a/z", "a/b/c/z", "logs/x/y"],
    );
    check(
        "comments, blanks, escapes and ends of lines",
        &[
            (".gitignore", "# c\n\n\\#x\n\\!y\nz  \r\nsp\\ \n[ab]?\n"),
            ("#x", ""),
            ("!y", ""),
            ("z", ""),
            ("sp ", ""),
            ("ac", ""),
            ("c", ""),
        ],
        &["#x", "!y", "z", "sp ", "ac"],
    );
    check(
        "a bad line is passed over",
        &[(".gitignore", "[\n{a\nx\n"), ("x", ""), ("y", "")],
        &["x"],
    );
}

#[test]
fn a_repositorys_own_excludes_count_last() {
    let tree = Tree::repository(&[("a.tmp", ""), ("b.tmp", ""), (".gitignore", "!b.tmp\n")]);
    tree.put(".git/info/exclude", "*.tmp\n");
    assert_eq!(tree.members(), [".gitignore", "b.tmp"]);
    assert_eq!(tree.paths(), tree.members());
}

#[test]
fn rules_above_the_root_count_up_to_the_repositorys_own_directory() {
    let files = [
        (".gitignore", "*.log\n/crates/a/out\n"),
        ("crates/.gitignore", "tmp/\n"),
        ("crates/a/x.log", ""),
        ("crates/a/out", ""),
        ("crates/a/tmp/y", ""),
        ("crates/a/src/out", ""),
        ("target/p/q", ""),
    ];
    let tree = Tree::repository(&files);
    let listed = |path: &str| find(&tree.root().join(path), Some("*"), None, 0).text;
    assert_eq!(listed("crates/a"), "src/out");
    assert_eq!(listed("crates"), ".gitignore\na/src/out");
    tree.put(".gitignore", "target/\n**/p/**\n");
    assert_eq!(listed("target/p"), "q", "a root that is itself left out was named all the same");
    fs::rename(tree.root().join(".git"), tree.root().join("git")).unwrap();
    let all = "out\nsrc/out\ntmp/y\nx.log";
    assert_eq!(listed("crates/a"), all, "there is no repository");
}

#[test]
fn outside_a_repository_only_our_own_rules_count() {
    let tree = Tree::new(&[
        (".gitignore", "a\n"),
        (".ignore", "b\n!.git\n"),
        ("a", ""),
        ("b", ""),
        ("inner/.git/HEAD", ""),
        ("inner/.gitignore", "a\n"),
        ("inner/a", ""),
        ("inner/b", ""),
        ("inner/c", ""),
    ]);
    let expected = [".gitignore", ".ignore", "a", "inner/.gitignore", "inner/b", "inner/c"];
    assert_eq!(tree.paths(), expected);
    tree.put(".git/HEAD", "");
    tree.put(".gitignore", "c\nb\n");
    tree.put(".ignore", "!b\n");
    let expected = [".gitignore", ".ignore", "a", "inner/.gitignore", "inner/b", "inner/c"];
    assert_eq!(tree.paths(), expected, "only git's count; a repository within begins afresh");
}

#[test]
fn nothing_behind_a_link_is_looked_at() {
    let tree = Tree::new(&[("a/f", "needle\n"), (".git", "gitdir: needle\n"), ("z", "needle\n")]);
    fs::write(tree.holder.path().join("secret"), "needle\n").unwrap();
    symlink("../secret", tree.root().join("out")).unwrap();
    symlink("..", tree.root().join("up")).unwrap();
    symlink("..", tree.root().join("a/round")).unwrap();
    symlink("../z", tree.root().join("a/.gitignore")).unwrap();
    symlink("f", tree.root().join("a/alias")).unwrap();
    assert_eq!(tree.paths(), ["a/f", "z"]);
    let done = find(&tree.root(), None, Some("needle"), 0);
    assert_eq!(done.text, "a/f\n1:\tneedle\n\nz\n1:\tneedle");
}

#[test]
fn text_is_found_in_the_encodings_that_say_what_they_are() {
    let utf16 = |mark: [u8; 2], bytes: fn(u16) -> [u8; 2]| {
        let text = "a\r\nein Wörtchen\r\n".encode_utf16().flat_map(bytes);
        mark.into_iter().chain(text).collect::<Vec<u8>>()
    };
    let tree = Tree::new(&[("latin", "W\u{f6}rtchen"), ("mark", "\u{feff}Wörtchen\n")]);
    tree.put("latin1", b"ein W\xf6rtchen, und noch viel mehr Text danach\n");
    tree.put("le", utf16([0xff, 0xfe], u16::to_le_bytes));
    tree.put("be", utf16([0xfe, 0xff], u16::to_be_bytes));
    tree.put("nul", b"W\xc3\xb6rtchen\0");
    let done = find(&tree.root(), None, Some("/W.rtchen$/"), 0);
    let expected = "be\n2:\tein Wörtchen\n\nlatin\n1:\tWörtchen\n\nle\n2:\tein Wörtchen\n\n\
                    mark\n1:\tWörtchen\n\nnot looked into: 1 binary";
    assert_eq!(done.text, expected);
}

#[test]
fn an_expression_is_held_against_one_line_at_a_time() {
    let tree = Tree::new(&[("f", "one two\n\nthree\r\nfour")]);
    let check = |text: &str, expected: &str| {
        let done = find(&tree.root(), None, Some(text), 0);
        assert_eq!(format!("{} {}", done.status, done.text), expected, "{text}");
    };
    check("two", "200 f\n1:\tone two");
    check("one.two", "204 nothing found");
    check("/one.two/", "200 f\n1:\tone two");
    check("/^$/", "200 f\n2:\t");
    check("/two\\s+three/", "204 nothing found");
    check("/T H R E E/ix", "200 f\n3:\tthree");
    check("/e$|r$/", "200 f\n3:\tthree\n4:\tfour");
    check("/\\r$/", "200 f\n3:\tthree");
    check("/\\Aone/", "200 f\n1:\tone two");
    for text in ["", "a\nb", "/two\\nthree/", "/(/", "/x", "/a(?=b)/"] {
        assert_eq!(find(&tree.root(), None, Some(text), 0).status, Status::BAD_REQUEST, "{text}");
    }
}

#[test]
fn a_cancelled_search_says_so_and_ends() {
    // An expression that is slow on such lines, and one file under many names: to its end, this would
    // take minutes.
    let (mut lines, mut seed) = (String::new(), 1u32);
    for n in 0..1 << 19 {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        lines.push(if n % 500 == 499 { '\n' } else { ['a', 'b'][(seed >> 31) as usize] });
    }
    let tree = Tree::new(&[("f0", &lines)]);
    for n in 1..3_000 {
        fs::hard_link(tree.root().join("f0"), tree.root().join(format!("f{n}"))).unwrap();
    }
    let cancel = CancellationToken::new();
    let late = cancel.clone();
    let canceller = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        late.cancel();
    });
    let done = look(&tree.root(), None, Some("/a[ab]{60}[^ab]/"), 0, &cancel);
    canceller.join().unwrap();
    assert_eq!((done.status, done.text.as_str()), (Status::CANCELLED, "cancelled"));
}

#[test]
fn the_same_tree_gives_the_same_text() {
    let tree = Tree::new(&[]);
    for n in 0..600 {
        let content = if n % 7 == 0 { "hit\0".to_owned() } else { "hit\n".repeat(n % 40) };
        tree.put(&format!("d{}/e{}/f{n}", n % 13, n % 5), content);
    }
    for skip in [0, 90, 5_000] {
        let first = find(&tree.root(), None, Some("hit"), skip);
        assert!(first.text.contains("not looked into: 86 binary\n"), "{}", first.text);
        for _ in 0..20 {
            assert_eq!(find(&tree.root(), None, Some("hit"), skip).text, first.text);
        }
    }
    // The count ends early, and what was passed over by then is the same every time.
    tree.put("d1/many", "hit\n".repeat(9_000));
    let first = find(&tree.root(), None, Some("hit"), 0);
    assert!(first.text.contains("more than 10000 more in "), "{}", first.text);
    for _ in 0..20 {
        assert_eq!(find(&tree.root(), None, Some("hit"), 0).text, first.text);
    }
}

/// The results of every page, each line with its file, and the notes that ended the pages.
fn all_pages(root: &Path, glob: Option<&str>, text: Option<&str>) -> Vec<String> {
    let (mut results, mut skip) = (Vec::new(), 0);
    loop {
        let done = find(root, glob, text, skip);
        if done.status == Status::NOTHING_FOUND {
            return results;
        }
        assert_eq!(done.status, Status::OK, "{}", done.text);
        assert!(done.text.len() < 17 * 1024 && done.text.lines().count() < 304);
        let (rows, next) = match done.text.rsplit_once("; next: skip=") {
            Some((rows, next)) => (rows.rsplit_once('\n').unwrap().0, next.parse().ok()),
            None => (done.text.as_str(), None),
        };
        if text.is_some() {
            for group in rows.trim_end().split("\n\n") {
                let (path, lines) = group.split_once('\n').unwrap();
                results.extend(lines.lines().map(|line| format!("{path}:{line}")));
            }
        } else {
            results.extend(rows.lines().map(str::to_owned));
        }
        let Some(next) = next else { return results };
        assert_eq!(next, results.len() as u64, "skip counts results");
        skip = next;
    }
}

fn a_path() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        Just("a"),
        Just("b"),
        Just("a.b"),
        Just("a-b"),
        Just("é"),
        Just("日b"),
        Just("b😀"),
        Just(".h")
    ];
    proptest::collection::vec(name, 1..4).prop_map(|names| names.join("/"))
}

/// Puts what can be put: a file cannot lie where a directory does.
fn plant<T: AsRef<[u8]>>(tree: &Tree, files: &[(String, T)]) {
    fs::create_dir_all(tree.root()).unwrap();
    for (path, content) in files {
        let path = tree.root().join(path);
        if fs::create_dir_all(path.parent().unwrap()).is_ok() {
            let _ = fs::write(path, content);
        }
    }
}

fn a_rule() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("a"),
        Just("b"),
        Just("*"),
        Just("**"),
        Just("a*"),
        Just("*b"),
        Just("?"),
        Just("[ab]"),
        Just(".h"),
        Just("a.b"),
        Just("[!a]"),
    ];
    let parts = proptest::collection::vec(part, 1..4);
    let ends = (any::<bool>(), any::<bool>(), proptest::bool::weighted(0.3));
    (parts, ends).prop_map(|(parts, (is_again, is_anchored, is_directory))| {
        let mark = |is: bool, mark: &'static str| if is { mark } else { "" };
        let (again, anchor) = (mark(is_again, "!"), mark(is_anchored, "/"));
        format!("{again}{anchor}{}{}\n", parts.join("/"), mark(is_directory, "/"))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    // keeps: finds, members
    #[test]
    fn any_rules_leave_out_what_git_leaves_out(
        files in proptest::collection::vec((a_path(), Just("")), 1..24),
        tracked in proptest::collection::vec(any::<proptest::sample::Index>(), 0..4),
        rules in proptest::collection::vec(
            (prop_oneof![Just(""), Just("a/"), Just("b/"), Just("a/b/")],
             proptest::collection::vec(a_rule(), 1..5)), 1..4),
    ) {
        let tree = Tree::new(&[]);
        plant(&tree, &files);
        let rules: Vec<(String, String)> = rules.into_iter()
            .map(|(dir, lines)| (format!("{dir}.gitignore"), lines.concat())).collect();
        plant(&tree, &rules);
        tree.git(&["init", "-q"]);
        let is_there = |path: &str| tree.root().join(path).is_file();
        for index in tracked {
            let (path, _) = &files[index.index(files.len())];
            if is_there(path) {
                tree.git(&["add", "-f", "--", path]);
            }
        }
        let members = tree.members();
        prop_assert_eq!(tree.paths(), members.clone(), "{:?}", rules);
        for (path, _) in files.iter().filter(|(path, _)| is_there(path)) {
            let is_read = read(&tree.root(), path).status == Status::OK;
            prop_assert_eq!(is_read, members.contains(path), "{} {:?}", path, rules);
        }
    }

    // keeps: finds
    #[test]
    fn pages_put_together_are_everything_in_order(
        files in proptest::collection::vec(
            (a_path(), proptest::collection::vec((0usize..260, 0usize..400), 0..4)), 1..12),
    ) {
        let tree = Tree::new(&[]);
        let files: Vec<(String, String)> = files.into_iter().map(|(path, parts)| {
            let lines = parts.iter().map(|(hits, long)| {
                format!("miss\n{}", format!("{}hit\n", "x".repeat(*long)).repeat(*hits))
            });
            (path, lines.collect())
        }).collect();
        plant(&tree, &files);
        let mut expected = Vec::new();
        let mut paths: Vec<&String> = files.iter().map(|(path, _)| path).collect();
        paths.sort();
        paths.dedup();
        paths.retain(|path| tree.root().join(path).is_file());
        for path in &paths {
            let text = fs::read_to_string(tree.root().join(path)).unwrap();
            for (n, _) in text.lines().enumerate().filter(|(_, line)| line.contains("hit")) {
                expected.push(format!("{path}:{}", n + 1));
            }
        }
        let results = all_pages(&tree.root(), None, Some("hit"));
        prop_assert!(results.iter().all(|row| row.contains("hit")));
        let found: Vec<&str> = results.iter().map(|row| row.split_once(":\t").unwrap().0).collect();
        prop_assert_eq!(found, expected);
        let listed = all_pages(&tree.root(), Some("*"), None);
        prop_assert_eq!(listed.iter().collect::<Vec<_>>(), paths);
    }
}
