//! Undo to any point: random ops of a real run with somebody else's edits in between, then back.

use crate::kit::{Told, block_on, script, start, store};
use cairn_runtime::undo::{Conflict, History, Plan, Span, needed};
use cairn_runtime::{Client, Place};
use cairn_store::{Gc, Store};
use cairn_testkit::{ModelServer, TempHome, cases};
use cairn_types::By;
use cairn_world::{Settings, Workspace, World};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// What the model does in one turn.
#[derive(Debug, Clone)]
enum Op {
    Write(u8, u8),
    Edit(u8),
    Remove(u8),
    Move(u8, u8),
    Copy(u8, u8),
}

/// What somebody else does between two turns.
#[derive(Debug, Clone)]
enum Outside {
    Write(u8),
    Remove(u8),
    Mode(u8),
    Link(u8),
}

#[derive(Debug, Clone)]
struct Turn {
    op: Op,
    outside: Option<Outside>,
}

/// Paths that nest, so that files stand where directories stood.
const PATHS: [&str; 7] = ["é", "b", "d/日a", "d/b😀", "d/e/a", "é/x", "f"];

fn path(n: u8) -> &'static str {
    PATHS[n as usize % PATHS.len()]
}

fn turn() -> impl Strategy<Value = Turn> {
    let n = 0u8..7;
    let op = prop_oneof![
        4 => (n.clone(), any::<u8>()).prop_map(|(p, c)| Op::Write(p, c)),
        2 => n.clone().prop_map(Op::Edit),
        1 => n.clone().prop_map(Op::Remove),
        2 => (n.clone(), n.clone()).prop_map(|(a, b)| Op::Move(a, b)),
        1 => (n.clone(), n.clone()).prop_map(|(a, b)| Op::Copy(a, b)),
    ];
    let outside = prop_oneof![
        3 => n.clone().prop_map(Outside::Write),
        1 => n.clone().prop_map(Outside::Remove),
        1 => n.clone().prop_map(Outside::Mode),
        1 => n.prop_map(Outside::Link),
    ];
    (op, proptest::option::weighted(0.4, outside)).prop_map(|(op, outside)| Turn { op, outside })
}

/// The turn as the model writes it: it reads before it edits.
fn reply(turn: &Turn) -> Value {
    let call = |tool: &str, args: Value| json!({"tool": tool, "args": args});
    let calls = match turn.op {
        Op::Write(p, c) => vec![
            call("read", json!({"path": path(p)})),
            call("write", json!({"path": path(p), "content": format!("line\ntext {c}\n")})),
        ],
        Op::Edit(p) => vec![
            call("read", json!({"path": path(p)})),
            call("edit", json!({"path": path(p), "old": "line\n", "new": "line\nmore\n"})),
        ],
        Op::Remove(p) => vec![call("remove", json!({"path": path(p)}))],
        Op::Move(a, b) => vec![call("move", json!({"from": path(a), "to": path(b)}))],
        Op::Copy(a, b) => vec![call("copy", json!({"from": path(a), "to": path(b)}))],
    };
    json!({"calls": calls})
}

/// Somebody else acts; gives the paths touched.
fn act_outside(root: &Path, outside: &Outside, salt: usize) -> Vec<String> {
    let (Outside::Write(n) | Outside::Remove(n) | Outside::Mode(n) | Outside::Link(n)) = outside;
    let (name, file) = (path(*n), root.join(path(*n)));
    if file.parent().is_none_or(|dir| !dir.is_dir()) || file.is_dir() {
        return Vec::new();
    }
    // What is done to a link is done to what it leads to.
    let behind = fs::read_link(&file).ok().map(|target| target.display().to_string());
    let done = match outside {
        Outside::Write(_) => fs::write(&file, format!("theirs {salt}\n")).is_ok(),
        Outside::Remove(_) => fs::remove_file(&file).is_ok(),
        Outside::Mode(_) => {
            file.is_file() && fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).is_ok()
        }
        Outside::Link(_) => symlink(format!("nowhere{salt}"), &file).is_ok(),
    };
    if done { behind.into_iter().chain([name.to_owned()]).collect() } else { Vec::new() }
}

/// Every path with its kind, mode, bytes or target, and the time of what is no directory.
type Picture = BTreeMap<String, String>;

