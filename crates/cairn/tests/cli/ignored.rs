//! What git ignores, through the binary: nothing that a run writes turns a question off, and what lies in an
//! ignored folder says nothing about how to work there.

use crate::bench_world::Bench;
use crate::overlay::{bash, statuses, told};
use crate::overlay_git::git;
use serde_json::{Value, json};

fn write(path: &str, content: &str) -> Value {
    json!({"calls": [{"tool": "write", "args": {"path": path, "content": content}}]})
}

fn read(path: &str) -> Value {
    json!({"calls": [{"tool": "read", "args": {"path": path}}]})
}

/// A repository with these files, of which git tracks `src` and the `Makefile`.
fn repository(replies: Value, files: &[(&str, &str)]) -> Bench {
    let bench = Bench::confined(replies);
    bench.temp.write("Makefile", "all:\n");
    for n in 0..60 {
        bench.temp.write(&format!("src/{n}"), "text\n");
    }
    git(&bench, "workspace", &["init", "-q", "-b", "main"]);
    git(&bench, "workspace", &["add", "-A"]);
    for (path, text) in files {
        bench.temp.write(path, text);
    }
    bench
}

/// Does something in the project that is not the run's.
#[allow(clippy::disallowed_methods, reason = "tests start a shell")]
fn outside(bench: &Bench, script: &str) {
    let mut shell = std::process::Command::new("sh");
    shell.args(["-ec", script]).current_dir(bench.file("")).env("HOME", bench.temp.path());
    let done = shell.output().unwrap();
    assert!(done.status.success(), "{script}: {done:?}");
}

// keeps: large-deletions, members
#[test]
fn a_rule_that_names_everything_turns_no_question_off() {
    for file in [".ignore", ".gitignore"] {
        for (command, flags) in [
            ("echo evil >> Makefile", &[][..]),
            ("rm -rf src", &["--yolo"]),
            ("for f in src/*; do : > $f; done", &["--yolo"]),
        ] {
            let replies = json!([bash(command), {"say": "done"}]);
            let bench = repository(replies, &[(file, "*\n")]);
            let done = bench.cairn(&[&["run"], flags, &["work"]].concat());
            assert_eq!(statuses(&bench), [403], "{file} {command}: {done:?}");
            assert_eq!(bench.temp.read("Makefile"), "all:\n");
            assert_eq!(bench.temp.read("src/7"), "text\n");
        }
    }
    // What is untracked and ignored is built.
    let replies = json!([bash("mkdir out; echo o > out/o"), {"say": "done"}]);
    let bench = repository(replies, &[(".gitignore", "*\n")]);
    bench.cairn(&["run", "work"]);
    assert_eq!(statuses(&bench), [200]);
}

// keeps: large-deletions, members
#[test]
fn a_split_index_tracks_what_it_did_and_one_that_is_not_understood_hides_nothing() {
    let remove = || json!([bash("rm -rf src"), {"say": "done"}]);
    let build = || json!([bash("mkdir out; echo o > out/o"), {"say": "done"}]);
    let statuses_with = |replies: Value, change: &dyn Fn(&Bench)| {
        let bench = repository(replies, &[(".gitignore", "*\n")]);
        change(&bench);
        bench.cairn(&["run", "--yolo", "work"]);
        statuses(&bench)
    };
    let split = |bench: &Bench| {
        git(bench, "workspace", &["update-index", "--split-index"]);
        let names = std::fs::read_dir(bench.file(".git")).unwrap().flatten();
        let is_shared = |name: &str| name.starts_with("sharedindex.");
        assert_eq!(names.filter(|n| is_shared(&n.file_name().to_string_lossy())).count(), 1);
    };
    assert_eq!(statuses_with(remove(), &split), [403]);
    assert_eq!(statuses_with(build(), &split), [200]);
    let damaged =
        |bench: &Bench| std::fs::write(bench.file(".git/index"), "DIRC of later").unwrap();
    assert_eq!(statuses_with(remove(), &damaged), [403]);
    // Without an index nothing is tracked, and the rule holds for all.
    let fresh = |bench: &Bench| std::fs::remove_file(bench.file(".git/index")).unwrap();
    assert_eq!(statuses_with(remove(), &fresh), [200]);
}

