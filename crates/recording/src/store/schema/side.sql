-- The index beside a store (see side.rs).
PRAGMA user_version = 1;

-- Views in the middle of their fold.
CREATE TABLE snapshots (
    execution_id TEXT    NOT NULL,
    position     INTEGER NOT NULL,
    -- The hash of the event at that position: a store that was put back to an earlier state is told by it.
    proof        TEXT    NOT NULL,
    state        BLOB    NOT NULL,
    PRIMARY KEY (execution_id, position)
) STRICT, WITHOUT ROWID;

-- How far the words of each execution are known.
CREATE TABLE indexed (
    id           INTEGER PRIMARY KEY,
    execution_id TEXT    NOT NULL UNIQUE,
    position     INTEGER NOT NULL,
    proof        TEXT    NOT NULL
) STRICT;

-- The words of payloads; a row's number is the number of its execution above and of its event below 32 bits.
CREATE VIRTUAL TABLE words USING fts5 (text, content = '', contentless_delete = 1, tokenize = 'unicode61');
