//! The ids of a user namespace: those of its maker stay what they are. Root, where it may, keeps all of them,
//! so that files of others stay theirs.

use libc::c_long;
use std::fs;
use std::io;

/// Maps that leave only the caller's own user and group as they are.
pub(crate) fn own() -> (String, String) {
    let map = |id: u32| format!("{id} {id} 1\n");
    (map(rustix::process::geteuid().as_raw()), map(rustix::process::getegid().as_raw()))
}

/// Maps the ids of a process's namespace, from outside.
pub(crate) fn map(pid: c_long) -> io::Result<()> {
    if rustix::process::geteuid().is_root() && map_all(pid).is_ok() {
        return Ok(());
    }
    let (users, groups) = own();
    fs::write(format!("/proc/{pid}/setgroups"), "deny")?;
    fs::write(format!("/proc/{pid}/uid_map"), users)?;
    fs::write(format!("/proc/{pid}/gid_map"), groups)
}

/// All that we have ourselves.
fn map_all(pid: c_long) -> io::Result<()> {
    for name in ["uid_map", "gid_map"] {
        let ours = fs::read_to_string(format!("/proc/self/{name}"))?;
        fs::write(format!("/proc/{pid}/{name}"), same(&ours))?;
    }
    Ok(())
}

/// Every id of a map, as it is on its inner side.
fn same(map: &str) -> String {
    map.lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let (first, count) = (words.next()?, words.nth(1)?);
            Some(format!("{first} {first} {count}\n"))
        })
        .collect()
}
