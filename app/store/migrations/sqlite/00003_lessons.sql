-- What was learned, found by full text. On PostgreSQL, lessons_text and
-- lesson_terms become a tsvector column with a GIN index and ts_stat.

-- +goose Up

CREATE TABLE lessons (
    seq        integer PRIMARY KEY,
    repo_id    integer NOT NULL,
    id         text    NOT NULL,
    kind       text    NOT NULL,
    state      text    NOT NULL,
    source     text    NOT NULL, -- outcome, person or pattern
    created_at integer NOT NULL,
    lesson     text    NOT NULL, -- JSON
    UNIQUE (repo_id, id)
);
CREATE INDEX lessons_created ON lessons (repo_id, created_at);

-- Holds terms, not words: a term names repository, whether attempts may be told
-- the lesson, and word (lesson.go). So a search reads nothing of another
-- repository.
CREATE VIRTUAL TABLE lessons_text USING fts5 (
    terms, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 0'
);

CREATE TABLE lesson_terms (
    term text    PRIMARY KEY,
    n    integer NOT NULL -- lessons that have it
) WITHOUT ROWID;

CREATE TABLE lesson_evidence (
    repo_id   integer NOT NULL,
    key       text    NOT NULL,
    lesson_id text    NOT NULL,
    at        integer NOT NULL,
    arm       text    NOT NULL, -- of attempts: told or withheld
    evidence  text    NOT NULL, -- JSON
    PRIMARY KEY (repo_id, key)
);
CREATE INDEX lesson_evidence_lesson ON lesson_evidence (repo_id, lesson_id, at);

-- +goose Down

DROP TABLE lesson_evidence;
DROP TABLE lesson_terms;
DROP TABLE lessons_text;
DROP TABLE lessons;
