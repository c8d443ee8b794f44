//! Modes of what Cairn writes for itself: its owner's alone, whatever the umask says.

use crate::bench_world::{Bench, Done, done};
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// Runs `cairn` with this umask.
#[allow(clippy::disallowed_methods, reason = "tests start the program")]
fn with_umask(bench: &Bench, umask: &str, args: &[&str]) -> Done {
    let plain = bench.command(args);
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &format!("umask {umask}; exec \"$0\" \"$@\"")]);
    command.arg(plain.get_program()).args(plain.get_args());
    command.current_dir(bench.temp.workspace()).env_clear();
    for (name, value) in plain.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    done(command.output().unwrap())
}

/// What is open to others at a path and beneath it; links and sockets of their owner's own directories are
/// looked at like the rest.
fn open_to_others(path: &Path, found: &mut Vec<String>, seen: &mut usize) {
    let meta = fs::symlink_metadata(path).unwrap();
    let mode = meta.permissions().mode() & 0o7777;
    *seen += 1;
    if mode & 0o077 != 0 && !meta.is_symlink() {
        found.push(format!("{} is {mode:o}", path.display()));
    }
    if meta.is_dir() {
        for entry in fs::read_dir(path).unwrap().flatten() {
            open_to_others(&entry.path(), found, seen);
        }
    }
}

// keeps: home-private
#[test]
fn what_cairn_writes_is_its_owners_alone_whatever_the_umask() {
    for umask in ["000", "022"] {
        let bash = |command: &str| json!({"tool": "bash", "args": {"command": command}});
        let bench = Bench::confined(json!([
            {"calls": [bash("head -c 400000 /dev/urandom | base64"), bash("echo a > made; rm -rf build")]},
            {"calls": [{"tool": "write", "args": {"path": "a", "content": "x".repeat(300_000)}}]},
            {"calls": [{"tool": "write", "args": {"path": "known:///note", "content": "n"}}]},
            {"calls": [{"tool": "bash", "args": {"command": "echo b; sleep 0.1", "background": true}}]},
            {"say": "done"},
        ]));
        bench.temp.write(".git/HEAD", "ref: refs/heads/main\n");
        bench.temp.write(".gitignore", "build/\n");
        bench.temp.write("build/out.o", "object");
        fs::set_permissions(bench.file("build/out.o"), fs::Permissions::from_mode(0o644)).unwrap();
        let record = bench.temp.path().join("record");
        let text = format!("[provider]\nrecord = \"{}\"\n", record.display());
        let own = bench.own("cairn.toml", &text);
        let (file, folder) = (fs::Permissions::from_mode(0o600), fs::Permissions::from_mode(0o700));
        fs::set_permissions(&own, file).unwrap();
        fs::set_permissions(own.parent().unwrap(), folder).unwrap();
        let carried = [bench.temp.path().join("export"), bench.temp.path().join("bundle")];
        let [export, bundle] = carried.each_ref().map(|path| path.to_str().unwrap());
        for args in [
            &["run", "--yolo", "work"][..],
            &["op", "edit", "b", "--body", "b"],
            &["undo", "1/2"],
            &["redo"],
            &["sessions", "export", "-o", export],
            &["bundle", "-o", bundle],
            &["gc"],
        ] {
            let ran = with_umask(&bench, umask, args);
            assert_eq!(ran.code, 0, "{umask} {args:?}: {}{}", ran.out, ran.err);
        }
        let (mut found, mut seen) = (Vec::new(), 0);
        for path in [bench.temp.home(), own.parent().unwrap().to_owned(), record.clone()] {
            if path == bench.temp.home() {
                // The home itself was there before.
                for entry in fs::read_dir(path).unwrap().flatten() {
                    open_to_others(&entry.path(), &mut found, &mut seen);
                }
            } else {
                open_to_others(&path, &mut found, &mut seen);
            }
        }
        carried.iter().for_each(|path| open_to_others(path, &mut found, &mut seen));
        assert_eq!(found, Vec::<String>::new(), "umask {umask}");
        assert!(seen > 20, "only {seen} files");
        assert!(bench.temp.home().join("can.json").exists(), "what the machine can do is kept");
        for (path, mode) in
            [(".cairn", 0o700), (".cairn/trash", 0o700), (".cairn/.gitignore", 0o600)]
        {
            let meta = fs::metadata(bench.file(path)).unwrap();
            assert_eq!(meta.permissions().mode() & 0o777, mode, "umask {umask}: {path}");
        }
    }
}
