-- +goose Up

-- What this installation has shared of its counts: each report as it was signed, and which tasks
-- are counted in it, so that each is counted once ever. A row outlives its task.
CREATE TABLE shared_reports (
    period integer PRIMARY KEY, -- 1-based, without gaps
    key    text    NOT NULL,    -- public key that signed it
    report blob    NOT NULL,    -- packed: the signed file
    at     integer NOT NULL
);
CREATE TABLE shared_tasks (
    task_id   text    NOT NULL,
    technique integer NOT NULL, -- 1: its first technique is counted; 0: its first coder
    period    integer NOT NULL REFERENCES shared_reports (period),
    PRIMARY KEY (task_id, technique)
) WITHOUT ROWID;

-- What was learned from other installations, each import for ever. One is in force at a time.
CREATE TABLE prior_imports (
    id         integer PRIMARY KEY,
    source     text    NOT NULL, -- the file or module version, for people
    key        text    NOT NULL, -- trusted public key that signed it
    priors     blob    NOT NULL, -- packed: the signed file
    at         integer NOT NULL,
    removed_at integer NOT NULL DEFAULT 0 -- 0: it is in force
);
CREATE UNIQUE INDEX prior_imports_one ON prior_imports (removed_at) WHERE removed_at = 0;

-- What was imported of the technique when it was chosen, as so many outcomes.
ALTER TABLE outcomes ADD COLUMN imported_resolved real NOT NULL DEFAULT 0;
ALTER TABLE outcomes ADD COLUMN imported_tried real NOT NULL DEFAULT 0;

-- +goose Down

ALTER TABLE outcomes DROP COLUMN imported_tried;
ALTER TABLE outcomes DROP COLUMN imported_resolved;
DROP TABLE prior_imports;
DROP TABLE shared_tasks;
DROP TABLE shared_reports;
