//! A reading on one line, so that a case of a table is a text and a line.
//!
//! `tool arg=value; …` are the ops (`!` before one whose end was not written), `~kind` repairs, `?kind` problems,
//! `"…"` what is left as prose, `(…)` what was thought, `=200` the last word. Line ends are shown as `\n`.

use cairn_surface::{Reading, Written, tags};

/// The most ops that a table takes of a text.
pub const CAP: usize = 20;

/// Texts and what they say.
pub type Cases = &'static [(&'static str, &'static str)];

/// What each text says. All that say something else are told at once.
pub fn check_all(cases: Cases) {
    let read = cases.iter().map(|(text, said)| (text, said, notation(&tags::parse(text, CAP))));
    let other = read.filter(|(_, said, read)| read != *said);
    let other: Vec<String> =
        other.map(|(text, said, read)| format!("{text:?}\n  not {said}\n  but {read}")).collect();
    assert!(other.is_empty(), "{}", other.join("\n"));
}

pub fn notation(reading: &Reading) -> String {
    let ops: Vec<String> = reading.ops.iter().map(op).collect();
    let mut said = vec![if ops.is_empty() { "-".to_owned() } else { ops.join("; ") }];
    said.extend(reading.repairs.iter().map(|repair| format!("~{}", repair.kind)));
    said.extend(reading.problems.iter().map(|problem| format!("?{}", problem.kind)));
    if !reading.text.is_empty() {
        said.push(format!("\"{}\"", plain(&reading.text)));
    }
    if !reading.reasoning.is_empty() {
        said.push(format!("({})", plain(&reading.reasoning)));
    }
    said.extend(reading.terminal.map(|status| format!("={status}")));
    said.join(" ")
}

fn op(op: &Written) -> String {
    let args = op.args.iter().map(|(name, value)| match value.as_str() {
        Some(text) => format!(" {name}={}", plain(text)),
        None => format!(" {name}={value}"),
    });
    let args: String = args.collect();
    let refused = match &op.parsed.action {
        Ok(_) => String::new(),
        Err(why) => format!(" -> {}", why.status),
    };
    format!("{}{}{args}{refused}", if op.is_unclosed { "!" } else { "" }, op.tool)
}

fn plain(text: &str) -> String {
    text.replace('\r', "\\r").replace('\n', "\\n").replace('\t', "\\t")
}
