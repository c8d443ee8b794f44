//! What the world promises: nothing outside the root is reached, edits are whole or not at all, and
//! what is told is the same for the same files. Real files, real links, real commands.

use cairn_types::{
    Action, Carry, Change, Edit, EditBody, Exchange, Exec, Find, OpName, Read, Status,
};
use cairn_world::{Acting, Performed, Probe, Settings, Workspace, World};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio_util::sync::CancellationToken;

/// A root, and a place outside it with a secret.
struct Place {
    _holder: tempfile::TempDir,
    root: PathBuf,
    outside: PathBuf,
    world: World,
}

impl Place {
    fn new() -> Self {
        let holder = tempfile::tempdir().unwrap();
        let (root, outside) = (holder.path().join("root"), holder.path().join("outside"));
        fs::create_dir(&root).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("secret"), "secret\n").unwrap();
        let world = world(&root);
        Self { _holder: holder, root, outside, world }
    }

    fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.root.join(path)).unwrap()
    }

    async fn perform(&self, action: &Action, expected: &[Change]) -> Performed {
        perform(&self.world, action, expected).await
    }

    async fn told(&self, action: &Action) -> String {
        let done = self.perform(action, &[]).await;
        format!("{} {}", done.status, done.text)
    }

    fn outside_is_untouched(&self) -> bool {
        let names: Vec<_> = fs::read_dir(&self.outside).unwrap().flatten().collect();
        names.len() == 1 && fs::read(self.outside.join("secret")).unwrap() == b"secret\n"
    }
}

fn world(root: &Path) -> World {
    world_with_spool(root, None)
}

fn world_with_spool(root: &Path, spool: Option<PathBuf>) -> World {
    let env = vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())];
    let settings = Settings { spool, ..Settings::new("/bin/sh".into(), env) };
    World::new(Workspace::open(root).unwrap(), settings)
}

/// Looks, or does what was prepared; with `expected`, as if it had been prepared when that was so.
async fn perform(world: &World, action: &Action, expected: &[Change]) -> Performed {
    let cancel = CancellationToken::new();
    if matches!(action.op(), OpName::Find | OpName::Read) {
        return world.look(action, "", &cancel).await;
    }
    let mut prepared = world.prepare(action);
    if !expected.is_empty() {
        prepared.changes = expected.to_vec();
    } else if let Some(settled) = prepared.settled {
        return settled;
    }
    let acting = Acting { row: "log:///1/2/3", cancel: &cancel, on_output: &mut |_| {} };
    world.act(action, &prepared, acting).await
}

fn read(path: &str) -> Action {
    lines(path, 1, 0)
}

fn lines(path: &str, first: u64, limit: u64) -> Action {
    Action::Read(Read { path: path.to_owned(), first, limit, ..Read::default() })
}

fn whole(path: &str, content: &str) -> Action {
    let body = EditBody::Whole { content: content.to_owned() };
    Action::Edit(Edit::of(Some(path.to_owned()), body))
}

fn replace(path: &str, old: &str, new: &str) -> Action {
    let exchange = Exchange { old: old.to_owned(), new: new.to_owned(), all: false };
    let body = EditBody::Replace(vec![exchange]);
    Action::Edit(Edit::of(Some(path.to_owned()), body))
}

fn find(glob: Option<&str>, text: Option<&str>) -> Action {
    let (glob, text) = (glob.map(str::to_owned), text.map(str::to_owned));
    Action::Find(Find { glob, text, ..Find::default() })
}

fn exec(command: &str, timeout_ms: Option<u64>) -> Action {
    Action::Exec(Exec { command: command.to_owned(), timeout_ms, ..Exec::default() })
}

