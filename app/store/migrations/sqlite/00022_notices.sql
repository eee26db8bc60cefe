-- +goose Up

-- What people were told outside of GitHub, so that they are told once.
CREATE TABLE notices (
    channel text    NOT NULL, -- how, such as webhook or mail
    key     text    NOT NULL, -- of what: a task and its question
    grouped integer NOT NULL, -- 1: with others, in one message
    at      integer NOT NULL,
    PRIMARY KEY (channel, key)
) WITHOUT ROWID;
CREATE INDEX notices_at ON notices (channel, at);

-- Until when each channel was told how things went.
CREATE TABLE summaries (
    channel text    PRIMARY KEY,
    until   integer NOT NULL
) WITHOUT ROWID;

-- +goose Down

DROP TABLE summaries;
DROP TABLE notices;
