-- +goose Up

-- What repositories, and owners' .github repositories, say in .sia/policies: of each file
-- its last good state.
CREATE TABLE repo_policies (
    repo_id integer NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    path    text    NOT NULL,
    version text    NOT NULL, -- id of the policy; see policy_versions
    source  text    NOT NULL,
    PRIMARY KEY (repo_id, path)
);

-- The commit that these were last read at.
CREATE TABLE policy_reads (
    repo_id integer PRIMARY KEY REFERENCES repositories (id) ON DELETE CASCADE,
    sha     text    NOT NULL,
    broken  text    NOT NULL -- what is wrong with files of that commit, for people
);

-- Every version of every policy that a decision was made by, for ever.
CREATE TABLE policy_versions (
    id       text    PRIMARY KEY, -- name, the author's count and a hash of the content
    decision text    NOT NULL,
    source   text    NOT NULL,
    at       integer NOT NULL -- when it was first in force
);

-- What came of tasks, by their kind. A row outlives its task.
CREATE TABLE task_ends (
    task_id text    PRIMARY KEY,
    repo_id integer NOT NULL,
    kind    text    NOT NULL,
    passed  integer NOT NULL,
    helped  integer NOT NULL, -- a person answered a question in it
    at      integer NOT NULL
);
CREATE INDEX task_ends_kind ON task_ends (repo_id, kind);

-- Append-only, and read in the order of id, like outcomes: who worked, and what came of it.
CREATE TABLE coder_outcomes (
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
    UNIQUE (task_id, attempt)
);

-- +goose Down

DROP TABLE coder_outcomes;
DROP TABLE task_ends;
DROP TABLE policy_versions;
DROP TABLE policy_reads;
DROP TABLE repo_policies;
