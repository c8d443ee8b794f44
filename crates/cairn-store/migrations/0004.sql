-- Money that runs of a session share. `spent` has a row for a session once somebody set it a budget,
-- made from the costs of its replies and kept with them from then on. `reserved` is what a run that is
-- waiting for a model may yet cost, with the lease's epoch that its driver holds.
CREATE TABLE spent (
    session TEXT PRIMARY KEY,
    pico    INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE reserved (
    run     TEXT PRIMARY KEY,
    session TEXT NOT NULL,
    pico    INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX reserved_session ON reserved (session);
