-- +goose Up

-- Machines that make attempts for this server and have a token each (docs/adr/0033).
CREATE TABLE runners (
    name     text NOT NULL PRIMARY KEY,
    hash     text NOT NULL UNIQUE,      -- SHA-256 of the token
    about    text NOT NULL DEFAULT '',  -- what it says of itself
    added_at integer NOT NULL,
    seen_at  integer NOT NULL DEFAULT 0    -- 0: never
) WITHOUT ROWID;

-- Attempts that are offered to runners or made by one, each until its server has the result.
CREATE TABLE runner_attempts (
    key        text NOT NULL PRIMARY KEY, -- of the effect
    task_id    text NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    owner      text NOT NULL,             -- the run of the effect that offers it
    state      text NOT NULL,             -- offered, running or done
    start      text NOT NULL,             -- the commit that it begins on
    coder      text NOT NULL,
    work       blob NOT NULL,             -- what the runner is given
    credits    integer NOT NULL,             -- that its model calls may cost
    most_calls integer NOT NULL,
    at         integer NOT NULL,             -- when it was offered
    runner     text NOT NULL DEFAULT '',  -- that has it, or had it last
    pass       text NOT NULL DEFAULT '',  -- SHA-256 of the token with which that one reports; another each time it is taken
    until      integer NOT NULL DEFAULT 0,   -- when it is no longer that one's
    claims     integer NOT NULL DEFAULT 0,   -- how often it was taken
    stop       integer NOT NULL DEFAULT 0,   -- 1: the runner is to end it
    reported   integer NOT NULL DEFAULT 0,   -- number of the last turn that was reported
    taken      integer NOT NULL DEFAULT 0,   -- of the last one that is in the transcript
    report     blob,                      -- the one that is not
    spent      integer NOT NULL DEFAULT 0,   -- credits that its model calls cost, and those under way may cost
    calls      integer NOT NULL DEFAULT 0,
    refused    text NOT NULL DEFAULT '',  -- why the last call was not made
    result     blob,
    pack       blob                       -- of the commit that it made
) WITHOUT ROWID;
CREATE INDEX runner_attempts_pass ON runner_attempts (pass);

-- +goose Down

DROP TABLE runner_attempts;
DROP TABLE runners;
