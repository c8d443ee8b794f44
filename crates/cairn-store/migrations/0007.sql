-- What runs and people said to runs that have not heard it yet: written with the row that says it, gone with the
-- fact that it was heard.
CREATE TABLE mail (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    run     TEXT NOT NULL,
    session TEXT NOT NULL,
    sender  TEXT NOT NULL,
    row     TEXT NOT NULL,
    letter  TEXT NOT NULL,
    at      INTEGER NOT NULL
);
CREATE INDEX mail_run ON mail (run);

-- The streams that go on, and whose they are: opened with the row that opened one, gone with the fact of its end.
CREATE TABLE subscriptions (
    run     TEXT NOT NULL,
    row     TEXT NOT NULL,
    session TEXT NOT NULL,
    address TEXT NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (run, row)
) WITHOUT ROWID;
CREATE INDEX subscriptions_address ON subscriptions (session, address);
