//! Commands that print far more than is kept: bounded memory, both ends, exact count and hash.

use crate::kit::{Told, block_on, script, start, store};
use cairn_runtime::{Pause, Place};
use cairn_store::Store;
use cairn_testkit::{ModelServer, TempHome};
use cairn_types::{Body, Hash, Outcome};
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How much of each end is kept.
const KEPT: usize = 32 << 20;
/// How much memory a flood may cost, in KiB.
const MEMORY: u64 = 16 << 10;

const HOME: &str = "CAIRN_TEST_FLOODED";
const COMMAND: &str = "CAIRN_TEST_COMMAND";
const PRINT: &str = "CAIRN_TEST_PRINT";

#[allow(clippy::disallowed_methods, reason = "tests of two processes agree by the environment")]
fn agreed(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Bytes that look like chance and are the same every time.
fn noise(mut bytes: u64, mut take: impl FnMut(&[u8])) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut block = vec![0; 1 << 16];
    while bytes > 0 {
        for word in block.chunks_exact_mut(8) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            word.copy_from_slice(&state.to_le_bytes());
        }
        let length = bytes.min(block.len() as u64);
        take(&block[..length as usize]);
        bytes -= length;
    }
}

fn lines_of_y(bytes: u64, mut take: impl FnMut(&[u8])) {
    let block = b"y\n".repeat(1 << 15);
    for at in (0..bytes).step_by(block.len()) {
        take(&block[..(bytes - at).min(block.len() as u64) as usize]);
    }
}

/// Not a promise: what a flood's command runs, printing noise to its third handle.
#[test]
fn helper_that_prints() {
    let Some(bytes) = agreed(PRINT) else { return };
    let mut out = std::fs::OpenOptions::new().write(true).open("/dev/fd/3").unwrap();
    noise(bytes.parse().unwrap(), |piece| out.write_all(piece).unwrap());
}

/// The most memory this process ever had, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Not a promise: the process that drives a flood and says what it cost.
#[test]
fn helper_that_drives() {
    let (Some(folder), Some(command)) = (agreed(HOME), agreed(COMMAND)) else { return };
    let folder = PathBuf::from(folder);
    let call = json!({"calls": [{"tool": "bash", "args": {"command": command}}]});
    let model = ModelServer::start(script(&[call, json!({"say": "done"})]));
    let store = store(&folder.join("home"));
    let start = start(&store, &folder.join("workspace"), &model.url(), Arc::new(Told::default()));
    let before = peak();
    block_on(async {
        let place = Place::New { new_session: false, name: None };
        let (mut driver, _commands) = start.take(place, Some("flood")).await.unwrap();
        assert_eq!(driver.drive(None).await.unwrap(), Pause::Idle);
    });
    std::fs::write(folder.join("grown"), (peak() - before).to_string()).unwrap();
}

/// Drives a command in a process of its own; gives the memory it cost and the store.
#[allow(clippy::disallowed_methods, reason = "memory is measured in a process of its own")]
fn drive(temp: &TempHome, command: &str) -> (u64, Store) {
    let done = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "flood::helper_that_drives", "--nocapture"])
        .env(HOME, temp.path())
        .env(COMMAND, command)
        .status()
        .unwrap();
    assert!(done.success());
    let grown = std::fs::read_to_string(temp.path().join("grown")).unwrap();
    (grown.parse().unwrap(), store(&temp.home()))
}

fn outcome(store: &Store) -> Outcome {
    let session = store.sessions().unwrap().remove(0).id;
    let run = store.runs(&session).unwrap().remove(0).id;
    let facts = store.facts(&run, 0).unwrap();
    let mut outcomes = facts.into_iter().filter_map(|fact| match fact.body {
        Body::Outcome(outcome) => Some(outcome),
        _ => None,
    });
    outcomes.next_back().unwrap()
}

