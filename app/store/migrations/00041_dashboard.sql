-- +goose Up

-- The number of the repository's dashboard issue; 0: it has none, or it is not known.
ALTER TABLE repositories ADD COLUMN dashboard integer NOT NULL DEFAULT 0;