// keeps: members
#[test]
fn what_a_split_index_no_longer_has_is_not_tracked_and_what_it_replaces_is() {
    let statuses_with = |changes: &[&[&str]]| {
        let replies = json!([read(".env"), read("src/7"), read("src/8"), {"say": "done"}]);
        let bench = repository(replies, &[(".gitignore", ".env\nsrc/8\n"), (".env", "secret\n")]);
        for n in 60..110 {
            bench.temp.write(&format!("src/{n}"), "text\n");
        }
        git(&bench, "workspace", &["add", "-f", "src", ".env"]);
        git(&bench, "workspace", &["update-index", "--split-index"]);
        for args in changes {
            git(&bench, "workspace", args);
        }
        let index = std::fs::read(bench.file(".git/index")).unwrap();
        assert!(index.windows(4).any(|four| four == b"link"), "the index is split: {changes:?}");
        bench.cairn(&["run", "--mode", "accept-edits", "work"]);
        statuses(&bench)
    };
    let remove: &[&str] = &["rm", "-q", "--cached", ".env"];
    assert_eq!(statuses_with(&[]), [200, 200, 200]);
    assert_eq!(statuses_with(&[remove]), [403, 200, 200]);
    assert_eq!(statuses_with(&[&["rm", "-q", "--cached", "src/8"]]), [200, 200, 403]);
    assert_eq!(statuses_with(&[&["update-index", "--chmod=+x", "src/8"], remove]), [403, 200, 200]);
    assert_eq!(statuses_with(&[remove, &["add", "-f", ".env"]]), [200, 200, 200]);
}

// keeps: members
#[test]
fn an_empty_git_folder_is_no_repository_whose_rules_count() {
    let check = |make: &dyn Fn(&Bench), expected: u64| {
        let bench = Bench::confined(json!([bash("rm -rf src"), {"say": "done"}]));
        for n in 0..60 {
            bench.temp.write(&format!("in/src/{n}"), "text\n");
        }
        bench.temp.write("in/.gitignore", "*\n");
        git(&bench, "workspace", &["init", "-q"]);
        git(&bench, "workspace", &["add", "-f", "-A"]);
        make(&bench);
        let cwd = bench.file("in");
        let done = bench.command(&["run", "--yolo", "work"]).current_dir(cwd).output().unwrap();
        let log = bench.command(&["log", "--json"]).current_dir(bench.file("in")).output().unwrap();
        let row: Value = serde_json::from_slice(&log.stdout).unwrap();
        assert_eq!(row["status"], expected, "{done:?}");
    };
    // What the repository around it tracks is not ignored.
    check(&|bench| std::fs::create_dir(bench.file("in/.git")).unwrap(), 403);
    // A repository of its own tracks nothing of it.
    check(&|bench| drop(git(bench, "workspace/in", &["init", "-q"])), 200);
}

// keeps: members, rules-frozen
#[test]
fn a_git_folder_that_git_would_not_take_hides_and_opens_nothing() {
    let rules = "*\n!Makefile\n";
    let files = [(".gitignore", rules), (".env", "secret\n"), ("sub/.env", "secret\n")];
    let check = |change: &str, expected: &[u64]| {
        let reads = [read(".env"), read("sub/.env")];
        let bench = repository(
            json!([bash(change), reads[0], reads[1], bash("rm -rf src"), {"say": "one"},
                reads[0], reads[1], bash("rm -rf src"), {"say": "two"}]),
            &files,
        );
        let done = bench.cairn(&["run", "--yolo", "work"]);
        assert_eq!(statuses(&bench), expected, "{change}: {done:?}");
        let done = bench.cairn(&["run", "-c", "--yolo", "go on"]);
        assert_eq!(statuses(&bench)[4..], [403, 403, 403], "{change}: {done:?}");
        assert_eq!(bench.cairn(&["policy", "replay"]).code, 0);
    };
    check("mv .git/HEAD .git/H", &[200, 403, 403, 403]);
    check("mv .git .g", &[403, 403, 403, 403]);
    check("rm -rf .git", &[403, 403, 403, 403]);
    check("git init -q sub", &[403, 403, 403, 403]);
    check("mkdir sub/.git", &[403, 403, 403, 403]);
}

