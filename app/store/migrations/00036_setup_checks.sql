-- +goose Up

-- How many checks the push of a repository's proposed settings started; -1: they are to be counted; null: they are not.
ALTER TABLE setups ADD COLUMN checks integer;
