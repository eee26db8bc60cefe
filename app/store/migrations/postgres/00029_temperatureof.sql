-- A server of before version 28 beside newer ones writes tasks without their temperature. So it is noted which version of
-- a task a temperature is of; where that is not the present one, it is worked out again.

-- +goose Up

ALTER TABLE tasks ADD COLUMN temperature_of bigint NOT NULL DEFAULT 0;
-- The pull request is cut out as text: PostgreSQL reads no JSON in which \u0000 stands, as it may in what agents said.
UPDATE tasks SET temperature_of = version, temperature = CASE WHEN state IN ('escalated', 'paused') THEN 'warm'
    WHEN state = 'checking' AND task LIKE '%"awaits_person":true%' THEN 'warm'
    WHEN state NOT IN ('passed', 'stopped') THEN 'hot'
    WHEN state = 'passed' AND task LIKE '%"pull":{"number":%' AND task NOT LIKE '%"gone":true%'
        AND coalesce(substring(task from '"pull":({[^{}]*})'), '') NOT LIKE '%"merged":true%' THEN 'cold'
    ELSE '' END;
CREATE INDEX tasks_untempered ON tasks (id) WHERE temperature_of <> version;
