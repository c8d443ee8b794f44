//! What models are told of heredocs, and that it is true.

use cairn_surface::heredoc::{instructions, parse, requirements};
use cairn_surface::native;
use expect_test::{expect, expect_file};

/// About as many tokens as models count for such a text.
fn tokens(text: &str) -> usize {
    text.len().div_ceil(4)
}

#[test]
fn instructions_are_as_they_were() {
    let all: Vec<_> = native::tools().iter().collect();
    let told = instructions(&all);
    expect_file!["heredoc_instructions.txt"].assert_eq(&told);
    expect!["about 2025 tokens"].assert_eq(&format!("about {} tokens", tokens(&told)));
}

#[test]
fn requirements_are_short() {
    let told = requirements();
    expect![[r#"
        Reply with statements; text outside them changes nothing. Go on until the work is done. Then, when nothing failed and nothing is unseen, end it with one last statement that holds the answer:
        <<SEND[200]:your answer:SEND
        With 422 instead of 200 if it cannot be done."#]].assert_eq(&told);
    assert!(tokens(&told) < 120);
}

#[test]
fn only_what_is_given_is_told() {
    let given: Vec<_> = native::tools().iter().filter(|tool| tool.name == "read").collect();
    let told = instructions(&given);
    assert!(told.contains("<<READ(notes.md)::READ"));
    assert!(!told.contains("EDIT") && !told.contains("EXEC"), "{told}");
}

#[test]
fn every_example_is_read_as_the_tool_it_teaches() {
    for skin in native::skins() {
        for example in skin.examples {
            let reading = parse(example.heredoc, 9);
            let tools: Vec<&str> = reading.ops.iter().map(|op| op.tool).collect();
            assert_eq!(tools, [skin.tool.name], "{}", example.heredoc);
            assert!(reading.problems.is_empty() && reading.repairs.is_empty(), "{reading:?}");
        }
    }
}

#[test]
fn a_suffix_makes_every_word_plain_text() {
    for word in native::skins().iter().flat_map(|skin| skin.words).chain(&["CALL"]) {
        let inner = format!("<<{word}(q):x:{word}");
        let reading = parse(&format!("<<{word}outer(p):{inner}:{word}outer"), 9);
        // Some words take no body, and say so; none takes what is in it.
        assert_eq!(reading.ops.len() + reading.problems.len(), 1, "{word}: {reading:?}");
        assert!(reading.text.is_empty(), "{word}");
    }
}
