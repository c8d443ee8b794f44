//! What `run` promises about processes: all of them end, nothing is lost, memory is bounded. Real
//! shells and real processes; orphans are looked for in `/proc`.

use cairn_sandbox::{
    End, Errors, Finished, Host, Keep, Running, SandboxError, Spec, Way, run, shell,
};
use cairn_types::{Hash, SandboxLayer};
use futures_util::future::join_all;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

const WAYS: [Way; 2] = [Way::Best, Way::Subreaper];

fn spec(directory: &Path, command: &str, way: Way) -> Spec {
    Spec {
        command: command.to_owned(),
        shell: shell(),
        flags: Spec::shell_flags(),
        cwd: OwnedFd::from(std::fs::File::open(directory).unwrap()),
        env: vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())],
        timeout: Duration::from_secs(60),
        grace: Duration::from_millis(50),
        keep: Keep { in_memory: 1000, on_disk: None },
        way,
        context: Host::context(),
        filter: None,
        input: cairn_sandbox::Input::Nothing,
        errors: Errors::Joined,
    }
}

async fn finish(spec: Spec) -> Result<Finished, SandboxError> {
    run(spec, &CancellationToken::new(), &mut |_| {}).await
}

/// Writes `up` into the directory from a process that left session, group and parent behind and that
/// holds the output open, then goes on with `rest`.
fn with_orphan(seconds: &str, rest: &str) -> String {
    let orphan = format!("echo up > up; exec sleep {seconds}");
    format!(
        "(setsid sh -c 'setsid sh -c \"{orphan}\" &' &); until [ -s up ]; do sleep 0.01; done; {rest}"
    )
}