fn picture(root: &Path) -> Picture {
    let mut found = Picture::new();
    let mut todo: Vec<PathBuf> = vec![root.to_owned()];
    while let Some(dir) = todo.pop() {
        for item in fs::read_dir(&dir).unwrap().flatten() {
            let path = item.path();
            let meta = path.symlink_metadata().unwrap();
            let what = if meta.is_dir() {
                todo.push(path.clone());
                format!("dir {:o}", meta.mode())
            } else {
                let inside = match meta.is_symlink() {
                    true => fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes(),
                    false => fs::read(&path).unwrap(),
                };
                let text = String::from_utf8(inside).unwrap();
                format!("{:o} {text:?} {}.{}", meta.mode(), meta.mtime(), meta.mtime_nsec())
            };
            found.insert(path.strip_prefix(root).unwrap().display().to_string(), what);
        }
    }
    found
}

/// What stands at a path, without its time.
fn timeless(what: &str) -> &str {
    if what.starts_with("dir ") { what } else { what.rsplit_once(' ').map_or(what, |(w, _)| w) }
}

/// A run that was done, with a picture before and after each turn, and what others touched after it.
struct Done {
    temp: TempHome,
    starts: Vec<Picture>,
    pictures: Vec<Picture>,
    touched: Vec<Vec<String>>,
    run: cairn_types::RunId,
    session: cairn_types::SessionId,
}

fn work(turns: &[Turn]) -> Done {
    let mut replies: Vec<Value> = turns.iter().map(reply).collect();
    replies.push(json!({"say": "done"}));
    let (temp, model) = (TempHome::new(), ModelServer::start(script(&replies)));
    let root = temp.workspace();
    let store = store(&temp.home());
    let start = start(&store, &root, &model.url(), Arc::new(Told::default()));
    let (mut starts, mut pictures, mut touched) = (vec![picture(&root)], Vec::new(), Vec::new());
    let (run, session) = block_on(async {
        let place = Place::New { new_session: false, name: None };
        let (mut driver, _commands) = start.take(place, Some("work")).await.unwrap();
        let mut turn = 0;
        loop {
            let pause = driver.drive(Some(1)).await.unwrap();
            let settled = driver.engine().last_settled().map_or(0, |(_, turn)| turn as usize);
            if settled > turn && driver.engine().is_between_turns() && settled <= turns.len() {
                turn = settled;
                pictures.push(picture(&root));
                let outside = turns[turn - 1].outside.as_ref();
                touched.push(outside.map_or_else(Vec::new, |o| act_outside(&root, o, turn)));
                starts.push(picture(&root));
            }
            if pause == cairn_runtime::Pause::Idle {
                return (driver.run_id().clone(), driver.session_id().clone());
            }
        }
    });
    Done { temp, starts, pictures, touched, run, session }
}

/// Undos tried, and those among them that named a conflict.
static TRIED: [AtomicU32; 2] = [AtomicU32::new(0), AtomicU32::new(0)];

fn count(plan: &Plan) {
    let tried = TRIED[0].fetch_add(1, Ordering::Relaxed) + 1;
    let conflicts = TRIED[1].fetch_add(u32::from(!plan.conflicts.is_empty()), Ordering::Relaxed);
    if tried.is_multiple_of(20) {
        println!("{tried} undos, {conflicts} with conflicts");
    }
}

