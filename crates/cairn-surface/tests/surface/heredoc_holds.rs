//! What holds for all heredocs, however they are made and damaged.

use crate::actions::{action, actions, text};
use crate::clock;
use cairn_surface::heredoc::{parse, print};
use cairn_surface::{Misread, Reading};
use cairn_types::{Action, Edit, EditBody};
use proptest::collection::vec;
use proptest::prelude::*;

const MANY: usize = 1000;

fn meant(reading: &Reading) -> Vec<Result<&Action, &Misread>> {
    reading.ops.iter().map(|op| op.parsed.action.as_ref()).collect()
}

/// Pieces that statements, quotes and thoughts are made of.
const PIECES: [&str; 42] = [
    "<<",
    "<<EDIT",
    "<<EDIT1",
    "<<READ",
    "<<SEND",
    "<<CALL",
    "<<FOO",
    "<<CLOSE(",
    "(",
    ")",
    "[",
    "]",
    "<1>",
    "<",
    ">",
    ":",
    "::",
    ":EDIT",
    ":EDIT1",
    ":READ",
    ":SEND",
    ":CALL",
    ":FOO",
    "\n",
    "\n\n",
    " ",
    "`",
    "```",
    "\n```\n",
    "~~~",
    "<think>",
    "</think>",
    "<|channel|>",
    "<|message|>",
    "<|end|>",
    "a",
    "(a)",
    "[200]",
    "{\"path\":\"a\"}",
    "é",
    "日",
    "😀",
];

fn soup() -> impl Strategy<Value = String> {
    vec(prop::sample::select(PIECES.to_vec()), 0..40).prop_map(|pieces| pieces.concat())
}

/// An op whose body is full of frames: pieces, and whole statements that begin lines and do not. Not among them are
/// suffixes that are opened here and closed in another body: what is between the two is then a body by all that can be
/// told.
fn hostile() -> impl Strategy<Value = Action> {
    let whole = prop_oneof![
        Just("\n<<KILL(x)::KILL\n".to_owned()),
        Just("<<SEND[200]:x:SEND".to_owned()),
        Just("\n<<EDIT9(a):x:EDIT9".to_owned()),
        soup().prop_map(|soup| soup.replace('a', " a").replace("EDIT1", "EDIT")),
    ];
    vec(whole, 1..5).prop_map(|pieces| {
        let content = pieces.concat();
        let body = EditBody::Whole { content };
        Action::Edit(Edit::of(Some("a".to_owned()), body))
    })
}

fn is_subsequence<T: PartialEq>(some: &[T], all: &[T]) -> bool {
    let mut rest = all.iter();
    some.iter().all(|one| rest.any(|other| other == one))
}

