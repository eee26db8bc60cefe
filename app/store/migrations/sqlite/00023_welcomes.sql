-- +goose Up

-- A repository that is new gets settings proposed, unless many became known at once.
ALTER TABLE setups ADD COLUMN together integer NOT NULL DEFAULT 0; -- repositories added at once with it, itself included; 0: not known to be new
ALTER TABLE setups ADD COLUMN welcome text NOT NULL DEFAULT '';    -- what came of proposing settings, for people

-- +goose Down

ALTER TABLE setups DROP COLUMN welcome;
ALTER TABLE setups DROP COLUMN together;
