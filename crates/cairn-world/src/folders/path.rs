//! Paths as models write them, made relative to the root. Pure; what a path leads to is not known
//! here.

use crate::settled::Refusal;
use cairn_types::{Aside, Status};
use std::path::Path;

/// The longest path taken, in bytes.
const MAX_PATH: usize = 4096;

/// The path beneath the root, without `.` and doubled slashes; `.` for the root itself. `..` stays,
/// for the kernel to judge.
pub(crate) fn relative(given: &str, roots: &[&Path]) -> Result<String, Refusal> {
    let refuse = |status, text: String| Err(Refusal::new(status, text));
    if given.is_empty() {
        return refuse(Status::BAD_REQUEST, "the path is empty".to_owned());
    }
    if given.len() > MAX_PATH {
        let text = format!("the path is {} bytes long, more than {MAX_PATH}", given.len());
        return refuse(Status::BAD_REQUEST, text);
    }
    if given.chars().any(char::is_control) {
        let text = format!("the path {} holds control characters", given.escape_debug());
        return refuse(Status::BAD_REQUEST, text);
    }
    let inner = if given.starts_with('/') {
        let beneath = roots.iter().find_map(|root| Path::new(given).strip_prefix(root).ok());
        match beneath.and_then(Path::to_str) {
            Some(inner) => inner,
            None => return refuse(Status::REFUSED, format!("{given} is outside the workspace")),
        }
    } else {
        given
    };
    let parts: Vec<&str> = inner.split('/').filter(|p| !p.is_empty() && *p != ".").collect();
    refuse_hidden(given, &parts)?;
    Ok(if parts.is_empty() { ".".to_owned() } else { parts.join("/") })
}

/// Refuses what lies in a repository's own directory, and what is kept aside.
pub(crate) fn refuse_hidden(given: &str, parts: &[&str]) -> Result<(), Refusal> {
    let refuse =
        |what: &str| Err(Refusal::new(Status::REFUSED, format!("{given} is inside {what}")));
    for (nth, part) in parts.iter().enumerate() {
        let above = nth.checked_sub(1).map_or("", |above| parts[above]);
        if part.eq_ignore_ascii_case(".git") {
            return refuse(".git");
        }
        if is_trash(above.as_bytes(), part.as_bytes()) {
            return refuse(Aside::TRASH);
        }
    }
    Ok(())
}

/// Whether a name in a directory is one that no op looks at: a repository's own directory, or what is
/// kept aside. `directory` is the way to that directory, with or without a slash at its end.
pub(crate) fn is_hidden(directory: &[u8], name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b".git") || is_trash(directory, name)
}

/// Whether a name in a directory is where things are kept aside.
pub(crate) fn is_trash(directory: &[u8], name: &[u8]) -> bool {
    let (above, trash) = Aside::TRASH.split_once('/').unwrap_or_default();
    let bare = directory.strip_suffix(b"/").unwrap_or(directory);
    let last = bare.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    name.eq_ignore_ascii_case(trash.as_bytes()) && last.eq_ignore_ascii_case(above.as_bytes())
}

/// The path without `..`, as its text reads; `None` when it climbs above the root.
pub(crate) fn without_parents(relative: &str) -> Option<Vec<&str>> {
    let mut parts = Vec::new();
    for part in relative.split('/').filter(|p| *p != ".") {
        match part {
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts)
}

/// A path in a directory; the project's own is not named.
pub(crate) fn joined(directory: &str, name: &str) -> String {
    if directory == "." { name.to_owned() } else { format!("{directory}/{name}") }
}

/// Directory and name of a path.
pub(crate) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or((".", path))
}

/// A file name that can be shown on one line.
pub(crate) fn shown(name: &[u8]) -> String {
    let text = String::from_utf8_lossy(name);
    if !text.contains(char::is_control) {
        return text.into_owned();
    }
    text.chars()
        .map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_made_relative_or_refused() {
        let check = |given: &str, expected: &str| {
            let got = match relative(given, &[Path::new("/w/p"), Path::new("/real")]) {
                Ok(path) => path,
                Err(refusal) => format!("{} {}", refusal.status, refusal.text),
            };
            assert_eq!(got, expected, "{given:?}");
        };
        check("a/b", "a/b");
        check("./a//b/", "a/b");
        check(".", ".");
        check("/w/p/a", "a");
        check("/real/a", "a");
        check("/w/p", ".");
        check("/w/p2/a", "403 /w/p2/a is outside the workspace");
        check("/etc/passwd", "403 /etc/passwd is outside the workspace");
        check("a/../b", "a/../b");
        check("a/.git/config", "403 a/.git/config is inside .git");
        check(".GIT", "403 .GIT is inside .git");
        check(".gitignore", ".gitignore");
        check(".cairn/trash", "403 .cairn/trash is inside .cairn/trash");
        check("a/.Cairn//Trash/op/0", "403 a/.Cairn//Trash/op/0 is inside .cairn/trash");
        check(".cairn/hooks.toml", ".cairn/hooks.toml");
        check("trash/.cairn", "trash/.cairn");
        check("", "400 the path is empty");
        check("a\nb", "400 the path a\\nb holds control characters");
        check(&"x".repeat(4097), "400 the path is 4097 bytes long, more than 4096");
    }
}
