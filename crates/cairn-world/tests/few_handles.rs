//! Finding needs few open files, however many directories wait for a slow file before them. Alone in
//! its process, because the limit it sets is the process's.
#![allow(clippy::unwrap_used, reason = "a test's helpers fail by panicking")]

use cairn_types::{Action, Find};
use cairn_world::{Settings, Workspace, World};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs;
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn many_directories_are_looked_into_with_few_open_files() {
    let tree = tempfile::tempdir().unwrap();
    let (mut slow, mut seed) = (String::new(), 1u32);
    for n in 0..1 << 17 {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        slow.push(if n % 500 == 499 { '\n' } else { ['a', 'b'][(seed >> 31) as usize] });
    }
    fs::write(tree.path().join("0"), slow).unwrap();
    for n in 0..1_200 {
        fs::create_dir(tree.path().join(format!("d{n}"))).unwrap();
        fs::write(tree.path().join(format!("d{n}/f")), "hit\n").unwrap();
    }
    let settings = Settings::new("/bin/sh".into(), Vec::new());
    let world = World::new(Workspace::open(tree.path()).unwrap(), settings);
    let text = Some("/a[ab]{60}[^ab]|hit/".to_owned());
    let action = Action::Find(Find { text, ..Find::default() });
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: Some(64), maximum }).unwrap();
    let done = world.look(&action, "", &CancellationToken::new()).await;
    assert!(done.text.starts_with("d0/f\n1:\thit\n\nd1/f\n"), "{}", done.text);
    let end = "\n\n1100 more in 1100 files; next: skip=100";
    assert!(done.text.ends_with(end) && !done.text.contains("not readable"), "{}", done.text);
}