/// Frees whatever may be freed, however young it is.
fn gc(store: &Store) {
    let keep = needed(store).unwrap();
    store.gc(&Gc { before: u64::MAX, keep, dry_run: false }).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases("CAIRN_UNDO_CASES", 60), max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() })]

    // keeps: undo-exact
    // keeps: undo-after-gc
    #[test]
    fn undo_to_any_point_gives_what_was_there_or_names_a_conflict(
        turns in prop::collection::vec(turn(), 1..9),
        back_to in any::<prop::sample::Index>(),
        (freed_before, freed_after) in (prop::bool::weighted(0.3), any::<bool>()),
    ) {
        let done = work(&turns);
        let back_to = back_to.index(turns.len());
        let root = done.temp.workspace();
        let store = store(&done.temp.home());
        if freed_before {
            gc(&store);
        }
        let settings = Settings::new("/bin/sh".into(), Vec::new());
        let world = Arc::new(World::new(Workspace::open(&root).unwrap(), settings));
        let history = History::read(&store, &done.session, &done.run).unwrap();
        let span = Span::After(1, u32::try_from(back_to).unwrap() + 1);
        let before = picture(&root);
        let plan = Plan::undo(&history, span, &world, false);
        prop_assert_eq!(&picture(&root), &before, "planning changes nothing");
        count(&plan);

        let outside: BTreeSet<&String> = done.touched[back_to..].iter().flatten().collect();
        // What was moved from a path that is left alone is left alone with it.
        let is_freed = |c: &Conflict| freed_before && c.why.contains(" was freed by ");
        let is_own = |c: &&Conflict| !c.why.contains(" was moved from ") && !is_freed(c);
        for conflict in plan.conflicts.iter().filter(is_own) {
            // Somebody else's edit, of it or of what it stands in or holds.
            let is_near = |p: &&&String| {
                p.starts_with(&conflict.path) || conflict.path.starts_with(p.as_str())
            };
            prop_assert!(outside.iter().any(|p| is_near(&p)), "{conflict:?} is nobody's");
        }
        let changed: BTreeSet<String> = plan.changes.iter().map(|c| c.path.clone()).collect();
        let made = block_on(async {
            let mut client = Client::take(store.clone(), world.clone(), &done.session).await.unwrap();
            client.perform(plan.undo_op(&done.run, By::Yolo)).await.unwrap()
        });
        if made.changes.is_err() {
            prop_assert!(!outside.is_empty(), "{:?}", made.changes);
            prop_assert_eq!(picture(&root), before, "refused, so nothing changed");
            return Ok(());
        }
        let after = picture(&root);
        let then = &done.pictures[back_to];
        for path in then.keys().chain(after.keys()).collect::<BTreeSet<_>>() {
            if changed.contains(path) {
                // As it was when the first of the undone rows came to it.
                let is_of = |c: &cairn_types::Change| c.path == *path;
                let mut rows = history.rows.iter().filter(|row| span.holds(row.at));
                let first = rows.find(|row| row.changes.iter().any(is_of)).unwrap();
                let was = &done.starts[first.at.turn as usize - 1];
                prop_assert_eq!(after.get(path), was.get(path), "{} is not as it was", path);
            } else {
                prop_assert_eq!(after.get(path), before.get(path), "{} was not to change", path);
            }
        }
        if outside.is_empty() && !plan.conflicts.iter().any(is_freed) {
            prop_assert!(plan.conflicts.is_empty());
            // What rows made again with the same bytes is not touched, and keeps its own time.
            let settled = |picture: &Picture| -> Picture {
                let untouched = |path: &String| !changed.contains(path);
                let told = |path: &String, what: &String| match untouched(path) {
                    true => timeless(what).to_owned(),
                    false => what.clone(),
                };
                picture.iter().map(|(path, what)| (path.clone(), told(path, what))).collect()
            };
            prop_assert_eq!(settled(&after), settled(then));
        }

        if freed_after {
            gc(&store);
        }
        let history = History::read(&store, &done.session, &done.run).unwrap();
        prop_assert_eq!(history.undone.is_empty(), changed.is_empty(), "an undo is known as one");
        if let Some(undone) = history.undone.last() {
            let again = Plan::undo(&history, span, &world, false);
            let was_left = |path: &String| !plan.paths.contains(path);
            prop_assert!(again.paths.iter().all(was_left), "{:?} goes back twice", again.paths);
            let left = plan.conflicts.iter().map(|c| &c.path);
            let is_open = |path: &&String| {
                again.paths.contains(path) || again.conflicts.iter().any(|c| c.path == **path)
            };
            for path in left {
                prop_assert!(is_open(&path), "{} was left alone and is called undone", path);
            }
            let redo = Plan::redo(undone, &history, &world, false);
            prop_assert_eq!(&redo.conflicts, &vec![]);
            block_on(async {
                let mut client = Client::take(store.clone(), world.clone(), &done.session).await.unwrap();
                client.perform(redo.redo_op(undone, By::Yolo)).await.unwrap().changes.unwrap();
            });
            prop_assert_eq!(picture(&root), before, "redo brings back what undo took");
        }
    }
}