// keeps: members, rules-frozen
#[test]
fn a_git_file_that_names_no_repository_of_ours_leaves_the_rules_in_force() {
    for dot_git in ["gitdir: /nowhere\n", "gitdir: inner\n", "nonsense\n"] {
        let bench = Bench::confined(json!([read(".env"), bash("rm -rf src"), {"say": "done"}]));
        bench.temp.write(".git", dot_git);
        bench.temp.write("inner/x", "x\n");
        bench.temp.write(".gitignore", ".env\nsrc/\n");
        bench.temp.write(".env", "secret\n");
        for n in 0..60 {
            bench.temp.write(&format!("src/{n}"), "text\n");
        }
        let done = bench.cairn(&["run", "--yolo", "work"]);
        assert_eq!(statuses(&bench), [403, 403], "{dot_git}: {done:?}");
    }
}

// keeps: members
#[test]
fn the_persons_global_excludes_count() {
    let replies = json!([read("a.secret"), read("b.other"), {"say": "done"}]);
    let bench = repository(replies, &[("a.secret", "x\n"), ("b.other", "x\n")]);
    let own = bench.temp.path().join(".config/git");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(own.join("ignore"), "*.secret\n").unwrap();
    bench.cairn(&["run", "look"]);
    assert_eq!(statuses(&bench), [403, 200]);
    assert!(told(&bench, 2).contains("core.excludesFile"), "{}", told(&bench, 2));
}

// keeps: rules-frozen
#[test]
fn letting_git_see_a_precious_file_needs_a_person_whether_by_tool_or_by_command() {
    let files = [(".gitignore", ".env\n*.o\n"), (".env", "secret\n"), ("a.o", "x\n")];
    for (change, expected) in [
        (write(".gitignore", "*.o\n"), 403),
        (bash("echo '*.o' > .gitignore"), 403),
        (bash("rm .gitignore"), 403),
        (bash("echo '!.env' >> .git/info/exclude; echo '!.env' >> .gitignore"), 403),
        (bash("git add -f .env"), 403),
        (bash("git add -f .env; git commit -qm chore"), 403),
        (write(".gitignore", ".env\n"), 200),
        (bash("echo .env > .gitignore"), 200),
    ] {
        for flags in [&["--yolo"][..], &["--mode", "accept-edits"]] {
            let replies = json!([read(".gitignore"), change, read(".env"), {"say": "done"}]);
            let bench = repository(replies, &files);
            let done = bench.cairn(&[&["run"], flags, &["work"]].concat());
            assert_eq!(statuses(&bench), [200, expected, 403], "{change} {flags:?} {done:?}");
            assert_eq!(bench.cairn(&["policy", "replay"]).code, 0);
        }
    }
}

// keeps: rules-frozen
#[test]
fn tracking_a_precious_file_needs_a_person_in_whatever_index_it_is() {
    let entries = "seq 60000 | awk '{printf \"100644 %s 0\\t%0150d\\n\", b, $1}' b=$(git hash-object -w Makefile) \
        | git update-index --index-info";
    for (before, change, part, expected) in [
        ("", "git update-index --split-index; git add -f .env", ".", 403),
        ("git update-index --split-index", "git add -f .env", ".", 403),
        ("", "echo 'DIRC of later' > .git/index", ".", 403),
        (entries, "git add -f .env", ".", 403),
        (entries, "git add -f Makefile", ".", 200),
        ("git worktree add -q tree", "cd tree; git add -f .env", "tree", 403),
        ("git worktree add -q tree", "cd tree; git add -f a.o", "tree", 200),
        (
            "git -c protocol.file.allow=always submodule -q add ./. tree",
            "cd tree; git add -f .env",
            "tree",
            403,
        ),
        (
            "git init -q --separate-git-dir=own.repository part",
            "cd part; git add -f .env",
            "part",
            403,
        ),
    ] {
        let bench = repository(json!([bash(change), {"say": "done"}]), &[]);
        git(&bench, "workspace", &["commit", "-qm", "all"]);
        outside(&bench, before);
        for (path, text) in [(".gitignore", ".env\n*.o\n"), (".env", "secret\n"), ("a.o", "x\n")] {
            bench.temp.write(&format!("{part}/{path}"), text);
        }
        let done = bench.cairn(&["run", "--yolo", "work"]);
        assert_eq!(statuses(&bench), [expected], "{before}: {change} {done:?}");
    }
}

