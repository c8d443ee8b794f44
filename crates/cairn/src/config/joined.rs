//! Lists that every layer adds to and none replaces: rules and globs.

use super::{Kind, Origin, Setting, Value, keys};
use std::collections::BTreeMap;

/// Every layer's part of each such list, by key.
#[derive(Debug, Clone, Default)]
pub(super) struct JoinedLists {
    parts: BTreeMap<String, Vec<Setting>>,
}

impl JoinedLists {
    /// Adds a layer's part, and returns the whole list. It is shown as the last part's.
    pub(super) fn add(&mut self, name: &str, setting: Setting) -> Setting {
        let parts = self.parts.entry(name.to_owned()).or_default();
        let origin = setting.origin.clone();
        parts.push(setting);
        let all = parts.iter().filter_map(|part| match &part.value {
            Value::List(list) => Some(list.clone()),
            _ => None,
        });
        Setting { value: Value::List(all.flatten().collect()), origin }
    }

    /// Every text of a list, each with its origin.
    pub(super) fn parts(&self, name: &str) -> impl Iterator<Item = (&str, &Origin)> {
        let parts = self.parts.get(name).into_iter().flatten();
        parts.flat_map(|part| {
            let list: &[String] = match &part.value {
                Value::List(list) => list,
                _ => &[],
            };
            list.iter().map(|text| (text.as_str(), &part.origin))
        })
    }
}

/// Whether the layers' values of a key stand together.
pub(super) fn is_joined(name: &str) -> bool {
    keys::find(name).is_some_and(|key| matches!(key.kind, Kind::Rules | Kind::Globs))
}
