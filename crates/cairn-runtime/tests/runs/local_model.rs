//! A real model of 135M parameters through the envelope. Held to the grammar, whatever it says is admitted; nothing is said of its
//! judgement. Without the address of the model in `CAIRN_LOCAL_MODEL` nothing is asked; `make prove` starts one.

use crate::kit::{Told, block_on, start_with, store};
use cairn_provider::http::{Config, Http, Wire};
use cairn_provider::{Abilities, Constraint, Limits, Message, Provider, Request};
use cairn_runtime::{Manner, Place};
use cairn_surface::any::{Telling, Turn, told, tools_named};
use cairn_surface::envelope::Nonce;
use cairn_surface::native::Tool;
use cairn_testkit::TempHome;
use cairn_types::{Body, Caps, Finish, Mode, Surface};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The tools of small models.
const TOOLS: [&str; 6] = ["read", "write", "edit", "list", "remove", "bash"];
/// The longest reply, in tokens.
const LONGEST: u64 = 400;

/// What is asked for. Each twice: at first, and after a result.
const TASKS: [&str; 20] = [
    "Read notes.txt and say on which day the meeting is.",
    "List the files here.",
    "Write the word hello to hello.txt.",
    "Remove old.log.",
    "In config.toml change port 80 to port 8080.",
    "Run the tests with make test.",
    "Which files are in src?",
    "Add a line with the word bread to shopping.md.",
    "What does main.py print?",
    "Replace every foo in a.txt by bar.",
    "How many lines has README.md?",
    "Create an empty file called done.",
    "Delete the folder build.",
    "Print the current date.",
    "Read lines 10 to 20 of server.log.",
    "Fix the spelling of recieve in letter.md.",
    "Write a small JSON file with your name in it.",
    "Is there a Makefile?",
    "Say what 2 and 2 is in answer.txt.",
    "Rename a.txt to b.txt.",
];

/// How decoding is held to the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Decoding {
    /// By the grammar.
    Grammar,
    /// By the schema, which names the nonce.
    Schema,
    /// Not at all.
    Free,
}

impl Decoding {
    fn constraint(self) -> Constraint {
        match self {
            Decoding::Grammar => Constraint::Gbnf,
            Decoding::Schema => Constraint::JsonSchema,
            Decoding::Free => Constraint::None,
        }
    }
}

/// Where the model is. Where there is none, nothing can be shown.
#[allow(clippy::disallowed_methods, reason = "whoever runs the proof says where the model is")]
fn model() -> Option<String> {
    let address = std::env::var("CAIRN_LOCAL_MODEL").ok();
    if address.is_none() {
        println!("no model: tools/local/with_model.sh runs a command with one");
    }
    address
}

fn config(address: &str, decoding: Decoding) -> Config {
    let abilities = Abilities {
        constraint: decoding.constraint(),
        output: Some(LONGEST),
        ..Abilities::default()
    };
    Config {
        limits: Limits { attempts: 1, ..Limits::default() },
        abilities,
        ..Config::new("local", Wire::Chat, format!("{address}/v1"), "smollm2")
    }
}

/// One turn of these: the n-th, with some of the tools.
fn tools(n: usize) -> Vec<&'static Tool> {
    let all = tools_named(&TOOLS.map(str::to_owned));
    match n % 4 {
        0 => all,
        part => all
            .into_iter()
            .enumerate()
            .filter(|(at, _)| (at + n) % 4 != part)
            .map(|(_, tool)| tool)
            .collect(),
    }
}

