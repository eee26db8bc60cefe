-- Times are microseconds since 1970-01-01 UTC. Amounts are thousandths of a
-- credit. "packed" bytes begin with one byte that names their compression
-- (pack.go). JSON columns hold what is only read whole.

-- +goose Up

CREATE TABLE installations (
    id           integer PRIMARY KEY, -- GitHub's installation id
    account      text    NOT NULL,
    account_id   integer NOT NULL,
    account_type text    NOT NULL, -- User or Organization
    suspended    integer NOT NULL DEFAULT 0,
    created_at   integer NOT NULL,
    updated_at   integer NOT NULL
);

CREATE TABLE repositories (
    id              integer PRIMARY KEY, -- GitHub's repository id
    installation_id integer NOT NULL REFERENCES installations (id) ON DELETE CASCADE,
    owner           text    NOT NULL,
    name            text    NOT NULL,
    default_branch  text    NOT NULL,
    private         integer NOT NULL DEFAULT 0,
    paused          integer NOT NULL DEFAULT 0,
    settings        text,               -- JSON, the last good ones; null: none seen
    settings_sha    text    NOT NULL DEFAULT '',
    updated_at      integer NOT NULL
);
CREATE INDEX repositories_installation ON repositories (installation_id, owner, name);

CREATE TABLE deliveries (
    id              integer PRIMARY KEY,
    guid            text    NOT NULL UNIQUE, -- X-GitHub-Delivery
    event           text    NOT NULL,
    action          text    NOT NULL,
    installation_id integer NOT NULL,
    repo            text    NOT NULL,
    body            blob    NOT NULL, -- packed
    received_at     integer NOT NULL,
    state           text    NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'done', 'failed')),
    tries           integer NOT NULL DEFAULT 0, -- that failed
    error           text    NOT NULL DEFAULT ''
);
CREATE INDEX deliveries_state ON deliveries (state, received_at);

CREATE TABLE event_counts (
    day    text    NOT NULL, -- YYYY-MM-DD, UTC
    event  text    NOT NULL,
    action text    NOT NULL,
    n      integer NOT NULL,
    PRIMARY KEY (day, event, action)
);

CREATE TABLE tasks (
    id              text    PRIMARY KEY,
    installation_id integer NOT NULL,
    repo_id         integer NOT NULL,
    issue           integer NOT NULL,
    state           text    NOT NULL,
    title           text    NOT NULL,
    version         integer NOT NULL,
    task            text    NOT NULL, -- JSON
    created_at      integer NOT NULL,
    updated_at      integer NOT NULL
);
CREATE INDEX tasks_repo ON tasks (repo_id, updated_at);
CREATE INDEX tasks_state ON tasks (state, updated_at);

-- Append-only.
CREATE TABLE task_events (
    task_id    text    NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    seq        integer NOT NULL, -- 1-based, without gaps
    event_id   text    NOT NULL,
    kind       text    NOT NULL,
    at         integer NOT NULL,
    by_id      integer NOT NULL DEFAULT 0,
    by_login   text    NOT NULL DEFAULT '',
    event      text    NOT NULL, -- JSON
    from_state text    NOT NULL,
    to_state   text    NOT NULL,
    why        text    NOT NULL DEFAULT '',
    ignored    text    NOT NULL DEFAULT '',
    PRIMARY KEY (task_id, seq)
);
CREATE UNIQUE INDEX task_events_once ON task_events (task_id, event_id);
CREATE INDEX task_events_kind ON task_events (kind, at);

CREATE TABLE task_refs (
    repo_id integer NOT NULL,
    ref     text    NOT NULL,
    task_id text    NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    PRIMARY KEY (repo_id, ref, task_id)
);

