//! Judges a bundle from its raw bytes, as `docs/receipts.md` says. Pure: reads no file, no database.

mod against_home;
mod checkpoint;
mod home;
pub(crate) mod lines;
mod receipt;
mod runs;
mod trust;

pub(crate) use against_home::{HeldSession, session_of};
use cairn_types::RunId;
use checkpoint::Checkpoints;
pub(crate) use home::HomeJudge;

use lines::{CheckpointLine, FactLine, Header, ReceiptLine, RunLine, strict, typed};
use receipt::Receipts;
use runs::Runs;
use trust::Trust;

/// What a bundle is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It agrees with itself and holds the anchor.
    Verified,
    /// It agrees with itself; whoever holds the key could have written it.
    Unanchored,
    /// Something in it is wrong.
    Refuted,
    /// It is no bundle.
    Unverifiable,
}

/// A verdict and its grounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The verdict.
    pub verdict: Verdict,
    /// A sentence for a person.
    pub why: String,
    /// How many receipts were found good.
    pub receipts: u64,
    /// How many checkpoints were found good.
    pub checkpoints: u64,
    /// The last checkpoint's hash.
    pub anchor: Option<String>,
    /// The first bad thing: a receipt's id, or `line N`.
    pub bad: Option<String>,
    /// Whose keys signed, in order. More than one where a session was imported and went on.
    pub signers: Vec<Signer>,
    /// Each run of a session that was judged where it lives; none of a bundle.
    pub runs: Vec<RunVerdict>,
}

/// What is to be said of one run of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunVerdict {
    /// The run.
    pub run: RunId,
    /// What was recorded of it and is not in the database any more: then it is refuted. It is in order
    /// where nothing is missing and the session's own verdict is good.
    pub missing: Option<String>,
}

/// Whose key signed a stretch of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signer {
    /// The public key, in hex.
    pub public_key: String,
    /// How many receipts it signed.
    pub receipts: u64,
    /// How many checkpoints it signed.
    pub checkpoints: u64,
    /// Whether it is the key of this home; absent where nobody asked a home.
    pub is_own: Option<bool>,
}

impl Report {
    /// The same, which says of each key whether it is this one.
    pub(crate) fn with_own_key(mut self, own: &str) -> Report {
        for signer in &mut self.signers {
            signer.is_own = Some(signer.public_key == own);
        }
        self
    }

    fn bare(verdict: Verdict, why: impl Into<String>) -> Report {
        let why = why.into();
        Report {
            verdict,
            why,
            receipts: 0,
            checkpoints: 0,
            anchor: None,
            bad: None,
            signers: Vec::new(),
            runs: Vec::new(),
        }
    }
}

/// Why a bundle is refuted.
struct Bad {
    what: String,
    why: String,
}

/// How checks fail: with a few words. The caller knows which line they are about.
type Check<T = ()> = Result<T, String>;

/// Gives the words when something does not hold.
fn hold(holds: bool, why: &str) -> Check {
    if holds { Ok(()) } else { Err(why.to_owned()) }
}

/// Judges a bundle.
#[must_use]
pub fn verify_bytes(bytes: &[u8], anchor: Option<&str>) -> Report {
    let first = bytes.split(|b| *b == b'\n').next().unwrap_or_default();
    if !lines::is_bundle(first) {
        return Report::bare(Verdict::Unverifiable, "this is not a Cairn bundle of version 1 or 2");
    }
    let mut judge = Judge::default();
    let outcome = judge.all(bytes).and_then(|()| judge.anchored(anchor));
    let mut report = match outcome {
        Ok((verdict, why)) => Report::bare(verdict, why),
        Err(bad) => {
            let why = format!("{}: {}", bad.what, bad.why);
            Report { bad: Some(bad.what), ..Report::bare(Verdict::Refuted, why) }
        }
    };
    report.receipts = judge.receipts.len() as u64;
    report.checkpoints = judge.checkpoints.hashes.len() as u64;
    report.anchor = judge.checkpoints.hashes.last().cloned();
    if let Some(trust) = &judge.header {
        report.signers = trust.signers(report.receipts, report.checkpoints);
    }
    report
}

/// The kinds of line, in the order in which they must come.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    #[default]
    Header,
    Runs,
    Facts,
    Receipts,
    Checkpoints,
}