fn is_running(seconds: &str) -> bool {
    let argument = format!("sleep\0{seconds}\0").into_bytes();
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .any(|entry| std::fs::read(entry.path().join("cmdline")).is_ok_and(|line| line == argument))
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(10);
    while !is_so() {
        assert!(Instant::now() < until, "still waiting until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn layers(finished: &Finished) -> Vec<&str> {
    finished.layers.iter().map(SandboxLayer::as_str).collect()
}

/// The ways a command's time can be over.
#[derive(Debug, Clone, Copy)]
enum Over {
    Ended,
    Failed,
    TimedOut,
    Cancelled,
    Dropped,
}

async fn orphan_is_gone(way: Way, over: Over, seconds: &str) {
    let directory = tempfile::tempdir().unwrap();
    let rest = match over {
        Over::Ended => "exit 0",
        Over::Failed => "kill -9 $$",
        _ => "sleep 60",
    };
    let mut spec = spec(directory.path(), &with_orphan(seconds, rest), way);
    let cancel = CancellationToken::new();
    let up = directory.path().join("up");
    let is_up = async {
        while !std::fs::read(&up).is_ok_and(|text| !text.is_empty()) || !is_running(seconds) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    let mut ignore = |_: &[u8]| {};
    let end = match over {
        Over::Ended | Over::Failed => run(spec, &cancel, &mut ignore).await.unwrap().end,
        Over::TimedOut => {
            spec.timeout = Duration::from_millis(700);
            run(spec, &cancel, &mut ignore).await.unwrap().end
        }
        Over::Cancelled => {
            let cancelled = async {
                is_up.await;
                cancel.cancel();
            };
            tokio::join!(run(spec, &cancel, &mut ignore), cancelled).0.unwrap().end
        }
        Over::Dropped => {
            tokio::select! {
                ended = run(spec, &cancel, &mut ignore) => ended.unwrap().end,
                () = is_up => End::Cancelled,
            }
        }
    };
    let expected = match over {
        Over::Ended => End::Exited(0),
        Over::Failed => End::Signalled(9),
        Over::TimedOut => End::TimedOut,
        Over::Cancelled | Over::Dropped => End::Cancelled,
    };
    assert_eq!(end, expected, "{way:?} {over:?}");
    assert!(up.exists(), "{way:?} {over:?}: the orphan never ran, so nothing was shown");
    assert!(!is_running(seconds), "{way:?} {over:?}: the orphan is still there");
}

// keeps: no-survivors
#[tokio::test]
async fn an_orphan_that_left_everything_behind_is_gone_when_the_command_is_over() {
    let mut number = 0;
    for way in WAYS {
        for over in [Over::Ended, Over::Failed, Over::TimedOut, Over::Cancelled, Over::Dropped] {
            number += 1;
            orphan_is_gone(way, over, &format!("7100.{number}")).await;
        }
    }
}

/// Not a promise: what `an_orphan_is_gone_when…` runs in another process and kills.
#[tokio::test]
async fn helper_that_is_killed() {
    let Ok(directory) = std::env::var("CAIRN_TEST_DIRECTORY") else { return };
    let subreaper = std::env::var("CAIRN_TEST_WAY").is_ok_and(|way| way == "subreaper");
    let way = if subreaper { Way::Subreaper } else { Way::Best };
    let seconds = std::env::var("CAIRN_TEST_SECONDS").unwrap();
    let command = with_orphan(&seconds, "sleep 60");
    finish(spec(Path::new(&directory), &command, way)).await.unwrap();
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

// keeps: no-survivors
#[test]
fn an_orphan_is_gone_when_this_very_process_is_killed() {
    let users: &[Option<u32>] = if is_root() { &[None, Some(65534)] } else { &[None] };
    let mut number = 0;
    for way in ["best", "subreaper"] {
        for user in users {
            number += 1;
            let seconds = format!("7200.{number}");
            let directory = tempfile::tempdir().unwrap();
            let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
            std::fs::set_permissions(directory.path(), open).unwrap();
            let mut helper = std::process::Command::new(std::env::current_exe().unwrap());
            helper.args(["--exact", "processes::helper_that_is_killed", "--nocapture"]);
            helper.env("CAIRN_TEST_DIRECTORY", directory.path());
            helper.env("CAIRN_TEST_WAY", way).env("CAIRN_TEST_SECONDS", &seconds);
            if let Some(user) = user {
                helper.uid(*user).gid(*user);
            }
            let mut helper = helper.stdout(std::process::Stdio::null()).spawn().unwrap();
            wait_until("the orphan runs", || is_running(&seconds));
            helper.kill().unwrap();
            helper.wait().unwrap();
            wait_until("the orphan is gone", || !is_running(&seconds));
        }
    }
}

// keeps: background
#[tokio::test]
async fn a_command_in_the_background_is_looked_at_and_ends_with_all_it_started() {
    for (way, number) in WAYS.into_iter().zip(1..) {
        for is_dropped in [false, true] {
            let seconds = format!("7300.{number}{}", u8::from(is_dropped));
            let directory = tempfile::tempdir().unwrap();
            let command = with_orphan(&seconds, "echo here; exec sleep 60");
            let running = Running::start(spec(directory.path(), &command, way));
            while running.look(|printed| printed.bytes) < 5 || !is_running(&seconds) {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            assert!(running.look(|printed| printed.head == b"here\n") && !running.is_over());
            if is_dropped {
                drop(running);
                while is_running(&seconds) {
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
            } else {
                let done = running.end().await.unwrap();
                assert_eq!((done.end, done.head.as_slice()), (End::Cancelled, &b"here\n"[..]));
                assert!(!is_running(&seconds));
            }
        }
    }
    let directory = tempfile::tempdir().unwrap();
    let mut no_shell = spec(directory.path(), "true", Way::Best);
    no_shell.shell = "/nonexistent/shell".into();
    let running = Running::start(no_shell);
    while !running.is_over() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    assert!(matches!(running.end().await, Err(SandboxError::Shell { .. })));
}

// keeps: background
#[tokio::test]
async fn a_command_beside_its_caller_is_told_as_it_prints_and_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let told = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let telling = told.clone();
    let spec = spec(directory.path(), "echo one; echo two; exit 3", Way::Best);
    let running = Running::telling(spec, move |piece| {
        telling.lock().unwrap().extend_from_slice(piece);
    });
    running.over().await;
    assert!(running.is_over());
    let done = running.end().await.unwrap();
    assert_eq!((done.end, done.head.as_slice()), (End::Exited(3), &b"one\ntwo\n"[..]));
    assert_eq!(told.lock().unwrap().as_slice(), b"one\ntwo\n");
}

/// How many processes have this in their environment.
fn marked(mark: &str) -> usize {
    let mark = format!("CAIRN_TEST_MARK={mark}\0").into_bytes();
    let has = |environment: Vec<u8>| environment.windows(mark.len()).any(|part| part == mark);
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes.filter(|p| std::fs::read(p.path().join("environ")).is_ok_and(has)).count()
}

/// Times out over processes that left everything behind and ignore what asks them to end. Whether
/// they were seen before, and how many are left.
async fn time_out(way: Way, mark: String, timeout: Duration) -> (bool, usize) {
    let directory = tempfile::tempdir().unwrap();
    let deaf = "trap \\\"\\\" TERM HUP INT";
    let orphan = format!("{deaf}; echo up > up; while :; do sleep 60; done");
    let command = format!("(setsid sh -c 'setsid sh -c \"{orphan}\" &' &); trap '' TERM; sleep 60");
    let mut spec = spec(directory.path(), &command, way);
    spec.env.push(("CAIRN_TEST_MARK".to_owned(), mark.clone()));
    spec.timeout = timeout;
    let mut seen = 0;
    let look = async {
        while !directory.path().join("up").exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        seen = marked(&mark);
        std::future::pending().await
    };
    let done = tokio::select! { done = finish(spec) => done, never = look => never };
    assert_eq!(done.unwrap().end, End::TimedOut);
    // The shell, its sleep, and the orphan.
    (seen >= 3, marked(&mark))
}

// keeps: no-survivors
#[tokio::test]
#[allow(clippy::print_stdout, reason = "it says what it counted")]
async fn nothing_survives_a_timeout_however_it_hides() {
    let wanted = std::env::var("CAIRN_TIMEOUTS").map_or(20, |n| n.parse().unwrap());
    let (mut shown, mut survivors, mut timeout) = (0, 0, Duration::from_millis(200));
    for round in 0.. {
        let some = (0..10).map(|n| {
            let mark = format!("{}-{round}-{n}", std::process::id());
            time_out(WAYS[n % 2], mark, timeout)
        });
        let ended = join_all(some).await;
        survivors += ended.iter().map(|(_, left)| left).sum::<usize>();
        let up = ended.iter().filter(|(up, _)| *up).count();
        shown += up;
        // A busy machine starts them late; what was not there yet shows nothing.
        timeout *= if up < 10 { 2 } else { 1 };
        if shown >= wanted {
            break;
        }
    }
    assert_eq!(survivors, 0);
    println!("{shown} timeouts, {survivors} survivors");
}

#[tokio::test]
async fn a_command_knows_that_an_agent_runs_it_and_no_more() {
    let directory = tempfile::tempdir().unwrap();
    let ours = ["AGENT", "CAIRN_HOME", "CAIRN_RUN", "PATH", "USER"];
    let ours = ours.map(|name| (name.to_owned(), "/usr/bin:/bin".to_owned()));
    let mut spec = spec(directory.path(), "echo $AGENT; env | grep -c CAIRN", Way::Best);
    spec.env = cairn_sandbox::environment(ours.into_iter(), &[]);
    let done = finish(spec).await.unwrap();
    assert_eq!(String::from_utf8(done.head).unwrap(), "cairn\n0\n");
}

#[tokio::test]
async fn the_way_a_command_is_held_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let best = finish(spec(directory.path(), "true", Way::Best)).await.unwrap();
    assert!(matches!(layers(&best)[..], ["pid-namespace", ..] | ["subreaper"]), "{best:?}");
    let forced = finish(spec(directory.path(), "true", Way::Subreaper)).await.unwrap();
    assert_eq!(layers(&forced), ["subreaper"]);
}

#[tokio::test]
async fn a_command_ends_and_prints_as_it_would_by_itself() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("file"), "").unwrap();
    for way in WAYS {
        let check = async |command: &str, end, output: &str| {
            let done = finish(spec(directory.path(), command, way)).await.unwrap();
            let text = String::from_utf8([done.head, done.tail].concat()).unwrap();
            assert_eq!((done.end, text.as_str()), (end, output), "{way:?} {command}");
        };
        check("exit 7", End::Exited(7), "").await;
        check("kill -TERM $$", End::Signalled(15), "").await;
        check("echo a; echo b >&2; echo c", End::Exited(0), "a\nb\nc\n").await;
        check("cat; echo end", End::Exited(0), "end\n").await;
        check("ls", End::Exited(0), "file\n").await;
        check("cd / && echo $OLDPWD | grep -c tmp; echo $HOME", End::Exited(0), "1\n\n").await;
        check("yes | head -n 1", End::Exited(0), "y\n").await;
        check("ls /proc/self/fd | wc -l", End::Exited(0), "4\n").await;
        check("sleep 60 & echo on", End::Exited(0), "on\n").await;
        check("-x", End::Exited(127), &missing(directory.path(), way).await).await;
        check("trap '' TERM HUP INT; sleep 0.01; echo still", End::Exited(0), "still\n").await;
    }
}

/// What the shell says of the program `-x`.
async fn missing(directory: &Path, way: Way) -> String {
    let done = finish(spec(directory, "exec 2>&1; command -- -x", way)).await.unwrap();
    String::from_utf8(done.head).unwrap()
}

#[tokio::test]
async fn what_cannot_start_says_why() {
    let directory = tempfile::tempdir().unwrap();
    let mut no_shell = spec(directory.path(), "true", Way::Best);
    no_shell.shell = "/nonexistent/shell".into();
    let problem = finish(no_shell).await.unwrap_err().to_string();
    assert!(problem.starts_with("/nonexistent/shell could not be executed: No such file"));
    let nul = finish(spec(directory.path(), "echo \0", Way::Best)).await.unwrap_err();
    assert!(matches!(nul, SandboxError::Nul { what: "the command" }));
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    let never = spec(directory.path(), "touch ran", Way::Best);
    let done = run(never, &cancelled, &mut |_| {}).await.unwrap();
    assert_eq!(done.end, End::Cancelled);
    assert!(!directory.path().join("ran").exists());
}

#[tokio::test]
async fn two_hundred_megabytes_are_counted_and_hashed_without_being_held() {
    const BYTES: usize = 200_000_000;
    let directory = tempfile::tempdir().unwrap();
    let command = format!("head -c {BYTES} /dev/zero; printf end");
    let mut seen = 0;
    let mut count = |chunk: &[u8]| seen += chunk.len();
    let spec = spec(directory.path(), &command, Way::Best);
    let done = run(spec, &CancellationToken::new(), &mut count).await.unwrap();
    assert_eq!((done.bytes, seen), (BYTES as u64 + 3, BYTES + 3));
    assert_eq!((done.head.len(), done.tail.len()), (1000, 1000));
    assert!(done.tail.ends_with(b"\0end"));
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).unwrap();
    let peak: usize = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < 100_000, "{peak} kB");
    let mut hasher = blake3::Hasher::new();
    for _ in 0..BYTES / 1_000_000 {
        hasher.update(&[0; 1_000_000]);
    }
    hasher.update(b"end");
    assert_eq!(done.hash, Hash(*hasher.finalize().as_bytes()));
}

