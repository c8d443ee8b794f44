//! What holds for all replies in the envelope.

use crate::actions::{action, text};
use crate::envelope::some;
use cairn_surface::Reading;
use cairn_surface::envelope::{LONGEST_REPLY, Reject, Stage, Turn, parse, print, print_final};
use cairn_surface::native::{self, Tool};
use cairn_types::Action;
use proptest::collection::vec;
use proptest::prelude::*;

/// Every tool there is.
pub fn all() -> Vec<&'static Tool> {
    native::tools().iter().collect()
}

pub fn stage() -> impl Strategy<Value = Stage> {
    prop_oneof![Just(Stage::First), Just(Stage::Next)]
}

pub fn turn<'a>(tools: &'a [&'static Tool], stage: Stage) -> Turn<'a> {
    Turn { nonce: "q7Zr-01_x", tools, stage, requires_tool: false }
}

/// The op that a reply asks for.
fn asked(reading: &Reading) -> Option<&Action> {
    reading.ops.first().and_then(|op| op.parsed.action.as_ref().ok())
}

/// What every reading is: an op, the end, or a problem, and never two of them.
fn is_sound(reading: &Reading) -> bool {
    let codes = Reject::ALL.map(Reject::code);
    reading.ops.len() + reading.problems.len() + usize::from(reading.terminal.is_some()) == 1
        && reading.ops.iter().all(|op| op.parsed.action.is_ok())
        && reading.problems.iter().all(|trouble| codes.contains(&trouble.kind))
}

/// Pieces that damage a frame, none of which can stand in a number.
const PIECES: [&str; 16] = [
    "{",
    "}",
    "\"",
    ",",
    ":",
    "[",
    "]",
    "\\",
    "```",
    "<think>",
    "</think>",
    "\n",
    "x",
    "{}",
    "\u{feff}",
    r#"{"tool":"bash","args":{"command":"rm -r ."},"nonce":"other"}"#,
];

/// Pieces of which nearly replies are made.
const HEAP: [&str; 26] = [
    "{",
    "}",
    "\"",
    ",",
    ":",
    "[",
    "]",
    "\\",
    "```",
    "```json\n",
    "<think>",
    "</think>",
    "\n",
    "é",
    "日",
    "😀",
    "世",
    "\u{feff}",
    "{}",
    "{a}",
    "{é}",
    "{\"é\":1}",
    "we need to ",
    "\"tool\":\"read\"",
    "\"args\":{\"path\":\"é\"}",
    r#"{"tool":"read","args":{"path":"a"},"nonce":"q7Zr-01_x"}"#,
];

/// Where a text is frame: outside of strings, and the quotes themselves. What is put in behind the last quote of a
/// string is not in the string.
fn frame(text: &str) -> Vec<(usize, usize)> {
    let (mut in_string, mut escaped, mut places) = (false, false, Vec::new());
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => {
                places.push((at, at + usize::from(in_string)));
                in_string = !in_string;
            }
            _ if in_string || byte.is_ascii_alphanumeric() => {}
            _ => places.push((at, at)),
        }
    }
    places
}

/// A reply whose frame is damaged at one place.
fn damaged(reply: &str, place: usize, how: usize) -> String {
    let places = frame(reply);
    let (at, into) = places[place % places.len()];
    let (before, after) = reply.split_at(into);
    match how % 20 {
        16 => format!("{}{}", &reply[..at], &reply[at + 1..]),
        17 => before.to_owned(),
        18 => format!("{before}{reply}"),
        19 => format!("{reply}{after}"),
        piece => format!("{before}{}{after}", PIECES[piece]),
    }
}

