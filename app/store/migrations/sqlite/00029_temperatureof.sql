-- A server of before version 28 beside newer ones writes tasks without their temperature. So it is noted which version of
-- a task a temperature is of; where that is not the present one, it is worked out again.

-- +goose Up

ALTER TABLE tasks ADD COLUMN temperature_of integer NOT NULL DEFAULT 0;
UPDATE tasks SET temperature_of = version, temperature = CASE WHEN state IN ('escalated', 'paused') THEN 'warm'
    WHEN state = 'checking' AND coalesce(json_extract(task, '$.gate.awaits_person'), 0) THEN 'warm'
    WHEN state NOT IN ('passed', 'stopped') THEN 'hot'
    WHEN state = 'passed' AND coalesce(json_extract(task, '$.pull.number'), 0) > 0
        AND NOT coalesce(json_extract(task, '$.pull.merged'), 0) AND NOT coalesce(json_extract(task, '$.gone'), 0) THEN 'cold'
    ELSE '' END;
CREATE INDEX tasks_untempered ON tasks (id) WHERE temperature_of <> version;

-- +goose Down

DROP INDEX tasks_untempered;
ALTER TABLE tasks DROP COLUMN temperature_of;
