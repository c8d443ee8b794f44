//! YAML as a tree: plain scalars by the core schema of YAML 1.2, aliases as copies within the budget.

use super::limits::{Budget, within};
use super::{Node, Unreadable, Value, fields};
use saphyr_parser::{Event, Parser, ScanError, Span, StrInput};
use std::collections::HashMap;

mod scalar;

pub(super) fn read(text: &str, budget: &mut Budget) -> Result<Node, Unreadable> {
    let mut reader = Reader {
        events: Parser::new_from_str(text),
        lines: text.lines().count().max(1),
        open: Vec::new(),
        anchors: HashMap::new(),
        documents: Vec::new(),
        budget,
    };
    while let Some(event) = reader.events.next_event() {
        let (event, span) = event.map_err(|error| malformed(&error, reader.lines))?;
        reader.take(event, span)?;
    }
    let mut documents = reader.documents;
    match (documents.pop(), documents.is_empty()) {
        (None, _) => Ok(Node::new(1, Value::Null)),
        (Some(only), true) => Ok(only),
        (Some(last), false) => {
            documents.push(last);
            Ok(Node::new(1, Value::List(documents)))
        }
    }
}

fn malformed(error: &ScanError, lines: usize) -> Unreadable {
    let line = error.marker().line().clamp(1, lines);
    Unreadable::Malformed { form: "YAML", line, why: error.info().to_owned() }
}

struct Reader<'t, 'b> {
    events: Parser<'t, StrInput<'t>>,
    /// How many lines there are. What is left out at the end is told to stand after them.
    lines: usize,
    /// The lists and mappings around the next value, the outermost first.
    open: Vec<Open>,
    anchors: HashMap<usize, Node>,
    documents: Vec<Node>,
    budget: &'b mut Budget,
}

/// A list or mapping that is not yet closed.
struct Open {
    line: usize,
    anchor: usize,
    items: Items,
}

enum Items {
    List(Vec<Node>),
    /// The fields, and the name of the next value if it was read.
    Mapping(Vec<(String, Node)>, Option<String>),
}

/// A value, and how it was written if it was a scalar: that is its text as a name.
struct Read {
    node: Node,
    anchor: usize,
    written: Option<String>,
}

impl Reader<'_, '_> {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), Unreadable> {
        let line = span.start.line().clamp(1, self.lines);
        match event {
            Event::Alias(anchor) => self.alias(anchor, line),
            Event::Scalar(text, style, anchor, tag) => {
                self.enter(line)?;
                let value = scalar::value(&text, style, tag.as_deref());
                let written = Some(text.into_owned());
                self.put(Read { node: Node::new(line, value), anchor, written })
            }
            Event::SequenceStart(anchor, _) => self.start(line, anchor, Items::List(Vec::new())),
            Event::MappingStart(anchor, _) => {
                self.start(line, anchor, Items::Mapping(Vec::new(), None))
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            // An anchor stands for nothing in the documents after its own.
            Event::DocumentStart(_) => {
                self.anchors.clear();
                Ok(())
            }
            Event::DocumentEnd | Event::StreamStart | Event::StreamEnd | Event::Nothing => Ok(()),
        }
    }

    /// Counts one more value at this place.
    fn enter(&mut self, line: usize) -> Result<(), Unreadable> {
        // One more, as several documents lie in a list.
        within(self.open.len() + 1, line)?;
        self.budget.value()
    }

    fn start(&mut self, line: usize, anchor: usize, items: Items) -> Result<(), Unreadable> {
        self.enter(line)?;
        self.open.push(Open { line, anchor, items });
        Ok(())
    }

    fn end(&mut self) -> Result<(), Unreadable> {
        let Some(Open { line, anchor, items }) = self.open.pop() else { return Ok(()) };
        let value = match items {
            Items::List(items) => Value::List(items),
            Items::Mapping(read, _) => Value::Object(fields::unique(read)),
        };
        self.put(Read { node: Node::new(line, value), anchor, written: None })
    }

    fn alias(&mut self, anchor: usize, line: usize) -> Result<(), Unreadable> {
        let Some(meant) = self.anchors.get(&anchor) else {
            let why = "an alias names nothing that was read before it".to_owned();
            return Err(Unreadable::Malformed { form: "YAML", line, why });
        };
        let mut node = self.budget.copy(meant, self.open.len() + 1)?;
        node.line = line;
        let written = match &node.value {
            Value::List(_) | Value::Object(_) => None,
            Value::Text(text) => Some(text.clone()),
            _ => Some(node.to_string()),
        };
        self.put(Read { node, anchor: 0, written })
    }

    /// Puts a value where it belongs, and keeps it for the aliases that may follow.
    fn put(&mut self, read: Read) -> Result<(), Unreadable> {
        let Read { node, anchor, written } = read;
        if anchor > 0 {
            let kept = self.budget.copy(&node, self.open.len() + 1)?;
            self.anchors.insert(anchor, kept);
        }
        match self.open.last_mut().map(|open| &mut open.items) {
            None => self.documents.push(node),
            Some(Items::List(items)) => items.push(node),
            Some(Items::Mapping(fields, name)) => match name.take() {
                Some(name) => fields.push((name, node)),
                // A name that is no scalar is its own text as JSON.
                None => *name = Some(written.unwrap_or_else(|| node.to_string())),
            },
        }
        Ok(())
    }
}
