//! "Follow one turn" in ARCHITECTURE.md is what happens: a run with one edit passes exactly the steps that it names, in
//! that order.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[allow(dead_code, reason = "shared with the other tests")]
#[path = "runs/kit.rs"]
mod kit;

use cairn_runtime::Place;
use cairn_testkit::{ModelServer, TempHome};
use serde_json::json;
use std::fmt::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Keeps the names of the steps that are passed, each once, in the order in which they are first passed.
#[derive(Clone, Default)]
struct PassedSteps(Arc<Mutex<Vec<String>>>);

/// The text of an event.
#[derive(Default)]
struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            write!(self.0, "{value:?}").unwrap();
        }
    }
}

impl Subscriber for PassedSteps {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "cairn::turn"
    }

    fn event(&self, event: &Event<'_>) {
        let mut message = Message::default();
        event.record(&mut message);
        let mut passed = self.0.lock().unwrap();
        if !passed.contains(&message.0) {
            passed.push(message.0);
        }
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// A row of the table: the step and its file.
#[derive(Debug, PartialEq, Eq)]
struct NamedStep {
    name: String,
    file: String,
}

fn named_steps(root: &Path) -> Vec<NamedStep> {
    let page = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let section = page.split("\n## Follow one turn\n").nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| ") && line.contains("`"));
    let cell = |row: &str, n: usize| {
        let cell = row.split('|').nth(n).unwrap_or_default().trim();
        cell.trim_matches('`').to_owned()
    };
    rows.map(|row| NamedStep { name: cell(row, 2), file: cell(row, 3) }).collect()
}

#[test]
fn a_run_with_one_edit_passes_exactly_the_named_steps() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let named = named_steps(&root);
    assert!((10..=25).contains(&named.len()), "{} steps", named.len());
    for NamedStep { name, file } in &named {
        let source = std::fs::read_to_string(root.join(file)).unwrap();
        let function = name.split("::").last().unwrap();
        assert!(source.contains(&format!("fn {function}(")), "{file} has no {name}");
    }
    let passed = PassedSteps::default();
    tracing::subscriber::set_global_default(passed.clone()).unwrap();
    let replies = [
        json!({"calls": [{"tool": "write", "args": {"path": "made.txt", "content": "made\n"}}]}),
        json!({"say": "done"}),
    ];
    let (temp, model) = (TempHome::new(), ModelServer::start(kit::script(&replies)));
    kit::block_on(async {
        let store = kit::store(&temp.home());
        let told = Arc::new(kit::Told::default());
        let start = kit::start(&store, &temp.workspace(), &model.url(), told);
        let place = Place::New { new_session: false, name: None };
        let (mut driver, _commands) = start.take(place, Some("work")).await.unwrap();
        // To begin a run is no part of a turn.
        passed.0.lock().unwrap().clear();
        driver.drive(None).await.unwrap();
    });
    assert_eq!(std::fs::read_to_string(temp.workspace().join("made.txt")).unwrap(), "made\n");
    let named: Vec<String> = named.into_iter().map(|step| step.name).collect();
    assert_eq!(*passed.0.lock().unwrap(), named);
}