/// What the model is sent, in the form of the packet view.
fn request(turn: &Turn<'_>, task: &str, decoding: Decoding) -> Request {
    let log = match turn.is_first {
        true => "",
        false => "\n# Log\n## log:///1/1/1 list ., 200\nnotes.txt\nREADME.md\nsrc/\n",
    };
    let said = format!("# Task\n{task}\n{log}\n# Requirements\n{}\n", turn.requirements());
    let form = turn.form(Nonce::Const).filter(|_| decoding != Decoding::Free);
    let (schema, grammar) = form.map(|form| (form.schema, form.grammar)).unzip();
    Request {
        system: Arc::from(told(turn.surface, turn.tools, Telling::Brief)),
        messages: vec![Arc::new(Message::user(said))],
        max_output: Some(LONGEST),
        schema: schema.map(Arc::from),
        grammar: grammar.map(Arc::from),
        ..Request::default()
    }
}

/// How many of forty replies are admitted.
fn admitted(address: &str, decoding: Decoding) -> usize {
    let provider = Http::new(config(address, decoding)).unwrap();
    let mut count = 0;
    for n in 0..2 * TASKS.len() {
        let (task, is_first) = (TASKS[n / 2], n % 2 == 0);
        let (tools, nonce) =
            (tools(n / 2), format!("{:08x}", (n as u32 + 1).wrapping_mul(2_654_435_761)));
        let turn = Turn {
            surface: Surface::Envelope,
            tools: &tools,
            nonce: &nonce,
            is_first,
            requires_tool: n % 3 == 0,
        };
        let asked = request(&turn, task, decoding);
        let answer =
            block_on(provider.ask(&asked, &mut |_| {}, &CancellationToken::new())).unwrap();
        let reading = turn.read(&answer.text, 1);
        let is_whole = answer.finish != Finish::Length;
        match reading.problems.first() {
            None if is_whole => count += 1,
            None => println!("  {n}: cut by its length"),
            Some(trouble) => {
                println!("  {n}: {} {}: {:?}", trouble.kind, trouble.note, answer.text)
            }
        }
    }
    count
}

// keeps: local-admitted
#[test]
fn held_to_the_grammar_all_replies_of_a_tiny_model_are_admitted() {
    let Some(address) = model() else { return };
    let all = 2 * TASKS.len();
    let decodings = [Decoding::Grammar, Decoding::Schema, Decoding::Free];
    let counts = decodings.map(|decoding| (decoding, admitted(&address, decoding)));
    println!("| decoding | replies | admitted | share |\n|---|---|---|---|");
    for (decoding, count) in counts {
        println!("| {decoding:?} | {all} | {count} | {}% |", count * 100 / all);
    }
    let [(_, grammar), (_, schema), (_, free)] = counts;
    println!("{grammar} of {all} admitted by grammar, {schema} by schema, {free} without");
    assert_eq!(grammar, all);
}

// keeps: local-admitted
#[test]
fn a_whole_run_of_a_tiny_model_has_no_reply_that_is_refused() {
    let Some(address) = model() else { return };
    let temp = TempHome::new();
    temp.write("notes.txt", "The meeting is on Tuesday.\n");
    let store = store(&temp.home());
    let config = config(&address, Decoding::Grammar);
    let mut start = start_with(&store, &temp.workspace(), config, Arc::new(Told::default()));
    start.mode = Mode::AcceptEdits;
    start.caps = Caps { turns: 12, ..start.caps };
    let tools = TOOLS.map(str::to_owned).to_vec();
    start.settings.manner =
        Manner { surface: Surface::Envelope, small: true, tools, ..Manner::default() };
    let new = Place::New { new_session: false, name: None };
    let (mut driver, _commands) = block_on(start.take(new, Some(TASKS[0]))).unwrap();
    block_on(driver.drive(None)).unwrap();
    let facts = store.facts(driver.run_id(), 0).unwrap();
    let replies: Vec<_> = facts
        .iter()
        .filter_map(|fact| match &fact.body {
            Body::Reply(reply) => Some(reply),
            _ => None,
        })
        .collect();
    let refused = replies.iter().filter(|reply| reply.problems.is_some()).count();
    println!("a whole run: {} replies, {refused} refused", replies.len());
    assert!(!replies.is_empty() && refused == 0);
}
