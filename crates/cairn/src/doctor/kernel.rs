//! What the kernel grants, found without starting anything. Where only trying would tell, it says what
//! the settings say.

use super::{Finding, note, ok, problem};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;

/// Which Landlock came with which kernel, newest first.
const LANDLOCK: &[((u32, u32), u32)] =
    &[((6, 12), 6), ((6, 10), 5), ((6, 7), 4), ((6, 2), 3), ((5, 19), 2), ((5, 13), 1)];

pub(super) fn findings() -> Vec<Finding> {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    vec![ok("kernel", release.clone()), beneath(), namespaces(), subreaper(), landlock(&release)]
}

/// Opening beneath a directory is how every file of a project is reached.
fn beneath() -> Finding {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    match openat2(CWD, ".", flags, Mode::empty(), ResolveFlags::BENEATH) {
        Ok(_) => ok("openat2", "files are opened beneath the project's folder"),
        Err(Errno::NOSYS) => problem(
            "openat2",
            "this kernel does not have it",
            "use Linux 5.6 or newer, or a container runtime that lets openat2 through",
        ),
        Err(why) => problem(
            "openat2",
            format!("it is refused: {why}"),
            "let openat2 through in the container's seccomp profile",
        ),
    }
}

/// A number of the kernel's settings.
fn setting(path: &str) -> Option<u64> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

fn namespaces() -> Finding {
    let what = "namespaces";
    let fallback = "a subreaper ends what commands leave behind instead";
    let is = |path: &str, value: u64| setting(path) == Some(value);
    let root = rustix::process::geteuid().is_root();
    if !std::path::Path::new("/proc/self/ns/pid").exists() {
        note(what, format!("this kernel has no PID namespaces; {fallback}"), "nothing needs doing")
    } else if is("/proc/sys/user/max_user_namespaces", 0) {
        let fix = "sysctl user.max_user_namespaces=10000 grants them";
        note(what, format!("user namespaces are switched off; {fallback}"), fix)
    } else if !root && is("/proc/sys/kernel/unprivileged_userns_clone", 0) {
        let fix = "sysctl kernel.unprivileged_userns_clone=1 grants them";
        note(what, format!("user namespaces are root's alone; {fallback}"), fix)
    } else if !root && is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 1) {
        let fix = "give cairn an AppArmor profile with `userns,` to have them";
        note(what, format!("AppArmor restricts user namespaces; {fallback}"), fix)
    } else {
        ok(what, "PID and user namespaces are not switched off")
    }
}

fn subreaper() -> Finding {
    match rustix::process::child_subreaper() {
        Ok(_) => ok("subreaper", "a command's orphans can be adopted and ended"),
        Err(why) => problem(
            "subreaper",
            format!("the kernel does not say: {why}"),
            "let prctl through in the container's seccomp profile",
        ),
    }
}

fn landlock(release: &str) -> Finding {
    let what = "landlock";
    let listed = std::fs::read_to_string("/sys/kernel/security/lsm");
    let abi = abi_of(release);
    match (listed, abi) {
        (Ok(list), Some(abi)) if list.split(',').any(|name| name.trim() == "landlock") => {
            ok(what, format!("in force; this kernel's version has ABI {abi}"))
        }
        (Ok(_), Some(_)) => {
            note(what, "not in force", "add landlock to the kernel's lsm= parameter to have it")
        }
        (Err(_), Some(abi)) => note(
            what,
            format!("this kernel's version has ABI {abi}; whether it is in force cannot be read"),
            "mount securityfs at /sys/kernel/security to see it",
        ),
        (_, None) => note(what, "this kernel is older than Landlock", "Linux 5.13 has it"),
    }
}

fn abi_of(release: &str) -> Option<u32> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    let mut next = || numbers.next().and_then(|number| number.parse::<u32>().ok());
    let version = (next()?, next()?);
    LANDLOCK.iter().find(|(since, _)| version >= *since).map(|(_, abi)| *abi)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_landlock_of_a_kernel_is_told_by_its_version() {
        let check = |release: &str, abi: Option<u32>| assert_eq!(abi_of(release), abi, "{release}");
        check("6.12.3-arch1", Some(6));
        check("6.11.0-9-generic", Some(5));
        check("6.2.0", Some(3));
        check("5.19.17", Some(2));
        check("5.13.0", Some(1));
        check("5.4.0-150-generic", None);
        check("7.0.1", Some(6));
        check("odd", None);
    }
}
