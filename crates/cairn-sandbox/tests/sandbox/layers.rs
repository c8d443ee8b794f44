//! A command that cannot be confined is not run: every layer is taken away from a process in turn, and what
//! it says is read.
#![expect(unsafe_code, reason = "a filter of system calls is set by one")]

use crate::confined::{Ground, finish};
use cairn_sandbox::{Access, Level, SandboxError, can};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A system call that fails, and what is then said to be missing.
struct Lack {
    call: libc::c_long,
    /// Only where the first argument has these bits.
    with: Option<u32>,
    errno: i32,
    what: &'static str,
}

const fn lack(call: libc::c_long, errno: i32, what: &'static str) -> Lack {
    Lack { call, with: None, errno, what }
}

const LACKS: &[Lack] = &[
    lack(444, libc::ENOSYS, "Landlock"),
    lack(446, libc::EPERM, "Landlock"),
    lack(libc::SYS_mount, libc::EPERM, "a mount namespace of its own"),
    lack(libc::SYS_open_tree, libc::ENOSYS, "showing /"),
    lack(libc::SYS_mount_setattr, libc::ENOSYS, "showing /"),
    lack(libc::SYS_pivot_root, libc::EPERM, "entering its own root"),
    lack(libc::SYS_socket, libc::EPERM, "a network namespace of its own"),
    lack(libc::SYS_capset, libc::EPERM, "giving up privileges"),
    Lack {
        with: Some(libc::PR_SET_NO_NEW_PRIVS as u32),
        ..lack(libc::SYS_prctl, libc::EINVAL, "giving up privileges")
    },
    Lack {
        with: Some(libc::PR_SET_SECCOMP as u32),
        ..lack(libc::SYS_prctl, libc::EINVAL, "a filter of system calls")
    },
    Lack {
        with: Some(libc::CLONE_NEWUSER as u32),
        ..lack(libc::SYS_clone, libc::EPERM, "namespaces of its own")
    },
    Lack {
        with: Some(libc::CLONE_NEWNET as u32),
        ..lack(libc::SYS_clone, libc::EPERM, "namespaces of its own")
    },
    lack(libc::SYS_setns, libc::EPERM, "namespaces of its own"),
];

/// Lets this thread, and all it starts, fail so.
fn fail(lack: &Lack) {
    let step = |code, k, (jt, jf)| libc::sock_filter { code, jt, jf, k };
    // A call of `prctl` is one number, flags of `clone` are bits.
    let test = if lack.call == libc::SYS_clone { 0x45 } else { 0x15 };
    let program = [
        step(0x20, 0, (0, 0)),
        step(0x15, lack.call as u32, (0, 3)),
        step(0x20, 16, (0, 0)),
        step(if lack.with.is_some() { test } else { 0x35 }, lack.with.unwrap_or(0), (0, 1)),
        step(0x06, 0x0005_0000 | lack.errno as u32, (0, 0)),
        step(0x06, 0x7fff_0000, (0, 0)),
    ];
    let filter = libc::sock_fprog { len: 6, filter: program.as_ptr().cast_mut() };
    // SAFETY: the program lives here and is as long as said.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, 2, &raw const filter), 0);
    }
}

/// Not a promise: what the tests below run where something is missing.
#[tokio::test]
#[allow(clippy::print_stdout, reason = "it tells whoever started it")]
async fn helper_that_lacks_something() {
    let Ok(place) = std::env::var("CAIRN_TEST_DIRECTORY") else { return };
    let lacks = std::env::var("CAIRN_TEST_LACKS").ok().and_then(|n| n.parse::<usize>().ok());
    let is_overlaid = std::env::var("CAIRN_TEST_OVERLAY").is_ok();
    if let Some(n) = lacks {
        fail(&LACKS[n]);
    }
    let place = PathBuf::from(place);
    let found = can(&place).await;
    let ground = Ground::within(&place, Level::Workspace);
    let access = if is_overlaid { ground.overlay() } else { Access::Write };
    let said = match finish(ground.spec("echo > ran", access)).await {
        Ok(_) => "nothing".to_owned(),
        Err(SandboxError::Layer { what, .. }) => what,
        Err(other) => format!("no layer, but: {other}"),
    };
    let ran = ["work/ran", "layer/upper/ran"].iter().any(|name| ground.path(name).exists());
    let named = |problem: Option<SandboxError>| match problem {
        None => "nothing".to_owned(),
        Some(SandboxError::Layer { what, .. }) => what,
        Some(other) => format!("no layer, but: {other}"),
    };
    println!("\nsaid: {said}\nran: {ran}");
    println!("confine: {}\noverlay: {}", named(found.confine), named(found.overlay));
}

