//! The home's state: whether it can be written, what file system it is on, how much room there is, and
//! whether the database opens and holds together.

use super::{Finding, loss, note, ok, problem};
use crate::output::progress::Progress;
use anyhow::Result;
use cairn_store::{
    Access as StoreAccess, ContentsReport, MissingRecord, Options, Store, StoreError,
    UnreadableContent,
};
use rustix::fs::{Access, access, statfs};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Below this there is no point in starting.
const TOO_LITTLE: u64 = 16 << 20;
/// Below this it is worth knowing.
const LITTLE: u64 = 1 << 30;

/// The file systems people have, by their magic numbers.
const KINDS: &[(u64, &str)] = &[
    (0xef53, "ext4"),
    (0x9123_683e, "btrfs"),
    (0x5846_5342, "xfs"),
    (0x0102_1994, "tmpfs"),
    (0x794c_7630, "overlay"),
    (0x2fc1_2fc1, "zfs"),
    (0xf2f5_2010, "f2fs"),
    (0x6969, "nfs"),
    (0xff53_4d42, "cifs"),
    (0xfe53_4d42, "smb"),
    (0x0102_1997, "9p"),
    (0x6573_5546, "fuse"),
];

pub(super) fn findings(home: Result<PathBuf>) -> Vec<Finding> {
    let home = match home {
        Ok(home) => home,
        Err(why) => {
            return vec![problem("home", why.to_string(), "set CAIRN_HOME to a folder of yours")];
        }
    };
    // What is not there yet is made where the nearest folder is.
    let there = home.ancestors().find(|place| place.exists()).unwrap_or(Path::new("/"));
    let mut findings = vec![place(&home, there)];
    findings.extend(room(there));
    findings.extend(database(&home));
    findings
}

fn place(home: &Path, there: &Path) -> Finding {
    let shown = home.display();
    let fix = "make it a folder that you can write, or set CAIRN_HOME to another place";
    if !there.is_dir() {
        return problem("home", format!("{shown}: {} is not a folder", there.display()), fix);
    }
    match access(there, Access::WRITE_OK | Access::EXEC_OK) {
        Err(_) => problem("home", format!("{} cannot be written", there.display()), fix),
        Ok(()) if home == there => ok("home", shown.to_string()),
        Ok(()) => ok("home", format!("{shown} is made by the first run")),
    }
}

fn room(there: &Path) -> Vec<Finding> {
    let Ok(found) = statfs(there) else {
        let said = "the file system does not say what it is and how much room it has";
        return vec![note("file system", said, "nothing needs doing")];
    };
    #[allow(clippy::cast_sign_loss, reason = "magic numbers are bit patterns")]
    let magic = (found.f_type as u64) & 0xffff_ffff;
    let kind = KINDS.iter().find(|(number, _)| *number == magic).map(|(_, name)| *name);
    let size = u64::try_from(found.f_frsize).unwrap_or(0);
    let free = found.f_bavail.saturating_mul(size);
    vec![file_system(kind, magic), space(free)]
}

fn file_system(kind: Option<&str>, magic: u64) -> Finding {
    let what = "file system";
    let elsewhere = "set CAIRN_HOME to a folder on a disk of this machine";
    match kind {
        Some(kind @ ("nfs" | "cifs" | "smb" | "9p")) => {
            note(what, format!("{kind}: locks and the database may not hold there"), elsewhere)
        }
        Some("tmpfs") => note(what, "tmpfs: everything is lost when the machine stops", elsewhere),
        Some(kind) => ok(what, kind),
        None => ok(what, format!("of kind {magic:#x}")),
    }
}

fn space(free: u64) -> Finding {
    let said = format!("{} MiB free", free >> 20);
    let fix = "free some; `cairn gc` frees what old runs kept";
    match free {
        _ if free < TOO_LITTLE => problem("space", said, fix),
        _ if free < LITTLE => note("space", said, fix),
        _ => ok("space", said),
    }
}