/// Each escape in three parts: the path works without us, we refuse it, nothing outside changed.
#[tokio::test]
async fn no_path_reaches_outside_the_root_or_into_git() {
    let place = Place::new();
    let outside = place.outside.to_str().unwrap();
    place.put(".git/config", "secret\n");
    place.put("sub/.git/config", "secret\n");
    symlink("../outside/secret", place.root.join("link")).unwrap();
    symlink(place.outside.join("secret"), place.root.join("absolute")).unwrap();
    symlink("../outside", place.root.join("directory")).unwrap();
    symlink(".git", place.root.join("git")).unwrap();
    symlink(".git/config", place.root.join("config")).unwrap();
    symlink("/proc/self/root", place.root.join("magic")).unwrap();
    let absolute = format!("{outside}/secret");
    let magic = format!("magic{outside}/secret");
    let escapes = [
        "../outside/secret",
        "sub/../../outside/secret",
        &absolute,
        "link",
        "absolute",
        "directory/secret",
        "directory/../outside/secret",
        &magic,
        ".git/config",
        "sub/.git/config",
        "git/config",
        "config",
    ];
    for path in escapes {
        assert_eq!(fs::read(place.root.join(path)).unwrap(), b"secret\n", "control: {path}");
        for action in [read(path), whole(path, "changed\n"), replace(path, "secret", "changed")] {
            let done = place.perform(&action, &[]).await;
            assert_eq!(done.status, Status::REFUSED, "{path}: {}", done.text);
            let prepared = place.world.prepare(&action);
            assert!(prepared.changes.is_empty() && prepared.contents.is_empty(), "{path}");
        }
        assert_eq!(fs::read(place.root.join(path)).unwrap(), b"secret\n", "{path}");
        assert!(place.outside_is_untouched(), "{path}");
    }
    for path in ["directory/new", "../outside/new", "git/hooks/pre-commit", ".git/hooks/x"] {
        let done = place.perform(&whole(path, "new\n"), &[]).await;
        assert_eq!(done.status, Status::REFUSED, "{path}: {}", done.text);
        assert!(place.outside_is_untouched() && !place.root.join(".git/hooks").exists(), "{path}");
    }
    assert_eq!(place.told(&find(None, Some("secret"))).await, "204 nothing found");
}

#[tokio::test]
async fn a_repositorys_own_directory_is_out_of_reach_under_any_name() {
    let refused = "is inside a repository's own directory";
    let outside = tempfile::tempdir().unwrap();
    let elsewhere = outside.path().display().to_string();
    for (at, says, own) in [
        (".git", "gitdir: repo.git\n".to_owned(), "repo.git"),
        (".git", "gitdir: ./deep/../deep/own\n".to_owned(), "deep/own"),
        ("sub/.git", "gitdir: own".to_owned(), "sub/own"),
        (".git", "gitdir: ROOT/repo.git\n".to_owned(), "repo.git"),
        (".git", "-> repo.git".to_owned(), "repo.git"),
        (".git", format!("gitdir: {elsewhere}\n"), ""),
        (".git", "not a name at all".to_owned(), ""),
        (".git", "gitdir: .\n".to_owned(), ""),
    ] {
        let place = Place::new();
        for path in ["repo.git", "deep/own", "sub/own"] {
            place.put(&format!("{path}/config"), "c\n");
        }
        match says.strip_prefix("-> ") {
            Some(target) => symlink(target, place.root.join(at)).unwrap(),
            None => place.put(at, says.replace("ROOT", place.root.to_str().unwrap())),
        }
        for path in ["repo.git", "deep/own", "sub/own"] {
            let config = format!("{path}/config");
            let new = format!("{path}/hooks/pre-commit");
            let kill = Action::Kill { path: path.to_owned() };
            let away = Action::Move(Carry::of(path.to_owned(), format!("away/to/{path}")));
            let actions = [read(&config), whole(&new, "x\n"), whole(&config, "x\n"), away, kill];
            for action in actions {
                let told = place.told(&action).await;
                let is_refused = told.contains(refused) || told.contains("holds a repository's");
                assert_eq!(is_refused, path == own, "{at} {says} {path} {action:?}: {told}");
                assert_eq!(told.starts_with("403"), is_refused || told.contains("inside .git"));
            }
        }
    }
}

#[tokio::test]
async fn magic_links_are_not_followed() {
    assert!(fs::read("/proc/self/root/proc/version").is_ok(), "control");
    let done = perform(&world(Path::new("/proc/self")), &read("root/proc/version"), &[]).await;
    assert_eq!(done.status, Status::REFUSED, "{}", done.text);
}

