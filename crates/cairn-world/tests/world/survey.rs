//! Looking at what changed on disk: everything that did is noticed, once, whatever its times say, and it costs
//! what changed.

use cairn_world::{Noticed, Scanned, Settings, Survey, Workspace, World};
use proptest::prelude::*;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

struct Tree {
    _holder: tempfile::TempDir,
    root: PathBuf,
    /// Where the survey is kept.
    kept: PathBuf,
    world: World,
    survey: Survey,
}

fn world(root: &Path) -> World {
    let settings = Settings::new("/bin/sh".into(), Vec::new());
    World::new(Workspace::open(root).unwrap(), settings)
}

impl Tree {
    fn new() -> Tree {
        let holder = tempfile::tempdir().unwrap();
        let (root, kept) = (holder.path().join("root"), holder.path().join("kept"));
        fs::create_dir(&root).unwrap();
        let world = world(&root);
        Tree { _holder: holder, root, kept, world, survey: Survey::default() }
    }

    /// Opens the root anew.
    fn open(&mut self) {
        self.world = world(&self.root);
    }

    fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// As another process would, which reads what this one left.
    fn scan(&mut self) -> Scanned {
        self.keep();
        self.start()
    }

    /// Leaves what is known to another process.
    fn keep(&self) {
        if !self.survey.is_empty() {
            let beside = self.kept.with_extension("new");
            fs::write(&beside, self.survey.pack()).unwrap();
            fs::rename(&beside, &self.kept).unwrap();
        }
    }

    /// What another process finds that begins now.
    fn start(&mut self) -> Scanned {
        self.survey = match fs::File::open(&self.kept) {
            Ok(file) => Survey::read(file).unwrap(),
            Err(_) => Survey::default(),
        };
        self.world.scan(&mut self.survey)
    }

    fn noticed(&mut self) -> Vec<String> {
        self.scan().noticed.iter().map(told).collect()
    }

    /// Long enough that times tell before from after.
    fn settle(&mut self) {
        std::thread::sleep(Duration::from_millis(40));
        assert_eq!(self.noticed(), Vec::<String>::new());
    }
}

fn told(noticed: &Noticed) -> String {
    let kind = match (&noticed.before, &noticed.after) {
        (None, _) => "+",
        (_, None) => "-",
        _ => "~",
    };
    format!("{kind}{} {:?}", noticed.path, noticed.spans)
}

/// Sets back a file's modification time to what it was.
fn same_time(path: &Path, write: impl FnOnce()) {
    let before = fs::metadata(path).unwrap().modified().unwrap();
    write();
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(before).unwrap();
}

// keeps: noticed
#[test]
fn whatever_changed_is_noticed_once_with_the_lines_that_are_new() {
    let mut tree = Tree::new();
    tree.put(".git/HEAD", "ref: refs/heads/main\n");
    tree.put(".gitignore", "out/\n");
    tree.put("a.txt", "one\ntwo\nthree\n");
    tree.put("b/c.txt", "c\n");
    tree.put("d.bin", b"\0\x01");
    tree.put("out/x", "ignored\n");
    let first = tree.noticed();
    assert_eq!(
        first,
        ["+.gitignore [(1, 1)]", "+a.txt [(1, 3)]", "+b/c.txt [(1, 1)]", "+d.bin []"]
    );
    tree.settle();
    let root = tree.root.clone();

    tree.put("a.txt", "one\nTWO\nthree\n");
    assert_eq!(tree.noticed(), ["~a.txt [(2, 2)]"], "the same size");
    tree.settle();

    let a = root.join("a.txt");
    same_time(&a, || fs::write(&a, "one\ntwo\nTHREE\n").unwrap());
    assert_eq!(tree.noticed(), ["~a.txt [(2, 3)]"], "the same size and time");
    tree.settle();

    fs::write(root.join("new"), "one\ntwo\nthree\n").unwrap();
    let (inode, time) =
        (fs::metadata(&a).unwrap().ino(), fs::metadata(&a).unwrap().modified().unwrap());
    fs::File::options().write(true).open(root.join("new")).unwrap().set_modified(time).unwrap();
    fs::rename(root.join("new"), &a).unwrap();
    assert_ne!(fs::metadata(&a).unwrap().ino(), inode);
    assert_eq!(tree.noticed(), ["~a.txt [(3, 3)]"], "another file renamed over it");
    tree.settle();

    fs::write(&a, "one\ntwo\nthree\n").unwrap();
    assert_eq!(tree.noticed(), Vec::<String>::new(), "written anew with the same content");
    fs::set_permissions(&a, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(tree.noticed(), ["~a.txt []"], "another mode");
    fs::rename(root.join("b"), root.join("e")).unwrap();
    fs::remove_file(root.join("d.bin")).unwrap();
    tree.put("out/y", "ignored\n");
    let moved = tree.noticed();
    assert_eq!(moved, ["-b/c.txt []", "-d.bin []", "+e/c.txt [(1, 1)]"]);
    tree.settle();
}

// keeps: noticed
#[test]
fn an_edit_right_after_a_look_within_the_same_tick_is_noticed_by_the_next() {
    let mut tree = Tree::new();
    let path = tree.root.join("f");
    for n in 0..200 {
        fs::write(&path, format!("{n:04}\n")).unwrap();
        tree.scan();
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, format!("{:04}\n", 9999 - n)).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        let seen = tree.scan();
        assert_eq!(seen.noticed.len(), 1, "round {n}");
    }
}

