-- +goose Up

-- The commits on which a check went green, and whether it went red on them, too.
CREATE TABLE flips (
    repo_id integer NOT NULL,
    name    text    NOT NULL, -- of the check
    sha     text    NOT NULL,
    flipped integer NOT NULL, -- 1: it went red on the commit, too
    at      integer NOT NULL,
    PRIMARY KEY (repo_id, name, sha)
);

-- What the hazard of getting nowhere is learned from: the last attempts that ended.
CREATE INDEX attempts_ended ON attempts (ended_at);
CREATE INDEX attempts_repo ON attempts (repo_id, outcome);

-- +goose Down

DROP INDEX attempts_repo;
DROP INDEX attempts_ended;
DROP TABLE flips;
