//! The tools of a run: the built-in ones, and those that a source from outside adds. Reads a call of any of them.

use crate::any::{self, Telling};
use crate::native::{self, Tool};
use crate::{Misread, Parsed};
use cairn_types::{Action, Effect, Status, Subject, Surface, ToolCall, ToolSource, ToolSpec};
use serde_json::{Value, json};

/// The tools of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Toolbox {
    outside: Vec<ToolSpec>,
}

/// A tool as the program that adds it describes it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewTool {
    /// Its name: not that of a built-in tool, nor a name that models call one by.
    pub name: String,
    /// What the model is told of it.
    pub description: String,
    /// The JSON Schema of its arguments, an object.
    pub input_schema: Value,
    /// What a call may change; anything on this machine where nothing is said.
    pub effect: Option<Effect>,
    /// Whether calling it twice is the same as calling it once.
    pub is_repeatable: bool,
    /// The arguments that name files or addresses.
    pub targets: Vec<String>,
}

/// Why a tool cannot be added.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolProblem {
    /// It has no name.
    #[error("a tool needs a name")]
    NoName,
    /// A built-in tool has the name, or is called so by models.
    #[error("the name {name:?} is taken by the built-in tool {built_in}")]
    BuiltIn {
        /// The name.
        name: String,
        /// The built-in tool.
        built_in: &'static str,
    },
    /// Its name has characters that no rule could name it by.
    #[error("the name {0:?} is no tool's: it has letters, digits and _ - . : / alone")]
    BadName(String),
    /// Another tool from outside has it.
    #[error("there is a tool {0:?} already")]
    Twice(String),
    /// Its arguments are not described by an object's schema.
    #[error("the schema of the tool {0:?} is not that of an object: it needs \"type\": \"object\"")]
    NoObject(String),
    /// It names a target that its schema does not have.
    #[error("the tool {name:?} has no argument {target:?} to name what it works on")]
    NoTarget {
        /// The tool.
        name: String,
        /// The argument.
        target: String,
    },
}

impl Toolbox {
    /// Adds a tool from outside.
    pub fn add(&mut self, new: NewTool, source: ToolSource) -> Result<(), ToolProblem> {
        let NewTool { name, description, input_schema, effect, is_repeatable, targets } = new;
        if name.trim().is_empty() {
            return Err(ToolProblem::NoName);
        }
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.:/".contains(c);
        if !name.chars().all(is_plain) {
            return Err(ToolProblem::BadName(name));
        }
        if let Some(built_in) = native::name_of(&name) {
            return Err(ToolProblem::BuiltIn { name, built_in });
        }
        if self.find(&name).is_some() {
            return Err(ToolProblem::Twice(name));
        }
        if input_schema["type"] != "object" {
            return Err(ToolProblem::NoObject(name));
        }
        let is_known = |target: &String| input_schema["properties"].get(target).is_some();
        if let Some(target) = targets.iter().find(|target| !is_known(target)) {
            return Err(ToolProblem::NoTarget { name, target: target.clone() });
        }
        let names: Vec<&str> = self.outside.iter().map(|spec| spec.name.as_str()).collect();
        let names = [names, vec![&name]].concat();
        let wire_name = native::message::wire_names(&names).pop().unwrap_or_default();
        // `multi.edit` would be told to providers as `multi_edit`.
        if let Some(built_in) = native::name_of(&wire_name) {
            return Err(ToolProblem::BuiltIn { name, built_in });
        }
        let spec = ToolSpec {
            name,
            wire_name,
            description,
            input_schema,
            effect,
            is_repeatable,
            targets,
            source,
        };
        self.outside.push(spec);
        Ok(())
    }

    /// The tools that are not built in.
    #[must_use]
    pub fn outside(&self) -> &[ToolSpec] {
        &self.outside
    }

