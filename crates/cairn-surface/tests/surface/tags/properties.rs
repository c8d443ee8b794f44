//! What holds for all texts: ops read back as they were printed, every text is read, in linear time, and damage to
//! the framing never makes an op that was not written.

use crate::actions::{actions, text};
use crate::clock;
use cairn_surface::{Reading, tags};
use cairn_types::Action;
use proptest::collection::vec;
use proptest::prelude::*;

const CAP: usize = 1000;

/// The ops whose ends were written.
fn whole(reading: &Reading) -> Vec<&Action> {
    let ops = reading.ops.iter().filter(|op| !op.is_unclosed);
    ops.filter_map(|op| op.parsed.action.as_ref().ok()).collect()
}

/// Whether all of these stand among those, in their order.
fn are_among(some: &[&Action], all: &[Action]) -> bool {
    let mut all = all.iter();
    some.iter().all(|one| all.any(|other| other == *one))
}

/// Pieces of framing, whole and broken.
const FRAGMENTS: &[&str] = &[
    "<get path=\"a\"/>",
    "<get path=\"",
    "<set path=\"a\">",
    "</set>",
    "</get>",
    "<sh>",
    "</sh>",
    "<update status=\"200\">",
    "</update>",
    "<set",
    "<",
    ">",
    "/>",
    "\"",
    "'",
    "=",
    " ",
    "\n",
    "\n\n",
    "`",
    "```",
    "```tool_code\n",
    "~~~\n",
    "<think>",
    "</think>",
    "[thinking]",
    "[/thinking]",
    "[TOOL_CALLS] ",
    "<tool_call>",
    "</tool_call>",
    "<tool_use><name>",
    "<|channel|>",
    "<|message|>",
    "analysis",
    " to=functions.bash",
    "<|end|>",
    "<|tool_call>call:get{",
    "<|\"|>",
    "{\"name\":\"bash\",",
    "\"arguments\":{\"command\":\"ls\"}}",
    "[{",
    "}]",
    "<<SEARCH\n",
    "SEARCH\n",
    "<<NEW\n",
    "<GET>",
    "<file>",
    "</file>",
    "<code>",
    "</code>",
    "1\t",
    "> ",
    "\r",
    "\\",
    "## log:///1/1/1 x\n",
    "text-0123456789ab\n",
    "<|im_start|>user\n",
    "<|im_start|>assistant\n",
    "◁think▷",
    "◁/think▷",
    "[TOOL_RESULTS]",
    "<parameter=a>",
    "</parameter>",
    "<function=read>",
    "</function>",
    "&lt;",
    "&#",
    "é",
    "日",
    "😀",
    "\r\n",
    "summary=\"s\" ",
    "visibility=\"archived\" ",
    "manifest ",
    "path=",
    "known:///a",
    "a.txt",
];

fn fragment() -> impl Strategy<Value = String> {
    prop::sample::select(FRAGMENTS).prop_map(str::to_owned)
}

fn soup() -> impl Strategy<Value = String> {
    vec(prop_oneof![6 => fragment(), 1 => text()], 0..40).prop_map(|pieces| pieces.concat())
}

