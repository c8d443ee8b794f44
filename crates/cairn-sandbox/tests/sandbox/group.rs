//! What bounds commands together: the memory they have.

use crate::confined::{Ground, finish};
use cairn_sandbox::{Access, End, Finished, Level};
use cairn_types::SandboxLayer;
use std::path::{Path, PathBuf};

/// So much memory commands may have here.
const MOST: u64 = 192 << 20;

fn takes(mebibytes: u32) -> String {
    format!("python3 -c 'x = bytearray(b\"x\" * ({mebibytes} << 20)); print(len(x))'")
}

/// Whether memory is bounded on this machine.
#[allow(clippy::print_stderr, reason = "what cannot be shown here is said")]
fn is_bounded(finished: &Finished) -> bool {
    let is_bounded = finished.layers.contains(&SandboxLayer::MemoryCap);
    if !is_bounded {
        eprintln!("not shown: no group can be made here");
    }
    is_bounded
}

// keeps: memory
#[tokio::test]
async fn a_command_that_takes_too_much_memory_is_ended_and_others_go_on() {
    let ground = Ground::bounded(&std::env::temp_dir(), Level::Workspace, MOST);
    let run = async |command: String| finish(ground.spec(&command, Access::Write)).await.unwrap();
    let little = run(takes(16)).await;
    assert_eq!((little.end, little.starved), (End::Exited(0), 0));
    if !is_bounded(&little) {
        return;
    }
    let much = run(takes(400)).await;
    assert_eq!((much.end, much.starved), (End::Exited(137), 1));
    // A shell that outlives what it started tells so; the group is there for the next.
    let shell = run(format!("{}; echo $?", takes(400))).await;
    assert_eq!((shell.end, shell.starved), (End::Exited(0), 1));
    assert_eq!(String::from_utf8_lossy(&shell.head).lines().last(), Some("137"));
    let shared = run("head -c 400m /dev/zero > /dev/shm/much".to_owned()).await;
    assert_ne!(shared.end, End::Exited(0));
    let again = run(takes(16)).await;
    assert_eq!((again.end, again.starved), (End::Exited(0), 0));
}

/// The directory of the group for memory that `/proc/self/cgroup` names.
fn directory(groups: &str) -> PathBuf {
    let found = groups.lines().find_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        let place = match controllers {
            "" => Path::new("/sys/fs/cgroup"),
            "memory" => Path::new("/sys/fs/cgroup/memory"),
            _ => return None,
        };
        path.contains("/cairn-").then(|| place.join(path.trim_start_matches('/')))
    });
    found.unwrap()
}

// keeps: memory
#[tokio::test]
async fn a_group_is_gone_with_the_sandbox_it_was_made_for() {
    let ground = Ground::bounded(&std::env::temp_dir(), Level::Strict, MOST);
    let asked = finish(ground.spec("cat /proc/self/cgroup", Access::Write)).await.unwrap();
    if !is_bounded(&asked) {
        return;
    }
    let made = directory(&String::from_utf8_lossy(&asked.head));
    assert!(made.exists(), "{made:?}");
    drop(ground);
    assert!(!made.exists(), "{made:?}");
}

// keeps: memory
#[tokio::test]
async fn a_group_that_somebody_removed_is_made_again() {
    let ground = Ground::bounded(&std::env::temp_dir(), Level::Workspace, MOST);
    let run = async || finish(ground.spec("cat /proc/self/cgroup", Access::Write)).await.unwrap();
    let first = run().await;
    if !is_bounded(&first) {
        return;
    }
    let made = directory(&String::from_utf8_lossy(&first.head));
    std::fs::remove_dir(&made).unwrap();
    let second = run().await;
    assert!(is_bounded(&second));
    let again = directory(&String::from_utf8_lossy(&second.head));
    assert!(again != made && again.exists(), "{again:?}");
}
