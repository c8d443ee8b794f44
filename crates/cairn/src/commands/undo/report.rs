//! What is said about an undo, a redo or a rewind: as lines for people, or as one JSON object.

use super::{Deed, uncovered};
use crate::cli::Careful;
use crate::commands::diff;
use crate::output::out::say;
use cairn_runtime::undo::{Plan, UncoveredCommand};
use cairn_text::shown::clean;
use cairn_types::{ChangeKind, Coord, RunId, SessionId};
use serde_json::{Value, json};
use std::process::ExitCode;

/// A run that was made along the way, so that the conversation goes with the files.
pub(super) struct Made {
    pub(super) run: RunId,
    pub(super) parent: RunId,
    pub(super) session: SessionId,
    /// Where in its parent it goes on from.
    pub(super) from: String,
}

/// What became of a plan.
pub(super) struct Report<'a> {
    pub(super) plan: &'a Plan,
    pub(super) how: &'a Careful,
    pub(super) deed: Deed,
    /// Whether something stood in its way.
    pub(super) blocked: bool,
    pub(super) receipt: Option<String>,
    /// Its row, when it was carried out.
    pub(super) row: Option<String>,
    pub(super) made: Option<Made>,
}

impl Report<'_> {
    /// Says it; gives the exit code.
    pub(super) fn tell(&self) -> ExitCode {
        if self.how.json {
            say!("{}", self.json());
        } else {
            self.lines().iter().for_each(|line| say!("{}", clean(line)));
        }
        if self.blocked { ExitCode::from(1) } else { ExitCode::SUCCESS }
    }

    fn json(&self) -> Value {
        let mut told = json!({
            "done": self.row.is_some(),
            "why": self.row.is_none().then(|| self.verdict()),
            "of": self.deed.of,
            "rows": self.plan.rows,
            "changes": self.plan.changes,
            "conflicts": self.plan.conflicts.iter().map(|c| json!({
                "path": c.path, "why": c.why, "force": c.may_insist,
            })).collect::<Vec<_>>(),
            "kept": self.plan.kept,
            "not_covered": self.uncovered().map(|c| json!({
                "run": c.run, "row": c.at, "command": c.command,
            })).collect::<Vec<_>>(),
            "row": self.row,
            "receipt": self.receipt,
        });
        if let Some(Made { run, parent, session, .. }) = &self.made {
            told["run"] = json!(run);
            told["parent"] = json!(parent);
            told["session"] = json!(session);
        }
        told
    }

    /// The commands that it would go past, and those among its rows.
    fn uncovered(&self) -> impl Iterator<Item = &UncoveredCommand> {
        let past = &self.deed.past;
        past.iter().chain(self.plan.commands.iter().filter(|command| !past.contains(command)))
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = self.deed.passed.clone();
        let shows_changes = !self.blocked || self.how.dry_run;
        for change in self.plan.changes.iter().filter(|_| shows_changes) {
            let what = diff::moved(change).unwrap_or_else(|| change.path.clone());
            lines.push(format!("  {} {what}", self.verb(change.kind)));
        }
        for conflict in &self.plan.conflicts {
            let force = if conflict.may_insist { "; --force overwrites it" } else { "" };
            lines.push(format!("  left alone: {}{force}", conflict.why));
        }
        for path in &self.plan.kept {
            lines.push(format!("  left alone: {path}/ holds something else"));
        }
        let shown = if self.deed.is_newest { Some(&self.deed.of) } else { None };
        for command in self.uncovered() {
            lines.push(format!("  {}", uncovered(shown, command)));
        }
        lines.push(self.verdict());
        if let Some(Made { run, from, .. }) = &self.made {
            lines.push(format!("{run}\ngo on from {from}: cairn run -c \"…\""));
        }
        lines
    }

    fn verb(&self, kind: ChangeKind) -> &'static str {
        match (kind, self.row.is_some()) {
            (ChangeKind::Created, true) => "brought back",
            (ChangeKind::Created, false) => "would bring back",
            (ChangeKind::Modified, true) => "restored",
            (ChangeKind::Modified, false) => "would restore",
            (ChangeKind::Deleted, true) => "removed",
            (ChangeKind::Deleted, false) => "would remove",
        }
    }

    fn verdict(&self) -> String {
        let (changes, conflicts) = (self.plan.changes.len(), self.plan.conflicts.len());
        let mut paths = if changes == 1 { "1 path".to_owned() } else { format!("{changes} paths") };
        if !self.deed.is_newest {
            paths = format!("{paths} of run {}", self.deed.of);
        }
        let done = self.deed.done;
        if let (false, Some(Coord { lap, turn, .. })) =
            (self.deed.past.is_empty(), self.plan.rows.first())
        {
            let turn = match self.deed.is_newest {
                true => format!("{lap}/{turn}"),
                false => format!("log://{}/{lap}/{turn}", self.deed.of),
            };
            return format!(
                "nothing was {done}: `cairn undo {turn}` takes back what was done before"
            );
        }
        if self.blocked || (changes == 0 && conflicts > 0) {
            let what = match conflicts {
                1 => "1 path is left alone".to_owned(),
                n => format!("{n} paths are left alone"),
            };
            let rest = if changes > 0 { "; --partial takes back the rest" } else { "" };
            return format!("nothing was {done}: {what}{rest}");
        }
        match (&self.row, changes) {
            (_, 0) => "nothing to do: no path differs from what it was".to_owned(),
            (None, _) => format!("{paths} would be {done}"),
            (Some(row), _) => format!("{paths} {done}; row {row}"),
        }
    }
}
