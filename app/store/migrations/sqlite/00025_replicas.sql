-- +goose Up

-- Commits that attempts made, until their task has ended (docs/adr/0030): the server that made one may be gone before
-- it is pushed.
CREATE TABLE commits (
    repo_id integer NOT NULL,
    sha     text    NOT NULL,
    task_id text    NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    pack    blob    NOT NULL, -- a pack file of all that the commit's parents lack
    at      integer NOT NULL,
    PRIMARY KEY (repo_id, sha)
) WITHOUT ROWID;
CREATE INDEX commits_task ON commits (task_id);

-- The server whose folder has the repository's mirror: it is preferred for attempts there.
ALTER TABLE repositories ADD COLUMN server text NOT NULL DEFAULT '';

-- +goose Down

ALTER TABLE repositories DROP COLUMN server;
DROP TABLE commits;
