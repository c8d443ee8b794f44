//! What of a reply could not be read. It is kept as one content, a JSON array of objects.

use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// A place of a reply that could not be read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UnreadPart {
    /// What is wrong there, a word.
    pub kind: String,
    /// Its line, from 1.
    pub line: u64,
    /// Its column in characters, from 1.
    pub column: u64,
    /// What is wrong there, in a sentence.
    pub note: String,
    /// The lines as they were written.
    pub snippet: String,
}

/// All that could not be read of one reply.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnreadParts(Vec<UnreadPart>);

impl UnreadParts {
    /// Reads them from the content that keeps them; none where it holds no such list.
    #[must_use]
    pub fn from_json(json: &str) -> UnreadParts {
        serde_json::from_str(json).unwrap_or_default()
    }

    /// The content that keeps them; nothing where all was read.
    #[must_use]
    pub fn to_json(&self) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        serde_json::to_string(self).ok()
    }

    /// Each kind of problem once, in the order in which they stand.
    #[must_use]
    pub fn kinds(&self) -> Vec<&str> {
        let mut kinds: Vec<&str> = Vec::new();
        for part in &self.0 {
            if !kinds.contains(&part.kind.as_str()) {
                kinds.push(&part.kind);
            }
        }
        kinds
    }

    /// The text the model reads: for each part its kind, place, problem and lines.
    #[must_use]
    pub fn text_for_model(&self) -> String {
        let mut told = String::new();
        for UnreadPart { kind, line, column, note, snippet } in &self.0 {
            let _ = writeln!(told, "## {kind} at {line}:{column}: {note}\n{snippet}");
        }
        told
    }

    /// One line for a person of each part.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|UnreadPart { kind, line, column, note, .. }| {
            format!("{kind} at {line}:{column}, {note}")
        })
    }

    /// One line for a person: the first part, and how many more there are.
    #[must_use]
    pub fn first_line(&self) -> Option<String> {
        let first = self.lines().next()?;
        let more = match self.0.len() {
            1 => String::new(),
            n => format!(", and {} more", n - 1),
        };
        Some(format!("not read: {first}{more}"))
    }
}

impl FromIterator<UnreadPart> for UnreadParts {
    fn from_iter<I: IntoIterator<Item = UnreadPart>>(parts: I) -> UnreadParts {
        UnreadParts(parts.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(kind: &str, line: u64) -> UnreadPart {
        let (kind, note, snippet) = (kind.to_owned(), "a note".to_owned(), "1 | text".to_owned());
        UnreadPart { kind, line, column: 2, note, snippet }
    }

    #[test]
    fn they_are_kept_as_json_and_read_back() {
        let parts: UnreadParts =
            [part("cut", 1), part("odd", 3), part("cut", 4)].into_iter().collect();
        let json = parts.to_json().unwrap();
        let first = r#"[{"kind":"cut","line":1,"column":2,"note":"a note","snippet":"1 | text"},"#;
        assert!(json.starts_with(first), "{json}");
        assert_eq!(UnreadParts::from_json(&json), parts);
        assert_eq!(UnreadParts::default().to_json(), None);
        assert_eq!(UnreadParts::from_json("no list"), UnreadParts::default());
    }

    #[test]
    fn the_model_is_told_all_and_a_person_the_first() {
        let parts: UnreadParts =
            [part("cut", 1), part("odd", 3), part("cut", 4)].into_iter().collect();
        assert_eq!(parts.kinds(), ["cut", "odd"]);
        let told = parts.text_for_model();
        assert!(told.starts_with("## cut at 1:2: a note\n1 | text\n## odd at 3:2"), "{told}");
        assert_eq!(parts.first_line().unwrap(), "not read: cut at 1:2, a note, and 2 more");
        let one: UnreadParts = [part("odd", 3)].into_iter().collect();
        assert_eq!(one.first_line().unwrap(), "not read: odd at 3:2, a note");
    }
}
