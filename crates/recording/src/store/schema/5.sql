-- Format 5: a firing that ended in the step it began in is one row (see rows.rs), and executions stay held.

-- How executions are held, as JSON: they come back so after a restart. A pause may be older than the first event.
CREATE TABLE holds (
    execution_id TEXT PRIMARY KEY,
    body TEXT NOT NULL
) STRICT;