#[tokio::test]
async fn what_is_neither_file_nor_directory_is_refused_without_waiting() {
    let place = Place::new();
    let mode = rustix::fs::Mode::from_raw_mode(0o644);
    rustix::fs::mknodat(
        rustix::fs::CWD,
        place.root.join("pipe"),
        rustix::fs::FileType::Fifo,
        mode,
        0,
    )
    .unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(place.root.join("socket")).unwrap();
    for path in ["pipe", "socket"] {
        for action in [read(path), whole(path, "x\n"), replace(path, "a", "b")] {
            let told = place.told(&action).await;
            assert_eq!(told, format!("415 {path} is neither a file nor a directory"));
        }
    }
    assert_eq!(place.told(&find(None, Some("x"))).await, "204 nothing found");
}

#[tokio::test]
async fn a_directory_swapped_for_a_link_never_leads_outside() {
    let place = Place::new();
    place.put("d/secret", "inside\n");
    let (root, done) = (place.root.clone(), Arc::new(AtomicBool::new(false)));
    symlink("../outside", root.join("l")).unwrap();
    let stop = Arc::clone(&done);
    let swapper = std::thread::spawn(move || {
        let (d, l) = (root.join("d"), root.join("l"));
        while !stop.load(Ordering::Relaxed) {
            rustix::fs::renameat_with(
                rustix::fs::CWD,
                &d,
                rustix::fs::CWD,
                &l,
                rustix::fs::RenameFlags::EXCHANGE,
            )
            .unwrap();
        }
    });
    let mut seen = std::collections::BTreeMap::new();
    // Where the swapper stood still for a while the rounds go on, until both sides of it were met.
    let (begun, mut n) = (std::time::Instant::now(), 0);
    while n < 300 || (seen.len() < 2 && begun.elapsed().as_secs() < 30) {
        n += 1;
        let edited = place.perform(&whole("d/secret", &format!("{n}\n")), &[]).await;
        let looked = place.perform(&read("d/secret"), &[]).await;
        assert!(!looked.text.contains("\tsecret"), "{}", looked.text);
        *seen.entry(edited.status).or_insert(0) += 1;
    }
    done.store(true, Ordering::Relaxed);
    swapper.join().unwrap();
    assert!(place.outside_is_untouched(), "{seen:?}");
    assert!(seen.len() > 1, "the swap was never met, so nothing was shown: {seen:?}");
}

#[tokio::test]
async fn an_edit_is_prepared_without_effect_and_then_done() {
    let place = Place::new();
    place.put("src/a.rs", "one\ntwo\nthree\nfour\nfive\n");
    fs::set_permissions(place.root.join("src/a.rs"), fs::Permissions::from_mode(0o750)).unwrap();
    let action = replace("src/a.rs", "three\n", "3\n");
    let prepared = place.world.prepare(&action);
    assert_eq!(prepared.label, "edit src/a.rs (+1 -1)");
    let diff =
        "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,5 +1,5 @@\n one\n two\n-three\n+3\n four\n five\n";
    assert_eq!(prepared.shown, diff);
    assert_eq!(prepared.contents.len(), 2);
    assert_eq!(place.world.probe(&prepared.changes), Probe::NotDone);
    assert!(place.text("src/a.rs").contains("three"));
    let done = place.perform(&action, &prepared.changes).await;
    let text = "updated src/a.rs\n1\tone\n2\ttwo\n3\t3\n4\tfour\n5\tfive";
    assert_eq!((done.status, done.text.as_str()), (Status::OK, text));
    assert_eq!(place.world.probe(&prepared.changes), Probe::Done);
    let after = done.changes[0].after.as_ref().unwrap();
    assert_eq!((after.mode, after.mtime_ns.is_some()), (0o750, true));
    assert_eq!(after.hash, prepared.changes[0].after.as_ref().unwrap().hash);
    place.put("src/a.rs", "else\n");
    assert_eq!(place.world.probe(&prepared.changes), Probe::Neither);
    assert_eq!(place.world.probe(&[]), Probe::Neither);
    assert_eq!(fs::read_dir(place.root.join("src")).unwrap().count(), 1);
}

