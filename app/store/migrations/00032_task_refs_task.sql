-- +goose Up

-- A task that is deleted takes its references with it.
CREATE INDEX task_refs_task ON task_refs (task_id);