// keeps: rules-frozen
#[test]
fn a_refusal_that_only_a_person_lifts_says_why() {
    for (command, why) in [
        ("git add -f id_rsa", "git would no longer ignore precious files"),
        ("git add -f secrets/token.txt", "git would no longer ignore precious files"),
        ("echo x > cairn.toml", "what git or Cairn runs next"),
    ] {
        let files =
            [(".gitignore", "id_rsa\nsecrets/\n"), ("id_rsa", "k\n"), ("secrets/token.txt", "t\n")];
        let bench = repository(json!([bash(command), {"say": "done"}]), &files);
        bench.cairn(&["run", "--yolo", "work"]);
        assert_eq!(statuses(&bench), [403]);
        let told = told(&bench, 2);
        assert!(told.contains(why) && told.contains("a person must approve"), "{told}");
    }
}

// keeps: rules-frozen, large-deletions
#[test]
fn what_a_run_adds_to_the_rules_hides_nothing_that_was_there_also_in_the_next_process() {
    for change in [
        write(".gitignore", "notes/\ntarget/\n"),
        bash("printf 'notes/\\ntarget/\\n' > .gitignore"),
    ] {
        let build = bash("mkdir target; for n in $(seq 80); do echo $n > target/$n; done");
        let replies = json!([
            change, build, {"say": "one"},
            bash("rm -rf notes"), read("notes/7"), bash("rm -rf target"), {"say": "two"},
        ]);
        let bench = repository(replies, &[]);
        for n in 0..80 {
            bench.temp.write(&format!("notes/{n}"), "text\n");
        }
        bench.cairn(&["run", "--yolo", "work"]);
        assert_eq!(
            statuses(&bench),
            [if change["calls"][0]["tool"] == "write" { 201 } else { 200 }, 200]
        );
        let done = bench.cairn(&["run", "-c", "--yolo", "go on"]);
        assert_eq!(statuses(&bench)[2..], [403, 200, 200], "{done:?}");
        assert!(bench.file("notes/7").exists() && !bench.file("target").exists());
    }
}

/// The person's global excludes are a file of the project, as in a repository of their settings.
fn excludes_in_project(bench: &Bench) {
    let excludes = bench.file("gi");
    let text = format!("[core]\n\texcludesFile = {}\n", excludes.display());
    std::fs::write(bench.temp.path().join(".gitconfig"), text).unwrap();
}

// keeps: rules-frozen
#[test]
fn letting_git_see_a_precious_file_by_the_global_excludes_needs_a_person() {
    for (change, expected) in [
        (write("gi", "*.o\n"), 403),
        (bash("echo '*.o' > gi"), 403),
        (bash("rm gi"), 403),
        (bash("mv gi away"), 403),
        (write("gi", ".env\n"), 200),
        (bash("echo .env > gi"), 200),
    ] {
        for flags in [&["--yolo"][..], &["--mode", "accept-edits"]] {
            let replies = json!([
                read("gi"), change, read(".env"), {"say": "one"}, read(".env"), {"say": "two"},
            ]);
            let bench = repository(replies, &[("gi", ".env\n*.o\n"), (".env", "secret\n")]);
            excludes_in_project(&bench);
            let done = bench.cairn(&[&["run"], flags, &["work"]].concat());
            assert_eq!(statuses(&bench), [200, expected, 403], "{change} {flags:?} {done:?}");
            bench.cairn(&[&["run", "-c"], flags, &["go on"]].concat());
            assert_eq!(statuses(&bench)[3..], [403], "{change} {flags:?}");
            assert_eq!(bench.cairn(&["policy", "replay"]).code, 0);
        }
    }
}

