//! What is a member, and that nothing else is read, listed, found, changed or shown by ops on files, by
//! whatever name it is asked for. Real repositories, made by the real git; a canary in what must stay unseen.

use cairn_text::glob::PathGlob;
use cairn_types::{Action, Carry, Change, Edit, EditBody, Exchange, Find, Read, Status};
use cairn_world::{Acting, Membership, Prepared, Settings, Workspace, World};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use tokio_util::sync::CancellationToken;

/// Stands in every file that is no member.
pub const CANARY: &str = "canary-5d1f";

/// A repository with a folder of its own.
pub struct Place {
    holder: tempfile::TempDir,
}

impl Place {
    /// A repository with these files, of which some are tracked.
    pub fn new(files: &[(&str, &str)], tracked: &[&str]) -> Place {
        let place = Place::bare(files);
        place.git(&["init", "-q"]);
        place.track(tracked);
        place
    }

    /// The same without a repository.
    pub fn bare(files: &[(&str, &str)]) -> Place {
        let place = Place { holder: tempfile::tempdir().unwrap() };
        fs::create_dir(place.root()).unwrap();
        for (path, text) in files {
            place.put(path, text);
        }
        place
    }

    pub fn root(&self) -> PathBuf {
        self.holder.path().canonicalize().unwrap().join("root")
    }

    pub fn put(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn track(&self, paths: &[&str]) {
        for path in paths {
            self.git(&["add", "-f", path]);
        }
    }

    pub fn git(&self, args: &[&str]) -> String {
        git(&self.root(), args)
    }

    pub fn world(&self) -> World {
        self.world_with(Membership::default())
    }

    pub fn world_with(&self, membership: Membership) -> World {
        world(&self.root(), membership)
    }
}

pub fn world(root: &Path, membership: Membership) -> World {
    let settings = Settings { membership, ..Settings::new("/bin/sh".into(), Vec::new()) };
    World::with_folders(Workspace::open(root).unwrap(), &[], settings).unwrap()
}

#[allow(clippy::disallowed_methods, reason = "asks the git that membership is compared with")]
pub fn git(at: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "protocol.file.allow=always", "-c", "user.name=a", "-c", "user.email=a@b"])
        .args(args)
        .current_dir(at)
        .env("HOME", at)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn globs(texts: &[&str]) -> Vec<PathGlob> {
    texts.iter().map(|text| PathGlob::parse(text).unwrap()).collect()
}

fn look(world: &World, action: &Action) -> (Status, String) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let done = runtime.block_on(world.look(action, "", &CancellationToken::new()));
    let media: Vec<u8> = done.media.into_iter().flat_map(|shown| shown.bytes).collect();
    let all = format!("{}{}", done.text, String::from_utf8_lossy(&media));
    assert!(!all.contains(CANARY), "{action:?}: {all}");
    (done.status, done.text)
}

/// How looking ends.
pub fn look_status(world: &World, action: &Action) -> Status {
    look(world, action).0
}

/// What would be done, none of which shows a byte of what is no member.
fn prepare(world: &World, action: &Action) -> (Status, String) {
    let prepared = world.prepare(action);
    let told = told(&prepared);
    let text = format!("{prepared:?}");
    let bytes = prepared.contents.iter().any(|bytes| holds_canary(bytes));
    assert!(!text.contains(CANARY) && !bytes, "{action:?}: {text}");
    told
}

fn holds_canary(bytes: &[u8]) -> bool {
    String::from_utf8_lossy(bytes).contains(CANARY)
}

fn told(prepared: &Prepared) -> (Status, String) {
    match (&prepared.settled, &prepared.told) {
        (Some(done), _) => (done.status, done.text.clone()),
        (None, Some((status, text))) => (*status, text.clone()),
        (None, None) => (Status::OK, String::new()),
    }
}

pub fn act(world: &World, action: &Action) -> Vec<Change> {
    let prepared = world.prepare(action);
    assert!(prepared.settled.is_none(), "{action:?}: {:?}", prepared.settled);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (cancel, mut none) = (CancellationToken::new(), |_: &[u8]| {});
    let acting = Acting { row: "", cancel: &cancel, on_output: &mut none };
    let done = runtime.block_on(world.act(action, &prepared, acting));
    assert!(done.status.0 < 300, "{action:?}: {} {}", done.status, done.text);
    done.changes
}

