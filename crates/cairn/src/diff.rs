//! A recorded change as a diff, from the images the store keeps.

use cairn_store::Store;
use cairn_types::{Change, FileState};

/// The change as a unified diff; a sentence where the bytes are not text or not kept.
pub fn of(store: &Store, change: &Change) -> String {
    let side = |state: &Option<FileState>| -> Option<String> {
        match state.as_ref().and_then(|state| state.hash) {
            None => Some(String::new()),
            Some(hash) => String::from_utf8(store.content(&hash).ok()?).ok(),
        }
    };
    let name = |state: &Option<FileState>, prefix: &str| match state {
        Some(_) => format!("{prefix}/{}", change.path),
        None => "/dev/null".to_owned(),
    };
    match (side(&change.before), side(&change.after)) {
        (Some(before), Some(after)) => cairn_text::diff::unified(
            &name(&change.before, "a"),
            &name(&change.after, "b"),
            &before,
            &after,
        ),
        _ => format!("{}: not text, or its bytes are no longer kept\n", change.path),
    }
}
