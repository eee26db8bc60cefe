-- Columns that nothing reads.

-- +goose Up

DROP INDEX tasks_untempered;
ALTER TABLE tasks DROP COLUMN temperature_of;
ALTER TABLE installations DROP COLUMN account_id;
ALTER TABLE installations DROP COLUMN account_type;
