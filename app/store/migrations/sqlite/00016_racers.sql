-- +goose Up

-- Several coders can work on one attempt: what came of each counts. A table's constraint can't be
-- changed, so the table is written anew; rows keep their place in the order that is learned from.
CREATE TABLE coder_outcomes_new (
    id       integer PRIMARY KEY,
    task_id  text    NOT NULL,
    attempt  integer NOT NULL,
    repo_id  integer NOT NULL,
    org      text    NOT NULL,
    kind     text    NOT NULL,
    coder    text    NOT NULL, -- its name
    agent    text    NOT NULL, -- and what it was then: agent and model
    cost     integer NOT NULL, -- as the task's ledger counts
    resolved integer NOT NULL,
    changed  integer NOT NULL, -- it went by other instructions than those that had failed before
    failed   text    NOT NULL, -- JSON: coders that had failed in the task before, in order
    at       integer NOT NULL,
    UNIQUE (task_id, attempt, coder)
);
INSERT INTO coder_outcomes_new SELECT * FROM coder_outcomes;
DROP TABLE coder_outcomes;
ALTER TABLE coder_outcomes_new RENAME TO coder_outcomes;

-- +goose Down

CREATE TABLE coder_outcomes_old (
    id       integer PRIMARY KEY,
    task_id  text    NOT NULL,
    attempt  integer NOT NULL,
    repo_id  integer NOT NULL,
    org      text    NOT NULL,
    kind     text    NOT NULL,
    coder    text    NOT NULL,
    agent    text    NOT NULL,
    cost     integer NOT NULL,
    resolved integer NOT NULL,
    changed  integer NOT NULL,
    failed   text    NOT NULL,
    at       integer NOT NULL,
    UNIQUE (task_id, attempt)
);
INSERT OR IGNORE INTO coder_outcomes_old SELECT * FROM coder_outcomes ORDER BY id;
DROP TABLE coder_outcomes;
ALTER TABLE coder_outcomes_old RENAME TO coder_outcomes;