/// What has been read so far.
#[derive(Default)]
struct Judge<'a> {
    stage: Stage,
    header: Option<Trust>,
    runs: Runs<'a>,
    receipts: Receipts,
    checkpoints: Checkpoints,
}

impl<'a> Judge<'a> {
    /// Reads every line.
    fn all(&mut self, bytes: &'a [u8]) -> Result<(), Bad> {
        let mut count = 0;
        for (index, line) in bytes.split_inclusive(|b| *b == b'\n').enumerate() {
            count = index + 1;
            let at = |why: String| Bad { what: format!("line {count}"), why };
            let line = line
                .strip_suffix(b"\n")
                .ok_or_else(|| at("it does not end with a newline".to_owned()))?;
            let text = std::str::from_utf8(line).map_err(|_| at("it is not UTF-8".to_owned()))?;
            self.line(text).map_err(|why| match lines::receipt_id(text) {
                Some(what) => Bad { what, why },
                None => at(why),
            })?;
        }
        let at = |why: String| Bad { what: format!("line {count}"), why };
        self.enter(Stage::Checkpoints).map_err(at)?;
        let trust = self.header.as_ref().ok_or_else(|| at("there is no header".to_owned()))?;
        self.checkpoints.cover(&self.runs, &self.receipts, trust).map_err(at)
    }

    fn line(&mut self, text: &'a str) -> Check {
        let (kind, value) = typed(text)?;
        if self.header.is_none() {
            self.header = Some(Trust::new(strict::<Header>(value, text)?)?);
            return Ok(());
        }
        match kind.as_str() {
            "run" => {
                self.enter(Stage::Runs)?;
                self.runs.add_run(strict::<RunLine>(value, text)?)
            }
            "fact" => {
                self.enter(Stage::Facts)?;
                self.runs.add_fact(strict::<FactLine>(value, text)?, lines::fact_text(text)?)
            }
            "receipt" => {
                self.enter(Stage::Receipts)?;
                let line = strict::<ReceiptLine>(value, text)?;
                self.receipts.add(line, &mut self.runs, self.header.as_ref())
            }
            "checkpoint" => {
                self.enter(Stage::Checkpoints)?;
                let line = strict::<CheckpointLine>(value, text)?;
                self.checkpoints.add(line, &self.runs, &self.receipts, self.header.as_ref())
            }
            _ => Err("there is no such type of line".to_owned()),
        }
    }

    /// Moves on to a later kind of line, never back.
    fn enter(&mut self, stage: Stage) -> Check {
        hold(stage >= self.stage, "it stands out of order")?;
        if self.stage < Stage::Facts && stage >= Stage::Facts {
            self.runs.check_parents()?;
        }
        if self.stage < Stage::Receipts && stage >= Stage::Receipts {
            self.runs.check_forks()?;
        }
        if self.stage < Stage::Checkpoints && stage >= Stage::Checkpoints {
            self.runs.check_receipted()?;
            self.runs.check_shared()?;
        }
        self.stage = stage;
        Ok(())
    }

    /// What an anchor of an earlier signer says nothing about.
    fn signed_after(&self, anchor: &str) -> String {
        let of = |index: usize| Some(self.header.as_ref()?.of_checkpoint(index as u64));
        let hashes = &self.checkpoints.hashes;
        let place = hashes.iter().position(|hash| hash == anchor).unwrap_or(0);
        match (of(place), of(hashes.len().saturating_sub(1))) {
            (Some(then), Some(now)) if then != now => format!(
                "; it speaks for what the key {then} signed, not for what {now} signed afterwards"
            ),
            _ => String::new(),
        }
    }

    fn anchored(&self, anchor: Option<&str>) -> Result<(Verdict, String), Bad> {
        let count = self.receipts.len();
        match anchor {
            None => Ok((
                Verdict::Unanchored,
                format!(
                    "{count} receipts agree with each other; compare the anchor with one kept \
                     elsewhere"
                ),
            )),
            Some(anchor) if self.checkpoints.hashes.iter().any(|hash| hash == anchor) => {
                let after = self.signed_after(anchor);
                let why = format!("{count} receipts, and the anchor is among them{after}");
                Ok((Verdict::Verified, why))
            }
            Some(anchor) => Err(Bad {
                what: format!("anchor {anchor}"),
                why: "no checkpoint has that hash; something was cut off or replaced".to_owned(),
            }),
        }
    }
}