/// What the helper said.
#[derive(Debug, Default)]
struct Told {
    said: String,
    ran: String,
    confine: String,
    overlay: String,
}

/// Starts the helper by this program; `place` is where it works.
fn told(mut helper: Command, place: &Path) -> Told {
    helper.args(["--exact", "layers::helper_that_lacks_something", "--nocapture"]);
    helper.env("CAIRN_TEST_DIRECTORY", place).env("TMPDIR", place);
    let done = helper.output().unwrap();
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{text}{}", String::from_utf8_lossy(&done.stderr));
    let line = |word: &str| {
        let found = text.lines().find_map(|line| line.strip_prefix(word));
        assert!(found.is_some(), "no {word} in {text}");
        found.unwrap_or_default().to_owned()
    };
    Told {
        said: line("said: "),
        ran: line("ran: "),
        confine: line("confine: "),
        overlay: line("overlay: "),
    }
}

fn this() -> PathBuf {
    std::env::current_exe().unwrap()
}

fn refuses(told: &Told, what: &str) {
    assert!(told.said.starts_with(what) && told.ran == "false", "{what}: {told:?}");
    assert!(told.confine.starts_with(what), "{what}: {told:?}");
}

// keeps: layer-refused
#[test]
fn without_a_layer_nothing_is_run_and_the_layer_is_named() {
    let place = tempfile::tempdir().unwrap();
    let whole = told(Command::new(this()), place.path());
    assert_eq!((&*whole.said, &*whole.ran, &*whole.confine), ("nothing", "true", "nothing"));
    for (n, lack) in LACKS.iter().enumerate() {
        let mut helper = Command::new(this());
        helper.env("CAIRN_TEST_LACKS", n.to_string());
        refuses(&told(helper, place.path()), lack.what);
    }
}

/// The helper in a user namespace where this was done first.
fn unshared(first: &str) -> Command {
    let mut helper = Command::new("unshare");
    helper.args(["--user", "--map-root-user", "--mount", "sh", "-ec"]);
    helper.arg(format!("{first}; exec \"$0\" \"$@\"")).arg(this());
    helper
}

// keeps: layer-refused
#[test]
fn where_no_more_namespaces_are_to_be_had_nothing_is_run() {
    let place = tempfile::tempdir().unwrap();
    let whole = told(unshared("true"), place.path());
    assert_eq!((&*whole.said, &*whole.ran), ("nothing", "true"), "{whole:?}");
    for kind in ["user", "mnt", "pid", "net", "ipc"] {
        let none = format!("echo 0 > /proc/sys/user/max_{kind}_namespaces");
        refuses(&told(unshared(&none), place.path()), "namespaces of its own");
    }
}

// keeps: layer-refused
#[test]
fn where_no_overlay_is_to_be_had_nothing_is_run_over_one() {
    let place = tempfile::tempdir().unwrap();
    let at = place.path().display();
    // An overlay cannot keep its changes in another.
    let first = format!(
        "cd {at}; mkdir lower upper work place; \
         mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work,userxattr place"
    );
    let mut helper = unshared(&first);
    helper.env("CAIRN_TEST_OVERLAY", "1");
    let told = told(helper, &place.path().join("place"));
    assert!(told.said.starts_with("an overlay of ") && told.ran == "false", "{told:?}");
    assert!(told.overlay.starts_with("an overlay of "), "{told:?}");
    assert_eq!(told.confine, "nothing");
}
