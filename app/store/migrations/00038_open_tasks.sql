-- +goose Up

-- Pages count and list the open tasks of those who view them from it, without reading the tasks.
CREATE INDEX tasks_temperature_state ON tasks (temperature, updated_at, id, state, repo_id) WHERE temperature <> '';

-- Pages find the last decisions of somebody's repositories, without reading those of others.
CREATE INDEX decisions_last ON decisions (type, at, n, repo_id);
