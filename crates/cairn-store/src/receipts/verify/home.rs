//! Judges a session where it lives: its bundle from the raw rows, then what only the home can
//! check, the HMACs and the heads kept outside the database.

use super::{Report, RunVerdict, Verdict, verify_bytes};
use crate::StoreError;
use crate::home::Home;
use crate::keys::Keys;
use crate::log::batch::Tally;
use crate::log::run::RunState;
use crate::receipts::checkpoint::Standing;
use crate::receipts::digest::hex;
use crate::receipts::heads::HeadLine;
use crate::transfer::bundle::{Bundler, Damage};
use crate::transfer::origins;
use cairn_types::{RunId, SessionId};
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::BTreeMap;

/// A session in one state of the database.
pub(crate) struct HomeJudge<'a> {
    /// The state.
    pub(crate) conn: &'a Connection,
    /// The home.
    pub(crate) home: &'a Home,
    /// Its secrets.
    pub(crate) keys: &'a Keys,
    /// The session.
    pub(crate) session: &'a SessionId,
}

impl HomeJudge<'_> {
    /// Judges the session. The heads must have been read before the state of the database was
    /// taken: they are noted after their commit, so such a state has them all.
    pub(crate) fn all(
        &self,
        heads: &[HeadLine],
        only: Option<&RunId>,
        anchor: Option<&str>,
    ) -> Result<Report, StoreError> {
        let known: Option<i64> = self
            .conn
            .prepare_cached("SELECT 1 FROM sessions WHERE id = ?")?
            .query_row([self.session.as_str()], |row| row.get(0))
            .optional()?;
        if known.is_none() && heads.is_empty() {
            return Err(StoreError::NoSuch { text: self.session.to_string() });
        }
        let report = self.rows(anchor)?;
        if report.verdict == Verdict::Refuted || report.verdict == Verdict::Unverifiable {
            return Ok(report);
        }
        if let Some((bad, why)) = self.forged()? {
            return Ok(Report { verdict: Verdict::Refuted, why, bad: Some(bad), ..report });
        }
        let runs = self.runs(heads)?;
        let counts = |run: &&RunVerdict| only.is_none_or(|only| run.run == *only);
        let truncated = runs.iter().filter(counts).find_map(|run| {
            let why = run.missing.as_ref()?;
            Some((run.run.to_string(), format!("the database was truncated: {why}")))
        });
        if let Some((bad, why)) = truncated {
            return Ok(Report { verdict: Verdict::Refuted, why, bad: Some(bad), runs, ..report });
        }
        let why = format!("{}{}", report.why, self.signed_elsewhere(&report));
        Ok(Report { why, runs, ..report })
    }

    /// What is to be said of each run of the session: those of the database, and those that are gone.
    fn runs(&self, heads: &[HeadLine]) -> Result<Vec<RunVerdict>, StoreError> {
        let mut missing: BTreeMap<RunId, Option<String>> = BTreeMap::new();
        for run in RunState::all(self.conn, self.session)? {
            missing.insert(run.id, None);
        }
        for head in heads {
            if let Some(lost) = head.missing_in(self.conn, self.home)? {
                missing.insert(lost.run, Some(lost.why));
            }
        }
        Ok(missing.into_iter().map(|(run, missing)| RunVerdict { run, missing }).collect())
    }

    /// What is not this home's own, in words.
    fn signed_elsewhere(&self, report: &Report) -> String {
        let own = self.keys.public();
        let (mut from, mut said) = (1, String::new());
        for signer in &report.signers {
            let to = from + signer.receipts;
            if signer.public_key != own && signer.checkpoints > 0 {
                let which = match signer.receipts {
                    0 => "its beginning was".to_owned(),
                    1 => format!("receipt {from} was"),
                    _ => format!("receipts {from} to {} were", to - 1),
                };
                said += &format!(
                    ". It was imported: {which} signed by another home, with the key {}. That they \
                     agree with each other is checked here; who holds that key is not",
                    signer.public_key
                );
            }
            from = to;
        }
        said
    }

    /// Judges the rows. Where no stored checkpoint covers everything, one is made for the purpose;
    /// it is no anchor, since nobody keeps it.
    fn rows(&self, anchor: Option<&str>) -> Result<Report, StoreError> {
        let standing = Standing::read(self.conn, self.session, &mut Tally::default())?;
        let extra = match standing.covered() {
            Some(_) => None,
            None => Some(standing.sign(self.keys, standing.last_at())?),
        };
        let mut bytes = Vec::new();
        let HomeJudge { conn, home, keys, session } = *self;
        let damage = Damage::Show;
        Bundler { conn, home, keys, session, out: &mut bytes, damage }.all(extra.as_ref())?;
        let mut report = verify_bytes(&bytes, anchor);
        if let Some(extra) = extra
            && report.anchor.as_deref() == Some(&extra.hash)
        {
            report.checkpoints -= 1;
            report.anchor = standing.last_anchor().map(str::to_owned);
        }
        Ok(report)
    }

    /// The first receipt whose HMAC this home did not make, though it signed it.
    fn forged(&self) -> Result<Option<(String, String)>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT receipt_id, payload, hmac FROM receipts WHERE session = ? ORDER BY id
             LIMIT -1 OFFSET ?",
        )?;
        let elsewhere = origins::of(self.conn, self.session)?.last().map_or(0, |o| o.receipts);
        let mut rows = statement.query(params![self.session.as_str(), elsewhere])?;
        while let Some(row) = rows.next()? {
            let [id, payload, hmac]: [String; 3] = [row.get(0)?, row.get(1)?, row.get(2)?];
            if hex(&self.keys.hmac(payload.as_bytes())) != hmac {
                let why = format!("{id}: its HMAC was not made by this home");
                return Ok(Some((id, why)));
            }
        }
        Ok(None)
    }
}
