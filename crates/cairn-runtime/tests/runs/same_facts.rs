//! What an agent does with its tools and what a person does with `cairn op` are the same facts.

use crate::kit::{Told, block_on, script, start, store};
use cairn_runtime::{CLIENT_RUN, Client, Place, client_run, session_here};
use cairn_store::Store;
use cairn_testkit::{ModelServer, TempHome};
use cairn_types::{Body, By, ContentRef, Coord, Policy, RunId};
use cairn_world::{Settings, Workspace, World};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What both do, each a call. Every result is another, since an agent is not told the same twice. `{NAME}` is
/// how the run is called, `{RUN}` its id.
const CALLS: &str = r#"
write      {"path":"a.md","content":"one\ntwo\n"}
read       {"path":"a.md"}
edit       {"path":"a.md","old":"two","new":"zwei"}
multi_edit {"path":"a.md","edits":[{"old":"one","new":"eins"},{"old":"zwei","new":"two"}]}
multi_edit {"path":"a.md","edits":[{"old":"eins","new":"one"},{"old":"nowhere","new":"x"}]}
write      {"path":"a.md","content":"three\n","scope":"-1"}
write      {"path":"a.md","content":"x\n","scope":"99"}
copy       {"from":"a.md","to":"known:///a"}
copy       {"from":"a.md","to":"known:///a"}
copy       {"from":"known:///a","to":"unknown:///a","tags":["t"]}
copy       {"from":"known:///a","to":"unknown:///a"}
write      {"path":"unknown:///a","content":"eins\n","scope":"1,-1","tags":["u"]}
read       {"path":"unknown:///a"}
edit       {"path":"known:///a","old":"three","new":"drei"}
multi_edit {"path":"known:///a","edits":[{"old":"two","new":"zwei"},{"old":"eins","new":"1"}]}
read       {"path":"known:///a","scope":"2-3"}
read       {"path":"known:///a","matching":"/^z/"}
read       {"path":"known:///missing"}
move       {"from":"unknown:///a","to":"memory:///b"}
move       {"from":"memory:///b","to":"d/b.md"}
move       {"from":"d/b.md","to":"c.md"}
copy       {"from":"c.md","to":"c2.md"}
copy       {"from":"known:///a","to":"c.md"}
copy       {"from":"known:///a","to":"c.json"}
write      {"path":"memory:///list.json","content":"[1, 2]"}
write      {"path":"memory:///list.json","content":"3","scope":"-1"}
write      {"path":"memory:///list.json","content":"no"}
read       {"path":"memory:///list.json","matching":"$[1]"}
find       {"under":"memory:///","glob":"*.json"}
find       {"under":"known:///","text":"drei"}
find       {"text":"eins"}
find       {"under":"unknown:///","tags":["t"]}
list       {"path":"."}
list       {"path":"known:///"}
remove     {"path":"c2.md"}
remove     {"path":"memory:///list.json"}
remove     {"path":"memory:///list.json"}
write      {"path":"run:///x","content":"x"}
read       {"path":"run:///{NAME}","matching":"$.run"}
read       {"path":"prompt:///{RUN}/1"}
copy       {"from":"prompt:///{RUN}/1","to":"known:///asked"}
remove     {"path":"prompt:///{RUN}/1"}
write      {"path":"known:///a#other","content":"x"}
"#;

fn calls() -> impl Iterator<Item = (&'static str, &'static str)> {
    let call = |line: &'static str| {
        let (tool, args) = line.split_once(' ').unwrap();
        (tool, args.trim())
    };
    CALLS.lines().filter(|line| !line.is_empty()).map(call)
}

/// How a person's run is called, and what its first prompt says.
const NAME: &str = "worker";
const FIRST: &str = "write a.md";

