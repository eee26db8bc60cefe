-- +goose Up

-- How much was created on GitHub for an installation, by all servers, in each five seconds since 1970 of the last
-- hour (docs/adr/0034).
CREATE TABLE github_writes (
    installation_id bigint NOT NULL,
    slot            bigint NOT NULL,
    writes          bigint NOT NULL,
    PRIMARY KEY (installation_id, slot)
);
