-- What grows is pruned, and read from an index alone. Nothing has used event_counts since migration 1.

-- +goose Up

DROP TABLE event_counts;

CREATE INDEX flips_at ON flips (at);
CREATE INDEX flips_counts ON flips (repo_id, name, flipped);
CREATE INDEX tasks_ended ON tasks (installation_id, updated_at DESC, id) WHERE state IN ('passed', 'stopped');

-- How soon something may change on GitHub: hot, warm or cold (sia.Temperature); empty: never more.
ALTER TABLE tasks ADD COLUMN temperature text COLLATE "C" NOT NULL DEFAULT '';
-- The pull request is cut out as text: PostgreSQL reads no JSON in which \u0000 stands, as it may in what agents said.
UPDATE tasks SET temperature = CASE WHEN state IN ('escalated', 'paused') THEN 'warm' WHEN state = 'passed' THEN 'cold'
    ELSE 'hot' END
WHERE state NOT IN ('passed', 'stopped') OR state = 'passed' AND task LIKE '%"pull":{"number":%'
    AND task NOT LIKE '%"gone":true%' AND coalesce(substring(task from '"pull":({[^{}]*})'), '') NOT LIKE '%"merged":true%';
CREATE INDEX tasks_temperature ON tasks (temperature, id, updated_at) WHERE temperature <> '';
