//! Disks without room on which a system does not fail a call but sends a signal: small blocks under mapped files, and
//! the limit for the size of files. One sentence says so, and nothing is lost.

use crate::bench_world::{Bench, Done, done};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// Ten turns that each leave a mark and much output.
fn bench() -> Bench {
    let noise = "head -c 45000 /dev/urandom | base64 -w0";
    let turn = |k: usize| json!({"calls": [{"tool": "bash", "args": {"command": format!("echo {k} >> done.txt; {noise}")}}]});
    let turns: Vec<Value> = (0..10).map(turn).chain([json!({"say": "ok"})]).collect();
    Bench::new(json!(turns))
}

/// Checks that a run that could not be written said so in one line; whether anything of it was acknowledged.
fn is_told(full: &Done, what: &str) -> bool {
    assert_eq!((full.code, full.err.lines().count()), (1, 1), "{what}: {full:?}");
    assert!(full.err.starts_with("cairn: "), "{what}: {full:?}");
    println!("{what}: {}", full.err.trim_end());
    full.out.lines().any(|line| serde_json::from_str::<Value>(line).unwrap()["cursor"].is_u64())
}

/// Checks that everything was done once when the run went on.
fn is_done(bench: &Bench, freed: &Done, what: &str) {
    assert_eq!(freed.code, 0, "{what}: {freed:?}");
    let lines = bench.temp.read("done.txt");
    let expected: Vec<String> = (0..10).map(|k| k.to_string()).collect();
    assert_eq!(lines.lines().collect::<Vec<_>>(), expected, "{what}: each effect once, in order");
}

// keeps: bad-input
#[test]
fn a_limit_for_files_is_told_and_without_it_the_run_goes_on() {
    let mut stopped = 0;
    for blocks in [16, 160, 400, 1000] {
        let bench = bench();
        let limited = |args: &[&str]| {
            let run = bench.command(args);
            #[allow(clippy::disallowed_methods, reason = "tests start the program")]
            let mut command = Command::new("sh");
            command.args(["-c", &format!("ulimit -f {blocks}; exec \"$0\" \"$@\"")]);
            command.arg(run.get_program()).args(args).current_dir(bench.temp.workspace());
            command.env_clear().envs(run.get_envs().filter_map(|(k, v)| Some((k, v?))));
            done(command.stdin(Stdio::null()).output().unwrap())
        };
        let full = limited(&["run", "--yolo", "--json", "work"]);
        let began = is_told(&full, &format!("{blocks} blocks"));
        stopped += usize::from(began);
        let again = if began { "-c" } else { "work" };
        let freed = bench.cairn(&["run", "--yolo", "--json", again]);
        is_done(&bench, &freed, &format!("{blocks} blocks"));
        assert_eq!(bench.cairn(&["verify"]).code, 0);
    }
    assert!(stopped > 0, "no run had begun");
}

/// A home on a file system with blocks of 1 KiB, seen by the processes started here only.
struct SmallBlocks<'a> {
    bench: &'a Bench,
    holder: Child,
}

impl Drop for SmallBlocks<'_> {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

impl SmallBlocks<'_> {
    /// Mounts it; absent where that is not permitted.
    #[allow(clippy::disallowed_methods, reason = "tests start the program")]
    fn mount(bench: &Bench) -> Option<SmallBlocks<'_>> {
        let script = r#"set -e
            truncate -s 4M "$0/image"; mkfs.ext4 -q -F -b 1024 -O ^has_journal -m 0 "$0/image"
            mount -o loop "$0/image" "$1"; rmdir "$1/lost+found"; chmod 700 "$1"
            echo ready; read -r _"#;
        let mut command = Command::new("unshare");
        command.args(["-m", "sh", "-c", script]).arg(bench.temp.path()).arg(bench.temp.home());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut holder = command.spawn().ok()?;
        let mut line = String::new();
        BufReader::new(holder.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let disk = SmallBlocks { bench, holder };
        if line != "ready\n" {
            println!("skipped: a file system cannot be mounted here");
            return None;
        }
        Some(disk)
    }

    #[allow(clippy::disallowed_methods, reason = "tests start the program")]
    fn inside(&self, script: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--mount=/proc/{}/ns/mnt", self.holder.id()));
        command.args(["sh", "-c", script]).stdin(Stdio::null());
        command
    }

    fn cairn(&self, args: &[&str]) -> Done {
        let cairn = self.bench.command(args);
        let mut command = self.inside("cd \"$0\" && exec \"$@\"");
        command.arg(self.bench.temp.workspace()).arg(cairn.get_program()).args(args);
        command.env_clear().envs(cairn.get_envs().filter_map(|(k, v)| Some((k, v?))));
        done(command.output().unwrap())
    }

    /// Fills it but for so many KiB.
    fn fill(&self, left: u32) {
        let script = r#"cat /dev/zero > "$0/ballast" 2>/dev/null
            truncate -s "-$1K" "$0/ballast" && sync -f "$0""#;
        let mut command = self.inside(script);
        let filled = command.arg(self.bench.temp.home()).arg(left.to_string()).status();
        assert!(filled.unwrap().success());
    }

    fn make_room(&self) {
        let mut command = self.inside("rm \"$0/ballast\"");
        assert!(command.arg(self.bench.temp.home()).status().unwrap().success());
    }
}

// keeps: bad-input
#[test]
fn a_full_disk_with_small_blocks_is_told_and_once_freed_the_run_goes_on() {
    for left in [3, 12, 20, 28, 36, 48, 64, 200] {
        let (bench, what) = (bench(), format!("{left} KiB left"));
        let Some(disk) = SmallBlocks::mount(&bench) else { return };
        assert_eq!(disk.cairn(&["op", "edit", "known:///a", "--body", "x"]).code, 0);
        disk.fill(left);
        let full = disk.cairn(&["run", "--yolo", "--json", "work"]);
        let began = is_told(&full, &what);
        disk.make_room();
        let again = if began { "-c" } else { "work" };
        is_done(&bench, &disk.cairn(&["run", "--yolo", "--json", again]), &what);
        assert_eq!(disk.cairn(&["verify"]).code, 0, "{what}");
    }
}

// keeps: bad-input
#[test]
fn a_signal_of_a_full_disk_ends_the_program_with_a_sentence_and_code_1() {
    let bench = Bench::new(json!([{"say": "never told"}]));
    bench.model.delay(std::time::Duration::from_secs(60));
    let mut command = bench.command(&["run", "--json", "work"]);
    let mut talk = crate::bench_world::Talk::with(&mut command);
    talk.until("turn/asked");
    let id = rustix::process::Pid::from_child(&talk.child);
    rustix::process::kill_process(id, rustix::process::Signal::BUS).unwrap();
    assert_eq!(talk.child.wait().unwrap().code(), Some(1));
    let mut said = String::new();
    std::io::Read::read_to_string(&mut talk.child.stderr.take().unwrap(), &mut said).unwrap();
    assert!(said.starts_with("cairn: there is no space left for "), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}
