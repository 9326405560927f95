-- Format 1: executions, events, payloads. A format is never changed once it was released; see migrate.rs.

CREATE TABLE executions (
    id           INTEGER PRIMARY KEY,
    execution_id TEXT    NOT NULL UNIQUE,
    started_at   INTEGER NOT NULL,
    -- NULL while it is under way.
    ended_at     INTEGER,
    -- The line in the list of executions, as JSON.
    summary      TEXT    NOT NULL
) STRICT;

CREATE TABLE events (
    execution INTEGER NOT NULL REFERENCES executions (id),
    seq       INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    body      TEXT    NOT NULL,
    PRIMARY KEY (execution, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE payloads (
    hash TEXT PRIMARY KEY,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
