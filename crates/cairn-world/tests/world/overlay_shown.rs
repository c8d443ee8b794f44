//! What a person is shown of what a command changed in an overlay, and what is moved and not read.

use crate::overlay::{Form, Place, When, picture};
use cairn_types::{Change, FileKind, FileState};
use cairn_world::overlay::Found;
use expect_test::{Expect, expect};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::Command;

/// What is shown, the label, and each change with what of it is kept aside.
fn told(found: &Found) -> String {
    let state = |state: &Option<FileState>| match state {
        None => "-".to_owned(),
        Some(FileState { aside: Some(aside), .. }) => {
            aside.path.replace(".cairn/trash/r-1-2-3/", "")
        }
        Some(state) => match (state.kind, &state.link) {
            (FileKind::Directory, _) => "dir".to_owned(),
            (FileKind::Symlink, link) => format!("link {}", link.as_deref().unwrap_or_default()),
            (FileKind::File, _) => format!("{} bytes", state.bytes.unwrap()),
        },
    };
    let change = |c: &Change| format!("{}: {} → {}\n", c.path, state(&c.before), state(&c.after));
    let changes: String = found.changes.iter().map(change).collect();
    format!("{}= {}\n{changes}", found.shown.replace('\0', "(NUL)"), found.label)
}

#[track_caller]
fn check(fill: &str, command: &str, expected: Expect) -> Place {
    let mut place = Place::new(Form::Namespace, fill);
    let found = place.found(command);
    expected.assert_eq(&told(&found));
    place
}

const FILES: &str = "printf '1\\n2\\n3\\n' > a; echo b > b; echo run > run.sh; ln -s a l; mkdir d e; \
                echo x > d/x; seq 40 > long; printf '\\0\\1' > bin; echo keep > m1; echo k2 > e/k";

