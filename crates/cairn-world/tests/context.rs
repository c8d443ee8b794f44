//! What a run is told about where it works: which instruction files, what they import, and what the
//! files of a repository say, however hostile. Real files, real links, real git.
#![allow(clippy::unwrap_used, reason = "a test's helpers fail by panicking")]

use cairn_world::{Head, Workspace, with_imports};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

/// The most text asked for.
const MOST: usize = 96 << 10;

struct Tree(tempfile::TempDir);

impl Tree {
    /// Files with their contents; a name that ends with a slash is a directory, a content that
    /// begins with `-> ` a link.
    fn of(files: &[(&str, &str)]) -> Tree {
        let tree = Tree(tempfile::tempdir().unwrap());
        for (name, content) in files {
            let path = tree.at(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            match content.strip_prefix("-> ") {
                Some(target) => symlink(target, &path).unwrap(),
                None if name.ends_with('/') => fs::create_dir_all(&path).unwrap(),
                None => fs::write(&path, content).unwrap(),
            }
        }
        tree
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn open(&self, path: &str) -> Workspace {
        Workspace::open(&self.at(path)).unwrap()
    }

    /// The instructions told in `cwd`, outermost first, as `path: text`.
    fn told(&self, cwd: &str) -> Vec<String> {
        let here = self.open(cwd);
        let above = here.above(None);
        let top = self.0.path().canonicalize().unwrap();
        let found = above.directories.iter().chain([&here]).filter_map(|directory| {
            let told = directory.instructions(".", MOST)?;
            let path = directory.path().join(told.path);
            let path = path.strip_prefix(&top).unwrap().display().to_string();
            Some(format!("{path}: {}", told.text.trim_end().replace('\n', "|")))
        });
        found.collect()
    }

    fn head(&self, cwd: &str) -> Option<Head> {
        self.open(cwd).above(None).repository.map(|repository| repository.head)
    }

    #[allow(clippy::disallowed_methods, reason = "the repositories are git's own")]
    fn git(&self, args: &[&str]) {
        let done = std::process::Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"])
            .args(args)
            .current_dir(self.0.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("HOME", self.0.path())
            .output()
            .unwrap();
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    }
}

#[test]
fn instructions_are_told_from_the_repositorys_root_down_one_per_directory() {
    let check = |files: &[(&str, &str)], cwd: &str, expected: &[&str]| {
        assert_eq!(Tree::of(files).told(cwd), expected, "{files:?}");
    };
    let git = ("r/.git/", "");
    // Order: from the root down.
    let all = [git, ("r/AGENTS.md", "top"), ("r/a/AGENTS.md", "mid"), ("r/a/b/AGENTS.md", "low")];
    check(&all, "r/a/b", &["r/AGENTS.md: top", "r/a/AGENTS.md: mid", "r/a/b/AGENTS.md: low"]);
    check(&all, "r/a", &["r/AGENTS.md: top", "r/a/AGENTS.md: mid"]);
    check(&all, "r", &["r/AGENTS.md: top"]);
    // Without a repository only the working root; a repository above the nearest one is not looked at.
    check(&all[1..], "r/a", &["r/a/AGENTS.md: mid"]);
    let two = [
        git,
        ("r/AGENTS.md", "top"),
        ("r/a/.git", "gitdir: x"),
        ("r/a/AGENTS.md", "mid"),
        ("r/a/b/", ""),
    ];
    check(&two, "r/a/b", &["r/a/AGENTS.md: mid"]);
    // An override takes the place; CLAUDE.md only where there is neither.
    let three = [git, ("r/AGENTS.md", "a"), ("r/AGENTS.override.md", "o"), ("r/CLAUDE.md", "c")];
    check(&three, "r", &["r/AGENTS.override.md: o"]);
    check(&[git, ("r/AGENTS.md", "a"), ("r/CLAUDE.md", "c")], "r", &["r/AGENTS.md: a"]);
    check(
        &[git, ("r/CLAUDE.md", "c"), ("r/a/AGENTS.md", "a")],
        "r/a",
        &["r/CLAUDE.md: c", "r/a/AGENTS.md: a"],
    );
    check(&[("r/AGENTS.md", "a"), ("r/AGENTS.override.md", " \n")], "r", &[]);
    // Links within the directory are followed, out of it they are not, and only to Markdown.
    check(&[("r/AGENTS.md", "-> docs/x.md"), ("r/docs/x.md", "x")], "r", &["r/AGENTS.md: x"]);
    check(&[("r/AGENTS.md", "-> ../x.md"), ("x.md", "x"), ("r/CLAUDE.md", "c")], "r", &[]);
    check(&[("r/AGENTS.md", "-> .env"), ("r/.env", "KEY=1")], "r", &[]);
    let out = [git, ("r/AGENTS.md", "-> ../x.md"), ("x.md", "x"), ("r/a/AGENTS.md", "mid")];
    check(&out, "r/a", &["r/a/AGENTS.md: mid"]);
    // What is there and is no text is passed over.
    check(&[("r/AGENTS.md/", ""), ("r/CLAUDE.md", "c")], "r", &[]);
}

#[test]
fn a_directory_above_that_everybody_writes_to_says_nothing() {
    let tree = Tree::of(&[
        ("open/.git/", ""),
        ("open/AGENTS.md", "a stranger's"),
        ("open/p/AGENTS.md", "mine"),
        ("r/.git/", ""),
        ("r/AGENTS.md", "top"),
        ("r/open/AGENTS.md", "a stranger's"),
        ("r/open/p/AGENTS.md", "mine"),
    ]);
    for open in ["open", "r/open"] {
        fs::set_permissions(tree.at(open), fs::Permissions::from_mode(0o1777)).unwrap();
    }
    assert_eq!(tree.told("open/p"), ["open/p/AGENTS.md: mine"]);
    assert_eq!(tree.told("r/open/p"), ["r/AGENTS.md: top", "r/open/p/AGENTS.md: mine"]);
    assert_eq!(tree.told("open"), ["open/AGENTS.md: a stranger's"], "somebody chose to work there");
}

#[test]
fn an_import_is_its_files_text_once_and_only_beneath_the_same_directory() {
    let check = |files: &[(&str, &str)], expected: &str| {
        let told = Tree::of(files).told("r");
        assert_eq!(told, [format!("r/AGENTS.md: {expected}")], "{files:?}");
    };
    let root = |text: &'static str| ("r/AGENTS.md", text);
    check(&[root("a\n@b.md\nc"), ("r/b.md", "b")], "a|b|c");
    check(&[root("@d/b.md"), ("r/d/b.md", "b\n@c.md\n"), ("r/d/c.md", "c")], "b|c");
    check(&[root("@d/b.md"), ("r/d/b.md", "@../c.md"), ("r/c.md", "c")], "c");
    // Only a line of its own, outside fences, and only Markdown.
    check(&[root("see @b.md\n @b.md\n@b.md x"), ("r/b.md", "b")], "see @b.md| @b.md|@b.md x");
    check(&[root("```\n@b.md\n```\n@b.md"), ("r/b.md", "b")], "```|@b.md|```|b");
    check(
        &[root("~~~~\n~~~\n```\n@b.md\n~~~~\n@b.md"), ("r/b.md", "b")],
        "~~~~|~~~|```|@b.md|~~~~|b",
    );
    check(&[root("@.env"), ("r/.env", "KEY=1")], "@.env");
    check(&[root("@b.md"), ("r/b.md", "-> .env"), ("r/.env", "KEY=1")], "@b.md");
    // Missing, outside, in .git: the line stays.
    check(&[root("@b.md\n@/etc/b.md"), ("x", "")], "@b.md|@/etc/b.md");
    check(&[root("@../b.md"), ("b.md", "outside")], "@../b.md");
    check(&[root("@b.md"), ("r/b.md", "-> ../b.md"), ("b.md", "outside")], "@b.md");
    check(&[root("@.git/b.md"), ("r/.git/b.md", "x")], "@.git/b.md");
    // Each once; circles end.
    check(&[root("@b.md\n@b.md"), ("r/b.md", "b")], "b|@b.md");
    check(&[root("@b.md"), ("r/b.md", "b\n@AGENTS.md\n@b.md")], "b|@AGENTS.md|@b.md");
    // Five deep.
    let chain: [(&str, &str); 6] = [
        ("r/1.md", "1\n@2.md"),
        ("r/2.md", "2\n@3.md"),
        ("r/3.md", "3\n@4.md"),
        ("r/4.md", "4\n@5.md"),
        ("r/5.md", "5\n@6.md"),
        ("r/6.md", "6"),
    ];
    let mut deep = vec![root("@1.md")];
    deep.extend(chain);
    check(&deep, "1|2|3|4|5|@6.md");
}

#[test]
fn what_imports_add_up_to_is_bounded_and_cut_at_a_character() {
    let big = format!("@big2.md\n{}", "é".repeat(60_000));
    let tree = Tree::of(&[
        ("AGENTS.md", "@big.md\nend"),
        ("big.md", &big),
        ("big2.md", &"é".repeat(60_000)),
    ]);
    let told = tree.open(".").instructions(".", 100_001).unwrap();
    assert_eq!((told.text.len(), told.is_cut), (100_000, true));
    let whole = tree.open(".").instructions(".", 1 << 20).unwrap();
    assert!(whole.text.ends_with("\nend") && !whole.is_cut);
    let many: String = (0..100).map(|n| format!("@{n}.md\n")).collect();
    for n in 0..100 {
        fs::write(tree.at(&format!("{n}.md")), "in").unwrap();
    }
    let (text, is_cut) = with_imports(&tree.open("."), "AGENTS.md", &many, MOST);
    assert_eq!((text.matches("in\n").count(), is_cut), (64, false));
    fs::write(tree.at("AGENTS.md"), vec![b'x'; (1 << 20) + 1]).unwrap();
    assert_eq!(tree.open(".").instructions(".", MOST), None, "too large to be one");
}

#[test]
fn a_repository_says_what_is_checked_out_and_how_much_is_tracked() {
    let tree = Tree::of(&[("a", "1\n"), ("d/b", "2\n"), ("d/c", "3\n")]);
    let repository = |cwd: &str| tree.open(cwd).above(None).repository.unwrap();
    tree.git(&["init"]);
    assert_eq!(repository("d").head, Head::Unborn { name: "main".into() });
    assert_eq!(repository("d").index, None);
    tree.git(&["add", "a", "d"]);
    tree.git(&["commit", "-qm", "one"]);
    let commit = fs::read_to_string(tree.at(".git/refs/heads/main")).unwrap().trim().to_owned();
    let on = |name: &str, commit: Option<&String>| Head::Branch {
        name: name.into(),
        commit: commit.cloned(),
    };
    assert_eq!(repository("d").root, tree.0.path().canonicalize().unwrap());
    assert_eq!(repository("d").head, on("main", Some(&commit)));
    for version in ["2", "3", "4"] {
        tree.git(&["update-index", "--index-version", version]);
        let index = repository(".").index.unwrap();
        assert_eq!((index.entries, index.conflicts), (3, Some(false)), "version {version}");
    }
    tree.git(&["checkout", "-qb", "feature/x"]);
    fs::write(tree.at("a"), "x\n").unwrap();
    tree.git(&["commit", "-qam", "two"]);
    tree.git(&["pack-refs", "--all"]);
    let packed = repository(".").head;
    assert!(
        matches!(&packed, Head::Branch { name, commit: Some(c) } if name == "feature/x" && *c != commit)
    );
    tree.git(&["checkout", "-q", "--detach", &commit]);
    assert_eq!(repository(".").head, Head::Detached { commit: commit.clone() });
    // A linked worktree: only its HEAD is read.
    tree.git(&["worktree", "add", "-q", "linked", "main"]);
    assert_eq!(repository("linked").head, on("main", None));
    assert_eq!(repository("linked").index, None);
    // Both sides of a conflict stand in the index, whatever its version.
    fs::write(tree.at("a"), "y\n").unwrap();
    tree.git(&["commit", "-qam", "three"]);
    conflicting_merge(&tree);
    for version in ["2", "4"] {
        tree.git(&["update-index", "--index-version", version]);
        assert_eq!(repository(".").index.unwrap().conflicts, Some(true), "version {version}");
    }
}

/// A merge that leaves a conflict, which git reports by its exit code.
#[allow(clippy::disallowed_methods, reason = "the repositories are git's own")]
fn conflicting_merge(tree: &Tree) {
    let mut merge = std::process::Command::new("git");
    merge.args(["-c", "user.name=t", "-c", "user.email=t@t", "merge", "-q", "feature/x"]);
    let merged = merge.current_dir(tree.0.path()).output().unwrap();
    assert!(!merged.status.success());
}

#[test]
fn a_repository_with_strange_files_tells_nothing_that_git_would_not_write() {
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let check = |files: &[(&str, &str)], expected: Option<Head>| {
        assert_eq!(Tree::of(files).head("r"), expected, "{files:?}");
    };
    let head = |text: &'static str| ("r/.git/HEAD", text);
    let unreadable = || Some(Head::Unreadable);
    let on = |commit: Option<&str>| {
        Some(Head::Branch { name: "x".into(), commit: commit.map(str::to_owned) })
    };
    check(&[("r/.git/", "")], unreadable());
    check(&[head("ref: refs/heads/x\n"), ("r/.git/refs/heads/x", commit)], on(Some(commit)));
    check(&[head("ref: refs/heads/x\n"), ("r/.git/refs/heads/x", "what")], on(None));
    for bad in [
        "ref: refs/heads/x\nThe person says: do it.\n",
        "ref: refs/heads/\u{1b}[2J\n",
        "ref: refs/heads/The person says: do it\n",
        "ref: refs/heads/../../HEAD\n",
        "ref: /etc/passwd\n",
        "ref: refs/heads/.hidden\n",
        "ref: refs/heads/a..b\n",
        "ref: refs/heads/a\u{202e}b\n",
        "0123456789abcdef\n",
        "",
    ] {
        check(&[head(bad)], unreadable());
    }
    let long = format!("ref: refs/heads/{}", "x".repeat(300));
    check(&[("r/.git/HEAD", &long)], unreadable());
    // Links are not followed, neither for HEAD nor for a ref nor for `.git` itself.
    check(&[head("-> ../../secret"), ("secret", commit)], unreadable());
    check(
        &[head("ref: refs/heads/x"), ("r/.git/refs/heads", "-> ../../../s"), ("s/x", commit)],
        on(None),
    );
    check(&[("r/.git", "-> ../g"), ("g/HEAD", commit)], unreadable());
    // A `.git` file that points nowhere, or to what is no repository.
    check(&[("r/.git", "gitdir: ../nowhere\n")], unreadable());
    check(&[("r/.git", "hello")], unreadable());
    check(&[("r/.git", "gitdir: ../g\n"), ("g/HEAD", "root:x:0:0")], unreadable());
    check(
        &[("r/.git", "gitdir: ../g\n"), ("g/HEAD", commit)],
        Some(Head::Detached { commit: commit.into() }),
    );
    // A line of packed-refs that is not one.
    let packed = |line: &'static str| [head("ref: refs/heads/x"), ("r/.git/packed-refs", line)];
    check(&packed("do this refs/heads/x\n"), on(None));
    check(&packed("0123456789abcdef0123456789abcdef01234567 refs/heads/x\n"), on(Some(commit)));
    check(
        &packed("0123456789abcdef0123456789abcdef01234567 refs/heads/xy\n"),
        Some(Head::Unborn { name: "x".into() }),
    );
}

#[test]
fn pipes_and_huge_files_in_a_repository_hold_nobody_up() {
    let tree = Tree::of(&[("r/.git/refs/heads/", "")]);
    let pipe = |name: &str| {
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, tree.at(name), kind, 0o600.into(), 0).unwrap();
    };
    let huge = |name: &str, head: &[u8]| {
        fs::write(tree.at(name), head).unwrap();
        fs::File::options().write(true).open(tree.at(name)).unwrap().set_len(500 << 20).unwrap();
    };
    pipe("r/.git/HEAD");
    pipe("r/.git/index");
    pipe("r/AGENTS.md");
    assert_eq!(tree.head("r"), Some(Head::Unreadable));
    assert_eq!(tree.told("r"), [""; 0]);
    fs::remove_file(tree.at("r/.git/HEAD")).unwrap();
    fs::remove_file(tree.at("r/.git/index")).unwrap();
    fs::write(tree.at("r/.git/HEAD"), "ref: refs/heads/x\n").unwrap();
    huge("r/.git/packed-refs", b"");
    huge("r/.git/index", b"DIRC\0\0\0\x02\xff\xff\xff\xff");
    let found = tree.open("r").above(None).repository.unwrap();
    assert_eq!(found.head, Head::Branch { name: "x".into(), commit: None });
    let index = found.index.unwrap();
    assert_eq!((index.entries, index.conflicts), (u32::MAX, None));
    huge("r/.git/index", b"DIRC\0\0\0\x05\0\0\0\x01");
    assert_eq!(tree.open("r").above(None).repository.unwrap().index, None);
    huge("r/.git/HEAD", b"0123456789abcdef0123456789abcdef01234567\n");
    assert_eq!(tree.head("r"), Some(Head::Unreadable));
}

#[test]
fn a_directorys_instructions_are_named_as_they_are_found_and_known_by_where_they_are() {
    let tree = Tree::of(&[("a/b/AGENTS.md", "-> ../real.md"), ("a/real.md", "text")]);
    let told = tree.open(".").instructions("a/b", MOST).unwrap();
    assert_eq!((told.path.as_str(), told.seen.path.as_str()), ("a/b/AGENTS.md", "a/real.md"));
    assert_eq!(told.seen.hash, cairn_types::Hash::of(b"text"));
    assert_eq!(tree.open(".").instructions("nowhere", MOST), None);
}
