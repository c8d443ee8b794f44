-- The contents that `cairn gc` freed, or that an import came without: one that is absent and not in this list was
-- lost. What is absent from a home that did not keep the list counts as freed.
CREATE TABLE freed (
    hash BLOB PRIMARY KEY
) WITHOUT ROWID;
INSERT OR IGNORE INTO freed (hash)
SELECT unhex(tree.atom) FROM facts,
    json_tree(CASE WHEN json_valid(facts.body) THEN facts.body ELSE 'null' END) AS tree
WHERE tree.key = 'hash' AND tree.type = 'text' AND length(tree.atom) = 64 AND unhex(tree.atom) IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM contents WHERE contents.hash = unhex(tree.atom));