/// What holds of any reading.
fn is_sound(text: &str, reading: &Reading) {
    let lines = text.matches('\n').count() + 1;
    assert!(reading.ops.iter().all(|op| (1..=lines).contains(&op.at.line) && op.at.column > 0));
    assert!(
        reading
            .problems
            .iter()
            .all(|problem| !problem.snippet.is_empty() && !problem.note.is_empty())
    );
    let kinds =
        reading.problems.iter().map(|p| p.kind).chain(reading.repairs.iter().map(|r| r.kind));
    kinds.for_each(|kind| {
        assert!(kind.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{kind}")
    });
}

/// One injury to the framing of a text.
#[derive(Debug, Clone)]
enum Damage {
    Drop,
    Double,
    Change(char),
}

/// Where the framing stands in what was printed: brackets, quotes, names and blanks of tags, but not what is in
/// values and bodies. The printer escapes brackets in values, so that tags are what stands between brackets.
fn framing(printed: &str) -> Vec<usize> {
    let (mut places, mut in_tag, mut in_value) = (Vec::new(), false, false);
    let mut rest_is_tag = vec![false; printed.len() + 1];
    for (at, _) in tags_of(printed) {
        rest_is_tag[at] = true;
    }
    for (at, c) in printed.char_indices() {
        in_tag |= rest_is_tag[at];
        if in_tag && (!in_value || c == '"') {
            places.push(at);
        }
        match c {
            '"' if in_tag => in_value = !in_value,
            '>' if in_tag && !in_value => in_tag = false,
            _ => {}
        }
    }
    places
}

/// Where the tags of statements begin, as they were printed: one statement after the other.
fn tags_of(printed: &str) -> Vec<(usize, usize)> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < printed.len() {
        let name: String =
            printed[at + 1..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let mut in_value = false;
        let head = printed[at..].char_indices().find(|(_, c)| {
            in_value ^= *c == '"';
            *c == '>' && !in_value
        });
        let end = at + head.map_or(printed.len() - at, |(end, _)| end + 1);
        found.push((at, end));
        at = end;
        if !printed[..end].ends_with("/>") {
            let close = format!("</{name}>");
            let Some(from) = printed[end..].find(&close).map(|from| from + end) else { break };
            found.push((from, from + close.len()));
            at = from + close.len();
        }
        at += 1;
    }
    found
}

/// The printed text with an injury. One letter for another may make one tag of another, which is no damage but
/// another statement: letters become marks, and marks letters.
fn damaged(printed: &str, place: usize, damage: &Damage) -> String {
    let Some(c) = printed[place..].chars().next() else { return printed.to_owned() };
    let (before, after) = (&printed[..place], &printed[place + c.len_utf8()..]);
    match damage {
        Damage::Drop => format!("{before}{after}"),
        Damage::Double => format!("{before}{c}{c}{after}"),
        Damage::Change(other) => format!("{before}{other}{after}"),
    }
}

fn damage() -> impl Strategy<Value = Damage> {
    let marks = prop::sample::select(vec![
        '<', '>', '/', '"', '\'', '=', ' ', '\n', '`', '&', '0', 'Z', '{', '[',
    ]);
    prop_oneof![Just(Damage::Drop), Just(Damage::Double), marks.prop_map(Damage::Change)]
}

proptest! {
    // keeps: surfaces-print
    #[test]
    fn what_is_printed_reads_back(ops in actions()) {
        let printed = tags::print(&ops);
        let reading = tags::parse(&printed, CAP);
        let read: Vec<&Action> = whole(&reading);
        prop_assert_eq!(read, ops.iter().collect::<Vec<_>>(), "{}", printed);
        let is_read = reading.problems.iter().all(|problem| problem.kind == "op_after_end");
        prop_assert!(is_read && reading.repairs.is_empty() && reading.text.is_empty(), "{}", printed);
    }

    // keeps: surfaces-total
    #[test]
    fn every_text_is_read(text in any::<String>(), soup in soup(), cap in 0usize..4) {
        is_sound(&text, &tags::parse(&text, CAP));
        let reading = tags::parse(&soup, cap);
        is_sound(&soup, &reading);
        prop_assert!(reading.ops.len() <= cap);
    }

    // One injury: with two, a statement can lose its closer and the next its opener, and a body is opaque.
    // keeps: surfaces-damage
    #[test]
    fn damage_to_the_framing_makes_no_op_that_was_not_written(
        ops in actions(),
        place in any::<prop::sample::Index>(),
        damage in damage(),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let printed = tags::print(&ops);
        let places = framing(&printed);
        if places.is_empty() {
            return Ok(());
        }
        let mut text = damaged(&printed, places[place.index(places.len())], &damage);
        if let Some(cut) = cut {
            let cut = cut.index(text.len());
            text.truncate((0..=cut).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0));
        }
        let reading = tags::parse(&text, CAP);
        prop_assert!(are_among(&whole(&reading), &ops), "{text}\n{reading:#?}");
        let is_told = !reading.problems.is_empty() || !reading.repairs.is_empty() || !reading.text.is_empty();
        prop_assert!(cut.is_some() || reading.ops.len() >= ops.len() || is_told, "{text}\n{reading:#?}");
    }

    #[test]
    fn a_reply_that_is_cut_says_nothing_else(ops in actions(), cut in any::<prop::sample::Index>()) {
        let printed = tags::print(&ops);
        let cut = cut.index(printed.len() + 1);
        let text = &printed[..(0..=cut).rev().find(|at| printed.is_char_boundary(*at)).unwrap_or(0)];
        let reading = tags::parse(text, CAP);
        prop_assert!(are_among(&whole(&reading), &ops), "{text}\n{reading:#?}");
        prop_assert!(reading.ops.iter().rev().skip(1).all(|op| !op.is_unclosed), "{text}\n{reading:#?}");
    }

    // keeps: surfaces-quote
    #[test]
    fn nothing_that_is_quoted_is_an_op(
        ops in actions(),
        fence in prop::sample::select(vec!["`````````", "~~~~~~~~~"]),
        lead in prop::sample::select(vec!["", "  ", "- ", "1. ", "> ", "so: ", "**x** ", "\u{FEFF}", "\u{A0}", "\n    "]),
    ) {
        let printed = tags::print(&ops);
        let text = format!("See:\n{lead}{fence}xml\n{printed}{fence}\nThat is all.");
        prop_assert_eq!(tags::parse(&text, CAP).ops, vec![]);
        let shown = format!("See ``````````{}`````````` here.", printed.replace('\n', " "));
        prop_assert_eq!(tags::parse(&shown, CAP).ops, vec![]);
    }

    // keeps: surfaces-quote
    #[test]
    fn nothing_in_a_body_is_an_op(inner in actions(), soup in soup()) {
        for (open, close) in [("<set path=\"doc.md\">", "</set>"), ("<sh>", "</sh>")] {
            // Another tag of the same name nests; one that is not closed makes it doubtful where the body ends.
            let body = format!("{}{}", tags::print(&inner), soup.replace("set", "put").replace("sh", "zsh"));
            if body.contains(&open[..open.len().min(4)]) || body.contains(close) {
                continue;
            }
            let reading = tags::parse(&format!("{open}x\n{body}y{close}"), CAP);
            prop_assert!(reading.ops.len() <= 1, "{body}\n{reading:#?}");
        }
    }
}

