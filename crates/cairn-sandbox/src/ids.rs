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

/// All that we have ourselves, but the last: what belongs to that one nobody in the namespace can open.
fn map_all(pid: c_long) -> io::Result<()> {
    for name in ["uid_map", "gid_map"] {
        let ours = fs::read_to_string(format!("/proc/self/{name}"))?;
        fs::write(format!("/proc/{pid}/{name}"), same(&ours))?;
    }
    Ok(())
}

/// The id of ours that the namespaces of commands have not, if there is one.
pub(crate) fn left_out() -> Option<u32> {
    let of = |name: &str| last(&fs::read_to_string(format!("/proc/self/{name}")).ok()?);
    let (user, group) = (of("uid_map")?, of("gid_map")?);
    (user == group).then_some(user)
}

/// The first id and the count of each line of a map, on its inner side.
fn ranges(map: &str) -> impl Iterator<Item = (u64, u64)> {
    map.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        Some((words.next()?.parse().ok()?, words.nth(1)?.parse().ok()?))
    })
}

/// The last id of a map that has several.
fn last(map: &str) -> Option<u32> {
    let (first, count) = ranges(map).max()?;
    u32::try_from(first + count - 1).ok().filter(|_| count > 1)
}

/// Every id of a map but the last, as it is on its inner side.
fn same(map: &str) -> String {
    let last = last(map).map(u64::from);
    ranges(map)
        .map(|(first, count)| match last == Some(first + count - 1) {
            true => format!("{first} {first} {}\n", count - 1),
            false => format!("{first} {first} {count}\n"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_id_is_left_out() {
        assert_eq!(same("         0          0 4294967295\n"), "0 0 4294967294\n");
        assert_eq!(last("         0          0 4294967295\n"), Some(4_294_967_294));
        assert_eq!(same("0 1000 1\n1 100000 65536\n"), "0 0 1\n1 1 65535\n");
        assert_eq!((same("0 1000 1\n"), last("0 1000 1\n")), ("0 0 1\n".to_owned(), None));
    }
}
