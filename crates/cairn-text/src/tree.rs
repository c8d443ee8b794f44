//! Structured documents (JSON, YAML, TOML, CSV) as one kind of tree, each value with the line it stands
//! on. Reads text into it and prints it as compact JSON; does not select from it (`jsonpath` does).

mod csv;
mod fields;
mod json;
mod limits;
mod lines;
mod number;
mod print;
mod toml;
mod yaml;

#[cfg(test)]
mod tests;

pub use number::Number;
pub(crate) use number::Quantity;

use limits::Budget;

/// One value of a document. Nodes come from [`of`] alone, so none lies deeper than 128 values: what walks
/// a tree, or drops it, may do so by recursion.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    line: usize,
    value: Value,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing, said so.
    Null,
    /// True or false.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text. A form that has more kinds of values than JSON gives the others as texts.
    Text(String),
    /// Values in order.
    List(Vec<Node>),
    /// Values by name, in the document's order, no name twice.
    Object(Vec<(String, Node)>),
}

/// Why a document is not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// It is not what its type says.
    #[error("line {line} is not {form}: {why}")]
    Malformed {
        /// The name of the form.
        form: &'static str,
        /// Where it stops being that, from 1.
        line: usize,
        /// What is wrong.
        why: String,
    },
    /// Values lie too deep in each other.
    #[error("line {line}: values lie more than {limit} deep in each other")]
    TooDeep {
        /// Where the limit is passed, from 1.
        line: usize,
        /// The limit.
        limit: usize,
    },
    /// It is longer than a document that is read as a tree.
    #[error("it is {bytes} bytes long, and documents up to {limit} bytes are read as a tree")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// It has too many values, those that its aliases stand for included.
    #[error("it has more than {limit} values")]
    TooMany {
        /// The limit.
        limit: usize,
    },
    /// Its aliases stand for too much text.
    #[error("its aliases stand for more than {limit} bytes of text")]
    TooMuchCopied {
        /// The limit.
        limit: usize,
    },
}

impl Unreadable {
    /// Whether the document may be what its type says, and is more than is read.
    #[must_use]
    pub fn is_a_limit(&self) -> bool {
        !matches!(self, Self::Malformed { .. })
    }
}

/// The tree of a document of this type; absent where the type has no structure that is read here.
///
/// Of several values for one name the last is taken. YAML: the document, or a list of them where there
/// are several; an alias stands for a copy; `<<` is a name like any other. CSV: a list of objects by the
/// names in the first row, in which a field that is a JSON number is a number; fields beyond the last
/// name are named by their place, from 1. JSON lines: a list.
pub fn of(text: &str, mime: &str) -> Result<Option<Node>, Unreadable> {
    let Some(form) = Form::of(mime) else { return Ok(None) };
    if text.len() > limits::BYTES {
        return Err(Unreadable::TooLong { bytes: text.len(), limit: limits::BYTES });
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut budget = Budget::new();
    match form {
        Form::Json => json::read(text, &mut budget),
        Form::JsonLines => json::read_lines(text, &mut budget),
        Form::Yaml => yaml::read(text, &mut budget),
        Form::Toml => toml::read(text, &mut budget),
        Form::Csv => csv::read(text, &mut budget),
    }
    .map(Some)
}

impl Node {
    fn new(line: usize, value: Value) -> Self {
        Self { line, value }
    }

    /// The line on which it begins in the source, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// What it is.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// How many values lie in it, itself not counted, those beneath them not either.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.value {
            Value::List(items) => items.len(),
            Value::Object(fields) => fields.len(),
            _ => 0,
        }
    }

    /// Whether no value lies in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values that lie in it, in order.
    pub fn children(&self) -> impl DoubleEndedIterator<Item = &Node> {
        let (items, fields): (&[Node], &[(String, Node)]) = match &self.value {
            Value::List(items) => (items, &[]),
            Value::Object(fields) => (&[], fields),
            _ => (&[], &[]),
        };
        items.iter().chain(fields.iter().map(|(_, node)| node))
    }
}

/// The forms that are read.
#[derive(Debug, Clone, Copy)]
enum Form {
    Json,
    JsonLines,
    Yaml,
    Toml,
    Csv,
}

impl Form {
    /// The form that a media type names; its parameters change nothing.
    fn of(mime: &str) -> Option<Self> {
        let essence = mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match essence.as_str() {
            "application/json" | "text/json" => Some(Self::Json),
            "application/x-ndjson"
            | "application/ndjson"
            | "application/jsonl"
            | "application/x-jsonlines" => Some(Self::JsonLines),
            "application/yaml" | "application/x-yaml" | "text/yaml" | "text/x-yaml" => {
                Some(Self::Yaml)
            }
            "application/toml" | "text/x-toml" => Some(Self::Toml),
            "text/csv" => Some(Self::Csv),
            other if other.ends_with("+json") => Some(Self::Json),
            other if other.ends_with("+yaml") => Some(Self::Yaml),
            _ => None,
        }
    }
}
