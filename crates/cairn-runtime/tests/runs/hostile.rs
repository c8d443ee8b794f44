//! Expressions and documents that are made to take time or memory: each op on them ends, in a process of its
//! own that stays small, with a row that says what it came to.

use crate::kit::{block_on, store};
use cairn_runtime::Client;
use cairn_testkit::{TempHome, cases};
use cairn_types::{By, Policy};
use cairn_world::{Settings, Workspace, World};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The longest text that an expression is tried on.
const LONG: usize = 16 << 20;
/// How much memory the ops on such a text may take, in MiB: it is held a few times over.
const OF_LONG: u64 = 256;
/// How much those on a file that is too large to be held may take.
const OF_LINE: u64 = 48;
/// The memory that searches of a directory with this many files may take: 1 KiB for each file, and the base of any search.
const FILES: u32 = 20_000;
const OF_FILES: u64 = 20 + (FILES as u64 >> 10);

const FOLDER: &str = "CAIRN_TEST_HOSTILE";
const WHICH: &str = "CAIRN_TEST_WHICH";

/// Expressions whose counts, alternatives or repeats make engines slow or large.
const EXPRESSIONS: [&str; 12] = [
    r"/(a+)+$/",
    r"/^(([ab])+.)+$/",
    r"/(a|a)*b{2}c/",
    r"/(a|b)*a(a|b){20}c/",
    r"/(?:[ab]{1,100}){1,90}c/",
    r"/[ab]{5000}c/",
    r"/((((a{1,20}){1,20}){1,20}){1,20})x/",
    r"/(.*)(.*)(.*)(.*)(.*)[^ab]$/",
    r"/(a+)+\1c/",
    r"/(?=(a+)+c)./",
    r"/(?:\w{1,50}\W){1,50}c/",
    "$[?match(@, '(a|b)*a(a|b){200}')]",
];

/// The ops of one kind: tool, arguments, and the statuses that they may have.
fn ops(which: &str) -> Vec<(&'static str, Value, &'static [u16])> {
    // Found or not, bad, too much, or as it stands.
    const ANY: &[u16] = &[200, 203, 204, 400, 422];
    match which {
        "expressions" => EXPRESSIONS
            .iter()
            .flat_map(|expression| {
                [
                    ("find", json!({"text": expression}), ANY),
                    ("find", json!({"text": expression, "under": "known:///"}), ANY),
                    ("read", json!({"path": "long.json", "matching": expression}), ANY),
                    ("read", json!({"path": "known:///long", "matching": expression}), ANY),
                ]
            })
            .collect(),
        "documents" => ["deep.json", "bomb.yaml"]
            .iter()
            .flat_map(|name| {
                let entry = format!("known:///{name}");
                [
                    ("copy", json!({"from": name, "to": entry}), &[201][..]),
                    ("read", json!({"path": name, "matching": "$..lol"}), ANY),
                    ("read", json!({"path": entry, "matching": "$..*"}), ANY),
                    ("read", json!({"path": entry, "scope": "1"}), ANY),
                    ("write", json!({"path": entry, "scope": "1", "content": "[1]"}), ANY),
                    ("write", json!({"path": name, "scope": "1", "content": "[1]"}), ANY),
                    ("find", json!({"under": "known:///", "text": "$..*"}), ANY),
                ]
            })
            .collect(),
        "line" => vec![
            ("read", json!({"path": "line.md"}), &[200]),
            ("read", json!({"path": "line.md", "matching": "/(a+)+$/"}), &[413]),
            ("read", json!({"path": "line.md", "scope": "1"}), &[413]),
            ("find", json!({"text": "b"}), &[204]),
            ("edit", json!({"path": "line.md", "old": "a", "new": "b"}), &[413]),
            ("write", json!({"path": "line.md", "scope": "1", "content": "b"}), &[413]),
            ("copy", json!({"from": "line.md", "to": "known:///line"}), &[413]),
            ("move", json!({"from": "line.md", "to": "known:///line"}), &[413]),
            ("copy", json!({"from": "line.md", "to": "other.md"}), &[413]),
        ],
        "files" => vec![
            ("find", json!({"text": "nowhere"}), &[204]),
            ("find", json!({"text": "a", "glob": "*.md", "skip": 9000}), &[200]),
            ("find", json!({"glob": "**/19999.md"}), &[200]),
            ("list", json!({"path": "many"}), &[200]),
        ],
        other => panic!("there is nothing hostile called {other}"),
    }
}

