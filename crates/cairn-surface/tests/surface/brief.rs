//! What small models are told of their tools, and that it is true.

use cairn_surface::any::{Telling, told, tools_named};
use cairn_surface::{heredoc, tags};
use cairn_types::Surface;
use expect_test::{Expect, expect};

/// A text for these tools, and about how many tokens it takes.
fn check(surface: Surface, names: &[&str], expected: &Expect) {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let text = told(surface, &tools_named(&names), Telling::Brief);
    expected.assert_eq(&format!("{text}\n[about {} tokens]\n", text.len().div_ceil(4)));
}

#[test]
fn tags_are_told_in_few_words() {
    let six = ["read", "write", "edit", "remove", "bash", "send"];
    check(
        Surface::Tags,
        &six,
        &expect![[r#"
        You act by tags, as below. Anything else you write changes nothing.
        Close every tag. Write them outside of code fences, and escape nothing in a body.
        They are done in order; what they found stands in the next request.
        ## Read a text file with line numbers, or an entry.
        <get path="notes.md"/>
        <get path="src/main.rs" scope="10-20"/>
        ## Create a file, or replace the whole content of one that was read before.
        <set path="notes.md">
        # Notes
        </set>
        <set path="notes.md" scope="3-4">
        new lines
        </set>
        ## Change a file that was read before: replace old by new, where old must occur exactly once unless all is true.
        <set path="src/main.rs"><<SEARCH
        old line
        SEARCH
        <<REPLACE
        new line
        REPLACE
        </set>
        ## Remove a file, a link, an entry, or a directory with everything in it, which can be undone.
        <rm path="old.txt"/>
        ## Run a shell command and wait for it.
        <sh>cargo test</sh>

        [about 218 tokens]
    "#]],
    );
}

#[test]
fn heredocs_are_told_in_few_words() {
    let six = ["read", "write", "edit", "remove", "bash", "send"];
    check(
        Surface::Heredoc,
        &six,
        &expect![[r#"
        You act by statements <<OP(target):body:OP, as below. Anything else you write changes nothing.
        A statement is closed by : and the same word. A body is taken exactly as it stands.
        Write statements outside of code fences, each beginning a line.
        They are done in order; what they found stands in the next request.
        ## Read a text file with line numbers, or an entry.
        <<READ(notes.md)::READ
        <<READ(src/main.rs)<10-20>::READ
        ## Create a file, or replace the whole content of one that was read before.
        <<EDIT(notes.md):# Notes
        :EDIT
        <<EDIT(notes.md)<3-4>:new lines
        :EDIT
        ## Change a file that was read before: replace old by new, where old must occur exactly once unless all is true.
        <<PATCH(src/main.rs):<<SEARCH
        old line
        SEARCH
        <<REPLACE
        new line
        REPLACE
        :PATCH
        ## Remove a file, a link, an entry, or a directory with everything in it, which can be undone.
        <<KILL(old.txt)::KILL
        ## Run a shell command and wait for it.
        <<EXEC:cargo test:EXEC

        [about 235 tokens]
    "#]],
    );
}

#[test]
fn schemas_hold_what_most_calls_have() {
    check(
        Surface::Native,
        &["read", "edit", "bash"],
        &expect![[r#"
        [{"name":"read","description":"Read a text file with line numbers, or an entry.","parameters":{"type":"object","properties":{"path":{"type":"string","description":"Path relative to the project root."},"first":{"type":"integer","minimum":0,"description":"First line to show, from 1."},"limit":{"type":"integer","minimum":0,"description":"How many lines at most."}},"required":["path"],"additionalProperties":false}},{"name":"edit","description":"Change a file that was read before: replace old by new, where old must occur exactly once unless all is true.","parameters":{"type":"object","properties":{"path":{"type":"string","description":"Path relative to the project root."},"old":{"type":"string","description":"The text that stands there now, exactly."},"new":{"type":"string","description":"The text that shall stand there."}},"required":["path","old","new"],"additionalProperties":false}},{"name":"bash","description":"Run a shell command and wait for it.","parameters":{"type":"object","properties":{"command":{"type":"string","description":"The command, one string for the shell."}},"required":["command"],"additionalProperties":false}}]
        [about 286 tokens]
    "#]],
    );
}

#[test]
fn every_statement_of_it_is_read_as_it_stands() {
    let names: Vec<String> =
        ["read", "write", "edit", "remove", "bash"].map(str::to_owned).to_vec();
    let tools = tools_named(&names);
    let asked = |reading: cairn_surface::Reading| {
        assert!(reading.repairs.is_empty() && reading.problems.is_empty(), "{reading:?}");
        let mut asked: Vec<&str> = reading.ops.iter().map(|op| op.tool).collect();
        asked.dedup();
        asked
    };
    let read = |surface, parse: fn(&str, usize) -> cairn_surface::Reading| {
        let text = told(surface, &tools, Telling::Brief);
        let examples = text.find("## ").map(|at| &text[at..]).unwrap();
        asked(parse(examples, 99))
    };
    assert_eq!(read(Surface::Tags, tags::parse), names);
    assert_eq!(read(Surface::Heredoc, heredoc::parse), names);
}
