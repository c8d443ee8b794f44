//! Heredocs and what they say, as tables. A line behind `>` is a text, with `\n`, `\t`, `\r` and `\\` in it; the lines
//! that follow are what it says: ops, `~` repairs, `!` problems, then text, thoughts and the end.

use cairn_surface::{heredoc, shown};
use expect_test::{ExpectFile, expect_file};
use serde_json::Value;
use std::fmt::Write as _;

/// Compares each text of a table with what is said below it.
fn check(table: &str, expect: &ExpectFile) {
    let mut out = String::new();
    for line in table.lines() {
        if line.starts_with('#') {
            let _ = writeln!(out, "{line}\n");
        }
        if let Some(text) = line.strip_prefix("> ") {
            let _ = writeln!(out, "{line}\n{}", told(&unescaped(text)));
        }
    }
    expect.assert_eq(&out);
}

fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        out.push(match (c, c == '\\') {
            (_, true) => match chars.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                other => other.unwrap_or('\\'),
            },
            (c, false) => c,
        });
    }
    out
}

fn told(text: &str) -> String {
    let reading = heredoc::parse(text, 50);
    let mut out = String::new();
    for op in &reading.ops {
        let said = match &op.parsed.action {
            Ok(action) => fields(&shown(action)),
            Err(misread) => format!("{} {}", misread.status, misread.message),
        };
        let open = if op.is_unclosed { " (unclosed)" } else { "" };
        let _ = writeln!(out, "{}:{} {said}{open}", op.at.line, op.at.column);
    }
    for repair in &reading.repairs {
        let at = repair.at;
        let _ = writeln!(out, "~ {}:{} {}: {}", at.line, at.column, repair.kind, repair.note);
    }
    for problem in &reading.problems {
        let at = problem.at;
        let _ = writeln!(out, "! {}:{} {}: {}", at.line, at.column, problem.kind, problem.note);
    }
    if !reading.text.is_empty() {
        let _ = writeln!(out, "text {:?}", reading.text);
    }
    if !reading.reasoning.is_empty() {
        let _ = writeln!(out, "thought {:?}", reading.reasoning);
    }
    if let Some(status) = reading.terminal {
        let _ = writeln!(out, "end {status}");
    }
    out
}

/// The fields of an op.
fn fields(shown: &Value) -> String {
    let Value::Object(fields) = shown else { return shown.to_string() };
    let mut said = vec![fields["op"].as_str().unwrap_or_default().to_owned()];
    let others = fields.iter().filter(|(name, _)| *name != "op");
    said.extend(others.map(|(name, value)| format!("{name}={value}")));
    said.join(" ")
}

#[test]
fn a_statement_says_what_it_says() {
    check(include_str!("heredoc.txt"), &expect_file!["heredoc.txt"]);
}

#[test]
fn a_broken_statement_is_told_of_and_is_no_other_op() {
    check(include_str!("heredoc_broken.txt"), &expect_file!["heredoc_broken.txt"]);
}

#[test]
fn the_table_is_large() {
    let tables = [include_str!("heredoc.txt"), include_str!("heredoc_broken.txt")];
    let cases = tables.iter().flat_map(|table| table.lines()).filter(|line| line.starts_with("> "));
    assert!(cases.count() >= 240);
}

#[test]
fn a_target_has_no_more_than_512_characters() {
    let kinds = |length: usize| {
        let reading = heredoc::parse(&format!("<<READ({})::READ", "é".repeat(length)), 50);
        let kinds: Vec<&str> = reading.problems.iter().map(|problem| problem.kind).collect();
        (reading.ops.len(), kinds)
    };
    assert_eq!(kinds(512), (1, vec![]));
    assert_eq!(kinds(513), (0, vec!["target_refused"]));
}

#[test]
fn ops_over_the_cap_are_left_out_and_counted() {
    let reading = heredoc::parse(&"<<READ(a)::READ\n".repeat(5), 2);
    assert_eq!(reading.ops.len(), 2);
    let [problem] = &reading.problems[..] else { panic!("{:?}", reading.problems) };
    assert_eq!((problem.kind, problem.at.line), ("ops_over_cap", 3));
    assert_eq!(problem.note, "3 ops after the first 2 are left out");
    assert_eq!(problem.snippet, "2:\t<<READ(a)::READ\n3:\t<<READ(a)::READ\n4:\t<<READ(a)::READ");
}

#[test]
fn so_many_problems_are_told_and_no_more() {
    let reading = heredoc::parse(&"<<SEND[x]:a:SEND\n".repeat(100), 2);
    assert_eq!(reading.problems.len(), 33);
    assert_eq!(reading.problems[32].note, "68 more problems stand in the text");
}

#[test]
fn a_call_in_a_frame_with_its_own_names_is_not_read() {
    const SPACE: &str = "antml:";
    for name in ["function_calls", "invoke", "parameter", "Function_Calls"] {
        for attributes in ["", " name=\"a\""] {
            let text = format!(
                "<{SPACE}{name}{attributes}>\n<<KILL(v)::KILL\n</{SPACE}{name}>\n<<READ(a)::READ"
            );
            let reading = heredoc::parse(&text, 50);
            let tools: Vec<&str> = reading.ops.iter().map(|op| op.tool).collect();
            let kinds: Vec<&str> = reading.problems.iter().map(|problem| problem.kind).collect();
            assert_eq!((tools, kinds), (vec!["read"], vec!["foreign_call"]), "{text}");
        }
    }
}
