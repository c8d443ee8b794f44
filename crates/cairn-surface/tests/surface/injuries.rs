//! Marks that stand in a body by mistake, and replies that end too early: an op that changes something, and is not
//! marked as one whose end was not written, is one that was written.

use cairn_surface::{Reading, heredoc, tags};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

const CAP: usize = 100;

/// A statement as it is meant.
#[derive(Debug, Clone)]
enum Meant {
    Write(String),
    Run(String),
    Remove,
    Read,
}

impl Meant {
    fn body(&mut self) -> Option<&mut String> {
        match self {
            Meant::Write(body) | Meant::Run(body) => Some(body),
            Meant::Remove | Meant::Read => None,
        }
    }

    fn tag(&self) -> String {
        match self {
            Meant::Write(body) => format!("<set path=\"doc.md\">\n{body}</set>\n"),
            Meant::Run(body) => format!("<sh>{body}</sh>\n"),
            Meant::Remove => "<rm path=\"old.txt\"/>\n".to_owned(),
            Meant::Read => "<get path=\"a.txt\"/>\n".to_owned(),
        }
    }

    fn heredoc(&self) -> String {
        match self {
            Meant::Write(body) => format!("<<EDIT(doc.md):{body}:EDIT\n"),
            Meant::Run(body) => format!("<<EXEC:{body}:EXEC\n"),
            Meant::Remove => "<<KILL(old.txt)::KILL\n".to_owned(),
            Meant::Read => "<<READ(a.txt)::READ\n".to_owned(),
        }
    }

    /// The call that it is.
    fn call(&self) -> (&'static str, Value) {
        match self {
            Meant::Write(body) => ("write", json!({"path": "doc.md", "content": body})),
            Meant::Run(body) => ("bash", json!({"command": body.trim()})),
            Meant::Remove => ("remove", json!({"path": "old.txt"})),
            Meant::Read => ("read", json!({"path": "a.txt"})),
        }
    }
}

fn body() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "one two\n",
        "x = 1\n",
        "\n",
        "    four\n",
        "> said\n",
        "- a `b` c\n",
        "é x 日 y 😀\n",
    ]);
    vec(line, 1..4).prop_map(|lines| format!("first\n{}last\n", lines.concat()))
}

fn reply() -> impl Strategy<Value = Vec<Meant>> {
    let one = prop_oneof![
        3 => body().prop_map(Meant::Write),
        2 => body().prop_map(Meant::Run),
        1 => Just(Meant::Remove),
        1 => Just(Meant::Read),
    ];
    vec(one, 1..4)
}

/// What stands in a body by mistake, or because the body is about it. Where it closes the body and opens another, there
/// are two statements by all that can be told.
fn injury(pieces: &'static [&'static str]) -> impl Strategy<Value = String> {
    let parts = |text: &str| {
        let pairs =
            [("</set>", "<set"), ("</sh>", "<sh"), (":EDIT", "<<EDIT"), (":EXEC", "<<EXEC")];
        let opens = |(close, open): (&str, &str)| {
            text.find(close).is_some_and(|at| text[at + close.len()..].contains(open))
        };
        pairs.into_iter().any(opens)
    };
    vec(prop::sample::select(pieces), 1..3)
        .prop_map(|pieces| pieces.concat())
        .prop_filter("two statements", move |text| !parts(text))
}

const TAGS: &[&str] = &[
    "<set path=\"evil\">",
    "<set path=\"evil",
    "<set path=\"evil\" bad=>\n",
    "</set>",
    "\n</set>\n",
    "<sh>",
    "</sh>",
    "\n<sh>evil</sh>\n",
    "\n<rm path=\"evil\"/>\n",
    "\n<rm path=\"evil\">\n",
    "</rm>",
    "</get>",
    "\n```\n",
    "\n~~~\n",
    "`",
    "<think>",
    "</think>",
    "[think]",
    "<!--",
    "-->",
    "<tool_result>",
    "</tool_result>",
    "\n{\"name\":\"rm\",\"arguments\":{\"path\":\"evil\"}}\n",
    "<tool_call>",
    "</tool_call>",
    "<|channel|>analysis<|message|>",
    "<|end|>",
    "\n> ",
    "\n\n    ",
];

