//! Opens connections: the one door to SQLite, its settings, and the migrations.

use crate::StoreError;
use crate::home::Home;
use crate::keys::Keys;
use crate::receipts::heads::{self, MissingRecord};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use std::path::Path;
use std::time::{Duration, Instant};

/// Every schema, in order. A home's `user_version` is how many of them it has.
const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001.sql"),
    include_str!("../migrations/0002.sql"),
    include_str!("../migrations/0003.sql"),
    include_str!("../migrations/0004.sql"),
    include_str!("../migrations/0005.sql"),
    include_str!("../migrations/0006.sql"),
    include_str!("../migrations/0007.sql"),
    include_str!("../migrations/0008.sql"),
    include_str!("../migrations/0009.sql"),
];

/// Above this length the write-ahead log is folded into the database, after the callers have
/// their answers: 2,000 pages with their frame headers.
pub(crate) const WAL_LIMIT: u64 = 2_000 * (4_096 + 24);

/// The writer's connection, to a database of the latest schema.
pub(crate) fn writer(home: &Home, busy_timeout: Duration) -> Result<Connection, StoreError> {
    let began = Instant::now();
    home.keep_db_private();
    loop {
        match try_writer(home, busy_timeout).map_err(|e| e.placed(&home.db())) {
            // SQLite does not wait while two processes turn a fresh file into a WAL database.
            Err(StoreError::Busy) if began.elapsed() < busy_timeout => {
                std::thread::sleep(Duration::from_millis(5));
            }
            done => return done,
        }
    }
}

fn try_writer(home: &Home, busy_timeout: Duration) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let mut conn = connect(&home.db(), flags, busy_timeout)?;
    known_version(&conn)?;
    conn.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get::<_, String>(0))?;
    conn.pragma_update(None, "synchronous", "full")?;
    conn.pragma_update_and_check(None, "wal_autocheckpoint", 0, |_| Ok(()))?;
    conn.pragma_update_and_check(None, "journal_size_limit", WAL_LIMIT, |_| Ok(()))?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    migrate(&mut conn)?;
    Ok(conn)
}

/// A connection that can only read. A home without a database is no home.
pub(crate) fn reader(home: &Home, busy_timeout: Duration) -> Result<Connection, StoreError> {
    let db = home.db();
    home.check()?;
    if !db.exists() {
        return Err(StoreError::NoHome { path: home.0.clone() });
    }
    let open = || {
        let conn = connect(&db, OpenFlags::SQLITE_OPEN_READ_ONLY, busy_timeout)?;
        Ok((known_version(&conn)?, conn))
    };
    match open().map_err(|e: StoreError| e.placed(&db))? {
        (0, _) => Err(StoreError::NoHome { path: home.0.clone() }),
        (version, conn) if version == MIGRATIONS.len() => Ok(conn),
        // Named reads speak the latest schema: an older home is brought up to date first.
        (_, _) => {
            writer(home, busy_timeout)?;
            Ok(open().map_err(|e| e.placed(&db))?.1)
        }
    }
}

#[allow(clippy::disallowed_methods)] // The door.
fn connect(db: &Path, flags: OpenFlags, busy_timeout: Duration) -> Result<Connection, StoreError> {
    let conn = Connection::open_with_flags(db, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    conn.busy_timeout(busy_timeout)?;
    conn.set_prepared_statement_cache_capacity(64);
    conn.pragma_update(None, "trusted_schema", false)?;
    Ok(conn)
}

/// The home's schema, when this version knows it.
fn known_version(conn: &Connection) -> Result<usize, StoreError> {
    let found: u32 = conn.pragma_query_value(None, "user_version", |row| row.get(0))?;
    match usize::try_from(found) {
        Ok(version) if version <= MIGRATIONS.len() => Ok(version),
        _ => Err(StoreError::Newer { found, known: MIGRATIONS.len() as u32 }),
    }
}

/// In what state a database is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// Its schema.
    pub schema: u32,
    /// The latest schema; whoever opens the home brings it up to that.
    pub known: u32,
    /// How many sessions it holds.
    pub sessions: u64,
    /// What SQLite finds wrong with it, a few of it.
    pub damage: Vec<String>,
    /// What was recorded of its runs outside of the database and is not in it.
    pub missing: Vec<MissingRecord>,
}

