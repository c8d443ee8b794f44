//! Bad ground: a disk that fills up or cannot be written, files far larger than anybody reads. What
//! was acknowledged stays, and memory stays bounded.

use crate::bench_world::{Bench, Done, Talk, done};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::process::{Child, Command, Stdio};

/// A bench whose home is a small file system of its own, seen by the processes started here only.
struct Disk<'a> {
    bench: &'a Bench,
    holder: Child,
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

impl Disk<'_> {
    /// Mounts it; absent where mounting is not permitted.
    #[allow(clippy::disallowed_methods, reason = "tests start the program")]
    fn mount<'a>(bench: &'a Bench, options: &str) -> Option<Disk<'a>> {
        let script = "mount -t tmpfs -o \"$1\" tmpfs \"$2\" && echo ready && read -r _";
        let mut command = Command::new("unshare");
        command.args(["-m", "sh", "-c", script, "sh", options]).arg(bench.temp.home());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut holder = command.spawn().ok()?;
        let mut line = String::new();
        BufReader::new(holder.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let disk = Disk { bench, holder };
        if line != "ready\n" {
            println!("skipped: a file system cannot be mounted here");
            return None;
        }
        Some(disk)
    }

    /// Runs the program where the disk is seen.
    fn cairn(&self, args: &[&str]) -> Done {
        let cairn = self.bench.command(args);
        let mut command = self.inside("cd \"$0\" && exec \"$@\"");
        command.arg(self.bench.temp.workspace()).arg(cairn.get_program()).args(args);
        command.env_clear().envs(cairn.get_envs().filter_map(|(k, v)| Some((k, v?))));
        let done = done(command.output().unwrap());
        assert!(!done.err.contains("panicked"), "{args:?}: {}", done.err);
        done
    }

    fn remount(&self, options: &str) {
        let mut command = self.inside("mount -o \"remount,$1\" \"$0\"");
        assert!(command.arg(self.bench.temp.home()).arg(options).status().unwrap().success());
    }

    #[allow(clippy::disallowed_methods, reason = "tests start the program")]
    fn inside(&self, script: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--mount=/proc/{}/ns/mnt", self.holder.id()));
        command.args(["sh", "-c", script]).stdin(Stdio::null());
        command
    }
}

/// Notes what a `--json` run acknowledged: the place of every fact and how it was told.
fn note(acknowledged: &mut HashMap<u64, Value>, events: &str) {
    for event in events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        if let Some(cursor) = event["cursor"].as_u64() {
            acknowledged.insert(cursor, event["at"].clone());
        }
    }
}

// keeps: bad-input
#[test]
fn a_full_disk_is_told_and_once_freed_the_run_goes_on_with_every_acknowledged_fact() {
    let noise = "head -c 45000 /dev/urandom | base64 -w0";
    let turn = |k: usize| json!({"calls": [{"tool": "bash", "args": {"command": format!("echo {k} >> done.txt; {noise}")}}]});
    for kib in [4, 24, 100, 140, 256, 600] {
        let turns: Vec<Value> = (0..10).map(turn).chain([json!({"say": "ok"})]).collect();
        let bench = Bench::new(json!(turns));
        let Some(disk) = Disk::mount(&bench, &format!("size={kib}k")) else { return };
        let mut acknowledged = HashMap::new();
        for args in [&["run", "--yolo", "--json", "work"][..], &["run", "--yolo", "--json", "-c"]] {
            let full = disk.cairn(args);
            if full.code == 2 && args.contains(&"-c") {
                // It was too full for the run's first fact.
                continue;
            }
            assert_eq!((full.code, full.err.lines().count()), (1, 1), "{kib} KiB: {}", full.err);
            assert!(full.err.contains("there is no space left for "), "{kib} KiB: {}", full.err);
            assert!(full.err.contains("; free some and try again. All that was recorded is kept"));
            note(&mut acknowledged, &full.out);
            assert_eq!(full.err.contains("cairn run --resume r"), !acknowledged.is_empty());
        }
        if !acknowledged.is_empty() {
            assert!(disk.cairn(&["log", "--facts"]).out.lines().count() >= acknowledged.len());
            assert_eq!(disk.cairn(&["verify"]).code, 0);
        }
        println!("{kib} KiB: full after {} facts", acknowledged.len());

        disk.remount("size=64m");
        let began = !acknowledged.is_empty();
        let again = if began { "-c" } else { "work" };
        let freed = disk.cairn(&["run", "--yolo", "--json", again]);
        assert_eq!(freed.code, 0, "{kib} KiB: {}", freed.err);
        note(&mut acknowledged, &freed.out);
        let facts = disk.cairn(&["log", "--facts", "--json"]).out;
        let facts: HashMap<u64, Value> = facts
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .map(|fact| (fact["n"].as_u64().unwrap(), fact["at"].clone()))
            .collect();
        assert_eq!(acknowledged, facts, "{kib} KiB");
        assert_eq!(disk.cairn(&["verify"]).code, 0);
        let lines = bench.temp.read("done.txt");
        let expected: Vec<String> = (0..10).map(|k| k.to_string()).collect();
        assert_eq!(lines.lines().collect::<Vec<_>>(), expected, "each effect once, in order");
    }
}