fn database(home: &Path) -> Vec<Finding> {
    let what = "database";
    match cairn_store::health(home, Duration::from_secs(5)) {
        Ok(health) if health.damage.is_empty() => {
            let (schema, sessions) = (health.schema, health.sessions);
            let older = match health.schema < health.known {
                true => format!(" (the next command brings it to {})", health.known),
                false => String::new(),
            };
            let said = format!("schema {schema}{older}, sessions: {sessions}, holds together");
            let missing = missing_records(&health.missing);
            std::iter::once(ok(what, said)).chain(missing).collect()
        }
        Ok(health) => {
            let said = format!("it is damaged: {}", health.damage.join("; "));
            vec![problem(what, said, "move the home away, or restore it from a copy")]
        }
        Err(StoreError::NoHome { .. }) => {
            let missing = missing_records(&cairn_store::recorded_runs(home).unwrap_or_default());
            let none = ok(what, "there is none yet; the first run makes it");
            missing.map_or_else(|| vec![none], |missing| vec![missing])
        }
        // Its own sentence says what to do.
        Err(why) => vec![problem(what, why.to_string(), "then run `cairn doctor` again")],
    }
}

/// Reads every content of the home.
pub(super) fn contents(home: Result<PathBuf>) -> Finding {
    let what = "contents";
    match home.and_then(|home| read_contents(&home)) {
        Ok(None) => ok(what, "there are none yet"),
        Ok(Some(ContentsReport { read, freed, unreadable })) if unreadable.is_empty() => ok(
            what,
            format!("{read} read, all as they were kept; {freed} were freed by `cairn gc`"),
        ),
        Ok(Some(ContentsReport { read, unreadable, .. })) => {
            let each: Vec<String> = unreadable.iter().map(in_words).collect();
            let said = format!("{read} read as they were kept; {}", each.join("; "));
            let fix = "restore them from a copy of the home; what needs them says so until then";
            loss(what, said, fix)
        }
        Err(why) => problem(what, why.to_string(), "then run `cairn doctor --deep` again"),
    }
}

/// A content that cannot be read, in words.
pub fn in_words(content: &UnreadableContent) -> String {
    match &content.damaged_in {
        Some(path) => format!("{} is damaged in {}", content.hash, path.display()),
        None => format!("{} is missing and was not freed", content.hash),
    }
}

/// An older schema is left as it is: nothing is changed here.
fn read_contents(home: &Path) -> Result<Option<ContentsReport>> {
    match cairn_store::health(home, Duration::from_secs(5)) {
        Err(StoreError::NoHome { .. }) => return Ok(None),
        Ok(health) if health.schema < health.known => {
            anyhow::bail!("the home's schema is older; any other command brings it up to date")
        }
        health => drop(health?),
    }
    let store = Store::open(&Options::new(home, StoreAccess::ReadOnly))?;
    let mut progress = Progress::new("contents read");
    Ok(Some(store.check_contents(None, &mut |done, all| progress.tell(done, all))?))
}

/// What is said of records that the database does not have, if there are any.
fn missing_records(missing: &[MissingRecord]) -> Option<Finding> {
    let first = missing.first()?;
    let all: Vec<&str> = missing.iter().map(|record| record.why.as_str()).collect();
    let said = format!("the database lacks what was recorded here: {}", all.join("; "));
    let folder = first.file.parent().unwrap_or(&first.file).display();
    let fix = format!(
        "put the newer database back; or go on in forks of what is left (cairn fork RUN). The \
         files that say so are in {folder}: remove those of runs that you gave up"
    );
    Some(loss("records", said, fix))
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    #[test]
    fn room_is_judged_by_what_a_run_needs() {
        let level = |free| space(free).level;
        assert_eq!(level(1 << 20), Level::Problem);
        assert_eq!(level(100 << 20), Level::Note);
        assert_eq!(level(10 << 30), Level::Ok);
        assert_eq!(file_system(Some("nfs"), 0x6969).level, Level::Note);
        assert_eq!(file_system(None, 7).said, "of kind 0x7");
    }
}