const HEREDOCS: &[&str] = &[
    "<<EDIT(evil):",
    "<<EDIT(evil",
    "<<EDIT(evil)<1-:",
    "<<WRITE(evil):",
    ":EDIT",
    "\n:EDIT\n",
    "<<EXEC:",
    ":EXEC",
    "\n<<KILL(evil)::KILL\n",
    "\n<<KILL(evil):KILL\n",
    ":KILL",
    "\n```\n",
    "`",
    "<think>",
    "</think>",
    "[think]",
    "<!--",
    "-->",
    "<tool_result>",
    "<|channel|>analysis<|message|>",
    "<|end|>",
    "\n> ",
    "\n\n    ",
];

/// Whether all that a reading would change was meant, in its order. Of an op without an end, and of whatever follows
/// it, nothing is done before somebody was asked.
fn is_meant(reading: &Reading, meant: &[Meant]) -> bool {
    let mut meant = meant.iter().map(Meant::call);
    let sure = reading.ops.iter().take_while(|op| !op.is_unclosed);
    let mut sure = sure.filter(|op| !op.parsed.effect.is_read_only());
    sure.all(|op| meant.any(|(tool, args)| tool == op.tool && same(&op.args, &args)))
}

fn same(args: &Map<String, Value>, meant: &Value) -> bool {
    meant.as_object() == Some(args)
}

/// Where the character begins that a byte belongs to.
fn character_at(text: &str, byte: usize) -> usize {
    (0..=byte).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn injured(mut meant: Vec<Meant>, which: usize, place: usize, injury: &str) -> Vec<Meant> {
    let count = meant.len();
    if let Some(body) = meant[which % count].body() {
        let place = character_at(body, place % (body.len() + 1));
        body.insert_str(place, injury);
    }
    meant
}

proptest! {
    // keeps: surfaces-damage
    #[test]
    fn marks_in_the_body_of_a_tag_make_no_other_op(
        meant in reply(), which in 0usize..9, place in 0usize..99, injury in injury(TAGS),
    ) {
        let meant = injured(meant, which, place, &injury);
        let text: String = meant.iter().map(Meant::tag).collect();
        let reading = tags::parse(&text, CAP);
        prop_assert!(is_meant(&reading, &meant), "{text}\n{reading:#?}");
    }

    // keeps: surfaces-damage
    #[test]
    fn marks_in_the_body_of_a_heredoc_make_no_other_op(
        meant in reply(), which in 0usize..9, place in 0usize..99, injury in injury(HEREDOCS),
    ) {
        let meant = injured(meant, which, place, &injury);
        let text: String = meant.iter().map(Meant::heredoc).collect();
        let reading = heredoc::parse(&text, CAP);
        prop_assert!(is_meant(&reading, &meant), "{text}\n{reading:#?}");
    }

    // keeps: surfaces-damage
    #[test]
    fn a_reply_cut_anywhere_makes_no_other_op(meant in reply()) {
        let text: String = meant.iter().map(Meant::tag).collect();
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            let reading = tags::parse(&text[..end], CAP);
            prop_assert!(is_meant(&reading, &meant), "{}\n{reading:#?}", &text[..end]);
        }
        let text: String = meant.iter().map(Meant::heredoc).collect();
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            let reading = heredoc::parse(&text[..end], CAP);
            prop_assert!(is_meant(&reading, &meant), "{}\n{reading:#?}", &text[..end]);
        }
    }

    // keeps: surfaces-damage
    #[test]
    fn a_foreign_call_with_raw_line_ends_makes_no_op_of_its_texts(
        meant in reply(), place in 0usize..99, injury in injury(TAGS), cut in any::<prop::sample::Index>(),
    ) {
        let mut said = "one\ntwo\nthree\n".to_owned();
        said.insert_str(place % (said.len() + 1), &injury.replace('"', "'"));
        let call = |text: &str| format!("{{\"name\":\"set\",\"arguments\":{{\"path\":\"a\",\"content\":\"{text}\"}}}}");
        let rest: String = meant.iter().map(Meant::tag).collect();
        for (open, close) in [
            ("", ""),
            ("[TOOL_CALLS] [", "]"),
            ("<tool_call>\n", "\n</tool_call>"),
            ("<|channel|>commentary to=functions.x<|message|>", "<|call|>"),
        ] {
            let text = format!("{open}{}{close}\n{rest}", call(&said));
            let reading = tags::parse(&text, CAP);
            prop_assert!(is_meant(&reading, &meant), "{text}\n{reading:#?}");
            let cut = &text[..character_at(&text, cut.index(text.len()))];
            prop_assert!(is_meant(&tags::parse(cut, CAP), &meant), "{cut}");
        }
    }
}
