-- +goose Up

-- Changes of policies: proposed, tried, kept or taken back. Times are 0 where it has not come to that.
CREATE TABLE experiments (
    id           text    PRIMARY KEY, -- names the lot
    installation integer NOT NULL,
    place_id     integer NOT NULL, -- the repository that holds, or is to hold, the policy
    place_owner  text    NOT NULL,
    place_name   text    NOT NULL,
    alone        integer NOT NULL, -- it is about tasks of that repository; else of the whole installation
    layer        integer NOT NULL, -- of the candidate, as package policies counts
    decision     text    NOT NULL,
    name         text    NOT NULL, -- of the policy
    file         text    NOT NULL, -- its path
    present      text    NOT NULL, -- ids; see policy_versions
    candidate    text    NOT NULL,
    change       text    NOT NULL, -- in words, such as parameters.threshold: 0.65 -> 0.5
    path         text    NOT NULL, -- what is changed
    value        text    NOT NULL, -- and to what
    reason       text    NOT NULL,
    proposed_by  text    NOT NULL, -- login, or the model
    number       integer NOT NULL, -- how many changes of this policy were proposed before, and this one
    phase        text    NOT NULL,
    why          text    NOT NULL, -- of the phase, for people
    gate         text    NOT NULL, -- what tasks that were played again said
    pull         integer NOT NULL, -- number of the pull request; 0: none yet
    pull_url     text    NOT NULL,
    head         text    NOT NULL, -- commit of the pull request, as SIA made it
    comment      integer NOT NULL, -- id of the comment there that says how it stands
    approved_by  text    NOT NULL,
    created_at   integer NOT NULL,
    started_at   integer NOT NULL, -- tasks that are created after this take part
    promoted_at  integer NOT NULL,
    watched_at   integer NOT NULL, -- since when it is watched anew, after an alarm that was not its own
    ended_at     integer NOT NULL
);
CREATE INDEX experiments_policy ON experiments (installation, decision, phase);

-- What happened to each, append-only, for people.
CREATE TABLE experiment_events (
    n          integer PRIMARY KEY,
    experiment text    NOT NULL REFERENCES experiments (id) ON DELETE CASCADE,
    at         integer NOT NULL,
    phase      text    NOT NULL,
    what       text    NOT NULL
);
CREATE INDEX experiment_events_of ON experiment_events (experiment, n);

-- The tasks that take part, in the order in which they were assigned. A row outlives its task.
CREATE TABLE experiment_tasks (
    experiment text    NOT NULL REFERENCES experiments (id) ON DELETE CASCADE,
    n          integer NOT NULL,
    task_id    text    NOT NULL,
    candidate  integer NOT NULL, -- decided by the candidate; else by the version before it
    after      integer NOT NULL, -- the candidate had been promoted by then
    at         integer NOT NULL,
    came       text    NOT NULL DEFAULT '', -- resolved, failed, none; empty: open
    credits    real    NOT NULL DEFAULT 0,
    seconds    real    NOT NULL DEFAULT 0,
    escalated  integer NOT NULL DEFAULT 0,
    tampered   integer NOT NULL DEFAULT 0,
    PRIMARY KEY (experiment, n),
    UNIQUE (experiment, task_id)
) WITHOUT ROWID;

-- Policies that are not to be changed for a while, and those that another version stands in for.
CREATE TABLE policy_holds (
    installation integer NOT NULL,
    place_id     integer NOT NULL, -- repository that holds the policy; 0: it is a shipped one
    decision     text    NOT NULL,
    name         text    NOT NULL,
    bad          text    NOT NULL, -- id of the version that is not to decide; empty: none
    instead      text    NOT NULL, -- id of the one that stands in for it
    until        integer NOT NULL, -- not changed before
    why          text    NOT NULL,
    by_login     text    NOT NULL, -- empty: SIA
    at           integer NOT NULL,
    PRIMARY KEY (installation, place_id, decision, name)
);

CREATE INDEX decisions_policy ON decisions (policy, at);

-- +goose Down

DROP INDEX decisions_policy;
DROP TABLE policy_holds;
DROP TABLE experiment_tasks;
DROP TABLE experiment_events;
DROP TABLE experiments;