/// A writer outside the command's processes cannot keep us waiting for the pipe's end.
#[tokio::test]
async fn a_pipe_held_open_by_someone_else_is_not_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let begun = Instant::now();
    let mut held = Vec::new();
    let command = "echo $$; readlink /proc/self/fd/1; sleep 0.3";
    let spec = spec(directory.path(), command, Way::Subreaper);
    let mut hold = |chunk: &[u8]| {
        let pid = String::from_utf8_lossy(chunk).lines().next().unwrap_or_default().to_owned();
        let path = format!("/proc/{pid}/fd/1");
        held.extend(std::fs::OpenOptions::new().write(true).open(path).ok());
    };
    let done = run(spec, &CancellationToken::new(), &mut hold).await.unwrap();
    assert_eq!(done.end, End::Exited(0));
    assert!(!held.is_empty(), "nothing held the pipe, so nothing was shown");
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[tokio::test]
async fn what_is_given_is_read_and_stderr_is_taken_apart_and_bounded() {
    let directory = tempfile::tempdir().unwrap();
    for way in WAYS {
        let given = "x".repeat(300_000);
        let command = "wc -c; head -c 100000 /dev/zero | tr '\\0' e >&2; echo end; exit 2";
        let mut spec = spec(directory.path(), command, way);
        spec.input = cairn_sandbox::Input::Bytes(given.into_bytes());
        spec.errors = Errors::Apart(5000);
        let finished = finish(spec).await.unwrap();
        assert_eq!(finished.end, End::Exited(2));
        assert_eq!(String::from_utf8_lossy(&finished.head), "300000\nend\n");
        assert_eq!(finished.errors, vec![b'e'; 5000]);
    }
}

#[tokio::test]
async fn what_is_written_to_a_command_beside_its_caller_is_what_it_reads() {
    let directory = tempfile::tempdir().unwrap();
    for way in WAYS {
        let spec = spec(directory.path(), "cat; echo end", way);
        let running = Running::listening(spec, |_| {}).unwrap();
        running.write(b"one\n").await.unwrap();
        running.write(b"two\n").await.unwrap();
        running.write(b"").await.unwrap();
        assert!(running.write(b"three\n").await.is_err(), "its input has ended");
        running.over().await;
        let finished = running.end().await.unwrap();
        assert_eq!(finished.end, End::Exited(0));
        assert_eq!(String::from_utf8_lossy(&finished.head), "one\ntwo\nend\n");
    }
}