/// The version of SQLite that is built in.
#[must_use]
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
}

/// Looks a home's keys and database through, but for its indexes. It only looks: an older schema stays
/// as it is.
pub fn health(home: &Path, busy_timeout: Duration) -> Result<Health, StoreError> {
    let home = Home(home.to_owned());
    home.check()?;
    if !home.db().exists() {
        return Err(StoreError::NoHome { path: home.0 });
    }
    // Read first: a commit that comes in between has its head noted after it.
    let recorded = heads::all(&home)?;
    let look = || {
        let conn = connect(&home.db(), OpenFlags::SQLITE_OPEN_READ_ONLY, busy_timeout)?;
        let schema = match known_version(&conn)? {
            0 => return Err(StoreError::NoHome { path: home.0.clone() }),
            schema => schema as u32,
        };
        Keys::load(&home)?;
        let sessions = conn.query_row("SELECT count(*) FROM sessions", [], |row| row.get(0))?;
        let mut check = conn.prepare("PRAGMA quick_check(5)")?;
        let found = check.query_map([], |row| row.get::<_, String>(0))?;
        let damage = found.filter(|line| line.as_deref() != Ok("ok")).collect::<Result<_, _>>()?;
        let missing = match schema {
            // The first schema did not keep which sessions were deleted.
            1 => Vec::new(),
            _ => heads::compare(&conn, &home, &recorded)?,
        };
        Ok(Health { schema, known: MIGRATIONS.len() as u32, sessions, damage, missing })
    };
    look().map_err(|e| e.placed(&home.db()))
}

