-- +goose Up

-- Commits that attempts made, until their task has ended (docs/adr/0030): the server that made one may be gone before
-- it is pushed.
CREATE TABLE commits (
    repo_id bigint NOT NULL,
    sha     text COLLATE "C" NOT NULL,
    task_id text COLLATE "C" NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    pack    bytea NOT NULL, -- a pack file of all that the commit's parents lack
    at      bigint NOT NULL,
    PRIMARY KEY (repo_id, sha)
);
CREATE INDEX commits_task ON commits (task_id);

-- The server whose folder has the repository's mirror: it is preferred for attempts there.
ALTER TABLE repositories ADD COLUMN server text COLLATE "C" NOT NULL DEFAULT '';
