-- +goose Up

-- Lessons that a person approved for every repository of an installation. A copy in
-- a repository is a lesson of its own, under the same id.
CREATE TABLE shared_lessons (
    installation_id integer NOT NULL REFERENCES installations (id) ON DELETE CASCADE,
    id              text    NOT NULL, -- of the lesson that it is a copy of
    lesson          text    NOT NULL, -- JSON, as approved
    approved_by     text    NOT NULL, -- who, on the server; for people
    at              integer NOT NULL,
    PRIMARY KEY (installation_id, id)
);

-- +goose Down

DROP TABLE shared_lessons;
