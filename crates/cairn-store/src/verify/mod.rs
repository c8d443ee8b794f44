//! Judges a bundle from its raw bytes, as `docs/receipts.md` says. Pure: reads no file, no database.

mod checkpoint;
mod home;
mod lines;
mod receipt;
mod runs;

use checkpoint::Checkpoints;
pub(crate) use home::HomeJudge;

use ed25519_dalek::{Signature, VerifyingKey};
use lines::{CheckpointLine, FactLine, Header, ReceiptLine, RunLine, strict, typed};
use receipt::Receipts;
use runs::Runs;

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
}

impl Report {
    fn bare(verdict: Verdict, why: impl Into<String>) -> Report {
        let why = why.into();
        Report { verdict, why, receipts: 0, checkpoints: 0, anchor: None, bad: None }
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
        return Report::bare(Verdict::Unverifiable, "this is not a Cairn bundle of version 1");
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

/// What the header says, which everything else must agree with.
struct Trust {
    session: String,
    public_key: String,
    key: VerifyingKey,
}

impl Trust {
    fn new(header: Header) -> Check<Trust> {
        let bad = "its public key is no Ed25519 key";
        let bytes = crate::digest::unhex_array(&header.public_key).ok_or(bad)?;
        let key = VerifyingKey::from_bytes(&bytes).map_err(|_| bad)?;
        let session = String::from(header.session_id);
        Ok(Trust { session, public_key: header.public_key, key })
    }

    /// Whether the key signed these 32 bytes.
    fn signed(&self, hash: &[u8; 32], signature: &str) -> Check {
        let bad = "its signature does not fit";
        let signature = crate::digest::unhex_array(signature).ok_or(bad)?;
        let signature = Signature::from_bytes(&signature);
        self.key.verify_strict(hash, &signature).map_err(|_| bad.to_owned())
    }
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
        self.checkpoints.cover(&self.runs, &self.receipts).map_err(at)
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
                Ok((Verdict::Verified, format!("{count} receipts, and the anchor is among them")))
            }
            Some(anchor) => Err(Bad {
                what: format!("anchor {anchor}"),
                why: "no checkpoint has that hash; something was cut off or replaced".to_owned(),
            }),
        }
    }
}
