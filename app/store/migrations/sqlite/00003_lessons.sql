-- What was learned, and the words by which it is found.

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

-- Which lessons have a term. A term names repository, whether attempts may be
-- told the lesson, and word (lessonsearch.go), so that a search reads nothing of
-- another repository. A row is for a stretch of lessons, for it is rewritten
-- whole.
CREATE TABLE lesson_terms (
    term text    NOT NULL,
    part integer NOT NULL, -- of lessons.seq: its stretch (lessonpostings.go)
    n    integer NOT NULL, -- lessons of the part that have it
    seqs blob    NOT NULL, -- which: the steps from one to the next, as varints
    PRIMARY KEY (term, part)
) WITHOUT ROWID;
-- How many lessons have a term, without reading which.
CREATE INDEX lesson_terms_n ON lesson_terms (term, part, n);

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
DROP TABLE lessons;
