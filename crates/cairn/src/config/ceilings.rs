//! What an operator lets nobody exceed, and which of two values allows more.

use super::{Kind, Setting, Value, keys};
use cairn_provider::catalogue::decimal;
use std::collections::BTreeMap;

/// The lowest ceiling of each key that has one.
#[derive(Debug, Clone, Default)]
pub(super) struct Ceilings {
    settings: BTreeMap<String, Setting>,
}

impl Ceilings {
    /// Lowers a key's ceiling to this, unless it is lower already.
    pub(super) fn lower(&mut self, name: &str, setting: Setting) {
        let now = self.settings.get(name);
        if now.is_none_or(|now| exceeds(name, &now.value, &setting.value)) {
            self.settings.insert(name.to_owned(), setting);
        }
    }

    /// The ceiling that a setting of this key exceeds; one that is not set exceeds every ceiling.
    pub(super) fn exceeded_by(&self, name: &str, now: Option<&Setting>) -> Option<&Setting> {
        let is_above =
            |ceiling: &&Setting| now.is_none_or(|now| exceeds(name, &now.value, &ceiling.value));
        self.settings.get(name).filter(is_above)
    }

    /// The ceiling of a key whose values are words.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        match &self.settings.get(name)?.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Whether one value of a key allows more than another.
pub(super) fn exceeds(name: &str, new: &Value, old: &Value) -> bool {
    match (keys::find(name).map(|key| key.kind), new, old) {
        (Some(Kind::Ladder(words)), Value::Text(new), Value::Text(old)) => {
            let rung = |word: &str| words.iter().position(|known| *known == word);
            rung(new) > rung(old)
        }
        (_, Value::Count(new), Value::Count(old)) => new > old,
        (_, Value::Flag(new), Value::Flag(old)) => *old && !*new,
        (_, Value::Decimal(new), Value::Decimal(old)) => {
            decimal::dollars(new) > decimal::dollars(old)
        }
        _ => false,
    }
}
