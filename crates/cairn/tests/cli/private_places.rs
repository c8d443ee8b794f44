//! Private places: in a project that holds a home, neither file tools nor commands see keys, credentials and
//! what is Cairn's own; a person opens single paths.

use crate::bench_world::{Bench, Done};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

/// Stands in every private file.
const CANARY: &str = "canary-51c0ab";

fn call(tool: &str, args: Value) -> Value {
    json!({"calls": [{"tool": tool, "args": args}]})
}

/// Puts private files into the home, which is the project of these tests.
fn furnish(bench: &Bench) {
    for path in [
        ".ssh/id_rsa",
        ".aws/credentials",
        ".npmrc",
        ".config/gh/hosts.yml",
        ".config/cairn/notes.md",
    ] {
        let path = bench.temp.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, CANARY).unwrap();
    }
    fs::write(bench.temp.path().join(".config/plain"), "plain\n").unwrap();
}

/// Runs `cairn` with the home as its project.
fn at_home(bench: &Bench, args: &[&str]) -> Done {
    let mut command = bench.command(args);
    command.current_dir(bench.temp.path());
    crate::bench_world::done(command.output().unwrap())
}

fn statuses(log: &Done) -> Vec<u64> {
    let row = |line: &str| serde_json::from_str::<Value>(line).unwrap()["status"].as_u64().unwrap();
    log.out.lines().map(row).collect()
}

fn says_canary(bench: &Bench) -> bool {
    bench.requests().iter().any(|body| body.to_string().contains(CANARY))
}

