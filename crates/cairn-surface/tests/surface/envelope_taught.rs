//! What models are told of the envelope, and what they are shown of outputs.

use cairn_surface::envelope::{
    STEP_BYTES, Stage, TURN_BYTES, Turn, budget, cut, instructions, parse, requirements,
};
use cairn_surface::native::{self, Tool};
use cairn_types::Hash;
use expect_test::{Expect, expect};
use proptest::prelude::*;

/// The tools of a small model.
fn six() -> Vec<&'static Tool> {
    let names = ["read", "write", "edit", "find", "remove", "bash"];
    names.iter().filter_map(|name| native::tool(name)).collect()
}

/// A text and about how many tokens it takes.
fn check(text: &str, expected: &Expect) {
    expected.assert_eq(&format!("{text}\n[about {} tokens]\n", text.len().div_ceil(4)));
}

#[test]
fn the_instructions_for_six_tools_leave_room_in_a_small_request() {
    let told = instructions(&six());
    check(
        &told,
        &expect![[r#"
            Every reply is exactly one JSON object: no words before or after it, no code fence.
            A call: {"tool":NAME,"args":{...},"nonce":NONCE}
            After a result: {"action":"tool","tool":NAME,"args":{...},"nonce":NONCE}
            When all is done: {"action":"final","nonce":NONCE}. You are then asked for your answer in words.
            The tools, with what args may hold; what is marked ? can be left out:
            - read: Read a text file with line numbers, or an entry.
              path, first? (number), limit? (number), hashes? (true or false), scope?, matching?
              e.g. {"path":"src/main.rs","first":10,"limit":40}
            - write: Create a file, or replace the whole content of one that was read before.
              path, content, scope?, tags? (list of texts)
              e.g. {"path":"notes.md","content":"Milk\nBread\n"}
            - edit: Change a file that was read before: replace old by new, where old must occur exactly once unless all is true; or give a patch instead: SEARCH/REPLACE blocks, s/a/b/ lines, a unified diff or *** Begin Patch, of which the last two may name several files without path.
              path?, old?, new?, all? (true or false), patch?; needs path and old and new, or patch
              e.g. {"path":"src/main.rs","old":"let n = 1;","new":"let n = 2;"}
            - find: Find files by name, text in files, or both.
              glob?, text?, under?, tags? (list of texts), context? (number), skip? (number), limit? (number); needs glob, or text, or tags
              e.g. {"glob":"src/**/*.rs","text":"fn main"}
            - remove: Remove a file, a link, an entry, or a directory with everything in it, which can be undone; or end a command in the background.
              path
              e.g. {"path":"old.txt"}
            - bash: Run a shell command and wait for it.
              command, runtime?, cwd?, timeout_ms? (number), background? (true or false), wake? (true or false)
              e.g. {"command":"cargo test"}

            [about 439 tokens]
        "#]],
    );
    let last = requirements(&turn(&six(), Stage::First));
    assert!((told.len() + last.len()).div_ceil(4) < 600, "a prompt has 300 of the 900 tokens");
}

fn turn<'a>(tools: &'a [&'static Tool], stage: Stage) -> Turn<'a> {
    Turn { nonce: "q7Zr", tools, stage, requires_tool: true }
}

#[test]
fn the_requirements_say_what_this_turn_takes_and_the_nonce_last() {
    let six = six();
    check(
        &requirements(&turn(&six, Stage::First)),
        &expect![[r#"
        Reply with {"tool":NAME,"args":{...},"nonce":NONCE} only.
        NAME is one of: read, write, edit, find, remove, bash
        NONCE is "q7Zr"
        [about 32 tokens]
    "#]],
    );
    check(
        &requirements(&turn(&six, Stage::Next)),
        &expect![[r#"
        Reply with {"action":"tool","tool":NAME,"args":{...},"nonce":NONCE}, or with {"action":"final","nonce":NONCE} if all is done.
        NAME is one of: read, write, edit, find, remove, bash
        NONCE is "q7Zr"
        [about 49 tokens]
    "#]],
    );
    let free = Turn { requires_tool: false, ..turn(&six[..2], Stage::First) };
    check(
        &requirements(&free),
        &expect![[r#"
        Reply with {"tool":NAME,"args":{...},"nonce":NONCE}, or with {"action":"final","nonce":NONCE} if all is done.
        NAME is one of: read, write
        NONCE is "q7Zr"
        [about 39 tokens]
    "#]],
    );
    check(
        &requirements(&turn(&[], Stage::Next)),
        &expect![[r#"
        Reply with {"action":"final","nonce":NONCE} only.
        NONCE is "q7Zr"
        [about 17 tokens]
    "#]],
    );
}

#[test]
fn every_example_is_a_call_that_is_admitted_as_it_stands() {
    let tools: Vec<&'static Tool> = native::tools().iter().collect();
    let turn = Turn { requires_tool: true, ..turn(&tools, Stage::First) };
    for tool in &tools {
        let text = format!(r#"{{"tool":"{}","args":{},"nonce":"q7Zr"}}"#, tool.name, tool.example);
        let reading = parse(&text, &turn);
        assert_eq!((reading.ops.len(), reading.repairs.len()), (1, 0), "{text}");
        for name in tool.targets {
            assert!(tool.params.iter().any(|param| param.name == *name), "{}: {name}", tool.name);
        }
        for way in tool.ways {
            let names = way.needs.iter().chain(way.leaves);
            assert!(
                names.copied().all(|name| tool.params.iter().any(|p| p.name == name)),
                "{}",
                tool.name
            );
        }
    }
}

#[test]
fn a_long_output_is_cut_with_its_hash_and_its_size() {
    assert_eq!(cut("short", STEP_BYTES).text, "short");
    let long = "0123456789\n".repeat(1000);
    let shown = cut(&long, 80);
    expect![[r#"
        0123456789
        0123456789
        [cut: 21 of 11000 bytes are shown; blake3 c860a9c5dc71]"#]]
    .assert_eq(&shown.text);
    assert_eq!((shown.bytes, shown.hash), (11_000, Hash::of(long.as_bytes())));
    assert!(shown.text.contains(&shown.hash.short()));
    assert_eq!([0, 8_000, 12_000, 16_000, 99_999].map(budget), [8_000, 8_000, 4_000, 0, 0]);
    assert_eq!(TURN_BYTES, 2 * STEP_BYTES);
}

proptest! {
    #[test]
    fn a_cut_is_a_beginning_within_the_budget(output in "[aé日😀\n]{0,200}", budget in 0usize..400) {
        let shown = cut(&output, budget);
        match output.len() <= budget {
            true => prop_assert_eq!(&shown.text, &output),
            false => {
                let (start, line) = shown.text.rsplit_once('\n').unwrap_or(("", &shown.text));
                prop_assert!(output.starts_with(start) && line.starts_with("[cut: "));
                prop_assert!(shown.text.len() <= budget.max(line.len()));
                let said = format!("[cut: {} of {} bytes", start.len(), output.len());
                prop_assert!(line.starts_with(&said), "{}", line);
            }
        }
    }
}
