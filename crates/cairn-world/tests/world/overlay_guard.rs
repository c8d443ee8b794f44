//! What guards against losing anything: directories that others changed, ignored things, and what
//! cannot be named or read.

use crate::overlay::{Form, Place, TIMES, When, picture};
use expect_test::{Expect, expect};
use std::fs;
use std::os::unix::ffi::OsStrExt;

const TREE: &str =
    "mkdir -p d/in/er e; echo 1 > d/1; echo 2 > d/in/2; echo 3 > d/in/er/3; echo x > e/x";

/// What comes of a command and an outside change that happens while it runs, and when it is over.
#[track_caller]
fn check(command: &str, outside: &str, expected: Expect) {
    let mut told = Vec::new();
    for when in [When::During, When::After] {
        let mut place = Place::new(Form::Namespace, TREE);
        let scratch = place.run(command, outside, when);
        let before = picture(&place.lower());
        told.push(match place.read(&scratch) {
            Ok(found) => {
                place.commit(&found).unwrap();
                let paths: Vec<_> = picture(&place.lower()).into_keys().collect();
                format!("{}: {}", found.label, paths.join(" "))
            }
            Err(refusal) => {
                assert_eq!(picture(&place.lower()), before);
                refusal.to_string()
            }
        });
    }
    told.dedup();
    expected.assert_eq(&told.join("\n"));
}

// keeps: overlay-conflicts
#[test]
fn what_others_did_in_a_directory_that_goes_is_a_conflict() {
    check("rm -r d", "true", expect!["removes 3 files: e e/x"]);
    check(
        "rm -r d",
        "echo n > d/in/n",
        expect![
            "d/in/n was changed outside while the command ran; nothing of what it changed is kept"
        ],
    );
    check("rm -r d", "rm d/in/er/3", expect!["removes 3 files: e e/x"]);
    check(
        "rm -r d",
        "chmod 700 d/in",
        expect![
            "d/in was changed outside while the command ran; nothing of what it changed is kept"
        ],
    );
    check(
        "rm -r d; mkdir d; echo n > d/n",
        "echo 4 >> d/in/er/3",
        expect![
            "d/in/er/3 was changed outside while the command ran; nothing of what it changed is kept"
        ],
    );
    check(
        "rm -r d; mkdir -p d/in; echo n > d/in/n",
        "true",
        expect!["creates d/in/n, removes 3 files: d d/in d/in/n e e/x"],
    );
    check(
        "mv d m",
        "echo 4 >> d/1",
        expect![
            "d/1 was changed outside while the command ran; nothing of what it changed is kept"
        ],
    );
}

/// Removes a directory and makes it anew, with the same number if that can be had.
const MADE_ANEW: &str = "n=0; i=$(stat -c %i d/in); rm -r d/in; \
    while mkdir d/in; [ $(stat -c %i d/in) != $i ] && [ $n -lt 50 ]; do \
    mv d/in x$n; n=$((n + 1)); done; rm -rf x*";

// keeps: overlay-conflicts
#[test]
fn a_directory_that_is_another_one_by_now_is_a_conflict() {
    check(
        "echo n > d/in/n",
        "mv d away",
        expect![
            "d/in/n was changed outside while the command ran; nothing of what it changed is kept"
        ],
    );
    check(
        "echo n > d/in/n",
        "mv d away; cp -r away d",
        expect![
            "d/in/n was changed outside while the command ran; nothing of what it changed is kept"
        ],
    );
    check(
        "echo n > d/in/n",
        MADE_ANEW,
        expect![
            "d/in/n was changed outside while the command ran; nothing of what it changed is kept"
        ],
    );
    check(
        "echo n > d/in/n",
        "echo m > d/in/m; rm e/x",
        expect!["creates d/in/n: d d/1 d/in d/in/2 d/in/er d/in/er/3 d/in/m d/in/n e"],
    );
    check(
        "mkdir n; echo n > n/n",
        "mkdir n",
        expect![
            "n/n was changed outside while the command ran; nothing of what it changed is kept"
        ],
    );
    check(
        "chmod 700 d; true",
        "mv d away",
        expect!["d was changed outside while the command ran; nothing of what it changed is kept"],
    );
    check(
        "chmod 700 d",
        "chmod 750 d",
        expect!["d was changed outside while the command ran; nothing of what it changed is kept"],
    );
    check(
        "chmod 700 d",
        "echo n > d/n",
        expect!["changes d: d d/1 d/in d/in/2 d/in/er d/in/er/3 d/n e e/x"],
    );
}