proptest! {
    // keeps: surfaces-print
    #[test]
    fn what_is_printed_is_read_as_it_was(ops in actions()) {
        let printed = print(&ops);
        let reading = parse(&printed, MANY);
        prop_assert_eq!(meant(&reading), ops.iter().map(Ok).collect::<Vec<_>>(), "{}", printed);
        let wrong = reading.problems.iter().filter(|problem| problem.kind != "op_after_end");
        prop_assert!(wrong.count() == 0 && reading.repairs.is_empty(), "{}", printed);
        prop_assert!(reading.text.is_empty() && reading.reasoning.is_empty());
    }

    // keeps: surfaces-total

    #[test]
    fn any_text_is_read(said in any::<String>(), soup in soup(), cap in 0usize..4) {
        for text in [&said, &soup] {
            let reading = parse(text, cap);
            prop_assert!(reading.ops.len() <= cap);
            let lines = text.split('\n').count();
            let places = reading.ops.iter().map(|op| op.at);
            let places = places.chain(reading.problems.iter().map(|problem| problem.at));
            prop_assert!(places.into_iter().all(|at| 1 <= at.line && at.line <= lines && 1 <= at.column));
        }
    }

    // keeps: surfaces-quote

    #[test]
    fn nothing_in_a_body_is_an_op(body in prop_oneof![soup(), text()], op in action()) {
        let inner = print(&[op]);
        for body in [body, inner] {
            let reading = parse(&format!("<<EDITq9(a):{body}:EDITq9"), MANY);
            prop_assert_eq!(reading.ops.len(), 1);
            prop_assert_eq!(reading.ops[0].args["content"].as_str(), Some(body.as_str()));
        }
    }

    // keeps: surfaces-quote

    #[test]
    fn nothing_in_a_quote_is_an_op(said in prop_oneof![soup(), text()], op in action()) {
        let inner = print(&[op]);
        for said in [said, inner] {
            if said.contains("~~~~~") || said.contains("``````") {
                continue;
            }
            for text in [format!("~~~~~\n{said}\n~~~~~"), format!("``````\n{said}\n``````\n")] {
                prop_assert!(parse(&text, MANY).ops.is_empty(), "{}", text);
            }
            if !said.contains('\n') {
                let text = format!("a `````` {said} `````` b");
                prop_assert!(parse(&text, MANY).ops.is_empty(), "{}", text);
            }
        }
    }

    // keeps: surfaces-damage

    #[test]
    fn a_damaged_frame_makes_no_other_op(
        ops in vec(prop_oneof![action(), hostile()], 1..4),
        which in any::<prop::sample::Index>(),
        damage in damage(),
    ) {
        let mut statements: Vec<String> = ops.iter().map(|op| print(std::slice::from_ref(op))).collect();
        let which = which.index(ops.len());
        damage.apply(&mut statements[which]);
        let mut text = statements.join("\n");
        if let Damage::Cut(at) = &damage {
            let mut at = at.index(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            text.truncate(at);
        }
        let reading = parse(&text, MANY);
        let is_told = !reading.problems.is_empty() || !reading.repairs.is_empty();
        let all: Vec<_> = ops.iter().map(Ok).collect();
        let is_cut = matches!(damage, Damage::Cut(_));
        let whole = reading.ops.iter().filter(|op| !(is_cut && op.is_unclosed));
        let whole: Vec<_> = whole.map(|op| op.parsed.action.as_ref()).collect();
        prop_assert!(is_subsequence(&whole, &all), "{}", text);
        let is_thought = !reading.reasoning.is_empty();
        // What is cut off before it begins is not there to be told of.
        prop_assert!(meant(&reading) == all || is_told || is_thought || is_cut, "{}", text);
    }
}

/// Pieces of a document about statements, whose fences are all closed in it.
fn document() -> impl Strategy<Value = String> {
    let pieces = vec![
        "Text.\n",
        "End with :EDIT.\n",
        "```\na :EDIT\n```\n",
        "```\n<<KILL(v)::KILL\n```\n",
        "<<KILL(v)::KILL\n",
        "<<EDIT(x):b:EDIT\n",
        "<<READ(x)::READ\n",
        "~~~\nx\n~~~\n",
        "1. ```\n   <<READ(a)::READ\n   ```\n",
        "{\"a\":1}\n",
        "<tool_call>{\"name\":\"x\"}</tool_call>\n",
        "status:OPEN\n",
    ];
    vec(prop::sample::select(pieces), 1..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    // keeps: surfaces-damage

    #[test]
    fn a_body_with_its_own_closer_makes_no_sure_change(
        said in document(),
        behind in prop::sample::select(vec!["", "Check:\n```\nfoo\n```\n", "So.\n~~~\nx\n~~~\n"]),
    ) {
        let text = format!("<<EDIT(d.md):Doc\n{said}:EDIT\n{behind}");
        let reading = parse(&text, MANY);
        let is_whole = |op: &&cairn_surface::Written| !op.is_unclosed && op.tool != "read";
        for op in reading.ops.iter().filter(is_whole) {
            let whole = format!("Doc\n{said}");
            let content = op.args.get("content").and_then(|content| content.as_str());
            prop_assert_eq!(content, Some(whole.as_str()), "{}", text);
        }
    }
}

/// What is done to the frame of a statement.
#[derive(Debug, Clone)]
enum Damage {
    /// Its closer is not written.
    NoCloser,
    /// Only so much of its closer is.
    PartOfCloser(prop::sample::Index),
    /// A letter of its closer is left out.
    CloserWithout(prop::sample::Index),
    /// It is closed twice.
    TwiceClosed,
    /// A character of `<<` and the name is left out.
    OpenerWithout(prop::sample::Index),
    /// Another stands in it.
    OpenerWith(prop::sample::Index, char),
    /// The bracket behind the name is left out.
    NoBracket,
    /// The text ends too early.
    Cut(prop::sample::Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        Just(Damage::NoCloser),
        index().prop_map(Damage::PartOfCloser),
        index().prop_map(Damage::CloserWithout),
        Just(Damage::TwiceClosed),
        index().prop_map(Damage::OpenerWithout),
        (index(), prop::sample::select(vec!['x', 'X', ' ', '_', '<', '\n', '1', ':']))
            .prop_map(|(at, c)| Damage::OpenerWith(at, c)),
        Just(Damage::NoBracket),
        index().prop_map(Damage::Cut),
    ]
}

impl Damage {
    /// Damages a statement, if it has what is to be damaged.
    fn apply(&self, statement: &mut String) {
        let name = statement[2..].find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or_default();
        let opener = 2 + name;
        let closer = statement.len() - name - 1;
        match self {
            Damage::NoCloser => statement.truncate(closer),
            Damage::PartOfCloser(at) => statement.truncate(closer + at.index(name + 1)),
            // Without its colon it is closed all the same by one that stands last in the body.
            Damage::CloserWithout(at)
                if at.index(name + 1) == 0 && statement[..closer].ends_with(':') => {}
            Damage::CloserWithout(at) => drop(statement.remove(closer + at.index(name + 1))),
            Damage::TwiceClosed => statement.extend_from_within(closer..),
            Damage::OpenerWithout(at) => drop(statement.remove(at.index(opener))),
            Damage::OpenerWith(at, c) => statement.insert(at.index(opener), *c),
            Damage::NoBracket => match statement.as_bytes()[opener] {
                b'(' | b'[' | b'<' => drop(statement.remove(opener)),
                _ => {}
            },
            Damage::Cut(_) => {}
        }
    }
}

/// Pieces that are told again and again.
const SOUPS: &[&str] = &[
    "<<EDIT(a):",
    "<<EDIT(",
    "<<READ[",
    "<<READ<",
    "<<READ(a)<1",
    "<<EDIT1(a):\n",
    "\n<<EDIT(a):x",
    ":EDIT",
    ":EDIT1 ",
    "<<READ(a)::READ",
    "<<READ(a)::READ:READ",
    "`",
    "` ``",
    "```\n",
    "~~~a\n",
    "<<FOO(",
    "<<CLOSE(x)",
    "<think>",
    "</think>",
    "<|channel|>",
    "<|channel|>a<|message|>",
    "[",
    "<<",
    "<<<",
    "((((",
    "<<READ ",
    "\n<<EDIT(a):`\n",
    "\n<<EDIT(a): x </think",
    "<<CALL(read):{:CALL",
    "a",
    "\n",
    "<<EDIT(a):x:EDI",
    ":a",
    "\n<<EDIT(a):x\n<<READ(b)::READ",
    "<!-- :EDIT",
    "> :EDIT\n",
    "<tool_result>",
    "<<FOO(a):",
    "<<EXEC:f:EXEC<<EDIT(b):x :EXEC\n",
    "\n<<EDIT(a):x :READ <<READ(b)::READ",
    "<tool_call>",
    "<tool_call>{}</tool_call>",
    "<invoke ",
    "[TOOL_CALLS]",
    "<|python_tag|>",
    "{\n",
    "[\n",
    "[\"\n",
    "{\"a\":1}\n",
    "<<READ(a)::READ x:OPEN\n",
    "<<KILL(a)::KILL x:OPEN\n",
    "<<EDIT(a):```\n:EDIT\n",
    "<|channel|>a to=",
    "<<EDIT(a):x:EDIT <<EDIT():b:EDIT\n",
    "<<EDIT(a):x:EDIT `:EDIT b`\n",
    "<<EDIT(a):x:EDIT\n:edit\n",
    "<<EDIT(a):x:EDIT\n:edit   ",
    "<<EDIT(a):x:EDIT <<READ[[(x):b:EDIT c:READ\n",
    "x:OPEN ",
    "<set path=\"a\">",
    "\n<set path=\"a\">x",
    "\n<set path=\"a\">x</set>",
    "<function name=\"",
    "<tool_call name=\"a\">{",
    "<tool_call>{</tool_call>\n",
    "- {\n",
    "x: {\"\n",
    "[[",
    "{\"a\":\"\n\"}\n",
];

fn is_linear(small: &str, large: &str) -> bool {
    clock::is_linear(|text| assert!(parse(text, 50).ops.len() <= 50), small, large)
}

#[test]
fn time_is_linear_in_the_text() {
    for soup in SOUPS {
        let of = |size: usize| soup.repeat(size / soup.len());
        assert!(is_linear(&of(64 << 10), &of(256 << 10)), "{soup:?}");
    }
    // Statements in each other, each closed but the innermost.
    let nested = |count: usize| {
        let open: String = (0..count).map(|n| format!("<<EDIT{n}(a):\n")).collect();
        let close: String = (0..count).rev().map(|n| format!(":EDIT{n}\n")).collect();
        format!("<<EDIT(a):\n{open}<<READ(b):\n{close}:EDIT")
    };
    assert!(is_linear(&nested(2000), &nested(8000)));
}
