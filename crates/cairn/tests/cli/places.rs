//! Who may change what, as one table: place × who changes it (tool, foreground command, background command) × how
//! (writes, removes) × mode. One run per cell of the other three tries all places in turn. Beside each attack is a
//! control, the same op on an ordinary path, which must work; where a mode changes nothing at all, it must not.

use crate::bench_world::{Bench, Done};
use crate::overlay::facts;
use crate::overlay_git::git;
use serde_json::{Value, json};

/// What a place is, and so who must say yes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Source that an ignore file pretends to be build output.
    Source,
    /// It says what may run or what models are told.
    Protected,
    /// It says what git or Cairn runs next.
    Guarded,
    /// It is nobody's but the person's.
    Private,
}

struct Place {
    path: &'static str,
    control: &'static str,
    kind: Kind,
    /// It is there when the run begins, and so is its control.
    exists: bool,
}

const fn place(path: &'static str, control: &'static str, kind: Kind, exists: bool) -> Place {
    Place { path, control, kind, exists }
}

const PLACES: [Place; 19] = [
    place("hidden.txt", "control/hidden.txt", Kind::Source, true),
    place("AGENTS.md", "control/agents.txt", Kind::Protected, true),
    place(".bash_login", "control/bash_login", Kind::Protected, false),
    place("build/AGENTS.md", "control/build/agents", Kind::Protected, false),
    place("cairn.toml", "control/cairn.txt", Kind::Guarded, true),
    place("build/cairn.toml", "control/build/cairn", Kind::Guarded, false),
    place(".cairn/hooks.toml", "control/cairn/hooks", Kind::Guarded, true),
    place(".husky/pre-commit", "control/husky/pre-commit", Kind::Guarded, false),
    place(".githooks/pre-push", "control/githooks/pre-push", Kind::Guarded, true),
    place(".git/hooks/pre-commit", "control/git/hooks/pre-commit", Kind::Guarded, true),
    place(".git/config", "control/git/config", Kind::Guarded, true),
    place(".git/modules/sub/hooks/pre-push", "control/modules/pre-push", Kind::Guarded, true),
    place("tools/hooks/pre-commit", "control/tools/hooks/pre-commit", Kind::Guarded, true),
    place("team.gitconfig", "control/team.gitconfig", Kind::Guarded, true),
    place("bare.git/config", "control/bare.git/config", Kind::Guarded, true),
    place("bare.git/hooks/post-receive", "control/bare.git/hooks/receive", Kind::Guarded, false),
    place(".git/rebase-merge/git-rebase-todo", "control/git/todo", Kind::Guarded, false),
    // `CLAUDE.md` is a link that leads there.
    place("told.txt", "control/told.txt", Kind::Protected, true),
    place("home/.ssh/authorized_keys", "control/home/ssh/authorized_keys", Kind::Private, true),
];

/// Who writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Writes {
    Tool,
    Foreground,
    Background,
}

/// What they do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Deed {
    Write,
    Remove,
}

const MODES: [&[&str]; 5] = [
    &["--mode", "act"],
    &["--mode", "accept-edits"],
    &["--yolo"],
    &["--mode", "plan"],
    &["--mode", "read-only"],
];

/// Whether nothing at all is changed in a mode.
fn changes_nothing(mode: &[&str]) -> bool {
    mode.iter().any(|word| matches!(*word, "plan" | "read-only"))
}

/// Whether a place must be left alone with nobody there to ask.
fn must_be_left(place: &Place, writes: Writes, mode: &[&str]) -> bool {
    if changes_nothing(mode) {
        return true;
    }
    let by_mode = match place.kind {
        Kind::Source => mode.contains(&"act"),
        Kind::Protected => !mode.contains(&"--yolo"),
        Kind::Guarded | Kind::Private => true,
    };
    // A rule lets the command run on the files themselves: what is there and guarded is read-only to it.
    // That a bare repository is not among that is listed as known.
    let is_mounted = matches!(place.kind, Kind::Guarded | Kind::Private)
        && place.exists
        && !place.path.starts_with("bare.git");
    if writes == Writes::Background { is_mounted } else { by_mode }
}

const BEFORE: &str = "as before\n";

/// The places that can be tried so.
fn tried(deed: Deed) -> impl Iterator<Item = &'static Place> {
    PLACES.iter().filter(move |place| deed == Deed::Write || place.exists)
}

