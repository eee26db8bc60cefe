-- +goose Up

-- The agent and the first model that the coder was configured with; empty: recorded before there was this column, or
-- restored from a memory branch. The column agent also has the models that answered instead of the first.
ALTER TABLE coder_outcomes ADD COLUMN setup text NOT NULL DEFAULT '';