// keeps: noticed
#[test]
fn an_edit_during_a_look_is_noticed_by_it_or_by_the_next() {
    let mut tree = Tree::new();
    for n in 0..400 {
        tree.put(&format!("d{}/f{n}", n % 7), format!("{n}\n"));
    }
    tree.scan();
    let root = tree.root.clone();
    let writer = std::thread::spawn(move || {
        for n in 0..400 {
            fs::write(root.join(format!("d{}/f{n}", n % 7)), format!("{}\n", 999 - n)).unwrap();
        }
    });
    let mut last = std::collections::BTreeMap::new();
    let mut take = |seen: Scanned| {
        for noticed in seen.noticed {
            last.insert(noticed.path, noticed.content.unwrap());
        }
    };
    while !writer.is_finished() {
        take(tree.scan());
    }
    writer.join().unwrap();
    take(tree.scan());
    for n in 0..400 {
        let path = format!("d{}/f{n}", n % 7);
        assert_eq!(last.get(&path), Some(&format!("{}\n", 999 - n).into_bytes()), "{path}");
    }
}

/// Files to begin with, and files to end with, which are held against each other.
fn told_by_comparing(before: &BTreeMap<String, u8>, after: &BTreeMap<String, u8>) -> Vec<String> {
    let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let told = paths.into_iter().filter_map(|path| match (before.get(path), after.get(path)) {
        (None, Some(_)) => Some(format!("+{path} [(1, 1)]")),
        (Some(_), None) => Some(format!("-{path} []")),
        (Some(one), Some(other)) if one != other => Some(format!("~{path} [(1, 1)]")),
        _ => None,
    });
    told.collect()
}

