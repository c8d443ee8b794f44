-- The entries of worlds that stand on no disk, each as its newest change left it: what outcomes of the
-- session's runs say of it, folded. A scope is a session's id, or empty for what every session of the home has.
CREATE TABLE entries (
    scope   TEXT NOT NULL,
    address TEXT NOT NULL,
    hash    BLOB NOT NULL,
    bytes   INTEGER NOT NULL,
    mime    TEXT NOT NULL,
    tags    TEXT NOT NULL,
    run     TEXT NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (scope, address)
) WITHOUT ROWID;
