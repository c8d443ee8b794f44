//! Tools that a program adds to a run: called by the model, asked about, gated and recorded like the built-in ones.

use crate::kit::{Told, block_on, rules, script, start, store};
use cairn_engine::Word;
use cairn_runtime::{
    Command, Driver, Manner, NewTool, OutsideTools, Pause, Place, Start, ToolAnswer, ToolHandler,
    ToolProblem,
};
use cairn_testkit::{ModelServer, TempHome};
use cairn_types::{
    Approval, Body, By, Effect, Mode, OpName, Outcome, Remember, Settled, Status, ToolCall,
    ToolUse, Verdict,
};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio_util::sync::CancellationToken;

/// A tool that is told a city and some days.
fn weather(effect: Option<Effect>) -> NewTool {
    NewTool {
        name: "weather".to_owned(),
        description: "Says how the weather will be.".to_owned(),
        input_schema: json!({
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
            "additionalProperties": false,
        }),
        effect,
        ..NewTool::default()
    }
}

/// Answers with what it was called with, and counts.
fn echo(calls: &Arc<AtomicU32>) -> impl ToolHandler + 'static {
    let calls = calls.clone();
    move |call: ToolCall, _| {
        calls.fetch_add(1, Ordering::SeqCst);
        async move { ToolAnswer::ok(format!("called with {}", Value::Object(call.arguments))) }
    }
}

struct Fixture {
    temp: TempHome,
    model: ModelServer,
    calls: Arc<AtomicU32>,
}

impl Fixture {
    fn new(replies: &[Value]) -> Fixture {
        let (temp, model) = (TempHome::new(), ModelServer::start(script(replies)));
        Fixture { temp, model, calls: Arc::default() }
    }

    /// A start with the tool `weather`.
    fn start(&self, effect: Option<Effect>) -> Start {
        let mut start = self.start_without();
        start.settings.outside_tools.add(weather(effect), echo(&self.calls)).unwrap();
        start
    }

    fn start_without(&self) -> Start {
        let store = store(&self.temp.home());
        start(&store, &self.temp.workspace(), &self.model.url(), Arc::new(Told::default()))
    }

    fn call_count(&self) -> u32 {
        self.calls.load(Ordering::SeqCst)
    }
}

fn new_run() -> Place {
    Place::New { new_session: false, name: None }
}

fn one_call(args: Value) -> Vec<Value> {
    vec![json!({"calls": [{"tool": "weather", "args": args}]}), json!({"say": "done"})]
}

/// The outcomes of a run, each with its result.
fn outcomes(driver: &Driver) -> Vec<(Outcome, String)> {
    let facts = driver.store().facts(driver.run_id(), 0).unwrap();
    let outcomes = facts.into_iter().filter_map(|fact| match fact.body {
        Body::Outcome(outcome) => Some(outcome),
        _ => None,
    });
    let with_text = |outcome: Outcome| {
        let text = driver.store().content(&outcome.result.hash).unwrap();
        (outcome, String::from_utf8(text).unwrap())
    };
    outcomes.map(with_text).collect()
}