#[tokio::test]
async fn an_edit_of_a_file_that_changed_meanwhile_writes_nothing() {
    let place = Place::new();
    let stale = "409 f changed since it was looked at; nothing was written";
    let check = async |before: Option<&str>, action: Action, meanwhile: Option<&str>| {
        let _ = fs::remove_file(place.root.join("f"));
        before.inspect(|text| place.put("f", text));
        let prepared = place.world.prepare(&action);
        assert_eq!(prepared.settled, None);
        match meanwhile {
            Some(text) => place.put("f", text),
            None => fs::remove_file(place.root.join("f")).unwrap(),
        }
        let done = place.perform(&action, &prepared.changes).await;
        assert_eq!(format!("{} {}", done.status, done.text), stale);
        assert_eq!(fs::read_to_string(place.root.join("f")).ok().as_deref(), meanwhile);
    };
    check(Some("a\n"), whole("f", "b\n"), Some("c\n")).await;
    check(Some("a\n"), whole("f", "b\n"), Some("b\n")).await;
    check(Some("a\n"), whole("f", "b\n"), None).await;
    check(None, whole("f", "b\n"), Some("c\n")).await;
    check(Some("a\n"), replace("f", "a", "b"), Some("a\na\n")).await;
}

#[tokio::test]
async fn every_edit_answers_with_a_status_and_a_fact() {
    let place = Place::new();
    place.put("text", "a\nb\na\n");
    place.put("binary", b"\xff\xfe\0");
    place.put("large", vec![b'x'; (16 << 20) + 1]);
    place.put("inner/target", "old\n");
    symlink("inner/target", place.root.join("alias")).unwrap();
    symlink("nowhere", place.root.join("dangling")).unwrap();
    let root = place.root.to_str().unwrap();
    let check = async |action: Action, expected: &str| {
        assert_eq!(place.told(&action).await, expected, "{action:?}");
    };
    check(whole("new/deep/file", "1\n2\n"), "201 created new/deep/file, 2 lines").await;
    check(whole(&format!("{root}/one"), "1\n"), "201 created one, 1 line").await;
    check(whole("text", "a\nb\na\n"), "304 text is unchanged").await;
    check(whole("text", "a\nB\na\n"), "200 updated text\n1\ta\n2\tB\n3\ta").await;
    check(replace("none", "a", "b"), "404 none does not exist; the nearest is one").await;
    let several = "409 text: the text to replace stands in 2 places, at lines 1, 3";
    check(replace("text", "a", "b"), several).await;
    check(replace("text", "zz", "b"), "409 text: the text to replace was not found").await;
    check(replace("text", "", "b"), "422 text: the text to replace is empty").await;
    check(replace("text", "a", "a"), "304 text: the old and the new text are the same").await;
    check(replace("binary", "a", "b"), "415 binary is a binary file, 3 bytes").await;
    let told = "413 large is larger than 16777216 bytes; change it with a command, such as sed -i";
    check(replace("large", "x", "y"), told).await;
    check(whole("inner", "x"), "409 inner is a directory").await;
    check(whole("text/below", "x"), "409 text is not a directory").await;
    check(whole("a\u{1b}b", "x"), "400 the path a\\u{1b}b holds control characters").await;
    let dangling = "409 dangling in dangling is a link to something that does not exist";
    check(whole("dangling", "x"), dangling).await;
    let through = "404 nope/../text leads through a directory that does not exist";
    check(whole("nope/../text", "x"), through).await;
    check(replace("nope/../text", "a", "x"), through).await;
    check(whole("inner/../text2", "x\n"), "201 created text2, 1 line").await;
    check(replace("alias", "old", "new"), "200 updated inner/target\n1\tnew").await;
    assert!(place.root.join("alias").is_symlink());
    assert_eq!(place.text("inner/target"), "new\n");
    let mode = fs::metadata(place.root.join("one")).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode & !0o644, 0);
}

