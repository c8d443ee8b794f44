//! Every dependency's licence lets us ship under MIT OR Apache-2.0.

use anyhow::{Context, Result};
use std::path::Path;

const ALLOWED: &[&str] = &[
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "Unicode-3.0",
    "CC0-1.0",
    "0BSD",
    "BSL-1.0",
    "Unlicense",
    "MIT-0",
    "CDLA-Permissive-2.0",
];

/// Packages whose licence is not allowed.
#[allow(clippy::disallowed_methods, reason = "asks cargo, which is running already")]
pub fn check(root: &Path) -> Result<Vec<String>> {
    let output = std::process::Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--locked"])
        .current_dir(root)
        .output()
        .context("cargo metadata cannot be run")?;
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)
        .with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
    let packages = metadata["packages"].as_array().context("cargo metadata has no packages")?;
    Ok(packages
        .iter()
        .filter(|package| !package["license"].as_str().is_some_and(allowed))
        .map(|package| {
            format!(
                "{} has the licence {}, which is not on the list",
                package["name"], package["license"]
            )
        })
        .collect())
}

/// `OR` needs one allowed side, `AND` needs both; parentheses group.
fn allowed(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ");
    let expression = expression.trim();
    let any = split(expression, " OR ");
    if any.len() > 1 {
        return any.into_iter().any(allowed);
    }
    let all = split(expression, " AND ");
    if all.len() > 1 {
        return all.into_iter().all(allowed);
    }
    match expression.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) {
        Some(inner) => allowed(inner),
        None => ALLOWED.contains(&expression),
    }
}

/// Splits at a word that stands outside parentheses.
fn split<'a>(expression: &'a str, word: &str) -> Vec<&'a str> {
    let (mut parts, mut from, mut depth) = (Vec::new(), 0, 0);
    for (at, c) in expression.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ if depth == 0 && expression[at..].starts_with(word) => {
                parts.push(&expression[from..at]);
                from = at + word.len();
            }
            _ => {}
        }
    }
    parts.push(&expression[from..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::allowed;

    #[test]
    fn an_expression_is_allowed_when_some_way_through_it_is() {
        assert!(allowed("MIT OR GPL-3.0"));
        assert!(allowed("MIT/Apache-2.0"));
        assert!(allowed("(MIT OR Apache-2.0) AND Unicode-3.0"));
        assert!(!allowed("MIT AND GPL-3.0"));
        assert!(!allowed("(MIT OR Apache-2.0) AND GPL-3.0"));
    }
}
