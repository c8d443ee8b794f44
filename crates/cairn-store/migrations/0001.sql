-- Sessions, runs, facts, contents, receipts, checkpoints. `docs/receipts.md` gives the last two
-- their meaning.

CREATE TABLE sessions (
    id         TEXT PRIMARY KEY,
    root       TEXT NOT NULL,
    created_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX sessions_root ON sessions (root, created_at);

-- What a commit needs to know of a run stands in its row, so that no commit reads history:
-- `seq` and `head` are the chain's last receipt (in a fork at first the parent's), `tail_from` is
-- the first fact after the run's last own receipt, `tail` the running SHA-256 of the facts from there.
CREATE TABLE runs (
    id         TEXT PRIMARY KEY,
    session    TEXT NOT NULL,
    name       TEXT,
    parent     TEXT,
    fork_n     INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    last_at    INTEGER NOT NULL,
    epoch      INTEGER NOT NULL,
    last_n     INTEGER NOT NULL,
    seq        INTEGER NOT NULL,
    head       TEXT NOT NULL,
    tail_from  INTEGER NOT NULL,
    tail       BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX runs_session ON runs (session, id);
CREATE INDEX runs_name ON runs (name, id) WHERE name IS NOT NULL;

-- `row` is the coordinate of the op that an intent, a decision, a begin or an outcome is about.
CREATE TABLE facts (
    run    TEXT NOT NULL,
    n      INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    engine TEXT NOT NULL,
    kind   TEXT NOT NULL,
    v      INTEGER NOT NULL,
    row    TEXT,
    body   TEXT NOT NULL,
    PRIMARY KEY (run, n)
) WITHOUT ROWID;
CREATE INDEX facts_row ON facts (run, row) WHERE row IS NOT NULL;

-- `codec`: 0 as it is, 1 zstd, 2 in a file, 3 in a file as zstd. `bytes` is the length unpacked.
CREATE TABLE contents (
    hash  BLOB NOT NULL UNIQUE,
    codec INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    data  BLOB NOT NULL
);

-- `id` is the order in which a session's receipts were committed.
CREATE TABLE receipts (
    id         INTEGER PRIMARY KEY,
    session    TEXT NOT NULL,
    run        TEXT NOT NULL,
    seq        INTEGER NOT NULL,
    fact_n     INTEGER NOT NULL,
    receipt_id TEXT NOT NULL,
    payload    TEXT NOT NULL,
    hmac       TEXT NOT NULL,
    hash       TEXT NOT NULL,
    signature  TEXT NOT NULL,
    salt_in    TEXT,
    salt_out   TEXT
);
CREATE UNIQUE INDEX receipts_run ON receipts (run, fact_n);
CREATE INDEX receipts_session ON receipts (session, id);

-- `frontier` holds the roots of the perfect subtrees of the first `receipts` leaves, largest first;
-- `upto` is the `id` of the last receipt among them.
CREATE TABLE checkpoints (
    session   TEXT NOT NULL,
    seq       INTEGER NOT NULL,
    receipts  INTEGER NOT NULL,
    upto      INTEGER NOT NULL,
    frontier  BLOB NOT NULL,
    payload   TEXT NOT NULL,
    hash      TEXT NOT NULL,
    signature TEXT NOT NULL,
    PRIMARY KEY (session, seq)
) WITHOUT ROWID;
