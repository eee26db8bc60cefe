-- +goose Up

-- The least sia.TaskVersion that knows all fields of the task: an older program does not change it.
ALTER TABLE tasks ADD COLUMN needs integer NOT NULL DEFAULT 0;
