-- Answers that people gave for longer than one run. Each stands in a decision too; this is the list
-- that is in force, and what is revoked is taken from it.
CREATE TABLE answers (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    -- `session`, `project` or `always`.
    scope   TEXT NOT NULL,
    session TEXT NOT NULL,
    root    TEXT NOT NULL,
    rule    TEXT NOT NULL,
    by      TEXT NOT NULL,
    run     TEXT NOT NULL,
    row     TEXT NOT NULL,
    at      INTEGER NOT NULL,
    until   INTEGER
);
