//! What holds for every text surface alike: replies that were cut off, answers without thoughts, and names.

use cairn_surface::any::{Turn, called, without_thoughts};
use cairn_surface::{Reading, native};
use cairn_types::Surface;
use proptest::collection::vec;
use proptest::prelude::*;

const CAP: usize = 100;

fn read(surface: Surface, text: &str, is_cut: bool) -> Reading {
    let tools: Vec<_> = native::tools().iter().collect();
    let turn = Turn { surface, tools: &tools, nonce: "n0", is_first: true, requires_tool: false };
    if is_cut { turn.read_cut(text, CAP) } else { turn.read(text, CAP) }
}

/// The ops by tool, those without an end with a question mark, and the kinds of problems.
fn told(reading: &Reading) -> String {
    let op = |op: &cairn_surface::Written| {
        format!("{}{}", op.tool, if op.is_unclosed { "?" } else { "" })
    };
    let ops = reading.ops.iter().map(op);
    let problems = reading.problems.iter().map(|one| format!("!{}", one.kind));
    ops.chain(problems).collect::<Vec<_>>().join(" ")
}

#[test]
fn an_op_of_a_reply_that_was_cut_off_has_an_end_where_nothing_can_follow_it() {
    for (surface, text, expected) in [
        (Surface::Tags, "<set path=\"a\">b</set>", "write !reply_cut"),
        (Surface::Tags, "<set path=\"a\">b</set>\nand th", "write !reply_cut"),
        (Surface::Tags, "<set path=\"a\">b</set", "write? !reply_cut"),
        (Surface::Tags, "<set path=\"a\">b</sett", "write? !reply_cut"),
        (Surface::Tags, "<get path=\"a\"/>\n<set path=\"a\">b", "read write? !reply_cut"),
        (Surface::Tags, "<update status=\"200\">done</update>", "send"),
        (Surface::Tags, "<update status=\"200\">done</update> and th", "send"),
        (Surface::Heredoc, "<<EDIT(a):b:EDIT\n", "write !reply_cut"),
        (Surface::Heredoc, "<<EDIT(a):b:EDIT", "write? !reply_cut"),
        (Surface::Heredoc, "<<KILL(a)::KILL", "remove? !reply_cut"),
        (Surface::Heredoc, "<<SEND[200]:done:SEND\n", "send"),
        (Surface::Envelope, r#"{"tool":"read","args":{"path":"a"},"nonce":"n0"}"#, "read"),
        (
            Surface::Envelope,
            r#"{"tool":"read","args":{"path":"a"#,
            "!tool_call_invalid_format !reply_cut",
        ),
    ] {
        assert_eq!(told(&read(surface, text, true)), expected, "{text}");
    }
}

#[test]
fn a_reply_in_the_form_of_another_surface_is_told_of_that() {
    for (surface, text, expected) in [
        (Surface::Tags, "Now:\n<<READ(a)::READ\n", "!other_surface"),
        (Surface::Heredoc, "Now:\n<get path=\"a\"/>\n", "!other_surface"),
        (Surface::Tags, r#"{"tool":"read","args":{"path":"a"},"nonce":"n0"}"#, "!other_surface"),
        (Surface::Tags, "<get path=\"a\"/>\n<<READ(a)::READ\n", "read !other_surface"),
        (Surface::Tags, "a << b, and that is all", ""),
        (Surface::Heredoc, "a < b, and that is all", ""),
    ] {
        assert_eq!(told(&read(surface, text, false)), expected, "{text}");
    }
    let reading = read(Surface::Tags, "Né:\n é <<READ(a)::READ\n", false);
    let places = reading.problems.iter().map(|one| (one.at.line, one.at.column));
    assert_eq!(places.collect::<Vec<_>>(), [(2, 4)]);
}

#[test]
fn an_answer_is_what_was_not_thought_and_quotes_are_said() {
    for (text, said, thought) in [
        ("<think>a</think>b", "b", "a"),
        ("a</think>b", "b", "a"),
        ("<think>never closed", "", "never closed"),
        ("It drops `<think>` tags.\nThree files.", "It drops `<think>` tags.\nThree files.", ""),
        ("The mark `</think>` ends it. So.", "The mark `</think>` ends it. So.", ""),
        ("```\n<think>\n```\nb", "```\n<think>\n```\nb", ""),
        ("It drops <think> tags, and so on.", "It drops <think> tags, and so on.", ""),
        ("<think>a</think>b <think>c", "b <think>c", "a"),
        ("a ` b <think>c</think> d", "a ` b  d", "c"),
        ("<think>a ` b</think>c ` d", "c ` d", "a ` b"),
    ] {
        assert_eq!(without_thoughts(text), (said.to_owned(), thought.to_owned()), "{text}");
    }
}

#[test]
fn a_tool_is_called_what_a_model_is_taught() {
    for (surface, tool, expected) in [
        (Surface::Tags, "read", "get"),
        (Surface::Tags, "remove", "rm"),
        (Surface::Tags, "write", "set"),
        (Surface::Heredoc, "write", "EDIT"),
        (Surface::Heredoc, "bash", "EXEC"),
        (Surface::Envelope, "write", "write"),
        (Surface::Tags, "nothing", "nothing"),
    ] {
        assert_eq!(called(surface, tool), expected);
    }
}

/// Lines in which the end of a statement begins other words.
fn body() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "one\n",
        "export B=vim:EDITOR\n",
        "a:EDIT2 b\n",
        "<settings>x</settings>\n",
        "</setting>\n",
        "é x 日 y 😀\n",
    ]);
    vec(line, 0..4).prop_map(|lines| lines.concat())
}

proptest! {
    // keeps: surfaces-damage
    #[test]
    fn a_reply_that_was_cut_off_anywhere_writes_nothing_that_was_not_meant(bodies in vec(body(), 1..4)) {
        for surface in [Surface::Tags, Surface::Heredoc] {
            let written = |body: &String| match surface {
                Surface::Tags => format!("<set path=\"a\">\n{body}</set>\n"),
                _ => format!("<<EDIT(a):{body}:EDIT\n"),
            };
            let text: String = bodies.iter().map(written).collect();
            for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
                let reading = read(surface, &text[..end], true);
                let sure = reading.ops.iter().take_while(|op| !op.is_unclosed);
                for (op, body) in sure.zip(&bodies) {
                    prop_assert_eq!(op.args["content"].as_str(), Some(&**body), "{}", &text[..end]);
                }
            }
        }
    }
}
