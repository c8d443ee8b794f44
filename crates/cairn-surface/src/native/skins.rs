//! The skins of all tools, in the order in which models are taught (gather, reason, act, communicate), and the tools
//! that tags and words mean.

use super::tools::{Tool, tools_and_missing};
use crate::skin::{Skin, Statement};
use cairn_text::near::distance;
use std::sync::LazyLock;

/// The skins there are. Of several with the same tag or word the first that is meant counts.
#[must_use]
pub fn skins() -> &'static [Skin] {
    static ALL: LazyLock<Vec<Skin>> = LazyLock::new(all);
    &ALL
}

/// The skin that a statement called by this tag means.
#[must_use]
pub fn by_tag(statement: &Statement<'_>) -> Option<&'static Skin> {
    let is_named = |skin: &&Skin| skin.tags.contains(&statement.name);
    let own = || skins().iter().find(|skin| skin.tool.name == statement.name);
    skins().iter().filter(is_named).find(|skin| (skin.meant)(statement)).or_else(own)
}

/// The skin that a statement called by this word means.
#[must_use]
pub fn by_word(statement: &Statement<'_>) -> Option<&'static Skin> {
    let is_named = |skin: &&Skin| skin.words.contains(&statement.name);
    skins().iter().filter(is_named).find(|skin| (skin.meant)(statement))
}

/// Whether a tag means anything.
#[must_use]
pub fn is_tag(name: &str) -> bool {
    skins().iter().any(|skin| skin.tags.contains(&name) || skin.tool.name == name)
}

/// Whether a word means anything.
#[must_use]
pub fn is_word(name: &str) -> bool {
    skins().iter().any(|skin| skin.words.contains(&name))
}

/// The word that a name which is none is most like: by what its tool is also called, or by its letters.
#[must_use]
pub fn nearest_word(name: &str) -> Option<&'static str> {
    let shouted = name.to_ascii_uppercase();
    let mut words = skins().iter().flat_map(|skin| skin.words.iter().copied());
    if let Some(word) = words.find(|word| *word == shouted) {
        return Some(word);
    }
    let taught = |skin: &'static Skin| skin.words.first().copied();
    let by_tool = |tool: &Tool| {
        skins().iter().find(|skin| skin.tool.name == tool.name && !skin.words.is_empty())
    };
    if let Some(word) = super::tool(name).and_then(by_tool).and_then(taught) {
        return Some(word);
    }
    let words = skins().iter().flat_map(|skin| skin.words.iter().copied());
    let scored = words.map(|word| (distance(&shouted, word), word));
    scored.filter(|(score, _)| *score <= name.len().max(3) / 3).min().map(|(_, word)| word)
}

/// All skins, in the order of their places.
fn all() -> Vec<Skin> {
    let mut tools: Vec<&'static Tool> = tools_and_missing().collect();
    tools.sort_by_key(|tool| tool.statement_place);
    tools.into_iter().map(|tool| (tool.skin)(Skin::empty(tool))).collect()
}
