//! Why a run could not go on. Nothing that was acknowledged is lost by any of these.

use cairn_store::StoreError;

/// Why a run could not go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The workspace could not be opened.
    #[error(transparent)]
    World(#[from] cairn_world::WorldError),
    /// The newest reply has no such op.
    #[error(transparent)]
    NoSuchOp(#[from] cairn_engine::NoSuchOp),
    /// Something was to be recorded about a loop, and none is open.
    #[error("run {run} has no open loop")]
    NoOpenLoop {
        /// The run.
        run: cairn_types::RunId,
    },
    /// A recorded call no longer reads as it did.
    #[error("op {at} of run {run} cannot be read back from the log: {why}")]
    Unreadable {
        /// The run.
        run: cairn_types::RunId,
        /// The op.
        at: cairn_types::Coord,
        /// What is wrong.
        why: String,
    },
    /// The run has nothing to go on with.
    #[error("run {run} {state}; give it a task: cairn run --resume {run} \"go on\"")]
    NothingToDo {
        /// The run.
        run: cairn_types::RunId,
        /// How it stands: `has nothing left to do`, or that it stopped at its cap.
        state: String,
    },
    /// The run's first fact is missing.
    #[error("run {run} has no beginning; its log is damaged")]
    NoBeginning {
        /// The run.
        run: cairn_types::RunId,
    },
}
