-- When the pins and mocks of each node were changed last, as JSON: what an execution before that shows is stale.
ALTER TABLE controls ADD COLUMN mocks_changed TEXT NOT NULL DEFAULT '{}';
