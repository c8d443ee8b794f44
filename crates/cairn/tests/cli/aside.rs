//! Going back over things that were moved and not written, and freeing what nobody goes back to.

use crate::bench_world::Bench;
use crate::undo::{run_of, write};
use cairn_runtime::new_run_id;
use cairn_store::{Access, Batch, Kept, NewRun, Options, Store};
use cairn_types::{
    Approval, Aside, Begin, Body, By, Caps, Change, ContentRef, Coord, Decision, Drive, Effect,
    End, Fact, FileState, Hash, Intent, Mode, OpName, Outcome, Prompt, RunStarted, Settled, Status,
    Surface, Verdict, View, Writer,
};
use cairn_world::{Settings, Workspace, World};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::MetadataExt;

fn world(bench: &Bench) -> World {
    let settings = Settings::new("/bin/sh".into(), Vec::new());
    World::new(Workspace::open(&bench.temp.workspace()).unwrap(), settings)
}

/// What stands at a path, as something that is moved to there.
fn moved(bench: &Bench, path: &str, aside: &str) -> FileState {
    let state = world(bench).locations().state(path).unwrap().unwrap();
    let inode = bench.file(path).metadata().unwrap().ino();
    FileState { hash: None, aside: Some(Aside { path: aside.to_owned(), inode }), ..state }
}

