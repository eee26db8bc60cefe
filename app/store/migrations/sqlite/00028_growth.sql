-- What grows is pruned, and read from an index alone. Nothing has used event_counts since migration 1.

-- +goose Up

DROP TABLE event_counts;

CREATE INDEX flips_at ON flips (at);
CREATE INDEX flips_counts ON flips (repo_id, name, flipped);
CREATE INDEX tasks_ended ON tasks (installation_id, updated_at DESC, id) WHERE state IN ('passed', 'stopped');

-- How soon something may change on GitHub: hot, warm or cold (sia.Temperature); empty: never more.
ALTER TABLE tasks ADD COLUMN temperature text NOT NULL DEFAULT '';
UPDATE tasks SET temperature = CASE WHEN state IN ('escalated', 'paused') THEN 'warm' WHEN state = 'passed' THEN 'cold'
    ELSE 'hot' END
WHERE state NOT IN ('passed', 'stopped') OR state = 'passed' AND coalesce(json_extract(task, '$.pull.number'), 0) > 0
    AND NOT coalesce(json_extract(task, '$.pull.merged'), 0) AND NOT coalesce(json_extract(task, '$.gone'), 0);
CREATE INDEX tasks_temperature ON tasks (temperature, id, updated_at) WHERE temperature <> '';

-- +goose Down

DROP INDEX tasks_temperature;
ALTER TABLE tasks DROP COLUMN temperature;
DROP INDEX tasks_ended;
DROP INDEX flips_counts;
DROP INDEX flips_at;
CREATE TABLE event_counts (
    day    text    NOT NULL, -- YYYY-MM-DD, UTC
    event  text    NOT NULL,
    action text    NOT NULL,
    n      integer NOT NULL,
    PRIMARY KEY (day, event, action)
);