/// Two letters in no order, as JSON.
fn noise() -> String {
    let mut state = 1u32;
    let mut text = String::with_capacity(LONG);
    text.push_str("[\"");
    while text.len() < LONG - 2 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        text.push(if state >> 31 == 0 { 'a' } else { 'b' });
    }
    text + "\"]"
}

/// Lists of lists of lists, by names that stand for them.
fn bomb() -> String {
    let line = |n: u32| format!("l{n}: &l{n} [{}]\n", vec![format!("*l{}", n - 1); 10].join(", "));
    let lines: String = (1..=20).map(line).collect();
    format!("l0: &l0 [lol, lol]\n{lines}")
}

/// What is hostile stands there before anything is measured.
fn prepare(temp: &TempHome, which: &str) {
    match which {
        "expressions" => temp.write("long.json", noise()),
        "documents" => {
            let depth = 100_000;
            temp.write("deep.json", format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
            temp.write("bomb.yaml", bomb());
        }
        "files" => {
            let files = cases("CAIRN_FILES", FILES);
            (0..files).for_each(|n| temp.write(&format!("many/{n}.md"), "a\n"));
        }
        _ => {
            let mut file = fs::File::create(temp.workspace().join("line.md")).unwrap();
            let block = vec![b'a'; 1 << 20];
            (0..cases("CAIRN_LINE_MIB", 65)).for_each(|_| file.write_all(&block).unwrap());
        }
    }
}

/// The most memory this process ever had, in MiB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse::<u64>().unwrap() >> 10
}

#[allow(clippy::disallowed_methods, reason = "tests of two processes agree by the environment")]
fn agreed(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Not a promise: the process that does the ops and says what they took.
#[test]
fn helper_that_asks() {
    let (Some(folder), Some(which)) = (agreed(FOLDER), agreed(WHICH)) else { return };
    let folder = PathBuf::from(folder);
    let root = folder.join("workspace");
    let settings = Settings::new("/bin/sh".into(), Vec::new());
    let world = Arc::new(World::new(Workspace::open(&root).unwrap(), settings));
    let before = peak();
    let mut wrong = Vec::new();
    block_on(async {
        let store = store(&folder.join("home"));
        let mut client = Client::here(store, world, &root, Policy::default()).await.unwrap();
        if which == "expressions" {
            let args = json!({"path": "known:///long", "content": noise()}).to_string();
            client.op("write", &args, By::Person("ada".to_owned())).await.unwrap();
        }
        for (tool, args, may) in ops(&which) {
            let row =
                client.op(tool, &args.to_string(), By::Person("ada".to_owned())).await.unwrap();
            let told: String = row.text.chars().take(200).collect();
            println!("{tool} {args}: {} {told}", row.status);
            if !may.contains(&row.status.0) {
                wrong.push(format!("{tool} {args}: {} {told}", row.status));
            }
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    fs::write(folder.join("grown"), (peak() - before).to_string()).unwrap();
}

/// Does the ops of one kind; how much memory they took, in MiB.
#[allow(clippy::disallowed_methods, reason = "memory is measured in a process of its own")]
fn check(which: &str, most: u64) -> u64 {
    let temp = TempHome::new();
    prepare(&temp, which);
    let helper = |exe: &Path| {
        std::process::Command::new(exe)
            .args(["--exact", "hostile::helper_that_asks", "--nocapture"])
            .env(FOLDER, temp.path())
            .env(WHICH, which)
            .output()
            .unwrap()
    };
    let done = helper(&std::env::current_exe().unwrap());
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let grown = fs::read_to_string(temp.path().join("grown")).unwrap().parse().unwrap();
    assert!(grown <= most, "{which}: {grown} MiB");
    grown
}

// keeps: hostile-ops
#[test]
fn hostile_expressions_end_with_a_row_in_bounded_memory() {
    println!("expressions took {} MiB", check("expressions", OF_LONG));
}

// keeps: hostile-ops
#[test]
fn hostile_documents_end_with_a_row_in_bounded_memory() {
    println!("documents took {} MiB", check("documents", OF_LONG));
}

// keeps: find-memory
#[test]
fn a_search_of_a_directory_takes_memory_linear_in_its_files() {
    let files = cases("CAIRN_FILES", FILES);
    let grown = check("files", OF_FILES.max(u64::from(files) >> 10));
    println!("a directory of {files} files, {grown} MiB more memory");
}

// keeps: hostile-ops
#[test]
fn a_line_without_end_is_never_held() {
    let grown = check("line", OF_LINE);
    println!("a line of {} MiB, {grown} MiB more memory", cases("CAIRN_LINE_MIB", 65));
}