// keeps: bad-input
#[test]
fn a_home_that_cannot_be_written_can_still_be_read_and_nothing_is_done_in_it() {
    let bench = Bench::new(json!([
        {"calls": [{"tool": "bash", "args": {"command": "echo x >> done.txt"}}]},
        {"say": "ok"},
        {"say": "more"},
    ]));
    let Some(disk) = Disk::mount(&bench, "size=8m") else { return };
    assert_eq!(disk.cairn(&["run", "--yolo", "work"]).code, 0);
    let log = disk.cairn(&["log", "--facts"]).out;
    disk.remount("ro");
    for args in [&["log", "--facts"][..], &["verify"], &["sessions"]] {
        let read = disk.cairn(args);
        assert_eq!(read.code, 0, "{args:?}: {}", read.err);
    }
    for args in [&["run", "--yolo", "again"][..], &["run", "--yolo", "-c", "go on"], &["fork"]] {
        let refused = disk.cairn(args);
        assert_eq!((refused.code, refused.err.lines().count()), (1, 1), "{args:?}: {refused:?}");
        let told = "cannot be written; make it writable, or set CAIRN_HOME to another place";
        assert!(refused.err.contains(told), "{args:?}: {}", refused.err);
    }
    assert_eq!(bench.temp.read("done.txt"), "x\n");
    assert_eq!(disk.cairn(&["log", "--facts"]).out, log);
    disk.remount("rw");
    assert_eq!(disk.cairn(&["run", "--yolo", "-c", "go on"]).out, "more\n");
}

/// The most memory that a process has held so far, in MiB.
fn peak_mib(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() / 1024
}

/// Lets the model make these calls on a file with this name, and gives what it was told and the
/// most memory that took.
fn told(name: &str, folder: &std::path::Path, calls: &Value) -> (Vec<String>, u64) {
    let ask = json!({"calls": [{"tool": "bash", "args": {"command": "true"}}]});
    let bench = Bench::new(json!([{"calls": calls}, ask, {"say": "ok"}]));
    let mut talk: Talk = bench.talk(&["run", "--json", "--cwd", folder.to_str().unwrap(), "work"]);
    // The question about the command stands after everything else is done and durable.
    loop {
        let question = talk.until("proposal/opened");
        if question["kind"] == "exec" {
            break;
        }
        talk.say(json!({"type": "decide", "proposal": question["proposal"], "verdict": "allow", "shown_hash": question["shown_hash"]}));
    }
    let peak = peak_mib(talk.child.id());
    talk.hang_up();
    assert_eq!(talk.result()["exit_code"], 5);
    println!("{name}: {peak} MiB at most");
    let messages = bench.requests()[1]["messages"].as_array().unwrap().clone();
    let tools = messages.iter().filter(|message| message["role"] == "tool");
    (tools.map(|message| message["content"].as_str().unwrap().to_owned()).collect(), peak)
}

