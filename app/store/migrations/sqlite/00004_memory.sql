-- How far the memory branch of each repository was read.

-- +goose Up

CREATE TABLE memory_heads (
    repo_id integer PRIMARY KEY,
    sha     text    NOT NULL, -- of the branch, as last read or written
    warning text    NOT NULL, -- what could not be read there, for people; empty: nothing
    read_at integer NOT NULL
);

-- +goose Down

DROP TABLE memory_heads;