/// An agent does them, one a turn. What names its run can only be written down once it has one.
fn by_an_agent(temp: &TempHome) -> (Store, RunId) {
    let store = store(&temp.home());
    let turn = |run: &str, (tool, args): (&str, &str)| {
        let args = args.replace("{RUN}", run).replace("{NAME}", NAME);
        let args: Value = serde_json::from_str(&args).unwrap();
        json!({"say": "on", "calls": [{"tool": tool, "args": args}]})
    };
    let drive = |place: Place, task: Option<&str>, replies: Vec<Value>| {
        let model = ModelServer::start(script(&replies));
        let told = Arc::new(Told::default());
        let start = start(&store, &temp.workspace(), &model.url(), told);
        block_on(async {
            let (mut driver, _commands) = start.take(place, task).await.unwrap();
            driver.drive(None).await.unwrap();
            (driver.run_id().clone(), driver.session_id().clone())
        })
    };
    let (before, after): (Vec<_>, Vec<_>) = calls().partition(|(_, args)| !args.contains("{RUN}"));
    let done = json!({"say": "done"});
    let first: Vec<Value> =
        before.iter().map(|call| turn("", *call)).chain([done.clone()]).collect();
    let place = Place::New { new_session: false, name: Some(NAME.to_owned()) };
    let (run, session) = drive(place, Some(FIRST), first.clone());
    // A script goes on where the conversation stands.
    let more = after.iter().map(|call| turn(run.as_str(), *call));
    let replies = first.into_iter().chain(more).chain([done]).collect();
    drive(Place::Existing { run: run.clone(), session }, Some("go on"), replies);
    (store, run)
}

/// A person does them, one an op.
fn by_a_person(temp: &TempHome) -> (Store, RunId) {
    let (store, root) = (store(&temp.home()), temp.workspace());
    let settings = Settings::new("/bin/sh".into(), Vec::new());
    let world = Arc::new(World::new(Workspace::open(&root).unwrap(), settings));
    block_on(async {
        let mut client =
            Client::here(store.clone(), world, &root, Policy::default()).await.unwrap();
        let (before, after): (Vec<_>, Vec<_>) =
            calls().partition(|(_, args)| !args.contains("{RUN}"));
        let mut run = String::new();
        for (tool, args) in before.into_iter().chain(after) {
            let args = args.replace("{RUN}", &run).replace("{NAME}", CLIENT_RUN);
            run =
                client.op(tool, &args, By::Person("ada".to_owned())).await.unwrap().run.to_string();
        }
    });
    let session = session_here(&store, &root).unwrap().unwrap();
    let run = client_run(&store, &session).unwrap().unwrap();
    (store, run)
}

/// A value without what differs between any two runs.
fn bare(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            // What was asked and what was told are compared as texts, without the run's id.
            let own = ["at", "call", "writer", "surface", "ms", "mtime_ns", "by", "gates"];
            let texts = ["input", "result"];
            fields.retain(|name, _| !own.iter().chain(&texts).any(|one| one == name));
            if fields.get("path").and_then(Value::as_str).is_some_and(|at| at.starts_with("run:")) {
                fields.remove("hash");
            }
            fields.values_mut().for_each(|value| *value = bare(value.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|value| *value = bare(value.take())),
        _ => {}
    }
    value
}

/// What each op left, a line per fact, in order.
fn left((store, run): &(Store, RunId), name: &str) -> Vec<String> {
    let text = |content: &ContentRef| {
        let text = String::from_utf8(store.content(&content.hash).unwrap()).unwrap();
        serde_json::from_str(&text).unwrap_or(Value::String(text))
    };
    let mut ops: BTreeMap<Coord, Vec<String>> = BTreeMap::new();
    for fact in store.facts(run, 0).unwrap() {
        let (at, told, more) = match &fact.body {
            Body::Intent(intent) => (intent.at, json!(intent), text(&intent.input)),
            Body::Decision(decision) => (decision.at, json!(decision), Value::Null),
            Body::Begin(begin) => (begin.at, json!(begin), Value::Null),
            Body::Outcome(outcome) => (outcome.at, json!(outcome), text(&outcome.result)),
            _ => continue,
        };
        let line = format!("{} {} {more}", fact.body.kind(), bare(told));
        let line = line.replace(run.as_str(), "{RUN}").replace(name, "{NAME}");
        ops.entry(at).or_default().push(line);
    }
    ops.into_values().flatten().collect()
}

// keeps: same-facts
#[test]
fn an_agents_tools_and_a_persons_ops_leave_the_same_facts() {
    let (one, other) = (TempHome::new(), TempHome::new());
    let (agent, person) = (by_an_agent(&one), by_a_person(&other));
    let (agent, person) = (left(&agent, NAME), left(&person, CLIENT_RUN));
    for (n, (agent, person)) in agent.iter().zip(&person).enumerate() {
        assert_eq!(agent, person, "fact {n}");
    }
    assert_eq!(agent.len(), person.len());
    let outcomes = agent.iter().filter(|line| line.starts_with("outcome")).count();
    assert_eq!(outcomes, calls().count());
}
