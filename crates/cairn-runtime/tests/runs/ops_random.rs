//! Random ops on files and entries: each comes to what a simple model says, and in the end everything is
//! as it is there.

use crate::kit::{block_on, store};
use crate::ops_model::{Model, Op, is_file};
use cairn_runtime::{Answer, Client, schemes, session_here};
use cairn_store::Store;
use cairn_testkit::{TempHome, cases};
use cairn_types::{By, Policy};
use cairn_world::{Settings, Workspace, World};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Few addresses, so that ops meet.
const ADDRESSES: [&str; 15] = [
    "a.md",
    "日/éb😀.md",
    "j.json",
    "known:///a",
    "known:///d",
    "known:///d/é日.md",
    "known:///j.json",
    "unknown:///a",
    "unknown:///d",
    "unknown:///é/b.md",
    "unknown:///j.json",
    "memory:///a",
    "memory:///d",
    "memory:///d/b😀.md",
    "memory:///j.json",
];
const SCHEMES: [&str; 3] = ["known:///", "unknown:///", "memory:///"];
const TEXTS: [&str; 8] =
    ["", "one\n", "two\n", "one\ntwo\n", "one\none\n", "[1, 2, 3]\n", "[7]\n", "[]\n"];
const WORDS: [&str; 7] = ["one", "two", "three", "1", "7", "3", "zebra"];
const DIGITS: [&str; 3] = ["1", "7", "3"];
const LETTERS: [&str; 4] = ["one", "two", "three", "zebra"];
const SCOPES: [&str; 9] = ["0", "-1", "1", "2", "9", "1-2", "2-3", "1,-1", "nine"];
const GLOBS: [&str; 4] = ["**", "*.json", "日/*", "a*"];

fn of(all: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::sample::select(all).prop_map(str::to_owned)
}

fn tags() -> impl Strategy<Value = Vec<String>> {
    let some = prop::sample::subsequence(vec!["t".to_owned(), "u".to_owned()], 1..=2);
    prop_oneof![3 => Just(Vec::new()), 1 => some]
}

fn maybe(all: &'static [&'static str]) -> impl Strategy<Value = Option<String>> {
    prop::option::weighted(0.4, of(all))
}

fn ends() -> impl Strategy<Value = (String, String, Vec<String>)> {
    (of(&ADDRESSES), of(&ADDRESSES), tags())
}

fn op() -> impl Strategy<Value = Op> {
    // A line of letters never becomes a number: that is a JSON document without items, of which the model knows nothing.
    let words = prop_oneof![(of(&WORDS), of(&LETTERS)), (of(&DIGITS), of(&DIGITS))];
    let exchange = (words, any::<bool>()).prop_map(|((old, new), all)| (old, new, all));
    let places = ["", SCHEMES[0], SCHEMES[1], SCHEMES[2]].map(str::to_owned);
    prop_oneof![
        6 => (of(&ADDRESSES), of(&TEXTS), maybe(&SCOPES), tags())
            .prop_map(|(at, text, scope, tags)| Op::Write { at, text, scope, tags }),
        3 => (of(&ADDRESSES), prop::collection::vec(exchange, 1..=3))
            .prop_map(|(at, exchanges)| Op::Replace { at, exchanges }),
        3 => ends().prop_map(|(from, to, tags)| Op::Copy { from, to, tags }),
        4 => ends().prop_map(|(from, to, tags)| Op::Move { from, to, tags }),
        2 => of(&ADDRESSES).prop_map(|at| Op::Remove { at }),
        2 => (of(&ADDRESSES), maybe(&SCOPES)).prop_map(|(at, scope)| Op::Read { at, scope, matching: None }),
        1 => (of(&ADDRESSES), of(&WORDS))
            .prop_map(|(at, word)| Op::Read { at, scope: None, matching: Some(word) }),
        2 => (prop::sample::select(places.to_vec()), maybe(&GLOBS), maybe(&WORDS), tags())
            .prop_map(|(under, glob, text, tags)| Op::Find { under, glob, text, tags }),
        1 => (of(&ADDRESSES), prop::sample::select(vec![200, 204, 410, 499]))
            .prop_map(|(at, status)| Op::Send { at, status }),
        1 => (of(&ADDRESSES), any::<bool>()).prop_map(|(at, open)| Op::Fold { at, open }),
        2 => (1..=12usize, any::<bool>()).prop_map(|(row, open)| Op::FoldRow { row, open }),
        1 => Just(Op::Exec),
        1 => Just(Op::Leave),
    ]
}

/// A world, and what of it can be seen from outside.
struct Place {
    holder: TempHome,
    store: Store,
}

impl Place {
    fn new() -> Place {
        let holder = TempHome::new();
        let store = store(&holder.home());
        Place { store, holder }
    }