// keeps: rules-frozen
#[test]
fn global_excludes_behind_a_link_and_around_the_project_are_rules_too() {
    // Through a link of the home, and with a project that is a part of its repository.
    let replies = json!([read("gi"), write("gi", "x\n"), {"say": "done"}]);
    let bench = repository(replies, &[]);
    for (path, text) in [("part/gi", ".env\n"), ("part/.env", "secret\n")] {
        bench.temp.write(path, text);
    }
    let own = bench.temp.path().join(".config/git");
    std::fs::create_dir_all(&own).unwrap();
    std::os::unix::fs::symlink(bench.file("part/gi"), own.join("ignore")).unwrap();
    let part = bench.file("part");
    let done = bench.command(&["run", "--yolo", "work"]).current_dir(&part).output().unwrap();
    let log = bench.command(&["log", "--json"]).current_dir(&part).output().unwrap();
    let lines = String::from_utf8(log.stdout).unwrap();
    let rows = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let found: Vec<Value> = rows.map(|row| row["status"].clone()).collect();
    assert_eq!(found, [json!(200), json!(403)], "{done:?}");
    // A link of the project on the way to them.
    let replies = json!([bash("rm gi; echo x > gi"), {"say": "done"}]);
    let bench = repository(replies, &[("real", ".env\n"), (".env", "secret\n")]);
    std::os::unix::fs::symlink("real", bench.file("gi")).unwrap();
    excludes_in_project(&bench);
    bench.cairn(&["run", "--yolo", "work"]);
    assert_eq!(statuses(&bench), [403]);
}

// keeps: rules-frozen, large-deletions
#[test]
fn what_a_run_adds_to_the_global_excludes_hides_nothing_also_in_the_next_process() {
    for change in [write("gi", "*.o\nnotes/\n"), bash("echo notes/ >> gi")] {
        let replies = json!([
            read("gi"), change, bash("rm -rf notes"), {"say": "one"},
            bash("rm -rf notes"), read("notes/7"), {"say": "two"},
        ]);
        let bench = repository(replies, &[("gi", "*.o\n")]);
        excludes_in_project(&bench);
        for n in 0..80 {
            bench.temp.write(&format!("notes/{n}"), "text\n");
        }
        bench.cairn(&["run", "--yolo", "work"]);
        assert_eq!(statuses(&bench), [200, 200, 403], "{change}");
        let done = bench.cairn(&["run", "-c", "--yolo", "go on"]);
        assert_eq!(statuses(&bench)[3..], [403, 200], "{change} {done:?}");
        assert!(bench.file("notes/7").exists());
    }
}

// keeps: rules-frozen
#[test]
fn adding_a_file_to_gits_index_opens_nothing_that_was_hidden() {
    let replies = json!([
        bash("git add -f own.o"), read("own.o"), {"say": "one"}, read("own.o"), {"say": "two"},
    ]);
    let bench = repository(replies, &[(".gitignore", "*.o\n"), ("own.o", "hidden\n")]);
    let done = bench.cairn(&["run", "--yolo", "work"]);
    assert_eq!(statuses(&bench), [200, 403], "{done:?}");
    assert!(git(&bench, "workspace", &["ls-files"]).contains("own.o"));
    bench.cairn(&["run", "-c", "--yolo", "go on"]);
    assert_eq!(statuses(&bench), [200, 403, 403]);
    let fresh = repository(json!([read(".env"), {"say": "done"}]), &[(".env", "secret\n")]);
    git(&fresh, "workspace", &["add", "-f", ".env"]);
    fresh.temp.write(".gitignore", ".env\n");
    fresh.cairn(&["run", "work"]);
    assert_eq!(statuses(&fresh), [200]);
}

