-- What the pages ask for, each from an index alone: tasks by change, endings by time, credits spent by time.

-- +goose Up
CREATE INDEX tasks_updated ON tasks (updated_at DESC, id, repo_id, state, title);
CREATE INDEX task_endings ON task_events (at, to_state, task_id)
    WHERE to_state IN ('passed', 'stopped') AND from_state <> to_state AND kind <> 'restored';
CREATE INDEX credits_spent ON credits (at, repo_id, amount) WHERE kind IN ('spend', 'overrun');
CREATE INDEX attempts_technique ON attempts (technique, task_id);
CREATE INDEX outcomes_at ON outcomes (at, repo_id, pattern, technique, resolved);

-- +goose Down
DROP INDEX outcomes_at;
DROP INDEX attempts_technique;
DROP INDEX credits_spent;
DROP INDEX task_endings;
DROP INDEX tasks_updated;
