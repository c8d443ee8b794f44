//! What counts as ignored: git's own word, for tools and for what commands change, and as it was when the run
//! began. Real repositories, made by the real git.

use crate::members::{self, CANARY, act, by, check, git, read, shown, write};
use crate::overlay::{Form, Place};
use cairn_types::{Change, Hash, Status};
use cairn_world::{GlobalExcludes, Membership, Settings, Workspace, World};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Makes a repository in which git tracks these files, whatever rules say.
const TRACKED: &str = "git init -q; mkdir src; for n in $(seq 60); do echo $n > src/f$n; done; \
     echo all: > Makefile; git add -f src Makefile";

// keeps: members, large-deletions
#[test]
fn what_git_tracks_is_never_ignored_whatever_a_file_of_rules_says() {
    for rules in ["echo '*' > .ignore", "echo '*' > .gitignore", "echo '*' > src/.gitignore"] {
        let fill = format!("{TRACKED}; {rules}; mkdir src/gen; echo g > src/gen/g");
        let mut place = Place::new(Form::Namespace, &fill);
        let found = place.found("echo evil >> Makefile; rm -rf src; rm -rf src/gen");
        let tracked =
            |change: &&Change| change.path == "Makefile" || change.path.starts_with("src/f");
        let kept: Vec<&Change> = found.changes.iter().filter(tracked).collect();
        assert_eq!(kept.len(), 61, "{rules}: {:?}", found.changes);
        assert!(kept.iter().all(|change| !change.ignored), "{rules}");
        assert!(found.removed.files >= 60, "{rules}: {:?}", found.removed);
    }
}

// keeps: large-deletions
#[test]
fn files_that_are_emptied_count_as_removed() {
    let mut place = Place::new(Form::Namespace, &format!("{TRACKED}; : > src/empty"));
    let emptied = "for n in $(seq 60); do : > src/f$n; done; : > src/empty; echo > Makefile";
    let found = place.found(emptied);
    assert_eq!(found.removed.files, 60);
}

// keeps: members
#[test]
fn ignore_files_of_others_play_no_part_in_a_repository_and_global_excludes_do() {
    let files = [
        ("plain.txt", "a\n"),
        ("a.log", "a\n"),
        ("b.tmp", CANARY),
        ("c.tmp", "a\n"),
        (".ignore", "a.log\n"),
    ];
    let place = members::Place::new(&files, &["c.tmp"]);
    let global_excludes = GlobalExcludes::from_text("*.tmp\n".to_owned());
    let world = place.world_with(Membership { global_excludes, ..Membership::default() });
    for path in ["plain.txt", "a.log", "c.tmp"] {
        check(&world, path, None);
    }
    check(
        &world,
        "b.tmp",
        Some(
            &by("your git's global excludes (core.excludesFile)", "b.tmp").replace("names", "name"),
        ),
    );
    assert_eq!(shown(&world), [".ignore", "a.log", "c.tmp", "plain.txt"]);
}

/// A repository with a file that git ignores, and notes that it does not.
fn project() -> members::Place {
    let files =
        [(".gitignore", ".env\n"), ("plain.txt", "a\n"), (".env", CANARY), ("notes/one", "a\n")];
    members::Place::new(&files, &[])
}

// keeps: rules-frozen
#[test]
fn what_was_there_is_ignored_or_not_as_when_the_run_began() {
    let place = project();
    let world = place.world();
    let mut changes = act(&world, &write(".gitignore", "notes/\ntarget/\n"));
    assert_eq!(place.git(&["check-ignore", "notes/one"]), "notes/one\n");
    let hold = |world: &World| {
        check(world, ".env", Some(&by(".gitignore", ".env")));
        check(world, "notes/one", None);
    };
    hold(&world);
    // What appears later is judged by the rules of then as well.
    place.put("target/out", CANARY);
    check(&world, "target/out", Some(&by(".gitignore", "target/out")));
    place.put("later/.env", CANARY);
    check(&world, "later/.env", Some(&by(".gitignore", "later/.env")));
    // What a tool of the run makes is a member for it.
    let made = act(&world, &write("target/mine", "a\n"));
    check(&world, "target/mine", None);
    hold(&world);
    changes.extend(made);
    // The same run in another process.
    let before = |hash: &Hash| (Hash::of(b".env\n") == *hash).then(|| b".env\n".to_vec());
    let again = place.world();
    let at = changes.iter().find_map(|change| change.after.as_ref()?.mtime_ns).unwrap();
    again.recall(&changes, u64::try_from(at / 1_000_000).unwrap(), &before);
    hold(&again);
    check(&again, "target/mine", None);
    check(&again, "target/out", Some(&by(".gitignore", "target/out")));
    // A run that begins now begins with the rules of now.
    let fresh = place.world();
    check(&fresh, "notes/one", Some(&by(".gitignore", "notes/one")));
}

// keeps: rules-frozen
#[test]
fn adding_to_the_index_or_making_a_repository_within_does_not_change_what_is_ignored() {
    let place = project();
    let world = place.world();
    act(&world, &write("notes/.gitignore", "*\n"));
    check(&world, "notes/one", None);
    place.put("plain.txt", "a\n");
    let removed = act(&world, &write(".gitignore", "\n"));
    assert_eq!(removed.len(), 1);
    check(&world, ".env", Some(&by(".gitignore", ".env")));
}

