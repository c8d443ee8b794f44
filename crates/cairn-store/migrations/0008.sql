-- The order in which sessions and runs were made here. What is newest is told by it and never by a clock, which
-- can be wrong. Of what was imported, `made` is that of the newest one that its own time says was older.

ALTER TABLE sessions ADD COLUMN made INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN made INTEGER NOT NULL DEFAULT 0;

-- A run names the newest receipt of its session when it began (`since` of its first `drive`). One that does not
-- has no receipt before those that its time allows, and none after its own first.
WITH first AS (
    SELECT run, min(id) AS id FROM receipts GROUP BY run
), began AS MATERIALIZED (
    SELECT run, session, (
        SELECT CASE WHEN json_valid(body) THEN json_extract(body, '$.since') END FROM facts
        WHERE facts.run = runs.id AND kind = 'drive' ORDER BY n LIMIT 1
    ) AS since FROM (SELECT id AS run, id, session FROM runs) AS runs
), named AS MATERIALIZED (
    SELECT began.run, max(receipts.id) AS id FROM began
    JOIN receipts ON receipts.session = began.session AND receipts.receipt_id = began.since
    GROUP BY began.run
), placed AS (
    SELECT runs.id, runs.created_at, CASE
        WHEN began.since = '' THEN 0
        WHEN named.id IS NOT NULL THEN named.id
        ELSE coalesce((
            SELECT max(receipts.id) FROM receipts
            JOIN facts ON facts.run = receipts.run AND facts.n = receipts.fact_n
            WHERE receipts.session = runs.session AND facts.at <= runs.created_at
            AND (first.id IS NULL OR receipts.id < first.id)
        ), 0)
    END AS after
    FROM runs JOIN began ON began.run = runs.id
    LEFT JOIN named ON named.run = runs.id LEFT JOIN first ON first.run = runs.id
), numbered AS (
    SELECT id, row_number() OVER (ORDER BY after, created_at, id) AS place FROM placed
)
UPDATE runs SET made = numbered.place FROM numbered WHERE numbered.id = runs.id;

WITH placed AS (
    SELECT id, created_at, coalesce(
        (SELECT min(receipts.id) FROM receipts WHERE receipts.session = sessions.id),
        (SELECT max(receipts.id) FROM receipts
         JOIN facts ON facts.run = receipts.run AND facts.n = receipts.fact_n
         WHERE facts.at <= sessions.created_at),
        0
    ) AS after FROM sessions
), numbered AS (
    SELECT id, row_number() OVER (ORDER BY after, created_at, id) AS place FROM placed
)
UPDATE sessions SET made = numbered.place FROM numbered WHERE numbered.id = sessions.id;

CREATE INDEX sessions_made ON sessions (made);
CREATE INDEX runs_made ON runs (made);
