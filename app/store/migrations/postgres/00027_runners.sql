-- +goose Up

-- Machines that make attempts for this server and have a token each (docs/adr/0033).
CREATE TABLE runners (
    name     text COLLATE "C" NOT NULL PRIMARY KEY,
    hash     text COLLATE "C" NOT NULL UNIQUE,      -- SHA-256 of the token
    about    text COLLATE "C" NOT NULL DEFAULT '',  -- what it says of itself
    added_at bigint NOT NULL,
    seen_at  bigint NOT NULL DEFAULT 0    -- 0: never
);

-- Attempts that are offered to runners or made by one, each until its server has the result.
CREATE TABLE runner_attempts (
    key        text COLLATE "C" NOT NULL PRIMARY KEY, -- of the effect
    task_id    text COLLATE "C" NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    owner      text COLLATE "C" NOT NULL,             -- the run of the effect that offers it
    state      text COLLATE "C" NOT NULL,             -- offered, running or done
    start      text COLLATE "C" NOT NULL,             -- the commit that it begins on
    coder      text COLLATE "C" NOT NULL,
    work       bytea NOT NULL,             -- what the runner is given
    credits    bigint NOT NULL,             -- that its model calls may cost
    most_calls bigint NOT NULL,
    at         bigint NOT NULL,             -- when it was offered
    runner     text COLLATE "C" NOT NULL DEFAULT '',  -- that has it, or had it last
    pass       text COLLATE "C" NOT NULL DEFAULT '',  -- SHA-256 of the token with which that one reports; another each time it is taken
    until      bigint NOT NULL DEFAULT 0,   -- when it is no longer that one's
    claims     bigint NOT NULL DEFAULT 0,   -- how often it was taken
    stop       bigint NOT NULL DEFAULT 0,   -- 1: the runner is to end it
    reported   bigint NOT NULL DEFAULT 0,   -- number of the last turn that was reported
    taken      bigint NOT NULL DEFAULT 0,   -- of the last one that is in the transcript
    report     bytea,                      -- the one that is not
    spent      bigint NOT NULL DEFAULT 0,   -- credits that its model calls cost, and those under way may cost
    calls      bigint NOT NULL DEFAULT 0,
    refused    text COLLATE "C" NOT NULL DEFAULT '',  -- why the last call was not made
    result     bytea,
    pack       bytea                       -- of the commit that it made
);
CREATE INDEX runner_attempts_pass ON runner_attempts (pass);
