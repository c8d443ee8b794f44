//! The native surface: the provider's tool calls, five names over four ops.

mod args;
mod tools;

pub use tools::{Tool, schemas, tools};

use crate::{Misread, Parsed};
use args::Args;
use cairn_types::{Effect, Status};

/// Reads one tool call.
#[must_use]
pub fn parse(name: &str, arguments: &str) -> Parsed {
    let Some(tool) = tools().iter().find(|t| t.name == name) else {
        return senseless(unknown_tool(name));
    };
    let mut args = match Args::read(tool, arguments) {
        Ok(args) => args,
        Err(message) => return senseless(Misread { status: Status::BAD_REQUEST, message }),
    };
    let action = (tool.build)(&mut args).map_err(|message| Misread {
        status: Status::BAD_REQUEST,
        message: format!("{name}: {message}"),
    });
    match action {
        Err(misread) => senseless(misread),
        Ok(action) => Parsed {
            action: Ok(action),
            effect: tool.effect,
            repeatable: tool.repeatable,
            repairs: args.into_repairs(),
        },
    }
}

fn senseless(misread: Misread) -> Parsed {
    Parsed { action: Err(misread), effect: Effect::Pure, repeatable: true, repairs: Vec::new() }
}

fn unknown_tool(name: &str) -> Misread {
    let known: Vec<&str> = tools().iter().map(|t| t.name).collect();
    let name: String = name.chars().take(80).collect();
    Misread {
        status: Status::NOT_IMPLEMENTED,
        message: format!("there is no tool {name:?}; the tools are {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, arguments: &str, expect: &str) {
        let parsed = parse(name, arguments);
        let repairs = match &parsed.repairs[..] {
            [] => String::new(),
            repairs => format!("  (repaired: {})", repairs.join("; ")),
        };
        let said = match parsed.action {
            Ok(action) => format!("{} {}{repairs}", action.op(), action.target()),
            Err(misread) => format!("{} {}", misread.status, misread.message),
        };
        assert_eq!(said, expect, "{name} {arguments}");
    }

    #[test]
    fn a_call_becomes_an_op_or_a_sentence_that_says_why_not() {
        check("read", r#"{"path":"a.txt"}"#, "read a.txt");
        check(
            "read",
            r#"{"file_path":"a.txt","first":"3"}"#,
            "read a.txt  (repaired: file_path read as path; first: text \"3\" read as a number)",
        );
        check("write", r#"{"path":"a","content":""}"#, "edit a");
        check(
            "edit",
            r#"{"path":"a","old_string":"x","new_string":"y","replace_all":"true"}"#,
            "edit a  (repaired: old_string read as old; new_string read as new; replace_all read as all; all: text \"true\" read as true)",
        );
        check("find", r#"{"glob":"*.rs","text":"fn"}"#, "find *.rs fn");
        check("bash", r#"{"command":"ls"}"#, "exec ls");
        check("bash", "", "400 bash: command is missing");
        check(
            "bash",
            r#"{"command":"ls"#,
            "400 bash: the arguments are not JSON: EOF while parsing a string at line 1 column 14",
        );
        check("bash", r#"["ls"]"#, "400 bash: the arguments are not a JSON object");
        check("bash", r#"{"command":["ls"]}"#, "400 bash: command must be a string");
        check(
            "bash",
            r#"{"command":"ls","sudo":true}"#,
            "400 bash: there is no argument \"sudo\"; the arguments are command, timeout_ms",
        );
        check(
            "read",
            r#"{"path":"a","limit":-1}"#,
            "400 read: limit must be a whole number from 0",
        );
        check(
            "brush",
            "{}",
            "501 there is no tool \"brush\"; the tools are read, write, edit, find, bash",
        );
    }

    #[test]
    fn every_schema_is_an_object_whose_properties_are_all_described() {
        let schemas: serde_json::Value = serde_json::from_str(&schemas()).unwrap();
        let list = schemas.as_array().unwrap();
        assert_eq!(list.len(), 5);
        for tool in list {
            let properties = tool["parameters"]["properties"].as_object().unwrap();
            assert!(!properties.is_empty());
            assert!(properties.values().all(|p| p["description"].as_str().is_some()));
            assert_eq!(tool["parameters"]["additionalProperties"], false);
        }
    }
}