    fn world(&self) -> World {
        let settings = Settings::new("/bin/sh".into(), Vec::new());
        World::new(Workspace::open(&self.holder.workspace()).unwrap(), settings)
    }

    async fn client(&self) -> Client {
        let (root, world) = (self.holder.workspace(), Arc::new(self.world()));
        Client::here(self.store.clone(), world, &root, Policy::default()).await.unwrap()
    }

    /// All files, by path.
    fn files(&self) -> BTreeMap<String, String> {
        fn walk(folder: &Path, lead: &str, all: &mut BTreeMap<String, String>) {
            for one in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                let name = format!("{lead}{}", one.file_name().to_string_lossy());
                match one.file_type().unwrap().is_dir() {
                    true => walk(&one.path(), &format!("{name}/"), all),
                    false => drop(all.insert(name, fs::read_to_string(one.path()).unwrap())),
                }
            }
        }
        let mut all = BTreeMap::new();
        walk(&self.holder.workspace(), "", &mut all);
        all
    }

    /// Whether everything is as the model has it.
    fn is_as(&self, model: &Model) -> Result<(), TestCaseError> {
        let files = model.0.iter().filter(|(at, _)| is_file(at));
        let files: BTreeMap<_, _> =
            files.map(|(at, thing)| (at.clone(), thing.text.clone())).collect();
        prop_assert_eq!(self.files(), files);
        let session = session_here(&self.store, &self.holder.workspace()).unwrap();
        let Some(session) = session else { return Ok(()) };
        let files = self.world();
        let world = files.with_schemes(schemes::from_outside(&self.store, &session, &files));
        for scheme in SCHEMES {
            let listed = world.listed(scheme).unwrap();
            let there: Vec<String> = listed.iter().map(|one| one.uri.to_string()).collect();
            let expected = model.0.keys().filter(|at| at.starts_with(scheme));
            prop_assert_eq!(&there, &expected.cloned().collect::<Vec<_>>());
            for (one, at) in listed.iter().zip(&there) {
                let thing = &model.0[at];
                let tags: BTreeSet<String> = one.tags.iter().cloned().collect();
                prop_assert_eq!(&tags, &thing.tags, "{}", at);
                let text = String::from_utf8(world.locations().bytes(at).unwrap()).unwrap();
                prop_assert_eq!(&text, &thing.text, "{}", at);
                let mime = world
                    .locations()
                    .state(at)
                    .unwrap()
                    .and_then(|state| state.entry)
                    .unwrap()
                    .mime;
                prop_assert_eq!(mime == "application/json", at.ends_with(".json"), "{}", at);
            }
        }
        Ok(())
    }
}

/// The addresses that a find told of.
fn told(answer: &Answer) -> Vec<String> {
    let is_address = |line: &&str| line.starts_with(|c: char| c.is_alphabetic());
    let mut told: Vec<String> = answer.text.lines().filter(is_address).map(str::to_owned).collect();
    told.sort();
    told
}

/// Does these in a world and in the model; how many changed something.
fn check(ops: &[Op]) -> Result<u64, TestCaseError> {
    let (place, mut model, mut changed) = (Place::new(), Model::default(), 0);
    block_on(async {
        let mut client = place.client().await;
        for (n, op) in ops.iter().enumerate() {
            let Some((tool, args)) = op.call() else {
                drop(client);
                client = place.client().await;
                continue;
            };
            let answer = client.op(tool, &args.to_string(), By::Person("ada".to_owned())).await;
            let answer = answer.map_err(|e| TestCaseError::fail(format!("op {n}: {e}")))?;
            let (before, status) = (model.0.clone(), model.does(op));
            let named = format!("op {n}, {tool} {args}: {}", answer.text);
            prop_assert_eq!(answer.status.0, status, "{}", named);
            prop_assert_eq!(answer.changes.is_empty(), before == model.0, "{}", named);
            changed += u64::from(before != model.0);
            if let (Op::Find { .. }, 200) = (op, status) {
                prop_assert_eq!(told(&answer), model.found(op).unwrap(), "{}", named);
            }
        }
        drop(client);
        place.is_as(&model).map(|()| changed)
    })
}

// keeps: ops-by-the-model
#[test]
fn any_sequence_of_ops_comes_to_what_a_simple_model_says() {
    let cases = cases("CAIRN_OP_SEQUENCES", 40);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let (done, changed) = (Cell::new(0u64), Cell::new(0u64));
    let ran = TestRunner::new(config).run(&prop::collection::vec(op(), 20), |ops| {
        let all = check(&ops)?;
        done.set(done.get() + ops.len() as u64);
        changed.set(changed.get() + all);
        Ok(())
    });
    ran.unwrap_or_else(|why| panic!("{why}"));
    let (done, changed) = (done.get(), changed.get());
    assert!(changed * 8 > done, "{changed} of {done} ops changed something");
    println!("{cases} op sequences, {done} ops, {changed} changes, all as the model says");
}