pub fn read(path: &str) -> Action {
    Action::Read(Read { path: path.to_owned(), first: 1, ..Read::default() })
}

fn list(path: &str, depth: u64) -> Action {
    Action::List { path: path.to_owned(), depth }
}

fn under(path: &str) -> Action {
    let (text, under) = (Some("/./".to_owned()), Some(path.to_owned()));
    Action::Find(Find { text, under, ..Find::default() })
}

pub fn write(path: &str, content: &str) -> Action {
    let body = EditBody::Whole { content: content.to_owned() };
    Action::Edit(Edit::of(Some(path.to_owned()), body))
}

fn replace(path: &str) -> Action {
    let exchange = Exchange { old: "a".into(), new: "b".into(), all: true };
    Action::Edit(Edit::of(Some(path.to_owned()), EditBody::Replace(vec![exchange])))
}

fn patch(text: &str) -> Action {
    Action::Edit(Edit::of(None, EditBody::Patch(text.to_owned())))
}

fn moved(from: &str, to: &str) -> Action {
    Action::Move(Carry::of(from, to))
}

fn copied(from: &str, to: &str) -> Action {
    Action::Copy(Carry::of(from, to))
}

fn kill(path: &str) -> Action {
    Action::Kill { path: path.to_owned() }
}

/// Every path that find and list show.
pub fn shown(world: &World) -> Vec<String> {
    let glob = Some("*".to_owned());
    let (status, text) = look(world, &Action::Find(Find { glob, ..Find::default() }));
    let found: Vec<String> = match status {
        Status::NOTHING_FOUND => Vec::new(),
        _ => text.lines().map(str::to_owned).collect(),
    };
    let (_, text) = look(world, &list(".", 32));
    let files = text.lines().filter(|row| !row.ends_with('/') && !row.starts_with("not listed"));
    let listed: Vec<String> = files.filter(|row| *row != "(empty)").map(str::to_owned).collect();
    assert_eq!(found, listed, "find and list show the same");
    found
}

