-- Format 2: packed payloads, and notes that people leave at a position.

-- The text in LZ4 with its length in front, where that is smaller; `body` is empty then.
ALTER TABLE payloads ADD COLUMN packed BLOB;

CREATE TABLE notes (
    id        INTEGER PRIMARY KEY,
    execution INTEGER NOT NULL REFERENCES executions (id),
    position  INTEGER NOT NULL,
    -- NULL for a note about the execution as a whole.
    node_id   TEXT,
    at        INTEGER NOT NULL,
    -- Empty for a bookmark.
    text      TEXT    NOT NULL
) STRICT;
