//! Hooks as Rust values: what an embedder's code says is done, is in the log, and stands in the way of
//! no abort.

use crate::kit::{Told, block_on, script, start, store};
use cairn_engine::Word;
use cairn_hooks::{Answer, Event, Hook, HookEvent, Hooks, What};
use cairn_runtime::{Command, Place, Start};
use cairn_testkit::{ModelServer, TempHome};
use cairn_types::{Approval, Body, By, ProposalId, Status, Verdict};
use futures_util::future::{BoxFuture, FutureExt};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// Notes what it is asked, and answers like this.
struct Ears {
    heard: Mutex<Vec<String>>,
    answer: fn(&Event) -> Option<Answer>,
}

impl Ears {
    fn new(answer: fn(&Event) -> Option<Answer>) -> Arc<Ears> {
        Arc::new(Ears { heard: Mutex::default(), answer })
    }
}

impl Hook for Ears {
    fn name(&self) -> &str {
        "ears"
    }

    fn wants(&self, _: HookEvent, tool: Option<&str>) -> bool {
        tool != Some("todo")
    }

    fn on<'a>(&'a self, event: &'a Event) -> BoxFuture<'a, Answer> {
        let target = event.call().map(|call| call.action.target()).unwrap_or_default();
        self.heard.lock().unwrap().push(format!("{} {target}", event.kind()).trim().to_owned());
        match (self.answer)(event) {
            Some(answer) => std::future::ready(answer).boxed(),
            None => std::future::pending().boxed(),
        }
    }
}

fn place() -> Place {
    Place::New { new_session: false, name: None }
}

fn with(hook: &Arc<Ears>, temp: &TempHome, model: &ModelServer) -> Start {
    let store = store(&temp.home());
    let mut start = start(&store, &temp.workspace(), &model.url(), Arc::new(Told::default()));
    let hook: Arc<dyn Hook> = Arc::clone(hook) as Arc<dyn Hook>;
    start.settings.hooks = Hooks::new(vec![hook]);
    start
}

fn calls() -> Vec<Value> {
    vec![
        json!({"calls": [
            {"tool": "bash", "args": {"command": "touch made"}},
            {"tool": "todo", "args": {"items": []}},
            {"tool": "list", "args": {"path": "."}}
        ]}),
        json!({"say": "ok"}),
    ]
}

// keeps: hook-chain
#[test]
fn an_embedders_hook_hears_everything_in_order_and_its_word_counts() {
    let (temp, model) = (TempHome::new(), ModelServer::start(script(&calls())));
    let ears = Ears::new(|event| {
        let block = matches!(&event.what, What::PreToolUse(call) if call.tool == "bash");
        Some(Answer { block: block.then(|| "no".to_owned()), ..Answer::default() })
    });
    let facts = block_on(async {
        let (mut driver, _commands) =
            with(&ears, &temp, &model).take(place(), Some("work")).await.unwrap();
        driver.drive(None).await.unwrap();
        driver.store().facts(driver.run_id(), 0).unwrap()
    });
    assert_eq!(
        *ears.heard.lock().unwrap(),
        [
            "SessionStart",
            "UserPromptSubmit",
            "TurnStart",
            "PreToolUse touch made",
            "PreToolUse .",
            "PostToolUse .",
            "TurnEnd",
            "TurnStart",
            "TurnEnd",
            "Stop",
            "SessionEnd"
        ]
    );
    assert!(!temp.workspace().join("made").exists());
    let said = facts.iter().filter(|fact| matches!(fact.body, Body::Hook(_))).count();
    assert_eq!(said, 11, "every answer is a fact");
    let performed = facts.iter().filter(|fact| matches!(fact.body, Body::Performed(_))).count();
    assert_eq!(performed, 1);
}

// keeps: hook-chain
#[test]
fn a_hook_that_never_answers_does_not_keep_a_run_from_being_stopped() {
    let (temp, model) = (TempHome::new(), ModelServer::start(script(&calls())));
    let ears = Ears::new(|event| match event.what {
        What::PreToolUse(_) => None,
        _ => Some(Answer::default()),
    });
    let (ended, hooks) = block_on(async {
        let (mut driver, commands) =
            with(&ears, &temp, &model).take(place(), Some("work")).await.unwrap();
        let stop = async {
            while !ears.heard.lock().unwrap().iter().any(|heard| heard.starts_with("PreToolUse")) {
                tokio::time::sleep(std::time::Duration::from_millis(2)).await;
            }
            commands.send(Command::Abort("enough".to_owned())).unwrap();
        };
        let (driven, ()) = tokio::join!(driver.drive(None), stop);
        driven.unwrap();
        let facts = driver.store().facts(driver.run_id(), 0).unwrap();
        let asked = |fact: &cairn_types::Fact| matches!(&fact.body, Body::Hook(one) if one.event == HookEvent::PreToolUse);
        (driver.engine().ended().unwrap().status, facts.iter().filter(|f| asked(f)).count())
    });
    assert_eq!((ended, hooks), (Status::CANCELLED, 0));
    assert!(!temp.workspace().join("made").exists());
}