CREATE TABLE effects (
    key        text    PRIMARY KEY,
    task_id    text    NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    kind       text    NOT NULL,
    attempt    integer NOT NULL,
    due_at     integer NOT NULL,
    effect     text    NOT NULL, -- JSON
    state      text    NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'done', 'failed')),
    tries      integer NOT NULL DEFAULT 0, -- that failed
    error      text    NOT NULL DEFAULT '',
    cancelled  integer NOT NULL DEFAULT 0, -- somebody asked that it be stopped
    job_id     integer NOT NULL DEFAULT 0, -- a hint while pending: job ids are used again
    created_at integer NOT NULL,
    ended_at   integer NOT NULL DEFAULT 0
);
CREATE INDEX effects_task ON effects (task_id, created_at);
CREATE INDEX effects_pending ON effects (due_at) WHERE state = 'pending';

CREATE TABLE attempts (
    task_id     text    NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    number      integer NOT NULL,
    repo_id     integer NOT NULL,
    agent       text    NOT NULL,
    prompt_hash text    NOT NULL,
    technique   text    NOT NULL,
    outcome     text    NOT NULL,
    cost        integer NOT NULL,
    started_at  integer NOT NULL,
    ended_at    integer NOT NULL, -- 0: it has not
    attempt     text    NOT NULL, -- JSON
    PRIMARY KEY (task_id, number)
);

CREATE TABLE transcripts (
    task_id text    NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    attempt integer NOT NULL,
    number  integer NOT NULL,
    turn    blob    NOT NULL, -- packed JSON
    PRIMARY KEY (task_id, attempt, number)
);

CREATE TABLE texts (
    task_id text    NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    attempt integer NOT NULL,
    kind    text    NOT NULL,
    body    blob    NOT NULL, -- packed
    PRIMARY KEY (task_id, attempt, kind)
);

CREATE TABLE decisions (
    id      integer PRIMARY KEY,
    task_id text    NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    seq     integer NOT NULL, -- of the event that led to it
    at      integer NOT NULL,
    topic   text    NOT NULL, -- "move", or what was chosen, such as "technique"
    choice  text    NOT NULL,
    why     text    NOT NULL,
    detail  text    NOT NULL DEFAULT '' -- JSON: what else could have been chosen
);
CREATE INDEX decisions_task ON decisions (task_id, seq);

CREATE TABLE outcomes (
    task_id      text    NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    after        integer NOT NULL, -- number of the failed attempt that the intervention followed
    repo_id      integer NOT NULL,
    at           integer NOT NULL,
    pattern      text    NOT NULL,
    technique    text    NOT NULL,
    resolved     integer NOT NULL,
    PRIMARY KEY (task_id, after)
);
CREATE INDEX outcomes_technique ON outcomes (repo_id, pattern, technique);

CREATE TABLE credits (
    id              integer PRIMARY KEY,
    task_id         text    NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    seq             integer NOT NULL,
    repo_id         integer NOT NULL,
    installation_id integer NOT NULL,
    at              integer NOT NULL,
    kind            text    NOT NULL CHECK (kind IN ('grant', 'reserve', 'return', 'spend', 'overrun')),
    amount          integer NOT NULL -- positive, but for a grant that lowers the budget
);
CREATE INDEX credits_repo ON credits (repo_id, at);
CREATE INDEX credits_installation ON credits (installation_id, at);
CREATE INDEX credits_task ON credits (task_id, seq);

CREATE TABLE surfaces (
    task_id   text    NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    kind      text    NOT NULL,
    github_id integer NOT NULL,
    hash      text    NOT NULL,
    PRIMARY KEY (task_id, kind)
);

-- +goose Down

DROP TABLE surfaces;
DROP TABLE credits;
DROP TABLE outcomes;
DROP TABLE decisions;
DROP TABLE texts;
DROP TABLE transcripts;
DROP TABLE attempts;
DROP TABLE effects;
DROP TABLE task_refs;
DROP TABLE task_events;
DROP TABLE tasks;
DROP TABLE event_counts;
DROP TABLE deliveries;
DROP TABLE repositories;
DROP TABLE installations;