#[tokio::test]
async fn a_read_is_told_with_numbers_whatever_the_file_is_like() {
    let place = Place::new();
    place.put("empty", "");
    place.put("two", "a\nb\n");
    place.put("binary", b"a\0b");
    place.put("latin", b"caf\xe9 and a longer line of plain text\n");
    place.put("dir/sub/x", "");
    place.put("dir/b", "");
    place.put("line", "x".repeat(10_000_000));
    let sparse = fs::File::create(place.root.join("sparse")).unwrap();
    sparse.set_len(100_000_000).unwrap();
    let long: String =
        (1..=2_000_000).map(|n| format!("line {n} of many, many lines in it\n")).collect();
    place.put("long", &long);
    let check = async |action: Action, expected: &str| {
        assert_eq!(place.told(&action).await, expected, "{action:?}");
    };
    check(read("empty"), "200 (empty)").await;
    check(read("two"), "200 1\ta\n2\tb").await;
    check(read("none"), "404 none does not exist").await;
    check(read("binary"), "415 binary is a binary file, 3 bytes").await;
    check(read("sparse"), "415 sparse is a binary file, 100000000 bytes").await;
    let latin = "200 1\tcaf\u{fffd} and a longer line of plain text\nnot UTF-8 everywhere: U+FFFD stands for what is not";
    check(read("latin"), latin).await;
    check(read("dir"), "200 b\nsub/").await;
    let cut = format!("200 1\t{}… (9998000 more bytes in this line)", "x".repeat(2000));
    check(read("line"), &cut).await;
    let from = |first, limit| lines("long", first, limit);
    let middle = "200 1500000\tline 1500000 of many, many lines in it\nlines 1500000-1500000 of 2000000; next: first=1500001";
    check(from(1_500_000, 1), middle).await;
    check(from(2_000_001, 1), "416 long has 2000000 lines").await;
}

#[tokio::test]
async fn finding_tells_paths_and_lines_in_order() {
    let place = Place::new();
    place.put("b.rs", "fn main() {}\nlet Needle = 1;\n");
    place.put("a/z.rs", "needle\n");
    place.put("a.rs", "x\n");
    place.put("a/deep/y.txt", "a needle here\n");
    place.put("bin", b"needle\0");
    place.put(".git/z.rs", "needle\n");
    symlink("../outside", place.root.join("out")).unwrap();
    let check = async |glob, text, expected: &str| {
        assert_eq!(place.told(&find(glob, text)).await, expected, "{glob:?} {text:?}");
    };
    check(Some("*.rs"), None, "200 a.rs\na/z.rs\nb.rs").await;
    check(Some("a/*.rs"), None, "200 a/z.rs").await;
    check(Some("a/**"), None, "200 a/deep/y.txt\na/z.rs").await;
    check(Some("./b.rs"), None, "200 b.rs").await;
    check(Some("*.{txt,md}"), None, "200 a/deep/y.txt").await;
    check(Some("!*.rs"), None, "200 a/deep/y.txt\nbin").await;
    check(Some("!a/**"), None, "200 a.rs\nb.rs\nbin").await;
    check(Some("*.none"), None, "204 nothing found").await;
    let skipped = "not looked into: 1 binary";
    let lines = format!("200 a/deep/y.txt\n1:\ta needle here\n\na/z.rs\n1:\tneedle\n\n{skipped}");
    check(None, Some("needle"), &lines).await;
    let any_case = "200 a/z.rs\n1:\tneedle\n\nb.rs\n2:\tlet Needle = 1;";
    check(Some("*.rs"), Some("/needle/i"), any_case).await;
    check(Some("*.rs"), Some("/^needle$/"), "200 a/z.rs\n1:\tneedle").await;
    check(Some("*.rs"), Some("main()"), "200 b.rs\n1:\tfn main() {}").await;
    check(None, Some("secret"), &format!("204 nothing found\n{skipped}")).await;
    check(None, None, "400 neither a glob nor a text was given").await;
    let flags = "400 /usr/bin: read as /regex/flags, and b is not a flag";
    check(None, Some("/usr/bin"), flags).await;
    for (glob, text) in [(Some("a{"), None), (None, Some("/(/")), (None, Some("/x"))] {
        assert!(place.told(&find(glob, text)).await.starts_with("400 "), "{glob:?} {text:?}");
    }
}

