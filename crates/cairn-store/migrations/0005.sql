-- Where a run stands in its course: which loop is open, which turn, how far each op of it has come. What
-- may not follow is not appended. Absent until the run's next commit, which finds it out from the facts.
ALTER TABLE runs ADD COLUMN course TEXT;
