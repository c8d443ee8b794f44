//! What models are told of tags, and that it is true.

use cairn_surface::{native, tags};
use expect_test::expect_file;

#[test]
fn the_instructions_say_this_and_cost_so_much() {
    let all: Vec<&'static native::Tool> = native::tools().iter().collect();
    let (taught, last) = (tags::instructions(&all), tags::requirements());
    // Four bytes are about a token.
    let tokens = |text: &str| text.len().div_ceil(4);
    let costs = format!("about {} tokens, and {} in each request", tokens(&taught), tokens(last));
    expect_file!["./instructions.txt"].assert_eq(&format!("{taught}\n---\n{last}\n---\n{costs}\n"));
}

#[test]
fn only_the_tools_that_are_given_are_taught() {
    let some: Vec<&'static native::Tool> =
        native::tools().iter().filter(|tool| ["read", "send"].contains(&tool.name)).collect();
    let taught = tags::instructions(&some);
    assert!(taught.contains("<get path=\"notes.md\"/>"), "{taught}");
    assert!(taught.contains("## update"), "{taught}");
    assert_eq!(taught.matches("\n## ").count(), 2, "{taught}");
}

#[test]
fn every_example_means_the_tool_that_it_teaches() {
    for skin in native::skins() {
        for example in skin.examples {
            let reading = tags::parse(example.tag, 5);
            let tools: Vec<&str> = reading.ops.iter().map(|op| op.tool).collect();
            assert_eq!(tools, [skin.tool.name], "{}", example.tag);
            assert!(reading.problems.is_empty() && reading.repairs.is_empty(), "{}", example.tag);
        }
    }
}

#[test]
fn no_reason_is_shown() {
    let all: Vec<&'static native::Tool> = native::tools().iter().collect();
    let taught = tags::instructions(&all);
    let mut reasons = native::skins().iter().flat_map(|skin| skin.examples).map(|one| one.why);
    assert!(reasons.all(|why| !why.is_empty() && !taught.contains(why)));
}