// keeps: rules-frozen
#[test]
fn a_background_command_that_adds_a_rule_hides_nothing_that_was_there() {
    let background = json!({"calls": [{"tool": "bash", "args":
        {"command": "echo notes/ > .gitignore", "background": true}}]});
    let replies = json!([background, bash("sleep 1"), bash("rm -rf notes"), {"say": "done"}]);
    let bench = repository(replies, &[]);
    for n in 0..80 {
        bench.temp.write(&format!("notes/{n}"), "text\n");
    }
    let done = bench.cairn(&["run", "--yolo", "work"]);
    assert_eq!(bench.temp.read(".gitignore"), "notes/\n");
    assert_eq!(statuses(&bench)[2..], [403], "{done:?}");
}

// keeps: ignored-guarded
#[test]
fn what_says_what_runs_is_asked_about_in_a_new_ignored_folder_but_not_in_dependencies() {
    for (command, flags, expected) in [
        ("mkdir build; echo x > build/AGENTS.md", &[][..], 403),
        ("mkdir build; echo x > build/cairn.toml", &["--yolo"], 403),
        ("mkdir -p build/.cairn; echo x > build/.cairn/hooks.toml", &["--yolo"], 403),
        ("mkdir -p build/.githooks; echo x > build/.githooks/x", &["--yolo"], 403),
        ("mkdir build; echo x > build/x.o", &[], 200),
        // What a person runs later from there is not asked about: THREATS.md says so.
        ("mkdir -p node_modules/.bin; echo x > node_modules/.bin/tsc", &[], 200),
        ("mkdir -p node_modules/p/.husky; echo x > node_modules/p/.husky/y", &[], 200),
        ("mkdir -p node_modules/p; echo x > node_modules/p/.env", &[], 403),
    ] {
        let replies = json!([bash(command), {"say": "done"}]);
        let bench = repository(replies, &[(".gitignore", "build/\nnode_modules/\n")]);
        let done = bench.cairn(&[&["run"], flags, &["work"]].concat());
        assert_eq!(statuses(&bench), [expected], "{command}: {done:?}");
    }
}

// keeps: nested-instructions
#[test]
fn an_ignored_folder_gives_no_instructions_and_no_configuration() {
    let files = [
        (".gitignore", "build/\nCLAUDE.md\n"),
        ("CLAUDE.md", "the personal rule\n@build/more.md\n"),
        ("build/AGENTS.md", "the built rule\n"),
        ("build/more.md", "the imported rule\n"),
        ("build/cairn.toml", "max_turns = \"many\"\n"),
        ("build/.cairn/hooks.toml", "nonsense\n"),
        ("build/own/AGENTS.md", "the inner rule\n"),
    ];
    let system = |bench: &Bench| {
        let requests = bench.requests();
        requests.last().unwrap()["messages"][0]["content"].as_str().unwrap().to_owned()
    };
    let bench = repository(json!([{"say": "done"}]), &files);
    let done = bench.cairn(&["run", "look"]);
    assert_eq!(done.code, 0, "{done:?}");
    let text = system(&bench);
    assert!(text.contains("the personal rule") && !text.contains("the imported rule"), "{text}");
    let bench = repository(json!([{"say": "done"}]), &files);
    let done = bench.cairn(&["run", "--cwd", "build", "look"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(!done.err.contains("hooks"), "{done:?}");
    let text = system(&bench);
    assert!(text.contains("the personal rule") && !text.contains("the built rule"), "{text}");
    // A repository of its own is judged by its own rules.
    let bench = repository(json!([{"say": "done"}]), &files);
    std::fs::create_dir_all(bench.file("build/own/.git")).unwrap();
    bench.temp.write("build/own/.git/HEAD", "ref: refs/heads/main\n");
    bench.cairn(&["run", "--cwd", "build/own", "look"]);
    assert!(system(&bench).contains("the inner rule"), "{}", system(&bench));
}
