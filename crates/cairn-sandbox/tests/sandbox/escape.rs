//! Tries every escape probe as every user it can, without a sandbox and within: what gets through without
//! one must leave no trace of itself from within one. The probes are rows of `probes`.

use crate::probes::{self, Needs, PRELUDE, Probe, Program, SOURCE};
use crate::world::{Round, World};
use cairn_sandbox::{Context, Errors, Finished, Host, Keep, Level, SandboxError, Spec, Way, run};
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The user that is nobody.
const NOBODY: u32 = 65534;
/// How probes are kept: level, and whether over an overlay.
const WAYS: [(Level, bool); 3] =
    [(Level::Workspace, true), (Level::Workspace, false), (Level::Strict, true)];

/// A program of this kind as a command for the shell.
fn command(program: &Program) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    match program {
        Program::Sh(text) => format!("echo tried\n{text}\n"),
        Program::Python(text) => format!("exec python3 -c {}", quoted(&format!("{PRELUDE}{text}"))),
        Program::C(word) => format!("exec ./program {word}"),
    }
}

fn spec(
    probe: &Probe,
    round: &Round,
    env: Vec<(String, String)>,
    context: Arc<dyn Context>,
) -> Spec {
    Spec {
        command: command(&probe.program),
        shell: PathBuf::from("/bin/sh"),
        flags: Spec::shell_flags(),
        cwd: File::open(round.work()).unwrap().into(),
        env,
        timeout: Duration::from_secs(120),
        grace: Duration::from_millis(50),
        keep: Keep { in_memory: 100_000, on_disk: None },
        // Without a sandbox it sees the machine's processes.
        way: Way::Subreaper,
        context,
        filter: None,
        input: cairn_sandbox::Input::Nothing,
        errors: Errors::Joined,
    }
}

async fn finish(spec: Spec) -> Result<Finished, SandboxError> {
    run(spec, &CancellationToken::new(), &mut |_| {}).await
}

/// What a probe printed, and the traces it left, kept in this way or not at all.
async fn tried(
    world: &mut World,
    probe: &Probe,
    way: Option<(Level, bool)>,
    program: &Path,
) -> (String, Vec<String>) {
    let is_overlaid = way.is_some_and(|(_, is_overlaid)| is_overlaid);
    let round = world.round(Some(program), is_overlaid);
    let env = world.env(&round, way.is_some());
    let context: Arc<dyn Context> = match way {
        Some((level, is_overlaid)) => Arc::new(round.confined(level, is_overlaid, &env)),
        None => Host::context(),
    };
    let finished = finish(spec(probe, &round, env, context)).await.unwrap();
    let printed = String::from_utf8_lossy(&finished.head).into_owned();
    let mut traces = world.traces(&round, &printed);
    // What it did to another process shows once that process has run.
    for _ in 0..if way.is_none() && must_show(probe) { 80 } else { 0 } {
        if !traces.is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
        traces = world.traces(&round, &printed);
    }
    round.end();
    (printed, traces)
}

/// Whether a probe must get through where nothing keeps it.
fn must_show(probe: &Probe) -> bool {
    let is_root = rustix::process::geteuid().is_root();
    probe.needs == Needs::Nothing || (probe.needs == Needs::Root && is_root)
}

/// What became of a probe.
#[derive(Debug, PartialEq, Eq)]
enum Became {
    Denied,
    /// It does not get through without a sandbox either.
    NotShown,
    /// What is wrong.
    Wrong(String),
}

async fn check(world: &mut World, probe: &Probe, program: &Path) -> Became {
    let (printed, traces) = tried(world, probe, None, program).await;
    let is_shown = !traces.is_empty();
    if !is_shown && must_show(probe) {
        return Became::Wrong(format!("does nothing without a sandbox: {printed}"));
    }
    for way in WAYS {
        let (printed, traces) = tried(world, probe, Some(way), program).await;
        if !traces.is_empty() {
            return Became::Wrong(format!("{way:?}: {}", traces.join(", ")));
        }
        if !printed.lines().any(|line| line == "tried") {
            return Became::Wrong(format!("{way:?}: was not tried: {printed}"));
        }
    }
    if is_shown { Became::Denied } else { Became::NotShown }
}

/// Not a promise: what `no_probe_gets_out` runs as every user.
#[tokio::test]
#[allow(clippy::print_stdout, reason = "it tells whoever started it")]
async fn helper_that_tries() {
    let Ok(canary) = std::env::var("CAIRN_TEST_CANARY") else { return };
    let only = std::env::var("CAIRN_PROBE").ok();
    let mut world = World::new(&canary);
    let program = world.path("program");
    let source = world.path("program.c");
    std::fs::write(&source, SOURCE).unwrap();
    let made = Command::new("cc").arg("-o").arg(&program).arg(&source).status().unwrap();
    assert!(made.success(), "the program in C could not be made");
    for probe in probes::all().filter(|probe| only.as_deref().is_none_or(|n| n == probe.name)) {
        match check(&mut world, probe, &program).await {
            Became::Denied => println!("\ndenied: {}", probe.name),
            Became::NotShown => println!("\nnot shown: {}", probe.name),
            Became::Wrong(why) => println!("\nwrong: {}: {}", probe.name, why.replace('\n', "; ")),
        }
    }
    println!("\nall tried");
}

/// What a helper said of each probe: those denied, those not shown.
fn as_user(user: Option<u32>) -> (usize, Vec<String>) {
    let mut helper = Command::new(std::env::current_exe().unwrap());
    helper.args(["--exact", "escape::helper_that_tries", "--nocapture"]);
    helper.env("CAIRN_TEST_CANARY", format!("canary-{}-{user:?}", std::process::id()));
    if let Some(user) = user {
        helper.uid(user).gid(user);
    }
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::chown(folder.path(), user, user).unwrap();
    helper.env("TMPDIR", folder.path());
    let done = helper.stderr(Stdio::inherit()).output().unwrap();
    let told = String::from_utf8_lossy(&done.stdout).into_owned();
    let those = |word: &str| -> Vec<String> {
        told.lines().filter_map(|line| line.strip_prefix(word)).map(str::to_owned).collect()
    };
    let wrong = those("wrong: ");
    assert!(wrong.is_empty(), "as {user:?}:\n{}", wrong.join("\n"));
    assert!(done.status.success() && told.contains("\nall tried\n"), "as {user:?}: {told}");
    (those("denied: ").len(), those("not shown: "))
}

// keeps: escape-probes
#[test]
#[allow(clippy::print_stdout, reason = "it says what it counted")]
fn no_probe_gets_out() {
    let is_root = rustix::process::geteuid().is_root();
    let users: &[(Option<u32>, &str)] = match is_root {
        true => &[(None, "root"), (Some(NOBODY), "65534")],
        false => &[(None, "this user alone")],
    };
    let (mut counts, mut names) = (Vec::new(), Vec::new());
    for (user, name) in users {
        let (denied, not_shown) = as_user(*user);
        assert!(denied >= 45, "{denied} as {name}");
        counts.push(format!("{denied} as {name}"));
        names.extend(not_shown.into_iter().map(|probe| format!("{probe} ({name})")));
    }
    let counts = counts.join(", ").replacen(" as", " probes denied as", 1);
    println!("{counts}, {} not shown: {}", names.len(), names.join(", "));
}
