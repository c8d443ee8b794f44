-- A person's name for a session; sessions that were deleted here; whose key signed the beginning of a
-- session that was imported.

ALTER TABLE sessions ADD COLUMN name TEXT;
CREATE INDEX sessions_name ON sessions (name, id) WHERE name IS NOT NULL;

-- What was kept outside the database of these may be removed: it was not lost.
CREATE TABLE deleted (
    session TEXT PRIMARY KEY,
    at      INTEGER NOT NULL
) WITHOUT ROWID;

-- When a run came with an imported session, milliseconds since 1970; 0 for a run of this home. Such a
-- run stays as it was signed: it is read, and forked, never driven.
ALTER TABLE runs ADD COLUMN imported INTEGER NOT NULL DEFAULT 0;

-- The first `receipts` receipts and `checkpoints` checkpoints of a session, but for those of rows
-- before, were signed with `public_key` by another home. `imported_at` is when they came here.
CREATE TABLE origins (
    session     TEXT NOT NULL,
    seq         INTEGER NOT NULL,
    public_key  TEXT NOT NULL,
    receipts    INTEGER NOT NULL,
    checkpoints INTEGER NOT NULL,
    imported_at INTEGER NOT NULL,
    PRIMARY KEY (session, seq)
) WITHOUT ROWID;
