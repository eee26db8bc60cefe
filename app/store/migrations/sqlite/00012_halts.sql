-- +goose Up

-- What is paused as a whole: a repository, an installation, or this server. Tasks that a
-- halt paused carry its scope.
CREATE TABLE halts (
    scope    text    PRIMARY KEY, -- sia.HaltScope
    by_login text    NOT NULL,    -- who said so; empty: GitHub did, or whoever runs the server
    reason   text    NOT NULL,    -- for people
    at       integer NOT NULL
);
INSERT INTO halts (scope, by_login, reason, at)
    SELECT 'repository ' || id, '', 'everything in this repository is paused', updated_at FROM repositories WHERE paused;
ALTER TABLE repositories DROP COLUMN paused;

-- +goose Down

ALTER TABLE repositories ADD COLUMN paused integer NOT NULL DEFAULT 0;
DROP TABLE halts;