#[tokio::test]
async fn many_results_come_in_pages() {
    let place = Place::new();
    place.put("many", "hit\n".repeat(250));
    place.put("very-many", "strike\n".repeat(20_000));
    let page = |text: &str, skip| {
        Action::Find(Find { text: Some(text.to_owned()), skip, ..Find::default() })
    };
    let first = place.told(&page("hit", 0)).await;
    assert!(
        first.starts_with("200 many\n1:\thit\n2:")
            && first.ends_with("\n100:\thit\n\n150 more in 1 file; next: skip=100")
    );
    let last = place.told(&page("hit", 200)).await;
    assert!(last.starts_with("200 many\n201:\thit\n") && last.ends_with("\n250:\thit"));
    assert_eq!(place.told(&page("hit", 250)).await, "416 250 results, none after skip=250");
    let many = place.told(&page("strike", 0)).await;
    assert!(many.ends_with("\n\nmore than 10000 more in 1 file or more; next: skip=100"));
}

#[tokio::test]
async fn a_command_tells_its_output_and_how_it_ended() {
    let place = Place::new();
    let check = async |command: &str, timeout, expected: &str| {
        let done = place.perform(&exec(command, timeout), &[]).await;
        assert_eq!(format!("{} {}", done.status, done.text), expected, "{command}");
        assert!(done.layers.len() == usize::from(done.output.is_some()) || done.layers.len() == 2);
    };
    check("printf hi; printf ' there' >&2; exit 3", None, "200 hi there\nexit=3").await;
    check("true", None, "200 exit=0").await;
    check("echo a; kill -9 $$", None, "200 a\nended by signal 9").await;
    let late = "408 a\ntimed out after 100 ms, everything it started was ended";
    check("echo a; sleep 60", Some(100), late).await;
    check("  ", None, "400 the command is empty").await;
    check("a\0b", None, "400 the command holds a NUL byte").await;
    let cancel = CancellationToken::new();
    let action = exec("echo a; sleep 60", None);
    let mut cancel_on_output = |_: &[u8]| cancel.cancel();
    let prepared = place.world.prepare(&action);
    let on_output = &mut cancel_on_output;
    let acting = Acting { row: "log:///1/2/3", cancel: &cancel, on_output };
    let done = place.world.act(&action, &prepared, acting).await;
    let told = (Status::CANCELLED, "a\ncancelled, everything it started was ended");
    assert_eq!((done.status, done.text.as_str()), told);
}

// keeps: output-told, output-kept
#[tokio::test]
async fn a_long_output_is_told_by_its_ends_and_kept_whole_where_there_is_a_place_for_it() {
    let mut place = Place::new();
    let numbers: String = (1..=200_000).map(|n| format!("{n}\n")).collect();
    let (head, tail) = (&numbers[..4096], &numbers[numbers.len() - 12_288..]);
    let missing = numbers.len() - 4096 - 12_288;
    let told =
        format!("{head}\n… {missing} bytes not shown; read log:///1/2/3#output …\n{tail}exit=0");
    let check = async |place: &Place, kept: &str| {
        let done = place.perform(&exec("seq 1 200000", None), &[]).await;
        assert_eq!(done.text, told);
        let output = done.output.unwrap();
        assert_eq!(output.bytes, numbers.len() as u64);
        assert_eq!(output.hash, cairn_types::Hash::of(numbers.as_bytes()));
        assert_eq!(output.kept, cairn_types::ContentRef::of(kept.as_bytes()));
        (done.contents, done.spooled)
    };
    let (head, tail) = (&numbers[..131_072], &numbers[numbers.len() - 131_072..]);
    let missing = numbers.len() - 2 * 131_072;
    let ends = format!("{head}\n… {missing} bytes not kept …\n{tail}");
    assert_eq!(check(&place, &ends).await, (vec![ends.into_bytes()], None));
    let spool = place.outside.join("spool");
    place.world = world_with_spool(&place.root, Some(spool.clone()));
    let (contents, spooled) = check(&place, &numbers).await;
    assert!(contents.is_empty());
    assert_eq!(spooled.unwrap().file.metadata().unwrap().len(), numbers.len() as u64);
    assert_eq!(fs::read_dir(&spool).unwrap().count(), 0);
}

