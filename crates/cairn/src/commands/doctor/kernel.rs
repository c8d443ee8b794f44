//! What the kernel grants, found without starting anything. Where only trying would tell, it says what
//! the settings say.

use super::{Finding, note, ok, problem};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;

pub(super) fn findings() -> Vec<Finding> {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    vec![ok("kernel", release), beneath(), namespaces(), subreaper()]
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
