//! Ties docs/promises.md to tests: a promise without a test that cites its tag, or a citation
//! without a promise, fails; so does a row of THREATS.md that no promise proves.

use anyhow::Result;
use std::collections::BTreeSet;
use std::path::Path;

/// Promises without tests and citations without promises.
pub fn check(root: &Path) -> Result<Vec<String>> {
    let page = std::fs::read_to_string(root.join("docs/promises.md"))?;
    let promised: BTreeSet<String> = page
        .lines()
        .filter_map(|line| line.strip_prefix("- `")?.split('`').next())
        .map(str::to_owned)
        .collect();
    let mut cited = BTreeSet::new();
    for ending in [".rs", ".py", ".sh"] {
        for path in crate::files(root, &["crates", "tools"], ending)? {
            cited.extend(citations(&std::fs::read_to_string(path)?));
        }
    }
    let mut problems: Vec<String> =
        promised.difference(&cited).map(|tag| format!("no test keeps the promise {tag}")).collect();
    problems.extend(
        cited.difference(&promised).map(|tag| format!("docs/promises.md has no promise {tag}")),
    );
    let threats = std::fs::read_to_string(root.join("THREATS.md"))?;
    problems.extend(unproven(&threats, &promised));
    Ok(problems)
}

/// Rows of THREATS.md whose last column names no promise, or something that is none.
fn unproven(threats: &str, promised: &BTreeSet<String>) -> Vec<String> {
    let rows = threats.lines().filter(|line| line.starts_with("| A"));
    let mut problems = Vec::new();
    for row in rows {
        let proofs = row.trim_end_matches('|').rsplit('|').next().unwrap_or_default();
        let tags: Vec<&str> = proofs.split('`').skip(1).step_by(2).collect();
        if tags.is_empty() {
            problems.push(format!("THREATS.md: nothing proves {row}"));
        }
        let none = tags.iter().filter(|tag| !promised.contains(**tag));
        problems.extend(none.map(|tag| format!("THREATS.md: {tag} is no promise")));
    }
    problems
}

/// A citation is a comment line `// keeps: tag` (or `# keeps: tag`), several tags by comma.
fn citations(text: &str) -> Vec<String> {
    text.lines()
        .filter_map(|line| {
            let line = line.trim_start();
            line.strip_prefix("// keeps: ").or_else(|| line.strip_prefix("# keeps: "))
        })
        .flat_map(|tags| tags.split(',').map(|tag| tag.trim().to_owned()))
        .collect()
}
