-- +goose Up

-- A task that is deleted takes its references with it.
CREATE INDEX task_refs_task ON task_refs (task_id);

-- Whose costs a row is, as the settings of its task named the team then; empty: they named none.
ALTER TABLE credits ADD COLUMN team text NOT NULL DEFAULT '';
CREATE INDEX credits_team ON credits (at, team, repo_id, amount) WHERE kind IN ('spend', 'overrun') AND team <> '';
