-- +goose Up

-- Tasks that have passed, and whose pull request a person has to mark ready for review. A task that is taken for one by
-- mistake gets the right temperature with its next change.
UPDATE tasks SET temperature = 'cool' WHERE temperature = 'cold' AND task LIKE '%"draft":true%'
    AND (task LIKE '%"refused":"%' OR task LIKE '%"left_draft":true%');