    /// A tool from outside, by its name or the one that a provider is told.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&ToolSpec> {
        self.outside.iter().find(|spec| spec.name == name || spec.wire_name == name)
    }

    /// Reads one call.
    #[must_use]
    pub fn parse(&self, name: &str, arguments: &str) -> Parsed {
        match self.find(name) {
            Some(spec) => parse_outside(spec, arguments),
            None => native::parse(name, arguments),
        }
    }

    /// What a call touches, where the tool's source says it; built-in tools are known by what they do.
    #[must_use]
    pub fn subject(&self, action: &Action) -> Option<Subject> {
        let Action::Call(call) = action else { return None };
        Some(self.find(&call.tool)?.subject(call))
    }

    /// The same with only those tools from outside that have one of these names; with all where none are named.
    #[must_use]
    pub fn only(mut self, names: &[String]) -> Toolbox {
        self.outside.retain(|spec| names.is_empty() || names.contains(&spec.name));
        self
    }

    /// What a model is told of these built-in tools and of all others. On a text surface nothing is told of the others:
    /// they cannot be called there.
    #[must_use]
    pub fn told(&self, surface: Surface, given: &[&'static Tool], telling: Telling) -> String {
        let built_in = any::told(surface, given, telling);
        if self.outside.is_empty() || surface.is_text() {
            return built_in;
        }
        let mut schemas: Vec<Value> = serde_json::from_str(&built_in).unwrap_or_default();
        schemas.extend(self.outside.iter().map(|spec| {
            json!({
                "name": spec.wire_name,
                "description": spec.description,
                "parameters": spec.input_schema,
            })
        }));
        Value::Array(schemas).to_string()
    }

    /// The tools that are not built in, as they are kept; nothing where there are none.
    #[must_use]
    pub fn to_json(&self) -> Option<String> {
        match self.outside.is_empty() {
            true => None,
            false => serde_json::to_string(&self.outside).ok(),
        }
    }

    /// Reads them back; where they cannot be read there are none.
    #[must_use]
    pub fn from_json(specs: &str) -> Toolbox {
        Toolbox { outside: serde_json::from_str(specs).unwrap_or_default() }
    }
}

/// A call of a tool from outside.
fn parse_outside(spec: &ToolSpec, arguments: &str) -> Parsed {
    let mut repairs = Vec::new();
    match native::coerced(&spec.input_schema, arguments, &mut repairs) {
        Ok(arguments) => Parsed {
            action: Ok(Action::Call(ToolCall { tool: spec.name.clone(), arguments })),
            effect: spec.effect(),
            repeatable: spec.may_repeat(),
            repairs,
        },
        Err(why) => {
            let message = format!("{}: {why}", spec.name);
            Parsed {
                action: Err(Misread { status: Status::BAD_REQUEST, message }),
                effect: Effect::Pure,
                repeatable: true,
                repairs,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(toolbox: &mut Toolbox, name: &str) -> Result<(), ToolProblem> {
        let input_schema = json!({"type": "object"});
        let tool = NewTool { name: name.to_owned(), input_schema, ..NewTool::default() };
        toolbox.add(tool, ToolSource::Embedder)
    }

    #[test]
    fn no_tool_is_told_to_providers_by_a_name_of_a_built_in_one() {
        for name in ["multi.edit", "web/fetch", "apply.patch", "read_file"] {
            let refused = add(&mut Toolbox::default(), name);
            assert!(matches!(refused, Err(ToolProblem::BuiltIn { .. })), "{name}: {refused:?}");
        }
    }

    #[test]
    fn names_that_look_alike_to_providers_are_told_apart() {
        let mut toolbox = Toolbox::default();
        for name in ["mail.send_all", "mail/send_all"] {
            add(&mut toolbox, name).unwrap();
        }
        let called = |name: &str| toolbox.find(name).map(|spec| spec.name.as_str());
        assert_eq!(called("mail_send_all"), Some("mail.send_all"));
        assert_eq!(called("mail_send_all_2"), Some("mail/send_all"));
        assert!(matches!(add(&mut toolbox.clone(), "mail.send_all"), Err(ToolProblem::Twice(_))));
    }
}
