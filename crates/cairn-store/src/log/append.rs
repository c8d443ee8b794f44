//! Appends one batch inside a transaction: checks the lease and the order, writes the rows, and has
//! every outcome receipted. Never changes or deletes a fact.

use crate::StoreError;
use crate::contents::packed::Packed;
use crate::home::Home;
use crate::keys::Keys;
use crate::log::batch::{Batch, Committed, LeaseKey, NewRun, NewSession, Tally};
use crate::log::fact::FactRow;
use crate::log::lease::holder_of;
use crate::log::run::{RunState, read_fact_order};
use crate::receipts::checkpoint;
use crate::receipts::heads::HeadLine;
use crate::receipts::mint::Mint;
use crate::sessions::{answers, entries, mail, money, subscriptions};
use cairn_types::{Body, Fact, Origin, Outcome, Prompt, Steer};
use rusqlite::{Connection, OptionalExtension, params};

/// A batch with all work done that needs no transaction.
pub(crate) struct Prepared {
    lease: LeaseKey,
    session: Option<NewSession>,
    run: Option<NewRun>,
    /// The facts.
    pub(crate) facts: Vec<Fact>,
    rows: Vec<FactRow>,
    /// The contents, hashed and packed.
    pub(crate) contents: Vec<Packed>,
}

impl Prepared {
    /// Encodes the facts, packs the contents, and makes the large ones durable.
    pub(crate) fn new(home: &Home, batch: Batch) -> Result<Prepared, StoreError> {
        let Batch { lease, session, run, facts, contents } = batch;
        let rows = facts.iter().map(FactRow::new).collect::<Result<_, _>>()?;
        let packed = contents.into_iter().map(|kept| Packed::new(home, kept));
        let contents = packed.collect::<Result<_, _>>()?;
        Ok(Prepared { lease, session, run, facts, rows, contents })
    }

    fn refuse(&self, why: &str) -> StoreError {
        StoreError::BadBatch { run: self.lease.run.clone(), why: why.to_owned() }
    }
}

/// Where batches are appended.
pub(crate) struct Append<'a> {
    /// Inside a transaction.
    pub(crate) conn: &'a Connection,
    /// The home.
    pub(crate) home: &'a Home,
    /// Who signs.
    pub(crate) keys: &'a Keys,
}