const PROJECT: &str = "mkdir .git; touch .git/HEAD; printf 'out/\\n' > .gitignore; mkdir -p out/deep; echo 1 > out/1; \
                       echo 2 > out/deep/2; echo s > s";

#[test]
fn an_ignored_path_that_others_changed_is_left_out_alone() {
    let check = |command: &str, outside: &str, expected: Expect| {
        for form in Form::all() {
            let mut place = Place::new(form, PROJECT);
            let scratch = place.run(command, outside, When::After);
            expected.assert_eq(&place.read(&scratch).unwrap().shown);
        }
    };
    check(
        "echo c >> s; echo c >> out/1",
        "echo o >> out/1",
        expect![[r#"
        --- a/s
        +++ b/s
        @@ -1 +1,2 @@
         s
        +c
        left out, since it was changed outside meanwhile: out/1
    "#]],
    );
    // Although both have the same size and time.
    check(
        "echo c >> out/1; touch -d @5 out/1",
        "echo o >> out/1; touch -d @5 out/1",
        expect![[r#"
            left out, since it was changed outside meanwhile: out/1
        "#]],
    );
    check(
        "rm -r out",
        "echo o >> out/deep/2",
        expect![[r#"
        left out, since it was changed outside meanwhile: out
    "#]],
    );
    check(
        "rm -r out; mkdir out; echo n > out/n",
        "echo o > out/deep/o",
        expect![[r#"
        left out, since it was changed outside meanwhile: out
    "#]],
    );
    check(
        "echo c > out/deep/n",
        "mv out/deep away",
        expect![[r#"
        left out, since it was changed outside meanwhile: out/deep
    "#]],
    );
    check(
        "echo c > n; mkdir -p s2/out; echo 1 > s2/out/1",
        "echo o > out/n",
        expect![[r#"
        --- /dev/null
        +++ b/n
        @@ -0,0 +1 @@
        +c
        and 1 ignored file, 2 bytes: s2/out/
    "#]],
    );
}

#[test]
fn what_cannot_be_named_is_left_out_and_what_holds_it_goes_whole() {
    let mut place =
        Place::new(Form::Namespace, "mkdir d e; echo 1 > d/1; echo 2 > e/2; mkfifo e/p");
    let odd = std::ffi::OsStr::from_bytes(b"d/\xff");
    fs::write(place.lower().join(odd), "odd").unwrap();
    place.rest();
    let found = place.found("rm -r d e; printf x > \"$(printf 'n\\377')\"; echo s > s");
    expect![[r#"
        removed d/ (2 files, 5 bytes)
        removed e/ (1 file, 2 bytes)
        --- /dev/null
        +++ b/s
        @@ -0,0 +1 @@
        +s
        left out: n� (its name is not UTF-8)
    "#]]
    .assert_eq(&found.shown);
    let told = |n: usize| {
        let before = found.changes[n].before.as_ref();
        (found.changes[n].path.clone(), before.and_then(|before| before.aside.clone()).is_some())
    };
    assert_eq!((told(0), told(1)), (("d".to_owned(), true), ("e".to_owned(), true)));
    assert_eq!(found.changes.len(), 3);
    assert_eq!(found.removed.files, 3);
}

#[test]
fn what_is_left_out_is_told_with_why_and_beyond_twenty_counted() {
    let check = |command: &str, outside: &str, expected: Expect| {
        let mut place = Place::new(Form::Namespace, PROJECT);
        let scratch = place.run(command, outside, When::After);
        expected.assert_eq(&place.read(&scratch).unwrap().left_out.join("\n"));
    };
    check("echo c >> s", "", expect![""]);
    check(
        "mkfifo p out/q; printf x > \"$(printf 'n\\377')\"; echo c >> out/1",
        "echo o >> out/1",
        expect![[r#"
            n� (its name is not UTF-8)
            p (a pipe)
            out/q (a pipe)
            out/1 (changed outside meanwhile)"#]],
    );
    let mut place = Place::new(Form::Namespace, PROJECT);
    let left_out = place.found("for n in $(seq 25); do mkfifo p$n; done").left_out;
    assert_eq!((left_out.len(), left_out[20].as_str()), (21, "5 more"));
}

#[test]
fn nothing_that_comes_out_of_an_overlay_acts_as_somebody_unless_it_did_before() {
    for form in Form::all() {
        let fill = "echo k > k; chmod 4755 k; echo p > p; echo q > q; chmod 755 q; echo x > out/x; \
                    chmod 4755 out/x; mkdir g; chmod 2755 g; head -c 9000000 /dev/zero > big";
        let mut place = Place::new(form, &format!("{PROJECT}; {fill}"));
        let command = "echo n > n; chmod 4755 n; echo s > out/s; chmod 6755 out/s; \
                       mkdir -p out/w/in; echo t > out/w/in/t; chmod 4711 out/w/in/t; chmod 4755 out/w; \
                       echo c >> k; chmod 4755 k; chmod 6755 p; chmod 4755 q; chmod 6755 out/1; \
                       echo c >> out/x; chmod 4755 out/x; mkdir g/h; chmod 2755 g/h; \
                       echo c >> big; chmod 2755 big";
        let scratch = place.run(command, "", When::After);
        let mut found = place.read(&scratch).unwrap();
        place.stage(&scratch, &mut found).unwrap();
        place.commit(&found).unwrap();
        let now = picture(&place.lower());
        let modes = |paths: &[&str]| -> Vec<String> {
            let mode = |path: &&str| now[*path].split(' ').nth(1).unwrap().to_owned();
            paths.iter().map(mode).collect()
        };
        let plain = ["n", "p", "q", "out/1", "out/s", "out/w", "out/x", "big"];
        assert_eq!(modes(&plain), ["755"; 8], "{form:?}");
        assert_eq!(modes(&["k", "g/h", "out/w/in/t"]), ["4755", "2755", "711"], "{form:?}");
        assert!(found.changes.iter().all(|change| change.path != "q"), "{form:?}");
        let told = "big n p q out/1 out/s out/w out/w/in/t out/x";
        let told: Vec<_> =
            told.split(' ').map(|path| format!("{path} (its setuid or setgid bit)")).collect();
        assert_eq!(found.left_out, told, "{form:?}");
    }
}

#[test]
fn closed_files_and_directories_are_read_all_the_same() {
    for form in Form::all() {
        let mut place = Place::new(form, "mkdir d; echo 1 > d/1; echo f > f; chmod 000 f");
        let command = "mkdir -p n/m; echo 2 > n/m/2; chmod 000 n/m/2 n/m n; echo g > g; chmod 000 g d; \
                       echo more >> f 2>/dev/null; chmod 500 .";
        let found = place.found(command);
        let paths: Vec<&str> = found.changes.iter().map(|c| c.path.as_str()).collect();
        assert_eq!(paths, ["d", "f", "g", "n", "n/m", "n/m/2"], "{form:?}");
        let left_out = found.shown.lines().last();
        assert_eq!(left_out, Some("left out: . (the mode of the workspace itself)"), "{form:?}");
        for change in found.changes.iter().filter(|change| change.path != "f") {
            let mode = change.after.as_ref().unwrap().mode;
            assert_eq!(mode, 0, "{form:?} {}", change.path);
        }
    }
}

#[test]
fn a_refusal_names_what_was_changed_outside() {
    for when in TIMES {
        let mut place = Place::new(Form::Namespace, TREE);
        let scratch =
            place.run("echo a >> d/1; echo b >> e/x", "echo o >> d/1; echo o >> e/x", when);
        let refusal = place.read(&scratch).unwrap_err();
        assert_eq!(refusal.status.0, 409);
        expect!["d/1, e/x were changed outside while the command ran; nothing of what it changed is kept"].assert_eq(&refusal.text);
    }
}
