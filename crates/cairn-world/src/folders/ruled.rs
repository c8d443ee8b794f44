//! Paths that rules on changes name, for looking into what is changed as a whole: a rule on something in an
//! ignored directory holds also where that directory comes or goes as one. What a rule says is not known
//! here.

use cairn_text::glob::PathGlob;
use std::sync::Arc;

/// What rules on changes name.
#[derive(Debug, Clone, Default)]
pub struct Ruled(pub Arc<[PathGlob]>);

/// What was found of it: of each glob the first path, since that is enough for a word.
#[derive(Debug, Default)]
pub(crate) struct Met {
    /// By glob, as it lies beneath the root.
    paths: Vec<Option<String>>,
}

impl Met {
    /// Looks at a path beneath a root, as it is told.
    pub(crate) fn look(&mut self, ruled: &Ruled, path: &str, told: impl FnOnce() -> String) {
        self.paths.resize(ruled.0.len(), None);
        if self.paths.iter().all(Option::is_some) {
            return;
        }
        let told = told();
        for (glob, met) in ruled.0.iter().zip(&mut self.paths) {
            if met.is_none() && glob.matches(&told) {
                *met = Some(path.to_owned());
            }
        }
    }

    /// Each path once.
    pub(crate) fn into_paths(self) -> Vec<String> {
        let mut paths: Vec<String> = self.paths.into_iter().flatten().collect();
        paths.sort();
        paths.dedup();
        paths
    }
}