/// Asks for a path that exists in every way there is; all refuse it with these words, or none does. A
/// directory is given with a slash at its end.
pub fn check(world: &World, path: &str, refusal: Option<&str>) {
    let looks = [read(path), list(path, 3), under(path)];
    let changes = [
        replace(path),
        write(path, "mine\n"),
        kill(path),
        moved(path, "elsewhere/new"),
        copied(path, "elsewhere/new"),
        patch(&format!("*** Begin Patch\n*** Delete File: {path}\n*** End Patch")),
        patch(&format!("*** Begin Patch\n*** Update File: {path}\n@@\n-a\n+b\n*** End Patch")),
        patch(&format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-a\n+b\n")),
    ];
    // Something new may be put into any directory.
    let onto = (!path.ends_with('/')).then(|| copied("plain.txt", path));
    let changes: Vec<Action> = changes.into_iter().chain(onto).collect();
    let all = looks.iter().map(|action| (action, look(world, action)));
    for (action, (status, text)) in
        all.chain(changes.iter().map(|action| (action, prepare(world, action))))
    {
        match refusal {
            Some(words) => {
                assert_eq!((status, text.as_str()), (Status::REFUSED, words), "{action:?}")
            }
            None => assert_ne!(status, Status::REFUSED, "{action:?}: {text}"),
        }
    }
}

pub fn by(file: &str, path: &str) -> String {
    format!("{path} is not a member of the project: {file} names it")
}

// keeps: members
#[test]
fn a_path_is_a_member_if_git_does_not_ignore_it_and_nothing_else_is_read_or_changed() {
    let place = Place::new(
        &[
            (".gitignore", "*.log\n.env\ntarget/\n!keep.log\n"),
            ("plain.txt", "a\n"),
            ("tracked.txt", "a\n"),
            ("tracked.log", "a\n"),
            ("keep.log", "a\n"),
            ("other.log", CANARY),
            (".env", CANARY),
            ("target/x", CANARY),
            ("target/deep/tracked", "a\n"),
            ("target/deep/other", CANARY),
            ("sub/.gitignore", "gen\n"),
            ("sub/gen/x", CANARY),
            ("sub/kept", "a\n"),
            ("excluded", CANARY),
        ],
        &["tracked.txt", "tracked.log", "target/deep/tracked", ".gitignore"],
    );
    place.put(".git/info/exclude", "excluded\n");
    let world = place.world();
    for path in ["plain.txt", "tracked.txt", "tracked.log", "keep.log", "sub/kept"] {
        check(&world, path, None);
    }
    check(&world, "target/deep/tracked", None);
    for path in ["other.log", ".env", "target/x", "target/deep/other"] {
        check(&world, path, Some(&by(".gitignore", path)));
    }
    check(&world, "sub/gen/x", Some(&by("sub/.gitignore", "sub/gen/x")));
    check(&world, "sub/gen/", Some(&by("sub/.gitignore", "sub/gen/")));
    check(&world, "excluded", Some(&by(".git/info/exclude", "excluded")));
    let listed = place.git(&["ls-files", "-co", "--exclude-standard"]);
    let mut expected: Vec<&str> = listed.lines().collect();
    expected.sort_unstable();
    assert_eq!(shown(&world), expected);
    // A directory that only leads to members is looked into, and is not taken away with the others in it.
    assert_eq!(
        look(&world, &list("target", 9)).1,
        "deep/\ndeep/tracked\nnot listed: 2 that are not members"
    );
    assert_eq!(look(&world, &under("target")).1, "target/deep/tracked\n1:\ta");
    let refused = (Status::REFUSED, by(".gitignore", "target"));
    assert_eq!(prepare(&world, &moved("target", "t")), refused);
    assert_eq!(told(&world.prepare(&kill("target"))), refused);
}

// keeps: members-names
#[test]
fn no_other_name_makes_a_member_of_what_is_none() {
    let place = Place::new(
        &[
            (".gitignore", ".env\nkeys/\nsecr\u{e9}t\n"),
            ("plain.txt", "a\n"),
            ("dir/in.txt", "a\n"),
            (".env", CANARY),
            ("keys/k", CANARY),
            ("secr\u{e9}t", CANARY),
        ],
        &[],
    );
    let root = place.root();
    symlink(".env", root.join("link.txt")).unwrap();
    symlink("../keys", root.join("dir/linked")).unwrap();
    symlink("/proc/self/cwd/.env", root.join("magic")).unwrap();
    symlink("link.txt", root.join("twice")).unwrap();
    fs::hard_link(root.join(".env"), root.join("hard")).unwrap();
    let world = place.world();
    let refused = |path: &str, words: &str| {
        for action in [read(path), under(path), list(path, 9)] {
            let got = look(&world, &action);
            assert_eq!(got, (Status::REFUSED, words.to_owned()), "{action:?}");
        }
        for action in [replace(path), write(path, "mine")] {
            let got = prepare(&world, &action);
            assert_eq!(got, (Status::REFUSED, words.to_owned()), "{action:?}");
        }
    };
    for path in ["./.env", "dir/../.env", ".//.env"] {
        refused(path, &by(".gitignore", path));
    }
    refused(
        &format!("{}/.env", root.display()),
        &by(".gitignore", &format!("{}/.env", root.display())),
    );
    let leads = |path: &str, to: &str| by(".gitignore", &format!("{path} leads to {to}, which"));
    refused("link.txt", &leads("link.txt", ".env"));
    refused("twice", &leads("twice", ".env"));
    refused("dir/linked/../.env", &leads("dir/linked/../.env", ".env"));
    refused("dir/linked", &leads("dir/linked", "keys"));
    refused("dir/linked/k", &leads("dir/linked/k", "keys/k"));
    refused("keys/../secr\u{e9}t", &by(".gitignore", "keys/../secr\u{e9}t"));
    for path in ["/proc/self/cwd/.env", "/proc/self/root/etc/passwd", "magic", "../root/.env"] {
        for action in [read(path), list(path, 1), under(path)] {
            assert_eq!(look(&world, &action).0, Status::REFUSED, "{action:?}");
        }
        let changing = [replace(path), write(path, "x"), copied(path, "new")];
        // A link is taken as the link it is.
        for action in changing.iter().take(if path == "magic" { 2 } else { 3 }) {
            assert_eq!(prepare(&world, action).0, Status::REFUSED, "{action:?}");
        }
    }
    // This file system keeps these apart, so nothing of that name is there.
    for path in [".ENV", ".Env", "KEYS/k", "keys/K", "secre\u{301}t", "SECR\u{c9}T"] {
        for action in [read(path), list(path, 1), under(path)] {
            assert_eq!(look(&world, &action).0, Status::NOT_FOUND, "{action:?}");
        }
    }
    // A link is its own name, and may be taken away; so may a file's other name be read.
    assert_eq!(prepare(&world, &kill("link.txt")).0, Status::OK);
    assert_eq!(told(&world.prepare(&copied("hard", "new"))).0, Status::CREATED);
    let all = Find { glob: Some("*".to_owned()), ..Find::default() };
    assert_eq!(look(&world, &Action::Find(all)).1, ".gitignore\ndir/in.txt\nhard\nplain.txt");
}

// keeps: members-made
#[test]
fn a_new_path_may_be_made_where_rules_name_it_and_is_a_member_then() {
    let place = Place::new(
        &[
            (".gitignore", "*.log\nout/\n"),
            ("plain.txt", "a\n"),
            ("out/theirs", CANARY),
            ("their.log", CANARY),
        ],
        &[],
    );
    let world = place.world();
    let mut made = act(&world, &write("mine.log", "a\n"));
    made.extend(act(&world, &write("out/deep/mine", "a\n")));
    made.extend(act(&world, &copied("plain.txt", "out")));
    for world in [world, place.world()] {
        world.count_made(&made);
        for path in ["mine.log", "out/deep/mine", "out/plain.txt"] {
            check(&world, path, None);
        }
        for path in ["their.log", "out/theirs"] {
            check(&world, path, Some(&by(".gitignore", path)));
        }
        assert_eq!(
            look(&world, &list("out", 9)).1,
            "deep/\ndeep/mine\nplain.txt\nnot listed: 1 that is not a member"
        );
        assert!(shown(&world).contains(&"out/deep/mine".to_owned()));
        assert_eq!(
            prepare(&world, &kill("out/deep")).0,
            Status::OK,
            "this directory was made, too"
        );
        // Who did not make them does not know them.
        check(&place.world(), "mine.log", Some(&by(".gitignore", "mine.log")));
    }
    let world = place.world();
    world.count_made(&made);
    act(&world, &kill("mine.log"));
    place.put("mine.log", CANARY);
    check(&world, "mine.log", Some(&by(".gitignore", "mine.log")));
    // What a command built is not made by being accepted.
    let built = Change { ignored: true, ..made[0].clone() };
    let world = place.world();
    world.count_made([&built]);
    check(&world, "mine.log", Some(&by(".gitignore", "mine.log")));
}

// keeps: members-carried
#[test]
fn a_directory_is_copied_and_moved_without_what_is_no_member_and_removed_with_it() {
    let files = [
        (".gitignore", "/a/.env\n/a/b/gen/\n"),
        ("a/f", "f\n"),
        ("a/.env", CANARY),
        ("a/b/g", "g\n"),
        ("a/b/gen/x", CANARY),
        ("a/c/h", "h\n"),
        ("plain.txt", "a\n"),
    ];
    let place = Place::new(&files, &[]);
    let world = place.world();
    let (status, text) = prepare(&world, &copied("a", "copy"));
    let expected = "copied a to copy (3 files, 6 bytes); 2 that are not members left out";
    assert_eq!((status, text.as_str()), (Status::CREATED, expected));
    act(&world, &copied("a", "copy"));
    assert!(!place.root().join("copy/.env").exists() && place.root().join("copy/b/g").exists());
    let (_, text) = prepare(&world, &moved("a", "moved"));
    assert_eq!(text, "moved a to moved (3 files, 6 bytes); 2 that are not members left behind");
    act(&world, &moved("a", "moved"));
    let at = |path: &str| place.root().join(path).exists();
    assert!(at("moved/b/g") && at("moved/c/h") && !at("moved/.env") && !at("moved/b/gen"));
    assert!(at("a/.env") && at("a/b/gen/x") && !at("a/f") && !at("a/c"));
    let all = shown(&world);
    assert!(all.iter().all(|path| !path.starts_with("a/")), "{all:?}");
    act(&world, &kill("a"));
    assert!(!at("a"));
}

// keeps: members-settings
#[test]
fn settings_add_leave_out_and_keep_from_being_changed() {
    let files = [
        (".gitignore", "*.log\nout/\nnode_modules/\n"),
        ("plain.txt", "a\n"),
        ("a.log", "a\n"),
        ("b.log", CANARY),
        ("out/doc/x", "a\n"),
        ("out/other", CANARY),
        ("node_modules/p/a.log", CANARY),
        ("secret/k", CANARY),
        ("secret/tracked", CANARY),
        ("vendor/v", "a\n"),
        ("vendor/w.log", CANARY),
    ];
    let place = Place::new(&files, &["secret/tracked"]);
    let world = place.world_with(Membership {
        add: globs(&["a.log", "out/doc/**", "./secret/k"]),
        ignore: globs(&["secret"]),
        read_only: globs(&["vendor/**"]),
        ..Membership::default()
    });
    for path in ["a.log", "out/doc/x", "plain.txt"] {
        check(&world, path, None);
    }
    // A name that may stand anywhere does not reach into what is ignored.
    for path in ["b.log", "out/other", "node_modules/p/a.log", "vendor/w.log"] {
        check(&world, path, Some(&by(".gitignore", path)));
    }
    for path in ["secret/k", "secret/tracked", "secret/"] {
        check(&world, path, Some(&by("the setting membership.ignore", path)));
    }
    assert_eq!(shown(&world), [".gitignore", "a.log", "out/doc/x", "plain.txt", "vendor/v"]);
    assert_eq!(look(&world, &read("vendor/v")).1, "1\ta");
    assert_eq!(prepare(&world, &copied("vendor/v", "new")).0, Status::CREATED);
    for action in [
        replace("vendor/v"),
        write("vendor/v", "b\n"),
        write("vendor/new", "b\n"),
        kill("vendor/v"),
        moved("vendor/v", "new"),
        copied("plain.txt", "vendor/v2"),
        patch("*** Begin Patch\n*** Delete File: vendor/v\n*** End Patch"),
    ] {
        let (status, text) = prepare(&world, &action);
        assert_eq!(status, Status::REFUSED, "{action:?}");
        assert!(
            text.ends_with("is only read: the setting membership.read_only names it"),
            "{text}"
        );
    }
    assert_eq!(told(&world.prepare(&kill("vendor"))).0, Status::REFUSED);
}

// keeps: members-settings
#[test]
fn only_what_git_tracks_is_a_member_where_that_is_set() {
    let files = [
        (".gitignore", "*.log\n"),
        ("plain.txt", "a\n"),
        ("tracked.log", "a\n"),
        ("dir/in", "a\n"),
        ("untracked", CANARY),
        ("new/untracked", CANARY),
        ("dir/untracked", CANARY),
        ("other.log", CANARY),
    ];
    let tracked = ["plain.txt", "tracked.log", "dir/in"];
    let only = || Membership { tracked: true, ..Membership::default() };
    let place = Place::new(&files, &tracked);
    let world = place.world_with(only());
    for path in tracked {
        check(&world, path, None);
    }
    for path in ["untracked", "new/", "new/untracked", "dir/untracked"] {
        let words = format!("{path} is not a member of the project: git does not track it");
        check(&world, path, Some(&words));
    }
    check(&world, "other.log", Some(&by(".gitignore", "other.log")));
    assert_eq!(shown(&world), ["dir/in", "plain.txt", "tracked.log"]);
    // The index is read again when it is another.
    place.put("untracked", "a\n");
    place.track(&["untracked"]);
    check(&world, "untracked", None);
    act(&world, &write("made", "a\n"));
    check(&world, "made", None);
    // Without a repository rules decide.
    let bare =
        Place::bare(&[("a", "a\n"), (".ignore", "b\n"), ("b", CANARY), ("plain.txt", "a\n")]);
    let world = bare.world_with(only());
    check(&world, "a", None);
    check(&world, "b", Some(&by(".ignore", "b")));
}

#[test]
fn what_is_tracked_is_known_from_every_index_that_git_writes() {
    let files = [
        (".gitignore", "*.log\ndeep/\n"),
        ("plain.txt", "a\n"),
        ("a.log", "a\n"),
        ("deep/er/b.log", "a\n"),
        ("deep/er/than/c", "a\n"),
        ("deep/untracked", CANARY),
        ("z.log", CANARY),
    ];
    let tracked = ["a.log", "deep/er/b.log", "deep/er/than/c"];
    let check_all = |world: &World| {
        tracked.iter().for_each(|path| check(world, path, None));
        check(world, "z.log", Some(&by(".gitignore", "z.log")));
        check(world, "deep/untracked", Some(&by(".gitignore", "deep/untracked")));
    };
    for format in ["sha1", "sha256"] {
        let place = Place::bare(&files);
        place.git(&["init", "-q", "--object-format", format]);
        for version in ["2", "3", "4"] {
            place.git(&["update-index", "--force-remove", "none"]);
            place.git(&["-c", &format!("index.version={version}"), "add", "-N", "plain.txt"]);
            place.track(&tracked);
            place.git(&["update-index", "--index-version", version]);
            check_all(&place.world());
        }
        place.git(&["commit", "-qam", "all"]);
        let linked = place.holder.path().canonicalize().unwrap().join("linked");
        place.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
        for (path, text) in files {
            fs::create_dir_all(linked.join(path).parent().unwrap()).unwrap();
            fs::write(linked.join(path), text).unwrap();
        }
        check_all(&world(&linked, Membership::default()));
    }
}

#[test]
fn a_root_within_a_repository_and_a_repository_within_a_root_are_judged_by_their_own_index() {
    let place = Place::new(
        &[
            (".gitignore", "*.log\nvendor/\n"),
            ("plain.txt", "a\n"),
            ("crates/a/plain.txt", "a\n"),
            ("crates/a/t.log", "a\n"),
            ("crates/a/u.log", CANARY),
        ],
        &["crates/a/t.log"],
    );
    let inner = world(&place.root().join("crates/a"), Membership::default());
    check(&inner, "t.log", None);
    check(
        &inner,
        "u.log",
        Some("u.log is not a member of the project: a .gitignore above the project names it"),
    );
    // One repository is a part of the other, in a directory that is ignored; another merely lies there.
    let within = Place::new(&[("f", "a\n"), ("g.log", "a\n")], &["f"]);
    within.git(&["commit", "-qm", "f"]);
    let from = within.root();
    place.git(&["submodule", "--quiet", "add", "-f", from.to_str().unwrap(), "vendor/part"]);
    for (path, text) in [("vendor/part/x.log", "a\n"), ("vendor/lies/f", CANARY)] {
        place.put(path, text);
    }
    git(&place.root().join("vendor/lies"), &["init", "-q"]);
    git(&place.root().join("vendor/lies"), &["add", "f"]);
    let world = place.world();
    for path in ["vendor/part/f", "vendor/part/x.log"] {
        check(&world, path, None);
    }
    check(&world, "vendor/lies/f", Some(&by(".gitignore", "vendor/lies/f")));
    // Of an index that is not as git writes it nobody knows what it tracks: what is tracked alone is not read.
    fs::write(place.root().join(".git/index"), b"DIRC\0\0\0\x02\0\0\0\x05and so on").unwrap();
    check(&place.world(), "crates/a/t.log", Some(&by(".gitignore", "crates/a/t.log")));
}
