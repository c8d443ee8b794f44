//! Addresses of rows as people type them: `log://RUN/loop/turn/seq#channel`, `log://RUN/changes/N`.

use crate::{Coord, CoordError, RunId};
use std::fmt;
use std::str::FromStr;

/// Where a row is in its run's log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowPlace {
    /// The row of an op, by its coordinate: `1/2/3`.
    Op(Coord),
    /// What others changed, by its number among such rows of the run, from 1: `changes/1`.
    Changes(u32),
}

impl RowPlace {
    /// How the places of what others changed begin.
    pub const CHANGES: &str = "changes";
}

impl From<Coord> for RowPlace {
    fn from(at: Coord) -> RowPlace {
        RowPlace::Op(at)
    }
}

impl fmt::Display for RowPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RowPlace::Op(at) => write!(f, "{at}"),
            RowPlace::Changes(n) => write!(f, "{}/{n}", Self::CHANGES),
        }
    }
}

impl FromStr for RowPlace {
    type Err = CoordError;
    fn from_str(text: &str) -> Result<Self, CoordError> {
        match text.split_once('/') {
            Some((Self::CHANGES, n)) => {
                n.parse().map(RowPlace::Changes).map_err(|_| CoordError(text.to_owned()))
            }
            _ => text.parse().map(RowPlace::Op),
        }
    }
}

/// A row, a turn or a run, seen from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// The run, or what a person typed in its place (a prefix, or a name).
    pub run: String,
    /// Where in it.
    pub row: RowAddress,
    /// `#request`, `#reply`, `#reasoning` of a turn; `#input`, `#output`, `#shown` of a row.
    pub channel: Option<String>,
}

/// How deep an address goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowAddress {
    /// The whole run.
    Run,
    /// One loop.
    Lap(u32),
    /// One turn.
    Turn(u32, u32),
    /// One row of an op.
    Row(Coord),
    /// One row of what others changed.
    Changes(u32),
}

/// Why a text is not an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not an address of a row; write log://RUN/loop/turn/op, for example log://r1k8f3q0c7w2n5b/1/2/3"
)]
pub struct AddressError(pub String);

impl FromStr for Address {
    type Err = AddressError;
    fn from_str(text: &str) -> Result<Self, AddressError> {
        let bad = || AddressError(text.to_owned());
        let rest = text.strip_prefix("log://").ok_or_else(bad)?;
        let (path, channel) = match rest.split_once('#') {
            Some((path, channel)) => (path, Some(channel.to_owned())),
            None => (rest, None),
        };
        let path = path.trim_end_matches('/');
        let (run, row) = path.split_once('/').unwrap_or((path, ""));
        if run.is_empty() {
            return Err(bad());
        }
        let run = run.to_owned();
        if let Ok(RowPlace::Changes(n)) = row.parse() {
            return Ok(Address { run, row: RowAddress::Changes(n), channel });
        }
        let parts = row.split('/').filter(|_| !row.is_empty());
        let numbers: Vec<u32> =
            parts.map(|p| p.parse().map_err(|_| bad())).collect::<Result<_, _>>()?;
        let row = match numbers[..] {
            [] => RowAddress::Run,
            [lap] => RowAddress::Lap(lap),
            [lap, turn] => RowAddress::Turn(lap, turn),
            [lap, turn, seq] => RowAddress::Row(Coord { lap, turn, seq }),
            _ => return Err(bad()),
        };
        Ok(Address { run, row, channel })
    }
}

impl Address {
    /// The address of a row.
    #[must_use]
    pub fn row(run: &RunId, place: impl Into<RowPlace>) -> String {
        format!("log://{run}/{}", place.into())
    }
}

impl fmt::Display for RowAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RowAddress::Run => Ok(()),
            RowAddress::Lap(lap) => write!(f, "{lap}"),
            RowAddress::Turn(lap, turn) => write!(f, "{lap}/{turn}"),
            RowAddress::Row(at) => write!(f, "{at}"),
            RowAddress::Changes(n) => write!(f, "{}", RowPlace::Changes(*n)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_run_a_loop_a_turn_or_a_row() {
        let check = |text: &str| text.parse::<Address>().map(|a| (a.run, a.row, a.channel));
        assert_eq!(check("log://r1"), Ok(("r1".into(), RowAddress::Run, None)));
        assert_eq!(
            check("log://r1/1/2#request"),
            Ok(("r1".into(), RowAddress::Turn(1, 2), Some("request".into())))
        );
        let at = Coord { lap: 1, turn: 2, seq: 3 };
        assert_eq!(check("log://r1/1/2/3"), Ok(("r1".into(), RowAddress::Row(at), None)));
        let changes = Ok(("r1".into(), RowAddress::Changes(2), Some("result".into())));
        assert_eq!(check("log://r1/changes/2#result"), changes);
        assert_eq!(check("log://changes/1"), Ok(("changes".into(), RowAddress::Lap(1), None)));
        assert!(check("log://r1/changes").is_err());
        assert!(check("log://r1/changes/x").is_err());
        assert!(check("log://").is_err());
        assert!(check("r1/1/2").is_err());
        assert!(check("log://r1/1/x").is_err());
    }
}
