//! Where a group of commands can be made: beside or beneath the group that this process is in, as the system
//! describes its groups. Reads; makes nothing.

use std::path::{Path, PathBuf};

/// Directories to make a group in.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Places {
    /// One hierarchy holds all that is counted.
    One {
        /// The group that this process is in.
        own: PathBuf,
        /// The one around it.
        beside: Option<PathBuf>,
    },
    /// Each thing that is counted has its own.
    Each {
        /// For memory.
        memory: PathBuf,
        /// For processes.
        processes: Option<PathBuf>,
    },
}

/// What `/proc/self/cgroup` and `/proc/self/mountinfo` say.
pub(super) fn places(groups: &str, mounts: &str) -> Option<Places> {
    if let Some(memory) = of_controller(groups, mounts, "memory") {
        return Some(Places::Each { memory, processes: of_controller(groups, mounts, "pids") });
    }
    let path = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let mounted = mounts.lines().filter_map(Mounted::read).find(|at| at.kind == "cgroup2")?;
    let (own, is_top) = mounted.place(path)?;
    // A group that holds processes hands nothing on to groups in it, unless it is the topmost.
    let beside = own.parent().filter(|_| !is_top).map(Path::to_owned);
    Some(Places::One { own, beside })
}

/// The directory of this process's group in the hierarchy of one controller.
fn of_controller(groups: &str, mounts: &str, name: &str) -> Option<PathBuf> {
    let has = |list: &str| list.split(',').any(|known| known == name);
    let path = groups.lines().find_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        has(controllers).then_some(path)
    })?;
    let mut mounted = mounts.lines().filter_map(Mounted::read);
    let mounted = mounted.find(|at| at.kind == "cgroup" && has(at.options))?;
    mounted.place(path).map(|(own, _)| own)
}

/// A mounted hierarchy.
struct Mounted<'a> {
    root: &'a str,
    at: &'a str,
    kind: &'a str,
    options: &'a str,
}

impl<'a> Mounted<'a> {
    fn read(line: &'a str) -> Option<Mounted<'a>> {
        let (before, after) = line.split_once(" - ")?;
        let mut before = before.split(' ').skip(3);
        let (root, at) = (before.next()?, before.next()?);
        let mut after = after.split(' ');
        let (kind, options) = (after.next()?, after.nth(1)?);
        Some(Mounted { root, at, kind, options })
    }

    /// The directory of a group, and whether it is the topmost that is seen.
    fn place(&self, group: &str) -> Option<(PathBuf, bool)> {
        let within = Path::new(group).strip_prefix(self.root).ok()?;
        // A group of another namespace: it is not beneath what is mounted.
        let is_plain = within.components().all(|part| part != std::path::Component::ParentDir);
        let path = Path::new(self.at).join(within);
        is_plain.then_some((path, within.as_os_str().is_empty()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(groups: &str, mounts: &str, expected: Option<Places>) {
        assert_eq!(places(groups, mounts), expected, "{groups}");
    }

    #[test]
    fn a_group_is_made_where_the_system_lets_it_be() {
        let unified = "29 24 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";
        let at = |path: &str| PathBuf::from(path);
        check(
            "0::/user.slice/user@1000.service/app.slice/terminal.scope\n",
            unified,
            Some(Places::One {
                own: at("/sys/fs/cgroup/user.slice/user@1000.service/app.slice/terminal.scope"),
                beside: Some(at("/sys/fs/cgroup/user.slice/user@1000.service/app.slice")),
            }),
        );
        check("0::/\n", unified, Some(Places::One { own: at("/sys/fs/cgroup"), beside: None }));
        check("0::/../other\n", unified, None);
        check("0::/a\n", "21 1 0:20 / /proc rw - proc proc rw\n", None);
        let apart = "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                     39 31 0:36 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n\
                     41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        let groups = "8:pids:/\n4:memory:/api/1\n0::/\n";
        let memory = at("/sys/fs/cgroup/memory/api/1");
        let processes = Some(at("/sys/fs/cgroup/pids"));
        check(groups, apart, Some(Places::Each { memory: memory.clone(), processes }));
        check("4:cpu,memory:/api/1\n", apart, Some(Places::Each { memory, processes: None }));
        let inner = "35 31 0:32 /docker/7 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";
        let memory = at("/sys/fs/cgroup/memory/in");
        check("4:memory:/docker/7/in\n", inner, Some(Places::Each { memory, processes: None }));
    }
}