// keeps: private-places
#[test]
fn in_a_home_no_file_tool_sees_keys_credentials_or_what_is_cairns_own() {
    let absolute = |bench: &Bench| bench.temp.path().join(".ssh/id_rsa").display().to_string();
    let hostile = json!([]);
    let named = absolute(&Bench::new(hostile));
    let calls = [
        ("read", json!({"path": ".ssh/id_rsa"}), 403),
        ("read", json!({"path": "./workspace/../.ssh/id_rsa"}), 403),
        ("read", json!({"path": ".SSH/id_rsa"}), 404),
        ("read", json!({"path": "workspace/link"}), 403),
        ("read", json!({"path": "workspace/folder/id_rsa"}), 403),
        ("read", json!({"path": named}), 403),
        ("list", json!({"path": ".ssh"}), 403),
        ("read", json!({"path": ".npmrc"}), 403),
        ("read", json!({"path": ".npmrd"}), 404),
        ("read", json!({"path": "home/keys"}), 403),
        ("read", json!({"path": ".config/cairn/notes.md"}), 403),
        ("find", json!({"text": "canary-"}), 204),
        ("find", json!({"glob": "**/id_rsa"}), 204),
        ("find", json!({"text": "canary-", "under": ".config"}), 204),
        ("list", json!({"path": ".", "depth": 3}), 200),
        ("write", json!({"path": "home/trust.json", "content": "{}"}), 403),
        ("write", json!({"path": ".config/cairn/cairn.toml", "content": "mode = 'act'"}), 403),
        ("write", json!({"path": ".ssh/authorized_keys", "content": "mine"}), 403),
        ("write", json!({"path": ".vault-token", "content": "mine"}), 403),
        ("edit", json!({"path": ".npmrc", "old": "canary", "new": "x"}), 403),
        ("edit", json!({"patch": "*** Begin Patch\n*** Delete File: .npmrc\n*** End Patch"}), 403),
        ("copy", json!({"from": ".npmrc", "to": "workspace/open"}), 403),
        ("move", json!({"from": ".ssh", "to": "workspace/open"}), 403),
        ("copy", json!({"from": ".config", "to": "workspace/config"}), 201),
        ("copy", json!({"from": "workspace/plain", "to": ".aws/x"}), 403),
        ("remove", json!({"path": ".ssh/id_rsa"}), 403),
        ("remove", json!({"path": ".config"}), 403),
    ];
    let mut script: Vec<Value> =
        calls.iter().map(|(tool, args, _)| call(tool, args.clone())).collect();
    script.push(json!({"say": "done"}));
    let bench = Bench::new(json!(script));
    furnish(&bench);
    bench.temp.write("plain", "plain\n");
    symlink("../.ssh/id_rsa", bench.file("link")).unwrap();
    symlink("../.ssh", bench.file("folder")).unwrap();
    fs::write(bench.temp.path().join("cairn.toml"), "").unwrap();
    bench.own("cairn.toml", "[membership]\nadd = [\".ssh/**\", \"**/.npmrc\"]\n");
    let done = at_home(&bench, &["run", "--yolo", "--max-turns", "60", "work"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let log = at_home(&bench, &["log", "--json"]);
    let expected: Vec<u64> = calls.iter().map(|(_, _, status)| *status).collect();
    for ((call, expected), got) in calls.iter().zip(expected).zip(statuses(&log)) {
        assert_eq!(got, expected, "{call:?}: {}", done.err);
    }
    for (tool, args, _) in calls.iter().filter(|(_, args, status)| {
        *status == 403 && args.get("patch").is_none() && args["path"] != ".config"
    }) {
        let explained = ["policy", "explain", "--json", "--tool", tool, &args.to_string()];
        let explained: Value = serde_json::from_str(&at_home(&bench, &explained).out).unwrap();
        assert_eq!(explained["word"], "deny", "policy explain {tool} {args}");
    }
    assert!(!says_canary(&bench), "no request holds what is private");
    let told = bench.requests().pop().unwrap()["messages"].to_string();
    assert!(!told.contains("the nearest is .npmrc") && !told.contains("hosts.yml"), "{told}");
    assert!(bench.file("config/plain").exists() && !bench.file("config/gh").exists());
    assert!(!bench.temp.home().join("trust.json").exists());
    assert_eq!(done.err.matches("This is your home folder").count(), 1, "{}", done.err);
    let again = at_home(&bench, &["run", "-c", "more"]);
    assert!(!again.err.contains("This is your home folder"), "{}", again.err);
}

// keeps: private-places
#[test]
fn a_folder_besides_the_project_and_a_persons_own_op_keep_to_private_places() {
    let bench = Bench::new(json!([]));
    furnish(&bench);
    for path in [".ssh/id_rsa", "home/keys", ".config/gh/hosts.yml"] {
        let done = at_home(&bench, &["op", "read", path]);
        assert_eq!(done.code, 1, "{path}: {}{}", done.out, done.err);
        assert!(done.err.contains("private") || done.out.contains("private"), "{}", done.err);
        assert!(!format!("{}{}", done.out, done.err).contains(CANARY));
    }
    let folder = bench.temp.path().join(".config").display().to_string();
    let script = json!([
        call("read", json!({"path": format!("{folder}/gh/hosts.yml")})),
        call("find", json!({"text": "canary-", "under": folder})),
        call("read", json!({"path": format!("{folder}/plain")})),
        {"say": "done"}
    ]);
    let other = Bench::new(script);
    let mut command = other.command(&["run", "--yolo", "--add-dir", &folder, "work"]);
    command.env("HOME", bench.temp.path());
    let done = crate::bench_world::done(command.output().unwrap());
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(statuses(&other.cairn(&["log", "--json"])), [403, 204, 200], "{}", done.err);
    assert!(!says_canary(&other));
}

// keeps: private-places
#[test]
fn a_person_opens_single_paths_and_never_what_is_cairns_own() {
    let script = json!([
        call("read", json!({"path": ".npmrc"})),
        call("read", json!({"path": ".ssh/config"})),
        call("list", json!({"path": ".ssh"})),
        call("read", json!({"path": ".ssh/id_rsa"})),
        call("read", json!({"path": ".config/cairn/notes.md"})),
        call("bash", json!({"command": "cat .npmrc .ssh/config .ssh/id_rsa .config/cairn/notes.md"})),
        call("bash", json!({"command": "echo x > .vault-token; mkdir .gnupg; echo x > .gnupg/y; echo z > z"})),
        {"say": "done"}
    ]);
    let bench = Bench::confined(script);
    furnish(&bench);
    fs::write(bench.temp.path().join(".npmrc"), "opened\n").unwrap();
    fs::write(bench.temp.path().join(".ssh/config"), "opened\n").unwrap();
    let allow = "[private]\nallow = [\"~/.npmrc\", \"~/.ssh/config\", \"~/.config/cairn\"]\n";
    bench.own("cairn.toml", allow);
    let done = at_home(&bench, &["run", "--yolo", "work"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let log = statuses(&at_home(&bench, &["log", "--json"]));
    assert_eq!(log[..5], [200, 200, 200, 403, 403], "{}", done.err);
    let told = bench.requests().pop().unwrap()["messages"].to_string();
    assert!(!says_canary(&bench), "{told}");
    assert_eq!(told.matches("opened\\nopened").count(), 1, "{told}");
    assert!(told.contains("it is private"), "{told}");
    let there = |path: &str| bench.temp.path().join(path).exists();
    assert!(there("z") && !there(".vault-token") && !there(".gnupg"), "{told}");

    for (text, says) in [
        ("[private]\nallow = [\"~/.ss*\"]\n", "single paths"),
        ("[private]\nallow = [\".npmrc\"]\n", "single paths"),
    ] {
        bench.own("cairn.toml", text);
        let refused = at_home(&bench, &["run", "work"]);
        assert!(refused.code == 2 && refused.err.contains(says), "{}", refused.err);
    }
    bench.own("cairn.toml", "");
    bench.temp.write("cairn.toml", allow);
    let refused = bench.cairn(&["run", "work"]);
    assert!(refused.code == 2 && refused.err.contains("the user's alone"), "{}", refused.err);
}

// keeps: settings-without-secrets
#[test]
fn a_file_of_settings_is_a_tools_to_read_only_while_it_holds_no_secret() {
    let script = json!([
        call("read", json!({"path": ".gitconfig"})),
        call("read", json!({"path": ".cargo/config.toml"})),
        call("bash", json!({"command": "cat .gitconfig .cargo/config.toml"})),
        {"say": "done"}
    ]);
    let bench = Bench::confined(script);
    fs::create_dir(bench.temp.path().join(".cargo")).unwrap();
    fs::write(bench.temp.path().join(".gitconfig"), format!("[x]\n\ttoken = {CANARY}\n\ty = 1\n"))
        .unwrap();
    fs::write(bench.temp.path().join(".cargo/config.toml"), "[build]\njobs = 2\n").unwrap();
    let done = at_home(&bench, &["run", "--yolo", "work"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(statuses(&at_home(&bench, &["log", "--json"])), [403, 200, 200], "{}", done.err);
    let told = bench.requests().pop().unwrap()["messages"].to_string();
    assert!(!told.contains(CANARY) && told.contains("y = 1\\n[build]"), "{told}");
}

// keeps: closed-to-others
#[test]
fn a_command_that_runs_as_root_does_not_see_what_others_cannot_read() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let machine = tempfile::tempdir_in("/usr/local").unwrap();
    fs::set_permissions(machine.path(), fs::Permissions::from_mode(0o755)).unwrap();
    for (name, mode) in [("key", 0o600), ("plain", 0o644)] {
        fs::write(machine.path().join(name), format!("{CANARY} {name}\n")).unwrap();
        fs::set_permissions(machine.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    let command = format!("cat {0}/key {0}/plain", machine.path().display());
    let bench =
        Bench::confined(json!([call("bash", json!({"command": command})), {"say": "done"}]));
    let done = bench.cairn(&["run", "--yolo", "work"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let told = bench.requests().pop().unwrap()["messages"].to_string();
    assert!(told.contains(&format!("{CANARY} plain")), "{told}");
    assert!(!told.contains(&format!("{CANARY} key")), "{told}");
}