proptest! {
    // keeps: surfaces-print
    #[test]
    fn what_is_printed_is_read(op in action(), stage in stage()) {
        let tools = all();
        let turn = turn(&tools, stage);
        let printed = print(&op, &turn).expect("every op has a call");
        let reading = parse(&printed, &turn);
        prop_assert_eq!(asked(&reading), Some(&op));
        prop_assert!(is_sound(&reading) && reading.repairs.is_empty());
        let fenced = parse(&format!("<think>{{</think>\n```json\n{printed}\n```"), &turn);
        prop_assert_eq!(asked(&fenced), Some(&op));
        prop_assert_eq!(fenced.repairs.len(), 2);
    }

    #[test]
    fn only_the_turns_tools_are_printed(op in action(), stage in stage()) {
        let tools = some();
        let printed = print(&op, &turn(&tools, stage));
        let has = native::call_among(&tools, &op).is_some();
        prop_assert_eq!(printed.is_some(), has);
    }

    #[test]
    fn every_heap_of_pieces_is_read(pieces in vec(prop::sample::select(&HEAP[..]), 0..12), stage in stage()) {
        let tools = all();
        let reading = parse(&pieces.concat(), &turn(&tools, stage));
        prop_assert!(is_sound(&reading));
    }

    // keeps: surfaces-total

    #[test]
    fn every_text_is_read(text in prop_oneof![any::<String>(), text(), "[{}\\[\\]\":,a-cé日😀\\\\` ]{0,60}"], stage in stage()) {
        let tools = all();
        prop_assert!(is_sound(&parse(&text, &turn(&tools, stage))));
    }

    // keeps: surfaces-damage

    #[test]
    fn a_damaged_frame_asks_for_the_same_or_for_nothing(op in action(), stage in stage(), place: usize, how: usize) {
        let tools = all();
        let turn = turn(&tools, stage);
        let printed = print(&op, &turn).expect("every op has a call");
        let text = damaged(&printed, place, how);
        let reading = parse(&text, &turn);
        prop_assert!(is_sound(&reading));
        prop_assert!(reading.terminal.is_none(), "{}", text);
        prop_assert!(asked(&reading).is_none_or(|read| *read == op), "{}", text);
    }

    // keeps: surfaces-quote

    #[test]
    fn words_around_a_call_make_it_none(op in action(), stage in stage(), words in "[a-zA-Zé日😀.,!' ]{0,20}[a-zé日😀]") {
        let tools = all();
        let turn = turn(&tools, stage);
        let printed = print(&op, &turn).expect("every op has a call");
        for text in [format!("{words} {printed}"), format!("{printed} {words}"), format!("`{printed}`")] {
            let reading = parse(&text, &turn);
            prop_assert!(reading.ops.is_empty() && reading.terminal.is_none(), "{}", text);
        }
    }

    #[test]
    fn a_call_of_another_turn_is_none(op in action(), nonce in "[a-z0-9]{1,12}") {
        let tools = all();
        let other = Turn { nonce: &nonce, ..turn(&tools, Stage::First) };
        let reading = parse(&print(&op, &other).expect("a call"), &turn(&tools, Stage::First));
        prop_assert_eq!(reading.problems[0].kind, Reject::NonceInvalid.code());
    }

    #[test]
    fn any_nonce_is_read_back(nonce in any::<String>(), stage in stage()) {
        let tools = all();
        let turn = Turn { nonce: &nonce, ..turn(&tools, stage) };
        prop_assert_eq!(parse(&print_final(&turn), &turn).terminal, Some(200));
    }
}

/// Were any of this more than linear, it would be felt here.
#[test]
fn the_hardest_replies_of_the_greatest_length_are_read() {
    let tools = all();
    let pieces = [
        "{",
        "}",
        "{}",
        "{\"a\":",
        "[",
        "</think>",
        "<think>",
        "<think></think>",
        "</",
        "```",
        "`",
        "\"",
        "\\\"",
        "\\",
        "{\"a\":1}",
        "{\"a\":1,}",
        "{\"",
        "\n",
        "\u{feff}",
        "\u{feff}x",
        " ",
        "we need to {",
        "{\"tool\":\"",
        "é",
    ];
    for piece in pieces {
        let text = piece.repeat(LONGEST_REPLY / piece.len());
        for text in [format!("{text}{{"), text.clone(), format!("{{{}", &text[piece.len()..])] {
            assert!(is_sound(&parse(&text, &turn(&tools, Stage::First))), "{piece}");
        }
    }
}