#[test]
fn texts_are_shown_as_diffs_with_their_modes() {
    check(
        FILES,
        "sed -i s/2/two/ a; echo n > n; rm b",
        expect![[r#"
        --- a/a
        +++ b/a
        @@ -1,3 +1,3 @@
         1
        -2
        +two
         3
        --- a/b
        +++ /dev/null
        @@ -1,1 +0,0 @@
        -b
        --- /dev/null
        +++ b/n
        @@ -0,0 +1 @@
        +n
        = creates n, changes a, removes b
        a: 6 bytes → 8 bytes
        b: 2 bytes → -
        n: - → 2 bytes
    "#]],
    );
    check(
        FILES,
        "chmod 755 run.sh; echo more >> run.sh; printf x > x.sh; chmod 700 x.sh d",
        expect![[r#"
        d: mode 755 → 700
        run.sh: mode 644 → 755
        --- a/run.sh
        +++ b/run.sh
        @@ -1 +1,2 @@
         run
        +more
        x.sh: mode 700
        --- /dev/null
        +++ b/x.sh
        @@ -0,0 +1 @@
        +x
        \ No newline at end of file
        = creates x.sh, changes 2 files
        d: dir → dir
        run.sh: 4 bytes → 9 bytes
        x.sh: - → 1 bytes
    "#]],
    );
}

#[test]
fn text_with_a_few_odd_bytes_is_shown_as_text() {
    // A shell runs what holds a NUL, so a person sees it.
    check(
        FILES,
        "printf '#!/bin/sh\\0\\nrm x\\n' > run; printf 'caf\\351 au lait\\n' > odd",
        expect![[r#"
            --- /dev/null
            +++ b/odd
            @@ -0,0 +1 @@
            +caf� au lait
            --- /dev/null
            +++ b/run
            @@ -0,0 +1,2 @@
            +#!/bin/sh(NUL)
            +rm x
            = creates 2 files
            odd: - → 13 bytes
            run: - → 16 bytes
        "#]],
    );
}

#[test]
fn links_binaries_and_what_becomes_something_else_are_told_in_a_line() {
    check(
        FILES,
        "ln -sf b l; ln -s l l2; rm a; ln -s b a; rm -r d; echo now > d",
        expect![[r#"
        a: a file becomes a link
        link a → b
        --- a/a
        +++ /dev/null
        @@ -1,3 +0,0 @@
        -1
        -2
        -3
        d: a directory becomes a file
        --- /dev/null
        +++ b/d
        @@ -0,0 +1 @@
        +now
        --- a/d/x
        +++ /dev/null
        @@ -1,1 +0,0 @@
        -x
        link l: a → b
        link l2 → l
        = creates l2, changes 3 files, removes d/x
        a: 6 bytes → link b
        d: dir → 4 bytes
        d/x: 2 bytes → -
        l: link a → link b
        l2: - → link l
    "#]],
    );
    check(
        FILES,
        "rm long; printf '\\0\\1\\2' > bin; printf '\\0' > bin2; : > empty; mkdir -p n1/n2",
        expect![[r#"
        bin: binary, 2 bytes → 3 bytes
        created bin2, binary, 1 byte
        created empty, empty
        --- a/long
        +++ /dev/null
        @@ -1,40 +0,0 @@
        -1
        -2
        -3
        -4
        -5
        … 35 more lines go with it
        created n1/n2/
        = creates 3 files, changes bin, removes long
        bin: 2 bytes → 3 bytes
        bin2: - → 1 bytes
        empty: - → 0 bytes
        long: 111 bytes → -
        n1: - → dir
        n1/n2: - → dir
    "#]],
    );
}

#[test]
fn what_only_changed_its_place_is_told_as_that() {
    check(
        FILES,
        "mv m1 m2; mv e f; mkfifo pipe; rm -r d",
        expect![[r#"
        renamed e/k → f/k
        renamed m1 → m2
        --- a/d/x
        +++ /dev/null
        @@ -1,1 +0,0 @@
        -x
        left out: pipe (a pipe)
        = renames 2 files, removes d/x
        d: dir → -
        d/x: 2 bytes → -
        e: dir → -
        e/k: 3 bytes → -
        f: - → dir
        f/k: - → 3 bytes
        m1: 5 bytes → -
        m2: - → 5 bytes
    "#]],
    );
    check(
        "mkdir o; for n in 1 2 3; do echo $n > o/$n; done",
        "mv o p; chmod 755 p/1",
        expect![[r#"
            renamed o/ → p/ (3 files)
            p/1: mode 644 → 755
            = renames 3 files
            o: dir → -
            o/1: 2 bytes → -
            o/2: 2 bytes → -
            o/3: 2 bytes → -
            p: - → dir
            p/1: - → 2 bytes
            p/2: - → 2 bytes
            p/3: - → 2 bytes
        "#]],
    );
    check(
        "echo a > 'odd\tname'; echo one > h1; ln h1 h2",
        "echo b > 'odd\tname'; echo x >> h1",
        expect![[r#"
        --- a/h1
        +++ b/h1
        @@ -1 +1,2 @@
         one
        +x
        --- a/odd\tname
        +++ b/odd\tname
        @@ -1 +1 @@
        -a
        +b
        undo does not join hard links again: h1 has other names, which stay as they are
        = changes 2 files
        h1: 4 bytes → 6 bytes
        odd	name: 2 bytes → 2 bytes
    "#]],
    );
}

#[test]
fn what_is_as_it_was_is_no_change() {
    let fill =
        "echo a > a; echo b > b; chmod 644 a b; mkdir d; echo x > d/x; ln -s a l; ln -s a l2";
    let command = "touch a d/x; chmod 600 b; chmod 644 b; rm d/x; echo x > d/x; \
                   rm l; ln -s a l; touch new; rm new; mkdir nd; rmdir nd; cp a a2; mv a2 a";
    check(
        fill,
        command,
        expect![[r#"
        = 
    "#]],
    );
}

#[test]
fn times_of_files_that_changed_are_kept() {
    let mut place = Place::new(Form::Namespace, "echo a > a");
    let found =
        place.found("echo b > a; touch -d @1000000000 a; echo n > n; touch -d @1000000001 n");
    place.commit(&found).unwrap();
    let time = |name: &str| fs::metadata(place.lower().join(name)).unwrap().mtime();
    assert_eq!((time("a"), time("n")), (1_000_000_000, 1_000_000_001));
}

const PROJECT: &str = "git init -q -b main .; printf 'target/\\n*.log\\n' > .gitignore; \
    mkdir -p target/debug src; echo o > target/debug/o; echo p > target/debug/p; echo l > a.log; echo s > src/s";

#[test]
fn ignored_things_are_moved_and_counted() {
    check(
        PROJECT,
        "rm -rf target",
        expect![[r#"
            and removes 2 ignored files, 4 bytes: target/
            = removes target/
            target: before/1 → -
        "#]],
    );
    check(
        PROJECT,
        "rm -rf target; mkdir -p target/x; echo o > target/x/o; echo b >> b.log",
        expect![[r#"
        and 2 ignored files, 4 bytes: b.log, target/
        = b.log, target/
        b.log: - → after/1
        target: before/1 → after/2
    "#]],
    );
    check(
        PROJECT,
        "echo n > target/debug/n; echo o >> target/debug/o; rm target/debug/p; mkdir target/r; echo 1 > target/r/1; echo t >> src/s",
        expect![[r#"
        --- a/src/s
        +++ b/src/s
        @@ -1 +1,2 @@
         s
        +t
        and 3 ignored files, 8 bytes: target/
        and removes 1 ignored file, 2 bytes: target/
        = changes src/s, and target/
        src/s: 2 bytes → 4 bytes
        target/debug/n: - → after/2
        target/debug/o: before/1 → after/3
        target/debug/p: before/2 → -
        target/r: - → after/1
    "#]],
    );
    check(
        PROJECT,
        "mkdir -p sub/target; echo 1 > sub/target/1; echo 2 > sub/two; touch target/debug/o; : > e.log",
        expect![[r#"
        --- /dev/null
        +++ b/sub/two
        @@ -0,0 +1 @@
        +2
        and 3 ignored files, 4 bytes: e.log, sub/target/, target/
        = creates sub/two, and e.log, sub/target/, target/
        e.log: - → after/1
        sub: - → dir
        sub/target: - → after/3
        sub/two: - → 2 bytes
        target/debug/o: before/1 → after/2
    "#]],
    );
}

/// What is asked about by its name in directories that go or come whole, and how that is shown.
#[track_caller]
fn check_precious(command: &str, expected: Expect) {
    let fill = "mkdir -p target/keep/.git/objects out/old; echo a > target/.env; echo b > out/old/o; \
                echo c > target/keep/.git/config; echo d > target/keep/.git/objects/1";
    let mut place = Place::new(
        Form::Namespace,
        &format!("{PROJECT}; {fill}; printf 'out/\n.idea/\n' >> .gitignore"),
    );
    let found = place.found(command);
    let precious = found.changes.iter().flat_map(|change| {
        let told = |path: &String| format!("{}: {path}", change.path);
        change.precious.iter().map(told).collect::<Vec<_>>()
    });
    let shown =
        found.shown.lines().filter(|line| line.starts_with("among them")).map(str::to_owned);
    expected.assert_eq(&precious.chain(shown).collect::<Vec<_>>().join("\n"));
}

#[test]
fn what_is_precious_in_an_ignored_directory_is_named() {
    check_precious("rm -r out; echo x >> target/x", expect![""]);
    check_precious(
        "rm -r target",
        expect![[r#"
            target: target/.env
            target: target/keep/.git
            among them: target/.env, target/keep/.git"#]],
    );
    check_precious(
        "rm -r target; mkdir -p target/new; echo k > target/new/prod.key",
        expect![[r#"
            target: target/.env
            target: target/keep/.git
            target: target/new/prod.key
            among them: target/.env, target/keep/.git, target/new/prod.key"#]],
    );
    check_precious(
        "mkdir -p out/new/.git/hooks; echo k > out/new/.git/hooks/pre-commit",
        expect![[r#"
            out/new: out/new/.git
            among them: out/new/.git"#]],
    );
    check_precious("rm -r out; echo n > out", expect![""]);
}

/// What a package brings that is unpacked somewhere ignored.
const PACKAGE: &str = "p=$1; mkdir -p $p/.github/workflows $p/.vscode $p/.husky/_ $p/.circleci $p/lib; \
     cd $p; for f in .github/workflows/ci.yml .travis.yml .vscode/settings.json .husky/pre-commit \
     .npmrc .gitattributes .circleci/config.yml AGENTS.md .devcontainer cairn.toml lib/index.js \
     package.json; do echo x > $f; done";

#[test]
fn the_settings_that_a_package_brings_are_not_asked_about_where_packages_are() {
    let unpack = |at: &str| format!("set -- {at}; {PACKAGE}");
    for at in
        ["target/new", "out/node_modules/p", "out/.venv/lib/site-packages/p", "out/vendor/a/b"]
    {
        check_precious(&unpack(at), expect![""]);
    }
    check_precious(
        &format!("{}; echo k > .env", unpack("target/new")),
        expect![[r#"
        target/new: target/new/.env
        among them: target/new/.env"#]],
    );
    // What is ignored by itself is not in something ignored.
    check_precious(
        "mkdir .idea; echo x > .idea/x",
        expect![[r#"
        .idea: .idea
        among them: .idea"#]],
    );
}

#[test]
fn of_many_precious_names_the_first_are_judged_and_the_others_counted() {
    let mut place = Place::new(Form::Namespace, PROJECT);
    let found =
        place.found("mkdir target/new; for n in $(seq 25); do echo > target/new/$n.key; done");
    assert_eq!(found.changes[0].precious.len(), 20);
    assert!(found.shown.trim_end().ends_with(".key, 5 more"), "{}", found.shown);
}

#[test]
fn what_a_command_says_is_ignored_is_shown() {
    check(
        PROJECT,
        "printf 'src/\\n' >> .gitignore; echo hidden >> src/s; mkdir -p .cargo; printf '*' > .cargo/.gitignore; echo evil > .cargo/config.toml",
        expect![[r#"
        --- /dev/null
        +++ b/.cargo/.gitignore
        @@ -0,0 +1 @@
        +*
        \ No newline at end of file
        --- /dev/null
        +++ b/.cargo/config.toml
        @@ -0,0 +1 @@
        +evil
        --- a/.gitignore
        +++ b/.gitignore
        @@ -1,2 +1,3 @@
         target/
         *.log
        +src/
        --- a/src/s
        +++ b/src/s
        @@ -1 +1,2 @@
         s
        +hidden
        = creates 2 files, changes 2
        .cargo: - → dir
        .cargo/.gitignore: - → 1 bytes
        .cargo/config.toml: - → 5 bytes
        .gitignore: 14 bytes → 19 bytes
        src/s: 2 bytes → 9 bytes
    "#]],
    );
    check(
        PROJECT,
        "rm -r src; mkdir .cairn; echo x > .cairn/hooks.toml; mkfifo target/pipe",
        expect![[r#"
        --- a/src/s
        +++ /dev/null
        @@ -1,1 +0,0 @@
        -s
        left out: .cairn (it is Cairn's own), target/pipe (a pipe)
        = removes src/s
        src: dir → -
        src/s: 2 bytes → -
    "#]],
    );
}

#[test]
fn whether_all_of_it_is_ignored_is_known() {
    let only = |command: &str| Place::new(Form::Namespace, PROJECT).found(command).only_ignored();
    assert!(only("echo x > target/y; echo more >> a.log"));
    assert!(!only("echo x > target/y; echo more >> src/s"));
    assert!(!only("true"));
    // The same rules count where they are there for a repository that is not.
    let mut bare = Place::new(Form::Namespace, "printf 'made/\\n' > .gitignore");
    assert!(bare.found("mkdir made; echo x > made/x").only_ignored());
    assert!(!bare.found("echo x > x").only_ignored());
}

#[test]
fn that_git_looked_at_files_again_is_no_change() {
    let fill = "git init -q -b main; git config user.name S; git config user.email s@example.org; \
        echo a > a; git add -A; git commit -q -m a; touch -d 2001-01-01 a";
    let mut place = Place::new(Form::Namespace, fill);
    for command in ["git status -s", "git diff --stat", "git describe --always --dirty"] {
        assert!(place.found(command).is_empty(), "{command}");
    }
    assert!(!place.found("git rm -q --cached a").is_empty());
    assert!(!place.found("git update-index --assume-unchanged a").is_empty());
    assert!(!place.found("git update-index --chmod=+x a").is_empty());
}

#[test]
fn large_files_are_moved_and_not_read() {
    let fill =
        "head -c 9000000 /dev/zero > big; head -c 9000000 /dev/zero > same; echo small > small";
    let command = "echo 1 >> big; touch same; head -c 9000000 /dev/zero > small; rm -f nothing";
    check(
        fill,
        command,
        expect![[r#"
        big: 9 MiB, not read → 9 MiB, not read
        small: 1 line → 9 MiB, not read
        = changes 2 files
        big: before/1 → after/1
        small: 6 bytes → after/2
    "#]],
    );
}

/// What is staged: each with its mode and whether its time is the one it was given.
fn staged(form: Form) -> String {
    let mut place = Place::new(form, PROJECT);
    let command = "rm -rf target; mkdir -p target/deep/er; echo 1 > target/deep/er/1; \
                   mkfifo target/deep/pipe; ln -s x target/link; chmod 500 target/deep; \
                   echo more >> a.log; touch -d @1000000000 a.log target/deep/er/1";
    let scratch = place.run(command, "", When::After);
    let mut found = place.read(&scratch).unwrap();
    place.stage(&scratch, &mut found).unwrap();
    let mut told = String::new();
    for change in &found.changes {
        let aside = change.after.as_ref().and_then(|after| after.aside.as_ref()).unwrap();
        let meta = place.lower().join(&aside.path).symlink_metadata().unwrap();
        assert_eq!(meta.ino(), aside.inode, "{form:?} {}", change.path);
        told.push_str(&format!("{} at {}\n", change.path, aside.path));
    }
    let trash = place.lower().join(".cairn/trash/r-1-2-3");
    for (path, what) in picture(&trash) {
        let meta = trash.join(&path).symlink_metadata().unwrap();
        let time = if meta.mtime() == 1_000_000_000 { ", as it was" } else { "" };
        told.push_str(&format!("{path}: {what}{time}\n"));
        let marks = rustix::fs::llistxattr(trash.join(&path), &mut [0; 512][..]).unwrap();
        assert_eq!(marks, 0, "{form:?} {path}");
    }
    let mut git = Command::new("git");
    git.args(["status", "--porcelain"]).current_dir(place.lower());
    let status = String::from_utf8(git.output().unwrap().stdout).unwrap();
    assert!(!status.contains(".cairn"), "{status}");
    told
}

#[test]
fn what_is_moved_waits_without_the_kernels_marks() {
    let told: Vec<String> = Form::all().into_iter().map(staged).collect();
    assert!(told.iter().all(|one| *one == told[0]), "{told:?}");
    expect![[r#"
        a.log at .cairn/trash/r-1-2-3/after/1
        target at .cairn/trash/r-1-2-3/after/2
        after: dir 700
        after/1: file 644 "l\nmore\n", as it was
        after/2: dir 755
        after/2/deep: dir 500
        after/2/deep/er: dir 755
        after/2/deep/er/1: file 644 "1\n", as it was
        after/2/link: link x
        before: dir 700
    "#]]
    .assert_eq(&told[0]);
}

#[test]
fn where_a_project_keeps_files_beside_the_trash_only_the_trash_is_ignored() {
    let check = |fill: &str, ignored: &str| {
        let mut place = Place::new(Form::Namespace, &format!("{PROJECT}; {fill}"));
        let scratch = place.run("echo more >> a.log", "", When::After);
        let mut found = place.read(&scratch).unwrap();
        place.stage(&scratch, &mut found).unwrap();
        let rules = fs::read_to_string(place.lower().join(ignored));
        assert_eq!(rules.unwrap(), "*\n", "{fill}");
    };
    check("true", ".cairn/.gitignore");
    check("mkdir .cairn; echo h > .cairn/hooks.toml", ".cairn/trash/.gitignore");
    check("mkdir .cairn; printf '*\n' > .cairn/.gitignore", ".cairn/.gitignore");
}

#[test]
fn what_comes_from_another_file_system_is_copied_with_its_modes_and_times() {
    let elsewhere = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut place = Place::new(Form::Namespace, PROJECT);
    place.scratch = elsewhere.path().to_owned();
    let command = "mkdir -p target/deep/er; echo 1 > target/deep/er/1; ln -s x target/deep/link; \
                   chmod 500 target/deep/er; touch -h -d @1000000000 target/deep/er/1 target/deep/link; \
                   touch -d @1000000000 target/deep/er; rm target/debug/o; echo s >> src/s";
    let scratch = place.run(command, "", When::After);
    let mut found = place.read(&scratch).unwrap();
    place.stage(&scratch, &mut found).unwrap();
    let trash = place.lower().join(".cairn/trash/r-1-2-3/after");
    let mut told = format!("{}\n", found.label);
    for (path, what) in picture(&trash) {
        let meta = trash.join(&path).symlink_metadata().unwrap();
        let time = if meta.mtime() == 1_000_000_000 { ", as it was" } else { "" };
        told.push_str(&format!("{path}: {what}{time}\n"));
    }
    for change in &found.changes {
        let Some(aside) = change.after.as_ref().and_then(|after| after.aside.as_ref()) else {
            continue;
        };
        let meta = place.lower().join(&aside.path).symlink_metadata().unwrap();
        assert_eq!(meta.ino(), aside.inode, "{}", change.path);
    }
    expect![[r#"
        changes src/s, and target/
        1: dir 755
        1/er: dir 500, as it was
        1/er/1: file 644 "1\n", as it was
        1/link: link x, as it was
    "#]]
    .assert_eq(&told);
}

const GIT: &str =
    "git -c user.name=n -c user.email=e -c commit.gpgsign=false -c core.hooksPath=/dev/null";

#[test]
fn what_git_did_is_told_in_one_line_and_what_git_may_run_by_name() {
    let fill = format!("{PROJECT}; {GIT} add .gitignore src; {GIT} commit -qm begin");
    let command = format!(
        "echo t >> src/s; {GIT} commit -qam 'Say t'; echo u >> src/s; {GIT} commit -qam 'Say u'"
    );
    let label = |command: &str| {
        let found = Place::new(Form::Namespace, &fill).found(command);
        let lines: Vec<&str> =
            found.shown.lines().filter(|line| !line.starts_with([' ', '@', '-'])).collect();
        format!("{}\n= {}", lines.join("\n"), found.label)
    };
    let without_count = |text: String| {
        let kept = |line: &str| line.split(" (git's own").next().unwrap().to_owned();
        text.lines().map(kept).collect::<Vec<_>>().join("\n")
    };
    expect![[r#"
        2 commits on main: Say t; Say u
        +++ b/src/s
        +t
        +u
        = changes src/s, 2 commits on main"#]]
    .assert_eq(&without_count(label(&command)));
    let other = format!("{GIT} switch -qc other; echo t >> src/s; {GIT} commit -qam 'On other'");
    expect![[r#"
        HEAD is now other; 1 commit on other: On other
        +++ b/src/s
        +t
        = changes src/s, HEAD is now other"#]]
    .assert_eq(&without_count(label(&other)));
    expect![[r#"
        +++ b/.git/config
        +	pager = evil
        .git/hooks/pre-commit: mode 755
        +++ b/.git/hooks/pre-commit
        +#!/bin/sh
        = creates .git/hooks/pre-commit, changes .git/config"#]].assert_eq(&label("echo '#!/bin/sh' > .git/hooks/pre-commit; chmod 755 .git/hooks/pre-commit; git config core.pager evil"));
    // A log that lies is not believed.
    let lie = format!(
        "{GIT} commit -q --allow-empty -m true; printf '0 1 n <e> 1 +0\\tcommit: a lie\\n' >> .git/logs/refs/heads/main"
    );
    assert!(!label(&lie).contains("a lie"));
    expect![[r#"
        git's own files: 2
        = git's own files"#]]
    .assert_eq(&label("touch .git/x; echo y > .git/y"));
}

#[test]
fn what_is_shown_is_bounded() {
    let mut place = Place::new(Form::Namespace, "true");
    let found = place.found("for n in $(seq 400); do seq 400 > f$n; done; seq 100000 > long");
    assert!(found.shown.len() < 220 << 10, "{}", found.shown.len());
    assert_eq!(found.changes.len(), 401);
    let last: Vec<&str> = found.shown.lines().rev().take(2).map(str::trim).collect();
    assert_eq!(last, ["created long", "created f99"]);
    expect!["creates 401 files"].assert_eq(&found.label);
}

// keeps: ignored-guarded
#[test]
fn what_says_what_runs_or_is_told_is_asked_about_in_a_new_ignored_folder() {
    check_precious(
        "mkdir -p out/new/.githooks out/new/.cairn; cd out/new; echo x > AGENTS.md; \
         echo x > cairn.toml; echo x > .cairn/hooks.toml; echo x > .githooks/x; echo x > made.o",
        expect![[r#"
            out/new: out/new/.cairn
            out/new: out/new/.githooks
            out/new: out/new/AGENTS.md
            out/new: out/new/cairn.toml
            among them: out/new/.cairn, out/new/.githooks, out/new/AGENTS.md, out/new/cairn.toml"#]],
    );
    // What says of itself that it can be built again is believed for what is told, and not for what runs.
    for mark in ["CACHEDIR.TAG", "pyvenv.cfg"] {
        check_precious(
            &format!(
                "mkdir -p out/new/in/.husky; cd out/new; echo x > {mark}; echo x > in/AGENTS.md; \
                 echo x > in/.husky/pre-commit"
            ),
            expect![[r#"
                out/new: out/new/in/.husky
                among them: out/new/in/.husky"#]],
        );
    }
    // However much else there is, what only a person lets pass is named.
    let many = "mkdir -p out/new/.husky; cd out/new; for n in $(seq 30); do mkdir a$n; \
                echo x > a$n/AGENTS.md; done; echo x > .husky/x";
    let mut place = Place::new(Form::Namespace, &format!("{PROJECT}; echo out/ >> .gitignore"));
    let found = place.found(many);
    let named = found.changes.iter().flat_map(|change| &change.precious);
    assert_eq!(named.filter(|path| *path == "out/new/.husky").count(), 1);
}