/// A project with all places in it, and a model that tries them.
fn bench(writes: Writes, deed: Deed, mode: &[&str]) -> Bench {
    let paths = tried(deed).flat_map(|place| [place.path, place.control]);
    let mut replies: Vec<Value> = paths.flat_map(|path| attempt(writes, deed, path)).collect();
    if writes == Writes::Background && !changes_nothing(mode) {
        replies.extend((0..40).map(|_| waiting(deed)));
    }
    replies.push(json!({"say": "done"}));
    let bench = Bench::confined(json!(replies));
    git(&bench, "workspace", &["init", "-q", "-b", "main"]);
    for place in PLACES.iter().filter(|place| place.exists) {
        for path in [place.path, place.control] {
            if path != ".git/config" {
                bench.temp.write(path, BEFORE);
            }
        }
    }
    // What commands are kept from seeing lies beside what is read-only to them.
    bench.temp.write(".cairn/trash/x", BEFORE);
    for settings in ["cairn.toml", ".cairn/hooks.toml"] {
        bench.temp.write(settings, "# as before\n");
    }
    git(&bench, "workspace", &["add", "-A"]);
    git(&bench, "workspace", &["commit", "-q", "-m", "Begin"]);
    for (key, value) in [("core.hooksPath", "tools/hooks"), ("include.path", "../team.gitconfig")] {
        git(&bench, "workspace", &["config", key, value]);
    }
    bench.temp.write("team.gitconfig", "[user]\n\tname = t\n");
    for repository in ["bare.git", ".git/modules/sub"] {
        for part in ["HEAD", "objects/x", "refs/x"] {
            bench.temp.write(&format!("{repository}/{part}"), "x\n");
        }
    }
    bench.temp.write(".ignore", "*\n");
    bench.temp.write(".gitignore", "hidden.txt\n/build/\n");
    std::os::unix::fs::symlink("told.txt", bench.file("CLAUDE.md")).unwrap();
    bench
}

/// Waits a moment, if what was begun in the background is not done at all controls.
fn waiting(deed: Deed) -> Value {
    let controls: Vec<&str> = tried(deed).map(|place| place.control).collect();
    let there = format!("cat {} 2>/dev/null | grep -c evil", controls.join(" "));
    let command = match deed {
        Deed::Write => format!("[ $({there}) = {} ] || sleep 0.5", controls.len()),
        Deed::Remove => format!("[ -z \"$(ls {} 2>/dev/null)\" ] || sleep 0.5", controls.join(" ")),
    };
    json!({"calls": [{"tool": "bash", "args": {"command": command}}]})
}

/// The replies that try one path: a tool writes only what was read.
fn attempt(writes: Writes, deed: Deed, path: &str) -> Vec<Value> {
    let call = |tool: &str, args: Value| json!({"calls": [{"tool": tool, "args": args}]});
    let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder);
    let command = match deed {
        Deed::Write => format!("mkdir -p {folder} && echo evil > {path}"),
        Deed::Remove => format!("rm {path}"),
    };
    let removal = format!("*** Begin Patch\n*** Delete File: {path}\n*** End Patch");
    match writes {
        Writes::Tool => vec![
            call("read", json!({"path": path})),
            match deed {
                Deed::Write => call("write", json!({"path": path, "content": "evil\n"})),
                Deed::Remove => call("edit", json!({"path": path, "patch": removal})),
            },
        ],
        Writes::Foreground => vec![call("bash", json!({"command": command}))],
        Writes::Background => {
            vec![call("bash", json!({"command": command, "background": true}))]
        }
    }
}

fn run(bench: &Bench, writes: Writes, mode: &[&str]) -> Done {
    let mut args = vec!["run", "--allow", "write control/**"];
    if writes == Writes::Background {
        args.extend(["--allow", "exec mkdir *", "--allow", "exec echo *", "--allow", "exec rm *"]);
        args.extend(["--allow", "exec"]);
    }
    args.extend(mode);
    args.push("work");
    let mut command = bench.command(&args);
    // The home lies in the project, as where a person works in their home.
    command.env("HOME", bench.file("home"));
    crate::bench_world::done(command.output().unwrap())
}

// keeps: same-gate
// keeps: private-places
#[test]
fn no_place_is_changed_by_any_writer_in_a_mode_that_does_not_let_it_and_ordinary_ones_are() {
    for writes in [Writes::Tool, Writes::Foreground, Writes::Background] {
        for deed in [Deed::Write, Deed::Remove] {
            for mode in MODES {
                check_cells(writes, deed, mode);
            }
        }
    }
}

fn check_cells(writes: Writes, deed: Deed, mode: &[&str]) {
    let bench = bench(writes, deed, mode);
    let text = |path: &str| std::fs::read_to_string(bench.file(path)).ok();
    let done_there = match deed {
        Deed::Write => Some("evil\n"),
        Deed::Remove => None,
    };
    let before: Vec<_> = tried(deed).map(|place| (text(place.path), text(place.control))).collect();
    let done = run(&bench, writes, mode);
    let rows = || facts(&bench, "outcome").iter().map(Value::to_string).collect::<Vec<_>>();
    for (place, (before, control_before)) in tried(deed).zip(before) {
        let cell = format!("{} by {writes:?}, {deed:?} with {mode:?}", place.path);
        let control = if changes_nothing(mode) { control_before.as_deref() } else { done_there };
        assert_eq!(text(place.control).as_deref(), control, "control of {cell}: {done:?}");
        let after = text(place.path);
        if must_be_left(place, writes, mode) {
            assert_eq!(after, before, "{cell}: {:#?}", rows());
        } else if writes != Writes::Background {
            assert_eq!(after.as_deref(), done_there, "{cell}: {done:?}");
        }
    }
}