/// Paths that sort in other ways than the names in them do, differ in case or in how a letter is made, and
/// do not get in each other's way.
fn any_files() -> impl Strategy<Value = BTreeMap<String, u8>> {
    let directory = "(a|A|a-|a\\.b|a b|é|e\u{301}|日|😀)";
    let file = "(f|F|a\\.c|a-c|z|éc|日c|c😀|\u{10FFFD}c|\\*c)";
    let path = format!("({directory}/){{0,3}}{file}");
    let path = prop::string::string_regex(&path).unwrap();
    prop::collection::btree_map(path, 0..3u8, 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    // keeps: noticed
    #[test]
    fn whatever_the_paths_are_what_differs_is_noticed_and_nothing_else(
        before in any_files(),
        after in any_files(),
    ) {
        let mut tree = Tree::new();
        let put = |tree: &Tree, files: &BTreeMap<String, u8>| {
            files.iter().for_each(|(path, byte)| tree.put(path, [b'0' + byte, b'\n']));
        };
        put(&tree, &before);
        prop_assert_eq!(tree.noticed(), told_by_comparing(&BTreeMap::new(), &before));
        fs::remove_dir_all(&tree.root).unwrap();
        fs::create_dir(&tree.root).unwrap();
        tree.open();
        put(&tree, &after);
        prop_assert_eq!(tree.noticed(), told_by_comparing(&before, &after));
    }
}

// keeps: noticed
#[test]
fn a_large_directory_is_held_against_what_it_was_name_by_name() {
    let mut tree = Tree::new();
    let path = |n: usize| match n % 7 {
        0 => format!("flat/f{n:04}/inner"),
        _ => format!("flat/f{n:04}"),
    };
    let all = |keep: &dyn Fn(usize) -> bool, odd: u8| -> BTreeMap<String, u8> {
        (0..1_000)
            .filter(|n| keep(*n))
            .map(|n| (path(n), if n % 11 == 0 { odd } else { 0 }))
            .collect()
    };
    let before = all(&|n| n % 3 != 0, 0);
    let after = all(&|n| n % 5 != 0, 1);
    before.iter().for_each(|(path, byte)| tree.put(path, [b'0' + byte, b'\n']));
    assert_eq!(tree.noticed(), told_by_comparing(&BTreeMap::new(), &before));
    for gone in before.keys().filter(|path| !after.contains_key(*path)) {
        fs::remove_file(tree.root.join(gone)).unwrap();
    }
    after.iter().for_each(|(path, byte)| tree.put(path, [b'0' + byte, b'\n']));
    assert_eq!(tree.noticed(), told_by_comparing(&before, &after));
    tree.settle();
}

// keeps: noticed
#[test]
fn what_becomes_a_link_or_a_directory_is_gone_as_a_file() {
    let mut tree = Tree::new();
    for path in ["a", "b/c", "d/e", "f"] {
        tree.put(path, "x\n");
    }
    tree.noticed();
    let at = |path: &str| tree.root.join(path);
    fs::remove_file(at("a")).unwrap();
    symlink("f", at("a")).unwrap();
    fs::rename(at("b"), at("moved")).unwrap();
    symlink("moved", at("b")).unwrap();
    fs::remove_dir_all(at("d")).unwrap();
    fs::write(at("d"), "x\n").unwrap();
    fs::remove_file(at("f")).unwrap();
    fs::create_dir(at("f")).unwrap();
    fs::write(at("f/g"), "x\n").unwrap();
    fs::write(at(".GIT"), "x\n").unwrap();
    let told = tree.noticed();
    let expected = ["-a []", "-b/c []", "+d [(1, 1)]", "-d/e []", "-f []", "+f/g [(1, 1)]"];
    assert_eq!(told[..6], expected);
    assert_eq!(told[6..], ["+moved/c [(1, 1)]"]);
}

// keeps: noticed
#[test]
fn more_directories_than_can_be_open_at_once_are_looked_at() {
    let mut tree = Tree::new();
    for n in 0..1_500 {
        tree.put(&format!("d{n}/e/f"), "x\n");
    }
    let limit = getrlimit(Resource::Nofile);
    // As many as there are where nobody asked for more.
    setrlimit(Resource::Nofile, Rlimit { current: Some(1_024), ..limit }).unwrap();
    let (first, again) = (tree.scan(), tree.scan());
    setrlimit(Resource::Nofile, limit).unwrap();
    assert_eq!(first.files, 1_500);
    assert_eq!((again.files, again.noticed), (1_500, Vec::new()));
}

/// Does something, and remembers the shortest time that it ever took, since others work beside it.
fn time<T>(best: &mut Duration, work: impl FnOnce() -> T) -> T {
    let begun = Instant::now();
    let done = work();
    *best = (*best).min(begun.elapsed());
    done
}

/// What a look cannot go below: lists each directory, and asks for each file's stat, on all cores.
fn floor(root: &Path) {
    let directories: Vec<PathBuf> =
        fs::read_dir(root).unwrap().map(|one| one.unwrap().path()).collect();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = || {
        let take = || next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        while let Some(directory) = directories.get(take()) {
            for file in fs::read_dir(directory).unwrap() {
                std::hint::black_box(file.unwrap().metadata().unwrap());
            }
        }
    };
    std::thread::scope(|scope| {
        let cores = std::thread::available_parallelism().unwrap().get();
        (1..cores).for_each(|_| drop(scope.spawn(work)));
        work();
    });
}

// keeps: noticed-cheaply
#[test]
fn a_look_reads_what_changed_and_nothing_else() {
    let mut tree = Tree::new();
    let line = "a line of an ordinary length in a file\n";
    let paths: Vec<String> = (0..5_000).map(|n| format!("src/d{}/f{n}.rs", n % 100)).collect();
    for (n, path) in paths.iter().enumerate() {
        tree.put(path, line.repeat(50 + n % 200));
    }
    std::thread::sleep(Duration::from_millis(40));
    let mut all = 0;
    let [mut reading, mut looking, mut keeping] = [Duration::MAX; 3];
    let [mut unpacking, mut starting, mut turning, mut least] = [Duration::MAX; 4];
    for _ in 0..7 {
        let read = |path| fs::read(tree.root.join(path)).unwrap().len();
        all = time(&mut reading, || paths.iter().map(read).sum());
        tree.survey = Survey::default();
        let first = time(&mut looking, || tree.world.scan(&mut tree.survey));
        assert_eq!((first.files, first.asked, first.read), (5_000, 0, 5_000));
        let _ = fs::remove_file(&tree.kept);
        time(&mut keeping, || tree.keep());
        let second = time(&mut starting, || tree.start());
        assert_eq!((second.files, second.asked, second.read), (5_000, 5_000, 0));
        assert_eq!(second.noticed, []);
        let kept = fs::File::open(&tree.kept).unwrap();
        time(&mut unpacking, || Survey::read(kept)).unwrap();
        let turn = time(&mut turning, || tree.world.scan(&mut tree.survey));
        assert_eq!((turn.asked, turn.read), (5_000, 0));
        time(&mut least, || floor(&tree.root.join("src")));
    }
    tree.put("src/d3/f3.rs", "changed\n");
    let one = tree.scan();
    assert_eq!((one.asked, one.read, one.noticed.len()), (5_000, 1, 1));
    let first = (looking + keeping).as_secs_f64();
    let percent = |part: Duration| 100.0 * part.as_secs_f64() / first;
    println!(
        "{} MiB: read once {reading:?}; first look {looking:?}, {:.2} times that; kept in {keeping:?}",
        all >> 20,
        looking.as_secs_f64() / reading.as_secs_f64(),
    );
    println!(
        "second start {starting:?}, {:.1} % of the first, {unpacking:?} to read what was kept; floor, 5,000 \
         stats alone, {least:?}, {:.1} %; a turn's look {turning:?}",
        percent(starting),
        percent(least),
    );
}
