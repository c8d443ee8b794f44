//! The fields of an object as they are read: of several with one name the last counts, in the place of
//! the first.

use super::Node;
use std::collections::{HashMap, HashSet};

/// These fields, no name twice.
pub(super) fn unique(fields: Vec<(String, Node)>) -> Vec<(String, Node)> {
    if is_unique(&fields) {
        return fields;
    }
    let mut kept: Vec<(String, Node)> = Vec::with_capacity(fields.len());
    let mut places: HashMap<String, usize> = HashMap::new();
    for (name, node) in fields {
        match places.get(&name) {
            Some(place) => kept[*place].1 = node,
            None => {
                places.insert(name.clone(), kept.len());
                kept.push((name, node));
            }
        }
    }
    kept
}

fn is_unique(fields: &[(String, Node)]) -> bool {
    // Most objects are small, and comparing a few names is cheaper than hashing them.
    if fields.len() <= 8 {
        let mut rest = fields;
        while let Some(((name, _), after)) = rest.split_first() {
            if after.iter().any(|(other, _)| other == name) {
                return false;
            }
            rest = after;
        }
        return true;
    }
    let mut seen = HashSet::with_capacity(fields.len());
    fields.iter().all(|(name, _)| seen.insert(name.as_str()))
}