// keeps: large-deletions
#[test]
fn a_rule_that_the_run_added_takes_nothing_out_of_the_question_about_large_deletions() {
    let place = project();
    for n in 0..60 {
        place.put(&format!("notes/n{n}"), "a\n");
    }
    let world = place.world();
    act(&world, &write(".gitignore", ".env\nnotes/\n"));
    let kill = cairn_types::Action::Kill { path: "notes".to_owned() };
    let prepared = world.prepare(&kill);
    assert_eq!(prepared.removed.files, 61, "{:?}", prepared.settled);
}

// keeps: members
#[test]
fn a_root_whose_tracked_files_lie_in_an_ignored_folder_is_judged_by_its_repository() {
    let files = [
        (".gitignore", "*\n"),
        ("src/plain.txt", "a\n"),
        ("src/tracked", "a\n"),
        ("src/other", CANARY),
    ];
    let place = members::Place::new(&files, &["src/plain.txt", "src/tracked"]);
    let world = members::world(&place.root().join("src"), Membership::default());
    check(&world, "tracked", None);
    assert_eq!(shown(&world), ["plain.txt", "tracked"]);
    assert_eq!(members::look_status(&world, &read("other")), Status::REFUSED);
}

/// The paths beneath a root that git ignores, without those in repositories within it.
fn ignored_by_git(root: &Path, excludes: &Path) -> BTreeSet<String> {
    let setting = format!("core.excludesFile={}", excludes.display());
    let args = ["-c", &setting, "ls-files", "-coz", "--exclude-standard"];
    let kept = git(root, &args);
    let kept: BTreeSet<&str> = kept.split('\0').collect();
    let mut all = BTreeSet::new();
    let mut todo = vec![root.to_owned()];
    while let Some(directory) = todo.pop() {
        for item in fs::read_dir(directory).unwrap().flatten() {
            let path = item.path();
            if path.is_dir() && item.file_name() != ".git" {
                todo.push(path);
            } else if path.is_file() {
                all.insert(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    all.into_iter().filter(|path| !kept.contains(path.as_str())).collect()
}

fn a_name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "é", "日", "😀"]).prop_map(str::to_owned)
}

fn a_path() -> impl Strategy<Value = String> {
    prop::collection::vec(a_name(), 1..4).prop_map(|names| format!("{}/f", names.join("/")))
}

fn a_rule() -> impl Strategy<Value = String> {
    let rules = vec![
        "a\n", "b/\n", "/a/b\n", "*\n", "!a\n", "!*/\n", "f\n", "!f\n", "a/**\n", "é\n", "日/\n",
        "**/b/f\n",
    ];
    prop::sample::select(rules).prop_map(str::to_owned)
}

fn some_rules() -> impl Strategy<Value = String> {
    prop::collection::vec(a_rule(), 0..4).prop_map(|lines| lines.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    // keeps: members
    #[test]
    fn tools_and_overlays_call_ignored_what_git_calls_ignored(
        files in prop::collection::vec(a_path(), 1..12),
        tracked in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        rules in [some_rules(), some_rules(), some_rules(), some_rules()],
    ) {
        let place = Place::new(Form::Namespace, "git init -q");
        let mut place = place;
        let root = place.lower();
        let put = |path: &str, text: &str| {
            let path = root.join(path);
            let _ = fs::create_dir_all(path.parent().unwrap());
            let _ = fs::write(path, text);
        };
        files.iter().for_each(|path| put(path, "x\n"));
        let [top, inner, exclude, global] = &rules;
        put(".gitignore", top);
        put("a/.gitignore", inner);
        put(".ignore", "*\n");
        put(".git/info/exclude", exclude);
        for index in tracked {
            git(&root, &["add", "-f", "--", &files[index.index(files.len())]]);
        }
        let excludes = place.holder.path().join("excludes");
        fs::write(&excludes, global).unwrap();
        let ignored = ignored_by_git(&root, &excludes);
        let membership =
            Membership { global_excludes: GlobalExcludes::read(&excludes), ..Membership::default() };
        let settings = Settings { membership, ..Settings::new("/bin/sh".into(), Vec::new()) };
        let world = World::with_folders(Workspace::open(&root).unwrap(), &[], settings).unwrap();
        for path in &files {
            let is_refused = members::look_status(&world, &read(path)) == Status::REFUSED;
            prop_assert_eq!(is_refused, ignored.contains(path), "{} {:?}", path, rules);
        }
        // Commands see no global excludes here.
        fs::write(&excludes, "").unwrap();
        let ignored = ignored_by_git(&root, &excludes);
        place.rest();
        let found = place.found("find . -name f -exec sh -c 'echo more >> \"$1\"' sh {} \\;");
        let mut changed = BTreeSet::new();
        for change in found.changes.iter().filter(|change| change.path.ends_with("/f")) {
            changed.insert(&change.path);
            let is_ignored = ignored.contains(&change.path);
            prop_assert_eq!(change.ignored, is_ignored, "{} {:?}", change.path, rules);
        }
        prop_assert_eq!(changed.len(), files.iter().collect::<BTreeSet<_>>().len());
    }
}
