//! What commands share: one private layer over each cache of a home, and a view of the machine that follows it.

use crate::confined::{Ground, finish};
use cairn_sandbox::{Access, End, Finished, Level};
use cairn_types::SandboxLayer;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

const CACHE: &str = "home/.npm";

fn ground() -> Ground {
    let ground = Ground::new(Level::Workspace);
    fs::create_dir(ground.path(CACHE)).unwrap();
    fs::write(ground.path(CACHE).join("known"), "known\n").unwrap();
    ground
}

// keeps: confined
#[tokio::test]
async fn commands_that_run_at_once_share_caches_and_leave_the_machines_as_they_are() {
    let ground = ground();
    let waits = "until [ -e ~/.npm/told ]; do sleep 0.01; done; cat ~/.npm/known ~/.npm/told";
    let tells = "echo told > ~/.npm/told.new && mv ~/.npm/told.new ~/.npm/told";
    let (first, second) = tokio::join!(
        finish(ground.spec(waits, Access::Write)),
        finish(ground.spec(&format!("sleep 0.2; {tells}"), Access::Write)),
    );
    let (first, second) = (first.unwrap(), second.unwrap());
    assert_eq!((first.end, second.end), (End::Exited(0), End::Exited(0)));
    let third = finish(ground.spec("rm ~/.npm/known; ls ~/.npm", Access::Write)).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&third.head), "told\n");
    let left: Vec<_> = fs::read_dir(ground.path(CACHE)).unwrap().flatten().collect();
    assert_eq!(left.len(), 1);
    assert_eq!(fs::read_to_string(ground.path(CACHE).join("known")).unwrap(), "known\n");
}

/// Not a promise: what the test below runs where it may mount.
#[tokio::test]
async fn helper_that_mounts() {
    if std::env::var("CAIRN_TEST_MOUNTS").is_err() {
        return;
    }
    let ground = Ground::new(Level::Workspace);
    let write = |n: u32| ground.spec(&format!("echo {n} > written"), Access::Write);
    assert_eq!(finish(write(1)).await.unwrap().end, End::Exited(0));
    let work = ground.path("work");
    let done = Command::new("mount").args(["-t", "tmpfs", "tmpfs"]).arg(&work).status().unwrap();
    assert!(done.success());
    assert_eq!(finish(write(2)).await.unwrap().end, End::Exited(0));
    assert_eq!(fs::read_to_string(work.join("written")).unwrap(), "2\n");
    assert!(Command::new("umount").arg(&work).status().unwrap().success());
    assert_eq!(fs::read_to_string(work.join("written")).unwrap(), "1\n");
    assert_eq!(finish(write(3)).await.unwrap().end, End::Exited(0));
    assert_eq!(fs::read_to_string(work.join("written")).unwrap(), "3\n");
}

// keeps: confined
#[test]
fn what_is_mounted_between_two_commands_is_what_the_second_works_on() {
    let mut helper = Command::new("unshare");
    helper.args(["--user", "--map-root-user", "--mount"]).arg(std::env::current_exe().unwrap());
    helper.args(["--exact", "ground::helper_that_mounts", "--nocapture"]);
    let done = helper.env("CAIRN_TEST_MOUNTS", "1").output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(String::from_utf8_lossy(&done.stdout).contains("1 passed"));
}

// keeps: confined
#[test]
fn sandboxes_that_are_made_at_once_do_not_wait_for_each_other() {
    let makers: Vec<_> = (0..12)
        .map(|n| {
            std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                let ground = ground();
                let spec = ground.spec(&format!("echo {n}"), Access::Write);
                runtime.unwrap().block_on(finish(spec)).unwrap().head
            })
        })
        .collect();
    for (n, maker) in makers.into_iter().enumerate() {
        assert_eq!(maker.join().unwrap(), format!("{n}\n").into_bytes());
    }
}

// keeps: confined
#[tokio::test]
async fn what_was_changed_in_a_cache_of_the_machine_is_seen_by_the_next_command() {
    let ground = ground();
    let cache = ground.path(CACHE);
    fs::create_dir(cache.join("in")).unwrap();
    let look = "cat ~/.npm/known ~/.npm/new ~/.npm/in/two 2>&1 | sed 's/.*No such/No such/'; echo x > ~/.npm/own";
    let run = async || finish(ground.spec(look, Access::Write)).await.unwrap().head;
    let none = "No such file or directory\n";
    assert_eq!(String::from_utf8_lossy(&run().await), format!("known\n{none}{none}"));
    fs::write(cache.join("new"), "new\n").unwrap();
    fs::write(cache.join("in/two"), "two\n").unwrap();
    fs::write(cache.join("replaced"), "other\n").unwrap();
    fs::rename(cache.join("replaced"), cache.join("known")).unwrap();
    assert_eq!(String::from_utf8_lossy(&run().await), "other\nnew\ntwo\n");
    let kept = finish(ground.spec("cat ~/.npm/own", Access::Write)).await.unwrap().head;
    assert_eq!((&*kept, cache.join("own").exists()), (&b"x\n"[..], false));
}

/// Not a promise: what the test below runs as nobody.
#[tokio::test]
async fn helper_that_starts_many() {
    let Ok(place) = std::env::var("CAIRN_TEST_MANY") else { return };
    let ground = Ground::within(Path::new(&place), Level::Workspace);
    let many = |n: u32| {
        let command = format!("i=0; while [ $i -lt {n} ]; do sleep 2 & i=$((i+1)); done; echo {n}");
        finish(ground.spec(&command, Access::Write))
    };
    let (first, second) = tokio::join!(many(300), many(300));
    let (first, second) = (first.unwrap(), second.unwrap());
    if first.layers.contains(&SandboxLayer::ProcessCap) {
        let printed = |done: &Finished| String::from_utf8_lossy(&done.head).into_owned();
        assert_eq!((&*printed(&first), &*printed(&second)), ("300\n", "300\n"));
    }
}

// keeps: confined
#[test]
fn processes_of_one_command_are_not_counted_for_another() {
    let place = tempfile::tempdir().unwrap();
    let program = place.path().join("program");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let _ = std::os::unix::fs::chown(place.path(), Some(65534), Some(65534));
    let mut helper = Command::new(program);
    helper.args(["--exact", "ground::helper_that_starts_many", "--nocapture"]);
    helper.env("CAIRN_TEST_MANY", place.path()).env("TMPDIR", place.path());
    if rustix::process::geteuid().is_root() {
        helper.uid(65534).gid(65534);
    }
    let done = helper.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(String::from_utf8_lossy(&done.stdout).contains("1 passed"));
}
