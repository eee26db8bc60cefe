-- Decisions with everything that they were made by, and the outcomes that SIA
-- learns from. No version was released whose tables of these names held anything.

-- +goose Up

DROP TABLE outcomes;
DROP TABLE decisions;

CREATE TABLE decisions (
    n          integer PRIMARY KEY, -- the order in which they were made
    id         text    NOT NULL UNIQUE,
    task_id    text    NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    repo_id    integer NOT NULL,
    attempt    integer NOT NULL,
    type       text    NOT NULL, -- technique, rerun, interrupt, …
    policy     text    NOT NULL, -- name and version
    context    text    NOT NULL, -- JSON: what it was decided by
    options    text    NOT NULL, -- JSON: what could have been chosen
    choice     text    NOT NULL,
    propensity real    NOT NULL,
    reason     text    NOT NULL,
    at         integer NOT NULL,
    outcome    text    NOT NULL DEFAULT '', -- empty until it is known
    credit     real    NOT NULL DEFAULT 0
);
CREATE INDEX decisions_task ON decisions (task_id, n);
CREATE INDEX decisions_type ON decisions (type, at);

-- Append-only, and read in the order of id: whoever replays it has learned what
-- everybody has. A row outlives its task.
CREATE TABLE outcomes (
    id           integer PRIMARY KEY,
    task_id      text    NOT NULL,
    intervention integer NOT NULL, -- 1-based within the task
    repo_id      integer NOT NULL,
    org          text    NOT NULL, -- the repository's owner
    repo         text    NOT NULL, -- and name, as they were then
    pattern      text    NOT NULL,
    technique    text    NOT NULL,
    resolved     integer NOT NULL,
    attempt      integer NOT NULL, -- techniques tried in the task before
    z            real    NOT NULL, -- the confidence, standardised
    confidence   text    NOT NULL, -- JSON: technique → the model's confidence; null: no model said any
    setup        text    NOT NULL, -- the models and prompts that it was decided under
    decision     text    NOT NULL, -- id; empty: none was logged
    at           integer NOT NULL,
    UNIQUE (task_id, intervention)
);
CREATE INDEX outcomes_technique ON outcomes (repo_id, pattern, technique);

-- +goose Down

DROP TABLE outcomes;
DROP TABLE decisions;

CREATE TABLE decisions (
    id      integer PRIMARY KEY,
    task_id text    NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    seq     integer NOT NULL,
    at      integer NOT NULL,
    topic   text    NOT NULL,
    choice  text    NOT NULL,
    why     text    NOT NULL,
    detail  text    NOT NULL DEFAULT ''
);
CREATE INDEX decisions_task ON decisions (task_id, seq);

CREATE TABLE outcomes (
    task_id      text    NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    after        integer NOT NULL,
    repo_id      integer NOT NULL,
    at           integer NOT NULL,
    pattern      text    NOT NULL,
    technique    text    NOT NULL,
    resolved     integer NOT NULL,
    PRIMARY KEY (task_id, after)
);
CREATE INDEX outcomes_technique ON outcomes (repo_id, pattern, technique);
