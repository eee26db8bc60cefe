-- +goose Up

-- What people said outside of any task, or about a whole repository, and what they were
-- answered: so that each is heard once, and nobody is answered without end.
CREATE TABLE heard (
    repo_id  integer NOT NULL,
    event_id text    NOT NULL, -- as tasks know it, such as "comment/17"
    issue    integer NOT NULL,
    login    text    NOT NULL,
    answer   text    NOT NULL, -- empty: none was given any more
    at       integer NOT NULL,
    PRIMARY KEY (repo_id, event_id)
);
CREATE INDEX heard_at ON heard (at);

-- +goose Down

DROP TABLE heard;
