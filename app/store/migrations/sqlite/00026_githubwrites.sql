-- +goose Up

-- How much was created on GitHub for an installation, by all servers, in each five seconds since 1970 of the last
-- hour (docs/adr/0034).
CREATE TABLE github_writes (
    installation_id integer NOT NULL,
    slot            integer NOT NULL,
    writes          integer NOT NULL,
    PRIMARY KEY (installation_id, slot)
) WITHOUT ROWID;

-- +goose Down

DROP TABLE github_writes;
