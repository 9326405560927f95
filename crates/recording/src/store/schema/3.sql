-- Breakpoints, pins and mocks, by the workflow they were set for.
CREATE TABLE controls (
    workflow TEXT PRIMARY KEY,
    changed_at INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;
