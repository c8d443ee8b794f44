//! The list of what is to be done, as it is told back. Keeps nothing: the row is the list.

use crate::settled::Performed;
use cairn_types::{Status, TodoItem, TodoState};

/// The list as text.
pub(crate) fn perform(items: &[TodoItem]) -> Performed {
    if items.is_empty() {
        return Performed::told(Status::OK, "(empty)");
    }
    let rows: Vec<String> = items
        .iter()
        .map(|item| {
            let mark = match item.state {
                TodoState::Pending => "[ ]",
                TodoState::Active => "[>]",
                TodoState::Done => "[x]",
            };
            let text: Vec<&str> = item.text.split_whitespace().collect();
            format!("{mark} {}", text.join(" "))
        })
        .collect();
    Performed::told(Status::OK, rows.join("\n"))
}
