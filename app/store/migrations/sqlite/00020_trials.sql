-- +goose Up

-- When a repository's lessons were last put in order, for its settings say how often that is.
CREATE TABLE lesson_heartbeats (
    repo_id integer PRIMARY KEY,
    at      integer NOT NULL
);

-- Techniques that stand in a repository on trial, by when each was first met there: two are tried at once.
CREATE TABLE technique_trials (
    repo_id   integer NOT NULL,
    technique text    NOT NULL,
    at        integer NOT NULL,
    PRIMARY KEY (repo_id, technique)
);

-- +goose Down

DROP TABLE technique_trials;
DROP TABLE lesson_heartbeats;