/// A run with somebody to ask, whose question is decided as soon as the hook has heard this event.
fn decided_at(event: HookEvent, answer: fn(&Event) -> Option<Answer>) -> (Arc<Ears>, Vec<Body>) {
    let (temp, model) = (TempHome::new(), ModelServer::start(script(&calls()[..1])));
    let ears = Ears::new(answer);
    let facts = block_on(async {
        let mut start = with(&ears, &temp, &model);
        start.approval = Approval::Ask;
        let (mut driver, commands) = start.take(place(), Some("work")).await.unwrap();
        let decide = async {
            let heard = || ears.heard.lock().unwrap().iter().any(|h| h.starts_with(event.name()));
            while !heard() {
                tokio::time::sleep(std::time::Duration::from_millis(2)).await;
            }
            let word = Word::new(
                ProposalId("p1.1.1".into()),
                Verdict::Refuse,
                By::Person("someone".into()),
            );
            commands.send(Command::Decide(word, None)).unwrap();
            while !ears.heard.lock().unwrap().iter().any(|heard| heard == "TurnEnd") {
                tokio::time::sleep(std::time::Duration::from_millis(2)).await;
            }
            commands.send(Command::Abort("enough".to_owned())).unwrap();
        };
        let (driven, ()) = tokio::join!(driver.drive(None), decide);
        driven.unwrap();
        driver.store().facts(driver.run_id(), 0).unwrap()
    });
    (ears, facts.into_iter().map(|fact| fact.body).collect())
}

// keeps: hook-questions
#[test]
fn a_persons_word_does_not_wait_for_who_is_told_of_the_question() {
    let (ears, facts) = decided_at(HookEvent::Notification, |event| match event.what {
        What::Notification { .. } => None,
        _ => Some(Answer::default()),
    });
    let place = |is: fn(&Body) -> bool| facts.iter().position(is);
    let question = place(|body| matches!(body, Body::Proposal(_))).unwrap();
    let word = place(|body| matches!(body, Body::Decision(_))).unwrap();
    assert!(question < word);
    let told =
        |body: &Body| matches!(body, Body::Hook(one) if one.event == HookEvent::Notification);
    assert!(!facts.iter().any(told), "nobody waited for it");
    let heard = ears.heard.lock().unwrap().clone();
    let of_op: Vec<&str> = heard.iter().map(String::as_str).skip(3).take(4).collect();
    assert_eq!(
        of_op,
        [
            "PreToolUse touch made",
            "PermissionRequest touch made",
            "Notification",
            "Decided touch made"
        ]
    );
}

// keeps: hook-questions
#[test]
fn a_question_times_out_and_a_run_is_stopped_while_a_hook_that_is_told_of_it_never_answers() {
    for limit in [None, Some(std::time::Duration::from_millis(20))] {
        let (temp, model) = (TempHome::new(), ModelServer::start(script(&calls())));
        let ears = Ears::new(|event| match event.what {
            What::Notification { .. } => None,
            _ => Some(Answer::default()),
        });
        let (ended, row) = block_on(async {
            let mut start = with(&ears, &temp, &model);
            (start.approval, start.settings.decide_within) = (Approval::Ask, limit);
            let (mut driver, commands) = start.take(place(), Some("work")).await.unwrap();
            let stop = async {
                while !ears.heard.lock().unwrap().iter().any(|heard| heard == "Notification") {
                    tokio::time::sleep(std::time::Duration::from_millis(2)).await;
                }
                if limit.is_none() {
                    commands.send(Command::Abort("enough".to_owned())).unwrap();
                }
            };
            let (driven, ()) = tokio::join!(driver.drive(None), stop);
            driven.unwrap();
            let facts = driver.store().facts(driver.run_id(), 0).unwrap();
            let row = facts.iter().find_map(|fact| match &fact.body {
                Body::Outcome(outcome) => Some(outcome.status),
                _ => None,
            });
            (driver.engine().ended().unwrap().status, row)
        });
        let expected = if limit.is_some() { Status::OK } else { Status::CANCELLED };
        assert_eq!((ended, row), (expected, Some(Status::CANCELLED)), "{limit:?}");
        assert!(!temp.workspace().join("made").exists());
    }
}