/// Texts that would take long if anything was looked at again and again.
const HOSTILE: &[&str] = &[
    "<get path=\"",
    "<get path='",
    "<get path=\"a\" ",
    "<get path=\"a\"/>",
    "<set path=\"a\">",
    "<set>",
    "</set>",
    "<set>\n",
    "```",
    "` `` ",
    "```\n",
    "~~~x\n",
    "<",
    "<think>",
    "</think>",
    "[thinking]",
    "[TOOL_CALLS]",
    "<tool_call>",
    "{\"name\":[\n",
    "[\n",
    "{{{{",
    "<|channel|>",
    "<|tool_call>call:a{b:",
    "&lt;",
    "<<NEW\n",
    "<get path=\"a>\n",
    "<tool_call>{\"a\":\"\n\"}</tool_call>",
    "<tool_call>x</tool_call>",
    "</tool_call>",
    "{\"name\":\"\n\",\"arguments\":1}\n",
    "{\"name\":\"x\"} ",
    "<tool_result>",
    "<tool_result></tool_result>",
    "<!-- -->",
    "> </set>\n",
    "<set>`\n</set>",
    "<think a",
    "<set path=\"a\">```\n</set>\n```\n</set>\n```\n",
    "`a\n",
    "a ```\n",
    "- ```x ",
    "> ```\n",
    "a ~~~\n\n",
    "<code>",
    "<file>",
    "a <result> ",
    "</output>",
    "1\t<\n",
    "<|im_start|>user\n",
    "<|im_start|>assistant\n",
    "text-0123456789ab\n",
    "## log:///\n<",
    "# Log\n",
    "◁think▷",
    "◁/think▷",
    "→",
    "[TOOL_RESULTS]",
    "<think\n",
    "\\<",
    "a\r> <",
    "<parameter=a></parameter></parameter>",
    "`</parameter>`",
    "<tool_call>{}",
    "[\"a\",\n",
    "[1,\n",
    "{\"a\":\n",
    "{\"a\":\"\n",
    "[\n[1]\n",
    "<read_file path=\"a\"/>",
    "<write_file path=\"a\">",
    "<Get>",
    "{\"name\":\"get\",\"parameters\":{}};",
    "<|python_tag|>{",
    "<|channel|>analysis\n",
    "<function=a>",
    "```tool_code\nprint(",
    "```tool_code\na(b=1)\n```\n",
    "[TOOL_CALLS]a[CALL_ID]",
];

// keeps: surfaces-linear
#[test]
fn reading_takes_time_linear_in_the_text() {
    let parse = |text: &str| drop(std::hint::black_box(tags::parse(text, 50)));
    for piece in HOSTILE {
        let of = |bytes: usize| piece.repeat(bytes / piece.len());
        let (small, large) = (of(128 << 10), of(512 << 10));
        assert!(clock::is_linear(parse, &small, &large), "{piece:?} takes more than linear time");
    }
}

/// Texts whose parts are not alike, by their length.
fn mixed(bytes: usize) -> [String; 6] {
    let gets = "<get path=\"a\"/>".repeat(bytes / 30);
    let stray = format!("{gets}<sh>a</sh>{}", "</sh>".repeat(bytes / 10));
    let role = format!("x {}[{}", "{\"role\":".repeat(120), "1,".repeat(bytes / 2));
    let held = format!("{}</output>", "<output>a</output><output>".repeat(bytes / 26));
    let unknown = "<gett path=\"a\"> ".repeat(bytes / 16);
    let others = "<<EDIT(a):\n".repeat(bytes / 11);
    let words = "a <analysis> ".repeat(bytes / 13);
    [stray, role, held, unknown, others, words]
}

#[test]
fn reading_takes_time_linear_in_texts_of_several_parts() {
    let parse = |text: &str| drop(std::hint::black_box(tags::parse(text, 50)));
    for (small, large) in mixed(128 << 10).iter().zip(&mixed(512 << 10)) {
        let start: String = large.chars().take(40).collect();
        assert!(clock::is_linear(parse, small, large), "{start:?} takes more than linear time");
    }
}
