//! A Jupyter notebook as text: its cells in order with what they printed. Pure; anything that is not
//! a notebook is none.

use serde_json::Value;
use std::fmt::Write;

/// How much of one output is shown, in characters.
const OUTPUT_CHARS: usize = 2000;

/// The cells as text; `None` when the bytes are not a notebook.
pub(crate) fn cells(bytes: &[u8]) -> Option<String> {
    let notebook: Value = serde_json::from_slice(bytes).ok()?;
    let cells = notebook.get("cells")?.as_array()?;
    let mut out = String::new();
    for (number, cell) in (1..).zip(cells) {
        let kind = cell.get("cell_type").and_then(Value::as_str).unwrap_or("cell");
        let _ = writeln!(out, "[cell {number}: {kind}]");
        push(&mut out, &text(cell.get("source")));
        for output in cell.get("outputs").and_then(Value::as_array).into_iter().flatten() {
            let _ = writeln!(out, "[output]");
            push(&mut out, &printed(output));
        }
    }
    Some(out)
}

fn push(out: &mut String, text: &str) {
    out.push_str(text);
    if !text.is_empty() && !text.ends_with('\n') {
        out.push('\n');
    }
}

/// A text is a string, or a list of lines.
fn text(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

/// What an output shows as text: a stream, an error, or data that has a plain form.
fn printed(output: &Value) -> String {
    let data = output.get("data").and_then(Value::as_object);
    let plain = match (output.get("text"), data.and_then(|data| data.get("text/plain"))) {
        (Some(stream), _) => text(Some(stream)),
        (None, Some(plain)) => text(Some(plain)),
        (None, None) => {
            let say = |key: &str| output.get(key).and_then(Value::as_str).unwrap_or_default();
            match data {
                Some(data) => data.keys().map(String::as_str).collect::<Vec<_>>().join(", "),
                None => format!("{} {}", say("ename"), say("evalue")).trim().to_owned(),
            }
        }
    };
    match plain.char_indices().nth(OUTPUT_CHARS) {
        None => plain,
        Some((at, _)) => format!("{}… ({} more bytes)", &plain[..at], plain.len() - at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_notebook_is_its_cells_and_what_they_printed() {
        let notebook = json!({"nbformat": 4, "cells": [
            {"cell_type": "markdown", "source": ["# Title\n", "words"]},
            {"cell_type": "code", "source": "1 + 1", "outputs": [
                {"output_type": "execute_result", "data": {"text/plain": ["2"]}},
                {"output_type": "stream", "name": "stdout", "text": ["a\n", "b\n"]},
                {"output_type": "display_data", "data": {"image/png": "iVBOR"}},
                {"output_type": "error", "ename": "ValueError", "evalue": "bad"},
            ]},
        ]});
        let expected = "[cell 1: markdown]\n# Title\nwords\n[cell 2: code]\n1 + 1\n[output]\n2\n\
            [output]\na\nb\n[output]\nimage/png\n[output]\nValueError bad\n";
        assert_eq!(cells(notebook.to_string().as_bytes()).as_deref(), Some(expected));
        for other in ["", "[]", "{\"cells\": 1}", "{", "plain text"] {
            assert_eq!(cells(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn a_long_output_is_cut_between_characters() {
        let output = json!({"text": "é".repeat(3000)});
        assert_eq!(printed(&output), format!("{}… (2000 more bytes)", "é".repeat(2000)));
    }
}