#[tokio::test]
async fn a_command_is_shown_from_our_data_and_cannot_fake_a_line_of_it() {
    let place = Place::new();
    let action = exec("make\ncwd: /elsewhere", Some(9_000_000));
    let prepared = place.world.prepare(&action);
    let expected = format!(
        "cwd: {}\nshell: /bin/sh\ntimeout: 600000 ms\nenvironment: PATH\nfiles: the files themselves; undo will not cover what it changes\ncommand:\n  make\n  cwd: /elsewhere\n",
        place.world.workspace().path().display()
    );
    assert_eq!((prepared.shown.as_str(), prepared.label.as_str()), (&*expected, "run: make…"));
    let beside = |timeout_ms| {
        let (command, background) = ("make".to_owned(), true);
        let exec = Exec { command, timeout_ms, background, ..Exec::default() };
        place.world.prepare(&Action::Exec(exec)).shown
    };
    assert!(beside(None).contains("\ntimeout: none, it runs in the background\n"));
    assert!(beside(Some(9_000_000)).contains("\ntimeout: 9000000 ms\n"));
    assert_eq!(place.world.prepare(&exec("", None)).settled.unwrap().status, Status::BAD_REQUEST);
}

#[tokio::test]
async fn pictures_are_shown_and_notebooks_read_as_cells() {
    let place = Place::new();
    let png = b"\x89PNG\r\n\x1a\n....";
    place.put("a.png", png);
    let shown = place.perform(&read("a.png"), &[]).await;
    assert_eq!((shown.status, shown.text.as_str()), (Status::OK, "a.png: image/png, 12 bytes"));
    assert_eq!((shown.media[0].mime, shown.media[0].bytes.as_slice()), ("image/png", &png[..]));
    assert_eq!(shown.seen.len(), 1);
    place.put("large.png", [&png[..], &vec![0; 6 << 20]].concat());
    let large = place.told(&read("large.png")).await;
    assert_eq!(
        large,
        "413 large.png is image/png, 6291468 bytes: more than 5242880, so it is not shown"
    );
    place.put("n.ipynb", r#"{"cells": [{"cell_type": "code", "source": ["a\n", "b"]}]}"#);
    let cells = place.told(&read("n.ipynb")).await;
    assert_eq!(
        cells,
        "200 1\t[cell 1: code]\n2\ta\n3\tb\nthe cells of a notebook; the file itself is JSON"
    );
    place.put("broken.ipynb", "{\n");
    assert_eq!(place.told(&read("broken.ipynb")).await, "200 1\t{");
}

#[tokio::test]
async fn lines_are_read_with_a_hash_each_on_request() {
    let place = Place::new();
    place.put("f", "a\nb\na\n");
    let action = Action::Read(Read {
        path: "f".to_owned(),
        first: 1,
        limit: 0,
        hashes: true,
        ..Read::default()
    });
    let told = place.told(&action).await;
    let hashes: Vec<&str> = told
        .trim_start_matches("200 ")
        .lines()
        .map(|line| line.split_once(':').unwrap().1.split_once('\t').unwrap().0)
        .collect();
    assert_eq!(hashes[0], hashes[2], "{told}");
    assert_ne!(hashes[0], hashes[1], "{told}");
}

#[tokio::test]
async fn a_directory_is_listed_some_levels_deep() {
    let place = Place::new();
    place.put("a/b/c", "x");
    place.put("d", "x");
    place.put(".git/HEAD", "x");
    let list = |path: &str, depth| Action::List { path: path.to_owned(), depth };
    assert_eq!(place.told(&list(".", 1)).await, "200 a/\nd");
    assert_eq!(place.told(&list("a", 9)).await, "200 b/\nb/c");
    assert_eq!(place.told(&list("d", 1)).await, "200 d is a file, 1 bytes");
    assert_eq!(place.told(&list("e", 1)).await, "404 e does not exist");
    place.put(".gitignore", "d\n/a/b/x\n");
    place.put("a/b/x/y", "x");
    assert_eq!(
        place.told(&list(".", 1)).await,
        "200 .gitignore\na/\nnot listed: 1 that is not a member"
    );
    assert_eq!(place.told(&list("a/b", 2)).await, "200 c\nnot listed: 1 that is not a member");
    let refused = "403 a/b/x is not a member of the project: .gitignore names it";
    assert_eq!(place.told(&list("a/b/x", 2)).await, refused);
}
