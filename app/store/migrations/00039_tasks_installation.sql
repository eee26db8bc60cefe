-- +goose Up

-- A halt finds the tasks of its installation from it, without reading those of others.
CREATE INDEX tasks_installation ON tasks (installation_id, updated_at);
