//! Paths that a command names, against a rule on paths: certainly where the line says so, perhaps where
//! it may become so. What a program comes upon by itself is not known.

use super::Rulebook;
use super::judge::Case;
use super::rule::Rule;
use cairn_text::glob::{PathGlob, Stance, plain};
use cairn_text::shell::{Beneath, Denies, Opened, Use, paths};
use cairn_types::OpName;

impl Rulebook {
    /// Whether a command opens what a rule on paths is about.
    pub(super) fn opens(&self, rule: &Rule, glob: &PathGlob, case: &Case<'_>) -> Denies {
        let Some(line) = &case.subject.command else { return Denies::No };
        if rule.scheme.as_deref().is_some_and(|scheme| scheme != "file") {
            return Denies::No;
        }
        let reads = rule.ops.contains(&OpName::Read);
        let writes = rule.ops.contains(&OpName::Edit) || rule.ops.contains(&OpName::Kill);
        let is_meant = |opened: &&Opened| match opened.uses {
            Use::Reads => reads,
            Use::Writes => writes,
            Use::Either => reads || writes,
        };
        let paths = paths(line, case.subject.cwd.as_deref().unwrap_or("."));
        let others = paths.others && (reads || writes);
        let named = paths.named.iter().filter(is_meant).map(|opened| self.meets(glob, opened));
        named.max().unwrap_or(Denies::No).max(if others { Denies::Perhaps } else { Denies::No })
    }

    fn meets(&self, glob: &PathGlob, opened: &Opened) -> Denies {
        let certainly = |is: bool| if is { Denies::Yes } else { Denies::Perhaps };
        let (path, stance) = match self.place_of(&opened.path) {
            Some(path) => (path.clone(), glob.stance(&path)),
            None => (String::new(), Stance::Above),
        };
        match (stance, opened.beneath) {
            (Stance::Within, _) => certainly(opened.sure && glob.matches(&path)),
            // The shell may make the directory of it, and more than that.
            (Stance::Around, Beneath::Nothing) if opened.open => Denies::Perhaps,
            (Stance::Around, Beneath::Handed | Beneath::Shown | Beneath::All) => {
                certainly(opened.sure && !opened.open)
            }
            (Stance::Above, Beneath::Shown | Beneath::All) => Denies::Perhaps,
            // Of what is at any depth nothing can be known here.
            (Stance::Above, Beneath::Handed) if !glob.is_anywhere() => Denies::Perhaps,
            (Stance::AboveHidden, Beneath::All) => Denies::Perhaps,
            (Stance::AboveHidden, Beneath::Handed) if !glob.is_anywhere() => Denies::Perhaps,
            _ => Denies::No,
        }
    }

    /// A path as rules have them; none where the root itself lies beneath it.
    fn place_of(&self, path: &str) -> Option<String> {
        let root = self.policy.root.trim_end_matches('/');
        let told = self.beneath(".", path);
        // Through what the system tells of processes every directory has another name.
        if told.starts_with("/proc/") {
            return Some(format!("~{told}"));
        }
        let whole = match told.starts_with("..") && !root.is_empty() {
            true => self.beneath(".", &plain(&format!("{root}/{told}"))),
            false => told,
        };
        let above = whole == ".."
            || whole == "/"
            || root.strip_prefix(whole.as_str()).is_some_and(|rest| rest.starts_with('/'));
        (!above).then_some(whole)
    }
}
