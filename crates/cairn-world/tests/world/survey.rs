//! Looking at what changed on disk: everything that did is noticed, once, whatever its times say, and it costs
//! what changed.

use cairn_world::{Noticed, Scanned, Settings, Survey, Workspace, World};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

struct Tree {
    _holder: tempfile::TempDir,
    root: PathBuf,
    world: World,
    survey: Survey,
}

impl Tree {
    fn new() -> Tree {
        let holder = tempfile::tempdir().unwrap();
        let root = holder.path().to_owned();
        let settings = Settings::new("/bin/sh".into(), Vec::new());
        let world = World::new(Workspace::open(&root).unwrap(), settings);
        Tree { _holder: holder, root, world, survey: Survey::default() }
    }

    fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn scan(&mut self) -> Scanned {
        // As another process would, which reads what this one left.
        self.survey = Survey::unpack(&self.survey.pack()).unwrap();
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

// keeps: noticed-cheaply
#[test]
fn a_look_reads_what_changed_and_nothing_else() {
    let mut tree = Tree::new();
    let line = "a line of an ordinary length in a file\n";
    for n in 0..5_000 {
        tree.put(&format!("src/d{}/f{n}.rs", n % 100), line.repeat(50 + n % 200));
    }
    std::thread::sleep(Duration::from_millis(40));
    let begun = Instant::now();
    let all: u64 = (0..5_000)
        .map(|n| {
            fs::read(tree.root.join(format!("src/d{}/f{n}.rs", n % 100))).unwrap().len() as u64
        })
        .sum();
    let reading = begun.elapsed();
    let begun = Instant::now();
    let first = tree.scan();
    let first_took = begun.elapsed();
    assert_eq!((first.files, first.read), (5_000, 5_000));
    let begun = Instant::now();
    let second = tree.scan();
    let second_took = begun.elapsed();
    assert_eq!((second.files, second.read, second.noticed.len()), (5_000, 0, 0));
    let begun = Instant::now();
    let third = tree.world.scan(&mut tree.survey);
    let third_took = begun.elapsed();
    assert_eq!(third.read, 0);
    tree.put("src/d3/f3.rs", "changed\n");
    let one = tree.scan();
    assert_eq!((one.read, one.noticed.len()), (1, 1));
    println!(
        "{} MiB: read once {reading:?}, first look {first_took:?}, second start {second_took:?}, a turn's look {third_took:?}",
        all >> 20
    );
}
