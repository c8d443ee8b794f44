//! What becomes of an op that began and was not seen to end, since its process died or its code panicked. How far it
//! may be brought to its end is the caller's to say, what the disk shows the world's, what follows the engine's.

use super::Journal;
use crate::ops::settled_op::SettledOp;
use cairn_engine::{Found, NoSuchOp, OpInRun, Recording, Settlement};
use cairn_types::{Change, Coord, Hash, Settled, Status};
use cairn_world::{OnProgress, Probe, World, inverse};

/// How far an op that was cut off is brought to its end.
pub(crate) enum Recovery<'a> {
    /// Its run goes on: changes that are missing are made, or it is performed again.
    Continue {
        /// What is known of an op that changes no file.
        without_changes: Found,
        /// What a person would be shown of doing it now, where it changes no file.
        shown: &'a str,
        /// Hears how many of the changes are made.
        progress: OnProgress<'a>,
    },
    /// Changes that are missing are made. Where another run changed an entry since, those that were made are taken back.
    Complete,
    /// Nothing is made or taken back; its row says which changes were made.
    LeaveAsFound,
}

/// What the caller does about an op that was cut off.
pub(crate) enum AfterCrash {
    /// Records this.
    Record(Recording),
    /// Performs it again.
    Repeat,
}

impl Journal {
    /// Finds out what became of an op that began, and brings it to its end as far as the recovery says.
    pub(crate) fn settle_after_crash(
        &self,
        at: Coord,
        world: &World,
        recovery: Recovery<'_>,
    ) -> Result<AfterCrash, NoSuchOp> {
        let op = self.engine.op_in_run(at)?;
        let op = CutOffOp { journal: self, world, op, changes: self.begun_changes(at) };
        Ok(match recovery {
            Recovery::Continue { without_changes, shown, progress } => {
                op.go_on(without_changes, shown, progress)
            }
            Recovery::Complete => op.complete(),
            Recovery::LeaveAsFound => AfterCrash::Record(op.left_as_found()),
        })
    }

    /// The changes that an op said it would make when it began.
    pub(crate) fn begun_changes(&self, at: Coord) -> &[Change] {
        let begun = self.engine.op(at).and_then(|op| op.begin());
        begun.map(|begin| begin.changes.as_slice()).unwrap_or_default()
    }
}

/// An op that began and has no outcome.
struct CutOffOp<'a> {
    journal: &'a Journal,
    world: &'a World,
    op: OpInRun<'a>,
    changes: &'a [Change],
}

impl CutOffOp<'_> {
    fn go_on(&self, without_changes: Found, shown: &str, progress: OnProgress<'_>) -> AfterCrash {
        let found = if self.changes.is_empty() { without_changes } else { self.found() };
        if matches!(found, Found::Done | Found::Partly) {
            self.world.count_made(&self.world.made(self.changes));
        }
        match self.op.settle_found(found, shown) {
            Settlement::Repeat => AfterCrash::Repeat,
            Settlement::Finish => self.finish(progress),
            Settlement::Record(recording) => AfterCrash::Record(match found {
                Found::Partly | Found::Unknown => self.with_made_changes(recording),
                Found::Done | Found::NotDone => recording,
            }),
        }
    }

    /// Makes the changes that are missing.
    fn finish(&self, progress: OnProgress<'_>) -> AfterCrash {
        let contents = |hash: &Hash| self.journal.content(hash).ok();
        let finished = self.world.apply_and_count(self.changes, &contents, progress);
        self.world.count_made(finished.as_deref().unwrap_or_default());
        let found = if finished.is_ok() { Found::Done } else { Found::Unknown };
        self.after(found)
    }

    /// Makes the changes that are missing, or takes back those that were made.
    fn complete(&self) -> AfterCrash {
        let contents = |hash: &Hash| self.journal.content(hash).ok();
        let stored: Vec<Change> =
            self.changes.iter().filter(|change| change.is_stored()).cloned().collect();
        if let Some(address) = self.world.stale(&stored) {
            let made = self.world.made(self.changes);
            let back: Vec<Change> = made.iter().rev().map(inverse).collect();
            if back.is_empty() || self.world.apply(&back, &contents).is_ok() {
                let text = format!("{address} was changed by another run meanwhile");
                return AfterCrash::Record(self.taken_back(text));
            }
        }
        let found = match self.found() {
            Found::NotDone | Found::Partly => match self.world.apply(self.changes, &contents) {
                Ok(_) => Found::Done,
                Err(_) => Found::Unknown,
            },
            found => found,
        };
        self.after(found)
    }

    fn left_as_found(&self) -> Recording {
        let found = match self.found() {
            // An entry changes with the outcome alone, so there is always something missing.
            Found::Done if self.changes.iter().any(Change::is_stored) => Found::Partly,
            found => found,
        };
        let recording = self.op.settle_abandoned(found);
        match SettledOp::from_recording(recording) {
            Ok(settled) if settled.outcome().changes.is_empty() => {
                settled.with_changes(self.world.made(self.changes)).into_recording()
            }
            Ok(settled) => settled.into_recording(),
            Err(recording) => recording,
        }
    }

    /// The same with the changes that were made in the row, if there is one, so that an undo covers them.
    fn with_made_changes(&self, recording: Recording) -> Recording {
        match SettledOp::from_recording(recording) {
            Ok(settled) => settled.with_changes(self.world.made(self.changes)).into_recording(),
            Err(recording) => recording,
        }
    }

    /// What the disk shows of the changes.
    fn found(&self) -> Found {
        match self.world.probe(self.changes) {
            Probe::Done => Found::Done,
            Probe::NotDone => Found::NotDone,
            Probe::Partly => Found::Partly,
            Probe::Neither => Found::Unknown,
        }
    }

    /// What the engine says once no more changes can be made.
    fn after(&self, found: Found) -> AfterCrash {
        match self.op.settle_found(found, "") {
            Settlement::Record(recording) => AfterCrash::Record(recording),
            Settlement::Repeat | Settlement::Finish => AfterCrash::Repeat,
        }
    }

    /// The outcome of an op whose changes were taken back.
    fn taken_back(&self, why: String) -> Recording {
        SettledOp::told(self.op.at(), Status::CONFLICT, why, Settled::NotPerformed).into_recording()
    }
}