// keeps: tools-by-anyone
#[test]
fn a_call_reaches_its_handler_and_is_a_row_like_any() {
    let fixture = Fixture::new(&one_call(json!({"city": "Łódź", "days": "3"})));
    block_on(async {
        let (mut driver, _commands) =
            fixture.start(None).take(new_run(), Some("work")).await.unwrap();
        driver.drive(None).await.unwrap();
        let outcomes = outcomes(&driver);
        let [(outcome, text)] = &outcomes[..] else { panic!("{outcomes:?}") };
        assert_eq!(text, r#"called with {"city":"Łódź","days":3}"#, "days is read as a number");
        assert_eq!((outcome.status, outcome.settled), (Status::OK, Settled::Performed));
        let facts = driver.store().facts(driver.run_id(), 0).unwrap();
        let intent = facts.iter().find_map(|fact| match &fact.body {
            Body::Intent(intent) => Some(intent),
            _ => None,
        });
        let intent = intent.unwrap();
        assert_eq!((intent.op, intent.effect), (Some(OpName::Call), Effect::Host));
        assert!(!intent.repeatable, "nobody said that it may be called twice");
        assert!(facts.iter().any(|fact| matches!(fact.body, Body::Begin(_))));
    });
    assert_eq!(fixture.call_count(), 1);
    let request = String::from_utf8_lossy(&fixture.model.requests()[0]).into_owned();
    assert!(request.contains("Says how the weather will be."), "{request}");
}

// keeps: tools-by-anyone
#[test]
fn it_is_asked_about_by_its_name_and_a_yes_is_none_to_another_tool() {
    let calls = json!({"calls": [
        {"tool": "weather", "args": {"city": "Oslo"}},
        {"tool": "weather", "args": {"city": "Rome"}},
        {"tool": "alarm", "args": {}},
    ]});
    let fixture = Fixture::new(&[calls, json!({"say": "done"})]);
    let mut start = fixture.start(None);
    let alarm = NewTool {
        name: "alarm".to_owned(),
        input_schema: json!({"type": "object"}),
        ..NewTool::default()
    };
    start.settings.outside_tools.add(alarm, echo(&fixture.calls)).unwrap();
    start.approval = Approval::Ask;
    let asked: Vec<(String, Vec<String>)> = block_on(async {
        let (mut driver, commands) = start.take(new_run(), Some("work")).await.unwrap();
        let mut verdicts = [Verdict::Allow, Verdict::Refuse].into_iter();
        while driver.drive(Some(1)).await.unwrap() != Pause::Idle {
            let Some(question) = driver.engine().open_question() else { continue };
            let by = By::Person("someone".to_owned());
            let mut word = Word::new(question.id.clone(), verdicts.next().unwrap(), by);
            if word.verdict == Verdict::Allow {
                word.remember = Remember::Run;
            }
            commands.send(Command::Decide(word, None)).unwrap();
        }
        let facts = driver.store().facts(driver.run_id(), 0).unwrap();
        let asked = facts.iter().filter_map(|fact| match &fact.body {
            Body::Proposal(proposal) => Some((proposal.at.to_string(), proposal.offers.clone())),
            _ => None,
        });
        asked.collect()
    });
    assert_eq!(
        asked,
        [
            ("1/1/1".to_owned(), vec!["call[tool=weather]".to_owned()]),
            ("1/1/3".to_owned(), vec!["call[tool=alarm]".to_owned()])
        ]
    );
    assert_eq!(fixture.call_count(), 2);
}

// keeps: tools-by-anyone
#[test]
fn rules_and_modes_hold_for_it() {
    let check = |effect, policy: &[&str], mode, expected: u16| {
        let fixture = Fixture::new(&one_call(json!({"city": "Oslo"})));
        let mut start = fixture.start(effect);
        (start.policy, start.mode) = (rules(policy), mode);
        let status = block_on(async {
            let (mut driver, _commands) = start.take(new_run(), Some("work")).await.unwrap();
            driver.drive(None).await.unwrap();
            outcomes(&driver)[0].0.status
        });
        assert_eq!(status.0, expected, "{effect:?} {policy:?} {mode:?}");
        assert_eq!(fixture.call_count(), u32::from(expected == 200));
    };
    check(None, &[], Mode::Act, 200);
    check(None, &["deny call"], Mode::Act, 403);
    check(None, &["deny call[tool=weather]"], Mode::Act, 403);
    check(None, &["deny call[tool=alarm]"], Mode::Act, 200);
    check(None, &[], Mode::ReadOnly, 403);
    check(Some(Effect::Read), &[], Mode::ReadOnly, 200);
    check(Some(Effect::Read), &["deny call"], Mode::Act, 403);
}

// keeps: tools-by-anyone
#[test]
fn wrong_arguments_are_told_and_nothing_is_called() {
    for (args, told) in [
        (json!({}), "weather: city is missing"),
        (json!({"city": ["a"]}), "weather: city must be a string"),
        (
            json!({"city": "a", "town": "b"}),
            "weather: there is no argument \"town\"; the arguments are city, days",
        ),
    ] {
        let fixture = Fixture::new(&one_call(args));
        block_on(async {
            let (mut driver, _commands) =
                fixture.start(None).take(new_run(), Some("work")).await.unwrap();
            driver.drive(None).await.unwrap();
            let outcomes = outcomes(&driver);
            assert_eq!((outcomes[0].0.status, outcomes[0].1.as_str()), (Status::BAD_REQUEST, told));
        });
        assert_eq!(fixture.call_count(), 0);
    }
}

// keeps: tools-by-anyone
#[test]
fn a_run_that_goes_on_without_the_tool_still_reads_its_rows_and_says_that_it_is_gone() {
    let call = |city: &str| json!({"calls": [{"tool": "weather", "args": {"city": city}}]});
    let replies = [call("Oslo"), json!({"say": "one"}), call("Rome"), json!({"say": "two"})];
    let fixture = Fixture::new(&replies);
    let told = block_on(async {
        let (mut driver, _commands) =
            fixture.start(None).take(new_run(), Some("work")).await.unwrap();
        driver.drive(None).await.unwrap();
        let (run, session) = (driver.run_id().clone(), driver.session_id().clone());
        drop(driver);
        let place = Place::Existing { run, session };
        let (mut driver, _commands) =
            fixture.start_without().take(place, Some("again")).await.unwrap();
        driver.drive(None).await.unwrap();
        outcomes(&driver)
            .into_iter()
            .map(|(outcome, text)| (outcome.status.0, text))
            .collect::<Vec<_>>()
    });
    assert_eq!(
        told,
        [
            (200, r#"called with {"city":"Oslo"}"#.to_owned()),
            (501, "the tool weather is not there any more".to_owned())
        ]
    );
    assert_eq!(fixture.call_count(), 1);
}

// keeps: tools-by-anyone
#[test]
fn a_name_of_a_built_in_tool_is_not_taken() {
    let check = |name: &str, expected: &str| {
        let mut tools = OutsideTools::default();
        let tool = NewTool { name: name.to_owned(), ..weather(None) };
        let added = tools.add(tool, echo(&Arc::default()));
        let said =
            added.map_or_else(|problem: ToolProblem| problem.to_string(), |()| String::new());
        assert_eq!(said, expected, "{name}");
    };
    check("weather", "");
    check("bash", "the name \"bash\" is taken by the built-in tool bash");
    check("Shell", "the name \"Shell\" is taken by the built-in tool bash");
    check(
        "functions.read_file",
        "the name \"functions.read_file\" is taken by the built-in tool read",
    );
    check(" ", "a tool needs a name");
    check("a tool", "the name \"a tool\" is no tool's: it has letters, digits and _ - . : / alone");
}

// keeps: tools-by-anyone
#[test]
fn a_model_is_told_only_of_tools_that_it_was_given() {
    let check = |manner: Manner, expected: bool| {
        let fixture = Fixture::new(&one_call(json!({"city": "Oslo"})));
        let mut start = fixture.start(None);
        start.settings.manner = manner.clone();
        block_on(async {
            let (mut driver, _commands) = start.take(new_run(), Some("work")).await.unwrap();
            driver.drive(None).await.unwrap();
        });
        let request = String::from_utf8_lossy(&fixture.model.requests()[0]).into_owned();
        let is_told = request.contains("Says how the weather will be.");
        assert_eq!((is_told, fixture.call_count()), (expected, u32::from(expected)), "{manner:?}");
    };
    let tools = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    check(Manner::default(), true);
    check(Manner { small: true, ..Manner::default() }, true);
    check(Manner { tools: tools(&["read", "weather"]), ..Manner::default() }, true);
    check(Manner { tools: tools(&["read"]), ..Manner::default() }, false);
    check(Manner { tool_use: ToolUse::None, ..Manner::default() }, false);
}

/// The status and result of one call of a tool with this handler, in a run that is stopped while it is called or not.
fn answer_of(handler: impl ToolHandler + 'static, is_stopped: bool) -> (u16, String) {
    let fixture = Fixture::new(&one_call(json!({"city": "Oslo"})));
    let mut start = fixture.start_without();
    start.settings.outside_tools.add(weather(None), handler).unwrap();
    block_on(async {
        let (mut driver, commands) = start.take(new_run(), Some("work")).await.unwrap();
        let begun = store(&fixture.temp.home());
        let run = driver.run_id().clone();
        let stop = async {
            let has_begun = || {
                let facts = begun.facts(&run, 0).unwrap();
                facts.iter().any(|fact| matches!(fact.body, Body::Begin(_)))
            };
            while is_stopped && !has_begun() {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
            if is_stopped {
                commands.send(Command::Abort("enough".to_owned())).unwrap();
            }
        };
        let (driven, ()) = tokio::join!(driver.drive(None), stop);
        driven.unwrap();
        let (outcome, text) = outcomes(&driver).remove(0);
        (outcome.status.0, text)
    })
}

// keeps: tools-by-anyone
#[test]
fn whatever_a_handler_does_there_is_an_answer() {
    let panics = |_: ToolCall, _: CancellationToken| async { panic!("no weather today") };
    assert_eq!(answer_of(panics, false), (500, "the tool weather panicked".to_owned()));
    let talks = |_: ToolCall, _: CancellationToken| async { ToolAnswer::ok("ż".repeat(1 << 20)) };
    let (status, text) = answer_of(talks, false);
    assert_eq!(status, 200);
    assert!(
        text.len() < 140_000 && text.ends_with("the answer has 2097152 bytes"),
        "{}",
        text.len()
    );
    let goes_on = |_: ToolCall, _: CancellationToken| async {
        ToolAnswer { status: Status::RUNNING, text: "still at it".to_owned() }
    };
    let (status, text) = answer_of(goes_on, false);
    assert_eq!((status, text.contains("status 102")), (500, true), "{text}");
    let hangs = |_: ToolCall, _: CancellationToken| std::future::pending::<ToolAnswer>();
    let (status, text) = answer_of(hangs, true);
    assert_eq!((status, text.contains("did not end")), (499, true), "{text}");
    let heeds = |_: ToolCall, cancel: CancellationToken| async move {
        cancel.cancelled().await;
        ToolAnswer::failed("stopped before it was sent")
    };
    let (status, text) = answer_of(heeds, true);
    assert_eq!((status, text.as_str()), (500, "stopped before it was sent"));
}
