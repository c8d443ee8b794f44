//! CSV (RFC 4180) as a list of objects by the names in its first row.

use super::limits::Budget;
use super::lines::Starts;
use super::{Node, Number, Unreadable, Value, fields};
use ::csv::{ReaderBuilder, StringRecord};

pub(super) fn read(text: &str, budget: &mut Budget) -> Result<Node, Unreadable> {
    budget.value()?;
    let starts = Starts::of(text);
    let mut reader =
        ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    let mut record = StringRecord::new();
    let mut names: Option<Vec<String>> = None;
    let mut rows = Vec::new();
    loop {
        let from = usize::try_from(reader.position().byte()).unwrap_or(usize::MAX);
        match reader.read_record(&mut record) {
            Ok(true) => {}
            Ok(false) => return Ok(Node::new(1, Value::List(rows))),
            Err(error) => {
                let line = starts.line(from);
                return Err(Unreadable::Malformed { form: "CSV", line, why: error.to_string() });
            }
        }
        // A record is told to begin where the one before it ended; empty lines may lie between.
        let line = starts.line(from + empty_before(text.get(from..).unwrap_or_default()));
        match &names {
            None => names = Some(record.iter().map(str::to_owned).collect()),
            Some(names) => rows.push(row(&record, names, line, budget)?),
        }
    }
}

/// How many bytes of line ends a text begins with.
fn empty_before(text: &str) -> usize {
    text.bytes().take_while(|byte| matches!(byte, b'\r' | b'\n')).count()
}

fn row(
    record: &StringRecord,
    names: &[String],
    line: usize,
    budget: &mut Budget,
) -> Result<Node, Unreadable> {
    budget.value()?;
    let mut read = Vec::with_capacity(record.len());
    let mut at = line;
    for (n, field) in record.iter().enumerate() {
        budget.value()?;
        let name = names.get(n).cloned().unwrap_or_else(|| (n + 1).to_string());
        let value =
            Number::parse(field).map_or_else(|| Value::Text(field.to_owned()), Value::Number);
        read.push((name, Node::new(at, value)));
        // A field in quotes may go over several lines.
        at += field.matches('\n').count();
    }
    Ok(Node::new(line, Value::Object(fields::unique(read))))
}
