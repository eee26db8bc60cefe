-- +goose Up

-- Tasks that were deleted after they had ended, and did not begin again since: a start of one takes it from the memory
-- branch first.
CREATE TABLE deleted_tasks (
    task_id text NOT NULL PRIMARY KEY
) WITHOUT ROWID;
