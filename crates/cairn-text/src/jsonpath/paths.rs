//! Normalized paths (RFC 9535, 2.7): the one way to write where a node lies.

use super::steps::{Steps, TooMuch};
use crate::tree::{Node, Value};
use std::collections::HashMap;
use std::fmt::Write;

/// The paths of these nodes of a tree.
pub(super) fn of(root: &Node, nodes: &[&Node]) -> Result<Paths, TooMuch> {
    let empty = nodes.iter().map(|node| (std::ptr::from_ref(*node), String::new()));
    let mut paths = empty.collect();
    walk(root, &mut "$".to_owned(), &mut paths, &Steps::new())?;
    Ok(paths)
}

/// Every node lies at one place, so its address tells it from all others.
type Paths = HashMap<*const Node, String>;

fn walk(node: &Node, path: &mut String, paths: &mut Paths, steps: &Steps) -> Result<(), TooMuch> {
    steps.take(1)?;
    if let Some(found) = paths.get_mut(&std::ptr::from_ref(node)) {
        // Long names may stand in many paths.
        steps.look_through(path.len())?;
        found.clone_from(path);
    }
    let here = path.len();
    match node.value() {
        Value::List(items) => {
            for (n, item) in items.iter().enumerate() {
                let _ = write!(path, "[{n}]");
                walk(item, path, paths, steps)?;
                path.truncate(here);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                push_name(path, name);
                walk(field, path, paths, steps)?;
                path.truncate(here);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => {}
    }
    Ok(())
}

fn push_name(path: &mut String, name: &str) {
    path.push_str("['");
    for c in name.chars() {
        match c {
            '\'' | '\\' => path.extend(['\\', c]),
            '\x08' => path.push_str("\\b"),
            '\x0c' => path.push_str("\\f"),
            '\n' => path.push_str("\\n"),
            '\r' => path.push_str("\\r"),
            '\t' => path.push_str("\\t"),
            c if c < ' ' => {
                let _ = write!(path, "\\u{:04x}", u32::from(c));
            }
            c => path.push(c),
        }
    }
    path.push_str("']");
}
