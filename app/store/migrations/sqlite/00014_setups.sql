-- +goose Up

-- Repositories in which labels are set up, one at a time so that GitHub's limits hold.
CREATE TABLE setups (
    repo_id         integer PRIMARY KEY REFERENCES repositories (id) ON DELETE CASCADE,
    installation_id integer NOT NULL,
    state           text    NOT NULL DEFAULT 'pending', -- pending, done, archived or failed
    slot            integer NOT NULL, -- of the installation's pace; see store.setupSlot
    tries           integer NOT NULL DEFAULT 0,
    error           text    NOT NULL DEFAULT '',        -- of the last failed try, for people
    updated_at      integer NOT NULL
);
CREATE INDEX setups_installation ON setups (installation_id, slot);

-- +goose Down

DROP TABLE setups;