impl Append<'_> {
    /// Appends a batch; gives what was done and where its run now stands.
    pub(crate) fn batch(&self, batch: &Prepared) -> Result<(Committed, HeadLine), StoreError> {
        let mut tally = Tally::default();
        if let Some(session) = &batch.session {
            self.session(batch, session, &mut tally)?;
        }
        let mut run = self.run(batch, &mut tally)?;
        self.admit(batch, &mut run)?;
        for content in &batch.contents {
            tally.wrote(content.insert(self.conn, self.home)?);
        }
        let receipts = self.facts(batch, &mut run, &mut tally)?;
        run.save(self.conn)?;
        tally.wrote(256);
        let end = batch.facts.iter().rev().find(|fact| matches!(fact.body, Body::End(_)));
        let anchor = match end {
            Some(end) => {
                let keys = self.keys;
                Some(checkpoint::ensure(self.conn, keys, &run.session, end.at, &mut tally)?)
            }
            None => None,
        };
        let Tally { rows, bytes } = tally;
        Ok((Committed { receipts, anchor, rows, bytes }, HeadLine::of(&run)))
    }

    fn session(
        &self,
        batch: &Prepared,
        new: &NewSession,
        tally: &mut Tally,
    ) -> Result<(), StoreError> {
        let found: Option<String> = self
            .conn
            .prepare_cached("SELECT root FROM sessions WHERE id = ?")?
            .query_row([new.id.as_str()], |row| row.get(0))
            .optional()?;
        match found {
            Some(root) if root == new.root => return Ok(()),
            Some(_) => return Err(batch.refuse("its session works on another root")),
            None => {}
        }
        self.conn
            .prepare_cached(
                "INSERT INTO sessions (id, root, created_at, made)
                 VALUES (?, ?, ?, (SELECT coalesce(max(made), 0) + 1 FROM sessions))",
            )?
            .execute(params![new.id.as_str(), new.root, new.at])?;
        tally.wrote(32 + new.root.len() as u64);
        Ok(())
    }

    /// The batch's run, made first when it is new.
    fn run(&self, batch: &Prepared, tally: &mut Tally) -> Result<RunState, StoreError> {
        tally.read(1);
        let Some(new) = &batch.run else {
            let missing = || StoreError::NoSuch { text: batch.lease.run.to_string() };
            return RunState::load(self.conn, &batch.lease.run)?.ok_or_else(missing);
        };
        if new.id != batch.lease.run {
            return Err(batch.refuse("it makes another run than its lease names"));
        }
        if new.parent.is_none() && batch.facts.is_empty() {
            return Err(batch.refuse("only a fork begins without facts"));
        }
        let known: Option<i64> = self
            .conn
            .prepare_cached("SELECT 1 FROM sessions WHERE id = ?")?
            .query_row([new.session.as_str()], |row| row.get(0))
            .optional()?;
        known.ok_or_else(|| StoreError::NoSuch { text: new.session.to_string() })?;
        RunState::create(self.conn, new, tally)
    }

    /// Checks the lease. A `drive` fact takes it; everything else must already hold it.
    fn admit(&self, batch: &Prepared, run: &mut RunState) -> Result<(), StoreError> {
        if run.imported > 0 {
            return Err(StoreError::Imported { run: run.id.clone() });
        }
        let epoch = batch.lease.epoch;
        let drive = batch.facts.iter().rev().find_map(|fact| match &fact.body {
            Body::Drive(drive) => Some(drive),
            _ => None,
        });
        let admitted = match drive {
            Some(drive) => drive.epoch == epoch && epoch > run.epoch,
            None if batch.run.is_some() && batch.facts.is_empty() => return Ok(()),
            None => epoch == run.epoch,
        };
        if !admitted {
            let holder = holder_of(self.home, &run.id);
            return Err(StoreError::Fenced { run: run.id.clone(), holder });
        }
        run.epoch = epoch;
        Ok(())
    }

    /// Appends the facts and mints their receipts.
    fn facts(
        &self,
        batch: &Prepared,
        run: &mut RunState,
        tally: &mut Tally,
    ) -> Result<Vec<(u64, String)>, StoreError> {
        let mint = Mint { conn: self.conn, home: self.home, keys: self.keys, batch };
        let mut receipts = Vec::new();
        let mut order = match run.order.take() {
            Some(order) => order,
            None => read_fact_order(self.conn, &run.id)?,
        };
        for (index, (fact, row)) in batch.facts.iter().zip(&batch.rows).enumerate() {
            if fact.run != run.id {
                return Err(batch.refuse("it holds a fact of another run"));
            }
            let expected = run.last_n + 1;
            if fact.n != expected {
                let run = run.id.clone();
                return Err(StoreError::OutOfOrder { run, expected, found: fact.n });
            }
            if let Err(misplaced) = order.check_next(&fact.body) {
                return Err(batch.refuse(&misplaced.to_string()));
            }
            order.advance(&fact.body);
            tally.wrote(row.insert(self.conn)?);
            run.last_n = fact.n;
            run.last_at = fact.at;
            run.tail.push(&row.line());
            match &fact.body {
                Body::Performed(done) => {
                    let place = (&run.session, &run.id);
                    entries::apply(self.conn, place, &done.changes, fact.at, tally)?;
                }
                Body::Outcome(outcome) => {
                    if !entries::were_made(self.conn, &run.id, outcome)? {
                        let place = (&run.session, &run.id);
                        entries::apply(self.conn, place, &outcome.changes, fact.at, tally)?;
                    }
                    receipts.push((fact.n, mint.receipt(run, index, outcome, tally)?));
                    self.opened(run, outcome, fact.at, tally)?;
                }
                Body::Prompt(Prompt { from: Some(from), .. })
                | Body::Steer(Steer { from: Some(from), .. }) => {
                    mail::heard(self.conn, &run.id, from)?;
                }
                Body::Stream(stream) => {
                    subscriptions::close(self.conn, &run.id, stream.at)?;
                    mail::is_over(self.conn, &run.id, stream.at)?;
                }
                Body::Decision(decision) => {
                    let place = (&run.session, &run.id);
                    answers::keep(self.conn, place, decision, fact.at, tally)?;
                }
                Body::Reply(reply) => {
                    money::settle(self.conn, (&run.session, &run.id), reply.cost)?;
                }
                Body::Fault(_) | Body::End(_) => drop(money::release(self.conn, &run.id)?),
                _ => {}
            }
        }
        run.order = Some(order);
        Ok(receipts)
    }

    /// What an outcome opens: a stream that goes on, and what another run is to hear.
    fn opened(
        &self,
        run: &RunState,
        outcome: &Outcome,
        at: u64,
        tally: &mut Tally,
    ) -> Result<(), StoreError> {
        if let Some(address) = &outcome.stream {
            let place = (&run.session, &run.id);
            subscriptions::open(self.conn, place, (outcome.at, address), at)?;
        }
        if let Some(letter) = &outcome.letter {
            let from = Origin { run: run.id.clone(), row: outcome.at };
            mail::post(self.conn, (&run.session, &from), letter, at, tally)?;
        }
        Ok(())
    }
}
