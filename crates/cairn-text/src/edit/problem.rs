//! Why an edit was refused, in words its writer can act on. Decides nothing.

/// Why a text could not be exchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditProblem {
    /// There is no text to look for.
    #[error("the text to replace is empty")]
    Empty,
    /// Nothing would change.
    #[error("the old and the new text are the same")]
    Same,
    /// The text does not stand there, or only so differently that what was meant is not certain.
    #[error("{}{}", missing(*.doubt), shown(.preview))]
    NotFound {
        /// The most similar lines of the file, numbered, those that differ marked with `*`. Empty
        /// when nothing in the file is like the text.
        preview: String,
        /// What made a near match uncertain, where there was one.
        doubt: Option<Doubt>,
    },
    /// The text stands there more than once.
    #[error("the text to replace stands in {} places, at lines {}", .lines.len(), listed(.lines))]
    Several {
        /// Where each begins.
        lines: Vec<usize>,
    },
}

/// What is uncertain about a place that nearly matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// How far the new lines are to be indented.
    Indentation,
    /// Whether the new text means plain or typographic characters.
    Typography,
    /// Whether blanks at the ends of new lines are meant.
    TrailingBlanks,
    /// Which numbers at the beginnings of new lines are line numbers.
    LineNumbers,
    /// Which backslashes of the new text are meant.
    Escapes,
    /// How many blank lines around the new text are meant.
    BlankLines,
    /// Which lines the elision stands for.
    Elision,
    /// Whether this place is meant: the new text has lines that stand together elsewhere.
    Place,
}

impl EditProblem {
    /// The same problem of a text that stands below this many other lines.
    pub(crate) fn moved_by(self, lines_above: usize) -> EditProblem {
        let numbered = |line: &str| {
            let digits = line.bytes().take_while(u8::is_ascii_digit).count();
            match line[..digits].parse::<usize>() {
                Ok(number) => format!("{}{}", number + lines_above, &line[digits..]),
                Err(_) => line.to_owned(),
            }
        };
        match self {
            EditProblem::NotFound { preview, doubt } => {
                let lines: Vec<String> = preview.split('\n').map(numbered).collect();
                EditProblem::NotFound { preview: lines.join("\n"), doubt }
            }
            EditProblem::Several { lines } => EditProblem::Several {
                lines: lines.iter().map(|line| line + lines_above).collect(),
            },
            other => other,
        }
    }
}

fn missing(doubt: Option<Doubt>) -> &'static str {
    match doubt {
        None => "the text to replace was not found",
        Some(Doubt::Indentation) => {
            "the text to replace stands there with other indentation, and how the new text is to be \
             indented is not certain"
        }
        Some(Doubt::Typography) => {
            "the text to replace stands there with other quotes, dashes or blanks, and which of \
             them the new text means is not certain"
        }
        Some(Doubt::TrailingBlanks) => {
            "the text to replace stands there with other blanks at line ends, and which of them the \
             new text means is not certain"
        }
        Some(Doubt::LineNumbers) => {
            "the text to replace stands there without the line numbers, and which numbers of the \
             new text are line numbers is not certain"
        }
        Some(Doubt::Escapes) => {
            "the text to replace stands there without the backslashes, and which of them the new \
             text means is not certain"
        }
        Some(Doubt::BlankLines) => {
            "the text to replace stands there with other blank lines around it, and which of them \
             the new text means is not certain"
        }
        Some(Doubt::Place) => {
            "the text to replace nearly stands there, but the new text has lines that stand together \
             elsewhere, and which place is meant is not certain"
        }
        Some(Doubt::Elision) => {
            "the text to replace leaves lines out, and which ones is not certain"
        }
    }
}

fn shown(preview: &str) -> String {
    if preview.is_empty() {
        return String::new();
    }
    format!("; the nearest lines are, with * where they differ:\n{preview}")
}

fn listed(lines: &[usize]) -> String {
    let shown: Vec<String> = lines.iter().take(20).map(ToString::to_string).collect();
    let rest = if lines.len() > shown.len() { ", …" } else { "" };
    format!("{}{rest}", shown.join(", "))
}
