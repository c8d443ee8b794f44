//! The five tools: name, words for the model, arguments, and the op each one is.

use super::args::Args;
use cairn_types::{Action, EditBody, Effect};
use serde_json::{Map, Value, json};

/// A native tool.
pub struct Tool {
    /// Its name on the wire.
    pub name: &'static str,
    /// What the model is told about it.
    pub description: &'static str,
    /// Its arguments.
    pub params: &'static [Param],
    /// What it may change.
    pub effect: Effect,
    /// Whether doing it twice is the same as doing it once.
    pub repeatable: bool,
    pub(super) build: fn(&mut Args) -> Result<Action, String>,
}

/// One argument of a tool.
pub struct Param {
    /// Its name.
    pub name: &'static str,
    /// Names models also use for it; reading one is reported.
    pub aliases: &'static [&'static str],
    /// Its type.
    pub kind: Kind,
    /// Whether a call without it makes no sense.
    pub required: bool,
    /// What the model is told about it.
    pub description: &'static str,
}

/// Types of arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// A whole number from 0.
    Count,
    /// True or false.
    Flag,
}

const fn required(
    name: &'static str,
    aliases: &'static [&'static str],
    description: &'static str,
) -> Param {
    Param { name, aliases, kind: Kind::Text, required: true, description }
}

const fn optional(
    name: &'static str,
    aliases: &'static [&'static str],
    kind: Kind,
    description: &'static str,
) -> Param {
    Param { name, aliases, kind, required: false, description }
}

const PATH: Param =
    required("path", &["file_path", "filename", "file"], "Path relative to the project root.");

static TOOLS: [Tool; 5] = [
    Tool {
        name: "read",
        description: "Read a text file with line numbers, or list a directory.",
        params: &[
            PATH,
            optional("first", &["offset"], Kind::Count, "First line to show, from 1. Default 1."),
            optional("limit", &["lines"], Kind::Count, "How many lines at most. Default 2000."),
        ],
        effect: Effect::Read,
        repeatable: true,
        build: |args| {
            Ok(Action::Read {
                path: args.text("path")?,
                first: args.count("first").unwrap_or(1).max(1),
                limit: args.count("limit").filter(|n| *n > 0).unwrap_or(2000),
            })
        },
    },
    Tool {
        name: "write",
        description: "Create a file, or replace the whole content of one. Missing directories are made.",
        params: &[
            PATH,
            required("content", &["contents", "text"], "The whole content of the file."),
        ],
        effect: Effect::World,
        repeatable: false,
        build: |args| {
            Ok(Action::Edit {
                path: args.text("path")?,
                body: EditBody::Whole { content: args.text("content")? },
            })
        },
    },
    Tool {
        name: "edit",
        description: "Replace one text in a file by another. The old text must occur exactly once, unless all is true. The result shows the lines as they now are.",
        params: &[
            PATH,
            required(
                "old",
                &["old_string", "old_text", "search"],
                "The text that stands there now, exactly.",
            ),
            required(
                "new",
                &["new_string", "new_text", "replace"],
                "The text that shall stand there.",
            ),
            optional(
                "all",
                &["replace_all"],
                Kind::Flag,
                "Replace every occurrence. Default false.",
            ),
        ],
        effect: Effect::World,
        repeatable: false,
        build: |args| {
            Ok(Action::Edit {
                path: args.text("path")?,
                body: EditBody::Replace {
                    old: args.text("old")?,
                    new: args.text("new")?,
                    all: args.flag("all").unwrap_or(false),
                },
            })
        },
    },
    Tool {
        name: "find",
        description: "Find files by name, text in files, or both. Give glob, text, or both.",
        params: &[
            optional(
                "glob",
                &["pattern", "path", "include"],
                Kind::Text,
                "Glob over paths, such as src/**/*.rs; without a slash it matches at any depth.",
            ),
            optional(
                "text",
                &["query", "regex", "search"],
                Kind::Text,
                "Text to look for: literal, or a regular expression written /…/ or /…/i.",
            ),
            optional("skip", &[], Kind::Count, "How many results to skip. Default 0."),
        ],
        effect: Effect::Read,
        repeatable: true,
        build: |args| {
            Ok(Action::Find {
                glob: args.text("glob").ok(),
                text: args.text("text").ok(),
                skip: args.count("skip").unwrap_or(0),
            })
        },
    },
    Tool {
        name: "bash",
        description: "Run a shell command in the project root and wait for it. Everything it started ends with it. The result is its output and its exit code.",
        params: &[
            required("command", &["cmd", "script"], "The command line."),
            optional(
                "timeout_ms",
                &["timeout"],
                Kind::Count,
                "When to end it, in milliseconds, up to the configured maximum.",
            ),
        ],
        effect: Effect::Host,
        repeatable: false,
        build: |args| {
            Ok(Action::Exec {
                command: args.text("command")?,
                timeout_ms: args.count("timeout_ms").filter(|n| *n > 0),
            })
        },
    },
];

/// The tools a model is given.
#[must_use]
pub fn tools() -> &'static [Tool] {
    &TOOLS
}

/// Their schemas, a JSON array of `{name, description, parameters}`.
#[must_use]
pub fn schemas() -> String {
    Value::Array(TOOLS.iter().map(Tool::schema).collect()).to_string()
}

impl Tool {
    fn schema(&self) -> Value {
        let properties: Map<String, Value> = self
            .params
            .iter()
            .map(|p| {
                (
                    p.name.to_owned(),
                    json!({"type": p.kind.json_type(), "description": p.description}),
                )
            })
            .collect();
        let required: Vec<&str> =
            self.params.iter().filter(|p| p.required).map(|p| p.name).collect();
        json!({
            "name": self.name,
            "description": self.description,
            "parameters": {
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            },
        })
    }
}

impl Kind {
    fn json_type(self) -> &'static str {
        match self {
            Kind::Text => "string",
            Kind::Count => "integer",
            Kind::Flag => "boolean",
        }
    }
}