/// A run of the session here whose one op, a command, makes these changes.
#[allow(clippy::disallowed_methods, reason = "no op of today leaves such rows")]
fn run_that_makes(bench: &Bench, changes: &[Change], contents: Vec<Vec<u8>>) -> String {
    let content = |hash: &Hash| contents.iter().find(|bytes| Hash::of(bytes) == *hash).cloned();
    let changes = world(bench).apply(changes, &content).unwrap();
    let store = Store::open(&Options::new(bench.temp.home(), Access::ReadWrite)).unwrap();
    let session = store.sessions().unwrap().remove(0).id;
    let run = new_run_id();
    let lease = store.lease(&run, "a test").unwrap();
    let now = cairn_runtime::now_ms();
    let bodies = bodies(&session, lease.epoch(), changes);
    let fact = |(n, body): (usize, Body)| Fact {
        run: run.clone(),
        n: n as u64 + 1,
        at: now,
        engine: "0.1.0".to_owned(),
        body,
    };
    let new = NewRun { id: run.clone(), session, name: None, parent: None, at: now };
    let mut kept: Vec<Kept> = contents.into_iter().map(Kept::Bytes).collect();
    kept.push(Kept::Bytes(b"{}".to_vec()));
    let batch = Batch {
        lease: lease.key(),
        session: None,
        run: Some(new),
        facts: bodies.into_iter().enumerate().map(fact).collect(),
        contents: kept,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(store.commit(batch)).unwrap();
    run.to_string()
}

/// What a command came to that made these changes.
fn outcome(at: Coord, result: ContentRef, changes: Vec<Change>) -> Outcome {
    let told = Outcome::told(at, (Status::OK, result), Settled::Performed);
    Outcome { exit: Some(0), changes, ms: 1, ..told }
}

/// The facts of a run with one op.
fn bodies(session: &cairn_types::SessionId, epoch: u64, changes: Vec<Change>) -> Vec<Body> {
    let at = Coord { lap: 1, turn: 1, seq: 1 };
    let text = ContentRef::of(b"{}");
    let started = RunStarted {
        session: session.clone(),
        name: None,
        system: text,
        tools: text,
        surface: Surface::Client,
        view: View::Transcript,
        given: Vec::new(),
        tool_use: cairn_types::ToolUse::Free,
        small: false,
        toolbox: None,
    };
    let drive = Drive {
        epoch,
        holder: "a test".to_owned(),
        model: String::new(),
        mode: Mode::Act,
        after_plan: None,
        approval: Approval::Nobody,
        flags: Default::default(),
        policy: Default::default(),
        caps: Caps { turns: 1, ops: 1, cost: None },
        budgets: Default::default(),
        folders: Vec::new(),
        form: None,
        effort: None,
        schema: None,
        hooks: Vec::new(),
        schemes: Vec::new(),
        since: None,
        lost: None,
    };
    let intent = Intent {
        at,
        call: String::new(),
        writer: Writer::Client,
        surface: Surface::Client,
        tool: "bash".to_owned(),
        input: text,
        op: Some(OpName::Exec),
        target: "make".to_owned(),
        subject: None,
        effect: Effect::Host,
        repeatable: false,
        of: None,
        repairs: Vec::new(),
        problem: None,
        unclosed: false,
        says: None,
    };
    let outcome = outcome(at, text, changes.clone());
    vec![
        Body::Run(started),
        Body::Drive(drive),
        Body::Prompt(Prompt {
            lap: 1,
            text,
            media: Vec::new(),
            writer: Writer::Client,
            from: None,
            of: None,
        }),
        Body::Intent(intent),
        Body::Decision(Decision::new(at, Verdict::Allow, By::Yolo, Vec::new())),
        Body::Begin(Begin { at, changes, again: false, told: None, ran: None }),
        Body::Outcome(outcome),
        Body::End(End { lap: 1, status: Status::OK, rail: None, why: String::new() }),
    ]
}

/// A project in which a command removed `target/` and `note`, and made `film` another.
fn built() -> (Bench, String, u64) {
    let bench = Bench::new(json!([]));
    run_of(&bench, json!([write("first", "first\n"), {"say": "done"}]), &["begin"]);
    bench.temp.write("target/deep/object", "object\n");
    bench.temp.write("note", "note\n");
    bench.temp.write("film", "one\n");
    bench.temp.write(".cairn/trash/op/after/0", "two\n");
    let trash = |slot: &str| format!(".cairn/trash/op/{slot}");
    let target = moved(&bench, "target", &trash("before/0"));
    let inode = target.aside.as_ref().unwrap().inode;
    let film = moved(&bench, "film", &trash("before/1"));
    let other = moved(&bench, &trash("after/0"), &trash("after/0"));
    let note = world(&bench).locations().state("note").unwrap();
    let changes = [
        Change::between("target".into(), Some(target), None),
        Change::between("film".into(), Some(film), Some(other)),
        Change::between("note".into(), note, None),
    ];
    let run = run_that_makes(&bench, &changes, vec![b"note\n".to_vec()]);
    assert!(!bench.file("target").exists() && !bench.file("note").exists());
    assert_eq!(bench.temp.read("film"), "two\n");
    (bench, run, inode)
}

fn inode(bench: &Bench, path: &str) -> u64 {
    bench.file(path).metadata().unwrap().ino()
}

fn gc(bench: &Bench, more: &[&str]) -> Value {
    std::thread::sleep(std::time::Duration::from_millis(5));
    let args = [&["gc", "--keep-days", "0", "--json"], more].concat();
    let freed = bench.cairn(&args);
    assert_eq!(freed.code, 0, "{}", freed.err);
    serde_json::from_str::<Value>(&freed.out).unwrap()["trash"].clone()
}

// keeps: moved-aside
#[test]
fn what_was_moved_aside_is_shown_undone_and_done_again() {
    let (bench, run, target) = built();
    let diff = bench.cairn(&["diff", "--run", &run]).out;
    assert!(diff.contains("\ntarget/ (moved aside)\n"), "{diff}");
    assert!(diff.starts_with("film (moved aside, and another into its place)\n"), "{diff}");
    assert!(diff.contains("-note\n"), "{diff}");
    let stat = bench.cairn(&["diff", "--run", &run, "--stat"]).out;
    assert!(stat.contains("target/ (moved aside)\n") && stat.contains("note  +0 -1"), "{stat}");
    for _ in 0..2 {
        let undo = bench.cairn(&["undo"]);
        assert_eq!(undo.code, 0, "{undo:?}");
        assert!(undo.out.contains("  brought back target/ (moved into its place)\n"), "{undo:?}");
        assert!(undo.out.contains("  restored film (moved aside, and another"), "{undo:?}");
        assert_eq!(bench.temp.read("target/deep/object"), "object\n");
        assert_eq!(
            (bench.temp.read("film"), bench.temp.read("note")),
            ("one\n".into(), "note\n".into())
        );
        assert_eq!(inode(&bench, "target"), target, "it is the very same directory");
        let redo = bench.cairn(&["redo"]);
        assert_eq!(redo.code, 0, "{redo:?}");
        assert!(redo.out.contains("  removed target/ (moved aside)\n"), "{redo:?}");
        assert!(!bench.file("target").exists() && !bench.file("note").exists());
        assert_eq!(bench.temp.read("film"), "two\n");
    }
    assert_eq!(bench.cairn(&["verify"]).code, 0);
}

// keeps: undo-after-gc
#[test]
fn what_is_no_longer_in_the_trash_is_named_and_the_rest_goes_back() {
    let (bench, ..) = built();
    fs::remove_dir_all(bench.file(".cairn/trash/op/before/0")).unwrap();
    let undo = bench.cairn(&["undo"]);
    assert_eq!(undo.code, 1, "{undo:?}");
    let why = "  left alone: target cannot go back: what it was is no longer in the trash\n";
    assert!(undo.out.contains(why), "{undo:?}");
    let undo = bench.cairn(&["undo", "--partial"]);
    assert_eq!(undo.code, 0, "{undo:?}");
    assert_eq!(
        (bench.temp.read("film"), bench.temp.read("note")),
        ("one\n".into(), "note\n".into())
    );
}

// keeps: undo-respects
#[test]
fn what_somebody_made_where_something_was_moved_away_is_left_alone() {
    let (bench, ..) = built();
    bench.temp.write("target/mine", "mine\n");
    bench.temp.write("film", "mine\n");
    fs::remove_file(bench.file("film")).unwrap();
    fs::create_dir(bench.file("film")).unwrap();
    let undo = bench.cairn(&["undo", "--force", "--partial"]);
    assert!(undo.out.contains("target was made again since 1/1/1, not by an op"), "{undo:?}");
    assert!(undo.out.contains("film was changed since 1/1/1, not by an op"), "{undo:?}");
    assert_eq!(
        (bench.temp.read("target/mine"), bench.temp.read("note")),
        ("mine\n".into(), "note\n".into())
    );
    assert!(bench.file("film").is_dir());
}

/// An ignored file that a command made, and that is then edited, is known again by its size and time.
#[test]
fn what_was_moved_into_its_place_and_edited_goes_back_step_by_step() {
    let bench = Bench::new(json!([]));
    run_of(&bench, json!([write("first", "first\n"), {"say": "done"}]), &["begin"]);
    bench.temp.write(".cairn/trash/op/after/0", "made\n");
    let slot = ".cairn/trash/op/after/0";
    let change = Change::between("made".into(), None, Some(moved(&bench, slot, slot)));
    run_that_makes(&bench, &[change], Vec::new());
    run_of(&bench, json!([write("made", "edited\n"), {"say": "done"}]), &["edit"]);
    assert_eq!(bench.temp.read("made"), "edited\n");
    for expected in [Some("made\n"), None] {
        let undo = bench.cairn(&["undo"]);
        assert_eq!(undo.code, 0, "{undo:?}");
        assert_eq!(fs::read_to_string(bench.file("made")).ok().as_deref(), expected);
    }
    for expected in ["made\n", "edited\n"] {
        assert_eq!(bench.cairn(&["redo"]).code, 0);
        assert_eq!(bench.temp.read("made"), expected);
    }
}

// keeps: undo-after-gc
#[test]
fn gc_clears_the_trash_of_what_nobody_goes_back_to_and_nothing_else() {
    let (bench, ..) = built();
    let young: Value = serde_json::from_str(&bench.cairn(&["gc", "--json"]).out).unwrap();
    assert_eq!(young["trash"]["batches"], 0, "what is young stays");
    // What an undo needs so that it can be taken back stays, however old.
    assert_eq!(bench.cairn(&["undo"]).code, 0);
    assert_eq!(gc(&bench, &["--yes"])["batches"], 0);
    assert_eq!(bench.cairn(&["redo"]).code, 0);
    assert_eq!(bench.temp.read("film"), "two\n");
    assert!(bench.file(".cairn/trash/op/before/0/deep/object").exists());
    // What no row names may be just being made.
    bench.temp.write(".cairn/trash/unknown/after/0", "x");
    let asked = bench.cairn(&["gc", "--keep-days", "0"]);
    assert!(asked.err.contains("and 4 things moved aside, "), "{asked:?}");
    let would = gc(&bench, &["--dry-run"]);
    assert_eq!((&would["batches"], &would["entries"]), (&json!(1), &json!(4)), "{would}");
    assert!(bench.file(".cairn/trash/op").exists());
    let freed = gc(&bench, &["--yes"]);
    assert_eq!((&freed["batches"], &freed["entries"]), (&json!(1), &json!(4)), "{freed}");
    assert!(!bench.file(".cairn/trash/op").exists());
    assert!(bench.file(".cairn/trash/unknown/after/0").exists());
    let undo = bench.cairn(&["undo"]);
    assert!(undo.out.contains("target cannot go back: what it was is no longer in"), "{undo:?}");
    // And what was untouched for long is nobody's.
    for path in [".cairn/trash/unknown", ".cairn/trash/unknown/after"] {
        let old = std::time::Duration::from_millis(cairn_runtime::now_ms() - 7_200_000);
        let old = std::time::SystemTime::UNIX_EPOCH + old;
        fs::File::open(bench.file(path)).unwrap().set_modified(old).unwrap();
    }
    assert_eq!(gc(&bench, &["--yes"])["batches"], 1);
    assert!(!bench.file(".cairn/trash/unknown").exists());
}
