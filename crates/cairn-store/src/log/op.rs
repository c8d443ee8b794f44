//! Finds an op's intent and decision, in a batch or through a run's forks, by its coordinate.

use crate::StoreError;
use crate::log::batch::Tally;
use crate::log::fact::{COLUMNS, FactRow};
use crate::log::run::lineage;
use cairn_types::{Body, Coord, Decision, Fact, Intent, RunId};
use rusqlite::{Connection, params};

/// What the log says about an op before its outcome.
#[derive(Default)]
pub(crate) struct Op {
    /// What was asked for.
    pub(crate) intent: Option<Intent>,
    /// The last word on it.
    pub(crate) decision: Option<Decision>,
}

impl Op {
    /// Takes a fact about the op, later ones first; gives whether the intent is found.
    fn take(&mut self, at: Coord, body: &Body) -> bool {
        match body {
            Body::Decision(decision) if decision.at == at => {
                self.decision.get_or_insert_with(|| decision.clone());
            }
            Body::Intent(intent) if intent.at == at => self.intent = Some(intent.clone()),
            _ => {}
        }
        self.intent.is_some()
    }

    /// The op at `at` of `run`, as told by `recent` facts and, before those, by the store.
    pub(crate) fn find(
        conn: &Connection,
        run: &RunId,
        at: Coord,
        recent: &[Fact],
        tally: &mut Tally,
    ) -> Result<Op, StoreError> {
        let mut op = Op::default();
        if recent.iter().rev().any(|fact| op.take(at, &fact.body)) {
            return Ok(op);
        }
        let sql = format!(
            "SELECT {COLUMNS} FROM facts INDEXED BY facts_row WHERE run = ? AND row = ? AND n <= ?
             AND kind IN ('intent', 'decision') ORDER BY n DESC"
        );
        let mut statement = conn.prepare_cached(&sql)?;
        for (run, bound) in lineage(conn, run)? {
            tally.read(1);
            let rows = statement
                .query_map(params![run.as_str(), at.to_string(), bound], FactRow::read)?
                .collect::<Result<Vec<_>, _>>()?;
            for row in rows {
                tally.read(1);
                if op.take(at, &row.into_fact()?.body) {
                    return Ok(op);
                }
            }
        }
        Ok(op)
    }
}