/// Brings the schema up to date. Whoever comes second finds the work done.
fn migrate(conn: &mut Connection) -> Result<(), StoreError> {
    if known_version(conn)? == MIGRATIONS.len() {
        return Ok(());
    }
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for sql in &MIGRATIONS[known_version(&tx)?..] {
        tx.execute_batch(sql)?;
    }
    tx.pragma_update(None, "user_version", MIGRATIONS.len() as u32)?;
    Ok(tx.commit()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home() -> (tempfile::TempDir, Home) {
        let dir = tempfile::tempdir().unwrap();
        let home = Home(dir.path().to_owned());
        (dir, home)
    }

    #[test]
    fn two_that_open_a_fresh_home_at_once_both_succeed() {
        for _ in 0..5 {
            let (_dir, home) = home();
            std::thread::scope(|scope| {
                let open = || writer(&home, Duration::from_secs(10)).map(|_| ());
                let both: Vec<_> = (0..4).map(|_| scope.spawn(open)).collect();
                both.into_iter().for_each(|opener| opener.join().unwrap().unwrap());
            });
            let conn = reader(&home, Duration::from_secs(1)).unwrap();
            assert_eq!(known_version(&conn).unwrap(), MIGRATIONS.len());
        }
    }

    #[test]
    fn a_home_of_a_newer_version_is_refused_and_left_alone() {
        let (_dir, home) = home();
        let conn = writer(&home, Duration::from_secs(1)).unwrap();
        conn.pragma_update(None, "user_version", 99).unwrap();
        for opened in [writer(&home, Duration::from_secs(1)), reader(&home, Duration::ZERO)] {
            let Err(StoreError::Newer { found, known }) = opened else { panic!("it was opened") };
            assert_eq!((found, known), (99, MIGRATIONS.len() as u32));
        }
    }

    #[test]
    fn a_home_of_any_earlier_schema_is_brought_up_to_date_by_whoever_opens_it() {
        for version in 1..MIGRATIONS.len() {
            for open in [writer, reader] {
                let (_dir, home) = home();
                let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
                let conn = connect(&home.db(), flags, Duration::ZERO).unwrap();
                conn.execute_batch(&MIGRATIONS[..version].concat()).unwrap();
                conn.pragma_update(None, "user_version", version as u32).unwrap();
                conn.execute_batch(
                    "INSERT INTO sessions (id, root, created_at) VALUES ('s1', '/', 7)",
                )
                .unwrap();
                drop(conn);
                let conn = open(&home, Duration::from_secs(1)).unwrap();
                assert_eq!(known_version(&conn).unwrap(), MIGRATIONS.len());
                let name = "SELECT name FROM sessions WHERE created_at = 7";
                let name: Option<String> = conn.query_row(name, [], |row| row.get(0)).unwrap();
                assert_eq!(name, None);
            }
        }
    }

    // keeps: undo-newest
    #[test]
    fn a_home_from_before_the_order_of_making_was_kept_gets_it_from_its_receipts() {
        let (_dir, home) = home();
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let conn = connect(&home.db(), flags, Duration::ZERO).unwrap();
        conn.execute_batch(&MIGRATIONS[..7].concat()).unwrap();
        conn.pragma_update(None, "user_version", 7).unwrap();
        let run =
            "INSERT INTO runs (id, session, fork_n, created_at, last_at, epoch, last_n, seq, head,
            tail_from, tail) VALUES (?, ?, 0, ?, 0, 1, 1, 0, '', 1, x'')";
        let fact =
            "INSERT INTO facts (run, n, at, engine, kind, v, body) VALUES (?, ?, ?, '', ?, 1, ?)";
        let receipt =
            "INSERT INTO receipts (session, run, seq, fact_n, receipt_id, payload, hmac, hash,
            signature) VALUES (?, ?, 1, 2, ?, '', '', '', '')";
        let session = "INSERT INTO sessions (id, root, created_at) VALUES (?, '/', ?)";
        // The clock was far ahead when `early` was made, and right before and after it.
        let began = [("first", 10, ""), ("early", 9_000, "of first"), ("late", 20, "of early")];
        for (name, at, since) in began {
            conn.execute(run, rusqlite::params![name, "s", at]).unwrap();
            let drive = format!("{{\"since\":\"{since}\"}}");
            conn.execute(fact, rusqlite::params![name, 1, at, "drive", drive]).unwrap();
            let named = format!("{{\"result\":{{\"bytes\":1,\"hash\":\"{}\"}}}}", "ab".repeat(32));
            conn.execute(fact, rusqlite::params![name, 2, at + 1, "outcome", named]).unwrap();
            let id = format!("of {name}");
            conn.execute(receipt, rusqlite::params!["s", name, id]).unwrap();
        }
        // A fork does not say since when; a run whose facts are damaged does not say anything.
        conn.execute(run, rusqlite::params!["fork", "s", 30]).unwrap();
        conn.execute(run, rusqlite::params!["damaged", "other", 5]).unwrap();
        conn.execute(fact, rusqlite::params!["damaged", 1, 5, "drive", "{"]).unwrap();
        conn.execute(session, rusqlite::params!["s", 9_000]).unwrap();
        conn.execute(session, rusqlite::params!["other", 40]).unwrap();
        drop(conn);
        let conn = writer(&home, Duration::from_secs(1)).unwrap();
        let order = |table: &str, which: &str| -> Vec<String> {
            let sql = format!("SELECT id FROM {table} WHERE {which} ORDER BY made");
            let mut rows = conn.prepare(&sql).unwrap();
            rows.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        };
        assert_eq!(order("runs", "session = 's'"), ["first", "early", "late", "fork"]);
        assert_eq!(order("sessions", "1"), ["s", "other"]);
        // What was absent then is taken for freed.
        let freed: Vec<u8> =
            conn.query_row("SELECT hash FROM freed", [], |row| row.get(0)).unwrap();
        assert_eq!(freed, [0xab; 32]);
    }

    #[test]
    fn a_file_that_is_no_database_is_called_damaged() {
        let (_dir, home) = home();
        std::fs::write(home.db(), "not a database, but long enough to be looked at".repeat(40))
            .unwrap();
        let error = writer(&home, Duration::from_secs(1)).err().unwrap();
        assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
        assert!(error.to_string().contains("Bundles"));
    }
}
