//! Columns of text, lined up. Whatever it is given is cleaned here.

use cairn_text::shown::clean;

/// Where a column's texts stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// At its left edge.
    Left,
    /// At its right edge.
    Right,
}

/// The rows under each other, the first being the head.
#[must_use]
pub fn lined_up(sides: &[Side], rows: &[Vec<String>]) -> String {
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| clean(cell)).collect()).collect();
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..sides.len()).map(|column| width(column).unwrap_or(0)).collect();
    let mut out = String::new();
    for row in &rows {
        let mut line = String::new();
        for ((cell, width), side) in row.iter().zip(&widths).zip(sides) {
            let gap = " ".repeat(width.saturating_sub(cell.chars().count()));
            line += &match side {
                Side::Left => format!("{cell}{gap}  "),
                Side::Right => format!("{gap}{cell}  "),
            };
        }
        out += line.trim_end();
        out.push('\n');
    }
    out
}