/// Checks what is known of an output against the same bytes made here. Gives the memory it cost.
fn check(command: &str, bytes: u64, make: impl Fn(&mut dyn FnMut(&[u8]))) -> u64 {
    let temp = TempHome::new();
    let (grown, store) = drive(&temp, command);
    let outcome = outcome(&store);
    let mut hasher = blake3::Hasher::new();
    let (mut head, mut tail) = (Vec::new(), Vec::new());
    make(&mut |piece| {
        hasher.update(piece);
        head.extend_from_slice(&piece[..piece.len().min(KEPT - head.len())]);
        tail.extend_from_slice(piece);
        if tail.len() > 2 * KEPT {
            tail.drain(..tail.len() - KEPT);
        }
    });
    tail.drain(..tail.len() - KEPT);
    let output = outcome.output.unwrap();
    assert_eq!(outcome.exit, Some(0));
    assert_eq!((output.bytes, output.hash), (bytes, Hash(*hasher.finalize().as_bytes())));
    let kept = store.content(&output.kept.hash).unwrap();
    assert_eq!(kept.len() as u64, output.kept.bytes);
    seam_is_right(&kept, &head, &tail, bytes);
    let told = String::from_utf8_lossy(&store.content(&outcome.result.hash).unwrap()).into_owned();
    assert!(told.contains(" bytes not shown; read log:///1/1/1#output …\n"), "{command}");
    assert!(told.ends_with("\nexit=0"), "{command}");
    assert_eq!(std::fs::read_dir(store.spool()).unwrap().count(), 0);
    assert!(grown <= MEMORY, "{command}: {grown} KiB");
    grown
}

/// What is kept is the head, the line and the tail, but for a character cut at either edge.
fn seam_is_right(kept: &[u8], head: &[u8], tail: &[u8], bytes: u64) {
    let cut = (0..4).find(|cut| {
        let line = &kept[KEPT - cut..];
        head.starts_with(&kept[..KEPT - cut]) && line.starts_with("\n… ".as_bytes())
    });
    let line = &kept[KEPT - cut.expect("the head is not the output's")..];
    let end = line[1..].iter().position(|byte| *byte == b'\n').unwrap() + 2;
    let rest = &line[end..];
    assert!(tail.ends_with(rest) && rest.len() + 4 > KEPT, "the tail is not the output's");
    let missing = bytes - (KEPT - cut.unwrap()) as u64 - rest.len() as u64;
    assert_eq!(line[..end], *format!("\n… {missing} bytes not kept …\n").as_bytes());
}

// keeps: output-kept
#[test]
fn the_model_pages_through_what_it_was_not_told() {
    let read = json!({"path": "log:///1/1/1#output", "first": 150_000, "limit": 2});
    let replies = [
        json!({"calls": [{"tool": "bash", "args": {"command": "seq 1 200000"}}]}),
        json!({"calls": [{"tool": "read", "args": read}]}),
        json!({"say": "done"}),
    ];
    let (temp, model) = (TempHome::new(), ModelServer::start(script(&replies)));
    let store = store(&temp.home());
    let start = start(&store, &temp.workspace(), &model.url(), Arc::new(Told::default()));
    block_on(async {
        let place = Place::New { new_session: false, name: None };
        let (mut driver, _commands) = start.take(place, Some("count")).await.unwrap();
        assert_eq!(driver.drive(None).await.unwrap(), Pause::Idle);
    });
    let told = store.content(&outcome(&store).result.hash).unwrap();
    let page = "150000\t150000\n150001\t150001\nlines 150000-150001 of 200000; next: first=150002";
    assert_eq!(String::from_utf8(told).unwrap(), page);
}

// keeps: output-kept, output-memory, output-told
#[test]
fn a_flood_is_counted_and_hashed_with_both_ends_kept_and_little_memory() {
    let bytes: u64 = agreed("CAIRN_FLOOD").map_or(200_000_000, |size| size.parse().unwrap());
    let of_y = check(&format!("yes | head -c {bytes}"), bytes, |take| lines_of_y(bytes, take));
    let me = std::env::current_exe().unwrap();
    let printing = format!(
        "{PRINT}={bytes} '{}' --exact flood::helper_that_prints --nocapture 3>&1 >/dev/null 2>&1",
        Path::new(&me).display()
    );
    let of_noise = check(&printing, bytes, |take| noise(bytes, take));
    let most = of_y.max(of_noise);
    println!("{bytes} bytes twice, {most} KiB more memory");
}
