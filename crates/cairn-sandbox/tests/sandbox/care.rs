//! What ends a confined command ends all it started, however that hides. Survivors are looked for among the
//! machine's processes, by an argument that only they have.

use crate::confined::{Ground, finish};
use cairn_sandbox::{Access, End, Level, run};
use futures_util::future::join_all;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// How soon everything shall be gone.
const SOON: Duration = Duration::from_millis(250);
/// What is left so much later stays.
const LATE: Duration = Duration::from_secs(10);
/// So many processes `hiding` starts.
const HIDDEN: usize = 5;

/// Starts processes that ignore what asks them to end: one that left session, group and parent behind and
/// holds the output, one under `nohup`, one that is stopped, one without input, and the command itself.
fn hiding(mark: &str) -> String {
    format!(
        "trap '' TERM HUP INT QUIT; (setsid sh -c 'setsid sleep {mark} &' &); \
         nohup sleep {mark} > /dev/null 2>&1 & sleep {mark} & kill -STOP $!; \
         sleep {mark} <&- & exec sleep {mark}"
    )
}

/// How many processes of the machine have this among their arguments.
fn marked(mark: &str) -> usize {
    let has = |line: Vec<u8>| line.windows(mark.len()).any(|part| part == mark.as_bytes());
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes.filter(|p| std::fs::read(p.path().join("cmdline")).is_ok_and(has)).count()
}

/// How long until none of these is left.
fn gone(mark: &str) -> Duration {
    let begun = Instant::now();
    while marked(mark) > 0 {
        assert!(begun.elapsed() < LATE, "{mark}: {} are left", marked(mark));
        std::thread::sleep(Duration::from_millis(1));
    }
    begun.elapsed()
}

fn count(variable: &str, otherwise: usize) -> usize {
    std::env::var(variable).map_or(otherwise, |n| n.parse().unwrap())
}

/// How long things took until they were gone.
struct Measured(Vec<Duration>);

impl Measured {
    /// How many, how many took too long, and the worst.
    fn told(&self, what: &str) -> String {
        let late = self.0.iter().filter(|took| **took > SOON).count();
        let worst = self.0.iter().max().map_or(0, Duration::as_millis);
        format!("{} {what}, {late} left after 250 ms, worst {worst} ms", self.0.len())
    }
}

/// Lets a command's time run out. How long until all was gone, if all of it was there before.
async fn time_out(level: Level, mark: &str, timeout: Duration) -> Option<Duration> {
    let ground = Ground::new(level);
    let mut spec = ground.spec(&hiding(mark), ground.overlay());
    spec.timeout = timeout;
    let mut is_up = false;
    let look = async {
        while marked(mark) < HIDDEN {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        is_up = true;
        std::future::pending().await
    };
    let done = tokio::select! { done = finish(spec) => done, never = look => never };
    assert_eq!(done.unwrap().end, End::TimedOut);
    let took = gone(mark);
    is_up.then_some(took)
}

// keeps: no-survivors
#[tokio::test]
#[allow(clippy::print_stdout, reason = "it says what it counted")]
async fn nothing_survives_a_confined_commands_timeout() {
    let wanted = count("CAIRN_TIMEOUTS", 10);
    let (mut measured, mut timeout) = (Measured(Vec::new()), Duration::from_millis(300));
    for round in 0.. {
        let mark = |n: u32| format!("7{}.{round:05}{n}", std::process::id());
        let marks = [1, 2, 3, 4, 5].map(mark);
        let levels = [Level::Workspace, Level::Strict].into_iter().cycle();
        let some = marks.iter().zip(levels).map(|(mark, level)| time_out(level, mark, timeout));
        let ended: Vec<Duration> = join_all(some).await.into_iter().flatten().collect();
        // A busy machine starts them late; what was not there yet shows nothing.
        timeout *= if ended.len() < marks.len() { 2 } else { 1 };
        measured.0.extend(ended);
        if measured.0.len() >= wanted {
            break;
        }
    }
    println!("{}", measured.told("confined timeouts"));
}

// keeps: no-survivors
#[tokio::test]
#[allow(clippy::print_stdout, reason = "it says what it counted")]
async fn a_cancelled_confined_command_is_over_with_all_it_started() {
    let mut measured = Measured(Vec::new());
    for n in 0..10 {
        let ground = Ground::new(Level::Workspace);
        let mark = format!("8{}.{n:05}", std::process::id());
        let spec = ground.spec(&hiding(&mark), ground.overlay());
        let cancel = CancellationToken::new();
        let mut cancelled = None;
        let end = async {
            let begun = Instant::now();
            while marked(&mark) < HIDDEN {
                assert!(begun.elapsed() < LATE, "{mark}: only {} are up", marked(&mark));
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            cancelled = Some(Instant::now());
            cancel.cancel();
        };
        let mut ignore = |_: &[u8]| {};
        let (done, ()) = tokio::join!(run(spec, &cancel, &mut ignore), end);
        measured.0.push(cancelled.unwrap().elapsed());
        assert_eq!(done.unwrap().end, End::Cancelled);
        assert_eq!(marked(&mark), 0);
    }
    println!("{}", measured.told("confined commands cancelled"));
}

/// Not a promise: what `nothing_survives_the_kill…` runs in another process and kills.
#[tokio::test]
async fn helper_that_is_killed() {
    let Ok(mark) = std::env::var("CAIRN_TEST_MARK") else { return };
    let ground = Ground::new(Level::Workspace);
    finish(ground.spec(&hiding(&mark), Access::Write)).await.unwrap();
}

/// Kills a process that runs a confined command, once all is up, or after so long; how long until all was
/// gone. The mark is an argument of it, too, and so of its guardian.
fn kill_the_runtime(mark: &str, user: Option<u32>, after: Option<Duration>) -> Duration {
    let directory = tempfile::tempdir().unwrap();
    std::os::unix::fs::chown(directory.path(), user, user).unwrap();
    let mut helper = Command::new(std::env::current_exe().unwrap());
    helper.args(["--exact", "care::helper_that_is_killed", mark, "--nocapture"]);
    helper.env("CAIRN_TEST_MARK", mark).env("TMPDIR", directory.path());
    if let Some(user) = user {
        helper.uid(user).gid(user);
    }
    let mut helper = helper.stdout(Stdio::null()).spawn().unwrap();
    match after {
        Some(after) => std::thread::sleep(after),
        None => {
            let begun = Instant::now();
            // Itself, its guardian, and what that holds.
            while marked(mark) < HIDDEN + 2 {
                assert!(begun.elapsed() < LATE, "{mark}: only {} are up", marked(mark));
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
    helper.kill().unwrap();
    helper.wait().unwrap();
    gone(mark)
}

// keeps: no-survivors
#[test]
#[allow(clippy::print_stdout, reason = "it says what it counted")]
fn nothing_survives_the_kill_of_a_confined_commands_runtime() {
    let is_root = rustix::process::geteuid().is_root();
    let mut measured = Measured(Vec::new());
    for n in 0..count("CAIRN_RUNTIME_KILLS", 8) {
        let user = (is_root && n % 2 == 1).then_some(65534);
        // Every other time before all of it is up: while its root is built, say.
        let early = Duration::from_millis(10 + 7 * (n as u64 % 20));
        let mark = format!("9{}.{n:05}", std::process::id());
        let after = (n / 2 % 2 == 1).then_some(early);
        measured.0.push(kill_the_runtime(&mark, user, after));
    }
    println!("{}", measured.told("kills of the runtime"));
}
