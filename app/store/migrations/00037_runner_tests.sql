-- +goose Up

-- Of a run of tests: the key of its effect, which may have several; '': the row is an attempt, and its key the effect's.
ALTER TABLE runner_attempts ADD COLUMN tests_of text NOT NULL DEFAULT '';

-- 1: the runner said, when it last asked for work, that it can run tests.
ALTER TABLE runners ADD COLUMN tests integer NOT NULL DEFAULT 0;