const MOST_MIB: u64 = 150;

// keeps: bad-input
#[test]
fn files_of_a_hundred_megabytes_are_read_searched_and_refused_to_be_edited_in_bounded_memory() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (sparse, text) = (folder.path().join("sparse"), folder.path().join("text"));
    let size = 100 << 20;
    fs::File::create(&sparse).unwrap().set_len(size).unwrap();
    let block = b"one line of many like it, and more of them than anybody reads\n".repeat(16_384);
    let mut file = fs::File::create(&text).unwrap();
    while file.metadata().unwrap().len() < size {
        file.write_all(&block).unwrap();
    }
    let end = file.metadata().unwrap().len();
    file.write_all_at(b"a needle", end - 40).unwrap();
    let lines = end / 62;
    let (results, peak) = told(
        "100 MB",
        folder.path(),
        &json!([
            {"tool": "read", "args": {"path": "sparse"}},
            {"tool": "read", "args": {"path": "text"}},
            {"tool": "read", "args": {"path": "text", "first": lines}},
            {"tool": "find", "args": {"text": "needle"}},
            {"tool": "edit", "args": {"path": "text", "old": "a needle", "new": "x"}},
            {"tool": "write", "args": {"path": "sparse", "content": "x"}},
        ]),
    );
    assert_eq!(results[0], "sparse is a binary file, 104857600 bytes");
    assert!(results[1].len() < 100_000 && results[1].contains(&format!(" of {lines}; next: ")));
    assert!(results[2].contains("a needle"), "{}", results[2]);
    assert_eq!(results[3], "nothing found\nnot looked into: 1 binary, 1 larger than 16 MiB");
    assert!(results[4].starts_with("text is larger than 16777216 bytes; "), "{}", results[4]);
    assert!(results[5].starts_with("not performed"), "{}", results[5]);
    assert_eq!(
        (fs::metadata(&sparse).unwrap().len(), fs::metadata(&text).unwrap().len()),
        (size, end)
    );
    assert!(peak < MOST_MIB, "{peak} MiB");
}

// keeps: bad-input
#[test]
fn the_longest_lines_and_the_most_lines_an_edit_takes_are_handled_in_bounded_memory() {
    for (name, content) in [
        ("10 MB line", ["a needle".to_owned(), "x".repeat(10 << 20)].concat()),
        ("8 million lines", ["a needle\n".to_owned(), "\n".repeat(8_000_000)].concat()),
    ] {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let path = folder.path().join("long");
        fs::write(&path, &content).unwrap();
        let (results, peak) = told(
            name,
            folder.path(),
            &json!([
                {"tool": "read", "args": {"path": "long"}},
                {"tool": "find", "args": {"text": "needle"}},
                {"tool": "edit", "args": {"path": "long", "old": "a needle", "new": "a pin"}},
            ]),
        );
        assert!(results[0].starts_with("1\ta needle") && results[0].len() < 100_000);
        assert!(results[1].starts_with("long\n1:\ta needle") && results[1].len() < 1_000);
        assert!(results[2].starts_with("updated long\n") && results[2].len() < 10_000);
        assert!(fs::read_to_string(&path).unwrap() == content.replace("needle", "pin"));
        assert!(peak < MOST_MIB, "{name}: {peak} MiB");
    }
}

#[test]
fn output_that_could_not_be_written_is_a_failure_and_a_reader_that_left_is_none() {
    let bench = Bench::new(json!([{"say": "done"}]));
    assert_eq!(bench.cairn(&["run", "work"]).code, 0);
    for args in [&["log"][..], &["sessions", "--json"], &["config"], &["diff"], &["verify"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let done = bench.command(args).stdout(full).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(1), "{args:?}: {said}");
        assert!(said.contains("the output could not be written"), "{args:?}: {said}");
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let done = bench.command(args).stdout(writer).output().unwrap();
        assert_eq!(done.status.code(), Some(0), "{args:?}");
    }
}
